"""Columns of a plan: a line of headers or a schema file, and a table in which guesses are corrected. Reads no table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from dpsyn_core.runs import KINDS, MOST_VALUES, PlannedColumn, changed, checked, columns_of, schema_of
from dpsyn_core.schema import Schema, TableSchema
from ui.shared import uploads
from ui.shared.faults import refusals
from ui.shared.text import t
from ui.shared.theme import note

if TYPE_CHECKING:
    import pandas as pd

TEXT, FRAME = "plan_names", "plan_frame"  # of the visitor's session
EXAMPLE = "age, sex=2, education=8, income=number:40, born=date:60, town"


def chosen() -> Schema | None:
    """The schema to plan with, from a file or from names, at first of an example; None, and the reason, without one."""
    got = uploads.one(t("ahead.upload"), ["json"], key="plan_schema")
    with refusals():
        if got is not None:
            return TableSchema.loads(got.getvalue())
        text = st.text_area(t("ahead.names"), key=TEXT, placeholder=EXAMPLE, persist_state="session")
        own = (text or "").strip()
        note(t("ahead.names_note") if own else f"{t('ahead.of_example')} {t('ahead.names_note')}")
        return schema_of(checked(_corrected(columns_of(own or EXAMPLE))))
    return None


def _corrected(columns: tuple[PlannedColumn, ...]) -> list[PlannedColumn]:
    """The columns with what the visitor changed in the table of guesses."""
    kept = st.session_state.get(FRAME)
    if kept is None or kept[0] != columns:  # the frame stays the same while its widget lives: its edits are relative
        number = 0 if kept is None else kept[2] + 1
        kept = (columns, _frame(columns), number)
        st.session_state[FRAME] = kept
    column = st.column_config
    edited = st.data_editor(
        kept[1],
        key=f"plan_columns_{kept[2]}",
        hide_index=True,
        alt=t("ahead.table_alt"),
        column_config={
            "name": column.TextColumn(t("ahead.name"), disabled=True, width=115),
            "kind": column.SelectboxColumn(
                t("ahead.kind"), options=list(KINDS), required=True, format_func=_kind, width=90
            ),
            "values": column.NumberColumn(
                t("ahead.values"), min_value=1, max_value=MOST_VALUES, step=1, required=True, width=125
            ),
        },
    )
    rows: list[dict[str, Any]] = edited.to_dict("records")
    return [changed(c, kind=r["kind"], values=int(r["values"])) for c, r in zip(columns, rows, strict=True)]


def _kind(kind: str | float | bool) -> str:
    return t(f"ahead.kind_{kind}")


def _frame(columns: tuple[PlannedColumn, ...]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame([{"name": c.name, "kind": c.kind, "values": c.values} for c in columns])
