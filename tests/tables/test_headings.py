"""Headers over several lines: headings over groups, questions of surveys; hinted at, read alike in all ways."""

import io
import os
import zipfile

import pytest
from openpyxl import Workbook

from dpsyn_core.errors import TableError
from dpsyn_core.tables.headers import over
from dpsyn_core.tables.read_form import ReadForm
from dpsyn_core.tables.text import dialect
from dpsyn_core.tables.text.batches import text_batches
from dpsyn_core.tables.text.dialect import header_hint
from tests.tables.reading import read

MARKS = [["pupil", "", "maths", "", "sports", "days"], ["form", "sex", "1", "oral", "mark", ""]]
SURVEY = (
    'start,q1,q2\r\n"Start, at","How do\nyou travel?",Why\r\n'
    '"{""ImportId"":""s""}","{""ImportId"":""Q1""}","{""ImportId"":""Q2""}"\r\n'
    "2024-05-06,bus,x\r\n2024-05-07,car,y\r\n2024-05-08,bus,z\r\n"
)
GROUPS = "marks of 2024\n\n,pupil,,maths,\nrow,form,sex,first,oral\n" + "".join(f"{i},5a,m,2,3\n" for i in range(9))


def book(*rows):
    made, out = Workbook(), io.BytesIO()
    for row in rows:
        made.active.append(row)
    made.save(out)
    return out.getvalue()


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        (MARKS, ["pupil / form", "pupil / sex", "maths / 1", "maths / oral", "sports / mark", "days"]),
        ([["q1", "q2"], ["How?", "Why?"]], ["q1", "q2"]),  # names of their own
        ([["a", "a"], ["x", "y"]], ["a / x", "a / y"]),
        ([["2023", "", "2024", ""], ["h1", "h2", "h1", ""], ["n", "m", "n", "m"]],
         ["2023 / h1 / n", "2023 / h2 / m", "2024 / h1 / n", "2024 / h1 / m"]),
        ([["", "age"], ["id", "age"]], ["id", "age"]),
        ([["a"], ["x", "y"]], ["a / x", "a / y"]),
        ([["", ""], ["", ""]], ["", ""]),
    ],
)  # fmt: skip
def test_lines_of_headers_are_joined_unless_the_first_names_every_column(lines, names):
    assert over(lines) == names


def test_a_survey_is_hinted_at_and_read_without_its_questions(tmp_path):
    raw = SURVEY.encode()
    assert read(raw).header_hint == (1, 3, True)
    got = read(raw, header_lines=3, multiline=True)
    assert got.table.column_names == ["start", "q1", "q2"] and got.header_hint is None and not got.odd
    assert got.table["q2"].to_pylist() == ["x", "y", "z"]
    path = tmp_path / "s.csv"
    path.write_bytes(raw)
    assert text_batches(path, ReadForm(header_lines=3, multiline=True)).whole().equals(got.table)
    with pytest.raises(TableError, match="multiline"):
        read(raw, header_lines=3)


def test_headings_over_groups_are_hinted_at_below_a_title_and_read_alike(tmp_path):
    raw = GROUPS.encode()
    assert read(raw).header_hint == (2, 2, False)
    names = ["row", "pupil / form", "pupil / sex", "maths / first", "maths / oral"]
    got = read(raw, header_row=2, header_lines=2)
    assert got.table.column_names == names and got.table.num_rows == 9
    path = tmp_path / "g.csv"
    path.write_bytes(raw)
    assert text_batches(path, ReadForm(header_row=2, header_lines=2)).whole().equals(got.table)
    rows = [[c or None for c in line.split(",")] for line in GROUPS.splitlines()]
    of_book = read(book(*rows), header_row=2, header_lines=2)
    assert of_book.table.to_pydict() == got.table.to_pydict() and read(book(*rows)).header_hint == (2, 2, False)


def test_lines_that_a_file_does_not_have_are_refused():
    for raw in (b"a,b\n1,2\n3,4\n", book(["a", "b"], [1, 2], [3, 4])):
        assert read(raw, header_lines=3).table.num_rows == 0
        for lines in (4, 9):
            with pytest.raises(TableError, match="has fewer"):
                read(raw, header_lines=lines)


def test_a_table_whose_first_line_holds_the_headers_gets_no_hint():
    for raw in (b"a,b,c\nx,y,z\nu,v,w\nx,y,z\n", b"name,town,\nann,york,x\nbob,leeds,y\nann,york,x\n" * 2):
        assert read(raw).header_hint in (None, (2, 1, False))


def merged(rows, *ranges):
    made, out = Workbook(), io.BytesIO()
    for row in rows:
        made.active.append(row)
    for one in ranges:
        made.active.merge_cells(one)
    made.save(out)
    return out.getvalue()


