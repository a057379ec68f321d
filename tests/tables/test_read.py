"""Reading, row by row of the reliability table: a typed sentence, or a table that is what was written."""

import gzip
import io
import pickle
import zipfile

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsyn_core.errors import DPSynError, TableError
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.drafts.draft import draft
from dpsyn_core.tables import headers
from dpsyn_core.tables import read as reading
from dpsyn_core.tables.batches import Share
from dpsyn_core.tables.cells.canonical_text import UNREADABLE
from dpsyn_core.tables.handover import leave, take
from dpsyn_core.tables.parquet_pages import parquet_batches
from dpsyn_core.tables.read import read_table
from dpsyn_core.tables.read_form import ReadForm
from dpsyn_core.tables.text import inflation as inflate
from dpsyn_core.tables.text import lines, records
from dpsyn_core.tables.text.alphabets import of_letters
from dpsyn_core.tables.text.batches import text_batches
from tests.schema.helpers import num, schema
from tests.tables.reading import read


def cells(data, **options):
    return read(data, **options).table.to_pydict()


def refusal(data, *, strict=True, **options):
    with pytest.raises(TableError) as error:
        read(data, strict=strict, **options)
    text = str(error.value)
    assert "\n" not in text and len(text) < 300
    return text


def parquet(table):
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


def excel(*rows, more_sheets=()):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for name in more_sheets:
        book.create_sheet(name).append(["z"])
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


# ---- rows 1-8: empty, missing, small, headers, ragged


def test_row_1_to_3_nothing_to_read_is_refused(tmp_path):
    assert "empty" in refusal(b"")
    assert "no records" in refusal(b"a,b,c\n")
    assert "no records" in refusal(b"a,b,c")
    assert "no text" in refusal(b"\n\r\n\n", strict=False)
    assert cells(b"\n\r\n\nage\n1\n\n2\n") == {"age": ["1", "", "2"]}, (
        "a column alone has blank cells, below its header"
    )
    for headers_alone in (b"a,b,c\n", b"a,b,c", b"a,b,c\r", b"\na,b,c\r\n\r\n"):
        assert cells(headers_alone) == {"a": [], "b": [], "c": []}
    assert "none.csv" in refusal(tmp_path / "none.csv")
    assert "folder" in refusal(tmp_path)
    assert "does not exist" in refusal("a\0b.csv")
    (tmp_path / "empty.csv").touch()
    assert "empty" in refusal(tmp_path / "empty.csv")


def test_row_4_to_6_one_row_one_column_one_value():
    assert cells(b"a,b\n1,2\n") == {"a": ["1"], "b": ["2"]}
    assert cells(b"a\n1\n2\n") == {"a": ["1", "2"]}
    assert cells(b"a\nx\nx") == {"a": ["x", "x"]}


def test_a_blank_line_of_a_single_column_is_a_blank_cell():
    assert cells(b"a\n1\n\n2\n") == {"a": ["1", "", "2"]}


def test_row_7_headers_that_repeat_or_are_blank_are_named():
    strictly = refusal(b"age,sex,age\n1,2,3\n", strict=True)
    assert "columns 1 and 3" in strictly and "'age'" in strictly
    assert "column 2" in refusal(b"a,,c\n1,2,3\n")
    assert "column 2" in refusal(b"a, \n1,2\n")
    assert "same header" in refusal("é,e\u0301\n1,2\n".encode(), strict=True)


def test_headers_that_repeat_get_numbers_by_the_header_line_alone(tmp_path):
    text = b"age,sex,age,age (2),age\n1,2,3,4,5\n6,7,8,9,10\n"
    got = read(text)
    assert got.table.to_pydict() == {
        "age": ["1", "6"], "sex": ["2", "7"], "age (3)": ["3", "8"], "age (2)": ["4", "9"], "age (4)": ["5", "10"],
    }  # fmt: skip
    assert got.notices == ("3 columns have the header 'age'; those after the first are called 'age (3)', 'age (4)'",)
    assert read("é,e\u0301\n1,2\n".encode()).table.column_names == ["é", "e\u0301 (2)"]
    assert cells(excel(["a", "b", "a"], [1, 2, 3])) == {"a": ["1"], "b": ["2"], "a (2)": ["3"]}
    (tmp_path / "t.csv").write_bytes(text)
    batches = text_batches(tmp_path / "t.csv", ReadForm(), piece=8)
    assert list(batches.columns) == got.table.column_names and batches.notices == got.notices
    assert pa.concat_tables(batches.read()).to_pydict() == got.table.to_pydict()
    assert headers.named(["a"] * 1000)[0][-1] == "a (1000)"


