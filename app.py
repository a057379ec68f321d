"""DPSyn Studio: navigation only. Run with `dpsyn app`, or `streamlit run app.py`."""

from pathlib import Path

import streamlit as st

from ui.shared.access import admitted, classroom
from ui.shared.frame import Page
from ui.shared.serving import TRAFFIC
from ui.shared.text import t

HERE = Path(__file__).resolve().parent
PAGES = ("data", "schema", "privacy", "questions", "synthesize", "report", "export", "learn")
MORE = ("plan", "release", "grid")  # pages of their own beside the walk from a table to its release


def title(name: str) -> str:
    """What a page is called: on the row at the top, or in the menu that ends it."""
    return t(f"nav.{name}" if name in PAGES else f"further.{name}")


st.set_page_config(
    page_title=t("app.name"),
    page_icon=str(HERE / "assets/logo/mark.svg"),
    layout="wide",
    initial_sidebar_state="collapsed" if classroom() else 248,
)
if classroom():  # no other page exists; links that were made in the whole app lead to /learn
    from ui.learn import frame  # loads what labs need

    alone = st.Page(frame.page, title=t("nav.learn"), default=True)
    pages = {"": [alone, st.Page(HERE / "pages/learn.py", url_path="learn")]}
else:
    # the first page is served at / alone, and its own address would stay taken: /data leads there instead
    named = {
        name: st.Page(
            HERE / "pages" / f"{name}.py",
            title=title(name),
            url_path="start" if name == "data" else name,
            default=name == "data",
        )
        for name in (*PAGES, *MORE)
        if (HERE / "pages" / f"{name}.py").exists()
    }
    to_first = st.Page(lambda: st.switch_page(named["data"]), title="data", url_path="data", visibility="hidden")
    walk = [to_first, *(p for n, p in named.items() if n in PAGES)]
    pages = {"": walk, t("nav.more"): [p for n, p in named.items() if n in MORE]}
page = st.navigation(pages, position="top" if admitted() and not classroom() else "hidden")
with TRAFFIC, Page():
    page.run()
