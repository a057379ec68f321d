"""Times of day and durations written 00:12:33: numbers of seconds, read and written cell by cell."""

import datetime
import io
import warnings

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from openpyxl import Workbook

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.drafts.confirmation import confirm
from dpsyn_core.schema.drafts.draft import draft
from dpsyn_core.schema.drafts.proposals import agreed, propose
from dpsyn_core.tables.cells import amounts
from dpsyn_core.tables.cells import numbers as casting
from dpsyn_core.tables.read import open_table


def texts(*cells):
    return pa.array(cells, pa.string())


@pytest.mark.parametrize(
    ("example", "cell", "number"),
    [
        ("00:12:33", "00:12:33", 753),
        ("0:12:33", "100:00:01", 360_001),
        ("12:34", "07:05", 425),
        ("12:34:56", "'07:05:00", 25_500),
        ("12:34:56", "-00:00:05", -5),
        ("1:34 PM", "1:05 PM", 785),
        ("1:34 PM", "12:05 am", 5),
        ("01:34:56PM", "12:00:01PM", 43_201),
    ],
)
def test_a_cell_is_a_number_of_the_last_part(example, cell, number):
    values, valid = casting.to_numbers(texts(cell), whole=True, written=example)
    assert valid.all()
    assert values.tolist() == [number]


@settings(deadline=None)
@given(some.lists(some.integers(0, 1439), min_size=1, max_size=8), some.sampled_from(["1:34 PM", "01:34pm", "1:34 am"]))
def test_times_of_twelve_hours_are_read_and_written_again(numbers, example):
    form = amounts.form(example)
    written = amounts.written(np.array(numbers), form, None)
    assert casting.to_numbers(written, whole=True, written=example)[0].tolist() == numbers
    assert form.example() == example and amounts.recognised(written).clock[-2:].lower() in ("am", "pm")


def test_times_of_twelve_hours_are_drafted_over_the_whole_day():
    cells = [f"{i % 12 + 1}:{i * 7 % 60:02d} {'AP'[i % 2]}M" for i in range(400)]
    table = pa.table({"at": texts(*cells), "x": ["a", "b"] * 200})
    found = draft(table, "t")
    document = propose(found, table)[0].document
    assert (document["min"], document["max"], document["written"]) == (0, 1439, "1:34 AM")
    assert casting.to_numbers(texts("13:05 PM", "0:05 PM"), whole=True, written="1:34 PM")[1].tolist() == [False, False]


@pytest.mark.parametrize("cell", ["12:60:00", "12:34", "12:34:5", "1 day", "", "12:34:56 pm"])
def test_other_cells_are_no_times(cell):
    _, valid = casting.to_numbers(texts(cell, "00:00:00"), whole=True, written="12:34:56")
    assert valid.tolist() == [False, True]


@settings(deadline=None)
@given(
    some.lists(some.integers(-400_000, 4_000_000), min_size=1, max_size=8),
    some.sampled_from(["00:12:33", "0:12:33", "12:34"]),
)
def test_what_is_written_is_read_again(numbers, example):
    form = amounts.form(example)
    written = amounts.written(np.array(numbers), form, None)
    values, valid = casting.to_numbers(written, whole=True, written=example)
    assert valid.all()
    assert values.tolist() == numbers
    assert amounts.form(form.example()) == form


def test_hours_are_as_wide_as_in_the_example():
    assert amounts.written(np.array([753, 0]), amounts.form("00:12:33"), np.array([False, True])).to_pylist() == [
        "00:12:33",
        None,
    ]
    assert amounts.written(np.array([753]), amounts.form("0:12:33"), None).to_pylist() == ["0:12:33"]


@pytest.mark.parametrize("example", ["12:34:56:78", ":34", "12:3", "12:99"])
def test_an_example_that_is_no_time_is_refused(example):
    with pytest.raises(SchemaError, match="does not show how numbers are written"):
        amounts.form(example)


def test_a_column_of_calls_is_kept_and_comes_back_as_it_was():
    rng = np.random.default_rng(3)
    lasted, began = rng.integers(0, 1500, 1000), rng.integers(0, 86_400, 1000)
    words = [[f"{s // 3600:02d}:{s // 60 % 60:02d}:{s % 60:02d}" for s in column] for column in (lasted, began)]
    table = pa.table({"Duration": words[0], "Time": words[1]})
    schema = draft(table, "calls")
    schema = confirm(agreed(schema, propose(schema, table)), everything=True)
    lasting, at = schema.attributes
    assert (lasting.kind, lasting.min, lasting.max >= lasted.max()) == ("numeric", 0, True)
    assert (at.min, at.max, at.written) == (0, 86_399, "12:34:56")
    codec = Codec(schema)
    back = codec.decode(codec.encode(table).codes, rng=np.random.default_rng(0))
    assert all(len(cell) == 8 for name in ("Duration", "Time") for cell in back.column(name).to_pylist())
    seconds, valid = casting.to_numbers(back.column("Duration"), whole=True, written="12:34:56")
    assert valid.all()
    assert abs(seconds.mean() - lasted.mean()) < 5  # both lie in the same bins


def test_a_short_list_of_times_is_no_list_of_amounts():
    """Its mean would be a number of minutes, next to a file that has none."""
    table = pa.table({"start": [f"{6 + i % 3:02d}:{15 * (i % 4):02d}" for i in range(600)]})
    schema = draft(table, "t")
    [found] = propose(schema, table)
    assert found.document["kind"] == "categorical"
    assert not found.document.get("ordered")


def test_a_blank_is_written_as_one_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = amounts.written(np.array([753.0, np.nan]), amounts.form("00:12:33"), np.array([False, True]))
    assert made.to_pylist() == ["00:12:33", None]


def test_durations_of_a_workbook_are_times_of_more_than_a_day():
    made, out = Workbook(), io.BytesIO()
    made.active.append(["worked"])
    spans = [datetime.timedelta(hours=26, minutes=3), datetime.timedelta(seconds=61), datetime.timedelta(0)]
    for span in spans:
        made.active.append([span])
        made.active.cell(made.active.max_row, 1).number_format = "[h]:mm:ss"
    made.save(out)
    assert open_table(out.getvalue(), name="t.xlsx").whole()["worked"].to_pylist() == [
        "26:03:00",
        "00:01:01",
        "00:00:00",
    ]
