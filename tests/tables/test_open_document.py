"""OpenDocument spreadsheets: read as LibreOffice shows them, and refused where they are damaged or swell."""

import io
import random
import zipfile

import pytest

from dpsyn_core.errors import TableError
from dpsyn_core.tables.read import open_table, read_table
from dpsyn_core.tables.read_form import ReadForm
from tests.tables.test_damaged_workbooks import damaged, torn

NAMES = "office:1.0 table:1.0 text:1.0 style:1.0"
SPREADSHEET = "application/vnd.oasis.opendocument.spreadsheet"
CELL, BLANK = '<table:table-cell office:value-type="string"><text:p>', "<table:table-cell/>"


def text(*words):
    return "".join(f"{CELL}{w}</text:p></table:table-cell>" for w in words)


def value(kind, attribute, cell, shown="?"):
    return (
        f'<table:table-cell office:value-type="{kind}" office:{attribute}="{cell}"><text:p>{shown}</text:p>'
        "</table:table-cell>"
    )


def row(*cells, times=1):
    return f'<table:table-row table:number-rows-repeated="{times}">{"".join(cells)}</table:table-row>'


def ods(*sheets, mimetype=SPREADSHEET, before=""):
    """A file of sheets: name, whether it is hidden, and rows."""
    styles = '<style:style style:name="ta2"><style:table-properties table:display="false"/></style:style>'
    tables = "".join(
        f'<table:table table:name="{name}" table:style-name="ta{1 + hidden}">{"".join(rows)}</table:table>'
        for name, hidden, rows in sheets
    )
    spaces = " ".join(f'xmlns:{n.split(":")[0]}="urn:{n}"' for n in NAMES.split())
    content = f'<?xml version="1.0"?>{before}<office:document {spaces}>{styles}{tables}</office:document>'
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("mimetype", mimetype)
        file.writestr("content.xml", content)
    return out.getvalue()


FAR = '<table:table-cell table:number-columns-repeated="16384"/>'
CELLS = [
    row(text("age", "paid", "share", "when", "at", "ok", "note"), FAR),
    row(
        value("float", "value", "31"), value("currency", "value", "12.5"), value("percentage", "value", "0.25"),
        value("date", "date-value", "2024-02-29"), value("time", "time-value", "PT26H03M00S"),
        value("boolean", "boolean-value", "true"),
        "<table:table-cell><office:annotation><text:p>aside</text:p></office:annotation>"
        '<text:p>a<text:s text:c="2"/>b</text:p><text:p>c</text:p></table:table-cell>',
    ),
    row(value("float", "value", "2", "x"), BLANK, BLANK, value("date", "date-value", "2024-02-29T10:30:00"), times=2),
    row(FAR, times=1_048_000),
]  # fmt: skip


def test_a_sheet_is_read_with_its_values_and_not_as_they_are_shown(tmp_path):
    (tmp_path / "t.ods").write_bytes(ods(("hidden", True, [row(text("x"))]), ("t", False, CELLS)))
    assert read_table(tmp_path / "t.ods").to_pydict() == {
        "age": ["31", "2", "2"],
        "paid": ["12.5", "", ""],
        "share": ["0.25", "", ""],
        "when": ["2024-02-29", "2024-02-29 10:30:00", "2024-02-29 10:30:00"],
        "at": ["26:03:00", "", ""],
        "ok": ["true", "", ""],
        "note": ["a  b\nc", "", ""],
    }


def test_the_first_sheet_that_is_shown_is_read_unless_another_is_named():
    raw = ods(("h", True, [row(text("x")), row(text("1"))]), ("t", False, CELLS))
    found = open_table(raw, name="t.ods")
    assert found.sheets == ("h", "t") and "'t', one of 2; the others are 'h'" in str(found.notices[0])
    assert open_table(raw, ReadForm(sheet="h"), name="t.ods").columns == ("x",)
    with pytest.raises(TableError, match="no sheet 'z'; it has h, t"):
        open_table(raw, ReadForm(sheet="z"), name="t.ods")
    with pytest.raises(TableError, match="no sheet that is shown; it has h"):
        open_table(ods(("h", True, [row(text("x"))])), name="t.ods")