def test_a_delimiter_at_the_end_of_every_line_makes_a_last_column_with_a_name():
    got = read(b"a;b;c;\n1;2;3;\n")
    assert got.table.to_pydict() == {"a": ["1"], "b": ["2"], "c": ["3"], "column 4": [""]}
    assert "it is called 'column 4'" in got.notices[1]
    assert "column 2" in refusal(b"a,\n1,\n"), "two columns of which one has no header are a title as likely"


@pytest.mark.parametrize(
    ("first", "delimiter"), [(b"sep=;", ";"), (b'"sep=;"', ";"), (b"SEP=|", "|"), (b"sep=\t", "\t"), (b"sep=,", ",")]
)
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_first_line_of_excel_names_the_delimiter(tmp_path, first, delimiter, end):
    rows = [b"a b;x", b"1;2"]
    text = end.join([first, *(row.replace(b";", delimiter.encode()) for row in rows)]) + end
    got = read(text)
    assert got.table.to_pydict() == {"a b": ["1"], "x": ["2"]}
    assert got.delimiter == delimiter and "as Excel does" in got.notices[0]
    (tmp_path / "t.csv").write_bytes(text)
    batches = text_batches(tmp_path / "t.csv", ReadForm(), piece=4)
    assert pa.concat_tables(batches.read()).to_pydict() == got.table.to_pydict()
    assert read(text, header_row=2).table.to_pydict() == got.table.to_pydict()


def test_what_r_writes_by_default_is_read_and_its_row_names_have_a_name(tmp_path):
    text = b'"age" "town name"\n' + b"".join(b'"%d" %d "St Gallen"\n' % (i, 30 + i) for i in range(1, 41))
    got = read(text)
    assert got.table.column_names == ["row", "age", "town name"] and got.delimiter == " "
    assert got.table["age"].to_pylist()[:2] == ["31", "32"] and got.table["town name"][0].as_py() == "St Gallen"
    assert any("write.table" in n for n in got.notices) and not got.odd
    (tmp_path / "t.txt").write_bytes(text)
    batches = text_batches(tmp_path / "t.txt", ReadForm(), piece=64)
    assert pa.concat_tables(batches.read()).to_pydict() == got.table.to_pydict()
    assert next(a.kind for a in draft(got.table, "t").attributes) == "identifier", "and no draft has them"
    unnamed = b'"age" "town"\n30 "Bern"\n'
    assert read(unnamed, delimiter=" ").table.to_pydict() == {"age": ["30"], "town": ["Bern"]}
    assert cells(b'"age","town"\n30,"Bern"\n') == {"age": ["30"], "town": ["Bern"]}


def test_a_file_without_headers_is_read_by_those_that_are_given(tmp_path):
    text = b"39;clerk;7\n50;;8\n38;cook\n"
    assert read(text).headless
    got = read(text, header="age;job;years")
    assert got.table.to_pydict() == {
        "age": ["39", "50", UNREADABLE], "job": ["clerk", "", UNREADABLE], "years": ["7", "8", UNREADABLE],
    }  # fmt: skip
    assert not got.headless and got.header == "age;job;years" and "line 3 has 2 cells" in got.odd[0]
    (tmp_path / "t.csv").write_bytes(text)
    form = ReadForm(header="age;job;years")
    parts = [text_batches(tmp_path / "t.csv", form, piece=9, share=Share(i, 2)) for i in range(2)]
    assert pa.concat_tables(t for p in parts for t in p.read()).sort_by("age").to_pydict()["job"] == [
        "clerk", "", UNREADABLE,
    ]  # fmt: skip
    assert cells(excel([39, "clerk"], [50, "cook"]), name="t.xlsx", header="age,job") == {
        "age": ["39", "50"],
        "job": ["clerk", "cook"],
    }
    for wrong in ("", "a\nb"):
        assert "one line" in refusal(text, header=wrong)
    assert "one of the two" in refusal(text, header="a;b;c", header_row=2)


def test_a_first_record_decides_nothing_where_the_headers_are_given():
    """Not the encoding, not the delimiter: the record of somebody must not change how those of others are read."""
    rest = b"a;b\nc;d\n"
    for first in ("é;ü\n".encode("cp1252"), b"1,2,3,4;5\n", b"\x00\x01;2\n"):
        got = read(first + rest, header="x;y")
        assert got.table.slice(1).to_pydict() == {"x": ["a", "c"], "y": ["b", "d"]}


