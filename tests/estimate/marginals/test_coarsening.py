"""Coarsenings: what one is, tables through it, and values that hold enough, keep means or are rare."""

import doctest
import itertools

import numpy as np
import pytest

from dpsyn_core.errors import EngineError, TableError
from dpsyn_core.estimate.marginals import coarsening
from dpsyn_core.estimate.marginals.coarsening import (
    Coarsening,
    _merge_by_mass,
    coarse_domain,
    coarse_shape,
    coarsen,
    in_order,
)
from dpsyn_core.schema.domain import CodedAttribute, Domain


def attribute(size, *, ordered, special=0):
    return CodedAttribute(name="a", size=size, ordered=ordered, special=special)


def by_mass(counts, attribute, least):
    return Coarsening.by_mass(counts, attribute, least=least).map


def test_the_example_of_the_module_runs():
    assert doctest.testmod(coarsening).failed == 0


def test_coarsenings_are_equal_by_value_and_refuse_values_without_a_place():
    one = Coarsening.of([0, 0, 1])
    assert one == Coarsening(np.array([0, 0, 1]), 2) and hash(one) == hash(Coarsening.of([0, 0, 1]))
    assert one != Coarsening(np.array([0, 0, 1]), 3) and one != Coarsening.of([0, 1, 1])
    for codes, size in (([0, 2], 2), ([-1, 0], 2), ([], 1), ([[0]], 1)):
        with pytest.raises(EngineError):
            Coarsening(np.array(codes, dtype=np.intp), size)


def test_sums_and_expansions_follow_the_map_along_every_axis():
    rng = np.random.default_rng(0)
    table, recode = rng.normal(size=(3, 6, 4)), Coarsening.of([1, 0, 1, 2, 1, 0])
    wanted = np.zeros((3, 3, 4))
    for value, coarse in enumerate(recode.map):
        wanted[:, coarse] += table[:, value]
    assert np.array_equal(recode.sum(table, 1), wanted)
    assert np.array_equal(recode.sum(table[0, :, 0]), wanted[0, :, 0])
    assert np.array_equal(recode.sum(table.transpose(1, 0, 2)), wanted.transpose(1, 0, 2))
    assert np.array_equal(recode.expand(wanted, 1)[:, 4], wanted[:, 1])
    assert recode.width.tolist() == [2, 3, 1] and recode.first.tolist() == [1, 0, 3]


def test_coarsening_a_table_adds_up_merged_cells():
    values = np.arange(12.0).reshape(3, 4)
    got = coarsen(values, "ab", {"b": Coarsening.of([1, 0, 1, 1])})
    np.testing.assert_allclose(got, np.stack([values[:, 1], values[:, [0, 2, 3]].sum(axis=1)], axis=1))


def test_what_comes_after_another_is_found_again():
    first, then = Coarsening.of([0, 0, 1, 2, 2]), Coarsening.of([1, 0, 1])
    both = first.compose(then)
    assert both.map.tolist() == [1, 1, 0, 1, 1] and both.without(first) == then
    assert first.refines(both) and not both.refines(first) and first.refines(first)
    assert Coarsening.identity(5).refines(both) and Coarsening.identity(5).is_identity and not both.is_identity


def test_shares_within_a_coarse_value_are_even_where_nothing_is_known():
    found = Coarsening.of([0, 0, 1, 1, 1]).within(np.array([1.0, 3, 0, 0, 0]))
    np.testing.assert_allclose(found, [0.25, 0.75, 1 / 3, 1 / 3, 1 / 3])


def test_runs_are_even_and_special_values_keep_their_codes():
    a = attribute(402, ordered=True, special=2)
    recode = Coarsening.even(a, 32)
    assert recode.width[:32].tolist() == [13, 12] * 16 and recode.map[-2:].tolist() == [32, 33]
    assert Coarsening.even(attribute(5, ordered=True, special=2), 9).map.tolist() == [0, 1, 2, 3, 4]
    domain = Domain((a, CodedAttribute(name="b", size=3)))
    assert coarse_domain(domain, {"a": recode}).sizes == coarse_shape(domain, ("a", "b"), {"a": recode}) == (34, 3)
    with pytest.raises(TableError, match="'b'"):
        coarse_shape(domain, ("b",), {"b": Coarsening.identity(2)})


