import datetime
import re

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpsyn_core.errors import OutputError
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.document import Schema
from dpsyn_core.tables import write
from dpsyn_core.tables.digest import content_digest, digests_of_file
from dpsyn_core.tables.read import read_table
from dpsyn_core.tables.write import check_target, csv_bytes, write_table
from tests.schema.helpers import cat, schema

TABLE = pa.table(
    {
        "text": ["plain", 'q"u,o\nte', None],
        "whole": [-1, None, 2**60],
        "real": [0.1, 1e300, None],
        "flag": [True, False, None],
        "day": pa.array([datetime.date(1, 1, 1), datetime.date(9999, 12, 31), None]),
        "time": pa.array([0, -1, None], pa.timestamp("s")),
        "zoned": pa.array([0, 86_399, None], pa.timestamp("s", tz="UTC")),
    }
)
AS_TEXT = {
    "text": ["plain", 'q"u,o\nte', ""],
    "whole": ["-1", "", "1152921504606846976"],
    "real": ["0.1", "1e+300", ""],
    "flag": ["true", "false", ""],
    "day": ["0001-01-01", "9999-12-31", ""],
    "time": ["1970-01-01 00:00:00", "1969-12-31 23:59:59", ""],
    "zoned": ["1970-01-01 00:00:00Z", "1970-01-01 23:59:59Z", ""],
}


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz"])
def test_text_files_read_back_as_written(tmp_path, ending):
    write_table(TABLE, tmp_path / f"t.{ending}")
    assert read_table(tmp_path / f"t.{ending}", multiline=True).to_pydict() == AS_TEXT


def test_cells_are_quoted_only_where_they_need_it(tmp_path):
    table = pa.table({"a,b": ["plain", 'say "hi"', "x,y", "two\nlines"], "c": [1.0, 0.5, None, -2.0]})
    write_table(table, tmp_path / "t.csv")
    text = (tmp_path / "t.csv").read_text()
    assert text == '"a,b",c\nplain,1.0\n"say ""hi""",0.5\n"x,y",\n"two\nlines",-2.0\n'
    write_table(table, tmp_path / "t.tsv")
    assert (tmp_path / "t.tsv").read_text().splitlines()[3] == "x,y\t"


def test_a_table_with_a_decimal_comma_has_one_mark_one_delimiter_and_the_digest_of_its_content(tmp_path):
    schema = Schema.of({"version": 1, "name": "shop", "attributes": [
        {"name": "price", "kind": "numeric", "dtype": "float", "min": 0, "max": 20, "step": 0.01, "written": "10,56 €"},
        {"name": "rate", "kind": "numeric", "dtype": "float", "min": 0, "max": 20, "step": 0.5, "missing": True},
    ]})  # fmt: skip
    codec = Codec(schema)
    codes = np.zeros((2, 40), np.int64)
    codes[1, :3] = schema["rate"].size - 1
    table = codec.decode(codes, rng=np.random.default_rng(1))
    write_table(table, tmp_path / "t.parquet")
    write_table(pq.read_table(tmp_path / "t.parquet"), tmp_path / "t.csv")
    lines = (tmp_path / "t.csv").read_text("utf-8").splitlines()
    assert lines[0] == "price;rate"
    assert all(re.fullmatch(r"\d+,\d\d €;(\d+,\d)?", line) for line in lines[1:])
    assert digests_of_file(tmp_path / "t.csv") == (content_digest(table), False)


def test_blank_cells_of_a_single_column_are_lines_of_their_own(tmp_path):
    write_table(pa.table({"a": ["x", "", None, "y"]}), tmp_path / "t.csv")
    assert read_table(tmp_path / "t.csv", multiline=True).to_pydict() == {"a": ["x", "", "", "y"]}


def test_long_tables_are_written_in_pieces_without_a_seam(tmp_path):
    n = 3 * write.LINES + 1
    write_table(pa.table({"i": list(range(n)), "s": ["é"] * n}), tmp_path / "t.csv.gz")
    back = read_table(tmp_path / "t.csv.gz", multiline=True)
    assert back["i"].to_pylist() == [str(i) for i in range(n)] and back.num_rows == n


def test_parquet_keeps_every_type_and_cell(tmp_path):
    table = TABLE.append_column("formula", pa.array(["=1+1", "-x", "+y"]))
    write_table(table, tmp_path / "t.parquet")
    back = pq.read_table(tmp_path / "t.parquet")  # Parquet has no unit of whole seconds
    assert back.cast(table.schema).equals(table)
    assert [str(t).split("[")[0] for t in back.schema.types] == [str(t).split("[")[0] for t in table.schema.types]


def test_excel_holds_the_same_cells(tmp_path):
    write_table(TABLE.select(["text", "whole", "zoned"]), tmp_path / "t.xlsx")
    page = openpyxl.load_workbook(tmp_path / "t.xlsx").active
    assert [c.value for c in page[1]] == ["text", "whole", "zoned"]
    assert page["A2"].value == "plain" and page["B2"].value == -1 and page["A4"].value is None


