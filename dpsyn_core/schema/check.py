"""Checks a schema, alone and against a table: what stops a run, what should be thought over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dpsyn_core.errors import TableError
from dpsyn_core.schema import categories
from dpsyn_core.schema.attributes import CategoricalAttribute, DerivedAttribute, NumericAttribute
from dpsyn_core.schema.codec import encode_column, identifiers
from dpsyn_core.schema.document import Schema
from dpsyn_core.tables import casting
from dpsyn_core.tables.headers import locate, short

LARGE = 5000


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """level: error (a run is refused), warning (think it over), note. about: the column, or '' for the whole."""

    level: Literal["error", "warning", "note"]
    about: str
    text: str


def check(schema: Schema, table: Any = None) -> list[Finding]:
    """Findings on a schema and, when a pyarrow table is given, on how it fits; errors first.

    With a table this reads private data: it is for the owner's eyes. It shows no cell and no count.
    """
    found = _alone(schema)
    if table is not None:
        found += _against(schema, table)
    order = {"error": 0, "warning": 1, "note": 2}
    return sorted(found, key=lambda f: order[f.level])


def _alone(schema: Schema) -> list[Finding]:
    out: list[Finding] = []
    for name in schema.from_data:
        text = "was read from the data: runs are stamped NOT PRIVATE until a person confirms it as public knowledge"
        out.append(Finding(level="warning", about=name, text=text))
    bought = [a.name for a in schema.coded if a.source == "bought"]
    if bought and not schema.bought:
        text = "says it was bought, but the schema lists no charge for it: runs are stamped NOT PRIVATE"
        out += [Finding(level="warning", about=name, text=text) for name in bought]
    if schema.unit.max_records > 1 and schema.unit.identifier is None:
        text = (
            f"at most {schema.unit.max_records} records an individual are promised but not enforced: "
            "no column names the individuals"
        )
        out.append(Finding(level="note", about="", text=text))
    for a in schema.coded:
        if a.size > LARGE:
            text = f"has {a.size} cells; noise hides most of them, so use fewer or wider bins"
            out.append(Finding(level="warning", about=a.name, text=text))
        if a.size == 1:
            out.append(Finding(level="note", about=a.name, text="has a single cell: its output is constant"))
    return out


def _against(schema: Schema, table: Any) -> list[Finding]:
    out: list[Finding] = []
    comma = (table.schema.metadata or {}).get(b"dpsyn.decimal") == b","
    for a in schema.coded:
        try:
            (at,) = locate(table.column_names, [a.name])
        except TableError:
            text = "is declared, and the table lacks it; check the headers, or change the schema"
            out.append(Finding(level="error", about=a.name, text=text))
            continue
        try:
            encode_column(table.column(at), a, comma=comma)
        except TableError as error:
            out.append(Finding(level="error", about=a.name, text=_without_name(error, a.name)))
            continue
        out += _outside(table.column(at), a, comma)
    out += [f for a in schema.attributes if isinstance(a, DerivedAttribute) for f in _disagreeing(schema, a, table)]
    key = schema.unit.identifier
    if key is not None:
        try:
            identifiers(table.column(locate(table.column_names, [key])[0]), key)
        except TableError as error:
            out.append(Finding(level="error", about=key, text=_without_name(error, key)))
    known = {a.name for a in schema.attributes} | {key}
    for name in table.column_names:
        if name not in known:
            text = "is in the table and not in the schema: it is left out"
            out.append(Finding(level="note", about=short(name), text=text))
    return out


def _without_name(error: TableError, name: str) -> str:
    """The sentence after the column's name, which the finding shows by itself."""
    return str(error).removeprefix(f"column '{short(name)}' ")


def _disagreeing(schema: Schema, attribute: DerivedAttribute, table: Any) -> list[Finding]:
    """Whether the table holds the derived column with other values than the map gives."""
    try:
        own, origin = (table.column(i) for i in locate(table.column_names, [attribute.name, attribute.origin]))
    except TableError:
        return []
    parent = schema[attribute.origin]
    place, _ = categories.match(origin, parent)
    targets = attribute.targets(parent.keys)
    values = tuple(dict.fromkeys(targets))
    found, _ = categories.match(own, CategoricalAttribute.model_validate({"name": attribute.name, "values": values}))
    expected = np.array([values.index(t) for t in targets])
    if (found != expected[place])[place >= 0].any():
        text = f"does not always follow from '{attribute.origin}' by its map: the output has the map's values"
        return [Finding(level="warning", about=attribute.name, text=text)]
    return []


def _outside(column: Any, attribute: Any, comma: bool) -> list[Finding]:
    """Whether numbers or dates are clamped."""
    if isinstance(attribute, CategoricalAttribute):
        return []
    if isinstance(attribute, NumericAttribute):
        values, valid = casting.to_numbers(column, whole=attribute.dtype == "integer", comma=comma)
        low, high = attribute.min, attribute.max
        valid = valid & ~np.isin(values, attribute.special_values)
    else:
        values, valid = casting.to_instants(column, attribute.formats)
        values = values // attribute.unit_seconds
        low, high = int(attribute.binning.starts[0]), attribute.binning.last
    if ((values < low) | (values > high))[valid].any():
        text = "holds cells outside its declared range: they are clamped to it"
        return [Finding(level="note", about=attribute.name, text=text)]
    return []
