"""Sheets of workbooks: merged cells, letters of columns, days and durations, headers, and what is no workbook."""

import datetime
import io
import zipfile

import pytest
from openpyxl import Workbook

from dpsyn_core.errors import TableError
from dpsyn_core.tables.excel import _column_number, cell, sheets
from dpsyn_core.tables.read import open_table
from dpsyn_core.tables.read_form import ReadForm


def book(*rows, merges=(), names=("first",)):
    made = Workbook()
    made.active.title = names[0]
    for name in names[1:]:
        made.create_sheet(name)
    for row in rows:
        made.active.append(row)
    for merge in merges:
        made.active.merge_cells(merge)
    raw = io.BytesIO()
    made.save(raw)
    return raw.getvalue()


def read(raw, **form):
    return open_table(raw, ReadForm(**form), name="t.xlsx")


def test_letters_of_columns_are_numbers_to_the_base_of_26():
    assert [_column_number(x) for x in ("A", "Z", "AA", "AZ", "BA", "ZZ", "AAA", "XFD")] == [
        1, 26, 27, 52, 53, 702, 703, 16_384,
    ]  # fmt: skip


def test_cells_that_are_merged_downwards_hold_what_the_uppermost_shows():
    rows = [["k", "v", "w"], ["x", 1, "p"], [None, 2, "q"], [None, 3, "r"], ["y", 4, None], [None, None, None]]
    found = read(book(*rows, merges=["A2:A4", "C4:C6"])).whole()
    assert found["k"].to_pylist() == ["x", "x", "x", "y"] and found["v"].to_pylist() == ["1", "2", "3", "4"]
    assert found["w"].to_pylist() == ["p", "q", "r", "r"], "a record over merged rows is one record"
    wide = read(book(["k", "v"], ["x", None], [1, 2], merges=["A2:B2"])).whole()
    assert wide["v"].to_pylist() == ["", "2"], "to the right nothing is filled"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3.0, "3"), (3.25, "3.25"), (True, "true"), (None, ""), ("x", "x"),
        (datetime.datetime(2020, 1, 2), "2020-01-02"), (datetime.datetime(2020, 1, 2, 0, 0, 1), "2020-01-02 00:00:01"),
        (datetime.timedelta(hours=26, minutes=3), "26:03:00"), (datetime.timedelta(seconds=-61), "-00:01:01"),
        (datetime.timedelta(seconds=59.6), "00:01:00"), (datetime.timedelta(hours=1, seconds=3599), "01:59:59"),
    ],
)  # fmt: skip
def test_a_cell_is_text_as_people_read_it(value, text):
    assert cell(value) == text


def test_headers_end_with_the_last_one_and_may_take_several_rows_or_begin_lower():
    found = read(book(["a", "b", None, ""], [1, 2, 3, 4], [5]))
    assert found.whole().to_pydict() == {"a": ["1", "5"], "b": ["2", ""]}
    lower = read(book(["title"], ["a", "b"], [1, 2]), header_row=2).whole()
    assert lower.to_pydict() == {"a": ["1"], "b": ["2"]}
    double = read(book(["x", "y"], ["m", "f"], [1, 2]), header_lines=2).whole()
    assert double.num_rows == 1 and double.num_columns == 2
    with pytest.raises(TableError, match="the file has fewer"):
        read(book(["x", "y"]), header_lines=2)
    given = read(book([1, 2], [3, 4]), header="a,b").whole()
    assert given.to_pydict() == {"a": ["1", "3"], "b": ["2", "4"]}


def test_other_sheets_are_named_five_of_them():
    names = [f"s{i}" for i in range(7)]
    raw = book(["a"], [1], names=names)
    assert sheets(raw) == tuple(names)
    said = str(read(raw).notices[0])
    assert "'s1', 's2', 's3', 's4', 's5' ..." in said and "'s6'" not in said and "7" in said
    assert "..." not in str(read(book(["a"], [1], names=names[:6])).notices[0])
    assert not read(book(["a"], [1])).notices and not read(raw, sheet="s0").notices
    with pytest.raises(TableError, match="has no sheet 'x'; it has s0, s1"):
        read(raw, sheet="x")


@pytest.mark.parametrize(("rows", "strict", "said"), [
    ([["a"]], True, "no records below its headers"), ([], False, "has no cells"), ([["a"]], False, ""),
])  # fmt: skip
def test_a_sheet_without_records_is_refused_only_where_that_is_asked_for(rows, strict, said):
    if said:
        with pytest.raises(TableError, match=said):
            read(book(*rows), strict=strict)
    else:
        assert read(book(*rows)).whole().num_rows == 0


@pytest.mark.parametrize(
    ("name", "said"),
    [("word/document.xml", "a Word document"), ("ppt/presentation.xml", "a presentation"),
     ("Index/Document.iwa", "an Apple file"), ("content.xml", "OpenDocument"), ("x.csv", "a zip archive and not")],
)  # fmt: skip
def test_other_archives_are_called_what_they_are(name, said):
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        archive.writestr(name, "x")
    with pytest.raises(TableError, match=said):
        sheets(raw.getvalue())
    with pytest.raises(TableError, match="damaged archive"):
        sheets(raw.getvalue()[:20])
