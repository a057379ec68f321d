"""Synthesize page: a system, its settings, a run in a process of its own, and all runs side by side."""

import streamlit as st

from dpsyn_core.errors import DPSynError
from ui.privacy import plan
from ui.questions import expected
from ui.shared import stamps
from ui.shared.names import point_out_names
from ui.shared.state import jobs, workspace
from ui.shared.text import literal, plain, sentence, t
from ui.shared.theme import heading, note, section
from ui.synthesize import answers, design, methods, refits, runs
from ui.synthesize.starting import problem, start

space = workspace()
heading("synthesize")
left, right = st.columns([7, 5], gap="large")
with left:
    section(t("synthesize.system"))
    methods.choose(space)
    methods.settings(space)
    plan.expander(space)
with right:
    section(t("synthesize.run"))
    methods.output(space)
    stamps.draft(space, key="synthesize_to_guide")
    why = problem(space)
    if why:
        note(sentence(ValueError(why)), "alarm")
    else:
        methods.estimate(space)
        plan.warning(space)
    expected.on_synthesize(space)
    point_out_names(space)
    name = t("synthesize.spend", epsilon=plain(space.choices.epsilon))
    if st.button(name, type="primary", disabled=bool(why), key="synthesize", width="stretch"):
        try:
            start(space)
        except DPSynError as error:
            st.error(literal(sentence(error)))
        else:
            st.rerun()
    note(t("synthesize.many"))

if methods.chosen(space) == design.METHOD:
    design.editor(space)
answers.panel(space)
refits.panel(space)

mine = jobs().of(space.owner)
st.space("small")
section(t("synthesize.runs"))
if not mine:
    note(t("synthesize.none"))
for job in [j for j in mine if j.live]:
    runs.watch(space, job, key="list")
for job in [j for j in mine if not j.live]:
    runs.line(job, space, key="list")
