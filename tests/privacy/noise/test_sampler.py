"""The kernel returns what exact arithmetic returns, draw by draw."""

import math

import numpy as np
import pytest

from dpsyn_core.errors import BudgetError, EngineError
from dpsyn_core.privacy.noise.draws import settled
from dpsyn_core.privacy.noise.gaussian import gaussian_tail, rounded_gaussian
from dpsyn_core.privacy.noise.laplace import geometric_tail, shift_of, two_sided_geometric
from dpsyn_core.privacy.noise.settle import Fraction01, magnitude
from dpsyn_core.privacy.noise.table import EXPONENTIAL, NORMAL, VALUE_BITS, invert, table_of
from tests.privacy.noise.bits import ListedBits, SeededBits

pytestmark = pytest.mark.chance("samplers")

SCALES = [1e-3, 0.05, 0.5, 1.0, math.pi, 10.0, 12345.678, 1e5, 2.0**33, 2.0**50]
MASK = (1 << 63) - 1


def both(kind, scale):
    if kind == "gaussian":
        return rounded_gaussian, gaussian_tail(scale), NORMAL, 0.5
    return two_sided_geometric, geometric_tail(scale), EXPONENTIAL, -scale * shift_of(scale)[0]


@pytest.mark.parametrize("kind", ["gaussian", "geometric"])
@pytest.mark.parametrize("scale", SCALES)
def test_the_kernel_agrees_with_exact_arithmetic_on_random_words(kind, scale):
    sampler, exact, tail, offset = both(kind, scale)
    more = [1 << 60, 1 << 59]  # asked for by a draw that 64 bits leave open, which happens near 2^50
    for w in SeededBits(7).words(150).tolist():
        drawn = sampler(scale, 1, ListedBits([w, *more]))
        assert drawn.tolist() == [settled(w, ListedBits(more), tail, scale, offset, exact)]


@pytest.mark.parametrize("kind", ["gaussian", "geometric"])
@pytest.mark.parametrize("scale", [0.3, 1.0, 10.0, 1e3, 1e5])
def test_words_on_either_side_of_a_boundary_fall_on_their_own_side(kind, scale):
    sampler, exact, *_ = both(kind, scale)
    for k in sorted({1, 2, 3, max(1, round(scale)), max(1, round(3 * scale))}):
        low, high = exact(k, 64)
        below, above = (low >> 0) - 3, high + 3  # in units of 2^-64, as the low 63 bits of a word are
        if below < 0:
            continue
        out = sampler(scale, 4, ListedBits([below, above, below | 1 << 63, above | 1 << 63]))
        assert out[0] >= k > out[1]
        assert out[2] <= -k < out[3]


@pytest.mark.parametrize("kind", ["gaussian", "geometric"])
def test_a_word_that_straddles_a_boundary_is_settled_by_more_bits(kind):
    scale = 10.0
    sampler, exact, *_ = both(kind, scale)
    low, _ = exact(4, 64 + 200)
    word, rest = low >> 200, (low >> (200 - 64)) & (2**64 - 1)
    assert sampler(scale, 1, ListedBits([word, rest - 5])).tolist() == [4]
    assert sampler(scale, 1, ListedBits([word, rest + 5])).tolist() == [3]
    next64 = (low >> (200 - 128)) & (2**64 - 1)
    assert sampler(scale, 1, ListedBits([word, rest, next64 - 5])).tolist() == [4]
    assert sampler(scale, 1, ListedBits([word, rest, next64 + 5])).tolist() == [3]


def test_the_deepest_word_is_settled_by_more_bits():
    z = rounded_gaussian(10.0, 1, ListedBits([0, 1 << 63]))  # p in [2^-65, 2^-65 + 2^-128): 9.2 sigma
    assert 91 <= z[0] <= 95
    assert rounded_gaussian(1e-3, 1, ListedBits([0, 1])).tolist() == [0]


def test_the_guess_never_changes_the_result():
    exact = gaussian_tail(50.0)
    number = 3 << 58
    results = {magnitude(Fraction01(number, 64, ListedBits([])), exact, guess) for guess in (0, 1, 60, 10_000)}
    assert len(results) == 1


@pytest.mark.parametrize("tail", [NORMAL, EXPONENTIAL])
def test_table_errors_bound_the_true_errors_at_random_points_and_are_small(tail):
    from fractions import Fraction

    table = table_of(tail)
    assert table.errors.max() < 2.0**-41
    assert table.errors[:16].max() < 2.0**-46
    rng = np.random.default_rng(3)
    for row, error in enumerate(table.errors):
        octave, part = divmod(row, 4)
        for t in rng.uniform(-1, 1, 3):
            left = Fraction(4 + part, 4 << (octave + 2))
            p = left + Fraction(1, 4 << (octave + 3)) * (1 + Fraction(t))
            x = np.polynomial.polynomial.polyval(t, table.coefficients[row])
            true = invert(tail, p) / 2.0**VALUE_BITS
            assert abs(x - true) <= error


def test_a_nudged_coefficient_is_noticed():
    table = table_of(NORMAL)
    from fractions import Fraction

    p = Fraction(1, 4) * (1 + Fraction(1, 8))
    x = np.polynomial.polynomial.polyval(0.0, table.coefficients[0] + 1e-14)
    assert abs(x - invert(NORMAL, p) / 2.0**VALUE_BITS) > table.errors[0]


@pytest.mark.parametrize("sampler", [rounded_gaussian, two_sided_geometric])
@pytest.mark.parametrize("scale", [float("nan"), float("inf"), -1.0, 0.0, 2.0**50 * (1 + 2.0**-52)])
def test_scales_that_promise_nothing_are_refused(sampler, scale):
    with pytest.raises(BudgetError, match=r"at most 2\^50"):
        sampler(scale, 1, SeededBits(0))


@pytest.mark.parametrize("size", [-1, 1.5, True])
def test_sizes_that_are_no_count_are_refused(size):
    with pytest.raises(EngineError, match="number of draws"):
        rounded_gaussian(1.0, size, SeededBits(0))


def test_no_draws_give_an_empty_array():
    assert rounded_gaussian(1.0, 0, SeededBits(0)).shape == (0,)
    assert rounded_gaussian(1.0, 0, SeededBits(0)).dtype == np.int64
