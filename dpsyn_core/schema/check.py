"""What of a table does not fit its schema, for the owner only.

Misfits: cells of a table that its schema does not describe, for the owner to see before anything is spent.

This reads private data: counts and cells are exact, and for the owner only.

Checks a schema, alone and against a table: what stops a run, what should be thought over.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import TableError
from dpsyn_core.schema.attributes.base import CodedBase
from dpsyn_core.schema.attributes.categorical import CategoricalAttribute
from dpsyn_core.schema.attributes.derived import DerivedAttribute
from dpsyn_core.schema.codec import identifiers
from dpsyn_core.schema.document import Schema
from dpsyn_core.tables.cells.canonical import UNREADABLE, has_decimal_comma, to_text, uniques
from dpsyn_core.tables.headers import composed, locate, short

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
        return f"holds {self.what} ({self.count:,}{such}): {WHERE[self.goes]}; {self.mend}, or accept that"


def misfits(schema: Schema, table: Any) -> list[Misfit]:
    """What a run with this schema would not find described in a pyarrow table; columns it lacks are passed over."""
    comma = has_decimal_comma(table)
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


def _of_column(column: Any, attribute: CodedBase, comma: bool) -> list[Misfit]:
    """Blank cells without a cell of their own, cells that cannot be read as what is declared, and those outside."""
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


LARGE = 5000


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """level: error (a run is refused), warning (think it over), note. about: the column, or '' for the whole."""

    level: Literal["error", "warning", "note"]
    about: str
    text: str


def check(schema: Schema, table: Any = None, *, strict: bool = False) -> list[Finding]:
    """Findings on a schema and, when a pyarrow table is given, on how it fits; errors first.

    With a table this reads private data, counts and shows cells: it is for the owner only.

    Args:
        schema: to be checked.
        table: to be described by it.
        strict: the run will be strict, so that cells without a place of their own are errors.
    """
    found = _alone(schema)
    if table is not None:
        found += _against(schema, table, strict)
    order = {"error": 0, "warning": 1, "note": 2}
    return sorted(found, key=lambda f: order[f.level])


def _alone(schema: Schema) -> list[Finding]:
    out: list[Finding] = []
    for name in schema.from_data:
        text = "was read from the data: runs are stamped NOT PRIVATE until a person confirms it as public knowledge"
        out.append(Finding(level="warning", about=name, text=text))
    if schema.unit_from_data and schema.unit.usual:
        text = (
            "nobody has said who is one individual; a draft takes each record for one: runs are stamped NOT PRIVATE "
            'until a person says so, by an identifier, or by "source": "public" in \'unit\' where each record is one'
        )
        out.append(Finding(level="warning", about="", text=text))
    elif schema.unit_from_data:
        text = (
            "the unit of privacy (identifier, max_records) was read from the data: runs are stamped NOT PRIVATE until "
            'a person confirms it as public knowledge, by "source": "public" in \'unit\''
        )
        out.append(Finding(level="warning", about="", text=text))
    elif schema.unit.source is None and not schema.unit.usual:
        text = (
            "the schema does not say where its unit of privacy (identifier, max_records) comes from, and is read as "
            'public: write "source": "public" in \'unit\' if it is known without the data, else "data"'
        )
        out.append(Finding(level="note", about="", text=text))
    bought = [a.name for a in schema.coded if a.source == "bought"]
    if bought and not schema.bought:
        text = "says it was bought, but the schema lists no charge for it: runs are stamped NOT PRIVATE"
        out += [Finding(level="warning", about=name, text=text) for name in bought]
    if schema.unit.max_records > 1 and schema.unit.identifier is None:
        text = (
            f"at most {schema.unit.max_records} records per individual are promised but not enforced: "
            "no column names the individuals"
        )
        out.append(Finding(level="note", about="", text=text))
    for a in schema.coded:
        if a.size > LARGE:
            text = f"has {a.size} cells; noise hides most of them, so use fewer or wider bins"
            out.append(Finding(level="warning", about=a.name, text=text))
        if a.size == 1:
            how = "constant" if a.constant else "drawn evenly from its whole range; give it more bins"
            out.append(Finding(level="note", about=a.name, text=f"has a single cell: its output is {how}"))
    return out


def _against(schema: Schema, table: Any, strict: bool) -> list[Finding]:
    out: list[Finding] = []
    for a in schema.coded:
        if not has(table, a.name):
            text = "is declared, and the table lacks it; check the headers, or change the schema"
            out.append(Finding(level="error", about=a.name, text=text))
    for m in misfits(schema, table):
        level: Literal["error", "warning", "note"] = "warning" if m.goes == "left out" else "note"
        out.append(Finding(level="error" if strict and m.refused else level, about=m.about, text=m.sentence()))
    lost = unreadable_records(table)
    if lost:
        text = f"records that could not be read ({lost:,}), such as lines with another number of cells than the header"
        out.append(Finding(level="error" if strict else "warning", about="", text=text))
    if table.num_rows == 0:
        out.append(Finding(level="error" if strict else "warning", about="", text="the table has no records"))
    out += [f for a in schema.derived for f in _disagreeing(schema, a, table)]
    key = schema.unit.identifier
    if key is not None and not has(table, key):
        text = "names individuals, and the table lacks it; check the headers, or change unit.identifier"
        out.append(Finding(level="error", about=key, text=text))
    known = {composed(a.name) for a in schema.attributes} | {key and composed(key)}
    for name in table.column_names:
        if composed(name) not in known:
            text = "is in the table and not in the schema: it is left out"
            out.append(Finding(level="note", about=short(name), text=text))
    return out


def _disagreeing(schema: Schema, attribute: DerivedAttribute, table: Any) -> list[Finding]:
    """Whether the table holds the derived column with other values than the map gives."""
    try:
        own, origin = (table.column(i) for i in locate(table.column_names, [attribute.name, attribute.origin]))
    except TableError:
        return []
    parent = schema[attribute.origin]
    place, _ = parent.match(origin)
    targets = attribute.targets(parent.keys)
    values = tuple(dict.fromkeys(targets))
    found, _ = CategoricalAttribute.model_validate({"name": attribute.name, "values": values}).match(own)
    expected = np.array([values.index(t) for t in targets])
    if (found != expected[place])[place >= 0].any():
        text = f"does not always follow from '{attribute.origin}' by its map: the output has the map's values"
        return [Finding(level="warning", about=attribute.name, text=text)]
    return []