@pytest.mark.parametrize("downwards", [True, False])
def test_a_title_above_merged_groups_is_hinted_at_and_the_groups_are_carried_over(downwards):
    rows = [
        ["Households of the canton"],
        [],
        ["id", "town", "costs", None, "income"],
        [None, None, 2022, 2023, 2022, 2023],
    ]
    rows += [[i, "Bern", i, i + 1, i + 2, i + 3] for i in range(20)]
    raw = merged(rows, "A1:F1", "C3:D3", "E3:F3", *(["A3:A4", "B3:B4"] if downwards else []))
    assert read(raw).header_hint == (2, 2, False)
    got = read(raw, header_row=2, header_lines=2).table
    assert got.column_names == ["id", "town", "costs / 2022", "costs / 2023", "income / 2022", "income / 2023"]
    assert got.num_rows == 20 and got["costs / 2023"][0].as_py() == "1"


def test_cells_that_are_merged_downwards_hold_what_the_uppermost_shows():
    rows = [["region", "town"], *[["North" if i == 0 else "South" if i == 4 else None, f"t{i}"] for i in range(7)]]
    got = read(merged(rows, "A2:A5", "A6:A8")).table
    assert got["region"].to_pylist() == ["North"] * 4 + ["South"] * 3
    assert got["town"].to_pylist() == [f"t{i}" for i in range(7)]


def test_a_record_over_merged_rows_is_one_record():
    rows = [["region", "town"], ["North", "Bern"], [], [], ["South", "Rome"], [None, "Pisa"]]
    got = read(merged(rows, "A2:A4", "B2:B4", "A5:A8")).table
    assert got.to_pydict() == {"region": ["North", "South", "South"], "town": ["Bern", "Rome", "Pisa"]}


def test_merged_cells_are_found_whatever_follows_them_in_the_sheet():
    raw, out = merged([["region", "town"], ["North", "Bern"], [None, "Rome"]], "A2:A3"), io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(raw)) as given, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name in given.namelist():
            content = given.read(name)
            if name.endswith("sheet1.xml"):
                content = content.replace(
                    b"</mergeCells>", b"</mergeCells><!--" + os.urandom(1_200_000).hex().encode() + b"-->"
                )
            made.writestr(name, content)
    assert read(out.getvalue()).table["region"].to_pylist() == ["North", "North"]


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("content.xml", "OpenDocument file that is no spreadsheet"),
        ("word/document.xml", "Word document"),
        ("Index/Document.iwa", "Apple file"),
    ],
)
def test_other_archives_are_named_with_what_helps(name, what):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(name, "x")
    with pytest.raises(TableError, match=f"{what}.* as (.xlsx or )?CSV"):
        read(out.getvalue())


@pytest.mark.parametrize("of_book", [False, True])
@pytest.mark.parametrize(
    ("above", "hint", "names"),
    [
        (["Report of costs"], (2, 1, False), ["Age", "Sex", "2023", "2024"]),
        (["Report of costs", ",,Costs"], (2, 2, False), ["Age", "Sex", "Costs / 2023", "Costs / 2024"]),
        (["Report of costs", "Person,,Costs"], (2, 2, False), None),
    ],
)
def test_headers_with_years_among_words_are_hinted_at_below_a_title(of_book, above, hint, names):
    lines = [*above, "Age,Sex,2023,2024", *(f"{30 + i},{'fm'[i % 2]},{i},{i + 2}" for i in range(9))]
    rows = [[int(c) if c.isdigit() else c or None for c in line.split(",")] for line in lines]
    raw = book(*rows) if of_book else "\n".join([*lines, ""]).encode()
    assert read(raw).header_hint == hint
    got = read(raw, header_row=hint[0], header_lines=hint[1]).table
    names = names or ["Person / Age", "Person / Sex", "Costs / 2023", "Costs / 2024"]
    assert got.column_names == names and got.num_rows == 9


def test_a_title_that_stands_in_the_middle_is_no_heading():
    rows = [["", "", "Costs"], ["", "", "of 2024"], ["Age", "Sex", "2023", "2024"], ["31", "f", "1", "2"], list("41m2")]
    assert header_hint(rows) == (3, 1, False)


def test_records_with_a_year_are_no_headers():
    assert read(b"towns\nBern,2001\nOslo,2004\nRome,2001\nKiev,1999\n").header_hint is None
    assert read(b"towns\nBern,2001,2001\nOslo,,7\nRome,5,\nKiev,6,2\n").header_hint is None


def test_a_long_cell_of_digits_is_read_in_one_pass():
    """60,000 digits before a letter took a minute."""
    long = "1" * 2_000_000 + "x"
    assert dialect.NUMBER.fullmatch(long) is None
    assert dialect.NUMBER.fullmatch("-1.234,5") and not dialect.NUMBER.fullmatch(".,")
