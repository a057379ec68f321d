"""Words of the cells of a released table, where values were merged and where they were not."""

from types import SimpleNamespace

import numpy as np

from dpsyn_core.report.build import _labels


def test_a_merged_cell_has_the_word_of_its_first_value_and_any_other_one_its_own():
    words = SimpleNamespace(words=lambda name: ["a", "b", "c", "d"])
    merged = SimpleNamespace(recodes={"x": SimpleNamespace(first=np.array([0, 2]))})
    assert _labels(words, merged, "x") == ["a", "c"]
    assert _labels(words, merged, "y") == ["a", "b", "c", "d"]
