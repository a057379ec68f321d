"""Pydantic and pandera models as schemas: what Python code declares of the columns of a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.importers.declared import Declaration, schema_of
from dpsyn_core.schema.importers.packages import read_json_schema
from dpsyn_core.tables import DeclaredColumn, Kind

# how the names of pandera's types begin, in lower case
DTYPES: tuple[tuple[str, Kind], ...] = (
    ("int", "integer"), ("uint", "integer"), ("float", "float"), ("decimal", "float"), ("bool", "boolean"),
    ("datetime", "datetime"), ("date", "date"), ("str", "text"), ("object", "text"), ("category", "text"),
    ("large_string", "text"),
)  # fmt: skip


def schema_of_model(model: Any, *, name: str | None = None) -> Schema:
    """A schema from a Pydantic model of one record, or a pandera model or schema of a table.

    Types, limits (`ge`, `le`, `in_range`), lists of values (`Literal`, `Enum`, `isin`), steps, titles and descriptions
    are taken over. A column of which neither values nor a range is declared is left out. A check that is a function of
    the person's declares nothing that could be read, and is not run.

    Args:
        model: the class, or pandera's DataFrameSchema.
        name: of the table; default the model's.

    Raises:
        SchemaError: it is no such model, or nothing can be synthesized from it.
    """
    title = name or getattr(model, "__name__", None) or getattr(model, "name", None) or "table"
    if hasattr(model, "model_json_schema"):
        declaration = read_json_schema(model.model_json_schema(), name=title, what=title)
        return schema_of(Declaration(name=title, columns=declaration.columns))
    converted = model.to_schema() if hasattr(model, "to_schema") else model
    columns = getattr(converted, "columns", None)
    if not isinstance(columns, Mapping) or not columns:
        msg = f"{type(model).__name__} is no model of a table; give a Pydantic model or a pandera schema with columns"
        raise SchemaError(msg)
    return schema_of(Declaration(name=title, columns=tuple(_column(str(n), c) for n, c in columns.items())))


def _column(name: str, column: Any) -> DeclaredColumn:
    """One column of pandera."""
    ends: dict[str, Any] = {}
    for check in getattr(column, "checks", None) or ():
        ends |= _checked(getattr(check, "name", "") or "", getattr(check, "statistics", None) or {})
    dtype = str(getattr(column, "dtype", "") or "").lower()
    kind = next((kind for start, kind in DTYPES if dtype.startswith(start)), "")
    whole = kind == "integer"
    low, high = (
        ends.get(end) if not ends.get(f"{end}_open") or ends.get(end) is None or not whole else ends[end] + step
        for end, step in (("low", 1), ("high", -1))
    )
    if kind in ("date", "datetime"):
        low, high = (None if e is None else str(e).replace(" 00:00:00", "") for e in (low, high))
    return DeclaredColumn(
        name=name,
        kind=kind,  # type: ignore[arg-type]
        label=str(getattr(column, "title", None) or ""),
        description=str(getattr(column, "description", None) or ""),
        values=tuple(ends.get("values", ())),
        blank=bool(getattr(column, "nullable", True)),
        low=low,
        high=high,
    )


def _checked(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """What a built-in check of pandera declares; empty for any other."""
    if name == "isin":
        return {"values": list(given.get("allowed_values", ()))}
    if name in ("equal_to", "eq"):
        return {"values": [given["value"]]} if "value" in given else {}
    out: dict[str, Any] = {}
    if name in ("in_range", "between", "greater_than_or_equal_to", "ge", "greater_than", "gt"):
        out |= {"low": given.get("min_value"), "low_open": name in ("greater_than", "gt")}
        out["low_open"] |= given.get("include_min") is False
    if name in ("in_range", "between", "less_than_or_equal_to", "le", "less_than", "lt"):
        out |= {"high": given.get("max_value"), "high_open": name in ("less_than", "lt")}
        out["high_open"] |= given.get("include_max") is False
    return out
