"""NIST-style parameters.json with column_datatypes.json, and lists of maxima, as schemas; and back again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.document import Schema

DEFAULT_BINS = 50  # where a numeric column names no bins and has more whole values than this
LISTED = 1000  # an enumeration up to this many values is a list, above it a range of whole numbers
KEPT = "parameters"  # key under which facts without a place of their own are kept


def import_parameters(
    document: Mapping[str, Any], datatypes: Mapping[str, Any] | None = None, *, name: str = "imported"
) -> Schema:
    """A parameters.json of the 2020 NIST challenge, with nothing lost: `export_parameters` gives it back.

    A blank cell is a value of the column where the file lists '' (or null) among its values; elsewhere the file says
    nothing of blank cells, so the column is given a missing cell. max_records_per_individual of the runs becomes
    theta (the largest of them).
    """
    unknown = set(document) - {"runs", "schema"}
    if unknown:
        msg = f"parameters.json has the unknown part '{sorted(unknown)[0]}'; known are runs and schema"
        raise SchemaError(msg)
    types = _column_types(datatypes)
    runs = document.get("runs", [])
    attributes, identifier = [], None
    for column, entry in document["schema"].items():
        if not isinstance(entry, Mapping) or "kind" not in entry:
            msg = f"schema.{column} of parameters.json needs a kind (categorical, numeric or id)"
            raise SchemaError(msg)
        kind = str(entry["kind"]).lower()
        dtype = str(types.get(column, entry.get("dtype", "str")))
        if kind in ("id", "identifier"):
            identifier = column
            attributes.append({"name": column, "kind": "identifier", **_kept(entry, ("kind",))})
        elif kind == "categorical" or "values" in entry:
            attributes.append(_categorical(column, entry, dtype))
        elif kind == "numeric":
            attributes.append(_numeric(column, entry, dtype))
        else:
            msg = f"schema.{column}.kind of parameters.json is {entry['kind']!r}; known are categorical, numeric and id"
            raise SchemaError(msg)
    unit = {"neighbours": "add-remove", "identifier": identifier, "max_records": _theta(runs)}
    notes = {k: v for k, v in (("runs", runs), ("datatypes", datatypes)) if v}
    return Schema.of({"version": 1, "name": name, "unit": unit, "attributes": attributes, "notes": notes})


def _categorical(column: str, entry: Mapping[str, Any], dtype: str) -> dict[str, Any]:
    values = entry.get("values")
    if not isinstance(values, list) or not values:
        msg = f"schema.{column}.values of parameters.json must be a list that is not empty"
        raise SchemaError(msg)
    named = [_cast(v, dtype) for v in values if v is not None]
    missing = None in values or ("" not in named and bool(entry.get("has_null", True)))
    out = {"name": column, "kind": "categorical", "values": named, "missing": missing}
    return out | _kept(entry, ("kind", "values") if None not in values else ("kind",))


def _numeric(column: str, entry: Mapping[str, Any], dtype: str) -> dict[str, Any]:
    low, high = entry.get("min"), entry.get("max")
    if not all(isinstance(v, int | float) and not isinstance(v, bool) for v in (low, high)):
        msg = f"schema.{column} of parameters.json needs a numeric min and max"
        raise SchemaError(msg)
    whole = "int" in dtype
    bins = entry.get("bins")
    if isinstance(bins, list):
        cut: dict[str, Any] = {"edges": bins}
    elif isinstance(bins, int) and not isinstance(bins, bool):
        cut = {"count": bins}
    elif bins is None:
        cut = {"count": DEFAULT_BINS}
    else:
        msg = f"schema.{column}.bins of parameters.json must be a number of bins or a list of edges"
        raise SchemaError(msg)
    out = {"name": column, "kind": "numeric", "dtype": "integer" if whole else "float", "min": low, "max": high}
    out |= {"bins": cut, "missing": bool(entry.get("has_null", True))}
    return out | _kept(entry, ("kind", "min", "max", "bins"))


def _kept(entry: Mapping[str, Any], placed: tuple[str, ...]) -> dict[str, Any]:
    rest = {k: v for k, v in entry.items() if k not in placed}
    return {"notes": {KEPT: rest}} if rest else {}


def _cast(value: Any, dtype: str) -> Any:
    """A listed value in the column's type; text such as '' stays text in a column of numbers."""
    if dtype.startswith(("str", "object", "category")) and not isinstance(value, str):
        return json.dumps(value) if isinstance(value, bool) else str(value)
    if "int" in dtype and isinstance(value, str):
        try:
            return int(value)
        except ValueError:
            return value
    return value


def _theta(runs: Any) -> int:
    found = [r.get("max_records_per_individual", 1) for r in runs if isinstance(r, Mapping)]
    return max(found, default=1)


def _column_types(datatypes: Mapping[str, Any] | None) -> Mapping[str, Any]:
    if datatypes is None:
        return {}
    inner = datatypes.get("dtype", datatypes)
    if not isinstance(inner, Mapping):
        msg = "column_datatypes.json must map columns to types, under the key dtype"
        raise SchemaError(msg)
    return inner


def export_parameters(schema: Schema) -> dict[str, Any]:
    """The parameters.json that a schema was imported from, entry by entry."""
    columns: dict[str, Any] = {}
    for a in schema.attributes:
        notes = a.notes.get(KEPT)
        entry = dict(notes) if isinstance(notes, dict) else {}
        entry["kind"] = {"identifier": "id"}.get(a.kind, a.kind)
        if a.kind == "categorical":
            entry.setdefault("values", list(a.values))
        elif a.kind == "numeric":
            entry |= {"min": a.min, "max": a.max}
            entry["bins"] = a.bins.count if hasattr(a.bins, "count") else list(a.bins.edges)
        columns[a.name] = entry
    return {"runs": schema.notes.get("runs", []), "schema": columns}


def import_maxima(document: Mapping[str, Any], *, name: str = "imported") -> Schema:
    """Columns given as {"type": "enum", "maxval": M}: whole numbers 0..M, listed up to 1000, else a range in bins."""
    attributes: list[dict[str, Any]] = []
    for column, entry in document.items():
        top = entry["maxval"]
        if top < LISTED:
            attributes.append({"name": column, "kind": "categorical", "values": list(range(top + 1))})
        else:
            bins = {"count": LISTED}
            attributes.append(
                {"name": column, "kind": "numeric", "dtype": "integer", "min": 0, "max": top, "bins": bins}
            )
    return Schema.of({"version": 1, "name": name, "attributes": attributes})
