"""Overlap consistency against oracle O4, least squares and its own claims."""

import itertools
import warnings

import numpy as np
import pytest

from dpsyn_core.errors import AgreementWarning, EngineError
from dpsyn_core.estimate.marginals import overlap
from dpsyn_core.estimate.marginals.overlap import disagreement, estimate_total, make_consistent, overlaps
from dpsyn_core.estimate.marginals.types import Measurement
from dpsyn_core.schema.domain import Domain

ADULT = {
    "age": 85, "workclass": 9, "fnlwgt": 100, "education": 16, "marital": 7, "occupation": 15, "relationship": 6,
    "race": 5, "sex": 2, "gain": 100, "loss": 100, "hours": 99, "country": 42, "income": 2,
}  # fmt: skip


def measurement(names, values, sigma=1.0):
    return Measurement(attributes=tuple(names), values=np.asarray(values, dtype=float), sigma=sigma)


def noisy(sets, sizes, *, n=500, sigma=8.0, seed=0):
    rng = np.random.default_rng(seed)
    names = list(sizes)
    codes = np.array([rng.integers(0, s, n) for s in sizes.values()])
    out = []
    for s in sets:
        table = np.zeros([sizes[a] for a in s])
        np.add.at(table, tuple(codes[names.index(a)] for a in s), 1)
        out.append(measurement(s, table + rng.normal(0, sigma, table.shape), sigma))
    return out


def test_oracle_o4():
    first = measurement("AB", [[10, 5], [7, 8]])
    second = measurement("AC", [[6, 4, 2], [9, 5, 8]])
    assert estimate_total([first, second]) == pytest.approx(31.6)
    one, two = make_consistent([first, second], rule="none")
    np.testing.assert_allclose(one.values.sum(axis=1), [13.8, 17.8])
    np.testing.assert_allclose(one.values, [[9.4, 4.4], [8.4, 9.4]])
    np.testing.assert_allclose(two.values, [[6.6, 4.6, 2.6], [7.6, 3.6, 6.6]])


def test_weights_follow_the_variance_of_the_sums():
    exact = measurement("AB", [[10, 5], [7, 8]], 1e-3)
    rough = measurement("AC", [[6, 4, 2], [9, 5, 8]], 1e3)
    one, two = make_consistent([exact, rough], rule="none")
    np.testing.assert_allclose(one.values, exact.values, atol=1e-6)
    np.testing.assert_allclose(two.values.sum(axis=1), [15, 15], atol=1e-6)


def test_the_total_of_the_adult_pairs_has_the_standard_deviation_of_inverse_variance_weights():
    """Public arithmetic: .857 sigma instead of 4.23 sigma for the plain mean of the 91 sums."""
    cells = [a * b for a, b in itertools.combinations(ADULT.values(), 2)]
    sd_mean = np.sqrt(sum(cells)) / len(cells)
    sd_weighted = 1 / np.sqrt(sum(1 / c for c in cells))
    assert sd_mean == pytest.approx(4.23, abs=0.005)
    assert sd_weighted == pytest.approx(0.857, abs=0.0005)
    domain = Domain.of(ADULT)
    sets = domain.subsets(2)
    rng = np.random.default_rng(1)
    # one cell of the table carries the noise of its whole sum, which the estimate cannot tell from the rest
    draws = []
    for _ in range(300):
        tables = [np.zeros(domain.shape(s)) for s in sets]
        for t in tables:
            t.flat[0] = 1000 + rng.normal() * np.sqrt(t.size)
        draws.append(estimate_total([measurement(s, t) for s, t in zip(sets, tables, strict=True)]))
    # 300 draws estimate a standard deviation within 13 % (3 sigma of chi)
    assert np.std(draws) == pytest.approx(sd_weighted, rel=0.13)


