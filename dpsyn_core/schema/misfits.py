"""Misfits: cells of a table that its schema does not describe, for the owner to see before anything is spent.

This reads private data: counts and cells are exact, and for the owner only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.schema import categories
from dpsyn_core.schema.attributes import CodedColumn
from dpsyn_core.schema.categorical import CategoricalAttribute
from dpsyn_core.schema.codec import identifiers
from dpsyn_core.schema.datetimes import DatetimeAttribute
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.numeric import NumericAttribute
from dpsyn_core.tables import amounts, casting
from dpsyn_core.tables.canonical import UNREADABLE, blanks, to_text, uniques
from dpsyn_core.tables.headers import composed, locate, short

FEW = 3  # cells shown of a kind of misfit
LENGTH = 40  # letters shown of a cell
Goes = Literal["other", "missing", "nearest end", "left out"]
WHERE: dict[Goes, str] = {
    "other": "they count as (other)",
    "missing": "they count as (missing)",
    "nearest end": "they count as the nearest end of the range",
    "left out": "their records are left out",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Misfit:
    """Cells of one column that the schema does not describe. Private.

    about: the column. what: what they are. count: how many cells. few: some of them, cut short. goes: where a run
    takes them. mend: what would describe them; to accept them, nothing need be done. refused: whether `strict`
    refuses the table for them.
    """

    about: str
    what: str
    count: int
    goes: Goes
    mend: str
    few: tuple[str, ...] = ()
    refused: bool = True

    def sentence(self) -> str:
        """All of it in one sentence that follows the column's name."""
        such = f", such as {', '.join(repr(f) for f in self.few)}" if self.few else ""
        return f"holds {self.what} ({self.count:,}{such}): {WHERE[self.goes]}; {self.mend}, or accept that"


def misfits(schema: Schema, table: Any) -> list[Misfit]:
    """What a run with this schema would not find described in a pyarrow table; columns it lacks are passed over."""
    comma = (table.schema.metadata or {}).get(b"dpsyn.decimal") == b","
    out: list[Misfit] = []
    for a in schema.coded:
        if has(table, a.name):
            out += _of_column(table.column(locate(table.column_names, [a.name])[0]), a, comma)
    key = schema.unit.identifier
    if key is not None and has(table, key):
        nameless = identifiers(table.column(locate(table.column_names, [key])[0]), key).null_count
        if nameless:
            mend = "give every individual a name"
            out.append(Misfit(about=key, what="records without a name", count=nameless, goes="left out", mend=mend))
    return out


def has(table: Any, name: str) -> bool:
    """Whether a table has the column, accents composed or not."""
    return composed(name) in map(composed, table.column_names)


def unreadable_records(table: Any) -> int:
    """Records of which no cell could be read, such as lines of a text file that do not fit its header."""
    import pyarrow.compute as pc
    import pyarrow.types as t

    lost = np.ones(table.num_rows, dtype=bool)
    for column in table.columns:
        if not t.is_string(column.type):
            return 0
        lost &= pc.fill_null(pc.equal(column, UNREADABLE), False).to_numpy()
        if not lost.any():
            return 0
    return int(lost.sum())


def _of_column(column: Any, attribute: CodedColumn, comma: bool) -> list[Misfit]:
    """Blank cells without a cell of their own, cells that cannot be read as what is declared, and those outside."""
    outside = np.zeros(len(column), dtype=bool)
    if isinstance(attribute, CategoricalAttribute):
        found, blank = categories.match(column, attribute)
        wrong = (found < 0) & ~blank
        what, mend = "cells that are not in its list of values", "add the values to the list"
    else:
        valid, outside = _numbers(column, attribute, comma)
        blank = ~valid & _blank(column)
        wrong = ~valid & ~blank
        dates = isinstance(attribute, DatetimeAttribute)
        what = f"cells that are not {'dates' if dates else 'numbers'}"
        mend = "declare how its dates are written (formats)" if dates else "list special codes as special_values"
        if not dates and not getattr(attribute, "written", None) and _amounts(column, wrong):
            mend = "declare how its numbers are written (written)"
    other = "other" if getattr(attribute, "other", False) else None
    missing = "missing" if attribute.missing else None
    out = []
    if blank.any() and not missing:
        out.append(_misfit(column, attribute, blank, "blank cells", other or "left out", "declare missing: true"))
    if wrong.any():
        goes = other or missing or "left out"
        cell = "other" if isinstance(attribute, CategoricalAttribute) else "missing"
        if goes == "left out":
            mend += f", declare {cell}: true"
        out.append(_misfit(column, attribute, wrong, what, goes, mend, refused=goes != cell))
    if outside.any():
        mend = "widen min and max"
        out.append(_misfit(column, attribute, outside, "cells outside its range", "nearest end", mend, refused=False))
    return out


def _amounts(column: Any, wrong: NDArray[np.bool_]) -> bool:
    """Whether the cells that are no plain numbers are numbers with a currency, a unit or marks between thousands."""
    import pyarrow as pa

    if not wrong.any():
        return False
    entries, _ = uniques(column.filter(pa.array(wrong)))
    return amounts.recognised(to_text(entries)) is not None


def _numbers(column: Any, attribute: NumericAttribute | DatetimeAttribute, comma: bool) -> tuple[Any, Any]:
    """Whether each cell can be read, and whether it then lies outside the range."""
    if isinstance(attribute, NumericAttribute):
        values, valid = casting.to_numbers(
            column, whole=attribute.dtype == "integer", comma=comma, written=attribute.written
        )
        special = np.isin(values, attribute.special_values)
        return valid, valid & ~special & ((values < attribute.min) | (values > attribute.max))
    values, valid = casting.to_instants(column, attribute.formats)
    values = values // attribute.unit_seconds
    return valid, valid & ((values < int(attribute.binning.starts[0])) | (values > attribute.binning.last))


def _blank(column: Any) -> NDArray[np.bool_]:
    entries, index = uniques(column)
    out: NDArray[np.bool_] = np.append(blanks(to_text(entries)), True)[index]
    return out


def _misfit(
    column: Any,
    attribute: CodedColumn,
    where: NDArray[np.bool_],
    what: str,
    goes: Any,
    mend: str,
    *,
    refused: bool = True,
) -> Misfit:
    """The misfit, with its most frequent cells."""
    entries, index = uniques(column)
    texts = to_text(entries)
    here = index[where]
    counts = np.bincount(here[here >= 0], minlength=len(entries))
    top = np.argsort(-counts, kind="stable")[:FEW]
    few = [texts[int(i)].as_py() for i in top if counts[i]]
    shown = tuple(t if len(t) <= LENGTH else t[: LENGTH - 3] + "..." for t in few if t and t.strip())
    return Misfit(
        about=short(attribute.name), what=what, count=int(where.sum()), goes=goes, mend=mend, few=shown, refused=refused
    )
