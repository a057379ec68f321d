"""Is a record read by itself? Fuzzing of every reader: what a table becomes is what its records become alone.

For a pool of odd and ordinary records, what each of them becomes in a table of its own is worked out once. Then random
tables are made of them, and what such a table becomes must be the same again, record by record. So each record of each
table is one case of the claim of docs/proofs/encoding.md: it changes nothing about the others, and they nothing about
it. Compared are codes, identifiers, whether the record is kept, and what a bought schema sees of it.
"""

import datetime
import decimal
import gzip
import io
import itertools
import math
import random
import sqlite3
import uuid
from collections import Counter

import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from dpsyn_core.measure.unprotected import _texts
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.document import Schema
from dpsyn_core.tables.cells import instants
from dpsyn_core.tables.cells import numbers as casting
from dpsyn_core.tables.databases.database import Database
from dpsyn_core.tables.frames import to_arrow
from dpsyn_core.tables.headers import locate
from tests.audit.gates import Alarm
from tests.audit.layers import alarm
from tests.schema.helpers import cat, date, num
from tests.tables.reading import read, read_database

CELLS = {"other": True, "missing": True}
BIG = [-(2**62), 2**53, 2**53 + 1, 10**18 - 1, 10**18, 10**18 + 1, 1577836800123456788, 1577836800123456789, 2**62]
ATTRIBUTES = [
    cat("text", ["a", "é", "3", "true", "2020-01-31", "0.5", "nan", " "], **CELLS),
    cat("lone", ["x", "1"], missing=True),
    cat("whole", [0, 1, 2, 9007199254740993], **CELLS),
    cat("real", [0.5, 1, 1e20, 0.1, 1e-7], **CELLS),
    cat("flag", [True, False], **CELLS),
    num("age", 0, 9, 10, missing=True, special_values=[99]),
    num("big", -(2**62), 2**62, BIG, missing=True),
    num("pay", -1e300, 1e300, [-1.0, 0, 0.1, 0.10000000149, 0.3, 9007199254740993, 1e299], "float", missing=True),
    date("born", "2000-01-01", "2030-12-31", "month", missing=True),
    date("seen", "2000-01-01", "2030-12-31", "month", missing=True, formats=["%d/%m/%Y"]),
    date("odd", "2000-01-01", "2030-12-31", "month", missing=True, formats=["%Y-%d-%m"]),
    date("hour", "2000-01-01T00:00:00Z", "2030-12-31T00:00:00Z", 3000, missing=True),
]
NAMES = [a["name"] for a in ATTRIBUTES]
COLUMNS = [*NAMES, "who", "note"]  # a column that names individuals, and one that the schema does not know
UNIT = {"identifier": "who", "max_records": 2}


def declared(*, cells):
    """The schema; without cells for what does not fit, such records are left out."""
    attributes = ATTRIBUTES if cells else [a | {"other": False} if "other" in a else a for a in ATTRIBUTES]
    attributes = attributes if cells else [a | {"missing": a["name"] in ("text", "born")} for a in attributes]
    return Schema.of({"version": 1, "name": "t", "unit": UNIT, "attributes": attributes})


SCHEMAS = (declared(cells=True), declared(cells=False))


def seen(table, schema):
    """What becomes of each record, as a multiset: nothing else about the table may matter."""
    encoded = Codec(schema).encode(table)
    kept = np.ones(table.num_rows, dtype=bool) if encoded.kept is None else encoded.kept
    found = np.full((len(encoded.codes), table.num_rows), -1, dtype=np.int64)
    found[:, kept] = encoded.codes
    who = np.full(table.num_rows, None, dtype=object)
    who[kept] = encoded.identifiers.to_pylist()
    rows = [*(row.tolist() for row in found), who.tolist()]
    comma = (table.schema.metadata or {}).get(b"dpsyn.decimal") == b","
    bought = ("text", "whole", "pay", "seen", "who")
    for name, i in zip(bought, locate(table.column_names, bought), strict=True):  # what a bought schema sees
        rows.append(_texts(table.column(i)).to_pylist())
        if name == "text":
            for whole in (True, False):
                rows += [part.tolist() for part in casting.to_numbers(table.column(i), whole=whole, comma=comma)]
            rows += [part.tolist() for part in instants.to_instants(table.column(i), ())]
    return Counter(zip(*rows, strict=True))


