"""The ladder of limits on the rows of one individual, with what each keeps."""

import streamlit as st

from dpsyn_core.schema import Repeats
from ui.shared.text import number, percent, t


def ladder(found: Repeats, *, about: str, key: str) -> None:
    """Every limit of the ladder with what it keeps; private. about: whose texts, of one table or of linked ones."""
    records = max(1, found.records)
    rows = [
        {
            t(f"{about}.limit"): k.most,
            t(f"{about}.rows_kept"): f"{number(k.rows)} ({percent(k.rows / records, 0)})",
            t(f"{about}.whole"): number(k.whole),
        }
        for k in found.kept
    ]
    st.dataframe(
        rows,
        hide_index=True,
        key=key,
        alt=t(f"{about}.kept_alt"),
        height="content",
        column_config={t(f"{about}.limit"): st.column_config.Column(width=70)},
    )
