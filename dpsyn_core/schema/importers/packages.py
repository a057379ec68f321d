"""Frictionless Table Schema, SDV metadata and JSON Schema: what these JSON documents declare of a table's columns."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.importers.declared import UNCONFIRMED, Declaration, alternatives, iso_day, listed_values
from dpsyn_core.tables import DeclaredColumn, Kind, Value, canonical, instants

OWN = "dpsyn:"  # prefix of what a format has no property for
TYPES: dict[str, Kind] = {
    "string": "text", "number": "float", "integer": "integer", "boolean": "boolean", "date": "date",
    "datetime": "datetime", "year": "integer", "any": "",
}  # fmt: skip
OF_KIND = {"text": "string", "float": "number", "": "any", "identifier": "string", "ignored": "any"}
SDTYPES: dict[str, Kind] = {"numerical": "float", "categorical": "text", "boolean": "boolean", "datetime": "datetime"}
NUMBER = re.compile(r"^-?(0|[1-9]\d{0,17})(\.\d+)?$")


def read_frictionless(document: Mapping[str, Any], *, name: str, what: str) -> Declaration:
    """A Table Schema, or the one of a resource or package. Raises SchemaError."""
    resources = document.get("resources")
    if resources is not None:
        if not isinstance(resources, list) or len(resources) != 1 or not isinstance(resources[0], Mapping):
            msg = f"'{what}' describes several tables or none; give the resource of one table"
            raise SchemaError(msg)
        document = resources[0]
    inner = document.get("schema", document)
    if isinstance(inner, str):
        msg = f"'{what}' names a schema that lies elsewhere, and nothing is fetched; write it into the file itself"
        raise SchemaError(msg)
    fields = inner.get("fields") if isinstance(inner, Mapping) else None
    if not isinstance(fields, list) or not fields or not all(isinstance(f, Mapping) for f in fields):
        msg = f"'{what}' has no list of fields; a Table Schema needs one"
        raise SchemaError(msg)
    key = inner.get("primaryKey")
    key = key[0] if isinstance(key, list) and len(key) == 1 else key
    most = inner.get(f"{OWN}maxRecords")
    absent = _missing(inner.get("missingValues"))
    return Declaration(
        name=str(inner.get(f"{OWN}name") or document.get("name") or name)[:200],
        columns=tuple(_field(f, absent, what) for f in fields),
        identifier=inner.get(f"{OWN}identifier", key if isinstance(key, str) else None),
        max_records=most if isinstance(most, int) and most > 0 else None,
        confirmed=f"{OWN}unconfirmed" not in inner,
    )


def _missing(found: object) -> dict[str, str]:
    """Cells that mean a missing value, with their words; the blank one is always one."""
    if not isinstance(found, list):
        return {}
    pairs = [(m.get("value"), m.get("label", "")) if isinstance(m, Mapping) else (m, "") for m in found]
    return {str(v): str(w) for v, w in pairs if isinstance(v, str | int | float) and str(v)}


def _field(field: Mapping[str, Any], everywhere: Mapping[str, str], what: str) -> DeclaredColumn:
    name = field.get("name")
    if not isinstance(name, str) or not name.strip():
        msg = f"'{what}' has a field without a name; give each field a name"
        raise SchemaError(msg)
    kind = TYPES.get(str(field.get("type", "any")), "")
    limits = field.get("constraints")
    limits = limits if isinstance(limits, Mapping) else {}
    marks = _missing(field.get("missingValues"))
    absent = marks or ({c: w for c, w in everywhere.items() if NUMBER.match(c)} if kind in ("integer", "float") else {})
    categories = field.get("categories")
    categories = categories if isinstance(categories, list) else []
    pairs = [(c.get("value"), c.get("label")) if isinstance(c, Mapping) else (c, None) for c in categories]
    values = limits.get("enum") if isinstance(limits.get("enum"), list) else [v for v, _ in pairs]
    listed = [_value(v, kind) for v in values or () if isinstance(v, str | int | float)]
    words: dict[str, str] = {}
    for value, word in pairs:
        if isinstance(value, str | int | float) and word and words.setdefault(canonical(value), str(word)) != str(word):
            msg = f"'{what}' has two labels for the code '{str(value)[:80]}' of '{name[:80]}'; remove one"
            raise SchemaError(msg)
    form = field.get("format")
    formats = (form,) if isinstance(form, str) and "%" in form else ()
    pattern, cells = limits.get("pattern"), _written_as(field) if kind == "boolean" else []
    if kind == "text" and not listed and isinstance(pattern, str):
        listed = alternatives(pattern)
    if cells:
        kind, listed = "text", cells
    low, high = (
        _end(limits.get(f"{end}imum", limits.get(f"exclusive{end.capitalize()}imum")), kind, formats)
        for end in ("min", "max")
    )
    return DeclaredColumn(
        name=name,
        kind=_own_kind(field) or kind,
        label=str(field.get("title") or ""),
        description=str(field.get("description") or ""),
        values=tuple(dict.fromkeys([*listed, *(_value(c, kind) for c in marks)])) if listed else (),
        words=words | {c: w for c, w in absent.items() if w},
        codes_missing=tuple(_value(c, kind) for c in absent),
        ordered=field.get("categoriesOrdered") is True,
        blank=limits.get("required") is not True,
        low=low,
        high=high,
        step=_number(field.get(f"{OWN}step")),
        decimals=_digits(field.get(f"{OWN}decimals")),
        formats=formats,
    )


def _written_as(field: Mapping[str, Any]) -> list[Value]:
    """The cells of a yes/no column that is written in other words (J, N); none where they are true and false."""
    given = [field.get(key) for key in ("falseValues", "trueValues")]
    words = [w for words in given if isinstance(words, list) for w in words if isinstance(w, str)]
    return [*dict.fromkeys(words)] if {w.lower() for w in words} - {"true", "false"} else []


def _own_kind(field: Mapping[str, Any]) -> Kind:
    kind = field.get(f"{OWN}kind")
    return kind if kind in ("identifier", "ignored") else ""


def _value(value: object, kind: Kind) -> Value:
    """A listed value in the type of its column."""
    if isinstance(value, str) and kind in ("integer", "float", "") and NUMBER.match(value):
        return float(value) if "." in value else int(value)
    if isinstance(value, bool | int | float):
        return canonical(value) if kind == "text" and not isinstance(value, bool) else value
    return str(value)


def _number(value: object) -> int | float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _digits(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _end(value: object, kind: Kind, formats: tuple[str, ...] = ()) -> int | float | str | None:
    if kind in ("date", "datetime"):
        return iso_day(value, formats) if isinstance(value, str) else None
    if isinstance(value, str) and NUMBER.match(value):
        return float(value) if "." in value else int(value)
    return _number(value)


def write_frictionless(said: Declaration) -> bytes:
    """A Table Schema of version 2."""
    document: dict[str, Any] = {
        "$schema": "https://datapackage.org/profiles/2.0/tableschema.json",
        "fields": [_written(c) for c in said.columns],
        "missingValues": [""],
        f"{OWN}name": said.name,
    }
    document |= {} if said.confirmed else {f"{OWN}unconfirmed": UNCONFIRMED}
    document |= {f"{OWN}identifier": said.identifier} if said.identifier else {}
    document |= {"primaryKey": [said.identifier]} if said.identifier and said.max_records == 1 else {}
    document |= {f"{OWN}maxRecords": said.max_records} if said.max_records else {}
    return json.dumps(document, indent=2, ensure_ascii=False).encode() + b"\n"


def _written(column: DeclaredColumn) -> dict[str, Any]:
    values = listed_values(column)
    texts = any(isinstance(v, str) for v in values)
    out: dict[str, Any] = {"name": column.name}
    mixed = texts and not all(isinstance(v, str) for v in values)
    out["type"] = "any" if mixed else OF_KIND.get(column.kind, column.kind)
    out |= {key: v for key, v in (("title", column.label), ("description", column.description)) if v}
    limits: dict[str, Any] = {"required": True} if column.blank is False else {}
    if column.low is not None:
        limits |= {"minimum": column.low, "maximum": column.high}
    absent = {canonical(c) for c in column.codes_missing} - {""}
    if values and column.kind != "boolean":
        valid = [v for v in values if canonical(v) not in absent]
        if any(canonical(v) in column.words for v in valid):
            out["categories"] = [{"value": v, "label": column.words.get(canonical(v), canonical(v))} for v in valid]
        limits["enum"] = valid
        out |= {"categoriesOrdered": True} if column.ordered else {}
    if absent:
        worded = [(c, column.words.get(c)) for c in map(canonical, column.codes_missing) if c]
        out["missingValues"] = ["", *({"value": c, "label": w} if w else c for c, w in worded)]
    out |= {"constraints": limits} if limits else {}
    out |= {"format": instants.plain(column.formats[0])} if column.formats else {}
    extra: dict[str, Any] = {"step": column.step, "decimals": column.decimals}
    extra |= {"kind": column.kind if column.kind in ("identifier", "ignored") else None}
    return out | {f"{OWN}{k}": v for k, v in extra.items() if v is not None}


def read_sdv(document: Mapping[str, Any], *, name: str, what: str) -> Declaration:
    """SDV's metadata of one table: kinds and the key, for it has neither ranges nor values. Raises SchemaError."""
    tables = document.get("tables")
    if isinstance(tables, list) and len(tables) == 1:  # as before SDV 1.0
        document = tables[0]
    if isinstance(tables, Mapping):
        if len(tables) != 1:
            msg = f"'{what}' describes {len(tables)} tables; give the metadata of one"
            raise SchemaError(msg)
        name, document = next(iter(tables.items()))
    columns = document.get("columns") if isinstance(document, Mapping) else None
    if columns is None and isinstance(document, Mapping) and "fields" in document:
        msg = f"'{what}' is metadata from before SDV 1.0; convert it there (SingleTableMetadata.upgrade_metadata)"
        raise SchemaError(msg)
    if not isinstance(columns, Mapping) or not columns or not all(isinstance(c, Mapping) for c in columns.values()):
        msg = f"'{what}' has no columns with an sdtype each; give metadata of version V1"
        raise SchemaError(msg)
    key = document.get("primary_key")
    return Declaration(
        name=str(name)[:200],
        columns=tuple(_sdv(str(n), c, key) for n, c in columns.items()),
        identifier=key if isinstance(key, str) else None,
        confirmed=f"{OWN}unconfirmed" not in document,
    )


