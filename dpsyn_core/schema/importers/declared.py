"""What a document declares of a table, as a schema; a schema as what any document can declare; and what gets lost.

Every format of codebooks is read into a `Declaration` and written from one, so that none of them needs separate rules.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.document import Schema
from dpsyn_core.tables import DeclaredColumn, Value, canonical

LABELS, MISSING, UNDECLARED, SHOWN = "labels", "missing_codes", "undeclared", "shown"  # notes of an attribute
UNCONFIRMED = "NOT PRIVATE: read from the data, and not confirmed as public"  # what our own files say of a draft
WORDS = ("label", "description")
ENDS = 3  # labelled codes up to which a scale may have words for its ends and its middle alone
SCALE = 100  # longest scale that is taken for one


@dataclass(frozen=True, kw_only=True, slots=True)
class Declaration:
    """A table. identifier: the column that names individuals. max_records: of one individual; None: undeclared.

    n_records: how many records there are, where that is public. confirmed: whether nothing of it was read from the data
    (or somebody has confirmed it).
    """

    name: str
    columns: tuple[DeclaredColumn, ...]
    identifier: str | None = None
    max_records: int | None = None
    n_records: int | None = None
    confirmed: bool = True


def schema_of(said: Declaration, *, source: str = "public") -> Schema:
    """A schema from what is declared. A column of which neither values nor a range is declared is left out.

    `undeclared` names the columns that were left out.

    Args:
        said: what the document declares.
        source: of the entries: public for a document about a table, data for the file that holds the records.

    Raises:
        SchemaError: nothing can be synthesized from it, or what it declares contradicts itself.
    """
    attributes = [_written(c, source) for c in said.columns]
    unit: dict[str, Any] = {"identifier": said.identifier, "max_records": said.max_records or 1}
    unit |= {} if said.confirmed else {"source": "data"}
    for attribute in attributes:
        if attribute["name"] == said.identifier:
            words = {k: attribute[k] for k in WORDS if k in attribute}
            attribute.clear()
            attribute.update({"name": said.identifier, "kind": "identifier"} | words)
    if all(a["kind"] in ("ignored", "identifier") for a in attributes):
        msg = (
            f"'{said.name}' declares values or a range of no column, so that nothing can be synthesized from it alone; "
            "draft a schema of the table ('dpsyn schema draft TABLE -o draft.json') and import with --onto draft.json"
        )
        raise SchemaError(msg)
    return Schema.of(
        {"version": 1, "name": said.name, "unit": unit, "n_records": said.n_records, "attributes": attributes}
    )


def _written(column: DeclaredColumn, source: str) -> dict[str, Any]:
    out = attribute_of(column)
    if out is None:
        out = {"name": column.name, "kind": "ignored", "notes": {UNDECLARED: column.kind or "number"}} | _words(column)
    return _sourced(out, column, source)


def _sourced(made: dict[str, Any], column: DeclaredColumn, source: str) -> dict[str, Any]:
    """With where the entry comes from: a range beside statistics of the records may be one of them."""
    counted = column.counted and "min" in made
    return made | {"source": "data"} if counted or source == "data" else made


def undeclared(schema: Schema) -> list[str]:
    """One sentence on the columns that were left out because a document declares too little of them; or none."""
    names = [a.name for a in schema.attributes if UNDECLARED in a.notes]
    if not names:
        return []
    return [
        f"left out: {few(names)}: no values and no range are declared of them; draft them from the table or buy them "
        "('dpsyn schema draft TABLE -o draft.json') and import again with --onto draft.json, or add them to the schema"
    ]


def attribute_of(column: DeclaredColumn) -> dict[str, Any] | None:
    """The entry of a schema for one column; None where neither values nor a range is declared."""
    if column.kind in ("identifier", "ignored"):
        return {"name": column.name, "kind": column.kind} | _words(column)
    base = {"name": column.name, "missing": column.blank is not False}
    values = listed_values(column)
    if values:
        notes = _notes(column)
        notes |= {MISSING: list(column.codes_missing)} if column.codes_missing else {}
        document = {"kind": "categorical", "values": list(values), "ordered": column.ordered}
        return base | document | ({"notes": notes} if notes else {}) | _words(column)
    ends = _ends(column)
    if ends is None:
        return None
    if isinstance(ends[0], str):
        formats = {"formats": list(column.formats)} if column.formats else {}
        return worded(base | {"kind": "datetime", "min": ends[0], "max": ends[1]} | formats, column)
    codes = [c for c in column.codes_missing if isinstance(c, int | float) and not isinstance(c, bool)]
    whole = column.kind != "float" and all(float(v).is_integer() for v in (*ends, *codes))
    limits = [int(v) if whole else v for v in ends]
    out = base | {"kind": "numeric", "dtype": "integer" if whole else "float", "min": limits[0], "max": limits[1]}
    out |= {key: v for key in ("step", "decimals") if (v := getattr(column, key)) is not None}
    out |= {"special_values": [int(c) if whole else c for c in codes]} if codes else {}
    return worded(out, column)


def _notes(column: DeclaredColumn) -> dict[str, Any]:
    return {k: v for k, v in ((LABELS, dict(column.words)), (SHOWN, column.shown)) if v}


def _words(column: DeclaredColumn) -> dict[str, Any]:
    return {key: v for key in WORDS if (v := getattr(column, key))}


def listed_values(column: DeclaredColumn) -> tuple[Value, ...]:
    """All values that a column may hold, by what is declared; none where it is a number or a date."""
    if column.values:
        keys = {canonical(v) for v in column.values}
        return (*column.values, *(c for c in column.codes_missing if canonical(c) not in keys))
    if column.kind == "boolean":
        return (False, True)
    absent = {canonical(c) for c in column.codes_missing}
    codes = [c for c in column.words if c not in absent]
    if not codes or column.low is not None or column.listed is False or (column.listed is None and _scale(codes)):
        return ()
    return (*(value_of(c, column) for c in codes), *column.codes_missing)


def _scale(codes: Sequence[str]) -> bool:
    """Whether codes with words are a single one, or the ends of a scale (1 = never, 10 = always)."""
    if not all(re.match(r"^-?\d{1,9}$", c) for c in codes):
        return False
    numbers = sorted(map(int, codes))
    span = numbers[-1] - numbers[0]
    halfway = len(numbers) < ENDS or abs(2 * numbers[1] - numbers[0] - numbers[-1]) <= 1
    return len(numbers) == 1 or (len(numbers) <= ENDS and halfway and len(numbers) - 1 < span <= SCALE)


def _ends(column: DeclaredColumn) -> tuple[Any, Any] | None:
    """The declared range: as such, or by a scale whose ends have words."""
    if column.low is not None and column.high is not None:
        return column.low, column.high
    absent = {canonical(c) for c in column.codes_missing}
    codes = [c for c in column.words if c not in absent]
    if column.kind != "text" and column.listed is not True and len(codes) > 1 and _scale(codes):
        numbers = list(map(int, codes))
        return min(numbers), max(numbers)
    return None


def iso_day(text: str, formats: tuple[str, ...]) -> str:
    """The end of a range of dates in ISO 8601, where it is written as the cells are (31.12.2024); else as it stands."""
    import numpy as np
    import pyarrow as pa

    from dpsyn_core.tables import instants

    if not formats or instants.parse_one(text) is not None:
        return text
    seconds, valid = instants.parse(pa.array([text], pa.string()), formats)
    if not valid[0]:
        return text
    moment = str(np.datetime64(int(seconds[0]), "s"))
    return moment if any({"%H", "%I"} & set(re.findall("%.", instants.plain(f))) for f in formats) else moment[:10]


def alternatives(pattern: str) -> list[Value]:
    """The words of a pattern that is a list of words, ^(a|b|c)$ or a|b|c; nothing for any other."""
    word = r"(?:[\w -]|\\.)+"
    match = re.match(rf"(?s)^(?:\^?\(({word}(?:\|{word})+)\)\$?|({word}(?:\|{word})+))$", pattern)
    inside = "" if match is None else match[1] or match[2]
    return [re.sub(r"(?s)\\(.)", r"\1", w) for w in re.findall(r"(?s)(?:[^\\|]|\\.)+", inside)]


def value_of(code: str, column: DeclaredColumn) -> Value:
    """A code as the value that it is in a column of this kind."""
    if column.kind != "text" and re.match(r"^-?(0|[1-9]\d{0,17})$", code):
        return int(code)
    if column.kind == "float" and re.match(r"^-?\d+\.\d+$", code):
        return float(code)
    return code


def declaration_of(schema: Schema) -> Declaration:
    """What documents can say of a schema's table. Bins, rules, questions and what was bought are not among it."""
    return Declaration(
        name=schema.name,
        columns=tuple(declared_of(a, schema) for a in schema.attributes),
        identifier=schema.unit.identifier,
        max_records=schema.unit.max_records,
        n_records=schema.n_records,
        confirmed=schema.private,
    )


