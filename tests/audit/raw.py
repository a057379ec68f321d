"""T1 to T3 from raw tables: neighbours are bytes, frames and databases, and only then codes.

The tables of the small world are written as cells, the canary's in odd ways, read by every reader, and encoded. A
reader or codec that reads anybody's cells by anybody else's makes codes that differ in more than the canary's records,
and an access then moves by more than is charged.
"""

import datetime
import io
import tempfile
from functools import partial
from pathlib import Path
from unittest import mock

import numpy as np
import pyarrow.parquet as pq

from dpsyn_core.errors import DPSynError
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.document import Schema
from tests.audit import whole
from tests.audit.gates import Alarm
from tests.audit.layers import alarm, t2, t3
from tests.audit.readers import READERS, WITHOUT_BYTES, delimited, typed
from tests.audit.world import BASE, CANARIES, DOMAIN, Pair
from tests.schema.helpers import cat, date, num
from tests.tables.reading import read

NAMES = ("a", "b", "c", "d", "ignored")
SCHEMA = Schema.of(
    {
        "version": 1,
        "name": "world",
        "attributes": [
            cat("a", [0, 1, 2], ordered=True),
            cat("b", [False, True]),
            date("c", "2020-01-01", "2020-03-31", "month", formats=["%d/%m/%Y"], missing=True),
            cat("d", ["x", "é"], other=True),
        ],
    }
)
DAYS = [datetime.date(2020, 1, 5), datetime.date(2020, 2, 5), datetime.date(2020, 3, 5), None]
PLAIN = {"a": [0, 1, 2], "b": [False, True], "c": DAYS, "d": ["x", "é", "rare"], "ignored": ["n"]}
# the same codes, written otherwise: text among numbers, numbers among booleans, bytes that are not UTF-8
ODD = {"a": ["0", "1.0", 2.0], "b": [0, "true"], "c": ["05/01/2020", "2020-02-05", "05/03/2020", "unknown"]}
ODD |= {"d": ["x", "e\u0301", b"\x81"], "ignored": [b"\xff\x81"]}


def cells(record, way, kind):
    """A record of codes as cells."""
    row = [way[name][min(code, len(way[name]) - 1)] for name, code in zip(NAMES, [*record, 0], strict=True)]
    return [v.decode("latin-1") if isinstance(v, bytes) and kind in WITHOUT_BYTES else v for v in row]


def encoded(kind, rows, folder):
    """Codes of raw records."""
    return or_alarm(kind, lambda: Codec(SCHEMA).encode(READERS[kind](NAMES, rows, folder)).codes)


def or_alarm(kind, make):
    """What is made. Raises Alarm where it is refused: that is an exact answer about the data."""
    try:
        return make()
    except DPSynError as error:
        raise Alarm(f"{kind}: a table is refused: {error}") from error


def pairs(kind):
    """Pairs of the small world that were raw tables: the individual in question is written in odd ways."""
    assert DOMAIN.sizes == SCHEMA.domain().sizes

    def made(neighbours):
        out = []
        with tempfile.TemporaryDirectory() as name:
            for canary, (records, theta) in CANARIES.items():
                gone = [[0, 0, 1, 0]] * theta if neighbours == "replace" else []
                base = [cells(r, PLAIN, kind) for r in BASE[:-1]]
                sides = [
                    encoded(kind, [*base[:5], *(cells(r, way, kind) for r in more), *base[5:]], Path(name))
                    for more, way in ((gone, PLAIN), (records, ODD))
                ]
                alarm(sides[1].shape[1] - sides[0].shape[1] != len(records) - len(gone), f"{kind}: records are lost")
                out.append(Pair(f"{canary} from {kind}", *sides, Unit(neighbours=neighbours, max_records=theta)))
        return out

    return made


def t2_raw(kind, system="independent"):
    """T2 on neighbours that were raw tables."""
    t2(system, seeds=(0,), pairs_of=pairs(kind))


def t3_raw(kind, runs=100, system="independent"):
    """T3 on neighbours that were raw tables."""
    t3(system, runs=runs, pairs_of=pairs(kind))


