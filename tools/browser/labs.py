"""The app in the browser: the page of the labs alone. Its folder has `compiler.py` as the module numba."""

import inspect
from collections.abc import Callable
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ui.learn import frame
from ui.shared.text import t


def without(drawn: Callable[..., Any]) -> Callable[..., Any]:
    """A figure or table of a Streamlit that takes no text for those who cannot see it; its caption stays."""
    return lambda *args, alt=None, **named: drawn(*args, **named)


# stlite's Streamlit is older than the app's
for name in ("plotly_chart", "vega_lite_chart", "altair_chart", "dataframe", "data_editor", "table"):
    if "alt" not in inspect.signature(getattr(DeltaGenerator, name)).parameters:
        setattr(DeltaGenerator, name, without(getattr(DeltaGenerator, name)))
        setattr(st, name, getattr(getattr(st, name).__self__, name))

st.set_page_config(page_title=t("app.name"), layout="wide", initial_sidebar_state="collapsed")
frame.page()