def test_order_is_found_in_ages_years_and_heaped_hours_and_not_in_shuffled_values():
    rng = np.random.default_rng(0)
    x = np.arange(80)
    ages = 1000 * np.exp(-0.5 * ((x - 30) / 15) ** 2) + rng.normal(0, 40, 80)
    heaped = np.where(x % 5 == 0, 8.0, 1.0) * np.exp(-0.5 * ((x - 40) / 12) ** 2) * 500 + rng.normal(0, 5, 80)
    falling = 1000 / np.arange(1, 41)
    assert in_order(ages)
    assert in_order(heaped)
    assert in_order(falling)
    shuffled = [in_order(rng.permutation(c)) for c in (ages, heaped, falling) for _ in range(200)]
    assert np.mean(shuffled) < 0.01
    assert not in_order(np.arange(11.0))
    assert not in_order(np.full(50, 7.0))


def test_neighbouring_bins_merge_until_they_hold_enough():
    counts = np.array([10.0, 90, 5, 5, 100, 30])
    assert by_mass(counts, attribute(6, ordered=True), 100).tolist() == [0, 0, 1, 1, 1, 1]


def test_rare_values_merge_and_frequent_ones_stay_alone():
    counts = np.array([10.0, 500, 20, 300, 5])
    recode = by_mass(counts, attribute(5, ordered=False), 100)
    assert recode[1] != recode[3]
    assert len({recode[i] for i in (0, 2, 4)}) == 1
    assert recode[0] == recode[3]  # 35 records are too few for a coarse value of their own


def test_what_is_rare_stays_apart_from_a_frequent_value_where_it_is_enough_to_be_seen():
    hours, nights = np.array([17.0, 20, 15, 1_105, 400, 30, 900, 20]), attribute(8, ordered=True)
    assert by_mass(hours, nights, 100).tolist() == [0, 0, 0, 0, 1, 2, 2, 2]
    seen = Coarsening.by_mass(hours, nights, least=100, apart=40).map
    assert seen.tolist() == [0, 0, 0, 1, 2, 3, 3, 3]  # 30 and 20 would not be seen alone
    states = np.array([9_900.0, 40, 60])
    assert by_mass(states, attribute(3, ordered=False), 150).tolist() == [0, 0, 0]
    assert Coarsening.by_mass(states, attribute(3, ordered=False), least=150, apart=90).map.tolist() == [0, 1, 1]
    blanks = np.array([500.0, 600, 60])
    assert by_mass(blanks, attribute(3, ordered=True, special=1), 150).tolist() == [0, 1, 1]
    assert Coarsening.by_mass(blanks, attribute(3, ordered=True, special=1), least=150, apart=50).map.tolist() == [
        0,
        1,
        2,
    ]


def test_values_without_order_do_not_merge_into_the_bins_when_they_hold_enough():
    counts = np.array([50.0, 60, 70, 80, 150])
    assert by_mass(counts, attribute(5, ordered=True, special=1), 100).tolist() == [0, 0, 1, 1, 2]


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("size", [1, 2, 9])
def test_codes_have_no_gaps_and_nothing_to_count_gives_one_code(size, ordered):
    rng = np.random.default_rng(size)
    for least in (0.0, 30.0, 1e9):
        recode = by_mass(rng.uniform(0, 60, size), attribute(size, ordered=ordered), least)
        assert sorted(set(recode.tolist())) == list(range(recode.max() + 1))
    assert by_mass(np.zeros(size), attribute(size, ordered=ordered), 5.0).max() == 0


def hidden(counts, numbers, codes):
    """Squared counts times squared standard deviations of the numbers of each coarse value: what it hides."""
    held = np.bincount(codes, counts)
    means = np.bincount(codes, counts * numbers) / np.maximum(held, 1e-9)
    return (held * np.bincount(codes, counts * (numbers - means[codes]) ** 2)).sum()


def test_coarse_values_for_a_mean_hide_the_least_that_runs_can():
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 50, 9).astype(float)
    numbers = np.sort(rng.integers(0, 1000, 9)).astype(float)

    def error(code, noise):
        means = np.bincount(code, counts * numbers) / np.maximum(np.bincount(code, counts), 1e-9)
        off = means - np.average(numbers, weights=counts)
        return hidden(counts, numbers, code) + (noise**2 * off**2).sum()

    for most, noise in itertools.product((1, 2, 3, 4, 9), (0.0, 3.0, 40.0)):
        best = min(
            error(np.searchsorted(cuts, np.arange(9), side="right"), noise)
            for bins in range(1, most + 1)
            for cuts in itertools.combinations(range(1, 9), bins - 1)
        )
        found = Coarsening.by_mean(counts, numbers, most=most, noise=noise)
        assert found.size <= most
        assert error(found.map, noise) == pytest.approx(best, rel=1e-3, abs=0.1)
    assert Coarsening.by_mean(counts, numbers, noise=1e9).size == 1


