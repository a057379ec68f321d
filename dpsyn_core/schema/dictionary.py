"""Imports a data dictionary: a table with one line a column, as statistical offices and survey teams write them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from dpsyn_core.errors import SchemaError, TableError
from dpsyn_core.schema.document import Schema
from dpsyn_core.tables.read import read_table

# what a dictionary may call its own columns, in lower case with spaces for punctuation
HEADERS = {
    "name": ("name", "column", "column name", "variable", "variable name", "field", "field name", "attribute"),
    "kind": ("kind", "type", "data type", "dtype", "variable type", "format"),
    "values": (
        "values", "levels", "categories", "codes", "allowed values", "valid values", "value labels", "response options",
        "range", "choices",
    ),
    "min": ("min", "minimum", "lower", "low", "from"),
    "max": ("max", "maximum", "upper", "high", "to"),
    "bins": ("bins", "number of bins"),
    "step": ("step", "increment", "precision", "resolution"),
    "decimals": ("decimals", "decimal places", "digits after the point"),
    "missing": ("missing", "missing allowed", "nullable", "may be blank", "optional"),
    "description": ("description", "label", "meaning", "definition", "variable label", "question"),
}  # fmt: skip
RANGE = r"^\s*(-?\d+(?:\.\d+)?)\s*(?:-|\.\.+|–|to)\s*(-?\d+(?:\.\d+)?)\s*$"
DAYS = r"^\d{4}(-\d{2}(-\d{2})?)?([T ].*)?$"
YES = ("yes", "y", "true", "1", "allowed", "optional")
NO = ("no", "n", "false", "0", "not allowed", "required")


def import_dictionary(path: str | Path, *, name: str | None = None) -> Schema:
    """A schema from a data dictionary in CSV, TSV or Excel.

    One line a column, with headers such as name, type, values, min, max, bins, step (or decimals), missing
    and description. Values are
    separated by ; or | (or by commas alone) and may carry labels: `1=Male; 2=Female`. `0-99` is a range. Where the
    dictionary does not say whether a column may be blank, the column is given a missing cell.

    Raises:
        SchemaError: no column of names, or a line from which no attribute can be made; it names the line's column.
        TableError: the file cannot be read.
    """
    table = read_table(path)
    found = _headers(table.column_names)
    if "name" not in found:
        msg = f"'{path}' is no data dictionary: no header says name, column or variable"
        raise SchemaError(msg)
    lines = table.rename_columns([str(i) for i in range(table.num_columns)]).to_pylist()
    picked = [{key: line[str(at)].strip() for key, at in found.items()} for line in lines]
    attributes = [_attribute(line) for line in picked if line["name"]]
    identifiers = [a["name"] for a in attributes if a["kind"] == "identifier"]
    unit = {"identifier": identifiers[0] if len(identifiers) == 1 else None}
    return Schema.of({"version": 1, "name": name or Path(path).stem, "unit": unit, "attributes": attributes})


def _headers(names: list[str]) -> dict[str, int]:
    plain = [re.sub(r"[\W_]+", " ", n).strip().lower() for n in names]
    out: dict[str, int] = {}
    for key, spellings in HEADERS.items():
        for spelling in spellings:
            if spelling in plain and plain.index(spelling) not in out.values():
                out[key] = plain.index(spelling)
                break
    return out


def _attribute(line: dict[str, str]) -> dict[str, Any]:
    out: dict[str, Any] = {"name": line["name"]}
    if line.get("description"):
        out["description"] = line["description"]
    kind, values = line.get("kind", "").lower(), line.get("values", "")
    if kind in ("id", "identifier", "key"):
        return out | {"kind": "identifier"}
    if kind in ("ignored", "ignore", "free text", "comment") or (kind in ("text", "string") and not values):
        return out | {"kind": "ignored"}
    missing = {"missing": _yes(line.get("missing", ""), line["name"])}
    low, high = line.get("min", ""), line.get("max", "")
    span = re.match(RANGE, values)
    if span and not (low or high):
        low, high = span.groups()
    elif values and not re.match(RANGE, values):
        return out | {"kind": "categorical"} | _values(values) | missing
    if not (low and high):
        msg = f"column '{line['name']}' of the dictionary has neither values nor min and max; add one of them"
        raise SchemaError(msg)
    if "date" in kind or "time" in kind or (re.match(DAYS, low) and "-" in low[1:]):
        return out | {"kind": "datetime", "min": low, "max": high} | _calendar(line) | missing
    return out | _numeric(line, low, high, kind) | missing


def _numeric(line: dict[str, str], low: str, high: str, kind: str) -> dict[str, Any]:
    try:
        ends = [float(low), float(high)]
    except ValueError as error:
        msg = f"column '{line['name']}' of the dictionary has a min or max that is no number"
        raise SchemaError(msg) from error
    real = any(word in kind for word in ("float", "real", "decimal", "double", "continuous"))
    whole = all(e.is_integer() for e in ends) and not real
    limits: list[float] = [int(e) for e in ends] if whole else ends
    bins, dtype = _bins(line), "integer" if whole else "float"
    out: dict[str, Any] = {"kind": "numeric", "dtype": dtype, "min": limits[0], "max": limits[1]}
    return out | ({} if bins is None else {"bins": {"count": bins}}) | _step(line, whole=whole)


def _step(line: dict[str, str], *, whole: bool) -> dict[str, Any]:
    """The distance of neighbouring values, where the dictionary names it or how many digits they have."""
    text, digits = line.get("step", ""), line.get("decimals", "")
    if not text and re.match(r"^\d{1,2}$", digits) and not whole:
        return {"decimals": int(digits)}
    if not text:
        return {}
    if not re.match(r"^\d+(\.\d+)?$", text):
        msg = f"column '{line['name']}' of the dictionary has a step that is no number; write 1, 0.01 or 50"
        raise SchemaError(msg)
    return {"step": int(float(text)) if float(text).is_integer() else float(text)}


def _bins(line: dict[str, str]) -> int | None:
    text = line.get("bins", "")
    if not text:
        return None
    if not re.match(r"^\d{1,7}$", text):
        msg = f"column '{line['name']}' of the dictionary has bins that are no whole number"
        raise SchemaError(msg)
    return int(text)


def _calendar(line: dict[str, str]) -> dict[str, Any]:
    text = line.get("bins", "").lower()
    if text in ("day", "month", "year"):
        return {"bins": {"every": text}}
    bins = _bins(line)
    return {} if bins is None else {"bins": {"count": bins}}


def _values(text: str) -> dict[str, Any]:
    """The listed values and, under notes, their labels."""
    separator = next((s for s in ("|", ";", "\n") if s in text), ",")
    items = [i.strip() for i in text.split(separator) if i.strip()]
    pairs = [re.split(r"\s*[=:]\s*", i, maxsplit=1) for i in items]
    labelled = all(len(p) == 2 and p[0] for p in pairs)
    codes = [p[0] for p in pairs] if labelled else items
    numbers = all(re.match(r"^-?(0|[1-9]\d{0,17})$", c) for c in codes)
    out: dict[str, Any] = {"values": [int(c) for c in codes] if numbers else codes}
    if labelled:
        out["notes"] = {"labels": {p[0]: p[1] for p in pairs}}
    return out


def _yes(text: str, name: str) -> bool:
    plain = text.strip().lower()
    if plain in NO:
        return False
    if plain in ("", *YES):
        return True
    msg = f"column '{name}' of the dictionary says {plain[:40]!r} on missing cells; write yes or no"
    raise SchemaError(msg)


def looks_like_one(path: str | Path) -> bool:
    """Whether a file can be read as a table with a column of names."""
    try:
        return "name" in _headers(read_table(path).column_names)
    except TableError:
        return False