def declared_of(a: Any, schema: Schema) -> DeclaredColumn:
    """What can be declared of one attribute."""
    labels = a.notes.get(LABELS)
    values: dict[str, Any] = {"name": a.name, "label": a.label or "", "description": a.description or ""}
    values["shown"] = str(a.notes.get(SHOWN, ""))
    values["words"] = {str(k): str(v) for k, v in labels.items()} if isinstance(labels, Mapping) else {}
    return DeclaredColumn(**values | a.declared({b.name: b for b in schema.attributes}))


def declared_columns(schema: Schema) -> dict[str, DeclaredColumn]:
    """What can be declared of each column of a synthetic table, by name."""
    return {a.name: declared_of(a, schema) for a in schema.attributes if a.name in schema.output_names}


def overlaid(schema: Schema, said: Declaration, *, source: str = "public") -> Schema:
    """A schema with what a document declares of the columns that both have.

    A column of which values or a range is declared is taken from the document; another one keeps the schema's entry,
    and gets the document's words.

    Raises:
        SchemaError: the document describes a column that the schema does not have.
    """
    document, names = schema.document(), {a.name for a in schema.attributes}
    headers = {c.name: next((h for h in (c.name, *c.also) if h in names), c.name) for c in said.columns}
    named = {headers[c.name]: replace(c, name=headers[c.name]) for c in said.columns}
    strange = sorted(set(named) - names)
    if strange:
        msg = f"'{said.name}' describes '{strange[0]}', which the schema does not have; check its spelling"
        raise SchemaError(msg)
    document["attributes"] = [
        a if a["name"] not in named else _over(a, named[a["name"]], source) for a in document["attributes"]
    ]
    identifier = headers.get(said.identifier or "", said.identifier)
    unit = {"identifier": identifier, "max_records": said.max_records}
    given = {k: v for k, v in unit.items() if v is not None}
    if given:
        # public where all of it is: what the document leaves open keeps where it came from
        whole = len(given) == len(unit) or not schema.unit_from_data
        document["unit"] |= given | {"source": "public" if whole and said.confirmed else "data"}
    document["attributes"] = [
        {"name": identifier, "kind": "identifier"} | {k: a[k] for k in WORDS if k in a}
        if a["name"] == identifier
        else a
        for a in document["attributes"]
    ]
    return Schema.of(document)


