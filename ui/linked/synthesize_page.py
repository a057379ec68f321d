"""Synthesize page of linked tables: the one system that serves them, its settings, the run, and all runs."""

from __future__ import annotations

import streamlit as st

from dpsyn_core.errors import DPSynError
from ui.linked import stamp
from ui.linked.starting import drops, problem, start
from ui.shared.names import point_out_names
from ui.shared.state import Linked, Workspace
from ui.shared.text import amount, literal, sentence, t
from ui.shared.theme import note, section
from ui.synthesize import runs


def page(space: Workspace, linked: Linked) -> None:
    """All of the page below its heading."""
    left, right = st.columns([7, 5], gap="large")
    with left:
        section(t("synthesize.system"))
        st.markdown(t("linked.system"))
        note(t("linked.system_only"))
        with st.expander(t("synthesize.settings"), key="linked_settings"):
            _settings(linked)
    with right:
        section(t("synthesize.run"))
        _output(space, linked)
        stamp.box(linked, key="linked_run_to_schema")
        why = problem(space)
        if why:
            note(sentence(ValueError(why)), "alarm")
        point_out_names(space, key="synthesize")
        schema = linked.declared()
        if schema is not None:
            note(drops(schema))
        press = t("synthesize.spend", epsilon=amount(space.choices.epsilon))
        if st.button(press, type="primary", disabled=bool(why), key="linked_synthesize", width="stretch"):
            try:
                st.session_state[runs.STARTED] = start(space).id
            except DPSynError as error:
                st.error(literal(sentence(error)))
            else:
                st.rerun()
    runs.listed(space)


def _settings(linked: Linked) -> None:
    key = f"linked_effort_{linked.serial[:8]}"

    def changed() -> None:
        linked.effort = float(st.session_state[key])

    st.number_input(
        t("linked.effort"), 0.1, 100.0, value=linked.effort, step=0.5, key=key, on_change=changed,
        help=t("linked.effort_help"),
    )  # fmt: skip


def _output(space: Workspace, linked: Linked) -> None:
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
