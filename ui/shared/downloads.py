"""Downloads: a button that hands a file over, the kind of which its name tells."""

from collections.abc import Callable
from pathlib import PurePath
from typing import Literal

import streamlit as st

MIMES = {
    "csv": "text/csv",
    "dpsyn": "application/zip",
    "dta": "application/x-stata-dta",
    "duckdb": "application/octet-stream",
    "gz": "application/gzip",
    "html": "text/html",
    "ipynb": "application/x-ipynb+json",
    "json": "application/json",
    "parquet": "application/vnd.apache.parquet",
    "py": "text/x-python",
    "sav": "application/x-spss-sav",
    "sh": "text/x-shellscript",
    "sqlite": "application/vnd.sqlite3",
    "txt": "text/plain",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "xpt": "application/x-sas-xport",
    "zip": "application/zip",
}
Content = str | bytes
Kind = Literal["primary", "secondary", "tertiary"]


def download(
    label: str,
    name: str,
    data: Content | Callable[[], Content],
    *,
    key: str,
    tip: str | None = None,
    kind: Kind = "secondary",
) -> None:
    """A button for a file of this name; a press draws nothing anew. data: a function makes it once it is asked for."""
    mime = MIMES[PurePath(name).suffix[1:]]
    st.download_button(label, data, name, mime, on_click="ignore", key=key, help=tip, type=kind)
