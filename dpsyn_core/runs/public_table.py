"""Reads the public table of a run: by the schema of the private one, and never the private one itself."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from dpsyn_core.errors import InputError, SchemaError, TableError
from dpsyn_core.files import NOT_PRIVATE, manifest_beside
from dpsyn_core.privacy import Manifest
from dpsyn_core.schema import Codec, Schema
from dpsyn_core.systems import PublicTable
from dpsyn_core.tables import composed, read_table

MOST_MISFITS = 0.5  # of the cells of a column that the schema has no place for; above, the codes are others


def read_public(path: Path, schema: Schema) -> PublicTable:
    """The public table of a file, in codes of the schema of the run.

    Args:
        path: CSV, Parquet or any other file that is read as the private table may be.
        schema: of the run. The public table has some or all of its columns, and no other but the one that names
            individuals.

    Raises:
        TableError: it cannot be read, has no record, another column, or cells that the schema does not describe.
    """
    check_not_withheld(path)
    try:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        msg = f"cannot read the public table '{path.name}': {error.strerror}"
        raise TableError(msg) from error
    return coded(read_table(path), schema, name=path.name, sha256=digest)


def coded(table: Any, schema: Schema, *, name: str, sha256: str) -> PublicTable:
    """As `read_public`, of a pyarrow table that was read."""
    there = {composed(column) for column in table.column_names}
    declared = {composed(a.name) for a in schema.attributes}
    declared |= set() if schema.unit.identifier is None else {composed(schema.unit.identifier)}
    if others := sorted(there - declared):
        msg = (
            f"the public table '{name}' has the column '{others[0][:80]}', which the schema does not describe; leave "
            "that column out, or describe it in the schema"
        )
        raise TableError(msg)
    shared = tuple(a for a in schema.coded if composed(a.name) in there)
    if not shared:
        msg = f"the public table '{name}' has no column that is synthesized; give one with the columns of the schema"
        raise TableError(msg)
    names = {a.name for a in shared}
    part = Schema.of(
        {"version": 1, "name": schema.name, "attributes": [d for d in _documents(schema) if d["name"] in names]}
    )
    _check_fits(part, table, name)
    codes = Codec(part).encode(table, individuals=False).codes
    if not codes.shape[1]:
        msg = f"the public table '{name}' has no record that the schema describes; give one with at least one"
        raise TableError(msg)
    return PublicTable(codes=np.ascontiguousarray(codes), domain=part.domain(), name=name, sha256=sha256)


def _documents(schema: Schema) -> list[dict[str, Any]]:
    return list(schema.document()["attributes"])


def _check_fits(part: Schema, table: Any, name: str) -> None:
    """Refuses a table whose cells mean something else than the schema says; it is public, so the refusal may count."""
    from dpsyn_core.schema import misfits

    for misfit in misfits(part, table):
        if misfit.count > MOST_MISFITS * max(table.num_rows, 1):
            msg = (
                f"{misfit.count:,} of {table.num_rows:,} cells of '{misfit.about}' in the public table '{name}' do not "
                "fit the schema; write them as the private table does, or leave the column out"
            )
            raise TableError(msg)


def check_apart(public: Path, private: object) -> None:
    """Refuses a public table that is the private one or lies in its folder, as far as names tell; no file is read.

    Raises SchemaError.
    """
    if not isinstance(private, str | Path) or not Path(private).exists() or not public.exists():
        return
    table = Path(private)
    if public.samefile(table) or (table.is_dir() and public.resolve().is_relative_to(table.resolve())):
        msg = (
            f"the public table '{public.name}' is the private table itself, and nothing would protect its records; "
            "give a table that is published"
        )
        raise SchemaError(msg)


def check_not_withheld(path: Path) -> None:
    """Refuses a table whose name or manifest says NOT PRIVATE: it was computed from records without protection.

    Raises TableError.
    """
    if NOT_PRIVATE.strip(".") in path.name:  # it may have been carried away from its manifest
        msg = (
            f"the name of '{path.name}' says that it is NOT PRIVATE: it was made from records without protection; give "
            "a table that is published"
        )
        raise TableError(msg)
    beside = manifest_beside(path)
    if not beside.is_file():
        return
    try:
        private = Manifest.load(beside).private
    except InputError:
        return  # some other file of that name
    if not private:
        msg = (
            f"the manifest '{beside.name}' says that '{path.name}' is NOT PRIVATE: it was made from records without "
            "protection; give a table that is published"
        )
        raise TableError(msg)
