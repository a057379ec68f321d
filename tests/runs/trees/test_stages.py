"""Which pairs the views of a stage count."""

from types import SimpleNamespace

import numpy as np
import pytest

from dpsyn_core.runs.trees.stages import (
    ViewColumn,
    _difference,
    _pairs,
    difference_codes,
    has_differences,
    pairs_in_root,
    stages_of,
)
from dpsyn_core.schema.domain import CodedAttribute
from tests.runs.trees.small import SCHEMAS


@pytest.mark.parametrize("name", ["plain", "ordered", "many"])
def test_every_pair_of_siblings_looks_at_both_of_them(name):
    # a pair of one child's own columns is measured of all children; of those with a sibling before, a fit would hold
    # all children against a table of fewer, and flatten it
    found = [s.siblings for s in stages_of(SCHEMAS[name]) if s.siblings is not None]
    assert found
    for view in found:
        kinds = {c.attribute.name: c.kind for c in view.columns}
        assert view.pairs and all({kinds[n] for n in pair} != {"own"} for pair in view.pairs)


def column(name, kind="own", special=0, **more):
    return ViewColumn(attribute=CodedAttribute(name=name, size=6, ordered=True, special=special), kind=kind, **more)


STANDING, OWN, OTHER = column("p", "context"), column("a"), column("b")


@pytest.mark.parametrize(
    ("columns", "pairs"),
    [
        ([STANDING, column("q", "context"), OWN, OTHER], {"pa", "pb", "qa", "qb", "ab"}),
        # a difference of a from p: with p itself, and with child columns that are no part of it
        ([STANDING, column("q", "context"), OWN, OTHER, column("d", "difference", of=(0, 2))],
         {"pa", "pb", "qa", "qb", "ab", "pd", "bd"}),
        # a time between stands for the pair of both dates, and goes with all that stands
        ([STANDING, column("q", "context"), OWN, OTHER, column("d", "difference", of=(0, 2), span=SimpleNamespace())],
         {"pb", "qa", "qb", "ab", "pd", "qd", "bd"}),
        ([column("p", "context", special=1), OWN, column("d", "difference", of=(0, 1), span=SimpleNamespace())], set()),
        ([STANDING, column("q", "context", special=1), OWN,
          column("d", "difference", of=(0, 2), span=SimpleNamespace())], {"qa", "pd", "qd"}),
        ([column("x", "before"), column("y", "before"), OWN, OTHER], {"xa", "xb", "ya", "yb"}),
        ([column("x", "before"), OWN, column("d", "difference", of=(0, 1)), column("e", "difference", of=(0, 1))],
         {"xa"}),
    ],
)  # fmt: skip
def test_pairs_of_a_view_tell_something_of_a_child(columns, pairs):
    assert {a + b for a, b in _pairs(columns)} == pairs


def test_differences_are_bins_apart_and_blank_cells_have_none():
    minus, of = CodedAttribute(name="m", size=4, special=1), CodedAttribute(name="o", size=6, special=2, number=True)
    codes = difference_codes(minus, of)
    for i in range(4):
        for j in range(6):
            assert codes[i, j] == (j - i + 2 if i < 3 and j < 4 else 6)
    made = _difference(minus, of, (0, 1)).attribute
    assert (made.name, made.size, made.special, made.ordered, made.number) == ("o - m", 7, 1, True, True)
    assert codes.max() == made.size - 1 and set(codes[:3, :4].ravel()) == set(range(6))
    assert not has_differences(CodedAttribute(name="x", size=50))
    least = next(
        k for k in range(1, 99) if has_differences(CodedAttribute(name="x", size=k + 1, ordered=True, special=1))
    )
    assert has_differences(CodedAttribute(name="x", size=least, ordered=True)) and least > 2
    assert not has_differences(CodedAttribute(name="x", size=least, ordered=True, special=1))


def test_pairs_of_siblings_are_counted_by_root_up_to_their_distance():
    counts, root = np.array([3, 1, 4, 0]), np.array([0, 0, 1, 1])
    children = SimpleNamespace(counts=counts, of_parent=np.repeat(np.arange(4), counts))
    forest = SimpleNamespace(children=[children], n_roots=2, root_of=lambda link: root)
    stage = SimpleNamespace(link=0)
    for lags, expected in ((1, (2, 3)), (2, (3, 5)), (3, (3, 6)), (9, (3, 6))):
        found = pairs_in_root(forest, stage, lags)
        assert found.tolist() == [expected[0]] * 4 + [expected[1]] * 4
