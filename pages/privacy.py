"""Privacy page: what a choice of epsilon and delta costs, before any of it is spent."""

import streamlit as st

from ui.linked import diagram
from ui.linked.unit import plot_note
from ui.privacy import backwards, budget, guarantee, noise, plan
from ui.shared.going import go_to
from ui.shared.state import workspace
from ui.shared.text import t
from ui.shared.theme import dark, heading, section, show
from ui.shared.theme import note as small
from ui.synthesize import settings_file

space = workspace()
heading("privacy")
settings_file.take_pending(space)

left, right = st.columns([8, 5], gap="large")
with left:
    reading = budget.fields(space)
    unit = guarantee.unit_fields(space)
    chosen = reading.budget
    if chosen is None:
        st.info(t("privacy.blocked"))
    else:
        section(t("privacy.plot"))
        plot_note(space)
        planned = plan.planned(space, chosen)
        shown = st.container()
        public = planned and plan.planned(space, chosen, public=True)  # the plot is shown and kept untagged
        k = plan.k_field(public)
        document = noise.curves(chosen.epsilon, chosen.delta, unit.neighbours, unit.max_records)
        finding = noise.finding(document, k)
        points = tuple(plan.points(public))
        figure = noise.drawn(chosen.epsilon, chosen.delta, unit.neighbours, unit.max_records, points, k, is_dark=dark())
        with shown:
            letters = noise.key(points)
            show(figure, alt=t("noise.alt", finding=f"{finding} {letters}"), key="noise_plot", ready=True)
            if letters:
                small(letters)
            small(finding)
        at_k = noise.curves(chosen.epsilon, chosen.delta, unit.neighbours, unit.max_records, (k,))
        noise.show_table(at_k, k)
with right:
    diagram.draw(space)
    if chosen is not None:
        guarantee.odds(chosen)
        guarantee.delta_against_n(space, chosen)
        if space.kept_schema is not None:
            section(t("plan.title"))
            plan.split(space, chosen, planned)
            plan.expected(space, planned)
        guarantee.limit(space)
backwards.panel(space)
settings_file.panel(space, key="privacy")
with st.container(horizontal=True, gap="small"):
    onward = st.button(t("privacy.next"), type="primary", disabled=chosen is None, key="privacy_next")
    asking = st.button(t("questions.privacy"), key="privacy_questions")
if onward or asking:
    go_to("synthesize" if onward else "questions")
