"""Totals and notes below a table, as people write them in a spreadsheet: they would count as records."""

from __future__ import annotations

from typing import Any

from dpsyn_core.tables.cells import canonical_text as canonical
from dpsyn_core.tables.notices import Notice

WORDS = (
    "average", "celkem", "durchschnitt", "gesamt", "gesamtsumme", "grand total", "insgesamt", "mean", "mittelwert",
    "moyenne", "somme", "subtotal", "suma", "sum", "summa", "summe", "total", "total général", "totaal", "totale",
    "totals", "zwischensumme",
)  # fmt: skip
WIDE = 3  # columns from which on a record with one filled cell is odd
LAST = 3  # records of a table that are looked at: a total, and a source or a date below it


def totals(table: Any) -> list[Notice]:
    """For the owner only: says that one of the last records looks like a total, by a word that no other record has.

    Else that one looks like a note or a source: words in one cell, and all other cells blank.

    It is said and not left out, for what a record becomes depends on that record alone.

    Args:
        table: pyarrow.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    rows = table.num_rows
    for name in table.column_names if rows > LAST and len(set(table.column_names)) == table.num_columns else ():
        column = table.column(name)
        if not canonical.is_text(column.type):
            continue
        last = [str(cell or "").strip().rstrip(":").casefold() for cell in column.slice(rows - LAST).to_pylist()]
        found = [i for i, cell in enumerate(last) if cell in WORDS]
        if len(found) == 1:
            same = pc.match_substring(column.cast(pa.string()), last[found[0]], ignore_case=True)
            if (pc.sum(same).as_py() or 0) == 1:
                return [Notice("total", record=rows - LAST + found[0] + 1, word=last[found[0]])]
    if rows <= LAST or table.num_columns < WIDE:
        return []
    columns = [canonical.to_text(c.slice(rows - LAST).combine_chunks()).to_pylist() for c in table.columns]
    filled = [[cell for cell in row if cell and cell.strip()] for row in zip(*columns, strict=True)]
    notes = [i for i, row in enumerate(filled) if len(row) == 1 and len(row[0].split()) > 1]
    return [Notice("note", record=rows - LAST + notes[0] + 1)] if notes else []