def test_values_without_a_number_share_the_last_code_and_many_values_are_fast():
    some = Coarsening.by_mean(np.ones(5), np.array([1.0, 2, 3, np.nan, np.nan]), most=2)
    assert some.map.tolist()[3:] == [2, 2]
    assert Coarsening.by_mean(np.zeros(3), np.full(3, np.nan)).map.tolist() == [0, 0, 0]
    counts = np.random.default_rng(0).poisson(3, 50_000).astype(float)
    many = Coarsening.by_mean(counts, np.arange(50_000.0) ** 2, most=16).map
    assert (np.diff(many) >= 0).all() and many[-1] == 15
    top = Coarsening.by_mean(1e5 / np.arange(1, 201.0) ** 3, np.arange(200.0) ** 2, most=6).map
    assert (top == 5).sum() < 190  # the few at the top are told apart


def bumps(*places, bins=400, width=6.0, records=1000.0):
    """Counts of records that lie about these places."""
    at = np.arange(bins)
    each = [np.exp(-(((at - p) / width) ** 2) / 2) for p in places]
    return sum(records * e / e.sum() for e in each)


NUMBER = CodedAttribute(name="n", size=400, ordered=True, number=True)


@pytest.mark.parametrize("least", [150.0, 400.0, 900.0])
def test_groups_of_numbers_that_lie_far_apart_share_no_coarse_value(least):
    counts, places = bumps(40, 120, 200, 350), (80, 160, 275)
    codes = Coarsening.by_mass(counts, NUMBER, least=least, gaps=True).map
    assert all(codes[at - 25] != codes[at + 25] for at in places)
    plain = Coarsening.by_mass(counts, NUMBER, least=least).map
    assert any(plain[at - 25] == plain[at + 25] for at in places)
    held = np.bincount(codes, counts)
    assert held.min() >= least * 0.99 and (np.diff(codes) >= 0).all()


@pytest.mark.parametrize(
    "counts",
    [bumps(200, width=60.0), np.geomspace(1000, 0.001, 400), np.full(400, 5.0), bumps(40) + bumps(300, records=50.0),
     bumps(100, 110, 120), np.zeros(400)],
)  # fmt: skip
def test_numbers_without_such_groups_merge_as_before(counts):
    plain, cut = (Coarsening.by_mass(counts, NUMBER, least=100.0, gaps=gaps) for gaps in (False, True))
    assert cut == plain


def test_a_number_without_values_in_order_has_no_groups():
    alone = CodedAttribute(name="n", size=3, number=True)
    assert Coarsening.by_mass(np.array([5.0, 1.0, 3.0]), alone, least=2.0, gaps=True).map.tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    ("counts", "least", "apart", "codes"),
    [
        ([5, 5, 5], 5, np.inf, [0, 1, 2]), ([3, 3, 3], 5, np.inf, [0, 0, 0]), ([3, 3, 5], 5, np.inf, [0, 0, 1]),
        ([9, 2, 9], 5, np.inf, [0, 1, 1]), ([9, 2, 9], 5, 2, [0, 1, 2]), ([9, 2, 9], 5, 2.1, [0, 1, 1]),
        ([9, 2], 5, np.inf, [0, 0]), ([9, 2], 5, 2, [0, 1]), ([9, 2], 5, 2.1, [0, 0]),
        ([2, 3, 2], 5, 2, [0, 0, 0]),  # the last one stands apart only beside a value that is large by itself
        ([6], 9, np.inf, [0]), ([], 9, np.inf, []),
    ],
)  # fmt: skip
def test_values_are_merged_in_runs_until_they_have_mass_enough(counts, least, apart, codes):
    found = np.full(len(counts), -1)
    _merge_by_mass(np.array(counts, dtype=float), np.arange(len(counts)), least, found, 0, apart=apart)
    assert found.tolist() == codes
    shifted = np.full(len(counts), -1)
    _merge_by_mass(np.array(counts, dtype=float), np.arange(len(counts)), least, shifted, 4, apart=apart)
    if len(counts) > 1 and codes != [0] * len(counts):
        assert shifted.tolist() == [c + 4 for c in codes]
