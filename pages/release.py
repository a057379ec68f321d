"""Release page: released files alone, proved, grouped, filtered and plotted; no private data is at hand."""

import streamlit as st

from ui.reader import asking, files
from ui.shared.state import workspace
from ui.shared.text import t
from ui.shared.theme import heading

workspace()  # nothing of it is read here: the very first page of a server is found through it
heading("reader")
found = files.taken()
if found is None:
    st.info(t("reader.start"))
else:
    files.promise(found)
    asking.panel(found)