@pytest.mark.parametrize(
    ("line", "looks"),
    [("39,State-gov,77516", True), ("age,job,weight", False), ("country,2001,2002,2003", False), ("a,b,c,7", False),
     ("12.5,-3,x", True), ("39,40,a,b,c,d", True), ("39,40,a,b,c,d,e", False)],
)  # fmt: skip
def test_a_first_line_of_numbers_looks_like_a_record(line, looks):
    assert read(f"{line}\n{line}\n".encode()).headless is looks


def test_notices_keep_what_was_filled_in_on_their_way_between_processes(tmp_path):
    got = read(b"a;a\n1,5;2\n3;4;5\n")
    leave(tmp_path, got.batches)
    taken = take(tmp_path)
    assert taken.notices == got.notices and tuple(taken.odd) == got.odd
    assert [n.key for n in taken.notices] == ["by_semicolon", "repeated"]
    assert taken.odd[1].values["first"].key == "ragged"
    assert pickle.loads(pickle.dumps(taken.odd[1])).values == taken.odd[1].values


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"a,b\n1,2\n1,2,3\n", "line 3 has 3 cells"),
        (b"a,b\n1,2\n\n1\n", "line 4 has 1 cell "),
        (b"a,b\r\n1,2\r\n1\r\n", "line 3"),
        (b"a,b\r1,2\r1\r", "line 3"),
        (b'a,b\n1,"x\ny"\n1\n', "line 2"),
        (b'a,b\n"q,r",2\n1,2,3,4', "line 3 has 4 cells"),
        (b"a,b\n" + b"1,2\n" * 2_000_000 + b"1,2,3\n", "line 2000002"),
    ],
)
def test_row_8_the_first_ragged_line_is_named(data, words):
    assert words in refusal(data)
    got = read(data)
    lost = [row for row in zip(*got.table.to_pydict().values(), strict=True) if set(row) == {"\ufffd"}]
    assert len(lost) == (3 if b'"x' in data else 1) and words.split(" has")[0].rstrip() in got.odd[0]


def test_lines_are_counted_through_quoted_line_ends_where_the_table_is_read_as_multiline():
    assert "line 4" in refusal(b'a,b\n1,"x\ny"\n1\n', multiline=True)


def test_a_line_is_a_record_whatever_its_quotation_marks_unless_the_owner_says_otherwise():
    data = b'a,b\n1,"x\n2,y\n3,"z\n4"\n'
    got = read(data)
    assert got.table.to_pydict() == {"a": ["2", "\ufffd", "\ufffd", "\ufffd"], "b": ["y", "\ufffd", "\ufffd", "\ufffd"]}
    assert (
        "3 of the lines" in got.odd[0] and "line 2 opens a quotation mark" in got.odd[0] and "multiline" in got.odd[0]
    )
    assert read(b'a,b\n1,"x\ny"\n2,z\n', multiline=True).table.to_pydict() == {"a": ["1", "2"], "b": ["x\ny", "z"]}
    swallowed = read(b'a,b\n1,"x\n2,y\n3,z\n', multiline=True)  # why that form asks for the owner's word
    assert swallowed.table.num_rows == 1


def test_a_line_longer_than_the_readers_blocks_changes_no_other_one():
    long = b"x" * 10_000_000
    table = read_table(b"a,b\n1,2\n" + long + b",3\n4,5\n")
    assert table["b"].to_pylist() == ["2", "3", "5"] and len(table["a"][1].as_py()) == len(long)
    lost = read_table(b"a,b\n1,2\n" + b"x" * 70_000_000 + b",3\n4,5\n")
    assert lost.to_pydict() == {"a": ["1", "4", "\ufffd"], "b": ["2", "5", "\ufffd"]}


def test_stray_quotation_marks_never_join_cells():
    assert "line 3" in refusal(b'a,b\n1,2\n1,"x\n2,3\n')
    assert "line 2" in refusal(b'a,b\n1,"x\n2,"y\n') and "text after" in refusal(b'a,b\n1,"x\n2,"y\n', multiline=True)
    assert "line 2" in refusal(b'a,b\n1,"x"y\n')
    assert cells(b'a,b\n5" pipe,say "hi"\n"1 ""q""","x,\ny"\n', multiline=True) == {
        "a": ['5" pipe', '1 "q"'],
        "b": ['say "hi"', "x,\ny"],
    }


