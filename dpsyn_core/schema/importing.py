"""Imports schema files of any known style: our own JSON, NIST-style parameters, lists of maxima, dictionaries."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.codebook import Codebook, read_codebook
from dpsyn_core.schema.dictionary import import_dictionary
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.maxima import import_maxima
from dpsyn_core.schema.parameters import import_parameters

TABLES = (".csv", ".tsv", ".txt", ".xlsx", ".gz")  # endings of data dictionaries


def import_file(
    path: str | Path,
    datatypes: str | Path | None = None,
    *,
    codebook: str | Path | None = None,
    name: str | None = None,
) -> Schema:
    """Reads a schema file of any known style. `maxima.binned` says of the result what is binned.

    Our own JSON, parameters.json, {column: {type, maxval}}, or a data dictionary in CSV, TSV or Excel.

    Args:
        path: the file.
        datatypes: column_datatypes.json beside a parameters.json.
        codebook: codebook.cbk of a parameters.json or specification, see `read_codebook`.
        name: of the table; default the file's.

    Raises:
        SchemaError: not JSON, unknown style, or an entry that cannot be imported; it names the entry.
    """
    words = None if codebook is None else read_codebook(codebook)
    if Path(path).suffix.lower() in TABLES:
        _refuse(words, str(path))
        return import_dictionary(path, name=name)
    types = _json(datatypes) if datatypes is not None else None
    return import_document(_json(path), types, words, name=name or Path(path).stem, what=str(path))


def import_document(
    document: object, datatypes: Any = None, words: Codebook | None = None, *, name: str, what: str
) -> Schema:
    """A schema from a parsed JSON document of any known style.

    Args:
        document: our own schema, parameters.json, or a specification.
        datatypes: parsed column_datatypes.json beside a parameters.json.
        words: the codebook of a parameters.json or specification.
        name: of the table.
        what: what the document is called in messages.

    Raises:
        SchemaError: as `import_file`.
    """
    if isinstance(document, Mapping) and "version" in document and "attributes" in document:
        _refuse(words, what)
        return Schema.of(document)
    if isinstance(document, Mapping) and isinstance(document.get("schema"), Mapping):
        return import_parameters(document, datatypes, words, name=name)
    if isinstance(document, Mapping) and document and all(_is_maximum(v) for v in document.values()):
        return import_maxima(document, words, name=name)
    msg = f"{what} is no known schema; give our own JSON, a NIST-style parameters.json, or columns with type and maxval"
    raise SchemaError(msg)


def _refuse(words: object, what: str) -> None:
    if words is not None:
        msg = f"{what} has labels of its own; a codebook goes with a parameters.json or a specification with maxval"
        raise SchemaError(msg)


def _is_maximum(entry: object) -> bool:
    """Whether an entry of a specification is meant; what it lacks is said when it is imported."""
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
        msg = f"the file '{path}' is not JSON; give a parameters.json or a schema of ours"
        raise SchemaError(msg) from error