def test_cells_that_are_merged_downwards_all_hold_what_the_uppermost_shows():
    group = text("north").replace("table-cell ", 'table-cell table:number-rows-spanned="2" ', 1)
    covered = "<table:covered-table-cell/>"
    rows = [row(text("area", "n")), row(group, text("1")), row(covered, text("2")), row(BLANK, text("3"))]
    assert open_table(ods(("t", False, rows)), name="t.ods").whole()["area"].to_pylist() == ["north", "north", ""]


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (ods(("t", False, CELLS), mimetype="application/vnd.oasis.opendocument.text"), "no spreadsheet"),
        (ods(("t", False, CELLS), before='<!DOCTYPE a [<!ENTITY b "c">]>'), "document type or entities"),
        (
            ods(("t", False, [row(value("float", "value", "1"), times=2**20), *CELLS] * 99)),
            "cells for each of its bytes",
        ),
        (ods(("t", False, ["<table:table-row>"])), "damaged or has a password"),
        (ods(("t", False, [row(text("a" * 3_000_000))])), "inflates to more than 100 times"),
        (ods(), "no sheet that is shown; it has none"),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_sentence(raw, words):
    with pytest.raises(TableError, match=words):
        open_table(raw, name="t.ods")


@pytest.mark.parametrize("damage", [damaged, torn])
def test_a_damaged_file_is_read_or_refused_in_a_sentence(damage):
    rng, whole, refusals = random.Random(1), ods(("t", False, CELLS)), 0
    for _ in range(120):
        try:
            open_table(damage(whole, rng), name="t.ods").whole()
        except TableError:
            refusals += 1
    assert refusals


DOWN = (
    '<table:table-cell table:number-rows-spanned="{}" office:value-type="string"><text:p>{}</text:p></table:table-cell>'
)
COVERED = "<table:covered-table-cell/>"


@pytest.mark.parametrize(
    ("kind", "attribute", "cell"),
    [
        ("date", "date-value", "10000-01-01"),  # which LibreOffice writes, like days before the year 1
        ("date", "date-value", "-0044-03-15"),
        ("float", "value", "x"),
        ("boolean", "value", "true"),
    ],
)
def test_a_cell_without_a_value_is_what_it_shows_and_no_other_record_is_lost(kind, attribute, cell):
    rows = [row(text("a"), text("b")), row(value(kind, attribute, cell, "shown"), text("x")), row(text("1"), text("y"))]
    assert read_table(ods(("s", False, rows))).to_pydict() == {"a": ["shown", "1"], "b": ["x", "y"]}


def test_a_record_over_merged_rows_is_one_record():
    rows = [
        row(text("region", "town")),
        row(DOWN.format(3, "North"), DOWN.format(3, "Bern")),
        row(COVERED, COVERED, times=2),
        row(DOWN.format(4, "South"), text("Rome")),
        row(COVERED, text("Pisa")),
        row(COVERED, times=2),
    ]
    got = open_table(ods(("t", False, rows)), name="t.ods").whole()
    assert got.to_pydict() == {"region": ["North", "South", "South"], "town": ["Bern", "Rome", "Pisa"]}


def test_a_merged_cell_ends_where_it_is_said_to_end_although_rows_are_repeated():
    wide = text("w").replace("table-cell ", 'table-cell table:number-columns-spanned="2" ', 1)
    rows = [
        row(text("x", "y")),
        row(text("1"), DOWN.format(3, "South")),
        row(text("2"), COVERED, times=2),
        row(wide, COVERED),
    ]
    got = open_table(ods(("t", False, rows)), name="t.ods").whole()
    assert got.to_pydict() == {"x": ["1", "2", "2", "w"], "y": ["South", "South", "South", ""]}