def test_line_ends_inside_cells_are_read_alike_wherever_the_reader_s_blocks_end(monkeypatch):
    """Before they were LF, pyarrow dropped the LF of a CR LF between which one of its blocks ended."""
    monkeypatch.setattr(records, "BLOCK", 1000)
    rows = 1000
    data = b"a,b\n" + b'1,"first line\nsecond, line\r\nthird"\n' * rows
    table = read_table(data, multiline=True)
    assert table.num_rows == rows and table["b"].unique().to_pylist() == ["first line\nsecond, line\nthird"]


# ---- rows 9-13: kept as written


def test_row_9_to_13_cells_are_kept_as_written():
    odd = [
        "NA",
        "None",
        "null",
        "00123",
        "1e400",
        "inf",
        "-inf",
        "NaN",
        "9007199254740993",
        " x ",
        "TRUE",
        "1.0",
        "#N/A",
    ]
    text = "a,b\n" + "".join(f"{c},\n" for c in odd)
    assert cells(text.encode()) == {"a": odd, "b": [""] * len(odd)}


@settings(max_examples=80, deadline=None)
@given(
    st.lists(
        st.lists(
            st.text(st.characters(codec="utf-8", exclude_characters="\0\ufeff"), max_size=6), min_size=2, max_size=2
        ),
        min_size=1, max_size=8,
    ),
    st.sampled_from(["\n", "\r\n"]),
)  # fmt: skip
def test_any_quoted_text_comes_back_as_written(rows, end):
    quoted = [",".join('"' + c.replace('"', '""') + '"' for c in row) for row in [["a", "b"], *rows]]
    got = read((end.join(quoted) + end).encode(), delimiter=",", encoding="utf-8", multiline=True).table
    as_lf = [[c.replace("\r\n", "\n").replace("\r", "\n") for c in row] for row in rows]
    assert [list(r) for r in zip(*got.to_pydict().values(), strict=True)] == as_lf


# ---- rows 14-18: encodings, marks, delimiters


def test_row_14_latin_1_is_read_where_the_headers_say_so_with_a_notice_and_can_be_corrected():
    data = "name,größe\nJosé,Málaga\n".encode("latin-1")
    got = read(data)
    assert got.table.to_pydict() == {"name": ["José"], "größe": ["Málaga"]}
    assert any("Latin-1" in n for n in got.notices)
    assert cells(data, encoding="iso8859-2")["name"] == ["José"]
    assert "byte 7" in refusal(data, encoding="utf-8")
    assert "unknown encoding" in refusal(data, encoding="klingon")


def test_row_14_cells_that_are_not_utf_8_are_misfits_of_their_own_until_the_encoding_is_declared():
    data = "name,city\nJosé,Oslo\nAnn,Málaga\n".encode("latin-1")
    got = read(data)
    assert got.table.to_pydict() == {"name": ["Jos\ufffd", "Ann"], "city": ["Oslo", "M\ufffdlaga"]}
    assert got.encoding == "utf-8" and "another encoding, choose it" in got.odd[0] and not got.notices
    assert cells(data, encoding="latin-1") == {"name": ["José", "Ann"], "city": ["Oslo", "Málaga"]}


@pytest.mark.parametrize("encoding", ["iso2022_jp", "utf-7", "hz", "unicode_escape", "rot13", "undefined"])
def test_encodings_in_which_one_line_changes_the_next_are_refused(encoding):
    assert "encoding" in refusal(b"a,b\n1,2\n", encoding=encoding, strict=False)


MULTIBYTE = ["shift_jis", "cp932", "euc_jp", "gb2312", "gbk", "gb18030", "big5", "cp949", "cp950", "euc_kr", "johab"]


