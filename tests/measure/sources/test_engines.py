"""Memory and stored: both engines count the same, for every reader, with and without bounding of individuals."""

import itertools
import sqlite3
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dpsyn_core.errors import SettingError, SizeError, TableError
from dpsyn_core.estimate.marginals.coarsening import Coarsening
from dpsyn_core.measure.sources import bounding, stored
from dpsyn_core.measure.sources import choice as choose
from dpsyn_core.measure.sources.bounding import bound
from dpsyn_core.measure.sources.choice import memory_of, source_of
from dpsyn_core.progress import silent
from dpsyn_core.schema.document import Schema
from dpsyn_core.tables.batches import Batches
from dpsyn_core.tables.databases.batches import database_batches
from dpsyn_core.tables.databases.database import Database
from dpsyn_core.tables.frames import of_frame
from dpsyn_core.tables.write import write_table
from tests.tables.reading import of_database, read_database

KEY = bytes(range(32))
RECORDS = 3000


def schema(identifier=None, theta=1):
    unit = {"max_records": theta} | ({} if identifier is None else {"identifier": identifier})
    attributes = [
        {"name": "kind", "kind": "categorical", "values": ["x", "y"], "other": True, "missing": True},
        {"name": "size", "kind": "numeric", "dtype": "integer", "min": 0, "max": 400, "missing": True},
        {"name": "share", "kind": "numeric", "dtype": "float", "min": 0, "max": 1, "bins": {"count": 300}},
    ]
    return Schema.of({"version": 1, "name": "records", "unit": unit, "attributes": attributes})


