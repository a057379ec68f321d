"""Records drawn from tables in batches: every set is equally likely, and small tables stay whole."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpsyn_core.errors import TableError
from dpsyn_core.tables.batches import Batches
from dpsyn_core.tables.read import open_table
from dpsyn_core.tables.read_form import ReadForm
from dpsyn_core.tables.sample import at_most, sampled


def batches(n, size):
    table = pa.table({"i": np.arange(n), "t": [f"v{i}" for i in range(n)]})
    return Batches(
        columns=("i", "t"), records=n, read=lambda: (table.slice(start, size) for start in range(0, n, size))
    )  # fmt: skip


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_so_many_records_are_drawn_once_each_and_in_their_order(size):
    found = sampled(batches(300, size), 40, rng=np.random.default_rng(0))
    drawn_ = found.whole().column("i").to_pylist()
    assert (len(drawn_), found.records, found.drawn_from) == (40, 40, 300)
    assert drawn_ == sorted(set(drawn_))
    assert found.whole().column("t").to_pylist() == [f"v{i}" for i in drawn_]


def test_every_record_is_drawn_as_often_as_any_other():
    rng = np.random.default_rng(1)
    held = np.zeros(60)
    for _ in range(400):
        held[sampled(batches(60, 13), 15, rng=rng).whole().column("i").to_numpy()] += 1
    # 100 expected of each, standard deviation sqrt(400 x 1/4 x 3/4) = 8.7; the seed is fixed
    assert np.abs(held - 100).max() < 5 * 8.7


def test_a_table_of_fewer_records_is_whole():
    for n in (0, 5, 40):
        found = sampled(batches(n, 7), 40, rng=np.random.default_rng(0))
        assert found.whole().num_rows == found.records == n
        assert found.drawn_from is None


def test_files_whose_columns_have_other_types_meet_as_text(tmp_path):
    pq.write_table(pa.table({"a": [1, 2], "b": ["x", "y"]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"a": [3.0, None], "b": ["z", None]}), tmp_path / "2.parquet")
    found = at_most(open_table(tmp_path), 10, rng=np.random.default_rng(0))
    assert found.whole().column("a").to_pylist() == ["1", "2", "3", None]
    assert found.whole().column("b").to_pylist() == ["x", "y", "z", None]
    assert "2 files" in found.notices[0]


def test_parts_with_different_decimal_marks_are_refused():
    plain = pa.table({"a": ["1"]})
    parts = Batches(columns=("a",), read=lambda: iter([plain, plain.replace_schema_metadata({"dpsyn.decimal": ","})]))
    with pytest.raises(TableError, match="decimal marks"):
        sampled(parts, 10, rng=np.random.default_rng(0))


def test_a_small_file_is_read_as_ever_and_cut_to_what_was_asked(tmp_path):
    path = Path(tmp_path / "t.csv")
    path.write_text("a\n" + "".join(f"{i}\n" for i in range(50)))
    whole = at_most(open_table(path), 50, rng=np.random.default_rng(0))
    some = at_most(open_table(path), 20, rng=np.random.default_rng(0))
    assert (whole.drawn_from, some.drawn_from, some.whole().num_rows) == (None, 50, 20)


def test_headers_below_a_title_are_found_where_they_are_declared(tmp_path):
    path = tmp_path / "titled.csv"
    path.write_text("Survey of 2020\na,b\n1,2\n3,4\n")
    found = at_most(open_table(path, ReadForm(header_row=2)), 50, rng=np.random.default_rng(0))
    assert found.columns == ("a", "b") and found.records == 2
