"""The app in the browser: the page of the labs alone. Its folder has `compiler.py` as the module numba."""

import streamlit as st

from ui.learn import frame
from ui.shared.text import t

st.set_page_config(page_title=t("app.name"), layout="wide", initial_sidebar_state="collapsed")
frame.page()
