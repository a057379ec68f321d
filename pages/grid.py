"""Grid page: systems x epsilons x repeats on a table declared public, or on the sample; one press, one colour scale."""

import streamlit as st

from ui.grid import asking, results
from ui.shared.state import workspace
from ui.shared.text import t
from ui.shared.theme import heading, section

space = workspace()
heading("grid")
left, right = st.columns([5, 8], gap="large")
with left:
    section(t("grid.ask"))
    asking.panel(space)
with right:
    results.panel(space)