@pytest.mark.parametrize(
    "sets",
    [
        [("a", "b"), ("a", "c"), ("b", "c"), ("c", "d")],
        [("a", "b", "c"), ("b", "c", "d"), ("a", "c", "d"), ("b",)],
        [("a",), ("b",), ("a", "b", "c", "d")],
        [("a", "b"), ("c", "d")],
    ],
)
def test_one_pass_agrees_on_every_overlap(sets):
    tables = make_consistent(noisy(sets, {"a": 2, "b": 3, "c": 4, "d": 2}), rule="none")
    assert disagreement(tables) < 1e-9


@pytest.mark.parametrize("rule", ["norm_sub", "norm_cut", "ripple"])
@pytest.mark.parametrize("sigma", [1, 5])
def test_with_many_rounds_tables_agree_to_far_less_than_one_record(rule, sigma):
    sizes = {"a": 4, "b": 3, "c": 5, "d": 2}
    rng = np.random.default_rng(0)
    codes = [rng.choice(s, 400, p=rng.dirichlet(np.full(s, 0.4))) for s in sizes.values()]
    tables = []
    for some in itertools.combinations(range(4), 3):
        counts = np.zeros([list(sizes.values())[i] for i in some])
        np.add.at(counts, tuple(codes[i] for i in some), 1)
        names = tuple(list(sizes)[i] for i in some)
        tables.append(measurement(names, counts + rng.normal(0, sigma, counts.shape), sigma))
    after = make_consistent(tables, rule=rule, rounds=300)
    assert min(m.values.min() for m in after) >= 0
    assert disagreement(after) < 1e-3


@pytest.mark.parametrize("rule", ["norm_sub", "norm_cut", "ripple"])
def test_the_result_is_non_negative_of_one_total_and_nearly_agrees(rule):
    sizes = {"a": 3, "b": 5, "c": 4, "d": 6}
    before = noisy(list(itertools.combinations(sizes, 2)), sizes, sigma=15)
    assert min(m.values.min() for m in before) < 0
    after = make_consistent(before, rule=rule, rounds=200)
    assert all(m.values.min() >= 0 for m in after)
    totals = [m.values.sum() for m in after]
    np.testing.assert_allclose(totals, totals[0])
    assert disagreement(after) < 0.05 * disagreement(before)
    assert [m.sigma for m in after] == [m.sigma for m in before]


def test_consistency_is_the_least_squares_solution_for_two_overlapping_tables():
    """For one shared attribute, the corrected tables minimise the weighted squares subject to agreement."""
    before = [measurement("AB", [[10, 5], [7, 8]], 2.0), measurement("AC", [[6, 4, 2], [9, 5, 8]], 1.0)]
    after = make_consistent(before, rule="none")
    y = np.concatenate([m.values.ravel() for m in before])
    w = np.concatenate([np.full(m.values.size, m.sigma**-2) for m in before])
    constraint = np.zeros((2, 10))
    constraint[0, [0, 1]], constraint[0, [4, 5, 6]] = 1, -1
    constraint[1, [2, 3]], constraint[1, [7, 8, 9]] = 1, -1
    inverse = np.diag(1 / w)
    solution = y - inverse @ constraint.T @ np.linalg.solve(constraint @ inverse @ constraint.T, constraint @ y)
    np.testing.assert_allclose(np.concatenate([m.values.ravel() for m in after]), solution)


def test_a_public_total_is_kept():
    tables = make_consistent(noisy([("a", "b"), ("b", "c")], {"a": 2, "b": 3, "c": 2}), total=123.0)
    assert [m.values.sum() for m in tables] == pytest.approx([123.0, 123.0])


def test_tables_that_add_up_to_less_than_nothing_become_zero():
    tables = make_consistent([measurement("ab", np.full((2, 2), -5.0)), measurement("bc", np.full((2, 3), -5.0))])
    assert not any(m.values.any() for m in tables)


def test_consistent_tables_stay_as_they_are():
    before = noisy([("a", "b"), ("b", "c"), ("a", "c")], {"a": 2, "b": 3, "c": 4}, sigma=0.0)
    for old, new in zip(before, make_consistent(before), strict=True):
        np.testing.assert_allclose(new.values, old.values, atol=1e-9)