# ---- cells


def plain(rng, flavour):
    """An ordinary cell of a flavour."""
    day = datetime.date(2020, rng.randint(1, 12), rng.randint(1, 28))
    moment = datetime.datetime(2020, 1, rng.randint(1, 28), rng.randint(0, 23), 30)
    return {
        "int": lambda: rng.choice([0, 1, 2, 5, 99, 7]),
        "long": lambda: rng.choice(BIG),
        "float": lambda: rng.choice([0.0, 1.0, 0.5, 0.1, 2.0, 7.0]),
        "bool": lambda: rng.random() < 0.5,
        "text": lambda: rng.choice(["a", "é", "3", "x", "0.5", "true", "7", "12/01/2020", "2020-01-31"]),
        "date": lambda: day,
        "time": lambda: moment,
        "decimal": lambda: decimal.Decimal(rng.choice(["0.5", "1", "2.0", "0.1", "7.25"])),
    }[flavour]()


ZONE = datetime.timezone(datetime.timedelta(hours=5, minutes=30))
BLANK = [None, float("nan"), "", "  ", "\t", pd.NaT, pd.NA, "\u2003"]
TEXTS = [
    "e\u0301", "é", "\ufeffa", "a\0b", "\0", "a\rb", "x\ny", 'q"q', '"', "a,b", "a;b", "'=1", "=1", "1,5", "1,5e0",
    "1.5", "00",
    "+1", "1e0", "1e400", "-1e400", "inf", "-inf", "NaN", "nan", "None", "0x1F", "1_000", "9" * 19, "1" + "0" * 400,
    "9007199254740993", "9007199254740993.0", "-0", "-0.0",
    "true", "True", "FALSE", "t", "2020-02-30", "2020-01-31",
    "31/01/2020", "2020-13-01", "2020-01-31T10:00:00+05:30", "2020-01-31 10:00:00Z", "12020-01-01", "0000-00-00",
    "#N/A", "#DIV/0!", "unknown", "\ufffd", "J\ufffdrg", "٣", "１", "1 ", " 1", "\u00a01", "1577836800123456789",
    "2020",
]  # fmt: skip
TYPED = [
    0, 1, -1, 2**53 + 1, 10**18, 10**19 - 1, -(10**19), 2**63 - 1, -(2**63), 2**63, 2**64, 10**400, -(10**400),
    1577836800123456789, 0.5, 1.0, -0.0, 1e-7, 1e20, 1e308, -1e308, 2.0**62, 2.0**63, 5e-324, float("inf"),
    float("-inf"), 0.1 + 0.2, True, False, decimal.Decimal("0.50"), decimal.Decimal("1E-8"), decimal.Decimal("1E+30"),
    decimal.Decimal("9007199254740993.5"), decimal.Decimal("NaN"), decimal.Decimal("Infinity"),
    decimal.Decimal("-0.00"), datetime.date(2020, 1, 31), datetime.date(1, 1, 1), datetime.date(9999, 12, 31),
    datetime.datetime(2020, 1, 31), datetime.datetime(2020, 1, 31, 10, 0, 0, 5), datetime.time(10, 30),
    datetime.time(1, 2, 3, 500000),
]  # fmt: skip
OBJECTS = [
    b"x", [1], {"a": 1}, (1, 2), object(), 1j, uuid.UUID(int=5), "a\ud800", "\udc81", np.float32(0.1), np.float16(0.1),
    np.int8(3), np.uint64(2**64 - 1), np.bool_(True), np.str_("a"), np.datetime64("2020-01-31"), datetime.timedelta(1),
    np.datetime64("NaT"), pd.Timestamp("2020-01-31 10:00:00.000000001"), pd.Timestamp("2020-01-31", tz="Asia/Kolkata"),
    datetime.datetime(2020, 1, 31, 10, tzinfo=ZONE), datetime.datetime(1, 1, 1, tzinfo=ZONE), 10**5000,
    decimal.Decimal("1E+99999"), datetime.date(2020, 1, 31),
]  # fmt: skip
FLAVOURS = {
    "text": ["text", "int", "float", "bool", "date", "time", "decimal"], "lone": ["text", "int", "bool"],
    "whole": ["int", "float", "bool", "long"], "real": ["float", "int", "decimal"], "flag": ["bool", "int", "text"],
    "age": ["int", "float", "bool", "text"], "big": ["long", "int"], "pay": ["float", "int", "decimal"],
    "born": ["date", "time", "text"], "seen": ["date", "time", "text"], "odd": ["date", "time", "text"],
    "hour": ["time", "date", "text"], "who": ["text", "int", "float"], "note": ["text", "int", "float", "date"],
}  # fmt: skip


