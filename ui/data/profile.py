"""The loaded table: a few records in random order, or all of its columns at a glance. For its owner only."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpsyn_core.errors import DPSynError
from ui.data import loading
from ui.shared.choices import one_of
from ui.shared.results import kept, synthetic
from ui.shared.text import figure_words, number, sentence, t
from ui.shared.theme import dark, note, show_multiples, tokens

if TYPE_CHECKING:
    from dpsyn_core.report import Panel
    from ui.shared.jobs import Job
    from ui.shared.state import Dataset, Workspace

WAYS = ("columns", "rows")
FEW, TALL = 24, 560  # columns beyond which the figures scroll, in so many pixels
MOST = 20_000  # records that the figures count; of a larger table, so many drawn at random


def panel(space: Workspace, dataset: Dataset, job: Job | None = None) -> None:
    """All columns first, with a line for the synthetic table of a finished run over each bar; then a few records."""
    if space.schema is None:
        _rows(space, dataset)
        return
    called = {w: t(f"profile.{w}") for w in WAYS}.__getitem__
    way = one_of(t("profile.way"), WAYS, key="data_profile", called=called, persist_state="session")
    if way == "columns":
        _columns(space, dataset, job)
    else:
        _rows(space, dataset)


def _rows(space: Workspace, dataset: Dataset) -> None:
    note(t("profile.few"))
    st.dataframe(loading.preview(space, dataset).to_pandas(), hide_index=True, key="preview", alt=t("data.alt"))


def _columns(space: Workspace, dataset: Dataset, job: Job | None) -> None:
    from dpsyn_core.report import glance

    if space.schema is None or dataset.table is None:
        return
    key = ("profile", dataset.serial, hash(space.schema.dumps()), job and job.id)
    try:
        panels = kept(space, key, lambda: _panels(space, dataset, job))
    except DPSynError as error:
        note(sentence(error), "warning")
        return
    if not panels:
        note(t("profile.none"))
        return
    if dataset.table.num_rows > MOST:
        note(t("profile.sampled", rows=number(MOST)))

    def drawn(width: str, across: int) -> dict[str, Any]:
        words = figure_words()
        make = partial(glance, panels, across=across, palette=tokens(), selects=False, words=words)
        return kept(space, (*key, width, dark()), make)

    with st.container(height=TALL if len(panels) > FEW else "content", border=False):
        show_multiples(drawn, key="profile", alt=t("profile.alt", count=len(panels)), across=(4, 2))


def _panels(space: Workspace, dataset: Dataset, job: Job | None) -> list[Panel]:
    import numpy as np

    from dpsyn_core.report import build

    table = dataset.table
    if space.schema is None or table is None or table.num_rows == 0:
        return []
    if table.num_rows > MOST:
        table = table.take(np.sort(np.random.default_rng().choice(table.num_rows, MOST, replace=False)))
    called, beside = "", {}
    if job is not None:
        called, beside = t("profile.real"), {t("profile.synthetic"): synthetic(space, job)}
    return build.profile(space.schema, table, figure_words(), called=called, beside=beside)