def test_no_tables_give_no_tables():
    assert make_consistent([]) == []
    assert estimate_total([]) == 0.0


def test_two_resolutions_of_one_attribute_are_refused():
    with pytest.raises(EngineError, match="'a'"):
        make_consistent([measurement("a", [1, 2]), measurement("ab", [[1, 2], [3, 4], [5, 6]])])


def test_overlaps_are_the_closure_under_intersection():
    sets = [("a", "b", "c", "d"), ("a", "b", "c", "e"), ("b", "c", "d", "e")]
    assert dict(overlaps(sets)) == {
        (): [0, 1, 2],
        ("b", "c"): [0, 1, 2],
        ("a", "b", "c"): [0, 1],
        ("b", "c", "d"): [0, 2],
        ("b", "c", "e"): [1, 2],
    }


def test_overlaps_of_pairs_are_their_shared_attributes_and_nothing():
    found = dict(overlaps([("a", "b"), ("a", "c"), ("d", "e"), ("a",)]))
    assert found == {(): [0, 1, 2, 3], ("a",): [0, 1, 3]}


NAMES = "abcdefghijkl"
VIEWS = tuple(tuple(v) for v in (NAMES[:8], NAMES[:4] + NAMES[8:], NAMES[4:]))  # Example 1 of Li, Zhang, Wang 2021


@pytest.mark.parametrize("rule", ["norm_sub", "norm_cut", "ripple"])
@pytest.mark.parametrize("sigma", [20.0, 60.0, 100.0, 400.0])
def test_views_of_the_example_agree_whatever_the_noise_and_lie_apart_after_one_round_alone(rule, sigma):
    tables = noisy(VIEWS, dict.fromkeys(NAMES, 2), n=20_000, sigma=sigma)
    apart = make_consistent(tables, rule=rule, rounds=1, scaled=False)
    assert sigma == 20.0 or disagreement(apart) > sigma  # with little noise no cell is negative: one round is enough
    for rounds in (1, 10):
        agreed = make_consistent(tables, rule=rule, rounds=rounds)
        assert disagreement(agreed) < 0.1
        assert min(m.values.min() for m in agreed) >= 0


def test_tables_that_overlap_in_a_ring_agree_and_keep_their_total():
    """Three pairs of three attributes inside triples: overlaps that no order makes consistent one after another."""
    sizes = {"a": 3, "b": 4, "c": 2, "d": 5}
    tables = noisy(list(itertools.combinations(sizes, 3)), sizes, n=500, sigma=30)
    agreed = make_consistent(tables, rounds=2, total=500.0)
    assert disagreement(agreed) < 0.1
    np.testing.assert_allclose([m.values.sum() for m in agreed], 500.0)


def test_scaling_fills_cells_that_were_emptied_where_another_table_has_records():
    one, two = measurement("ab", [[0.0, 0.0], [6.0, 4.0]]), measurement("ac", [[5.0, 5.0], [0.0, 0.0]])
    agreed = make_consistent([one, two], rounds=1)
    assert disagreement(agreed) < 0.1
    np.testing.assert_allclose([m.values.sum(axis=1) for m in agreed], 5.0, atol=0.1)


def test_tables_that_are_still_apart_after_the_last_round_of_scaling_are_named_and_others_are_not(monkeypatch):
    tables = noisy(VIEWS, dict.fromkeys(NAMES, 2), n=20_000, sigma=400.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert disagreement(make_consistent(tables, rounds=1)) < 0.1
    monkeypatch.setattr(overlap, "SCALINGS", 2)
    with pytest.warns(AgreementWarning, match=r"within 0\.1 counts still differ by [\d.e+]+ .* after 2 rounds") as said:
        left = make_consistent(tables, rounds=1)
    assert f"differ by {disagreement(left):.3g} on" in str(said[0].message)