def t2_damaged_text():
    """Text of a Parquet file that is not UTF-8 changes the codes of no other record, and refuses nothing."""
    out = io.BytesIO()
    rows = [cells(r, PLAIN, "parquet") for r in [*BASE, [0, 0, 0, 1]]]
    pq.write_table(typed(NAMES, rows), out)
    damaged = out.getvalue().replace("é".encode(), b"\xff\xff")
    codes = or_alarm("parquet", lambda: Codec(SCHEMA).encode(read(damaged).table).codes)
    alarm((np.array([*BASE, [0, 0, 0, 1]])[:, :3] != codes[:3].T).any(), "parquet: other cells are read otherwise")


def t2_decimal_comma():
    """A number with a decimal comma changes the codes of no other one."""
    declared = Schema.of({"version": 1, "name": "t", "attributes": [num("a", 0, 9, 10, "float", missing=True)]})
    codes = [
        or_alarm("text", lambda d=data: Codec(declared).encode(read(d).table).codes[0, :2].tolist())
        for data in (b"a;b\n3,5e0;1\n4.5;1\n", b"a;b\n3,5e0;1\n4.5;1\n2,5;1\n")
    ]
    alarm(codes[0] != codes[1], "text: a decimal comma changes how other cells are read")


# ---- whole releases

PEOPLE = ("who", "city", "age", "smokes")
TABLES = {
    "nobody": [],
    "one": [("p1", "rome", 4, "yes")],
    "some": [(f"p{i % 9}", ["rome", "oslo"][i % 2], i % 100, ["no", "yes"][i % 3 > 0]) for i in range(40)],
    "odd": [("p1", "atlantis", 1e30, True), (None, "rome", 3, "no"), ("  ", "e\u0301", "x", 0), (7.0, None, 4.5, "")],
    "nameless": [("", "rome", 4, "yes")] * 5,
}
TORN = b'who,city,age,smokes\np1,rome,4,yes\n\n"p2,oslo\np3\n\xff,\x81,\0,9\n,,,\np4,rome,5,no,more\n'


def t1_raw(kind):
    """A whole release under a constant tape is the same for raw tables that have nothing in common."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        makers = [partial(READERS[kind], PEOPLE, rows, folder) for rows in TABLES.values() if rows or kind != "pandas"]
        if kind == "csv":
            makers += [lambda: read(TORN, name="t.csv").table, lambda: read(delimited(PEOPLE, []), name="t.csv").table]
        tables = [or_alarm(kind, make) for make in makers]
        seen = [whole.taped(table, "independent") for table in (tables[0], *tables)][1:]
    alarm(any(s != seen[0] for s in seen), f"a whole release from {kind}: the output depends on the table")


def t2_nameless(kind):
    """Records without a name are nobody's: they change nothing that is counted."""
    everyone = [(f"p{i % 20}", ["rome", "oslo"][i % 2], i, "no") for i in range(60)]
    if kind == "pandas":  # names that are numbers: one blank makes them floats
        everyone = [(int(w[1:]), *rest) for w, *rest in everyone]
    nameless = [(None, "rome", 1, "yes"), (float("nan"), "oslo", 2, "yes")] if "pandas" in kind else []
    nameless = nameless or [("", "rome", 1, "yes"), (" \t"[:1], "oslo", 2, "yes"), (None, "oslo", 3, "yes")]
    counted = []
    key = mock.patch("dpsyn_core.measure.sources.bounding.os.urandom", lambda n: bytes(range(n)))
    with tempfile.TemporaryDirectory() as name, key:
        for more in ([], nameless[:1], nameless * 4):
            table = or_alarm(kind, partial(READERS[kind], PEOPLE, [*everyone, *more], Path(name)))
            whole.Diary.pages = []
            or_alarm(kind, partial(whole.outcome, table, whole.schema(), gate=whole.Diary))
            counted.append([exact for exact, _ in whole.Diary.pages])
    same = all((a == b).all() for page in counted[1:] for a, b in zip(page, counted[0], strict=True))
    alarm(not same, f"{kind}: records without a name move what is counted")