def _sdv(name: str, column: Mapping[str, Any], key: object) -> DeclaredColumn:
    declared = str(column.get("sdtype", "unknown"))
    kind: Kind = "identifier" if name == key or declared == "id" else SDTYPES.get(declared, "ignored")
    if kind == "float" and str(column.get("computer_representation", "")).lower().startswith(("int", "uint")):
        kind = "integer"
    form = column.get("datetime_format")
    if (
        kind == "datetime"
        and isinstance(form, str)
        and not {"%H", "%I", "%X", "%c"} & set(re.findall("%.", instants.plain(form)))
    ):
        kind = "date"
    return DeclaredColumn(
        name=name,
        kind=kind,
        formats=(form,) if isinstance(form, str) and kind in ("date", "datetime") else (),
        listed=True if declared == "categorical" else None,
    )


def write_sdv(said: Declaration) -> bytes:
    """SDV's metadata, version V1, of one table."""
    columns = {c.name: _sdtype(c, said.identifier) for c in said.columns}
    key = {"primary_key": said.identifier} if said.identifier and said.max_records == 1 else {}
    table = {"columns": columns} | key | ({} if said.confirmed else {f"{OWN}unconfirmed": UNCONFIRMED})
    document = {"tables": {said.name: table}, "relationships": [], "METADATA_SPEC_VERSION": "V1"}
    return json.dumps(document, indent=2, ensure_ascii=False).encode() + b"\n"


