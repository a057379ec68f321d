"""What is done to released tables: rounding, sums, noise drawn again, tables put together and the number of records."""

import math
from fractions import Fraction

import numpy as np
import pytest

from dpsyn_core.errors import EngineError
from dpsyn_core.estimate.marginals.coarsening import Coarsening
from dpsyn_core.estimate.marginals.types import (
    Measurement,
    ReleasedTables,
    Scores,
    merged,
    noise,
    noisy_total,
    probabilities,
    product,
    project,
    redrawn,
    spread,
    whole_counts,
)


def table(names, values, sigma=1.0, **more):
    return Measurement(attributes=tuple(names), values=np.asarray(values, dtype=float), sigma=sigma, **more)


@pytest.mark.parametrize("seed", range(12))
def test_cells_are_rounded_up_by_the_largest_remainders(seed):
    rng = np.random.default_rng(seed)
    values, total = rng.integers(0, 40, (3, 4)).astype(float), int(rng.integers(1, 90))
    got = whole_counts(values, total, rng=rng)
    whole = int(values.sum())
    shares = [Fraction(int(v) * total, whole) for v in values.ravel()]
    up = total - sum(s.numerator // s.denominator for s in shares)
    parts = sorted((s % 1 for s in shares), reverse=True)
    least = parts[up - 1] if up else Fraction(2)
    for s, found in zip(shares, got.ravel().tolist(), strict=True):
        low = s.numerator // s.denominator
        if s % 1 != least:
            assert found == low + (s % 1 > least)
        else:
            assert found in (low, low + 1)
    assert got.sum() == total and got.shape == (3, 4) and got.dtype == np.int64


def test_equal_cells_are_rounded_up_at_random():
    up = sum(whole_counts(np.ones(10), 15, rng=np.random.default_rng(s)) for s in range(400)) - 400
    assert up.sum() == 400 * 5 and up.min() > 140 and up.max() < 260
    assert whole_counts(np.array([-3.0, 0, 2, 2]), 5, rng=np.random.default_rng(0))[:2].tolist() == [0, 0]
    assert whole_counts(-np.ones(4), 8, rng=np.random.default_rng(0)).tolist() == [2] * 4
    assert whole_counts(np.ones(3), 0, rng=np.random.default_rng(0)).tolist() == [0] * 3


def test_shares_are_even_where_nothing_is_positive():
    assert probabilities(np.array([-1.0, 3, 1])).tolist() == [0.0, 0.75, 0.25]
    for nothing in (np.zeros(4), -np.ones(4), np.array([np.inf, 1, 1, 1])):
        assert probabilities(nothing).tolist() == [0.25] * 4
    assert probabilities(np.zeros(0)).shape == (0,)
    assert product([np.array([1.0, 3]), np.array([-1.0, 0, 2])], 8).tolist() == [[0, 0, 2], [0, 0, 6]]
    assert product([], 7) == 7.0


def test_axes_stand_in_the_order_that_is_asked_for():
    values = np.arange(24.0).reshape(2, 3, 4)
    assert project(values, "abc", "ca").tolist() == np.einsum("abc->ca", values).tolist()
    assert project(values, "abc", "") == values.sum()
    with pytest.raises(EngineError, match="over a, b, c has no axis 'd'"):
        project(values, "abc", "ad")
    with pytest.raises(EngineError, match="over nothing"):
        project(np.array(3.0), "", "d")
    wide = spread(values, "cab", "abdc")
    assert wide.shape == (3, 4, 1, 2) and wide[:, :, 0].tolist() == np.einsum("cab->abc", values).tolist()
    assert spread(np.array(3.0), "", "ab").shape == (1, 1)


def test_tables_of_the_same_cells_are_one_with_the_noise_of_all_together():
    halves = {"a": Coarsening.of([0, 0, 1])}
    tables = [table("a", [6, 9, 12], 3.0), table("a", [1, 2], 1.0, recodes=halves), table("b", [5.0, 5]),
              table("a", [3, 0, 3], 1.5), table("a", [3, 4], 1.0, recodes=halves)]  # fmt: skip
    first, second, third = merged(tables)
    assert first.values == pytest.approx((np.array([6, 9, 12]) / 9 + np.array([3, 0, 3]) / 2.25) / (1 / 9 + 1 / 2.25))
    assert first.sigma == pytest.approx((1 / 9 + 1 / 2.25) ** -0.5)
    assert second.values.tolist() == [2.0, 3.0] and second.sigma == pytest.approx(0.5**0.5)
    assert third.values.tolist() == [5, 5] and third.sigma == 1.0
    assert [m.attributes for m in (first, second, third)] == [("a",), ("a",), ("b",)] and second.recodes == halves


def test_the_number_of_records_is_the_mean_of_sums_by_their_noise():
    total, one, pair = table("", 100.0, 2.0), table("a", [30, 40, 50], 1.0), table("ab", np.full((2, 2), 40.0), 0.1)
    assert noisy_total([total, one, pair]) == pytest.approx((100 / 4 + 120 / 3) / (1 / 4 + 1 / 3))
    assert noisy_total([pair]) == pytest.approx(160) and noisy_total([]) == 0.0
    assert noisy_total([table("a", [-5.0, 2])]) == 0.0 and table("ab", np.ones((2, 3))).cells == 6


@pytest.mark.parametrize(("law", "pure", "laplace"), [
    (None, True, True), (None, False, False), ("geometric", False, True), ("gaussian", True, False),
])  # fmt: skip
def test_noise_is_drawn_again_by_the_law_of_the_table_or_else_of_the_run(law, pure, laplace):
    m = table("a", np.zeros(40_000), 3.0, law=law)
    drawn = noise(m, pure=pure, rng=np.random.default_rng(1))
    assert drawn.std() == pytest.approx(3.0, rel=0.03)
    kurtosis = float((drawn**4).mean() / drawn.var() ** 2)
    assert kurtosis == pytest.approx(6.0 if laplace else 3.0, rel=0.15)
    again = redrawn([m], pure=pure, rng=np.random.default_rng(1))
    assert isinstance(again, ReleasedTables) and again[0].values.tolist() == drawn.tolist() and again.sums == ()


def test_scores_of_some_attributes_and_how_far_they_may_be_off():
    scores = Scores(sets=(("a", "b"), ("b", "c"), ("a", "c")), values=np.array([5.0, -2, 7]), sigma=2.0)
    assert scores.bounds() == {("a", "b"): 9.0, ("b", "c"): 4.0, ("a", "c"): 11.0}
    assert scores.bounds(0.5)["b", "c"] == 1.0
    some = scores.among("ac")
    assert some.sets == (("a", "c"),) and some.values.tolist() == [7.0] and math.isclose(some.sigma, 2.0)
