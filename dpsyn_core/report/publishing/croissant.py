"""Croissant: the description of a released table that search engines and machine-learning tools read.

Source: Croissant Format Specification 1.1 (MLCommons, January 2026), and its vocabulary for responsible AI. All in the
document comes from the manifest, the schema and what a person types: no cell of any table is read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from dpsyn_core.errors import OutputError, ReceiptError
from dpsyn_core.privacy import Manifest
from dpsyn_core.report.publishing import facts
from dpsyn_core.runs import ownership, schema_fault
from dpsyn_core.schema import LinkedSchema, LinkedTable, Schema, declared_columns
from dpsyn_core.tables import DeclaredColumn, file_digest

CONFORMS = "http://mlcommons.org/croissant/1.1"
FORMATS = {".csv": "text/csv", ".tsv": "text/tab-separated-values", ".parquet": "application/x-parquet"}
TYPES = {
    "integer": "sc:Integer",
    "float": "sc:Float",
    "boolean": "sc:Boolean",
    "date": "sc:Date",
    "datetime": "sc:DateTime",
}
# the context that the specification gives; programs compare it word by word
CONTEXT: Mapping[str, Any] = json.loads(Path(__file__).with_name("croissant_context.json").read_text("utf-8"))


@dataclass(frozen=True, kw_only=True, slots=True)
class Publication:
    """What a person says of tables that are published.

    licence: address or name. url: of the page that describes the tables. creator: name of the organisation or person
    that publishes them. published: date, YYYY-MM-DD. description: None makes a sentence from the manifest.
    """

    licence: str
    url: str
    creator: str
    published: str
    description: str | None = None


def croissant(tables: Mapping[str, Path], manifest: Path, schema: Schema, publication: Publication) -> dict[str, Any]:
    """The JSON-LD document of released tables, which lie beside it: a record set each, linked ones with their keys.

    Args:
        tables: by name; CSV, TSV or Parquet, as they were written with the manifest: their bytes are compared with the
            digests.
        manifest: of the release.
        schema: of the run.
        publication: what a person says of it.

    Raises:
        OutputError: an ending is of a format that Croissant cannot describe.
        ReceiptError: a table is not the file of this manifest, or the schema is not that of the run.
    """
    checked = _checked(list(tables.values()), manifest, schema)
    if isinstance(schema, LinkedSchema):
        sets = _linked_records(tables, schema)
    else:
        columns, names = declared_columns(schema), identifiers(schema.output_names)
        (table,) = tables.values()
        fields = [_field(columns[name], f"records/{names[name]}", table) for name in schema.output_names]
        sets = [_records("records", "records", f"{checked.n_records} synthetic records", fields)]
    return _document(checked, list(tables.values()), manifest, sets, publication)


def _linked_records(tables: Mapping[str, Path], schema: LinkedSchema) -> list[dict[str, Any]]:
    """The record sets of linked tables, keys first."""
    ids = identifiers(list(tables))
    parts: dict[str, tuple[LinkedTable, ...]] = {t.name: (t,) for t in schema.tables}
    if schema.one_file:
        parts = {schema.name: schema.tables}
    sets = []
    for name, path in tables.items():
        above = {one.key: one.parent for one in schema.links if one.child == name}  # none where all is one file
        keys = {str(t.key): f"Key of a record of {t.name}" for t in parts[name] if t.key is not None}
        keys |= {key: f"Key of the record of {parent} that this one hangs on" for key, parent in above.items()}
        columns = {key: DeclaredColumn(name=key, kind="integer", description=text) for key, text in keys.items()}
        for part in (t.columns for t in parts[name] if t.columns is not None):
            declared = declared_columns(part)
            columns |= {n: declared[n] for n in part.output_names if n not in keys}
        every = identifiers(list(columns))  # keys first, so that the key of a table has its own name
        fields = []
        for n, column in columns.items():
            field = _field(column, f"{ids[name]}/{every[n]}", path)
            if n in above:
                key = str(schema[above[n]].key)
                field["references"] = {"field": {"@id": f"{ids[above[n]]}/{identifiers([key])[key]}"}}
            fields.append(field)
        sets.append(_records(ids[name], name, f"Synthetic records of {name}", fields))
    return sets


def _checked(tables: Sequence[Path], manifest: Path, schema: Schema) -> Manifest:
    """The manifest, once files and schema are those that it names. Raises OutputError, ReceiptError."""
    stated = Manifest.load(manifest)
    for table in tables:
        if table.suffix.lower() not in FORMATS or not table.is_file():
            msg = f"'{table.name}' cannot be described by Croissant; give one file that ends with {', '.join(FORMATS)}"
            raise OutputError(msg)
        owner = ownership(table, stated)
        if owner.fault or owner.more:
            raise ReceiptError(owner.fault or owner.more)
    fault = schema_fault(stated, schema)
    if fault:
        msg = f"{fault}; give the file that '{manifest.name}' was made with"
        raise ReceiptError(msg)
    return stated


def _records(identifier: str, name: str, said: str, fields: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {"@type": "cr:RecordSet", "@id": identifier, "name": name, "description": said, "field": list(fields)}


def _document(
    found: Manifest, tables: Sequence[Path], manifest: Path, sets: Sequence[dict[str, Any]], p: Publication
) -> dict[str, Any]:
    """The document of files with these record sets."""
    what = "synthetic tables" if len(tables) > 1 else "synthetic table"
    return {
        "@context": dict(CONTEXT),
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS,
        "name": found.dataset,
        "description": described(found, len(tables)) if p.description is None else f"{p.description} {found.guarantee}",
        "url": p.url,
        "license": p.licence,
        "creator": {"@type": "sc:Organization", "name": p.creator},
        "datePublished": p.published,
        "version": "1.0.0",
        "citeAs": f"{p.creator}: {found.dataset}, {what}, {p.published[:4]}. {found.guarantee} {p.url}",
        "isLiveDataset": False,
        "keywords": ["synthetic data", "differential privacy"] if found.private else ["synthetic data"],
        **responsible(found),
        "distribution": [
            *(_file(table, FORMATS[table.suffix.lower()]) for table in tables),
            _file(manifest, "application/json"),
        ],
        "recordSet": list(sets),
    }


def identifiers(names: Sequence[str]) -> dict[str, str]:
    """Each name as a part of an `@id`, which takes no blank and no mark of an address: `visit date` is `visit_date`."""
    out: dict[str, str] = {}
    for name in names:
        plain = re.sub(r"[^\w.-]", "_", name)
        tried = (plain if k == 1 else f"{plain}_{k}" for k in count(1))
        out[name] = next(t for t in tried if t not in out.values())
    return out


def described(m: Manifest, tables: int = 1) -> str:
    """What the table is, or several are together, in two sentences."""
    what = "A synthetic table" if tables == 1 else f"{tables} synthetic tables that are linked by keys, together"
    return (
        f"{what} of {m.n_records} records, made from released values by the system {m.method} of DPSyn "
        f"Studio. {m.guarantee}"
    )


def responsible(m: Manifest) -> dict[str, str]:
    """The statement of privacy, in the vocabulary for responsible AI."""
    unit = f"{m.neighbours}, at most {m.max_records} records of one individual"
    why = "" if m.private else f" Reasons: {'; '.join(m.not_private_because)}."
    source = "those and the public table" if facts.learnt(m) else "those alone"
    return {
        "rai:personalSensitiveInformation": f"{m.guarantee}{why} Neighbours: {unit}. {facts.unprotected(m)}",
        "rai:dataCollection": f"Synthetic: {len(m.charges)} noisy releases about the private table, which the manifest "
        f"lists, and records made from {source}.",
        "rai:dataLimitations": "Noise, bins and a limited set of marginals make every figure inexact, most of all for "
        "small groups and for relations that were not measured. Intervals come from the released marginals, not from "
        "this table alone.",
    }


def _file(path: Path, form: str) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": _file_id(path),
        "name": path.name,
        "contentUrl": path.name,
        "encodingFormat": form,
        "sha256": file_digest(path),
    }


def _file_id(path: Path) -> str:
    return identifiers([path.name])[path.name]


def _field(column: DeclaredColumn, identifier: str, table: Path) -> dict[str, Any]:
    texts = [p for p in (column.label, column.description, _range(column)) if p]
    return {
        "@type": "cr:Field",
        "@id": identifier,
        "name": column.name,
        "description": ". ".join(texts) or column.name,
        "dataType": TYPES.get(column.kind, "sc:Text"),
        "source": {"fileObject": {"@id": _file_id(table)}, "extract": {"column": column.name}},
    }


def _range(column: DeclaredColumn) -> str:
    """What cells may be, as the schema declares it."""
    blank = ", or blank" if column.blank else ""
    if column.values:
        return f"One of {len(column.values)} declared values{blank}"
    return "" if column.low is None else f"From {column.low} to {column.high}{blank}"