def _over(attribute: dict[str, Any], column: DeclaredColumn, source: str) -> dict[str, Any]:
    document = attribute_of(column)
    if document is None:
        return worded(attribute, column)
    return _sourced({k: attribute[k] for k in WORDS if k in attribute} | document, column, source)


def worded(attribute: dict[str, Any], column: DeclaredColumn) -> dict[str, Any]:
    """An entry of a schema with the words that a document has for the column and its codes."""
    notes = attribute.get("notes", {}) | _notes(column)
    return attribute | _words(column) | ({"notes": notes} if notes else {})


def few(names: list[str]) -> str:
    """Names for a message, the first five of them."""
    return ", ".join(f"'{n}'" for n in names[:5]) + (f" and {len(names) - 5} more" if names[5:] else "")


def one_of(what: str, names: list[str]) -> str:
    """What to say of a document that describes several tables, none of which was named."""
    return (
        f"'{what}' describes {len(names)} tables: {few(names)}; give a file of one of them alone, or name it "
        "(--table NAME)"
    )


OF_TABLE = ("unit", "n_records", "rules", "questions", "bought", "notes", "dataset")


def lost(schema: Schema, again: Schema) -> list[str]:
    """What of a schema is not in the one that was read again from a document, as sentences; empty when nothing is.

    Found by comparing the two, so that no format can forget to mention something.
    """
    before, after = ({a["name"]: a for a in s.document()["attributes"]} for s in (schema, again))
    out: dict[str, list[str]] = {}
    for name, a in before.items():
        b = after.get(name, {})
        if a["kind"] != b.get("kind"):
            what = f"the kind '{a['kind']}'" if name in after else "the whole column"
            if UNDECLARED in b.get("notes", {}):
                what = "the values" if a["kind"] == "categorical" else "the range"
            out.setdefault(what, []).append(name)
            continue
        notes, again_notes = (dict(d.get("notes", {})) for d in (a, b))
        if notes.pop(SHOWN, None) != again_notes.pop(SHOWN, None):
            out.setdefault("how SPSS, Stata or SAS shows cells", []).append(name)
        for key in a:
            if a[key] != b.get(key) and (key != "notes" or notes != again_notes):
                out.setdefault(f"'{key}'", []).append(name)
    phrases = [f"{what} of {few(names)}" for what, names in out.items()]
    first, second = schema.document(), again.document()
    return phrases + [f"'{k}' of the table" for k in OF_TABLE if first.get(k) and first.get(k) != second.get(k)]
