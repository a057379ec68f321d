"""Parts: a place that several processes read together gives each of its records once, whatever the cut."""

import gzip

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsyn_core.errors import TableError
from dpsyn_core.tables import read as reading
from dpsyn_core.tables.batches import Share
from dpsyn_core.tables.read import open_table, parts_of
from dpsyn_core.tables.read_form import ReadForm
from dpsyn_core.tables.text.batches import text_batches

FORM = ReadForm()


def cells(tables):
    """All records as tuples, in any order."""
    return sorted(row for t in tables for row in zip(*[c.to_pylist() for c in t.columns], strict=True))


def read_apart(place, form=FORM):
    """Records of all parts together, and how many parts there are."""
    _, parts = parts_of(place, form)
    return cells(t for part in parts for t in part.read()), len(parts)


lines = st.lists(st.sampled_from(["a,b", "é,", '"q",1', '"x', "one", "1,2,3", ""]), max_size=12)


@settings(max_examples=60, deadline=None)
@given(lines, st.sampled_from(["\n", "\r\n", "\r"]), st.booleans(), st.integers(1, 9), st.booleans())
def test_shares_of_a_text_hold_each_record_once(tmp_path_factory, rows, end, closed, of, marked):
    path = tmp_path_factory.getbasetemp() / "shares.csv"
    text = end.join(["left,right", *rows]) + (end if closed else "")
    path.write_bytes((b"\xef\xbb\xbf" if marked else b"") + text.encode())
    whole = cells(text_batches(path, FORM).read())
    # a share begins behind the headers, which are part of the first
    shares = [Share(i, of) for i in range(of)] if path.stat().st_size // of > 16 else [Share(0, 1)]
    assert cells(t for share in shares for t in text_batches(path, FORM, share=share).read()) == whole


def test_a_folder_of_large_files_is_cut_and_keeps_the_columns_that_its_folders_name(tmp_path, monkeypatch):
    for year in (2020, 2021):
        folder = tmp_path / f"year={year}"
        folder.mkdir()
        table = pa.table({"a": pa.array(range(400)), "b": [f"{year} {i}" for i in range(400)]})
        pq.write_table(table, folder / "part.parquet", row_group_size=90)
    monkeypatch.setattr(reading, "PART", 900)
    found, number = read_apart(tmp_path)
    assert found == cells(open_table(tmp_path, FORM).read())
    assert len(found) == 800 and number == 10  # five groups of rows in each of two files


def test_what_cannot_be_cut_is_one_part(tmp_path, monkeypatch):
    text = "a,b\n" + "".join(f'{i},"two\nlines"\n' for i in range(200))
    (tmp_path / "long.csv").write_text(text)
    with gzip.open(tmp_path / "packed.csv.gz", "wt") as file:
        file.write("a,b\n" + "1,2\n" * 500)
    (tmp_path / "wide.csv").write_bytes(("a,b\n" + "1,2\n" * 500).encode("utf-16"))
    monkeypatch.setattr(reading, "PART", 50)
    for name, form in (
        ("long.csv", ReadForm(multiline=True)),
        ("packed.csv.gz", FORM),
        ("wide.csv", FORM),
        ("long.csv", ReadForm(strict=True, multiline=True)),
    ):
        found, number = read_apart(tmp_path / name, form)
        assert number == 1
        assert found == cells(open_table(tmp_path / name, form).read())


def test_an_excel_file_is_refused(tmp_path):
    import openpyxl

    book = openpyxl.Workbook()
    book.active.append(["a"])
    book.active.append(["1"])
    book.save(tmp_path / "book.xlsx")
    with pytest.raises(TableError, match="Excel file, which cannot be read in parts"):
        parts_of(tmp_path / "book.xlsx", FORM)