def records(rng, n, odd):
    """Records as lists of cells; each column has a flavour, and about one record in three has a few odd cells."""
    flavours = [rng.choice(FLAVOURS[c]) for c in COLUMNS]
    out = []
    for i in range(n):
        row = [plain(rng, f) for f in flavours]
        row[COLUMNS.index("who")] = rng.choice([f"p{i % 5}", i % 5, float(i % 5)])
        if rng.random() < 0.35:
            for _ in range(rng.randint(1, 3)):
                row[rng.randrange(len(row))] = rng.choice(odd)
        out.append(row)
    return out


# ---- readers: from records to what is read


def columns_of(rows):
    """Columns of records; of no records too."""
    return [list(c) for c in zip(*rows, strict=True)] if rows else [[] for _ in COLUMNS]


def pandas_frame(rows, rng):
    """What somebody gets who makes a frame: pandas chooses the types, or columns are objects."""
    made = {
        name: pd.Series(values, dtype=object) if rng.random() < 0.3 or not _held(values) else pd.Series(values)
        for name, values in zip(COLUMNS, columns_of(rows), strict=True)
    }
    frame = pd.DataFrame(made, columns=COLUMNS)
    if rng.random() < 0.3:
        name = rng.choice(COLUMNS)
        if all(isinstance(v, str) for v in frame[name]):
            frame[name] = frame[name].astype("category")
    return to_arrow(frame)


def _held(values):
    """Whether pandas' own choice of a type changes no cell: it turns whole numbers beside blanks into floats.

    pandas 3 refuses half a pair of UTF-16 in its own type of text; such columns are objects.
    """
    if any(isinstance(v, str) and not v.isascii() and any("\ud800" <= c <= "\udfff" for c in v) for v in values):
        return False
    whole = any(isinstance(v, int | np.integer) and abs(int(v)) > 2**53 for v in values)
    dates = {type(v) for v in values} & {datetime.date, datetime.datetime, pd.Timestamp, np.datetime64}
    return not (whole or dates or any(isinstance(v, np.floating) for v in values))


def polars_frame(rows, rng):
    """Columns of one type where all cells have it, else of text; eager or lazy."""
    made = {n: pl.Series(n, contained(c, rng).to_pylist()) for n, c in zip(COLUMNS, columns_of(rows), strict=True)}
    frame = pl.DataFrame(made)
    return to_arrow(frame.lazy() if rng.random() < 0.5 else frame)


def contained(values, rng):
    """The cells in some Arrow type that holds them all exactly."""
    kinds = {type(v) for v in values} - {type(None)}
    texts = pa.array([None if v is None else as_text(v) for v in values], pa.string())
    fits = [texts, texts.cast(pa.large_string()), texts.dictionary_encode(), texts.cast(pa.string_view())]
    candidates = {
        int: [pa.int64(), pa.int32(), pa.uint64(), pa.float64(), pa.decimal128(38, 3), pa.decimal256(60, 0)],
        float: [pa.float64()],
        bool: [pa.bool_()],
        decimal.Decimal: [pa.decimal128(30, 8), pa.decimal256(50, 20), pa.decimal128(38, 10)],
        datetime.date: [pa.date32(), pa.date64()],
        datetime.datetime: [pa.timestamp(u) for u in ("s", "ms", "us", "ns")],
        datetime.time: [pa.time64("us"), pa.time64("ns"), pa.time32("ms")],
        np.float32: [pa.float32()],
    }
    for kind in candidates.get(next(iter(kinds)), []) if len(kinds) == 1 else []:
        try:
            made = pa.array(values, kind)
        except (pa.ArrowException, OverflowError, ValueError, TypeError):
            continue
        if made.to_pylist() == values or all(_same(a, b) for a, b in zip(made.to_pylist(), values, strict=True)):
            fits += [made, made]
    return rng.choice(fits)