@pytest.mark.parametrize("encoding", [*MULTIBYTE, "utf-8", "cp1252"])
def test_no_bytes_swallow_a_line_end_in_any_encoding_that_is_taken(encoding):
    for first in range(128, 256):
        for more in (b"", b"\x81", b"\x30", b"\x81\x30", b"\x30\x81", b"\xff"):
            data = b"a,b\n1,2\n" + bytes([first]) + more + b"\n3,4\n"
            table = read_table(data, encoding=encoding)
            assert table["a"].to_pylist()[:2] == ["1", "3"] and table["b"].to_pylist()[:2] == ["2", "4"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_row_14_utf_16_is_read_with_a_notice(encoding):
    got = read("name,city\nJosé,Málaga\n".encode(encoding))
    assert got.table.to_pydict() == {"name": ["José"], "city": ["Málaga"]}
    assert any("UTF-16" in n for n in got.notices)


def test_row_14_a_truncated_character_is_named_by_its_byte():
    whole = "a,b\nx,é".encode()
    assert "byte 6" in refusal(whole[:-1])
    broken = "a,b\né,ü\nx,".encode() + b"\xff\n"
    assert f"byte {len(broken) - 2}" in refusal(broken)
    assert "byte" in refusal("a,b\n1,2\n".encode("utf-16")[:-1])


def test_row_15_byte_order_marks_belong_to_no_header():
    assert list(cells("\ufeffa,b\n1,2\n".encode())) == ["a", "b"]
    assert list(cells("\ufeffa,b\n1,2\n".encode(), encoding="utf-8")) == ["a", "b"]
    assert list(cells("a,b\n1,2\n".encode("utf-16"), encoding="utf-16")) == ["a", "b"]


def test_row_16_nul_bytes_are_named():
    data = b"a,b\n1,2\x00\n" + b"3,4\n" * 100
    assert "byte 7 is NUL" in refusal(data)
    assert read_table(data)["b"].to_pylist() == ["2\0"] + ["4"] * 100
    assert "first line" in refusal(b"a,\0b\n1,2\n", strict=False)


def test_binary_files_are_no_text_tables():
    import random

    random.seed(7)
    assert "not a text table" in refusal(bytes(random.randrange(1, 256) for _ in range(5000)))


def test_row_17_line_ends_of_all_kinds():
    for end in ("\n", "\r\n", "\r"):
        assert cells(f"a,b{end}1,2{end}3,4{end}".encode()) == {"a": ["1", "3"], "b": ["2", "4"]}
        assert cells(f"a,b{end}1,2{end}3,4".encode()) == {"a": ["1", "3"], "b": ["2", "4"]}


@pytest.mark.parametrize(("delimiter", "name"), [(";", "semicolon"), ("\t", "tab"), ("|", "pipe")])
def test_row_18_delimiters_are_detected_with_a_notice(delimiter, name):
    data = f"age{delimiter}income\n53{delimiter}22,5\n81{delimiter}34,6\n".encode()
    got = read(data)
    assert got.table.to_pydict() == {"age": ["53", "81"], "income": ["22,5", "34,6"]}
    assert got.delimiter == delimiter and any(name in n for n in got.notices)
    assert "decimal comma" in got.odd[0] and got.table.schema.metadata[b"dpsyn.decimal"] == b","
    assert read(data, decimal=".").table.schema.metadata is None


def test_row_18_the_delimiter_can_be_corrected():
    data = b"a;b,c\n1;2,3\n"
    assert list(cells(data, delimiter=",")) == ["a;b", "c"]
    assert list(cells(data, delimiter=";")) == ["a", "b,c"]
    assert "one character" in refusal(data, delimiter=";;")
    assert "decimal mark" in refusal(data, decimal="'")


def test_commas_inside_cells_do_not_choose_the_delimiter():
    assert list(cells(b'a,b\n"x;y;z",1\n"u;v;w",2\n')) == ["a", "b"]


def test_tab_separated_files_need_no_notice():
    got = read(b"a,x\tb\n1\t2\n", name="t.tsv")
    assert list(got.table.column_names) == ["a,x", "b"] and got.notices == ()


# ---- rows 23-27: compression, Parquet, names, size


def test_gzip_is_inflated_members_one_after_the_other():
    data = gzip.compress(b"a,b\n1,2\n") + gzip.compress(b"3,4\n")
    assert cells(data, name="t.csv.gz") == {"a": ["1", "3"], "b": ["2", "4"]}


def test_row_23_compressed_bombs_are_stopped_while_inflating():
    bomb = gzip.compress(b"a,b\n" + b"1,2\n" * 5_000_000)
    assert "100 times" in refusal(bomb)
    nested = gzip.compress(b"a\n" + bytes(b"1\n" * 100_000))
    with pytest.raises(TableError, match="inflates to more than 1000 bytes"):
        inflate.gunzip(memoryview(nested), 1000)


@pytest.mark.parametrize("cut", [5, 12, 30, -9, -4, -1])
def test_damaged_gzip_is_refused(cut):
    data = gzip.compress(b"a,b\n" + b"".join(b"%d,%d\n" % (i, i * 7919 % 1000) for i in range(500)))
    assert "compressed" in refusal(data[:cut])


def test_row_23_workbook_bombs_are_stopped_by_their_directory():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b"")
        archive.writestr("xl/worksheets/sheet1.xml", b" " * 50_000_000)
    assert "inflates" in refusal(out.getvalue())


