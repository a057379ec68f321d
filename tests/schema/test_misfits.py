"""The owner sees what a schema does not describe: how many cells, where, a few of them, and where a run takes them."""

import pyarrow as pa
import pytest

from dpsyn_core.schema.checks import check
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.misfit import misfits, readable, unreadable_records
from dpsyn_core.tables.read import read_table
from tests.schema.helpers import cat, date, num, schema

TABLE = pa.table(
    {
        "sex": ["F", "M", "X", "X", "", "F"],
        "age": ["1", "200", "x", "", "999", "3"],
        "born": ["2020-01-31", "1800-01-01", "soon", None, "2020", "2020"],
        "who": ["p1", "p2", " ", "p4", None, "p5"],
    }
)
UNIT = {"identifier": "who", "max_records": 1}


def listed(*attributes, **more):
    s = schema(*attributes, **more)
    return [(m.about, m.what, m.count, m.goes, m.few) for m in misfits(s, TABLE)]


def test_misfits_are_counted_shown_and_said_to_go_where_the_codec_takes_them():
    found = listed(
        cat("sex", ["F", "M"], other=True), num("age", 0, 99, 100, special_values=[999], missing=True),
        date("born", "1900-01-01", "2030-12-31", "year"), {"name": "who", "kind": "identifier"}, unit=UNIT,
    )  # fmt: skip
    assert found == [
        ("sex", "blank cells", 1, "other", ()),
        ("sex", "cells that are not in its list of values", 2, "other", ("X",)),
        ("age", "cells that are not numbers", 1, "missing", ("x",)),
        ("age", "cells outside its range", 1, "nearest end", ("200",)),
        ("born", "blank cells", 1, "left out", ()),
        ("born", "cells that are not dates", 1, "left out", ("soon",)),
        ("born", "cells outside its range", 1, "nearest end", ("1800-01-01",)),
        ("who", "records without a name", 2, "left out", ()),
    ]


@pytest.mark.parametrize(
    ("cells", "goes", "codes"),
    [
        ({"other": True, "missing": True}, {"other"}, [0, 1, 2, 2, 3, 0]),
        ({"missing": True}, {"missing"}, [0, 1, 2, 2, 2, 0]),
        ({"other": True}, {"other"}, [0, 1, 2, 2, 2, 0]),
        ({}, {"left out"}, [0, 1, 0]),
    ],
)
def test_a_misfit_goes_to_other_then_to_missing_and_else_its_record_is_left_out(cells, goes, codes):
    s = schema(cat("sex", ["F", "M"], **cells))
    assert {m.goes for m in misfits(s, TABLE)} == goes
    assert Codec(s).encode(TABLE).codes[0].tolist() == codes


def test_a_table_that_fits_has_no_misfits():
    assert listed(cat("sex", ["F", "M", "X", ""]), date("born", "1700-01-01", "2030-12-31", "year", missing=True))[
        :1
    ] == [("born", "cells that are not dates", 1, "missing", ("soon",))]
    assert listed(cat("sex", ["F", "M", "X", ""])) == []


def test_the_mends_are_said_and_strict_makes_errors_of_what_it_refuses():
    s = schema(cat("sex", ["F", "M"]), num("age", 0, 99, 100, missing=True))
    texts = {(f.about, f.level): f.text for f in check(s, TABLE) if f.about in ("sex", "age")}
    assert "declare other: true, or accept" in texts["sex", "warning"]
    assert "widen min and max" in texts["age", "note"]
    assert {f.about for f in check(s, TABLE, strict=True) if f.level == "error"} == {"sex"}


def test_lines_that_could_not_be_read_are_counted():
    table = read_table(b"a,b\n1,2\n1\n1,2,3\n4,5\n")
    assert unreadable_records(table) == 2 and unreadable_records(TABLE) == 0
    assert readable(table).to_pydict() == {"a": ["1", "4"], "b": ["2", "5"]} and readable(TABLE) is TABLE
    assert "records that could not be read (2)" in next(f.text for f in check(schema(cat("a", [1], other=True)), table))
