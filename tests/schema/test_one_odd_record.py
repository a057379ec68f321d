"""Tables that one odd record once read anew for everybody, each with that record and without it."""

import datetime
import sqlite3

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dpsyn_core.measure.discovery import Wanted
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.runs.purchase import buy_schema
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.document import Schema
from dpsyn_core.tables.databases.database import Database
from dpsyn_core.tables.frames import to_arrow
from dpsyn_core.tables.read import read_table
from tests.schema.helpers import cat, date, num, schema
from tests.tables.reading import read_database

RNG = np.random.default_rng(0)
FLAGS = [bool(v) for v in RNG.random(2000) < 0.5]
DAYS = [datetime.date(2020, 1 + i % 12, 1 + i % 28) for i in range(300)]
NANOSECONDS = [1577836800123456789 + i % 3 for i in range(300)]
FLAG = schema(num("a", 0, 1, 2, missing=True))
DAY = schema(date("a", "2020-01-01", "2020-12-31", "month", formats=["%d/%m/%Y"], missing=True))
MOMENT = schema(num("a", 1577836800123456789, 1577836800123456791, 3, missing=True))


def codes(table, declared):
    return Codec(declared).encode(table).codes


@pytest.mark.parametrize(("cells", "declared"), [(FLAGS, FLAG), (DAYS, DAY), (NANOSECONDS, MOMENT)])
def test_one_text_in_a_pandas_column_changes_no_other_code(cells, declared):
    before = codes(to_arrow(pd.DataFrame({"a": cells})), declared)
    after = codes(to_arrow(pd.DataFrame({"a": [*cells, "x"]})), declared)
    assert after[:, :-1].tolist() == before.tolist()
    assert len(set(before[0].tolist())) > 1 and before.max() < declared["a"].size - 1, "all cells are read"


def test_one_unknown_in_a_sqlite_column_changes_no_other_code(tmp_path):
    with sqlite3.connect(tmp_path / "t.sqlite") as connection:
        connection.execute("CREATE TABLE t (a)")
        connection.executemany("INSERT INTO t VALUES (?)", [(v,) for v in [*NANOSECONDS, "unknown"]])
    connection.close()
    base = Database.of(tmp_path / "t.sqlite")
    before = codes(read_database(base, query="SELECT * FROM t WHERE typeof(a) = 'integer'"), MOMENT)
    assert codes(read_database(base, table="t"), MOMENT)[:, :-1].tolist() == before.tolist()
    assert sorted(set(before[0].tolist())) == [0, 1, 2]


@pytest.mark.parametrize("encoding", [None, "cp1252"])
def test_one_byte_in_a_column_that_nobody_uses_changes_no_code(encoding):
    declared = schema(cat("kind", ["\u20ac50", "\u20ac90"], other=True))
    lines = [b"kind,note", *[b"\x8050,n", b"\x8090,n"] * 500]
    before = codes(read_table(b"\n".join(lines), encoding=encoding), declared)
    after = codes(read_table(b"\n".join([*lines, b"\x8050,\x81"]), encoding=encoding), declared)
    assert after[:, :-1].tolist() == before.tolist()
    assert encoding is None or sorted(set(before[0].tolist())) == [0, 1]


@pytest.mark.parametrize("nameless", [[None], [float("nan")], [" "], ["\t"], [""], [None, float("nan"), " "]])
def test_records_without_a_name_are_nobody_in_every_column_of_names(nameless):
    declared = schema(cat("a", [0, 1]), unit={"identifier": "who", "max_records": 1})
    for names in ([1.0, 2.0, 3.0], ["p", "q", "r"]):
        if isinstance(names[0], float) and any(isinstance(n, str) for n in nameless):
            continue
        table = to_arrow(pd.DataFrame({"a": [0] * (3 + len(nameless)), "who": [*names, *nameless]}))
        encoded = Codec(declared).encode(table)
        assert encoded.n_records == 3 and len(set(encoded.identifiers.to_pylist())) == 3


def test_nanoseconds_in_a_categorical_column_are_read_and_show_no_value():
    moments = pa.array([1577836800123456789, None], pa.timestamp("ns"))
    declared = schema(cat("a", ["2020-01-01 00:00:00.123456789"], other=True, missing=True))
    assert codes(pa.table({"a": moments}), declared).tolist() == [[0, 2]]


def test_a_schema_is_bought_from_a_file_with_decimal_commas(tmp_path):
    lines = [f"{i % 90},5;x" for i in range(4000)]
    table = read_table(("pay;word\n" + "\n".join(lines)).encode())
    found = buy_schema(
        table, [Wanted(name="pay", kind="float", bins=4)], name="t", epsilon=5.0, delta=1e-6,
        ledger=Ledger(tmp_path / "ledger.sqlite3"),
    )  # fmt: skip
    assert 60 < Schema.of(found.schema.document())["pay"].max < 300
