"""Delimited text in batches reads as it does whole, wherever it is cut."""

import gzip

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsyn_core.errors import TableError
from dpsyn_core.tables.batches import Share
from dpsyn_core.tables.read import open_table
from dpsyn_core.tables.read_form import ReadForm
from dpsyn_core.tables.text.batches import divisible, text_batches
from dpsyn_core.tables.write import write_table
from tests.tables.reading import read

PIECES = st.lists(
    st.sampled_from(["a", "12", ",", '"', "\n", "\r\n", "\r", '"x\ny"', '""', "ü", " ", "\n1,2\n", '\n"a,b",c\n']),
    max_size=60,
).map("".join)


def rows(table):
    """The records in any order: those that cannot be read stand at the end of their piece."""
    return sorted(map(repr, table.to_pylist()))


def together(batches):
    return pa.concat_tables([t.replace_schema_metadata(None) for t in batches.read()])


@settings(deadline=None, max_examples=200)
@given(PIECES, st.sampled_from([1, 7, 40]), st.booleans(), st.sampled_from(["utf-8", "utf-16-le", "cp1252"]))
def test_text_that_is_cut_anywhere_reads_as_it_does_whole(tmp_path_factory, text, piece, multiline, encoding):
    path = tmp_path_factory.mktemp("text") / "t.csv"
    path.write_bytes(f"a,b\n{text}".encode(encoding))
    whole = read(path, encoding=encoding, multiline=multiline)
    parts = text_batches(path, ReadForm(encoding=encoding, multiline=multiline), piece=piece)
    assert rows(together(parts)) == rows(whole.table)
    assert parts.columns == tuple(whole.table.column_names)
    assert parts.notices == whole.notices
    assert sorted(parts.odd) == sorted(whole.odd)


@settings(deadline=None, max_examples=100)
@given(
    PIECES, st.sampled_from([1, 7, 40]), st.sampled_from(["\n", "\r\n", "\r"]), st.sampled_from(["utf-8", "utf-16-le"])
)
def test_headers_below_a_title_are_the_same_wherever_the_text_is_cut(tmp_path_factory, text, piece, end, encoding):
    path = tmp_path_factory.mktemp("text") / "t.csv"
    path.write_bytes((end.join(["", "Täble, of", "", "", "(2024)", "a,b", ""]) + text).encode(encoding))
    form = ReadForm(encoding=encoding, header_row=3)
    whole = read(path, encoding=encoding, header_row=3)
    parts = text_batches(path, form, piece=piece)
    assert parts.columns == ("a", "b")
    assert rows(together(parts)) == rows(whole.table)
    assert sorted(parts.odd) == sorted(whole.odd)
    if divisible(path, form):
        shares = [text_batches(path, form, share=Share(i, 3)) for i in range(3)]
        assert sorted(row for share in shares for row in rows(together(share))) == rows(whole.table)


def test_headers_far_below_the_beginning_of_a_file_are_found(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"".join(b"%d %s\n" % (i, b"x" * 999) for i in range(600)) + b"a,b\n1,2\n")
    found = text_batches(path, ReadForm(header_row=601), piece=10_000)
    assert found.columns == ("a", "b") and together(found).to_pydict() == {"a": ["1"], "b": ["2"]}
    with pytest.raises(TableError, match="the file has fewer"):
        text_batches(path, ReadForm(header_row=700))


def test_bytes_that_do_not_decode_are_lost_in_their_cell_alone(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"a,b\nx,\xff1\ny,2\n" * 50)
    whole = read(tmp_path / "t.csv")
    parts = text_batches(tmp_path / "t.csv", ReadForm(), piece=16)
    assert rows(together(parts)) == rows(whole.table)
    assert tuple(parts.odd) == whole.odd


@pytest.mark.parametrize("body", [b"1,2\n\xff,3\n", b"1,2\n\x00,3\n", b"1,2\n1\n", b'1,2\n"1,2\n'])
def test_strict_refuses_what_it_refuses_whole_and_names_the_same_place(tmp_path, body):
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n" + b"5,6\n" * 30 + body)
    with pytest.raises(TableError) as whole:
        read(path, strict=True)
    with pytest.raises(TableError) as parts:
        together(text_batches(path, ReadForm(strict=True), piece=16))
    assert str(parts.value) == str(whole.value)


def test_a_second_reading_starts_anew(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"a,b\n" + b"5,6\n7\n" * 30)
    parts = text_batches(tmp_path / "t.csv", ReadForm(), piece=16)
    assert rows(together(parts)) == rows(together(parts))
    assert len(parts.odd) == 1


def test_compressed_files_that_are_cut_or_damaged_are_refused(tmp_path):
    whole = gzip.compress(b"a,b\n" + bytes(range(48, 58)) * 9999)
    for data in (whole[:-20], whole[:-8] + b"12345678"):
        (tmp_path / "t.csv.gz").write_bytes(data)
        with pytest.raises(TableError, match="compressed file"):
            together(text_batches(tmp_path / "t.csv.gz", ReadForm()))


def test_folders_give_columns_by_their_names(tmp_path):
    table = pa.table({"a": ["1", "2"]})
    for year, sex in (("2020", "f"), ("2021", "__HIVE_DEFAULT_PARTITION__")):
        folder = tmp_path / f"year={year}" / f"sex={sex}"
        folder.mkdir(parents=True)
        write_table(table, folder / "part.parquet")
    found = together(open_table(tmp_path, ReadForm()))
    assert found.to_pydict() == {"a": ["1", "2", "1", "2"], "year": ["2020"] * 2 + ["2021"] * 2,
                                 "sex": ["f", "f", None, None]}  # fmt: skip


def test_files_of_one_table_have_the_same_columns_in_any_order(tmp_path):
    write_table(pa.table({"a": ["1"], "b": ["2"]}), tmp_path / "1.csv")
    write_table(pa.table({"b": ["4"], "a": ["3"]}), tmp_path / "2.csv")
    found = open_table(tmp_path, ReadForm())
    assert together(found).to_pydict() == {"a": ["1", "3"], "b": ["2", "4"]}
    assert "2 files" in found.notices[0]
    write_table(pa.table({"b": ["4"]}), tmp_path / "3.csv")
    with pytest.raises(TableError, match=r"'3.csv' has other columns than '1.csv'"):
        open_table(tmp_path, ReadForm())


def test_places_without_a_table_are_refused_in_a_sentence(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "both").mkdir()
    write_table(pa.table({"a": [1]}), tmp_path / "both" / "a.csv")
    write_table(pa.table({"a": [1]}), tmp_path / "both" / "a.parquet")
    (tmp_path / "zero.csv").touch()
    for place, words in (
        ("none.csv", "does not exist"), ("empty", "holds no table"), ("*.none", "holds no table"),
        ("both", "Parquet files and text files"), ("zero.csv", "is empty"),
    ):  # fmt: skip
        with pytest.raises(TableError, match=words):
            open_table(tmp_path / place, ReadForm())
    with pytest.raises(TableError, match="address of a database") as found:
        open_table("postgresql://me:secret@host/name", ReadForm())
    assert "secret" not in str(found.value)