@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx"])
def test_row_22_cells_that_a_spreadsheet_would_run_are_escaped_in_text_columns_only(tmp_path, ending):
    text = ["=1+1", "+cmd", "-cmd", "@SUM", "\tx", "\rx", "fine", "a=b", "-1.5", "+2e3"]
    table = pa.table({"=header": text, "number": list(range(-5, 5))})
    write_table(table, tmp_path / f"t.{ending}")
    back = read_table(tmp_path / f"t.{ending}", multiline=True).to_pydict()
    assert list(back) == ["'=header", "number"]
    escaped = back["'=header"]
    assert escaped[:4] == ["'=1+1", "'+cmd", "'-cmd", "'@SUM"] and escaped[4] == "'\tx"
    assert escaped[5].startswith("'") and escaped[6:] == text[6:]  # numbers written as text run nothing
    assert back["number"] == [str(i) for i in range(-5, 5)]


RUN = ["=1+1", "+cmd", "-cmd", "@SUM", "\tx", "\rx", "\n=x", "\uff1d1", "\uff0b1", "\uff0d1", "\uff20S", "\ufeff=1"]


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "xlsx"])
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())])
def test_cells_that_a_spreadsheet_may_run_are_escaped_and_come_back_as_they_were(tmp_path, ending, kind):
    declared = schema(cat("a", [*RUN, "fine"], other=True), cat(RUN[-1], [0]))
    table = pa.table({"a": pa.array([*RUN, "fine"]).cast(kind), RUN[-1]: [0] * (len(RUN) + 1)})
    write_table(table, tmp_path / f"t.{ending}")
    written = read_table(tmp_path / f"t.{ending}", multiline=True)
    assert written.column_names[1].startswith("'")
    assert all(cell[0] == "'" for cell in written["a"].to_pylist()[:-1])
    codes = Codec(declared).encode(written).codes[0].tolist()
    kept = [c for c in range(len(RUN)) if RUN[c] != "\rx"]  # which is read as a line feed, as every line end is
    assert [codes[c] for c in kept] == kept and codes[-1] == len(RUN)


def test_a_small_table_has_the_bytes_of_its_csv_file(tmp_path):
    table = pa.table({"=h": ["=1", 'a"b', None], "n": [1.0, None, -2.0]})
    write_table(table, tmp_path / "t.csv")
    assert write.csv_bytes(table) == (tmp_path / "t.csv").read_bytes()


def test_files_appear_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    write_table(pa.table({"a": [1]}), path)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(write, "_lines", full)
    with pytest.raises(OutputError, match="No space left"):
        write_table(pa.table({"a": [2]}), path)
    assert [p.name for p in tmp_path.iterdir()] == ["t.csv"]
    assert read_table(path).to_pydict() == {"a": ["1"]}


def test_outputs_that_cannot_be_written_are_refused_beforehand(tmp_path):
    (tmp_path / "folder.csv").mkdir()
    for path, word in (
        (tmp_path / "t.docx", "ending"),
        (tmp_path / "t", "ending"),
        (tmp_path / "no" / "t.csv", "folder"),
        (tmp_path / "folder.csv", "folder"),
    ):
        with pytest.raises(OutputError, match=word):
            check_target(path)
        with pytest.raises(OutputError, match=word):
            write_table(pa.table({"a": [1]}), path)
    check_target(tmp_path / "fine.csv")
    assert [p.name for p in tmp_path.iterdir()] == ["folder.csv"]


def test_marks_alone_run_nothing_and_stay_as_they_are():
    """A flag of a laboratory: a reader of the file finds the values of the schema."""
    table = pa.table({"flag": ["+", "++", "-", "--", "+1+x", "-a"]})
    assert csv_bytes(table).decode().splitlines()[1:] == ["+", "++", "-", "--", "'+1+x", "'-a"]


def test_large_and_small_reals_are_written_digit_by_digit():
    values = [1e10, 1.5e15, 12345678901.5, 1e-7, -2.5e-9, 0.1]
    shown = csv_bytes(pa.table({"x": values, "y": ["a"] * len(values)})).decode().splitlines()[1:]
    assert [line.split(",")[0] for line in shown] == [
        "10000000000.0", "1500000000000000.0", "12345678901.5", "0.0000001", "-0.0000000025", "0.1",
    ]  # fmt: skip


@pytest.mark.parametrize("ending", [".sav", ".dta", ".xpt", ".xlsx"])
def test_a_text_that_a_format_would_cut_or_cannot_hold_is_refused_without_being_shown(tmp_path, ending):
    pytest.importorskip("pyreadstat")
    path = tmp_path / f"t{ending}"
    with pytest.raises(OutputError, match="character") as refused:
        write_table(pa.table({"a": ["x\0secret", "b"], "n": [1, 2]}), path)
    assert "secret" not in str(refused.value) and not path.exists()
