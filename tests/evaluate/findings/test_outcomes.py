"""Models side by side: least squares with White's errors, and effects at the ends of what turned or is gone."""

import math

import numpy as np
import pytest

from dpsyn_core.evaluate.findings.outcomes import Effect, _fit, _independent, _same


def effect(real, synthetic, errors=(0.01, 0.01), own=1.0):
    return Effect(outcome="y", column="x", value="", real=real, synthetic=synthetic, errors=errors, own=own)


@pytest.mark.parametrize(
    ("real", "synthetic", "errors", "turned"),
    [
        (0.2, -0.2, (0.01, 0.01), True),
        (0.2, 0.2, (0.01, 0.01), False),
        (-0.2, 0.051, (0.01, 0.01), True),
        (-0.2, 0.049, (0.01, 0.01), False),  # too small to count
        (0.05, -0.2, (0.01, 0.01), False),
        (0.2, -0.2, (0.2 / 4.49, 0.01), False),  # no sure sign in the real table
        (0.2, -0.2, (0.2 / 4.51, 0.01), True),
        (0.2, -0.2, (0.01, 0.2 / 4.49), False),
        (0.2, -0.2, (0.01, 0.2 / 4.51), True),
    ],
)
def test_an_effect_turned_where_both_signs_are_sure_and_large_enough(real, synthetic, errors, turned):
    assert effect(real, synthetic, errors).turned == turned


@pytest.mark.parametrize(
    ("real", "synthetic", "errors", "gone"),
    [
        (0.4, 0.0, (0.01, 0.01), True),
        (0.4, 0.2, (0.01, 0.01), False),
        (0.4, 0.199, (0.01, 0.01), True),
        (-0.4, 0.0, (0.01, 0.01), True),
        (0.101, 0.0, (0.01, 0.01), True),
        (0.099, 0.0, (0.01, 0.01), False),
        (0.4, 0.0, (0.4 / 4.49, 0.0), False),
        (0.4, 0.0, (0.01, 0.4 / 4.49), False),
        (0.4, 0.1, (0.03, 0.04), True),  # .3 is six errors of .05
        (0.4, 0.1, (0.04, 0.06), False),
    ],
)
def test_an_effect_is_gone_where_less_than_half_is_left_beyond_chance(real, synthetic, errors, gone):
    assert effect(real, synthetic, errors).gone == gone


def test_how_far_an_effect_is_off_is_shared_by_terms_that_say_the_same():
    assert effect(0.4, -0.1, own=0.25).far == pytest.approx(0.25) and effect(3.0, -3.0).far == 1.0
    assert effect(0.4, 0.1).far == pytest.approx(0.3)
    assert effect(0.4, -0.1, (0.1, 0.2)).interval(0) == pytest.approx((0.4 - 0.196, 0.4 + 0.196))
    assert effect(0.4, -0.1, (0.1, 0.2)).interval(1) == pytest.approx((-0.1 - 0.392, -0.1 + 0.392))


def by_hand(x, y):
    """Ordinary least squares with a constant, solved as such, with White's covariance."""
    design = np.column_stack([np.ones(len(x)), x])
    inverse = np.linalg.inv(design.T @ design)
    b = inverse @ design.T @ y
    e = y - design @ b
    meat = sum(e[i] ** 2 * np.outer(design[i], design[i]) for i in range(len(x)))
    errors = np.sqrt(np.diag(inverse @ meat @ inverse))
    return b[1:], errors[1:], float(e @ e / ((y - y.mean()) ** 2).sum())


@pytest.mark.parametrize("seed", range(4))
def test_a_fit_is_that_of_least_squares_with_a_constant(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(3, 2, (80, 4)) @ rng.normal(size=(4, 4))
    y = x @ rng.normal(size=4) + 5 + rng.normal(size=80) * (1 + abs(x[:, 0]))
    slopes, errors, rest, own = _fit(x, y)
    expected = by_hand(x, y)
    assert slopes == pytest.approx(expected[0], rel=1e-6) and errors == pytest.approx(expected[1], rel=1e-6)
    assert rest == pytest.approx(expected[2])
    for k in range(4):
        assert own[k] == pytest.approx(by_hand(np.delete(x, k, axis=1), x[:, k])[2], rel=1e-6)
    assert _fit(x, np.full(80, 7.0))[2] == 0.0


def test_terms_that_others_explain_are_left_out():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 400))
    for noise, kept in ((0.0, 2), (0.05, 2), (0.3, 3)):
        x = np.column_stack([a, b, a + b + noise * rng.normal(size=400), np.full(400, 3.0)])
        found = _independent(x)
        assert len(found) == kept and 3 not in found and found == sorted(found)
    assert _independent(np.column_stack([a, -2 * a + 7])) in ([0], [1])


@pytest.mark.parametrize(("noise", "same"), [(0.0, True), (0.19, True), (0.22, False)])
def test_a_term_that_goes_with_the_outcome_nearly_always_says_the_same(noise, same):
    x = np.tile([1.0, -1.0], 50)
    y = x + noise * np.repeat([1.0, -1.0], 50)  # uncorrelated with x: the correlation is 1 / sqrt(1 + noise^2)
    assert (1 / math.sqrt(1 + noise**2) > 0.98) == same
    assert _same(x, y) == same == _same(x, -y)


def test_terms_of_few_records_or_of_one_value_say_nothing_of_their_own():
    x, y = np.arange(40.0), np.tile([1.0, 2.0], 20)
    assert not _same(x, y)
    assert not _same(np.append(x[:30], np.nan), y[:31]) and _same(np.append(x[:29], np.nan), y[:30])
    assert _same(np.ones(40), y) and _same(x, np.ones(40))
