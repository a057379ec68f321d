"""Uploads: fields that take any file, so that one of a wrong kind is refused in words and not by a red icon."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from ui.shared.text import literal, t

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile


def one(label: str, endings: Sequence[str], *, key: str, tip: str | None = None) -> UploadedFile | None:
    """A field for one file; None for none, and for one whose name has another ending.

    endings: without a dot; none of them for a file that its reader judges by its content.
    """
    got = st.file_uploader(label, key=key, help=tip)
    return got if got is not None and _fits(got, endings) else None


def several(label: str, endings: Sequence[str], *, key: str) -> list[UploadedFile]:
    """A field for files that belong together."""
    return [got for got in st.file_uploader(label, accept_multiple_files=True, key=key) if _fits(got, endings)]


def _fits(got: UploadedFile, endings: Sequence[str]) -> bool:
    if not endings or got.name.lower().endswith(tuple(f".{e}" for e in endings)):
        return True
    *first, last = (f".{e}" for e in endings)
    allowed = t("upload.or", first=", ".join(first), last=last) if first else last
    st.error(t("upload.refused", name=literal(got.name), allowed=allowed))
    return False
