"""The formats of codebooks by name: which one a file is, how it is read, how it is written."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsyn_core.errors import SchemaError
from dpsyn_core.files import RepeatedFieldError, fields_once, unfit_text
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.importers import csvw, ddi, packages
from dpsyn_core.schema.importers.declared import (
    Declaration,
    declaration_of,
    declared_columns,
    lost,
    one_of,
    overlaid,
    schema_of,
)
from dpsyn_core.tables import HEAD, kind_of_labelled, refuse_others

if TYPE_CHECKING:
    from dpsyn_core.tables import NotCarried

MOST = 64 << 20  # bytes of a codebook; those of the largest surveys have some twenty million


@dataclass(frozen=True, kw_only=True, slots=True)
class Format:
    """A format that schemas are written in. title: for people. ending: of file names."""

    title: str
    ending: str
    write: Callable[[Declaration], bytes]


FORMATS: Mapping[str, Format] = {
    "ddi": Format(title="DDI-Codebook 2.5", ending=".ddi.xml", write=ddi.write),
    "csvw": Format(title="CSVW", ending=".csv-metadata.json", write=csvw.write),
    "csvw-eo": Format(title="CSVW-EO", ending=".csvw-eo.json", write=lambda said: csvw.write(said, eyes_off=True)),
    "frictionless": Format(
        title="Frictionless Table Schema", ending=".tableschema.json", write=packages.write_frictionless
    ),
    "sdv": Format(title="SDV metadata", ending=".sdv.json", write=packages.write_sdv),
}


def read_json(document: object, *, name: str, what: str, table: str | None = None) -> Declaration | None:
    """What a parsed JSON document of one of these formats declares; None for one of another. Raises SchemaError.

    table: the one that is meant, of several.
    """
    if not isinstance(document, Mapping):
        return None
    document = _of_table(document, table, what)
    of: tuple[tuple[bool, Callable[..., Declaration]], ...] = (
        ("@context" in document or "tableSchema" in document, csvw.read),
        ("METADATA_SPEC_VERSION" in document or _old_sdv(document), packages.read_sdv),
        (isinstance(document.get("resources"), list) or _fields(document), packages.read_frictionless),
        ("properties" in document and document.get("type") == "object", packages.read_json_schema),
    )
    reader = next((read for matches, read in of if matches), None)
    return None if reader is None else reader(document, name=name, what=what)


def _of_table(document: Mapping[str, Any], table: str | None, what: str) -> Mapping[str, Any]:
    """The document with this one of its tables alone; the very document where it holds one, and none is named."""
    key = next((k for k in ("tables", "resources") if isinstance(document.get(k), Mapping | list)), "")
    entries = document.get(key, ())
    tables = (
        entries
        if isinstance(entries, Mapping)
        else {str(t.get("name", t.get("url"))): t for t in entries if isinstance(t, Mapping)}
    )
    if len(entries) < 2 and table is None:
        return document
    if not entries:
        msg = f"'{what}' describes one table without a name, and '{str(table)[:80]}' was named; leave the name out"
        raise SchemaError(msg)
    if table not in tables:
        raise SchemaError(one_of(what, list(tables)))
    return {**document, key: {table: tables[table]} if isinstance(entries, Mapping) else [tables[table]]}


def _old_sdv(document: Mapping[str, Any]) -> bool:
    """Whether it is metadata of SDV from before version 1.0: tables, each with fields."""
    entries = document.get("tables")
    tables = list(entries.values()) if isinstance(entries, Mapping) else entries if isinstance(entries, list) else []
    return bool(tables) and all(isinstance(t, Mapping) and "fields" in t for t in tables)


def _fields(document: Mapping[str, Any]) -> bool:
    inner = document.get("schema", document)
    return isinstance(inner, str) or (isinstance(inner, Mapping) and isinstance(inner.get("fields"), list))


def read_codebook_bytes(
    raw: bytes, *, name: str, what: str, table: str | None = None
) -> tuple[Declaration, str] | None:
    """What a file of one of these formats declares, with the source of what it says; None for any other file.

    A file that holds the records themselves is part of the data: what it declares is for its owner to confirm.

    Args:
        raw: the file. Of SPSS, Stata and SAS the records are not read.
        name: of the table, where the file has none for it.
        what: the file is called in messages.
        table: the one that is meant, of several.

    Raises:
        SchemaError: damaged, hostile or too large; TableError: of SPSS, Stata or SAS, or never a codebook.
    """
    head = raw[:HEAD]
    refuse_others(head)
    if kind_of_labelled(what, head) is not None:
        from dpsyn_core.tables import AS_FOUND, declared_by

        return Declaration(name=name, columns=tuple(declared_by(memoryview(raw), AS_FOUND))), "data"
    text = raw.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not text.startswith((b"<", b"{")):
        return None
    if len(raw) > MOST:
        msg = f"'{what}' has more than {MOST:,} bytes; a codebook has fewer"
        raise SchemaError(msg)
    if text.startswith(b"<"):
        return _sourced(ddi.read(text, name=name, what=what, table=table))
    try:
        document = json.loads(text, object_pairs_hook=fields_once)
    except RepeatedFieldError as error:
        msg = f"'{what}' holds the field {error} twice in one object; remove one"
        raise SchemaError(msg) from error
    except (ValueError, RecursionError):
        return None  # whoever asked says what JSON they know
    if unfit := unfit_text(document):
        msg = f"'{what}' holds {unfit}"
        raise SchemaError(msg)
    declaration = read_json(document, name=name, what=what, table=table)
    return None if declaration is None else _sourced(declaration)


def _sourced(said: Declaration) -> tuple[Declaration, str]:
    """With the source of its entries: a document that we wrote of a draft is not public for having been a document."""
    return said, "public" if said.confirmed else "data"


def read_schema(
    raw: bytes, *, name: str, what: str, onto: Schema | None = None, table: str | None = None
) -> Schema | None:
    """A schema from a file of one of these formats, or what it adds to another schema; None for any other file.

    Raises:
        SchemaError, TableError: as `read_codebook_bytes`; nothing can be synthesized; it does not fit the other schema.
    """
    result = read_codebook_bytes(raw, name=name, what=what, table=table)
    if result is None:
        return None
    declaration, source = result
    return schema_of(declaration, source=source) if onto is None else overlaid(onto, declaration, source=source)


def read_schema_file(
    path: Path, *, name: str | None = None, onto: Schema | None = None, table: str | None = None
) -> Schema | None:
    """As `read_schema`, of a file. Raises SchemaError too where it cannot be read."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        msg = f"the file '{path}' cannot be read ({error.strerror}); check the path"
        raise SchemaError(msg) from error
    return read_schema(raw, name=name or path.name.split(".")[0], what=path.name, onto=onto, table=table)


def not_carried(schema: Schema, ending: str) -> tuple[NotCarried, ...]:
    """What of a schema a synthetic table with this ending (.sav, .dta, .xpt) does not carry, in sentences."""
    import numpy as np

    from dpsyn_core.schema.codec import Codec
    from dpsyn_core.tables import planned

    codec = Codec(schema)
    nothing = codec.decode(np.zeros((len(codec.domain), 0), codec.dtype), rng=np.random.default_rng(0))
    return planned(nothing.schema, declared_columns(schema), ending).lost


def export(schema: Schema, form: str) -> tuple[bytes, list[str]]:
    """A schema in one of these formats, and what of it the format does not carry, in words.

    Raises:
        SchemaError: no format of this name.
    """
    if form not in FORMATS:
        msg = f"'{form}' is no format of codebooks; known are {', '.join(FORMATS)}"
        raise SchemaError(msg)
    raw = FORMATS[form].write(declaration_of(schema))
    try:
        again = read_schema(raw, name=schema.name, what=schema.name)
    except SchemaError:  # SDV's metadata alone is no schema
        return raw, ["all values, ranges, bins and labels"]
    return raw, lost(schema, again) if again is not None else []
