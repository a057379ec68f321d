"""Writes small tables in every form that the program reads, and reads them back: raw bytes, frames and databases."""

import contextlib
import gzip
import io
import itertools
import sqlite3

import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from dpsyn_core.tables.databases.database import Database
from dpsyn_core.tables.frames import to_arrow
from dpsyn_core.tables.parquet_pages import parquet_batches
from dpsyn_core.tables.read_form import ReadForm
from dpsyn_core.tables.text.batches import text_batches
from tests.tables.reading import read, read_database

NUMBERS = itertools.count()


def written(value):
    """A cell as somebody writes it into a text file."""
    return "" if value is None else value.isoformat() if hasattr(value, "isoformat") else str(value)


def delimited(names, rows, delimiter=","):
    """Bytes of a text table; a cell of bytes is written as it is."""
    cells = [[v if isinstance(v, bytes) else written(v).encode() for v in row] for row in [names, *rows]]
    return b"\n".join(delimiter.encode().join(row) for row in cells) + b"\n"


def typed(names, rows):
    """Columns of pyarrow's choice, of text where it knows no type for all cells."""
    columns = {}
    for i, name in enumerate(names):
        values = [row[i] for row in rows]
        try:
            columns[name] = pa.array(values)
        except (pa.ArrowException, OverflowError):
            columns[name] = pa.array([None if v is None else written(v) for v in values], pa.string())
    return pa.table(columns)


def parquet(names, rows, folder):
    out = io.BytesIO()
    pq.write_table(typed(names, rows), out)
    return read(out.getvalue()).table


def excel(names, rows, folder):
    book = openpyxl.Workbook()
    for row in [names, *rows]:
        book.active.append(list(row))
    out = io.BytesIO()
    book.save(out)
    return read(out.getvalue()).table


def sqlite(names, rows, folder):
    path = folder / f"{next(NUMBERS)}.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(f"CREATE TABLE t ({', '.join(names)})")
        plain = [[v if isinstance(v, int | float | bytes | None) else written(v) for v in row] for row in rows]
        connection.executemany(f"INSERT INTO t VALUES ({','.join('?' * len(names))})", plain)
        connection.commit()
    return read_database(Database.of(path), table="t")


def duckdb(names, rows, folder):
    """Columns of pyarrow's choice in a database of declared types."""
    import duckdb as driver

    path = folder / f"{next(NUMBERS)}.duckdb"
    given = typed(names, rows)
    with contextlib.closing(driver.connect(str(path))) as connection:
        connection.register("given", given)
        connection.execute("CREATE TABLE t AS SELECT * FROM given")
    return read_database(Database.of(path), table="t")


def by_path(names, rows, folder):
    path = folder / "t.tsv"
    path.write_bytes(delimited(names, rows, "\t"))
    return read(path).table


def text_in_batches(names, rows, folder):
    path = folder / f"{next(NUMBERS)}.csv"
    path.write_bytes(delimited(names, rows))
    return pa.concat_tables(list(text_batches(path, ReadForm(), piece=64).read()))


def parquet_in_batches(names, rows, folder):
    path = folder / f"{next(NUMBERS)}.parquet"
    pq.write_table(typed(names, rows), path, row_group_size=3)
    parts = list(parquet_batches(path).read())
    return pa.concat_tables(parts) if parts else typed(names, rows)


READERS = {
    "csv": lambda names, rows, folder: read(delimited(names, rows), name="t.csv").table,
    "tsv by path": by_path,
    "gzip": lambda names, rows, folder: read(gzip.compress(delimited(names, rows, ";")), name="t.csv.gz").table,
    "csv in batches": text_in_batches,
    "parquet in batches": parquet_in_batches,
    "excel": excel,
    "parquet": parquet,
    "sqlite": sqlite,
    "duckdb": duckdb,
    "pandas": lambda names, rows, folder: to_arrow(pd.DataFrame([dict(zip(names, r, strict=True)) for r in rows])),
    "pandas objects": lambda names, rows, folder: to_arrow(pd.DataFrame(rows, columns=names, dtype=object)),
    "polars": lambda names, rows, folder: to_arrow(pl.from_arrow(typed(names, rows))),
    "pyarrow": lambda names, rows, folder: to_arrow(typed(names, rows)),
}  # fmt: skip
WITHOUT_BYTES = {
    "excel",
    "parquet",
    "parquet in batches",
    "duckdb",
    "polars",
    "pyarrow",
}  # a cell of bytes makes another type there
WITHOUT_OBJECTS = {
    "parquet",
    "parquet in batches",
    "duckdb",
    "polars",
    "pyarrow",
}  # a column has one type, so that typed cells become text
