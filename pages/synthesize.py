"""Synthesize page: a system, its settings, a run in a process of its own, and all runs side by side."""

from typing import Literal

import streamlit as st

from ui.data.quick import finished, left_out, named
from ui.privacy import plan
from ui.questions import expected
from ui.shared import stamps
from ui.shared.faults import refusals
from ui.shared.names import point_out_names
from ui.shared.state import workspace
from ui.shared.text import amount, sentence, t
from ui.shared.theme import heading, note, section
from ui.synthesize import answers, design, methods, public_table, refits, runs, settings_file, several
from ui.synthesize.starting import problem, start

space = workspace()
heading("synthesize")
settings_file.take_pending(space)
left, right = st.columns([7, 5], gap="large")
with left:
    section(t("synthesize.system"))
    methods.choose(space)
listed = st.container()
with st.container():  # under both columns, and drawn before the right one: a run follows what is set here
    methods.compared(space)
    methods.settings(space)
    public_table.expander(space)
    plan.expander(space)
done = finished(space)
draft = bool(stamps.shortly(space))
with right:
    section(t("synthesize.run"))
    methods.output(space)
    stamps.draft(space, key="synthesize_to_guide", comes_next=done is None)
    why = problem(space)
    if why:
        note(sentence(ValueError(why)), "alarm")
    else:
        plan.warning(space)
    expected.on_synthesize(space)
    point_out_names(space, key="synthesize")
    name = named(t("synthesize.spend", epsilon=amount(space.choices.epsilon)), space)
    if left_out(space):
        note(left_out(space))
    kind: Literal["primary", "secondary"] = "primary" if done is None and not draft else "secondary"
    if st.button(name, type=kind, disabled=bool(why), key="synthesize", width="stretch"):
        with refusals():
            st.session_state[runs.STARTED] = start(space).id
            st.rerun()
    if not why and done is None:
        methods.estimate(space)
if methods.chosen(space) == design.METHOD:
    design.editor(space)
settings_file.panel(space, key="synthesize")
answers.panel(space)
refits.panel(space)
with listed:
    runs.listed(space, done)
several.panel(space, runs.finished(space, linked=space.linked is not None))