def test_row_24_parquet_keeps_types_and_refuses_nested_ones():
    flat = pa.table({"i": [1, None], "s": ["x", "y"], "d": pa.array(["u", "v"]).dictionary_encode()})
    got = read(parquet(flat))
    assert got.kind == "parquet" and got.table.column("i").type == pa.int64()
    for nested in ([[1], [2]], [{"a": 1}, {"a": 2}], [b"x", b"y"]):
        assert "'n'" in refusal(parquet(pa.table({"n": nested})))
    assert "damaged" in refusal(parquet(flat)[:-20])
    assert "damaged" in refusal(b"PAR1" + b"\0" * 100 + b"PAR1")
    assert "no records" in refusal(parquet(flat.slice(0, 0)))
    assert "same header" in refusal(parquet(pa.table([[1], [2]], names=["a", "a"])))


def test_nested_columns_of_parquet_are_left_out_and_named_by_both_readers(tmp_path):
    nested = pa.table({"i": [1, 2], "who": [{"i": 1, "s.s": "x"}] * 2, "s.s": ["x", "y"], "raw": [b"x", b"y"]})
    got = read(parquet(nested))
    assert got.table.column_names == ["i", "s.s"] and got.table.to_pydict() == {"i": [1, 2], "s.s": ["x", "y"]}
    said = ("the columns 'who', 'raw' hold lists, structures, bytes or durations and are left out",)
    assert got.notices == said
    (tmp_path / "t.parquet").write_bytes(parquet(nested))
    batches = parquet_batches(tmp_path / "t.parquet")
    assert batches.columns == ("i", "s.s") and batches.notices == said
    assert pa.concat_tables(batches.read()).to_pydict() == {"i": [1, 2], "s.s": ["x", "y"]}
    assert "leave the column out" in refusal(parquet(nested))


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b'{"age": 33, "city": "A"}\n{"age": 34, "city": "B"}\n', "JSON"),
        (b'[{"age": 33, "city": "A"}, {"age": 34}]', "JSON"),
        (b'[\n  {\n    "age": 33\n  }\n]', "JSON"),
        (b'{\n  "age": [33]\n}', "JSON"),
        (b'<?xml version="1.0"?>\n<a><b>33</b></a>', "XML"),
        (b"<!DOCTYPE html>\n<table>", "HTML"),
        (b"<people>\n<age>33</age>", "XML"),
    ],
)
def test_records_of_json_and_xml_never_become_headers(data, told, tmp_path):
    for text in (data, gzip.compress(data), "\ufeff".encode() + data):
        assert told in refusal(text, strict=False) and "33" not in refusal(text, strict=False)
    (tmp_path / "t.csv").write_bytes(data)
    with pytest.raises(TableError, match=told):
        text_batches(tmp_path / "t.csv", ReadForm())


def test_headers_in_brackets_are_headers():
    for line in ("[id],[age]", "{id},{age}", "<id>,<age>", "<5 years,age", '"{a}",b'):
        assert read(f"{line}\n1,2\n".encode()).table.num_columns == 2


SMALL = parquet(pa.table({"i": list(range(50)), "s": ["é", "b"] * 25, "t": pa.array(range(50), pa.timestamp("us"))}))


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(SMALL) - 1), st.integers(0, 255)), min_size=1, max_size=4))
def test_a_parquet_file_with_any_byte_changed_is_read_and_encoded_or_refused(changes):
    data = bytearray(SMALL)
    for at, value in changes:
        data[at] = value
    try:
        table = read(bytes(data)).table
        Codec(draft(table, "t")).encode(table)
    except DPSynError as error:
        assert "\n" not in str(error)


def test_parquet_names_and_texts_that_are_not_utf_8_are_refused():
    damaged = SMALL.replace("é".encode(), b"\xff\xff")
    assert "damaged" in refusal(damaged)
    assert read_table(damaged)["s"].to_pylist() == ["\ufffd\ufffd", "b"] * 25
    named = parquet(pa.table({"oddname": [1]}))
    with pytest.raises(DPSynError):
        read(named.replace(b"oddname", b"odd\xff\xffme"))


@settings(max_examples=150, deadline=None)
@given(st.binary(min_size=1, max_size=200))
def test_any_bytes_are_read_or_refused_in_one_sentence(data):
    try:
        table = read(data).table
    except DPSynError as error:
        assert "\n" not in str(error)
    else:
        assert table.num_columns > 0


