"""What a grid is asked for: systems, epsilons, repeats, and the word that the table is public; and its start."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpsyn_core.runs import EPSILONS, MOST_RUNS, Candidate, ComparisonSpec, check_comparison
from dpsyn_core.systems import names
from ui.questions import kept
from ui.shared.faults import refusals
from ui.shared.state import Grid, Workspace, grids
from ui.shared.text import amount, literal, number, t
from ui.shared.theme import note
from ui.synthesize.estimates import estimated, job_memory

if TYPE_CHECKING:
    from dpsyn_core.schema import Schema

USUAL = Grid(("rls", "dpsyn", "independent"), (0.1, 1.0, 10.0), 3)
LONGEST = 3 * 3600  # seconds that a grid may take


def panel(space: Workspace) -> None:
    """The fields, what the grid will take, and one press."""
    data, schema = space.dataset, space.schema
    if data is None or schema is None or data.whole is None:
        st.info(t("grid.no_table"))
        return
    choose, before = t("questions.choose"), space.choices.grid or USUAL
    methods = st.multiselect(
        t("grid.methods"), names(), before.methods, key="grid_methods", persist_state="session", placeholder=choose
    )
    more: dict[str, Any] = {"persist_state": "session", "placeholder": choose}
    epsilons = st.multiselect(
        t("grid.epsilons"), EPSILONS, before.epsilons, key="grid_epsilons", format_func=amount, **more
    )
    repeats = st.number_input(t("grid.repeats"), 1, 20, before.repeats, key="grid_repeats", persist_state="session")
    space.choices.grid = Grid(tuple(methods), tuple(epsilons), repeats)
    public = True
    if data.sample:
        note(t("grid.sample"))
    else:
        public = st.checkbox(t("grid.public", name=literal(data.name)), key=f"grid_public_{data.serial}")
        note(t("grid.public_note"), "warning")
    runs = len(methods) * len(epsilons) * repeats
    if not runs:
        note(t("grid.nothing"))
        return
    each, times = [e for m in methods if (e := estimated(space, m)) is not None], len(epsilons) * repeats
    low, high = sum(e.low for e in each) * times, sum(e.high for e in each) * times
    note(t("grid.takes", runs=number(runs), low=number(max(1, math.floor(low))), high=number(math.ceil(high))))
    pressed = st.button(
        t("grid.start"), type="primary", key="grid_start", disabled=not public or runs > MOST_RUNS, width="stretch"
    )
    if runs > MOST_RUNS:
        note(t("grid.too_many", most=number(MOST_RUNS)), "alarm")
    if pressed:
        with refusals():
            _start(space, schema, tuple(methods), tuple(sorted(epsilons)), repeats, public)
            st.rerun()


def _start(
    space: Workspace, schema: Schema, methods: tuple[str, ...], epsilons: tuple[float, ...], repeats: int, public: bool
) -> None:
    """Queues the grid. Raises DPSynError."""
    if space.dataset is None:
        return
    spec = ComparisonSpec.of_candidates(
        [Candidate(method=m) for m in methods],
        epsilons,
        delta=space.choices.delta,
        repeats=repeats,
        public=public,
        memory_mb=job_memory(),
        seconds=LONGEST,
    )
    check_comparison(spec)
    grids().start(
        space.owner,
        spec,
        kept.in_schema(space, schema),
        space.dataset.whole,
        label=space.dataset.name,
        fingerprint="grid",
        public={"serial": space.dataset.serial},
    )
