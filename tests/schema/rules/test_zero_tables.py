"""Bounds and conditions over the cells of a table against every number that a cell stands for."""

import itertools

import numpy as np
import pytest

from dpsyn_core.schema.rules.zeros import CodeTable, ZeroAxis, all_of, blank_codes
from dpsyn_core.systems.base import zeros_of
from tests.schema.helpers import cat, num, schema

SCHEMA = schema(
    num("a", 0, 11, 4), num("b", -6, 5, [-6, -5, 0, 5]), num("c", 0, 3, 2, missing=True, special_values=[9]),
    cat("k", list("xyz"), missing=True),
)  # fmt: skip
ATTRIBUTES = {a.name: a for a in SCHEMA.attributes}
MAPS = {"a": np.array([0, 1, 1, 0]), "b": np.array([1, 0, 0])}


def numbers(name, position, merged):
    """All whole numbers of one position of an axis."""
    a = ATTRIBUTES[name]
    first, last = (b.astype(int) for b in a.binning.bounds())
    places = MAPS[name] if merged else np.arange(a.size)
    return [v for code in np.flatnonzero(places == position) for v in range(first[code], last[code] + 1)]


def table(names, merged=False):
    axes = {}
    for n in names:
        places = MAPS[n] if merged else np.arange(ATTRIBUTES[n].size)
        axes[n] = ZeroAxis(ATTRIBUTES[n], places, int(places.max()) + 1)
    return CodeTable(axes, ATTRIBUTES)


@pytest.mark.parametrize("merged", [False, True])
@pytest.mark.parametrize("weights", list(itertools.product([-2, 0, 1], repeat=2)))
def test_the_reach_of_a_weighted_sum_is_that_of_all_numbers_of_its_cells(weights, merged):
    t = table(("a", "b"), merged)
    least, most = t.reach(("a", "b"), weights)
    sizes = [t.axes[n].size for n in "ab"]
    for cell in itertools.product(*map(range, sizes)):
        sums = [
            weights[0] * x + weights[1] * y
            for x in numbers("a", cell[0], merged)
            for y in numbers("b", cell[1], merged)
        ]
        assert np.broadcast_to(least, sizes)[cell] == min(sums)
        assert np.broadcast_to(most, sizes)[cell] == max(sums)


def test_a_column_without_an_axis_reaches_over_its_whole_range():
    least, most = table(("a",)).reach(("a", "b"), (1, -1))
    assert least.tolist() == [0 - 5, 3 - 5, 6 - 5, 9 - 5] and most.tolist() == [2 + 6, 5 + 6, 8 + 6, 11 + 6]


@pytest.mark.parametrize("where", ["{} in [{}, {}]", "not {} in [{}, {}]"])
@pytest.mark.parametrize(
    ("low", "high"), list(itertools.combinations_with_replacement([-7, -5, -4, 0, 2, 3, 5, 11], 2))
)
def test_codes_meet_a_condition_in_all_or_in_some_of_their_numbers(where, low, high):
    for name in "ab":
        t = table((name,))
        for every, quantifier in ((True, all), (False, any)):
            [(column, codes)] = t.met(where.format(name, low, high), every=every)
            meets = [[(low <= v <= high) != where.startswith("not") for v in numbers(name, p, False)]
                     for p in range(ATTRIBUTES[name].size)]  # fmt: skip
            assert column == name and codes.tolist() == [bool(quantifier(m)) for m in meets]


def test_axes_collect_all_or_some_of_their_codes():
    axis = table(("a",), merged=True).axes["a"]
    for codes in itertools.product([False, True], repeat=4):
        groups = [(codes[0], codes[3]), (codes[1], codes[2])]
        assert axis.all(np.array(codes)).tolist() == [all(g) for g in groups]
        assert axis.any(np.array(codes)).tolist() == [any(g) for g in groups]
    parts = [np.array(p) for p in ([True, True, False], [True, False, True], [True, True, True])]
    assert all_of(parts).tolist() == [True, False, False] and all_of(parts[:1]).tolist() == [True, True, False]


def test_a_rule_says_something_of_a_table_over_some_of_its_columns_where_no_other_can_be_blank():
    t = table(("a", "k"))
    assert t.has(("a",)) and t.has(("a", "k")) and not t.has(("a", "b"))
    assert t.known(("a", "b")), "b is never blank"
    assert not t.known(("a", "c")), "c may be blank"
    assert not t.known(("b",)) and t.known(("a", "k"))


@pytest.mark.parametrize("order", list(itertools.permutations(("a", "b", "k"), 3)))
def test_possible_pairs_stand_along_their_axes_in_any_order(order):
    may = np.random.default_rng(0).random((4, 3)) < 0.3
    t = table(order)
    full = np.broadcast_to(t.pairs("a", "b", may), [t.axes[n].size for n in order])
    for cell in np.ndindex(full.shape):
        at = dict(zip(order, cell, strict=True))
        assert full[cell] == may[at["a"], at["b"]]
    merged = table(("a", "b"), merged=True)
    got = merged.pairs("a", "b", may)
    for i, j in np.ndindex(got.shape):
        assert got[i, j] == may[np.ix_(MAPS["a"] == i, MAPS["b"] == j)].any()


def test_blank_special_and_listed_values_are_the_codes_that_hold_them():
    assert np.flatnonzero(blank_codes(ATTRIBUTES["c"], None)).tolist() == [3]
    assert np.flatnonzero(blank_codes(ATTRIBUTES["c"], 9)).tolist() == [2]
    assert np.flatnonzero(blank_codes(ATTRIBUTES["k"], "y")).tolist() == [1]
    assert np.flatnonzero(blank_codes(ATTRIBUTES["k"], None)).tolist() == [3]


def test_emptied_tables_keep_their_sum_and_the_ratios_of_what_is_possible():
    zeros = zeros_of(
        schema(num("a", 0, 3, 4), num("b", 0, 3, 4), rules=[{"kind": "order", "lower": "a", "upper": "b"}])
    )
    impossible = zeros.cells(("a", "b"))
    rng = np.random.default_rng(1)
    values = rng.uniform(-1, 9, (4, 4))
    clean = zeros.emptied(values, ("a", "b"))
    assert not clean[impossible].any() and clean.sum() == pytest.approx(values.sum())
    positive = (values > 0) & ~impossible
    ratio = clean[positive] / values[positive]
    assert ratio == pytest.approx(np.full(positive.sum(), ratio[0]))
    negative = (values < 0) & ~impossible
    assert clean[negative].tolist() == values[negative].tolist()
    nothing = np.where(impossible, 5.0, 0.0)
    assert not zeros.emptied(nothing, ("a", "b")).any(), "nothing possible to scale"
    lost = np.where(impossible, -5.0, 0.1)
    assert zeros.emptied(lost, ("a", "b")).tolist() == np.where(impossible, 0.0, 0.1).tolist()
    assert zeros.emptied(values[:2], ("a", "b")) is not None and zeros.emptied(values, ()) is values
