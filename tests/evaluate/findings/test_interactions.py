"""Interactions by cells: means, additive fits and the odds of what is left, against plain loops and draws."""

import numpy as np
import pytest

from dpsyn_core.evaluate.findings.interactions import OutcomeInteraction, _between, _beyond, _cells, _chance


def test_cells_have_the_records_means_and_mean_squares_of_two_lists():
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 4, 300).astype(np.uint16), rng.integers(0, 3, 300).astype(np.uint16)
    y = np.where(rng.random(300) < 0.1, np.nan, rng.normal(size=300))
    count, mean, square = _cells(y, first, second, (3, 2))  # the last of each is no value
    for i in range(3):
        for j in range(2):
            here = y[(first == i) & (second == j) & ~np.isnan(y)]
            assert count[i, j] == len(here)
            assert (mean[i, j], square[i, j]) == pytest.approx((here.mean(), (here**2).mean()))
    none = _cells(y, np.zeros(300, np.uint16), np.zeros(300, np.uint16), (2, 2))
    assert none[0][1, 1] == none[1][1, 1] == none[2][1, 1] == 0.0


def test_what_is_beyond_an_additive_fit_is_orthogonal_to_rows_and_columns():
    rng = np.random.default_rng(1)
    weight, rows, columns = rng.integers(20, 90, (3, 4)).astype(float), rng.normal(size=3), rng.normal(size=4)
    additive = rows[:, None] + columns
    assert _beyond(weight, additive)[0] == pytest.approx(np.zeros((3, 4)), abs=1e-9)
    mean = additive + rng.normal(size=(3, 4))
    left, left_out = _beyond(weight, mean)
    assert (weight * left).sum(axis=0) == pytest.approx(np.zeros(4), abs=1e-8)
    assert (weight * left).sum(axis=1) == pytest.approx(np.zeros(3), abs=1e-8)
    fitted = mean - left
    assert fitted - fitted[:1] == pytest.approx((fitted[:, :1] - fitted[:1, :1]) * np.ones((3, 4)), abs=1e-8)
    assert left_out @ left_out == pytest.approx(left_out) and np.trace(left_out) == pytest.approx(2 * 3)
    assert _between(weight, mean) == pytest.approx(
        np.cov(np.repeat(mean.ravel(), weight.ravel().astype(int)), ddof=0).item()
    )


def test_the_odds_of_an_interaction_are_those_of_draws_with_unequal_variances():
    rng = np.random.default_rng(2)
    weight, variance = np.array([[40.0, 20], [90, 30]]), np.array([[1.0, 9], [4, 1]])
    _, left_out = _beyond(weight, np.zeros((2, 2)))
    drawn = rng.normal(size=(20_000, 4)) * np.sqrt(variance.ravel())  # means times the roots of their records
    squares = ((drawn @ left_out.T) ** 2).sum(axis=1)
    for share in (0.5, 0.1, 0.02):
        limit = float(np.quantile(squares, 1 - share))
        assert _chance(limit, left_out, variance) == pytest.approx(share, rel=0.15)
    assert _chance(1.0, left_out, np.zeros((2, 2))) == 0.0
    assert _chance(0.0, left_out, variance) == 1.0


@pytest.mark.parametrize(
    ("kept", "far", "lost", "turned"),
    [(0.5, True, False, False), (0.49, True, True, False), (0.49, False, False, False), (-0.5, True, True, False),
     (-0.51, True, True, True), (-0.51, False, False, False)],
)  # fmt: skip
def test_an_interaction_is_lost_below_half_and_turned_below_minus_half(kept, far, lost, turned):
    one = OutcomeInteraction(outcome="y", first="a", second="b", real=0.1, synthetic=0.1, kept=kept, far=far)
    assert (one.lost, one.turned) == (lost, turned)
