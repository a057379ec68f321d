"""Settings of a run of linked tables: the one system that serves them, number of roots, seed."""

from __future__ import annotations

import streamlit as st

from ui.shared.state import Linked, Workspace
from ui.shared.text import literal, t
from ui.shared.theme import note


def system(linked: Linked) -> None:
    """The system that makes linked tables, and its settings."""
    st.markdown(t("linked.system"))
    note(t("linked.system_only"))
    with st.expander(t("synthesize.settings"), key="settings_expander"):
        _effort(linked)


def _effort(linked: Linked) -> None:
    key = f"linked_effort_{linked.serial[:8]}"

    def changed() -> None:
        linked.effort = float(st.session_state[key])

    st.number_input(
        t("linked.effort"), 0.1, 100.0, value=linked.effort, step=0.5, key=key, on_change=changed,
        help=t("linked.effort_help"),
    )  # fmt: skip


def output(space: Workspace, linked: Linked) -> None:
    """Number of roots to make, and the seed of the post-processing."""
    roots, seeds = f"linked_roots_{linked.serial[:8]}", "linked_seed"

    def more() -> None:
        value = st.session_state[roots]
        linked.n_roots = None if value is None else int(value)

    def seeded() -> None:
        space.choices.seed = int(st.session_state[seeds])

    first, second = st.columns(2, vertical_alignment="bottom")
    with first:
        st.number_input(
            t("linked.n_roots", root=literal(linked.root)), 1, 50_000_000, value=linked.n_roots,
            placeholder=t("synthesize.rows_auto"), key=roots, on_change=more, help=t("synthesize.rows_help"),
        )  # fmt: skip
    with second:
        st.number_input(
            t("synthesize.seed"), 0, 2**31 - 1, space.choices.seed, key=seeds, on_change=seeded,
            help=t("synthesize.seed_help"),
        )  # fmt: skip
