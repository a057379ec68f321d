"""Plan page: what a run would measure and how far off it would be, from names of columns alone; reads no table."""

import streamlit as st

from dpsyn_core.runs import ASSUMED, RunSpec
from dpsyn_core.systems import DEFAULT, names
from ui.planning import forecasts
from ui.planning import names as columns
from ui.privacy.budget import read
from ui.shared.state import workspace
from ui.shared.text import plain, t
from ui.shared.theme import heading, note, section
from ui.synthesize.methods import spelt

workspace()  # nothing of it is read here: the very first page of a server is found through it
heading("ahead")
left, right = st.columns([5, 7], gap="large")
with left:
    section(t("ahead.columns_title"))
    schema = columns.chosen()
    section(t("ahead.run"))
    first, second = st.columns(2)
    with first:
        epsilon = st.text_input(t("budget.epsilon"), "1", key="plan_epsilon", persist_state="session")
        n = st.number_input(t("ahead.records"), 1, 10**9, ASSUMED, key="plan_n", persist_state="session")
    with second:
        delta = st.text_input(t("budget.delta"), plain(1e-9), key="plan_delta", persist_state="session")
        known = [DEFAULT, *(m for m in names() if m != DEFAULT)]
        method = st.selectbox(
            t("synthesize.method"), known, key="plan_method", persist_state="session", format_func=spelt
        )
    reading = read(epsilon or "", delta or "")
    for problem in (reading.epsilon_problem, reading.delta_problem):
        if problem:
            note(problem, "alarm")
with right:
    if schema is not None and reading.budget is not None:
        run = RunSpec(epsilon=reading.budget.epsilon, delta=reading.budget.delta, method=method)
        forecasts.shown(run, schema, int(n))
