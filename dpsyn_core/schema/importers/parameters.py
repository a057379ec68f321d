"""Schemas from documents of parameters, and the choice of the importer.

NIST-style parameters.json with column_datatypes.json as schemas; and back again.

Imports schema files of any supported style: the JSON of this program, NIST-style parameters, lists of maxima,
dictionaries.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpsyn_core.errors import SchemaError
from dpsyn_core.files import unfit_text
from dpsyn_core.schema.attributes.numeric import NumericAttribute
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.importers.codebook import Codebook, CodebookEntry, import_dictionary, read_codebook
from dpsyn_core.schema.importers.maxima import KEPT, export_maxima, fine_bins, import_maxima

__all__ = ["KEPT", "export_maxima", "export_parameters", "import_maxima", "import_parameters"]


def import_parameters(
    document: Mapping[str, Any],
    datatypes: Mapping[str, Any] | None = None,
    codebook: Codebook | None = None,
    *,
    name: str = "imported",
) -> Schema:
    """A parameters.json of the 2020 NIST challenge, with nothing lost: `export_parameters` gives it back.

    A blank cell is a value of the column where the file lists '' (or null) among its values; elsewhere the file says
    nothing of blank cells, so the column is given a missing cell. max_records_per_individual of the runs becomes
    theta (the largest of them). Of a column of numbers that names no bins, whole numbers are cut by `fine_bins`;
    its `special_values` have separate cells. A codebook leaves of a list of numbers those that it lists too,
    gives codes their words, and numbers their special codes.
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
            attributes.append(_categorical(column, entry, dtype, (codebook or {}).get(column)))
        elif kind == "numeric":
            attributes.append(_numeric(column, entry, dtype, (codebook or {}).get(column)))
        else:
            msg = f"schema.{column}.kind of parameters.json is {entry['kind']!r}; known are categorical, numeric and id"
            raise SchemaError(msg)
    unit = {"neighbours": "add-remove", "identifier": identifier, "max_records": _theta(runs)}
    notes = {k: v for k, v in (("runs", runs), ("datatypes", datatypes)) if v}
    return Schema.of({"version": 1, "name": name, "unit": unit, "attributes": attributes, "notes": notes})


def _categorical(column: str, entry: Mapping[str, Any], dtype: str, words: CodebookEntry | None) -> dict[str, Any]:
    values = entry.get("values")
    if not isinstance(values, list) or not values:
        msg = f"schema.{column}.values of parameters.json must be a list that is not empty"
        raise SchemaError(msg)
    named = [_cast(v, dtype) for v in values if v is not None]
    missing = None in values or ("" not in named and bool(entry.get("has_null", True)))
    out = {"name": column, "kind": "categorical", "values": named, "missing": missing}
    kept = _kept(entry, ("kind", "values") if None not in values else ("kind",))
    return out | kept if words is None else _explained(out | kept, words)


def _explained(attribute: dict[str, Any], words: CodebookEntry) -> dict[str, Any]:
    """A list with the codebook's words, less the numbers that the codebook does not list."""
    listed = attribute["values"]
    numbers = [v for v in listed if isinstance(v, int) and not isinstance(v, bool)]
    both = [v for v in listed if v in words.codes]
    if both and len(numbers) == len(listed):
        whole = attribute.get("notes", {}).get(KEPT, {})
        notes = {KEPT: whole | {"values": listed}, "labels": {str(v): words.codes[v] for v in both}}
        attribute |= {"values": both, "ordered": words.counts, "notes": notes}
    return attribute | {"description": words.label}


def _numeric(column: str, entry: Mapping[str, Any], dtype: str, words: CodebookEntry | None) -> dict[str, Any]:
    low: Any
    high: Any
    low, high = entry.get("min"), entry.get("max")
    if not all(isinstance(v, int | float) and not isinstance(v, bool) for v in (low, high)):
        msg = f"schema.{column} of parameters.json needs a numeric min and max"
        raise SchemaError(msg)
    whole = "int" in dtype
    bins = entry.get("bins")
    if isinstance(bins, list):
        cut: dict[str, Any] | None = {"edges": bins}
    elif isinstance(bins, int) and not isinstance(bins, bool):
        cut = {"count": bins}
    elif bins is None:
        exact = whole and float(low).is_integer() and float(high).is_integer()
        cut = fine_bins(int(low), int(high)) if exact else None
    else:
        msg = f"schema.{column}.bins of parameters.json must be a number of bins or a list of edges"
        raise SchemaError(msg)
    out = {"name": column, "kind": "numeric", "dtype": "integer" if whole else "float", "min": low, "max": high}
    out |= {"missing": bool(entry.get("has_null", True))} | ({} if cut is None else {"bins": cut})
    special = entry.get("special_values", [])
    if words is not None:
        explained = words.special if words.is_list(low, high) else {**words.codes, **words.special}
        special = [*special, *(c for c in sorted(explained) if c != 0 and c not in special)]
        out["description"] = words.label
    if special:
        out["special_values"] = special
    placed = ("kind", "min", "max") if bins is None else ("kind", "min", "max", "bins")
    return out | _kept({"bins": None, **entry}, placed)  # null: the file names no bins


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
    limits = [r.get("max_records_per_individual", 1) for r in runs if isinstance(r, Mapping)]
    return max(limits, default=1)


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
        if a.listed:
            entry.setdefault("values", list(a.values))
        elif a.coded and a.limits is not None:
            entry |= {"min": a.min, "max": a.max}
            _export_bins(a, entry)
        columns[a.name] = entry
    return {"runs": schema.notes.get("runs", []), "schema": columns}