def _sdtype(column: DeclaredColumn, key: str | None) -> dict[str, Any]:
    if column.name == key or column.kind == "identifier":
        return {"sdtype": "id"}
    if column.kind == "ignored":
        return {"sdtype": "unknown", "pii": True}
    if column.kind == "boolean":
        return {"sdtype": "boolean"}
    if listed_values(column) or column.kind == "text":
        return {"sdtype": "categorical"}
    if column.kind in ("date", "datetime"):
        usual = "%Y-%m-%d" if column.kind == "date" else "%Y-%m-%d %H:%M:%S"
        return {"sdtype": "datetime", "datetime_format": instants.plain(column.formats[0]) if column.formats else usual}
    return {"sdtype": "numerical", "computer_representation": "Int64" if column.kind == "integer" else "Float"}


def read_json_schema(document: Mapping[str, Any], *, name: str, what: str) -> Declaration:
    """A JSON Schema of one record, as Pydantic models give it. Raises SchemaError."""
    props = document.get("properties")
    if not isinstance(props, Mapping) or not props or not all(isinstance(p, Mapping) for p in props.values()):
        msg = f"'{what}' has no properties; give the JSON Schema of one record"
        raise SchemaError(msg)
    title = document.get("title")
    columns = tuple(_property(str(n), p, document, what) for n, p in props.items())
    return Declaration(name=str(title or name)[:200], columns=columns)


