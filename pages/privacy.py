"""Privacy page: epsilon on a slider, and beside it in pictures whom it protects and what noise it costs."""

import streamlit as st

from ui.linked import diagram
from ui.privacy import backwards, band, budget, guarantee, ledger, noise, plan
from ui.schema import unit as protected
from ui.shared import figure_files
from ui.shared.choices import one_of
from ui.shared.going import go_to
from ui.shared.state import workspace
from ui.shared.text import amount, literal, t
from ui.shared.theme import dark, heading, note, section, show
from ui.synthesize import settings_file

PARTS = ("plan", "backwards", "curves", "limit", "settings")  # of the drawer, one at a time

space = workspace()
heading("privacy")
settings_file.take_pending(space)
slider, typed, onward = st.columns([6, 1.4, 2.2], vertical_alignment="bottom", gap="medium")
said = st.container()
left, right = st.columns([4, 8], gap="large")
below = st.container()
with st.expander(t("privacy.more"), key="privacy_more"):
    diagram.draw(space)
    first, second = st.columns(2, gap="medium")
    reading = budget.fields(space, slider, typed, first, said)
    with second:
        unit = guarantee.unit_fields(space)
    chosen = reading.budget
    if chosen is None:
        st.info(t("privacy.blocked"))
    else:
        planned = plan.planned(space, chosen)
        with first:
            guarantee.delta_against_n(space, chosen)
            # the plot is shown and kept untagged
            k = plan.k_field(planned and plan.planned(space, chosen, public=True))
        asked = (chosen.epsilon, chosen.delta, unit.neighbours, unit.max_records)
        part = one_of(t("privacy.more"), PARTS, key="privacy_part", called=lambda p: t(f"privacy.{p}"))
        if part == "plan":
            plan.split(space, chosen, planned)
            plan.expected(space, planned)
        elif part == "backwards":
            backwards.panel(space)
        elif part == "curves":
            noise.show_table(noise.curves(*asked, (k,)), k)
            note(noise.finding(noise.curves(*asked), k))
        elif part == "limit":
            ledger.limit_field(space)
        else:
            settings_file.panel(space, key="privacy")
with onward:
    if st.button(t("privacy.next"), type="primary", disabled=chosen is None, key="privacy_next", width="stretch"):
        go_to("synthesize")
with said:
    protected.panel(space, key="privacy")
figure_files.from_private(False)  # the tag in the drawer, which is drawn first, is not of what stands above it
if chosen is not None:
    at_k = noise.curves(*asked, (k,))
    off = noise.value_at(at_k, noise.used_curve(at_k))
    with left:
        guarantee.odds(chosen)
    with right:
        section(t("noise.off", epsilon=amount(chosen.epsilon), noise=noise.rounded(off)))
        if space.linked is not None:
            note(t("linked.plot", root=literal(space.linked.individuals)))
        every = st.session_state.get("every_curve", False)
        ghost = noise.before(chosen.epsilon)
        figure = noise.drawn(*asked, k, ghost=ghost, every=every, is_dark=dark())
        words = t("noise.alt", finding=t("noise.off", epsilon=amount(chosen.epsilon), noise=noise.rounded(off)))
        show(figure, alt=words, key="noise_plot", ready=True)
        st.toggle(t("noise.every"), key="every_curve", persist_state="session")
    with below:
        band.panel(space, chosen.epsilon, off)
