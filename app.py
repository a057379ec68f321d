"""DPSyn Studio: navigation only. Run with `dpsyn app`, or `streamlit run app.py`."""

from pathlib import Path

import streamlit as st

from ui.learn import frame
from ui.shared.access import admitted, classroom
from ui.shared.frame import Page
from ui.shared.serving import TRAFFIC
from ui.shared.text import t

PAGES = ("data", "schema", "privacy", "questions", "synthesize", "report", "export", "learn")
HERE = Path(__file__).resolve().parent

st.set_page_config(
    page_title=t("app.name"),
    page_icon=str(HERE / "assets/logo/mark.svg"),
    layout="wide",
    initial_sidebar_state="collapsed" if classroom() else 248,
)
if classroom():  # no other page exists; links that were made in the whole app lead to /learn
    pages = [
        st.Page(frame.page, title=t("nav.learn"), default=True),
        st.Page(HERE / "pages/learn.py", url_path="learn"),
    ]
else:
    pages = [
        st.Page(HERE / "pages" / f"{name}.py", title=t(f"nav.{name}"), url_path=name, default=name == "data")
        for name in PAGES
        if (HERE / "pages" / f"{name}.py").exists()
    ]
page = st.navigation(pages, position="top" if admitted() and not classroom() else "hidden")
with TRAFFIC, Page():
    page.run()