@pytest.fixture(scope="module")
def records():
    """Values outside the lists, missing ones, individuals without a name, and one individual with very many records."""
    rng = np.random.default_rng(0)
    who = np.where(rng.random(RECORDS) < 0.2, 0, rng.integers(0, RECORDS // 4, RECORDS))
    names = pa.array([f"n{i}" for i in who], mask=rng.random(RECORDS) < 0.01)
    kind = pa.array(rng.choice(["x", "y", "z", " "], RECORDS), mask=rng.random(RECORDS) < 0.05)
    size = pa.array(rng.integers(-5, 410, RECORDS), mask=rng.random(RECORDS) < 0.05)
    return pa.table({"who": names, "kind": kind, "size": size, "share": rng.random(RECORDS).round(6)})


def places(folder, records):
    """The same records as every kind of file, as a folder of parts, and as a pattern."""
    for ending in ("parquet", "csv", "tsv", "csv.gz"):
        write_table(records, folder / f"all.{ending}")
    yield from (folder / f"all.{e}" for e in ("parquet", "csv", "tsv", "csv.gz"))
    parts = folder / "parts"
    parts.mkdir()
    for i, start in enumerate(range(0, RECORDS, 700)):
        write_table(records.slice(start, 700).select([2, 0, 1, 3] if i == 1 else [0, 1, 2, 3]), parts / f"{i}.parquet")
    (parts / "_SUCCESS").touch()
    yield parts
    yield str(parts / "*.parquet")


def counts(source, schema):
    """All that a counter answers: tables of up to three attributes, fine and coarse, and occupied cells."""
    names = schema.domain().names
    sets = [s for k in range(4) for s in itertools.combinations(names, k)]
    coarse = {"size": Coarsening.of(np.arange(schema.domain()["size"].size) // 50)}
    with source.open(schema, progress=silent) as opened:
        counter = opened.counter
        found = [*counter.marginals(sets), *counter.marginals(sets, coarse), np.array(opened.n_records)]
        return [*found, *counter.occupied(("size", "share")), *counter.occupied(("kind", "size"), coarse)]


def same(left, right):
    return len(left) == len(right) and all(
        a.dtype == b.dtype and np.array_equal(a, b) for a, b in zip(left, right, strict=True)
    )


@pytest.fixture
def one_key(monkeypatch):
    """The key of bounding, which is otherwise drawn anew for every run."""
    monkeypatch.setattr(bounding, "bound", lambda encoded, theta: bound(encoded, theta, key=KEY))
    monkeypatch.setattr(stored, "draw_key", lambda: KEY)


@pytest.mark.parametrize(("identifier", "theta"), [(None, 1), ("who", 1), ("who", 3)])
def test_both_engines_count_the_same_for_every_reader(tmp_path, records, one_key, monkeypatch, identifier, theta):
    monkeypatch.setattr("dpsyn_core.tables.batches.RECORDS", 1024)
    monkeypatch.setattr("dpsyn_core.tables.text.batches.PIECE", 20_000)
    known = schema(identifier, theta)
    whole = counts(source_of(records), known)
    assert same(counts(source_of(records, engine="stored"), known), whole)
    for place in places(tmp_path, records):
        for engine in ("memory", "stored"):
            assert same(counts(source_of(place, engine=engine), known), whole), (Path(place).name, engine)


@pytest.mark.parametrize("theta", [1, 3])
@pytest.mark.parametrize("system", ["sqlite", "duckdb"])
def test_both_engines_count_a_database_as_its_table_in_memory(
    tmp_path, records, one_key, monkeypatch, system, theta
):  # fmt: skip
    monkeypatch.setattr("dpsyn_core.tables.batches.RECORDS", 1024)
    path = tmp_path / f"t.{system}"
    if system == "sqlite":
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE t (who, kind, size, share)")
            rows = zip(*(c.to_pylist() for c in records.columns), strict=True)
            connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows)
        connection.close()
    else:
        with duckdb.connect(str(path)) as connection:
            connection.register("given", records)
            connection.execute("CREATE TABLE t AS SELECT * FROM given")
    known, base = schema("who", theta), Database.of(path)
    whole = counts(source_of(read_database(base, table="t")), known)
    batches = database_batches(base, of_database(query="SELECT * FROM t"), counted=True)
    assert batches.records == RECORDS
    for engine in ("memory", "stored"):
        assert same(counts(source_of(batches, engine=engine), known), whole), engine


def test_nobody_keeps_more_records_than_the_bound_however_batches_fall(records):
    known = schema("who", 2)
    one_by_one = Batches(columns=tuple(records.column_names), read=lambda: (records.slice(i, 1) for i in range(300)))
    with source_of(one_by_one, engine="stored").open(known, progress=silent) as opened:
        named = records.slice(0, 300).column("who").drop_null()
        held = pd.Series(named.to_pylist()).value_counts().clip(upper=2).sum()
        assert opened.n_records == held


def test_an_empty_table_is_counted(tmp_path, records):
    write_table(records.slice(0, 0), tmp_path / "none.csv")
    for engine in ("memory", "stored"):
        with source_of(tmp_path / "none.csv", engine=engine).open(schema("who"), progress=silent) as opened:
            assert opened.counter.marginal(()) == 0
            assert opened.counter.marginal(("kind", "size")).sum() == 0


def test_strict_refuses_the_same_tables_on_both_engines(tmp_path, records):
    write_table(records, tmp_path / "all.csv")
    write_table(records.slice(0, 0), tmp_path / "none.csv")
    for name, words in (("all.csv", "names individuals but has blank cells"), ("none.csv", "no records")):
        for engine in ("memory", "stored"):
            source = source_of(tmp_path / name, engine=engine, strict=True)
            with pytest.raises(TableError, match=words), source.open(schema("who"), progress=silent):
                pass


def test_a_column_that_is_missing_is_found_before_any_record_is_read(records):
    def read():
        raise AssertionError("records were read")

    few = Batches(columns=("kind", "size"), read=read)
    for engine in ("memory", "stored"):
        with pytest.raises(TableError, match="lacks the column 'share'"):
            source_of(few, engine=engine).open(schema(), progress=silent).__enter__()


def test_a_synthetic_frame_is_of_the_kind_that_was_given(records):
    source = source_of(records.to_pandas(), engine="stored")
    assert isinstance(source.returned(records), pd.DataFrame)


def test_what_a_stored_run_takes_is_said_before_it_and_refused_where_there_is_no_room(records, monkeypatch):
    monkeypatch.setattr("dpsyn_core.scratch.room", lambda: 10**9)
    few = of_frame(records)
    many = Batches(columns=few.columns, read=few.read, records=10**8)
    choice = choose.choose(many, engine=None, memory=10**9, schema=schema())
    assert choice.scratch == 10**8 * (1 + 2 + 2)
    assert "6.3 GB in memory" in choice.why
    assert "90 s on two idle cores" in choice.why
    assert "500 MB of scratch space (1 GB are free)" in choice.why
    with pytest.raises(SizeError, match=r"do not fit the 1 GB.*owner only.*DPSYN_SCRATCH"):
        choose.choose(many, engine="stored", memory=None, schema=schema("who"))


def test_the_engine_is_chosen_by_size_unless_it_is_named(records):
    few = of_frame(records)
    many = Batches(columns=few.columns, read=few.read, records=10**9)
    assert choose.choose(few, engine=None, memory=10**9).engine == "memory"
    assert choose.choose(many, engine=None, memory=10**9).engine == "stored"
    assert choose.choose(many, engine="memory", memory=10**9).engine == "memory"
    with pytest.raises(SettingError, match="must be one of memory, stored"):
        source_of(records, engine="disk")


@pytest.mark.parametrize(
    ("text", "size"), [("4GB", 4 * 10**9), ("800 mb", 8 * 10**8), ("1.5GiB", 3 << 29), (10**9, 10**9), (None, None)]
)
def test_memory_is_read_with_its_unit(text, size):
    assert memory_of(text) == size


@pytest.mark.parametrize("text", ["much", "-4GB", "4 apples", "", "4MB", True, "nan"])
def test_what_is_no_amount_of_memory_is_refused(text):
    with pytest.raises(SettingError):
        memory_of(text)


def test_a_full_disk_is_a_sentence_and_leaves_nothing_behind(records, monkeypatch, tmp_path):
    monkeypatch.setenv("DPSYN_SCRATCH", str(tmp_path))
    real = stored.Store.__init__

    def cut(self, file, domain):
        real(self, open("/dev/full", "w+b"), domain)  # noqa: PTH123, SIM115

    monkeypatch.setattr(stored.Store, "__init__", cut)
    with pytest.raises(SizeError, match=r"No space left on device.*DPSYN_SCRATCH"):
        source_of(records, engine="stored").open(schema(), progress=silent).__enter__()
    assert not list((tmp_path / "dpsyn-scratch").iterdir())