def _same(a, b):
    return a == b or repr(a) == repr(b) == "nan"


def as_text(value):
    """How somebody writes a cell as text, independently of the code under test."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if math.isnan(value):
            return ""
        return str(int(value)) if math.isfinite(value) and value == value // 1 else repr(value).replace("e-0", "e-")
    if isinstance(value, decimal.Decimal):
        text = format(value, "f")
        text = text.rstrip("0").rstrip(".") if "." in text else text
        return "0" if text == "-0" else text
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ").removesuffix("000") if value.microsecond else value.isoformat(sep=" ")
    if isinstance(value, datetime.time):
        return value.isoformat().rstrip("0") if value.microsecond else value.isoformat()
    return str(value)


ARROW_ODD = [None, "", " ", *TEXTS, *(v for v in TYPED if not (isinstance(v, decimal.Decimal) and not v.is_finite()))]


def arrow_table(rows, rng):
    """A pyarrow table with chunks of several sizes."""
    table = pa.table([contained(c, rng) for c in columns_of(rows)], names=COLUMNS)
    if table.num_rows > 1 and rng.random() < 0.5:
        at = rng.randrange(table.num_rows)
        return to_arrow(pa.concat_tables([table.slice(0, at), table.slice(at)]))
    return to_arrow(table)


def parquet(rows, rng):
    """The same through a Parquet file."""
    out = io.BytesIO()
    table = pa.table([_stored(contained(c, rng)) for c in columns_of(rows)], names=COLUMNS)
    pq.write_table(table, out, row_group_size=rng.choice([2, 1000]))
    return read(out.getvalue()).table


def _stored(array):
    return array.cast(pa.string()) if pa.types.is_string_view(array.type) else array


def excel(rows, rng):
    """A sheet; rows may be longer or shorter than the header."""
    book = openpyxl.Workbook()
    book.active.append(COLUMNS)
    for row in rows:
        book.active.append(row)
    out = io.BytesIO()
    book.save(out)
    return read(out.getvalue()).table


def _in_a_sheet(value):
    """Whether the library that writes sheets can write the cell."""
    if isinstance(value, str):
        return all(c in "\t\n" or 32 <= ord(c) < 0xFFFE for c in value) and len(value) < 30_000
    if isinstance(value, datetime.date):
        return 1901 < value.year < 9000
    if isinstance(value, decimal.Decimal):
        return value.is_finite()
    return not isinstance(value, int | float) or abs(value) < 1e300


EXCEL_ODD = [v for v in [None, "", " ", *TEXTS, *TYPED] if _in_a_sheet(v)]


def sqlite(rows, rng):
    """A table without declared types, where each cell keeps its own."""
    path = rng.path / "t.sqlite"
    path.unlink(missing_ok=True)
    with sqlite3.connect(path) as connection:
        connection.execute(f"CREATE TABLE t ({', '.join(chr(34) + c + chr(34) for c in COLUMNS)})")
        marks = ",".join("?" * len(COLUMNS))
        connection.executemany(f"INSERT INTO t VALUES ({marks})", [[_lite(v) for v in row] for row in rows])
        connection.execute("UPDATE t SET note = CAST(x'ff41' AS TEXT), text = note WHERE text = 'unknown'")
    connection.close()
    return read_database(Database.of(path), table="t")


def _lite(value):
    known = isinstance(value, str | bytes | float | type(None)) or (
        isinstance(value, int) and -(2**63) <= value < 2**63
    )
    return value if known else as_text(value)


SQLITE_ODD = [v for v in [*BLANK[:5], *TEXTS, *TYPED, b"x", b"\xff"] if not isinstance(v, decimal.Decimal)]

TYPES = {
    "text": ("VARCHAR", ["a", "é", "e\u0301", "", " ", "nan", "\ufeffa"]), "lone": ("BOOLEAN", [True, False]),
    "whole": ("HUGEINT", [0, 1, 2, 2**53 + 1, 2**70, -(2**70)]), "real": ("DOUBLE", [0.5, 1.0, 1e20, math.nan, 1e-7]),
    "flag": ("TINYINT", [0, 1, 2]), "age": ("DECIMAL(9,2)", [1, decimal.Decimal("7.25"), 99]),
    "big": ("BIGINT", [*BIG, 2**63 - 1, -(2**63)]), "pay": ("FLOAT", [0.1, 0.5, 0.3, float("inf"), float("nan")]),
    "born": ("DATE", [datetime.date(2020, 1, 31), "infinity", "-infinity", "12020-01-01"]),
    "seen": ("TIMESTAMP", ["2020-01-31 10:00:00.5", "infinity", "0001-01-01 00:00:00", "290000-01-01 00:00:00"]),
    "odd": ("DATE", [datetime.date(2020, 1, 12), datetime.date(2020, 2, 3)]),
    "hour": ("TIMESTAMPTZ", ["2020-01-31 10:00:00+05:30", "2020-01-31 10:00:00Z", "2031-01-01 00:00:00Z"]),
    "who": ("UUID", [str(uuid.UUID(int=i)) for i in range(4)]), "note": ("TIME", ["10:00:00", "10:00:00.5"]),
}  # fmt: skip


def chosen_by(ids):
    """A query for these records, as often as they are listed."""
    names = ", ".join(f't."{c}"' for c in COLUMNS)
    if not ids:
        return f"SELECT {names} FROM t WHERE i < 0"
    return f"SELECT {names} FROM t JOIN (VALUES {', '.join(f'({i})' for i in ids)}) AS v(n) ON v.n = t.i"


class Duckdb:
    """A database with a table of declared types and their extremes; what is read of it is a query."""

    def __init__(self, rng, size):
        import duckdb as driver

        self.path = rng.path / f"{next(rng.numbers)}-{rng.random()}.duckdb"
        columns = ", ".join(f'"{c}" {TYPES[c][0]}' for c in COLUMNS)
        with driver.connect(str(self.path)) as connection:
            connection.execute(f"CREATE TABLE t (i INTEGER, {columns})")
            for i in range(size):
                row = [None if rng.random() < 0.1 else rng.choice(TYPES[c][1]) for c in COLUMNS]
                connection.execute(f"INSERT INTO t VALUES ({','.join('?' * (len(COLUMNS) + 1))})", [i, *row])

    def __call__(self, ids, rng):
        return read_database(Database.of(self.path), query=chosen_by(ids), vouched=True)


# ---- text files: a record is a line of bytes

GARBAGE = [
    b"\x81", b"\xff\xfe", b"\xed\xa0\x80", b"\xc3", b"\xe2\x82", b"\xf0\x9f\x98", b"\xef\xbb\xbf", b"\0", b'"', b'""',
    b'"a', b'a"', b'"a"b', b",", b",,", b";", b"\t", b"|", b"\x1a", b"\x0b", b"\x85", b"\xa0", b"'", b"\\", b'\\"',
]  # fmt: skip


def lines(rng, n, delimiter):
    """Records as lines: ordinary ones, ones with odd cells, torn ones, and bytes at random."""
    out = []
    for row in records(rng, n, [*BLANK[:4], *TEXTS, *TYPED]):
        cells = [_quoted("" if v is None or v is pd.NA or v is pd.NaT else as_text(v), rng, delimiter) for v in row]
        line = delimiter.encode().join(cells)
        way = rng.random()
        if way < 0.1:
            line = delimiter.encode().join(cells[: rng.randrange(len(cells))])
        elif way < 0.2:
            line += delimiter.encode() + rng.choice([b"", b"x", b"1"])
        elif way < 0.35:
            at = rng.randrange(len(line) + 1)
            line = line[:at] + rng.choice(GARBAGE) + line[at:]
        elif way < 0.4:
            line = bytes(rng.randrange(256) for _ in range(rng.randrange(40)))
        elif way < 0.42:
            line = delimiter.encode().join([b"x" * 9_000, *cells[1:]])
        out.append(line.replace(b"\r", b"").replace(b"\n", b""))
    return out


def _quoted(text, rng, delimiter):
    if rng.random() < 0.2 or ((delimiter in text or '"' in text) and rng.random() < 0.8):
        text = '"' + text.replace('"', '""') + '"'
    return text.encode("utf-8", "replace")


class Form:
    """A public form of text files, and how one is read: delimiter, line end, encoding, by path or packed."""

    def __init__(self, rng):
        self.delimiter = rng.choice([",", ";", "\t", "|"])
        self.end = rng.choice([b"\n", b"\r\n", b"\r"])
        self.encoding = rng.choice([None, None, "utf-8", "cp1252", "latin-1", "shift_jis", "gb18030"])
        self.mark = rng.choice([b"", b"", b"\xef\xbb\xbf"]) if self.encoding in (None, "utf-8") else b""
        self.way = rng.choice(["bytes", "bytes", "path", "gzip"])
        self.decimal = rng.choice([None, ".", ","])

    def __call__(self, rows, rng):
        header = self.delimiter.join(COLUMNS).encode()
        body = self.end.join([header, *rows]) + rng.choice([b"", self.end]) * (not rows or rows[-1] != b"")
        data = self.mark + body
        options = {"encoding": self.encoding, "decimal": self.decimal}
        if rng.random() < 0.5:
            options["delimiter"] = self.delimiter
        if self.way == "gzip":
            return read(gzip.compress(data, 1), name="t.csv.gz", **options).table
        if self.way == "path":
            path = rng.path / "t.csv"
            path.write_bytes(data)
            return read(path, **options).table
        return read(data, name="t.csv", **options).table


# ---- the harness


class Chance(random.Random):
    """Seeded, with a folder for files."""

    def __init__(self, seed, path):
        super().__init__(seed)
        self.path, self.numbers = path, itertools.count()


ODD = {
    "pandas": [*BLANK, *TEXTS, *TYPED, *OBJECTS], "polars": ARROW_ODD, "pyarrow": ARROW_ODD, "parquet": ARROW_ODD,
    "excel": EXCEL_ODD, "sqlite": SQLITE_ODD,
}  # fmt: skip
READERS = {
    "pandas": pandas_frame, "polars": polars_frame, "pyarrow": arrow_table, "parquet": parquet, "excel": excel,
    "sqlite": sqlite,
}  # fmt: skip
KINDS = ("text", "duckdb", *READERS)


def pool_of(kind, rng, size):
    """A reader and records for it."""
    if kind == "text":
        form = Form(rng)
        return form, lines(rng, size, form.delimiter)
    if kind == "duckdb":
        return Duckdb(rng, size), list(range(size))
    rows = records(rng, size, ODD[kind])
    if kind == "excel":  # a note beside the table
        rows = [[*row, "a note"] if rng.random() < 0.1 else row for row in rows]
    return READERS[kind], rows


def recordwise(kind, seed, path, *, pool=20, tables=12):
    """Runs one pool of records through a reader; the number of cases. Raises Alarm with the seed."""
    rng = Chance(f"{kind} {seed}", path)
    reader, rows = pool_of(kind, rng, pool)
    return compared(kind, seed, rng, reader, rows, tables)


def compared(kind, seed, rng, reader, rows, tables):
    """Reads every record alone and some together; the number of cases. Raises Alarm where they differ."""
    pool, schema = len(rows), rng.choice(SCHEMAS)
    alone = [taken(kind, seed, reader, [row], rng, schema) for row in rows]
    cases = 0
    for _ in range(tables):
        chosen = [rng.randrange(pool) for _ in range(rng.choice([0, 2, 4, 8, 20, 60]))]
        together = taken(kind, seed, reader, [rows[i] for i in chosen], rng, schema)
        apart = Counter()
        for i in chosen:
            apart.update(alone[i])
        alarm(together != apart, f"{kind}, seed {seed}: the records of a table are read otherwise than each alone")
        cases += len(chosen)
    return cases


def taken(kind, seed, reader, rows, rng, schema):
    """What becomes of a table. Raises Alarm where it is refused, or fails: both are exact answers about the data."""
    try:
        return seen(reader(rows, rng), schema)
    except Exception as error:
        raise Alarm(f"{kind}, seed {seed}: a table is refused: {type(error).__name__}: {error}") from error