def test_row_25_a_header_of_several_lines_stays_on_one_in_a_refusal():
    assert "two?lines" in refusal(b'"two\nlines","two\nlines"\n1,2\n', multiline=True)


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "../../x", "🙂", "x" * 5000, 'a\'b""c'])
def test_row_25_odd_headers_are_names_like_any_other(name):
    quoted = '"' + name.replace('"', '""') + '"'
    assert list(cells(f"{quoted},b\n1,2\n".encode())) == [name, "b"]
    assert len(refusal(f"{quoted},{quoted}\n1,2\n".encode())) < 300


def test_row_26_a_thousand_columns_are_read():
    header = ",".join(f"column_{i}" for i in range(1000))
    assert read_table(f"{header}\n{','.join('1' * 1000)}\n".encode()).shape == (1, 1000)


def test_row_27_files_above_the_limit_are_refused_before_they_are_parsed(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "MAX_FILE", 100)
    monkeypatch.setattr(reading, "MAX_UPLOAD", 100)
    path = tmp_path / "big.csv"
    path.write_bytes(b"a,b\n1,2\n" * 100)
    assert "limit is 100" in refusal(path)
    assert "limit is 100" in refusal(path.read_bytes())


# ---- Excel and others


def test_excel_cells_become_text_without_recasting():
    import datetime

    rows = (["a", "b", "c", "d"], [1, "00123", True, datetime.datetime(2020, 1, 31)], [1.5, None, "NA", "x"])
    assert cells(excel(*rows)) == {
        "a": ["1", "1.5"], "b": ["00123", ""], "c": ["true", "NA"], "d": ["2020-01-31", "x"],
    }  # fmt: skip


def test_excel_sheets_are_chosen_with_a_notice():
    data = excel(["a"], [1], more_sheets=["second"])
    assert "one of 2" in read(data).notices[0]
    assert "'third'" in refusal(data, sheet="third")
    assert "no records" in refusal(data, sheet="second")
    assert read(data, sheet="second").table.to_pydict() == {"z": []}
    assert "blank header" in refusal(excel(["a", None, "c"], [1, 2, 3]))
    assert cells(excel(["a", "b"], [1, 2, "a note"], [3])) == {"a": ["1", "3"], "b": ["2", ""]}


@pytest.mark.parametrize(
    ("head", "word"),
    [(b"PK\x03\x04" + b"x" * 50, "archive"), (b"\xd0\xcf\x11\xe0rest", ".xlsx"), (b"SQLite format 3\0", "SQLite"),
     (b"BZh91AY", "bzip2"), (b"%PDF-1.7", "PDF"), (b"\x9c" * 8 + b"DUCK\xe7\x03" + bytes(6), "DuckDB")],
)  # fmt: skip
def test_other_formats_are_named(head, word):
    assert word in refusal(head)


def test_paths_and_bytes_read_the_same(tmp_path):
    data = b"a,b\n1,x\n2,y\n"
    (tmp_path / "t.csv").write_bytes(data)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(data))
    assert read_table(tmp_path / "t.csv") == read_table(str(tmp_path / "t.csv.gz")) == read_table(data)


def test_no_refusal_shows_a_cell():
    secret = "canary4711"
    for data in (
        f"a,b\n{secret},{secret},{secret}\n", f'a,b\n1,"{secret}\n', f"a,b\n{secret},\0\n", f"a,a\n{secret},1\n",
        f'a,b\n"{secret}"x,1\n',
    ):  # fmt: skip
        assert secret not in refusal(data.encode())
    assert secret not in refusal(f"a,b\n{secret},é\n".encode()[:-2])


# ---- the scanner by itself


@settings(max_examples=300, deadline=None)
@given(st.lists(st.lists(st.text(alphabet='ab"\n\r,', max_size=4), min_size=3, max_size=3), min_size=1, max_size=5))
def test_the_scanner_finds_no_fault_in_what_a_csv_writer_wrote(rows):
    import csv

    out = io.StringIO(newline="")
    csv.writer(out, quoting=csv.QUOTE_ALL).writerows(rows)
    assert lines.first_fault(lines.normalised(memoryview(out.getvalue().encode())), ",", 3) is None


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("a,b\n1\n", ("ragged", 2, 1)),
        ('"a\r\nb",c\r\n1,2,3', ("ragged", 3, 3)),
        ('a,"b', ("unclosed", 1, 0)),
        ('a,b\n"x"y,1', ("trailing", 2, 0)),
        ("a,b\n\n\n1,2\n,\n", None),
        ('a,b\n"",""\n', None),
    ],
)
def test_the_scanner_names_line_and_fault(text, fault):
    found = lines.first_fault(lines.normalised(memoryview(text.encode())), ",", 2)
    assert (found and (found.what, found.line, found.cells)) == fault