def _export_bins(attribute: NumericAttribute, entry: dict[str, Any]) -> None:
    """Writes the bins, or none where the file named none and they are still those of the import."""
    exact = attribute.dtype == "integer"
    now = None if attribute.bins is None else attribute.bins.model_dump(mode="json")
    bins = fine_bins(int(attribute.min), int(attribute.max)) if exact else None
    if now is None or (now == bins and entry.get("bins", 0) is None):
        entry.pop("bins", None)
    else:
        entry["bins"] = next(iter(now.values()))


TABLES = (".csv", ".tsv", ".txt", ".xlsx", ".gz")  # endings of data dictionaries


def import_file(
    path: str | Path,
    datatypes: str | Path | None = None,
    *,
    codebook: str | Path | None = None,
    name: str | None = None,
    onto: Schema | None = None,
    table: str | None = None,
) -> Schema:
    """Reads a schema file of any supported style. `maxima.binned` says of the result what is binned.

    The JSON of this program, parameters.json, {column: {type, maxval}}, a data dictionary in CSV, TSV or Excel, or a
    codebook: DDI, CSVW, Frictionless, SDV metadata, JSON Schema, or what an SPSS, Stata or SAS file declares beside its
    records.

    Args:
        path: the file.
        datatypes: column_datatypes.json beside a parameters.json.
        codebook: codebook.cbk of a parameters.json or specification, see `read_codebook`.
        name: of the table; default the file's.
        onto: a schema that keeps its entries of columns of which a codebook declares neither values nor a range.
        table: the one that is meant, where a codebook describes several.

    Raises:
        SchemaError: not JSON, unknown style, or an entry that cannot be imported; it names the entry. TableError: of an
            SPSS, Stata or SAS file.
    """
    from dpsyn_core.schema.importers.formats import read_schema_file

    words = None if codebook is None else read_codebook(codebook)
    schema = (
        None if Path(path).suffix.lower() in TABLES else read_schema_file(Path(path), name=name, onto=onto, table=table)
    )
    if schema is not None:
        _refuse(words, str(path))
        return schema
    if onto is not None:
        msg = f"'{path}' is no codebook that adds to a schema (--onto); those are DDI, CSVW, Frictionless, SDV and SPSS"
        raise SchemaError(msg)
    if Path(path).suffix.lower() in TABLES:
        _refuse(words, str(path))
        return import_dictionary(path, name=name)
    types = _json(datatypes) if datatypes is not None else None
    return import_document(_json(path), types, words, name=name or Path(path).stem, what=str(path))


def import_document(
    document: object, datatypes: Any = None, words: Codebook | None = None, *, name: str, what: str
) -> Schema:
    """A schema from a parsed JSON document of any supported style.

    Args:
        document: a schema of this program, parameters.json, or a specification.
        datatypes: parsed column_datatypes.json beside a parameters.json.
        words: the codebook of a parameters.json or specification.
        name: of the table.
        what: what the document is called in messages.

    Raises:
        SchemaError: as `import_file`.
    """
    if unfit := unfit_text([document, datatypes]):
        msg = f"{what} holds {unfit}"
        raise SchemaError(msg)
    if isinstance(document, Mapping) and "version" in document and "attributes" in document:
        _refuse(words, what)
        return Schema.of(document)
    inner = document.get("schema") if isinstance(document, Mapping) else None
    if isinstance(document, Mapping) and isinstance(inner, Mapping) and not isinstance(inner.get("fields"), list):
        return import_parameters(document, datatypes, words, name=name)
    if isinstance(document, Mapping) and document and all(_is_maximum(v) for v in document.values()):
        return import_maxima(document, words, name=name)
    from dpsyn_core.schema.importers.declared import schema_of
    from dpsyn_core.schema.importers.formats import read_json

    declaration = read_json(document, name=name, what=what)
    if declaration is not None:
        _refuse(words, what)
        return schema_of(declaration, source="public" if declaration.confirmed else "data")
    msg = f"{what} is no known schema; give our own JSON, a codebook, a NIST-style parameters.json, or a specification"
    raise SchemaError(msg)


def _refuse(words: object, what: str) -> None:
    if words is not None:
        msg = f"{what} has labels of its own; a codebook goes with a parameters.json or a specification with maxval"
        raise SchemaError(msg)


def _is_maximum(entry: object) -> bool:
    """Whether an entry is meant as one of a specification; the import itself reports what it lacks."""
    if not isinstance(entry, Mapping):
        return False
    top = entry.get("maxval", entry.get("max") if "type" in entry else None)
    return isinstance(top, int | float) and not isinstance(top, bool) and top >= 0


def _json(path: str | Path) -> Any:
    try:
        return json.loads(Path(path).read_bytes())
    except OSError as error:
        msg = f"the file '{path}' cannot be read ({error.strerror}); check the path"
        raise SchemaError(msg) from error
    except (ValueError, RecursionError) as error:
        msg = f"the file '{path}' is neither JSON nor XML in UTF-8; give a codebook or a schema"
        raise SchemaError(msg) from error
