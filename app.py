"""DPSyn Studio: navigation only. Run with `dpsyn app`, or `streamlit run app.py`."""

from pathlib import Path

import streamlit as st

from ui.shared.access import admitted
from ui.shared.frame import Page
from ui.shared.serving import TRAFFIC
from ui.shared.text import t

PAGES = ("data", "schema", "privacy", "synthesize", "report", "export", "learn")
HERE = Path(__file__).resolve().parent

st.set_page_config(
    page_title=t("app.name"), page_icon=str(HERE / "assets/logo/mark.svg"), layout="wide", initial_sidebar_state=248
)
page = st.navigation(
    [
        st.Page(HERE / "pages" / f"{name}.py", title=t(f"nav.{name}"), url_path=name, default=name == "data")
        for name in PAGES
        if (HERE / "pages" / f"{name}.py").exists()
    ],
    position="top" if admitted() else "hidden",
)
with TRAFFIC, Page():
    page.run()
