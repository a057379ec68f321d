"""Which records a condition keeps, against a second implementation that reads one cell after the other."""

import itertools

import pyarrow as pa
import pytest

from dpsyn_core.errors import TableError
from dpsyn_core.tables.databases.record_filter import RecordFilter, places

CELLS = ["a", "b", "", None, "1", "01", "1.0", "2", "-3", "10", "1e1", "x1"]


def number(cell):
    try:
        return float(cell)
    except (TypeError, ValueError):
        return None


def equals(cell, value):
    same = number(cell) is not None and number(value) is not None and number(cell) == number(value)
    return (cell or "") == value or same


def kept(text, cells=CELLS):
    table = pa.table({"c": pa.array(cells, pa.string()), "place": range(len(cells))})
    return RecordFilter.of(text).kept(table).column("place").to_pylist()


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_cell_is_kept_where_it_has_a_listed_text_or_is_the_same_number(size):
    for values in itertools.combinations(["a", "b", "1", "10", "x1", "-3"], size):
        listed = ", ".join(values)
        among = [i for i, cell in enumerate(CELLS) if any(equals(cell, v) for v in values)]
        assert kept(f"c in {{{listed}}}") == among
        assert kept(f"c not in {{{listed}}}") == [i for i in range(len(CELLS)) if i not in among]


def test_blank_cells_equal_an_empty_text_and_nothing_else():
    blank = [i for i, cell in enumerate(CELLS) if not cell]
    assert kept('c = ""') == blank
    assert kept('c != ""') == [i for i in range(len(CELLS)) if i not in blank]
    assert kept("c = a") == [0]


@pytest.mark.parametrize(("low", "high"), [(-3, 1), (1, 10), (2, 2), (1.5, 9.5)])
def test_a_number_lies_between_two_ends_and_on_them_and_text_in_no_interval(low, high):
    inside = [i for i, cell in enumerate(CELLS) if number(cell) is not None and low <= number(cell) <= high]
    assert kept(f"c in [{low}, {high}]") == inside
    assert kept(f"c in [{low}, {high}] and c != 2") == [i for i in inside if CELLS[i] != "2"]


def test_a_day_stands_for_all_its_seconds_at_both_ends():
    cells = ["2020-01-30", "2020-01-31 00:00:00", "2020-01-31 23:59:59", "2020-02-01", "2021-01-01", "no date", None]
    assert kept("c in [2020-01-31, 2020-01-31]", cells) == [1, 2]
    assert kept("c > 2020", cells) == [4]
    assert kept("c >= 2020-02", cells) == [3, 4]
    assert kept("c < 2020-01-31", cells) == [0]


def test_a_column_is_found_by_its_place_and_one_that_is_lacking_is_refused():
    assert places(["a", "b", "c"], ["c", "a"]) == [2, 0]
    with pytest.raises(TableError, match="no column 'd'"):
        places(["a", "b"], ["a", "d"])
