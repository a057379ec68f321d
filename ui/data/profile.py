"""The loaded table: a few records in random order, or all of its columns at a glance. For its owner only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dpsyn_core.errors import DPSynError
from ui.data import loading
from ui.shared.results import kept
from ui.shared.text import figure_words, number, sentence, t
from ui.shared.theme import dark, note, show_multiples, tokens

if TYPE_CHECKING:
    from dpsyn_core.report import Panel
    from ui.shared.state import Dataset, Workspace

WAYS = ("rows", "columns")
FEW, TALL = 24, 560  # columns beyond which the figures scroll, in so many pixels
MOST = 20_000  # records that the figures count; of a larger table, so many drawn at random


def panel(space: Workspace, dataset: Dataset) -> None:
    """Records first; the figures are made when they are asked for."""
    if space.schema is None:
        _rows(space, dataset)
        return
    way = st.segmented_control(
        t("profile.way"), WAYS, default="rows", required=True, key="data_profile", label_visibility="collapsed",
        format_func=lambda w: t(f"profile.{w}"), persist_state="session",
    )  # fmt: skip
    if way == "columns":
        _columns(space, dataset)
    else:
        _rows(space, dataset)


def _rows(space: Workspace, dataset: Dataset) -> None:
    note(t("profile.few"))
    st.dataframe(loading.preview(space, dataset).to_pandas(), hide_index=True, key="preview", alt=t("data.alt"))


def _columns(space: Workspace, dataset: Dataset) -> None:
    from dpsyn_core.report import glance

    if space.schema is None or dataset.table is None:
        return
    key = ("profile", dataset.serial, hash(space.schema.dumps()))
    try:
        panels = kept(space, key, lambda: _panels(space, dataset))
    except DPSynError as error:
        note(sentence(error), "warning")
        return
    if not panels:
        note(t("profile.none"))
        return
    counted = min(MOST, dataset.table.num_rows)
    note(t("profile.note" if counted == dataset.table.num_rows else "profile.sampled", rows=number(counted)))
    with st.container(height=TALL if len(panels) > FEW else "content", border=False):
        show_multiples(
            lambda width, across: kept(
                space, (*key, width, dark()),
                lambda: glance(panels, across=across, palette=tokens(), selects=False, words=figure_words()),
            ),
            key="profile", alt=t("profile.alt", count=len(panels)), across=(3, 2),
        )  # fmt: skip


def _panels(space: Workspace, dataset: Dataset) -> list[Panel]:
    import numpy as np

    from dpsyn_core.report import build

    table = dataset.table
    if space.schema is None or table is None or table.num_rows == 0:
        return []
    if table.num_rows > MOST:
        table = table.take(np.sort(np.random.default_rng().choice(table.num_rows, MOST, replace=False)))
    return build.profile(space.schema, table, figure_words())
