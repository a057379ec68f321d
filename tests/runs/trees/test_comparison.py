"""Figures of links by plain loops: numbers of children, a parent's column with a child's, and consecutive siblings."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from dpsyn_core.runs.trees import comparison
from dpsyn_core.runs.trees.comparison import _of_siblings, children_apart, children_words, sizes


def forest(counts, seed=0, values=(3, 4)):
    """Parents with so many children each, one table of children with two columns."""
    rng = np.random.default_rng(seed)
    first = np.array([i == 0 for k in counts for i in range(k)], dtype=bool)
    rest = np.stack([rng.integers(0, v, len(first)) for v in values]).astype(np.uint8)
    children = SimpleNamespace(first=first, rest=rest, singles=[], counts=np.array(counts, dtype=np.int64))
    return SimpleNamespace(children=[children], counts=counts)


def apart(one, other):
    """Half of the sum of absolute differences of shares."""
    keys = {*one, *other}
    return sum(abs(one.count(k) / len(one) - other.count(k) / len(other)) for k in keys) / 2


def siblings(made, column):
    values, at, out = made.children[0].rest[column].tolist(), 0, []
    for k in made.counts:
        out += itertools.pairwise(values[at : at + k])
        at += k
    return out


OWN = [SimpleNamespace(name="a", size=3), SimpleNamespace(name="b", size=4)]


def test_consecutive_siblings_are_compared_column_by_column():
    made, real = forest([3, 1, 4, 2, 6, 5] * 9), forest([2, 5, 1, 3] * 12, seed=1)
    (score,) = _of_siblings("p > c", 0, OWN, made, real)
    off = {a.name: apart(siblings(made, j), siblings(real, j)) for j, a in enumerate(OWN)}
    worst = max(off, key=off.get)
    assert score.value == pytest.approx(sum(off.values()) / 2) and score.worst == pytest.approx(off[worst])
    assert (score.scope, score.metric, score.columns) == ("p > c", "siblings", (worst,))
    assert f"{off[worst]:.1%} ({worst})" in score.sentence
    assert _of_siblings("p > c", 0, OWN, made, forest([1, 1, 1])) == [], "nobody has a sibling"


@pytest.mark.parametrize(("largest", "columns"), [(16, 2), (15, 1), (9, 1), (8, 0)])
def test_columns_of_too_many_values_are_left_out_of_siblings(monkeypatch, largest, columns):
    monkeypatch.setattr(comparison, "LARGEST", largest)
    made, real = forest([3, 4] * 9), forest([2, 5] * 9, seed=1)
    found = _of_siblings("p > c", 0, OWN, made, real)
    off = [apart(siblings(made, j), siblings(real, j)) for j in range(columns)]
    assert [s.value for s in found] == ([pytest.approx(sum(off) / columns)] if columns else [])


def test_numbers_of_children_count_those_without_a_place_among_the_others():
    made, real = forest([3, 1, 0, 2]), forest([1, 1, 1, 5])
    made.children[0].singles = [(np.array([True, False, True, True]), None)]
    assert sizes(made, 0).tolist() == [4, 1, 1, 3] and sizes(real, 0).tolist() == [1, 1, 1, 5]
    found = children_apart(SimpleNamespace(max_children=5), 0, made, real)
    assert found == pytest.approx(apart([4, 1, 1, 3], [1, 1, 1, 5])) == pytest.approx(0.5)
    assert children_words(0.5) == "The number of children of a parent is off by 50.0% (total variation distance)."
