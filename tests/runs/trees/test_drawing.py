"""Columns that are drawn from the table of another one: every value, by its share of the row."""

import numpy as np
import pytest

from dpsyn_core.runs.trees import synthesis
from dpsyn_core.runs.trees.synthesis import _drawn


class Levels:
    """A generator that gives these levels, again and again."""

    def __init__(self, levels):
        self.levels, self.asked = levels, 0

    def random(self, size):
        out = np.resize(np.roll(self.levels, -self.asked), size)
        self.asked += size
        return out


@pytest.mark.parametrize("at_once", [1, 7, 10_000])
def test_a_value_is_drawn_where_the_shares_before_it_end(monkeypatch, at_once):
    monkeypatch.setattr(synthesis, "DRAWN_AT_ONCE", at_once)
    table = np.array([[1.0, 2.0, 1.0], [0.0, 0.0, 5.0], [3.0, -1.0, 0.0]])
    levels = np.linspace(0, 1, 101)[:-1] + 0.001
    for row, shares in enumerate(([0.25, 0.75, 1.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0])):
        found = _drawn(table, np.full(100, row, dtype=np.uint16), Levels(levels))
        assert found.dtype == np.uint16
        assert found.tolist() == [next(i for i, s in enumerate(shares) if level <= s + 1e-9) for level in levels]


def test_a_row_without_counts_gives_every_value_and_none_beyond_the_last():
    highest = np.nextafter(1.0, 0.0)
    for table in (np.zeros((1, 4)), np.array([[0.0, 0, 0, 0], [9, 9, 9, 9]])):
        found = _drawn(table, np.zeros(5, dtype=np.uint16), Levels(np.array([0.1, 0.3, 0.6, 0.9, highest])))
        assert found.tolist() == [0, 1, 2, 3, 3]
