"""Writes synthetic linked tables: a folder of CSV files, a workbook, or a database whose foreign keys are declared."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from dpsyn_core.errors import OutputError, SettingError
from dpsyn_core.files import not_private_name, replacing
from dpsyn_core.outside import below
from dpsyn_core.privacy import Digests, TableDigests
from dpsyn_core.runs.writer import Places, numbered, staged_tables
from dpsyn_core.schema import LinkedSchema, Schema
from dpsyn_core.tables import ENDINGS, content_digest, file_digest, read_table, sheet_name, staged_workbook

ONE_FILE = (".xlsx", ".sqlite", ".db", ".duckdb")  # endings that hold several tables


def places_of(
    out: str | Path,
    schema: Schema,
    *,
    manifest: str | Path | None = None,
    copies: int = 1,
    answers: bool = False,
    measurements: Path | None = None,
    release: Path | None = None,
    made: bool = True,
    private: bool = True,
) -> Places:
    """Where the files of a release go, or are. Raises OutputError for a name that is one of a single table.

    Args:
        out: a folder, or a file that holds several tables; for tables of one file, a table.
        schema: whose tables are written.
        copies: sets of tables; several have numbers in the names of their files.
        manifest: default manifest.json in the folder, or with the name of the file.
        measurements: of what was released; None: not written.
        release: of the file for refits; None: not written.
        answers: also to questions: beside the manifest, answers.json or with the name of the file.
        made: whether a missing folder is created.
        private: False where tables are not, whatever the schema says.
    """
    path = Path(out)
    mark = not_private_name if schema.reasons or not private else Path
    whole = path.suffix.lower() in ONE_FILE or (schema.one_file and path.suffix != "")
    if whole:
        outs: tuple[Path, ...] = tuple(mark(p) for p in numbered(path, copies))
        beside = path.with_suffix(".manifest.json")
    else:
        if path.name.lower().endswith((*ENDINGS, ".json")) and not path.is_dir():
            msg = (
                f"'{path.name}' is the name of one table, and these are several; name a folder, or a file that ends in "
                f"{', '.join(ONE_FILE)}"
            )
            raise OutputError(msg)
        try:
            if made:
                path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            msg = f"the folder '{path}' cannot be made ({error.strerror}); choose another"
            raise OutputError(msg) from error
        each = [numbered(below(path, f"{name}.csv"), copies) for name in schema.outputs]
        outs = tuple(mark(files[i]) for i in range(copies) for files in each)
        beside = path / "manifest.json"
    stated = beside if manifest is None else Path(manifest)
    named = stated.name.replace("manifest", "answers") if "manifest" in stated.name else f"{stated.stem}.answers.json"
    return Places(
        outs=outs,
        manifest=stated,
        answers=mark(stated.with_name(named)) if answers else None,
        measurements=None if measurements is None else mark(measurements),
        release=None if release is None else mark(release),
    )


def named_tables(
    named: Sequence[str], alone: Path | str | None, schema: LinkedSchema | None = None
) -> dict[str, Path | str]:
    """The places of linked tables by their names. Raises SettingError.

    Args:
        named: NAME=TABLE of each.
        alone: a table without a name: that of a schema whose tables are columns of one file.
        schema: of the tables, where there is one.
    """
    if schema is not None and schema.one_file and alone is not None and not named:
        return {t.name: alone for t in schema.tables}
    if alone is not None:
        msg = "a table stands without its name; give each as --table NAME=FILE, by the names in the schema"
        raise SettingError(msg)
    paths: dict[str, Path | str] = {}
    for text in named:
        name, sign, path = text.partition("=")
        if not sign or not name or not path or name in paths:
            msg = f"--table got '{text}'; it needs the form NAME=FILE, each name once: --table persons=persons.csv"
            raise SettingError(msg)
        paths[name] = path if "://" in path else Path(path)  # a Path would fold the slashes of an address
    return paths


def tree_bytes(
    tables: Mapping[str, Any], schema: LinkedSchema, ending: str, stem: str, *, beside: Path
) -> dict[str, bytes]:
    """The files that hold synthetic tables, by name.

    Args:
        tables: pyarrow, by name.
        schema: theirs.
        ending: "zip" or "csv" for a CSV file each, else that of a file that holds all of them.
        stem: name of such a file.
        beside: folder in which they are written and removed again.
    """
    with tempfile.TemporaryDirectory(dir=beside) as folder:
        out = Path(folder) if ending in ("zip", "csv") else Path(folder) / f"tables.{ending}"
        places = places_of(out, schema)
        with staged_trees([tables], schema, places.outs):
            pass
        if out.is_dir():
            return {p.name: p.read_bytes() for p in places.outs}
        return {f"{stem}.{ending}": places.outs[0].read_bytes()}


def written_tables(places: Places, schema: LinkedSchema) -> dict[str, Any]:
    """The tables of a release that was written, by name, each as pyarrow. Raises TableError."""
    names = schema.outputs
    ending = places.outs[0].suffix.lower()
    if ending not in ONE_FILE or (schema.one_file and ending == ".xlsx"):
        return {n: read_table(p) for n, p in zip(names, places.outs, strict=True)}
    form = {n: {"sheet": sheet_name(n)} if ending == ".xlsx" else {"sql_table": n} for n in names}
    return {n: read_table(places.outs[0], **form[n]) for n in names}


@contextmanager
def staged_trees(copies: Sequence[Mapping[str, Any]], schema: Schema, outs: Sequence[Path]) -> Iterator[Digests]:
    """Writes sets of pyarrow tables by name to the places of `places_of`; see `Writable.staged`. Raises OutputError."""
    ending = outs[0].suffix.lower()
    if ending not in ONE_FILE or (schema.one_file and ending == ".xlsx"):
        with staged_tables([t for tables in copies for t in tables.values()], outs) as digests:
            yield digests
        return
    with ExitStack() as stack:
        staged = [stack.enter_context(_staged_file(t, schema, out)) for t, out in zip(copies, outs, strict=True)]
        if len(staged) == 1:
            yield staged[0]
            return
        each = tuple(d.model_copy(update={"files": whole.files}) for whole in staged for d in whole.tables)
        yield Digests(**each[0].model_dump(), tables=each)


@contextmanager
def _staged_file(tables: Mapping[str, Any], schema: Any, out: Path) -> Iterator[Digests]:
    """Writes one set of tables to one file that holds several."""
    ending = out.suffix.lower()
    with ExitStack() as stack:
        if ending == ".xlsx":
            written = stack.enter_context(staged_workbook(tables, out))
        else:
            written = stack.enter_context(replacing(out))
            room = stack.enter_context(tempfile.TemporaryDirectory(dir=out.parent, prefix=".dpsyn-"))
            folder = Path(room) / "made"  # a database makes its own file
            (_to_duckdb if ending == ".duckdb" else _to_sqlite)(_parents_first(tables, schema), schema, folder)
            shutil.copyfile(folder, written)
        files = {ending.lstrip("."): file_digest(written)}
        each = tuple(TableDigests(content=content_digest(t)) for t in tables.values())
        yield Digests(**each[0].model_dump(exclude={"files"}), files=files, tables=each)


def statements(tables: Mapping[str, Any], schema: LinkedSchema) -> list[str]:
    """CREATE TABLE of each table, parents first, with primary and foreign keys."""
    out = []
    for name, table in tables.items():
        declared = next((t for t in schema.tables if t.name == name), None)
        key = None if declared is None else declared.key
        lines = [f"{_quoted(f.name)} {_type(f.type)}" + " PRIMARY KEY" * (f.name == key) for f in table.schema]
        for link in schema.links:
            if link.child == name and not schema.one_file:
                parent = f"{_quoted(link.parent)} ({_quoted(str(schema[link.parent].key))})"
                lines.append(f"FOREIGN KEY ({_quoted(link.key)}) REFERENCES {parent}")
        out.append(f"CREATE TABLE {_quoted(name)} ({', '.join(lines)})")
    return out


def _parents_first(tables: Mapping[str, Any], schema: LinkedSchema) -> dict[str, Any]:
    """Tables in an order in which each key that a row names is there already."""
    names = [schema.root.name, *(schema.links[i].child for i in schema.downward)]
    return dict(tables) if schema.one_file else {n: tables[n] for n in names}


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _type(kind: Any) -> str:
    import pyarrow.types as t

    if t.is_boolean(kind):
        return "BOOLEAN"
    if t.is_integer(kind):
        return "BIGINT"
    if t.is_floating(kind):
        return "DOUBLE"
    if t.is_date(kind):
        return "DATE"
    return "TIMESTAMP" if t.is_timestamp(kind) else "VARCHAR"


def _to_duckdb(tables: Mapping[str, Any], schema: LinkedSchema, path: Path) -> None:
    import duckdb

    with contextlib.closing(duckdb.connect(str(path))) as database:
        for name, statement in zip(tables, statements(tables, schema), strict=True):
            database.execute(statement)
            database.register("made", tables[name])
            database.execute(f"INSERT INTO {_quoted(name)} SELECT * FROM made")  # noqa: S608 quoted
            database.unregister("made")


def _to_sqlite(tables: Mapping[str, Any], schema: LinkedSchema, path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA foreign_keys = ON")
        for (name, table), statement in zip(tables.items(), statements(tables, schema), strict=True):
            database.execute(statement)
            marks = ", ".join("?" * table.num_columns)
            cells = [_plain(column) for column in table.columns]
            insert = f"INSERT INTO {_quoted(name)} VALUES ({marks})"  # noqa: S608 quoted
            database.executemany(insert, zip(*cells, strict=True))
        database.commit()


def _plain(column: Any) -> list[Any]:
    """Cells that SQLite keeps: dates as text."""
    import pyarrow as pa
    import pyarrow.types as t

    kind = column.type
    return (column.cast(pa.string()) if t.is_date(kind) or t.is_timestamp(kind) else column).to_pylist()  # type: ignore[no-any-return]
