"""Integer enclosures hold the true values, and are tight."""

import math
from fractions import Fraction

import pytest

from dpsyn_core.privacy.noise.exact import exp_bounds, inverse_sqrt_2pi, normal_tail_bounds

pytestmark = pytest.mark.chance("samplers")

# Q(x) to 40 digits, computed at 60 digits with an independent arbitrary-precision library (erfc(x/sqrt 2)/2)
NORMAL_TAILS = {
    (0, 1): "0.5",
    (1, 2): "0.3085375387259868963622953893916622601164",
    (1, 1): "0.1586552539314570514147674543679620775221",
    (3, 1): "0.001349898031630094526651814767594977377829",
    (11, 2): "0.00000001898956246588771938385127403358018631636",
}
EXPONENTIALS = {
    (0, 1): "1",
    (1, 1): "0.3678794411714423215955237701614608674458",
    (1, 10): "0.9048374180359595731642490594464366211947",
    (40, 1): "0.00000000000000000424835425529158899532923478285865801788",
}


@pytest.mark.parametrize(("function", "oracle"), [(normal_tail_bounds, NORMAL_TAILS), (exp_bounds, EXPONENTIALS)])
@pytest.mark.parametrize("bits", [20, 64, 110])
def test_enclosures_hold_forty_digit_values_and_are_a_few_units_wide(function, oracle, bits):
    for (n, d), digits in oracle.items():
        low, high = function(n, d, bits)
        true = Fraction(digits) * (1 << bits)
        assert low - Fraction(1, 100) <= true <= high + Fraction(1, 100)
        assert high - low <= 6


def test_far_tails_are_enclosed_by_nought_and_one_unit():
    assert normal_tail_bounds(500, 1, 128) == (0, 1)
    assert exp_bounds(10**9, 1, 128) == (0, 1)


@pytest.mark.parametrize("function", [normal_tail_bounds, exp_bounds])
def test_coarse_enclosures_contain_the_fine_ones(function):
    for n in range(0, 90, 7):
        low, high = function(n, 11, 60)
        fine_low, fine_high = function(n, 11, 300)
        assert low << 240 <= fine_low + 6
        assert fine_high <= (high << 240) + 6


def test_one_over_root_two_pi_is_right_to_sixty_digits():
    digits = "0.398942280401432677939946059934381868475858631164934657665926"
    assert abs(Fraction(inverse_sqrt_2pi(190), 1 << 190) - Fraction(digits)) < Fraction(1, 1 << 188)


def test_enclosures_agree_with_the_standard_library():
    for x in (0.25, 1.75, 4.0):
        n, d = x.as_integer_ratio()
        low, high = normal_tail_bounds(n, d, 100)
        assert (low + high) / 2 / 2.0**100 == pytest.approx(math.erfc(x / math.sqrt(2)) / 2, rel=1e-13)
