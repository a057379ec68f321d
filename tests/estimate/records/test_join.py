"""Separate, append and join, each against what it promises."""

import numpy as np
import pytest

from dpsyn_core.estimate.marginals.types import Measurement
from dpsyn_core.estimate.records.gum import UpdateSettings
from dpsyn_core.estimate.records.join import components, conditional_column, match_within, peel
from dpsyn_core.estimate.records.polish import fit_to_marginals
from dpsyn_core.schema.domain import Domain


def measurement(names, shape):
    values = np.random.default_rng(len(names[0])).random(shape) * 100
    return Measurement(attributes=tuple(names), values=values, sigma=1.0)


def test_components_are_the_connected_groups():
    sets = [("a", "b"), ("d", "e"), ("b", "c"), ("f",), ()]
    assert components(sets, "abcdefg") == [("a", "b", "c"), ("d", "e"), ("f",), ("g",)]


def test_chains_and_stars_peel_down_to_one_attribute():
    pairs = [measurement(p, (2, 2)) for p in ("ab", "bc", "cd", "ce")]
    left, leaves = peel([*pairs, measurement("c", (2,))])
    assert len(leaves) == 4
    known = {n for m in left for n in m.attributes} or {leaves[-1].parent}
    for leaf in reversed(leaves):  # every parent is there when its leaf is drawn
        assert leaf.parent in known
        known.add(leaf.name)
    assert known == set("abcde")


def test_a_cycle_does_not_peel():
    pairs = [measurement(p, (2, 2)) for p in ("ab", "bc", "ac")]
    left, leaves = peel(pairs)
    assert len(left) == 3
    assert not leaves


def test_a_conditional_column_is_exact_up_to_one_record_a_value():
    table = np.array([[30.0, 10, 0], [0, 0, 0], [5, -3, 5], [1, 1, 8]])
    parent = np.random.default_rng(0).permutation(np.repeat([0, 1, 2, 3], [400, 10, 101, 0])).astype(np.uint8)
    column = conditional_column(parent, table, rng=np.random.default_rng(1))
    got = np.zeros((4, 3))
    np.add.at(got, (parent, column), 1)
    np.testing.assert_allclose(got[0], [300, 100, 0], atol=1)
    np.testing.assert_allclose(got[1], 10 * np.array([36, 11, 13]) / 60, atol=1.001)
    np.testing.assert_allclose(got[2], [50.5, 0, 50.5], atol=1)
    assert not got[3].any()
    assert got[0, 2] == 0


def test_the_conditional_column_ignores_the_order_of_records():
    parent = np.zeros(200, dtype=np.uint8)
    column = conditional_column(parent, np.array([[1.0, 1.0]]), rng=np.random.default_rng(0))
    assert 70 < column[:100].sum() * 2 < 130 or 35 < column[:100].sum() < 65
    assert column.sum() == 100


def test_equal_keys_meet_wherever_they_can_and_nothing_is_used_twice():
    left, right = np.array([0, 0, 0, 1, 2, 2]), np.array([2, 1, 0, 0, 1, 2])
    found = match_within(left, right, rng=np.random.default_rng(0))
    assert sorted(found.tolist()) == list(range(6))
    assert (right[found] == left).sum() == 5
    assert match_within(left[:0], right[:0], rng=np.random.default_rng(0)).size == 0


@pytest.mark.parametrize("append", [False, True])
@pytest.mark.parametrize("separate", [False, True])
def test_records_made_in_parts_match_the_same_tables(append, separate):
    domain = Domain.of({"a": 3, "b": 4, "c": 2, "d": 3, "e": 2})
    base = np.random.default_rng(0).random((3, 4, 2)) ** 3
    ab, bc = base.sum(axis=2), base.sum(axis=0)
    de = np.random.default_rng(1).random((3, 2)) ** 3
    measured = [
        Measurement(attributes=names, values=values / values.sum() * 1000, sigma=1.0)
        for names, values in ((("a", "b"), ab), (("b", "c"), bc), (("d", "e"), de))
    ]
    codes = fit_to_marginals(
        measured,
        domain,
        1000,
        UpdateSettings(alpha=1.0, polish=0),
        append=append,
        separate=separate,
        rng=np.random.default_rng(0),
    )
    for m in measured:
        rows = [domain.index(n) for n in m.attributes]
        got = np.zeros(m.values.shape)
        np.add.at(got, tuple(codes[r] for r in rows), 1)
        assert np.abs(got - m.values).sum() < 40
