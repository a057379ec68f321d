"""The bundled samples as tables and schemas: people of 1940 in words or in codes, baskets, stays, households."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

from dpsyn_core import data
from dpsyn_core.errors import OutputError, TableError
from dpsyn_core.files import write_bytes
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.importers.codebook import in_codes, read_codebook
from dpsyn_core.schema.importers.parameters import import_file
from dpsyn_core.tables import read_table

NAMES = data.NAMES
SPECIFICATION, CODEBOOK = data.FOLDER / "sample.specification.json", data.FOLDER / "sample.codebook.cbk"


def sample_table(name: str = "sample") -> Any:
    """A bundled table, one of NAMES, as a pyarrow table of text."""
    return read_table(_paths(name)[0])


def sample_schema(name: str = "sample") -> Schema:
    """The schema of a bundled table."""
    return Schema.load(_paths(name)[1])


def coded_sample() -> Any:
    """The people in codes, as their specification has them: a pyarrow table of the same rows."""
    return in_codes(sample_table(), read_codebook(CODEBOOK))


def coded_schema() -> Schema:
    """The schema of the people in codes, imported from the bundled specification with its codebook."""
    return import_file(SPECIFICATION, codebook=CODEBOOK, name="census1940")


def coded_design() -> dict[str, Any]:
    """The design of the method dpsyn-2018 that ships with the people in codes."""
    return data.worked_design("sample")


def write_coded_sample(folder: str | Path) -> list[Path]:
    """Writes the people in codes (CSV) with specification, codebook and design into a folder; returns the paths."""
    from dpsyn_core.tables import write_table

    folder = _made(folder)
    table = folder / "sample-codes.csv"
    write_table(coded_sample(), table)
    sources = [SPECIFICATION, CODEBOOK, data.FOLDER / "sample.design.json"]
    for source in sources:
        write_bytes(folder / source.name, source.read_bytes())
    return [table, *(folder / s.name for s in sources)]


def write_sample(folder: str | Path, name: str = "sample") -> tuple[Path, Path]:
    """Writes a bundled table (plain CSV) and its schema into a folder, which is created if need be.

    Returns:
        The paths of the table and of the schema. Raises OutputError when they cannot be written.
    """
    table, schema = _paths(name)
    folder = _made(folder)
    written = folder / f"{name}.csv", folder / f"{name}.schema.json"
    write_bytes(written[0], gzip.decompress(table.read_bytes()))
    write_bytes(written[1], schema.read_bytes())
    return written


def write_linked_sample(folder: str | Path, name: str) -> tuple[dict[str, Path], Path]:
    """Writes the tables of a linked sample (plain CSV), by their names, and their schema; see `write_sample`."""
    tables, schema = data.linked_paths(name)
    folder = _made(folder)
    written = {table: folder / f"{table}.csv" for table in tables}
    for table, path in written.items():
        write_bytes(path, gzip.decompress(tables[table].read_bytes()))
    to = folder / schema.name
    write_bytes(to, schema.read_bytes())
    return written, to


def _made(folder: str | Path) -> Path:
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = f"the folder '{folder}' cannot be made ({error.strerror}); choose another"
        raise OutputError(msg) from error
    return folder


def _paths(name: str) -> tuple[Path, Path]:
    if name not in data.NAMES:
        msg = f"unknown sample '{name}'; known are {', '.join(data.NAMES)}"
        raise TableError(msg)
    return data.paths(name)