def _property(name: str, given: Mapping[str, Any], document: Mapping[str, Any], what: str) -> DeclaredColumn:
    several = given.get("anyOf", given.get("oneOf"))
    choices: Sequence[Any] = several if isinstance(several, list) else (given,)
    parts = [_followed(c, document, what) for c in choices if isinstance(c, Mapping)]
    blank = any(p.get("type") == "null" or (isinstance(p.get("type"), list) and "null" in p["type"]) for p in parts)
    filled = [p for p in parts if p.get("type") != "null"]
    around = {k: v for k, v in given.items() if k not in ("anyOf", "oneOf", "$ref")}
    part = {**(filled[0] if len(filled) == 1 else {}), **around}
    declared = part.get("type")
    declared = next((d for d in declared if d != "null"), None) if isinstance(declared, list) else declared
    kind = {"date": "date", "date-time": "datetime"}.get(str(part.get("format")), TYPES.get(str(declared), ""))
    listed = part.get("enum", [part["const"]] if "const" in part else [])
    listed = [v for v in listed if isinstance(v, str | int | float)] if isinstance(listed, list) else []
    whole = kind == "integer"
    low, high = (
        _number(part.get(a)) if part.get(a) is not None else _inside(part.get(b), step, whole=whole)
        for a, b, step in (("minimum", "exclusiveMinimum", 1), ("maximum", "exclusiveMaximum", -1))
    )
    title = str(part.get("title") or "")
    automatic = title.replace(" ", "").lower() == name.replace("_", "").lower()  # Pydantic makes one of the name
    return DeclaredColumn(
        name=name,
        kind=kind,  # type: ignore[arg-type]
        label="" if automatic else title,
        description=str(part.get("description") or ""),
        values=tuple(_value(v, kind) for v in listed),  # type: ignore[arg-type]
        blank=blank,
        low=_end(part.get("minimum"), kind) if kind in ("date", "datetime") else low,  # type: ignore[arg-type]
        high=_end(part.get("maximum"), kind) if kind in ("date", "datetime") else high,  # type: ignore[arg-type]
        step=_number(part.get("multipleOf")),
    )


def _inside(value: object, step: int, *, whole: bool) -> int | float | None:
    """The nearest value within an open end: of whole numbers the next one, of others the end itself."""
    number = _number(value)
    return None if number is None else number + step if whole else number


def _followed(part: Mapping[str, Any], document: Mapping[str, Any], what: str) -> Mapping[str, Any]:
    """The definition that a part refers to, inside the document."""
    place = part.get("$ref")
    if place is None:
        return part
    node: Any = document
    steps = str(place).split("/")
    if steps[0] != "#":
        msg = f"'{what}' refers to a definition that lies elsewhere, and nothing is fetched; write it into the file"
        raise SchemaError(msg)
    for step in steps[1:]:
        node = node.get(step) if isinstance(node, Mapping) else None
    if not isinstance(node, Mapping) or "$ref" in node:
        msg = f"'{what}' refers to a definition that it does not have, or that refers to another; write it out"
        raise SchemaError(msg)
    return node
