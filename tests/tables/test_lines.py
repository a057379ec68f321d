"""Line ends, blank lines and kinds of files: decided by the bytes of each line, the header and what is declared."""

import gzip
from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsyn_core.errors import TableError
from dpsyn_core.tables.batches import Share
from dpsyn_core.tables.kinds import HEAD, MARKS, OTHERS, kind_of
from dpsyn_core.tables.read import open_table, parts_of
from dpsyn_core.tables.read_form import ReadForm
from dpsyn_core.tables.text import lines, records
from dpsyn_core.tables.text.batches import divisible, text_batches
from tests.audit.lines import split
from tests.tables.reading import read

LOST = "\ufffd"
MAGIC = [
    b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"{", b"<html>", b"\0\0", *(mark for mark, _ in (*MARKS, *OTHERS)),
]  # fmt: skip


def column(data, tmp_path, *, name="t.csv", **said):
    """The cells of a one-column text, sorted, which every reader must agree on."""
    (tmp_path / name).write_bytes(data)
    packed = gzip.compress(data)
    (tmp_path / f"{name}.gz").write_bytes(packed)
    form, where = ReadForm(**said), tmp_path / name
    found = [
        read(data, name=name, **said).table,
        read(where, **said).table,
        read(packed, name=f"{name}.gz", **said).table,
        *(together([text_batches(p, form, piece=n)]) for p in (where, tmp_path / f"{name}.gz") for n in (1, 2, 3, 99)),
        together([open_table(where, form)]),
    ]
    if divisible(where, form):
        found += [together([text_batches(where, form, share=Share(i, n)) for i in range(n)]) for n in (2, 3, 7)]
    cells = [sorted(table.column(0).to_pylist()) for table in found]
    assert all(one == other for one, other in pairwise(cells))
    return cells[0]


def together(parts):
    return pa.concat_tables([t.replace_schema_metadata(None) for p in parts for t in p.read()])


# ---- line ends


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_blank_lines_of_one_column_are_records_whatever_ends_them(tmp_path, end):
    """With CR they were none unless some record had a value: 0 records, or 1,000."""
    assert column(b"v" + end * 1001, tmp_path) == [""] * 1000
    assert column(b"v" + end * 1001 + b"x" + end, tmp_path) == [""] * 1000 + ["x"]
    assert column(end * 1000, tmp_path, header="v") == [""] * 1000


def test_a_faulty_record_takes_no_line_end_of_another_along(tmp_path):
    assert column(b"v\n\rx\n\nb\n", tmp_path) == ["", "", "b", "x"]
    assert column(b'v\n\r"x\n\nb\n', tmp_path) == ["", "", "b", LOST]
    assert column(b'v\na\r"x\r\n\r\nb\n', tmp_path) == ["", "a", "b", LOST]
    assert column(b'v\ny\r"x\n\nb\n', tmp_path) == ["", "b", "y", LOST]


def test_blank_lines_between_several_columns_are_no_records():
    for end in ("\n", "\r\n", "\r"):
        text = end.join(["", "a,b", "", "1,2", "", "", " ", "3,4", ""]).encode()
        assert read(text).table.to_pydict() == {"a": ["1", "3", LOST], "b": ["2", "4", LOST]}


def test_a_last_line_is_a_record_with_or_without_its_end(tmp_path):
    for text, cells in ((b"v\na", ["a"]), (b"v\na\n", ["a"]), (b"v\na\n\n", ["", "a"]), (b"v", []), (b"v\n", [])):
        for end in (b"\n", b"\r\n", b"\r"):
            assert column(text.replace(b"\n", end), tmp_path) == cells


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from([b"\n", b"\r", b"\r\n", b"x", b"\xef\xbb\xbf", b"yz"]), max_size=12), st.data())
def test_lines_are_those_of_a_regular_expression_wherever_the_text_is_cut(parts, data):
    text = b"".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=4)))
    pieces = [text[a:b] for a, b in pairwise([0, *cuts, len(text)])]
    expected = [lines.MARKS.sub(rb"\1", line) for line in split(text)]
    for found in (bytes(lines.normalised(memoryview(text))), b"".join(lines.whole_lines(pieces))):
        assert split(found) == expected and b"\r" not in found
        for n in range(len(expected) + 1):
            assert split(b"".join(lines.below([found], n))) == expected[n:]
            assert lines.behind(text, n) == len(b"".join(text.splitlines(keepends=True)[:n]))


def test_line_ends_are_normalised_over_the_steps_of_long_texts(monkeypatch):
    monkeypatch.setattr(lines, "STEP", 3)
    for text in (b"ab\r\ncd\r\r\n", b"\r\n\r\n\r\n\r", b"abc\rd\n\r\n"):
        plain = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        assert bytes(lines.normalised(memoryview(text))) == plain
    assert lines.holds(memoryview(b"ab\xef\xbb\xbfcd"), lines.MARK)


def test_blocks_of_the_reader_and_marks_at_the_beginning_of_lines_change_nothing(monkeypatch, tmp_path):
    text = b"v\r\n" + b"\xef\xbb\xbfx\r\n\r\ny\r\xef\xbb\xbf\xef\xbb\xbf\n" * 30
    whole = column(text, tmp_path)
    assert whole == sorted(["x", "", "y", ""] * 30)
    for block in range(2, 40):
        monkeypatch.setattr(records, "BLOCK", block)
        assert sorted(read(text).table.column(0).to_pylist()) == whole


