"""Systems: choosing one, its settings from its config, output size, and what a run will take."""

from __future__ import annotations

import math
from typing import Any

import streamlit as st

from dpsyn_core.synthesizers import registry
from ui.shared.state import Workspace
from ui.shared.text import number, t
from ui.shared.theme import facts, note
from ui.synthesize.forms import settings_form

DEFAULT = registry.DEFAULT


def chosen(space: Workspace) -> str:
    """The system that the visitor chose, else the default."""
    return space.choices.method if space.choices.method in registry.names() else registry.DEFAULT


def settings_of(space: Workspace, method: str) -> dict[str, Any]:
    """The visitor's settings of a system, where they differ from the defaults."""
    return dict(space.choices.settings.get(method, {}))


def choose(space: Workspace) -> None:
    """The systems, each with a sentence on when to use it and what it promises."""
    names = registry.names()
    names = [registry.DEFAULT, *[n for n in names if n != registry.DEFAULT]]
    got = st.selectbox(
        t("synthesize.method"),
        names,
        index=names.index(chosen(space)),
        format_func=lambda n: t("synthesize.recommended", name=n) if n == registry.DEFAULT else n,
        key="method",
        label_visibility="collapsed",
        persist_state="session",
    )
    space.choices.method = got
    config = registry.config_class(got)
    st.markdown(config.summary)
    note(t("synthesize.guarantee", text=config.guarantee.text))
    note(t("synthesize.neighbours", names=", ".join(t(f"neighbours.{n}") for n in config.guarantee.neighbours)))
    with st.expander(t("synthesize.compare")):
        rows = [
            {t("synthesize.column_name"): n, t("synthesize.column_summary"): registry.config_class(n).summary,
             t("synthesize.column_guarantee"): registry.config_class(n).guarantee.text}
            for n in names
        ]  # fmt: skip
        st.dataframe(rows, hide_index=True, key="methods_table", alt=t("synthesize.table_alt"))


def settings(space: Workspace) -> None:
    """The settings of the chosen system."""
    method = chosen(space)
    config = registry.config_class(method)
    if not config.model_fields:
        note(t("synthesize.no_settings"))
        return
    with st.expander(t("synthesize.settings"), key="settings_expander"):
        got = settings_form(config, settings_of(space, method), key=f"setting.{method}")
        space.choices.settings[method] = got
        if got:
            note(t("synthesize.changed", names=", ".join(got)))


def output(space: Workspace) -> None:
    """Number of records to write, and the seed of the post-processing."""
    choices = space.choices
    first, second = st.columns(2)
    with first:
        rows = st.number_input(
            t("synthesize.rows"),
            min_value=1,
            max_value=50_000_000,
            value=choices.n_records,
            placeholder=t("synthesize.rows_auto"),
            key="n_records",
            help=t("synthesize.rows_help"),
            persist_state="session",
        )
        choices.n_records = None if rows is None else int(rows)
    with second:
        seed = st.number_input(
            t("synthesize.seed"), 0, 2**31 - 1, choices.seed, key="seed", help=t("synthesize.seed_help"),
            persist_state="session",
        )  # fmt: skip
        choices.seed = int(seed)


def estimate(space: Workspace) -> None:
    """What a run will take: seconds and memory, from the sizes alone."""
    from dpsyn_core.jobs.limits import limits_memory
    from ui.synthesize.estimates import estimated

    if not limits_memory():
        note(t("synthesize.unlimited"), "warning")

    got = estimated(space, chosen(space))
    if got is not None:
        low, high = number(max(1, math.floor(got.low))), number(math.ceil(got.high))
        seconds = t("synthesize.between", low=low, high=high)
        facts(
            [
                (seconds, t("synthesize.time"), t("synthesize.time_note")),
                (t("synthesize.mb", mb=number(got.megabytes)), t("synthesize.memory"), t("synthesize.memory_note")),
            ]
        )
