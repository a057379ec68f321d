"""The ladder of limits on the rows of one individual, with what each keeps."""

import streamlit as st

from dpsyn_core.schema import Repeats
from ui.shared.text import number, percent, t


def ladder(found: Repeats, *, about: str, key: str) -> None:
    """Every limit of the ladder with what it keeps; private. about: whose texts, of one table or of linked ones."""
    records, heads = max(1, found.records), [t(f"{about}.{what}") for what in ("limit", "rows_kept", "whole")]
    shares = [f"{number(k.rows)} ({percent(k.rows / records, 0)})" for k in found.kept]
    cells = [(k.most, share, number(k.whole)) for k, share in zip(found.kept, shares, strict=True)]
    rows = [dict(zip(heads, row, strict=True)) for row in cells]
    width = {heads[0]: st.column_config.Column(width=70)}
    alt = t(f"{about}.kept_alt")
    st.dataframe(rows, hide_index=True, key=key, alt=alt, height="content", column_config=width)