def test_blank_lines_above_the_headers_are_passed_over_however_many_and_counted(tmp_path):
    blank = b"\r\n" * 40_000  # more than the reader first looks at
    assert column(blank + b"v\r\n\r\nx\r\n", tmp_path) == ["", "x"]
    (tmp_path / "t.csv").write_bytes(blank + b"a,b\r\n1,2\r\n3\r\n")
    batches = text_batches(tmp_path / "t.csv", ReadForm(), piece=999)
    assert together([batches]).num_rows == 2
    assert tuple(batches.odd) == read(tmp_path / "t.csv").odd and "line 40003 has 1 cell" in batches.odd[0]


def test_headers_over_several_lines_end_where_their_quotation_marks_say(tmp_path):
    text = b'"a\r\n""x"" b","c\rd"\r\n1,"2\r3"\r\n\r\n4,5\r\n'
    (tmp_path / "t.csv").write_bytes(text)
    got = read(text, multiline=True).table
    assert got.to_pydict() == {'a\n"x" b': ["1", "4"], "c\nd": ["2\n3", "5"]}
    assert together([text_batches(tmp_path / "t.csv", ReadForm(multiline=True), piece=5)]) == got
    with pytest.raises(TableError, match="opens a quotation mark"):
        read(b'a,"b\n1,2\n', multiline=True)


# ---- headers that are declared


@pytest.mark.parametrize("first", MAGIC)
def test_a_first_record_like_another_kind_of_file_is_a_record(tmp_path, first):
    """It changed how everybody was read, or refused the run."""
    plain = column(b"x\ny\n\nz\n", tmp_path, header="v")
    with_it = column(first + b"q\nx\ny\n\nz\n", tmp_path, header="v")
    assert len(with_it) == 5 and set(with_it) >= set(plain)


def test_files_without_a_record_are_tables_where_the_headers_are_declared(tmp_path):
    for text in (b"", b"\n\n", b"\n" * 70_000, b"\r\n" * 70_000):
        (tmp_path / "t.csv").write_bytes(text)
        for table in (
            read(text, header="a,b").table,
            read(tmp_path / "t.csv", header="a,b").table,
            read(gzip.compress(text), name="t.csv.gz", header="a,b").table,
            together([open_table(tmp_path / "t.csv", ReadForm(header="a,b"))]),
        ):
            assert table.to_pydict() == {"a": [], "b": []}
    assert column(b"", tmp_path, header="v") == []


def test_the_encoding_of_a_file_without_headers_is_what_is_declared(tmp_path):
    text = "é\n\nß\n"
    assert column(text.encode("utf-16-be"), tmp_path, header="v", encoding="utf-16-be") == ["", "ß", "é"]
    assert column(text.encode("latin-1"), tmp_path, header="v", encoding="latin-1") == ["", "ß", "é"]
    assert column("\ufeffé\n".encode("utf-16-le"), tmp_path, header="v", encoding="utf-16-le") == ["é"]
    assert column(text.encode("utf-8-sig"), tmp_path, header="v") == ["", "ß", "é"]
    for encoding in ("utf-16", "utf-32"):
        with pytest.raises(TableError, match=f"say '{encoding}-le' or '{encoding}-be'"):
            read(b"x\n", header="v", encoding=encoding)


def test_names_say_what_kind_a_file_without_headers_is(tmp_path):
    for name, kind in (("t.csv", "text"), ("", "text"), ("t.CSV.GZ", "gzip"), ("t.xlsx", "excel"), ("t.dat", "text")):
        assert kind_of(name, b"PAR1", headed=False) == kind
    with pytest.raises(TableError, match="Parquet file has its own"):
        read(b"x\n", name="t.parquet", header="v")
    (tmp_path / "t.parquet").write_bytes(b"x\n")
    with pytest.raises(TableError, match="Parquet file has its own"):
        open_table(tmp_path / "t.parquet", ReadForm(header="v"))


def test_shares_of_a_file_hold_each_record_once_where_they_end_among_blank_lines(tmp_path):
    """The second share took the headers for a record where they began in it."""
    (tmp_path / "t.csv").write_bytes(b"\n" * 50 + b"v\n" + b"\n" * 20 + b"x\n")
    for of in range(2, 12):
        parts = [text_batches(tmp_path / "t.csv", ReadForm(), share=Share(i, of)) for i in range(of)]
        assert sorted(together(parts).column(0).to_pylist()) == [""] * 20 + ["x"]


def test_files_whose_line_ends_are_other_bytes_are_not_cut_at_bytes(tmp_path):
    (tmp_path / "t.csv").write_bytes("a,b\n1,2\n".encode("cp037"))
    assert not divisible(tmp_path / "t.csv", ReadForm(encoding="cp037"))
    assert divisible(tmp_path / "t.csv", ReadForm(encoding="cp1252", header="a,b"))
    assert not divisible(tmp_path / "t.csv", ReadForm(encoding="utf-16-le", header="a,b"))


def test_a_part_of_no_bytes_is_a_part_without_records(tmp_path):
    """Some programs write no header into a part of a folder that has no record; it refused the folder."""
    (tmp_path / "1.csv").write_bytes(b"a,b\n1,2\n")
    (tmp_path / "2.csv").touch()
    assert together([open_table(tmp_path, ReadForm())]).num_rows == 1
    assert [t.num_rows for part in parts_of(tmp_path, ReadForm())[1] for t in part.read()] == [1]
    (tmp_path / "1.csv").write_bytes(b"")
    with pytest.raises(TableError, match="holds no table"):
        open_table(tmp_path, ReadForm())
    assert together([open_table(tmp_path, ReadForm(header="a,b"))]).to_pydict() == {"a": [], "b": []}


def test_no_mark_of_a_kind_goes_beyond_the_first_line():
    """So that a file that holds its headers is known by what is public."""
    for mark, _ in (*MARKS, *OTHERS):
        assert len(mark) <= HEAD and not set(mark) & set(b"\r\n")
