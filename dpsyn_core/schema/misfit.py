"""Misfits: cells of a table that its schema does not describe; exact and private, for the owner before a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.schema.attributes.base import CodedBase
from dpsyn_core.schema.codec import identifiers
from dpsyn_core.schema.document import Schema
from dpsyn_core.tables import UNREADABLE, composed, has_decimal_comma, locate, short, to_text, uniques

FEW = 3  # cells shown of a kind of misfit
LENGTH = 40  # letters shown of a cell
Goes = Literal["other", "missing", "nearest end", "date of the rhythm", "left out"]
WHERE: dict[Goes, str] = {
    "other": "they count as (other)",
    "missing": "they count as (missing)",
    "nearest end": "they count as the nearest end of the range",
    "date of the rhythm": "they count as the day, or the times, of the rhythm in their bin",
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
        return f"holds {self.what} ({self.count:,}{such}): {self.where}; {self.mend}, or accept that"

    @property
    def where(self) -> str:
        """Where a run takes them, in words."""
        return WHERE[self.goes]


def misfits(schema: Schema, table: Any) -> list[Misfit]:
    """What a run with this schema would not find described in a pyarrow table; columns it lacks are passed over."""
    comma = has_decimal_comma(table)
    out: list[Misfit] = []
    there = set(map(composed, table.column_names))
    present = [a for a in schema.coded if composed(a.name) in there]
    for a, at in zip(present, locate(table.column_names, [a.name for a in present]), strict=True):
        out += _of_column(table.column(at), a, comma)
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
    return int(_unreadable(table).sum())


def readable(table: Any) -> Any:
    """The table without these records."""
    import pyarrow as pa

    lost = _unreadable(table)
    return table.filter(pa.array(~lost)) if lost.any() else table


def _unreadable(table: Any) -> NDArray[np.bool_]:
    import pyarrow.compute as pc
    import pyarrow.types as t

    lost = np.full(table.num_rows, all(t.is_string(column.type) for column in table.columns))
    for column in table.columns:
        if not lost.any():
            break
        lost &= pc.fill_null(pc.equal(column, UNREADABLE), False).to_numpy()
    return lost


def _of_column(column: Any, attribute: CodedBase, comma: bool) -> list[Misfit]:
    """Blank cells without a code, cells that cannot be read as what is declared, and those outside."""
    unfit = attribute.unfit(column, comma=comma)
    mend = unfit.mend
    other = "other" if getattr(attribute, "other", False) else None
    missing = "missing" if attribute.missing else None
    out = []
    if unfit.blank.any() and not missing:
        goes = other or "left out"
        out.append(_misfit(column, attribute, unfit.blank, "blank cells", goes, "declare missing: true"))
    if unfit.unread.any():
        goes = other or missing or "left out"
        cell = "other" if attribute.listed else "missing"
        if goes == "left out":
            mend += f", declare {cell}: true"
        out.append(_misfit(column, attribute, unfit.unread, unfit.unread_are, goes, mend, refused=goes != cell))
    if unfit.outside.any():
        what, mend = "cells outside its range", "widen min and max"
        out.append(_misfit(column, attribute, unfit.outside, what, "nearest end", mend, refused=False))
    if unfit.off_rhythm.any():
        what = f"dates that the rhythm '{getattr(attribute, 'rhythm', None)}' does not have"
        goes = "date of the rhythm"
        out.append(_misfit(column, attribute, unfit.off_rhythm, what, goes, "drop rhythm", refused=False))
    return out


def _misfit(
    column: Any,
    attribute: CodedBase,
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
