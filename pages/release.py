"""Release page: released files alone, proved, grouped, filtered and plotted; no private data is at hand."""

import streamlit as st

from ui.reader import asking, files
from ui.shared.state import workspace
from ui.shared.text import t
from ui.shared.theme import heading

space = workspace()  # keeps the released files over a reload; nothing else of it is read here
heading("reader")
found = files.taken(space)
if found is None:
    st.info(t("reader.start"))
else:
    files.promise(found)
    asking.panel(found)
