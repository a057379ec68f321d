"""Which of two records is real? Asked once after a first run, with the answer: for the owner, who may see both."""

from __future__ import annotations

import csv
import io
import secrets
from typing import TYPE_CHECKING

import streamlit as st

from dpsyn_core.tables import csv_bytes, has_decimal_comma
from ui.shared import results
from ui.shared.jobs import Job
from ui.shared.state import Workspace
from ui.shared.text import t
from ui.shared.theme import note, private_tag, section, table

if TYPE_CHECKING:
    import pyarrow as pa

SHOWN = 6  # columns of a record


def _written(table: pa.Table, row: int) -> list[str]:
    """The cells of a record as a file has them: a decimal point would tell which table it is from."""
    comma = has_decimal_comma(table)
    text = csv_bytes(table.slice(row, 1)).decode()
    cells = list(csv.reader(io.StringIO(text), delimiter=";" if comma else ","))[1]
    return [cell or "\N{EN DASH}" for cell in cells]


def panel(space: Workspace, job: Job) -> None:
    """Two records side by side in random order, a press on one of them, and which it was."""
    data = space.dataset
    if space.choices.safe or job.spec.linked or data is None or data.table is None or space.schema is None:
        return
    made, key = results.synthetic(space, job), ("which_is_real", job.id)
    if not (data.table.num_rows and made.num_rows):
        return
    if key not in space.memo:
        space.memo[key] = tuple(map(secrets.randbelow, (data.table.num_rows, made.num_rows, 2)))
    row, copy, place = space.memo[key]
    names = [a.name for a in space.schema.coded if a.name in data.table.column_names][:SHOWN]
    real, drawn = _written(data.table.select(names), row), _written(made.select(names), copy)
    sides = [drawn, real] if place else [real, drawn]
    with st.container(key="which_is_real"):
        section(t("real.title"))
        private_tag()
        rows = [list(line) for line in zip(names, *sides, strict=True)]
        table([t("real.column"), "A", "B"], rows, alt=t("real.title"), numbers=False)
        answer = st.segmented_control(t("real.title"), ("A", "B"), key=f"real_{job.id}", label_visibility="collapsed")
        if answer is not None:
            right = "AB"[place]
            note(t("real.right" if answer == right else "real.wrong", real=right))
