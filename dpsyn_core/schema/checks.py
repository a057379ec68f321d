"""Checks a schema, alone and against a table: what stops a run, and what should be thought over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dpsyn_core.errors import TableError
from dpsyn_core.schema.attributes.categorical import CategoricalAttribute
from dpsyn_core.schema.attributes.derived import DerivedAttribute
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.misfit import has, misfits, unreadable_records
from dpsyn_core.tables import composed, locate, short

LARGE = 5000


@dataclass(frozen=True, kw_only=True, slots=True)
class Remark:
    """level: error (a run is refused), warning (think it over), note. about: the column, or '' for the whole."""

    level: Literal["error", "warning", "note"]
    about: str
    text: str


def check(schema: Schema, table: Any = None, *, strict: bool = False) -> list[Remark]:
    """Findings on a schema and, when a pyarrow table is given, on how it fits; errors first.

    With a table this reads private data, counts and shows cells: it is for the owner only.

    Args:
        schema: to be checked.
        table: to be described by it.
        strict: the run will be strict, so that cells that the schema does not describe are errors.
    """
    remarks = _alone(schema)
    if table is not None:
        remarks += _against(schema, table, strict)
    order = {"error": 0, "warning": 1, "note": 2}
    return sorted(remarks, key=lambda f: order[f.level])


def _alone(schema: Schema) -> list[Remark]:
    out: list[Remark] = []
    for name in schema.from_data:
        text = "was read from the data: runs are stamped NOT PRIVATE until a person confirms it as public knowledge"
        out.append(Remark(level="warning", about=name, text=text))
    if schema.unit_from_data and schema.unit.usual:
        text = (
            "nobody has said who is one individual; a draft takes each record for one: runs are stamped NOT PRIVATE "
            'until a person says so, by an identifier, or by "source": "public" in \'unit\' where each record is one'
        )
        out.append(Remark(level="warning", about="", text=text))
    elif schema.unit_from_data:
        text = (
            "the unit of privacy (identifier, max_records) was read from the data: runs are stamped NOT PRIVATE until "
            'a person confirms it as public knowledge, by "source": "public" in \'unit\''
        )
        out.append(Remark(level="warning", about="", text=text))
    elif schema.unit.source is None and not schema.unit.usual:
        text = (
            "the schema does not say where its unit of privacy (identifier, max_records) comes from, and is read as "
            'public: write "source": "public" in \'unit\' if it is known without the data, else "data"'
        )
        out.append(Remark(level="note", about="", text=text))
    bought = [a.name for a in schema.coded if a.source == "bought"]
    if bought and not schema.bought:
        text = "says it was bought, but the schema lists no charge for it: runs are stamped NOT PRIVATE"
        out += [Remark(level="warning", about=name, text=text) for name in bought]
    if schema.unit.max_records > 1 and schema.unit.identifier is None:
        text = (
            f"at most {schema.unit.max_records} records per individual are promised but not enforced: "
            "no column names the individuals"
        )
        out.append(Remark(level="note", about="", text=text))
    for a in schema.coded:
        if a.size > LARGE:
            text = f"has {a.size} cells; noise hides most of them, so use fewer or wider bins"
            out.append(Remark(level="warning", about=a.name, text=text))
        if a.size == 1:
            how = "constant" if a.constant else "drawn evenly from its whole range; give it more bins"
            out.append(Remark(level="note", about=a.name, text=f"has a single cell: its output is {how}"))
    return out


def _against(schema: Schema, table: Any, strict: bool) -> list[Remark]:
    out: list[Remark] = []
    for a in schema.coded:
        if not has(table, a.name):
            text = "is declared, and the table lacks it; check the headers, or change the schema"
            out.append(Remark(level="error", about=a.name, text=text))
    for m in misfits(schema, table):
        level: Literal["error", "warning", "note"] = "warning" if m.goes == "left out" else "note"
        out.append(Remark(level="error" if strict and m.refused else level, about=m.about, text=m.sentence()))
    lost = unreadable_records(table)
    if lost:
        text = f"records that could not be read ({lost:,}), such as lines with another number of cells than the header"
        out.append(Remark(level="error" if strict else "warning", about="", text=text))
    if table.num_rows == 0:
        out.append(Remark(level="error" if strict else "warning", about="", text="the table has no records"))
    out += [f for a in schema.derived for f in _disagreeing(schema, a, table)]
    key = schema.unit.identifier
    if key is not None and not has(table, key):
        text = "names individuals, and the table lacks it; check the headers, or change unit.identifier"
        out.append(Remark(level="error", about=key, text=text))
    names = {composed(a.name) for a in schema.attributes} | {key and composed(key)}
    for name in table.column_names:
        if composed(name) not in names:
            text = "is in the table and not in the schema: it is left out"
            out.append(Remark(level="note", about=short(name), text=text))
    return out


def _disagreeing(schema: Schema, attribute: DerivedAttribute, table: Any) -> list[Remark]:
    """Whether the table holds the derived column with other values than the map gives."""
    try:
        column, origin = (table.column(i) for i in locate(table.column_names, [attribute.name, attribute.origin]))
    except TableError:
        return []
    parent = schema[attribute.origin]
    place, _ = parent.match(origin)
    targets = attribute.targets(parent.keys)
    values = tuple(dict.fromkeys(targets))
    codes, _ = CategoricalAttribute.model_validate({"name": attribute.name, "values": values}).match(column)
    expected = np.array([values.index(t) for t in targets])
    if (codes != expected[place])[place >= 0].any():
        text = f"does not always follow from '{attribute.origin}' by its map: the output has the map's values"
        return [Remark(level="warning", about=attribute.name, text=text)]
    return []
