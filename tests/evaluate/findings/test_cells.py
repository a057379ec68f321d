"""Exact cells of two tables: equal numbers exactly where the cells are, and a value for each that the files have."""

from types import SimpleNamespace

import numpy as np
import pytest

from dpsyn_core.evaluate.findings.cells import SAMPLE, ExactCells, alike
from dpsyn_core.evaluate.shifts import MISSING

REAL = np.array([3.5, np.nan, 1.25, 3.5, 7.0])
SYNTHETIC = np.array([7.0, 2.0, np.nan, 1.25])


def cells(*, units=None, n=5):
    sides = ({"x": REAL}, {"x": SYNTHETIC})
    days = units or {}
    domain = type("D", (), {"names": ("x", "c"), "index": lambda _, name: ["x", "c"].index(name),
                            "__getitem__": lambda _, name: SimpleNamespace(size=3, special=1)})()  # fmt: skip
    return ExactCells(
        SimpleNamespace(
            n=n, domain=domain, scores={}, date_units=days, exact=lambda name: (REAL, SYNTHETIC),
            real_values={} if days else sides[0], synthetic_values={} if days else sides[1],
            real_dates=sides[0] if days else {}, synthetic_dates=sides[1] if days else {},
            words=lambda name: ["red", "green", MISSING],
            truth=np.array([[0] * 5, [0, 1, 2, 2, 0]]), synthetic=np.array([[0] * 4, [1, 1, 2, 0]]),
        )
    )  # fmt: skip


def test_numbers_are_equal_cells_where_they_are_equal_and_blank_ones_are_no_value():
    real, synth, count = cells().column("x")
    assert count == 4
    assert real.tolist() == [2, -1, 0, 2, 3] and synth.tolist() == [3, 1, -1, 0]


def test_categories_are_their_codes_and_missing_ones_no_value():
    real, synth, count = cells().column("c")
    assert (real.tolist(), synth.tolist(), count) == ([0, 1, -1, -1, 0], [1, 1, -1, 0], 3)


def test_the_word_of_a_cell_is_the_number_that_stands_there_in_either_table():
    c = cells()
    assert [c.word("x", i) for i in range(-1, 4)] == ["", "1.25", "2", "3.5", "7"]
    assert [c.word("c", i) for i in range(-1, 2)] == ["", "red", "green"]
    assert c.shown("x", 2) == ("x", "3.5", True) and c.shown("c", 0) == ("c", "red", False)
    assert c.word("x", 9) == ""


def test_the_word_of_a_date_is_its_day_and_its_time_only_where_it_has_one():
    c = cells(units={"x": 86_400})
    assert [c.word("x", i) for i in range(4)] == [
        "1970-01-02T06:00:00",
        "1970-01-03",
        "1970-01-04T12:00:00",
        "1970-01-08",
    ]


@pytest.mark.parametrize("n", [5, 6, SAMPLE + 7])
def test_halves_are_two_sorted_parts_of_the_records_without_a_common_one(n):
    first, second = cells(n=n).halves
    both = np.concatenate([first, second])
    assert len(both) == min(n, SAMPLE) == len(set(both.tolist())) and 0 <= len(first) - len(second) <= 1
    assert (np.diff(first) > 0).all() and (np.diff(second) > 0).all() and both.max() < n


def test_likeness_is_the_share_of_pairs_of_records_with_the_same_cell():
    x = np.array([0, 0, 1, -1, -1, -1], dtype=np.int32)
    same = sum(x[i] == x[j] for i in range(6) for j in range(6) if i != j)
    assert alike(x) == same / 30