def test_one_odd_cell_does_not_change_how_the_decimal_commas_of_others_are_read():
    s = schema(num("x", 0, 20, 4, dtype="float", missing=True))
    columns = {last: read_table(f"x;y\n12,5;1\n3.5;1\n{last};1\n".encode()) for last in ("1,5", "k.A.", "7")}
    codes = [Codec(s).encode(table).codes[0, :2].tolist() for table in columns.values()]
    assert codes == [[2, 0]] * 3


def test_headers_below_a_title_are_read_where_they_are_said_to_be_and_hinted_at():
    text = b"Sales 2024\nall branches\n\nbranch,month,staff\nnorth,1,5\nsouth,2,6\neast,3,7,8\n"
    whole = read(text)
    assert whole.header_hint == (3, 1, False) and whole.table.column_names == ["Sales 2024"]
    got = read(text, header_row=3)
    assert got.table.to_pydict() == {
        "branch": ["north", "south", UNREADABLE], "month": ["1", "2", UNREADABLE], "staff": ["5", "6", UNREADABLE],
    }  # fmt: skip
    assert "line 7 has 4 cells" in got.odd[0] and got.header_hint is None
    book = excel(["Sales 2024"], [], ["branch", "month"], ["north", 1], ["south", 2], ["east", 3])
    assert read(book).header_hint == (2, 1, False)
    assert cells(book, header_row=2) == {"branch": ["north", "south", "east"], "month": ["1", "2", "3"]}
    assert read(b"a,b\n1,2\n3,4\n5,6\n").header_hint is None
    assert read(b"note,\nx,1\ny,2\nz,3\n".replace(b"note,", b"note")).header_hint is None, "numbers are no headers"
    with pytest.raises(TableError, match="has fewer"):
        read(b"a,b\n1,2\n", header_row=9)
    with pytest.raises(TableError, match="both numbers begin at 1"):
        read(b"a,b\n1,2\n", header_row=0)


@pytest.mark.parametrize(
    ("header", "encoding", "guessed"),
    [
        ("дата;товар;количество", "cp1251", "cp1251"), ("ID;возраст;город", "cp1251", "cp1251"),
        ("年齢;性別;満足度", "shift_jis", "shift_jis"), ("ηλικία;φύλο;πόλη", "cp1253", "cp1253"),
        ("年齢;性別;満足度", "euc_jp", "euc_jp"), ("がん検診;あり;なし", "euc_jp", "euc_jp"),
        ("나이;성별;만족도", "euc_kr", "euc_kr"), ("ID;이름;주소", "euc_kr", "euc_kr"),
        ("年龄;性别;城市", "gb18030", "gb18030"), ("门店;商品名称;金额", "gb18030", "gb18030"),
        ("ДАТА;ЦЕНА;ГОРОД", "cp1251", "cp1251"), ("ΦΥΛΟ;ΕΤΟΣ;ΠΟΛΗ", "cp1253", "cp1253"),
        ("Größe;Straße;Maß", "cp1252", None), ("éducation;été;âge", "cp1252", None),
        ("wiek;płeć;źródło", "cp1250", "cp1250"),
    ],
)  # fmt: skip
def test_a_header_line_in_another_alphabet_says_its_encoding_and_one_with_accents_does_not(header, encoding, guessed):
    assert of_letters(header.encode(encoding)) == guessed
    assert read((header + "\n1;2;3\n").encode()).encoding == "utf-8", "what is UTF-8 needs no guess"
    if guessed is not None:
        got = read((header + "\n" + "1;2;3\n" * 3).encode(encoding))
        assert got.table.column_names == header.split(";") and any(guessed in n for n in got.notices)


def test_numbers_that_excel_shows_with_zeros_in_front_are_text_as_it_shows_them():
    book, out = openpyxl.Workbook(), io.BytesIO()
    for row in [["zip", "n"], [2134, 7], [94110, 2134], [None, 2], ["501", 1], [12.5, 3]]:
        book.active.append(row)
    for cell in book.active["A"]:
        cell.number_format = "00000"
    book.save(out)
    assert cells(out.getvalue()) == {"zip": ["02134", "94110", "", "501", "12.5"], "n": ["7", "2134", "2", "1", "3"]}
