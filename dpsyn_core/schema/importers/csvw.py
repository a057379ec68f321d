"""CSVW metadata, also with the bounds and contributions of CSVW-EO, read and written; nothing is ever fetched.

CSVW-EO ("eyes off") adds whose privacy is protected and how many records an individual may have. What it may list that
comes from the records (`nullableProportion`, `maxLength` and partitions with lengths) is not read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.importers.declared import UNCONFIRMED, Declaration, alternatives, iso_day, listed_values
from dpsyn_core.tables import DeclaredColumn, Kind, Value, canonical

CONTEXT = "http://www.w3.org/ns/csvw"
EYES_OFF = "csvw-eo-context.jsonld"  # how the address of its context ends
OWN = "dpsyn:"  # prefix of what CSVW has no property for
DATES = {"yyyy": "%Y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S", "M": "%-m", "d": "%-d"}
REMOTE = re.compile(r"^[a-zA-Z][a-zA-Z0-9+.-]*:|^//")
OF_BASE: dict[str, Kind] = {
    "string": "text", "normalizedString": "text", "token": "text", "anyAtomicType": "", "any": "", "boolean": "boolean",
    "date": "date", "dateTime": "datetime", "datetime": "datetime", "dateTimeStamp": "datetime", "number": "float",
    "decimal": "float", "double": "float", "float": "float", "integer": "integer", "long": "integer", "int": "integer",
    "short": "integer", "byte": "integer", "nonNegativeInteger": "integer", "positiveInteger": "integer",
    "unsignedLong": "integer", "unsignedInt": "integer", "unsignedShort": "integer", "unsignedByte": "integer",
    "nonPositiveInteger": "integer", "negativeInteger": "integer", "gYear": "integer",
}  # fmt: skip
BASE = {v: k for k, v in reversed(OF_BASE.items())} | {"text": "string", "": "anyAtomicType", "float": "number"}
BASE |= {"integer": "integer", "datetime": "dateTime"}


def read(document: Mapping[str, Any], *, name: str, what: str) -> Declaration:
    """The one table of a CSVW document. Raises SchemaError, also for what lies elsewhere."""
    _check_context(document.get("@context"), what)
    table = _table(document, what)
    schema = table.get("tableSchema", document.get("tableSchema"))
    for key, entry in (("url", table.get("url")), ("tableSchema", schema)):
        if isinstance(entry, str) and (REMOTE.match(entry) or key == "tableSchema"):
            msg = f"'{what}' names a {key} that lies elsewhere, and nothing is fetched; write it into the file itself"
            raise SchemaError(msg)
    columns = schema.get("columns") if isinstance(schema, Mapping) else None
    if not isinstance(columns, list) or not columns or not all(isinstance(c, Mapping) for c in columns):
        msg = f"'{what}' has no tableSchema.columns with a list of columns; add what is known of them"
        raise SchemaError(msg)
    kept = [c for c in columns if c.get("virtual") is not True]
    eyes_off = "maxContributions" in table  # then privacyId alone says who is protected
    named = (_name(c, what) for c in kept if c.get("privacyId" if eyes_off else f"{OWN}identifier") is True)
    unit = table.get("privacyUnit") or next(named, None)
    most, length = table.get("maxContributions"), table.get("publicLength")
    titled = table.get("dc:title") or re.sub(r"\.(csv|tsv)$", "", str(table.get("url") or "").rpartition("/")[2])
    return Declaration(
        name=str(_plain(titled) or name)[:200],
        columns=tuple(_column(c, what) for c in kept),
        identifier=str(unit) if unit else None,
        max_records=_whole(most, "maxContributions", what, 1),
        confirmed=f"{OWN}unconfirmed" not in table,
        n_records=_whole(length, "publicLength", what, 0),
    )


def _check_context(context: object, what: str) -> None:
    """A context is a fixed address, which says what kind of file this is; it is compared, never fetched."""
    for one in context if isinstance(context, list) else [context]:
        supported = one == CONTEXT or (isinstance(one, str) and one.endswith(EYES_OFF))
        if not supported and not (isinstance(one, Mapping) and set(one) <= {"@language", "@base"}):
            msg = f"'{what}' names a context other than {CONTEXT}, and nothing is fetched; remove it"
            raise SchemaError(msg)
        if isinstance(one, Mapping) and REMOTE.match(str(one.get("@base", ""))):
            msg = f"'{what}' names a base that lies elsewhere, and nothing is fetched; remove '@base'"
            raise SchemaError(msg)


def _table(document: Mapping[str, Any], what: str) -> Mapping[str, Any]:
    tables = document.get("tables")
    if tables is None:
        return document
    if not isinstance(tables, list) or len(tables) != 1 or not isinstance(tables[0], Mapping):
        msg = f"'{what}' describes {len(tables) if isinstance(tables, list) else 'no list of'} tables; give one table"
        raise SchemaError(msg)
    return tables[0]


def _whole(value: object, key: str, what: str, least: int) -> int | None:
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        msg = f"'{what}' has a {key} that is no whole number of at least {least}; correct or remove it"
        raise SchemaError(msg)
    return value


def _plain(value: object) -> str:
    """A text, the first of several, or of several languages English or the first."""
    if isinstance(value, Mapping):
        value = value.get("en", value.get("@value", next(iter(value.values()), "")))
    if isinstance(value, list):
        value = value[0] if value else ""
    return value if isinstance(value, str) else ""


def _name(column: Mapping[str, Any], what: str) -> str:
    """The header of the column: its first title where it has one, as CSVW wants, else its name."""
    name = next(iter(_headers(column)), "")
    if not name.strip():
        msg = f"'{what}' has a column without a name; give each column a name"
        raise SchemaError(msg)
    return name


def _headers(column: Mapping[str, Any]) -> list[str]:
    """What the header of the column may be: its titles, in any language, and its name."""
    titles = column.get("titles")
    first = _plain(titles)
    several = titles.values() if isinstance(titles, Mapping) else [titles]
    every = [t for one in several for t in (one if isinstance(one, list) else [one])]
    texts = [t for t in (first, *every, column.get("name")) if isinstance(t, str) and t]
    return list(dict.fromkeys(texts))


def _label(column: Mapping[str, Any]) -> str:
    """A second title, which is then for people: the first one is the header."""
    titles = column.get("titles")
    return titles[1] if isinstance(titles, list) and len(titles) > 1 and isinstance(titles[1], str) else ""


def _column(column: Mapping[str, Any], what: str) -> DeclaredColumn:
    name, form = _name(column, what), column.get("datatype", "string")
    form = form if isinstance(form, Mapping) else {"base": form}
    base = str(form.get("base", "string")).rpartition("#")[2].rpartition(":")[2]
    kind: Kind = OF_BASE.get(base, "")
    low = form.get("minimum", form.get("minInclusive", column.get("minimum")))
    high = form.get("maximum", form.get("maxInclusive", column.get("maximum")))
    keys = column.get("keyValues") if column.get("exhaustiveKeys") is not False else None
    values = column.get(f"{OWN}values", keys)
    given = _partitions(column) or (values if isinstance(values, list) else [])
    listed: list[Value] = [v for v in (_listed(g, kind) for g in given) if v is not None]
    pattern = form.get("format")
    formats: tuple[str, ...] = ()
    if isinstance(pattern, str) and kind in ("date", "datetime"):
        formats = _strptime(pattern)
    elif isinstance(pattern, str) and kind == "boolean" and pattern.count("|") == 1:  # yes|no
        kind, listed = "text", [v for v in pattern.split("|") if v]
    elif not listed and isinstance(pattern, str) and kind in ("text", ""):
        listed = alternatives(pattern)
    words, digits = column.get(f"{OWN}labels"), column.get(f"{OWN}decimals")
    nulls = column.get("null", "")
    absent = [n for n in (nulls if isinstance(nulls, list) else [nulls]) if isinstance(n, str) and n]
    return DeclaredColumn(
        name=name,
        kind=_left_out(column) or kind,
        label=_label(column),
        description=_plain(column.get("dc:description")),
        values=tuple(listed),
        words={str(k): str(v) for k, v in words.items()} if isinstance(words, Mapping) else {},
        codes_missing=tuple(_code(n, kind) for n in absent),
        ordered=column.get(f"{OWN}ordered") is True,
        blank=not column.get("required", False),
        low=_end(low, kind, what, name, formats),
        high=_end(high, kind, what, name, formats),
        step=_step(column.get(f"{OWN}step")),
        formats=formats,
        decimals=digits if isinstance(digits, int) and not isinstance(digits, bool) else None,
        also=tuple(_headers(column)[1:]),
    )


def _left_out(column: Mapping[str, Any]) -> Kind:
    if column.get("privacyId") is True or column.get(f"{OWN}identifier") is True:
        return "identifier"
    return "ignored" if column.get("suppressOutput") is True else ""


def _step(value: object) -> int | float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _listed(value: object, kind: Kind) -> Value | None:
    """A key of CSVW-EO: the value, or an object that names it as partitionValue."""
    entry = value.get("partitionValue") if isinstance(value, Mapping) else value
    if isinstance(entry, str) and kind not in ("text", "boolean"):
        return _code(entry, kind)
    return entry if isinstance(entry, str | int | float) else None


def _partitions(column: Mapping[str, Any]) -> list[object]:
    """The values of partitions that are declared exhaustive; their lengths, which come from records, are ignored."""
    partitions = column.get("partitions")
    if not isinstance(partitions, list) or column.get("exhaustivePartitions") is False:
        return []
    predicates = [p.get("predicate") for p in partitions if isinstance(p, Mapping)]
    return [p["partitionValue"] for p in predicates if isinstance(p, Mapping) and p.get("partitionValue") is not None]


def _strptime(pattern: str) -> tuple[str, ...]:
    """A pattern of dates as CSVW writes it (dd.MM.yyyy) as Python does; nothing for one with other parts."""
    form = re.sub("|".join(map(re.escape, DATES)), lambda m: DATES[m[0]], pattern)
    return (form,) if not re.search(r"(?<!%)[A-Za-z]", form.replace("T", " ")) else ()


def _pattern(form: str) -> str | None:
    """The same the other way round; None where CSVW has no letter for a part."""
    back = {python: letters for letters, python in DATES.items()}
    parts = re.split(r"(%-?.)", form)
    known = all(p in back if p[:1] == "%" else not re.search("[A-SU-Za-z]", p) for p in parts)
    return "".join(back.get(p, p) for p in parts) if known else None


def _code(text: str, kind: Kind) -> Value:
    if kind != "text" and re.match(r"^-?(0|[1-9]\d{0,17})$", text):
        return int(text)
    return float(text) if kind == "float" and re.match(r"^-?\d+\.\d+$", text) else text


def _end(value: object, kind: Kind, what: str, name: str, formats: tuple[str, ...]) -> int | float | str | None:
    if value is None or isinstance(value, bool):
        return None
    if kind in ("date", "datetime"):
        return iso_day(str(value), formats)
    try:
        number = float(str(value))
    except ValueError as error:
        msg = f"'{what}' has a minimum or maximum of '{name}' that is no number; write 0 or 99.5"
        raise SchemaError(msg) from error
    return value if isinstance(value, int | float) else int(number) if number.is_integer() else number


def write(said: Declaration, *, eyes_off: bool = False) -> bytes:
    """The metadata document; eyes_off: as CSVW-EO, with the bounds, the keys and the contributions."""
    columns = [_written(c, eyes_off=eyes_off, key=said.identifier) for c in said.columns]
    table: dict[str, Any] = {
        "@context": [CONTEXT, EYES_OFF] if eyes_off else CONTEXT,
        "url": f"{re.sub(r'[^A-Za-z0-9._-]+', '-', said.name)}.csv",
        "dc:title": said.name,
    }
    table |= {} if said.confirmed else {f"{OWN}unconfirmed": UNCONFIRMED}
    if eyes_off:
        table["@type"] = "Table"
        table |= {"privacyUnit": said.identifier} if said.identifier else {}
        table |= {"maxContributions": said.max_records or 1}
        table |= {"publicLength": said.n_records} if said.n_records is not None else {}
    table["tableSchema"] = {"columns": columns}
    return json.dumps(table, indent=2, ensure_ascii=False).encode() + b"\n"


def _written(column: DeclaredColumn, *, eyes_off: bool, key: str | None) -> dict[str, Any]:
    values: Sequence[Value] = [] if column.kind == "boolean" else listed_values(column)
    base, named = BASE.get(column.kind, "string"), column.kind == "identifier" or column.name == key
    out: dict[str, Any] = {"name": _variable(column.name)}
    titles = [column.name, column.label] if column.label else column.name
    out |= {"titles": titles} if titles != out["name"] else {}
    ends = {"minimum": column.low, "maximum": column.high} if column.low is not None else {}
    if eyes_off:
        out |= {"@type": "Column", "datatype": base} | ends
        out |= {"keyValues": list(values), "exhaustiveKeys": True} if values else {}
        out |= {"privacyId" if column.name == key else f"{OWN}identifier": True} if named else {}
    else:
        words = {"format": f"^({'|'.join(_quoted(canonical(v)) for v in values)})$"} if values else {}
        pattern = _pattern(column.formats[0]) if column.formats else None
        form = {"base": base} | ends | (words if base == "string" else {}) | ({"format": pattern} if pattern else {})
        out |= {"datatype": form if len(form) > 1 else base}
        out |= {f"{OWN}values": list(values)} if values else {}
        out |= {f"{OWN}identifier": True} if named else {}
    out |= {"required": True} if column.blank is False else {}
    out |= {"suppressOutput": True} if column.kind == "ignored" else {}
    out |= {"null": [*dict.fromkeys(["", *map(canonical, column.codes_missing)])]} if any(column.codes_missing) else {}
    out |= {"dc:description": column.description} if column.description else {}
    notes = {"labels": dict(column.words), "ordered": column.ordered, "step": column.step, "decimals": column.decimals}
    return out | {f"{OWN}{k}": v for k, v in notes.items() if v not in (None, False, {})}


def _variable(name: str) -> str:
    """The header as the name of a variable in addresses: what CSVW allows there, other characters by their bytes."""
    quoted = "".join(c if c.isascii() and (c.isalnum() or c in "_.") else quote(c, safe="") for c in name)
    quoted = quoted.replace("-", "%2D").replace("~", "%7E")
    return "%5F" + quoted[1:] if quoted.startswith("_") else quoted


def _quoted(text: str) -> str:
    return re.sub(r"([^\w -])", r"\\\1", text)
