"""Samples: each event has exactly its probability, whatever the others do."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from dpsyn_core.errors import BudgetError, EngineError
from dpsyn_core.privacy.noise.chance import events, on_grid
from dpsyn_core.privacy.noise.system import SystemNoise

pytestmark = pytest.mark.chance("samplers")


class Halves:
    """Gives these 32-bit numbers, two to a word."""

    def __init__(self, *numbers):
        self.numbers = np.array(numbers, dtype=np.uint32)

    def words(self, size):
        assert size == self.numbers.size // 2
        return self.numbers.view(np.uint64)


@pytest.mark.parametrize("rate", [2.0**-32, 0.05, 0.5, 1 / 3, 1 - 2.0**-32])
def test_exactly_so_many_of_all_32_bit_numbers_are_events_as_the_probability_says(rate):
    drawn = on_grid(rate)
    most = int(drawn * 2**32)
    got = events(drawn, 4, Halves(0, most - 1, most, 2**32 - 1))
    assert got.tolist() == [True, True, False, False]


@pytest.mark.parametrize("rate", [1e-12, 0.05, 1 / 3, math.nextafter(1, 0), 1.0])
def test_a_rate_is_rounded_up_to_what_can_be_drawn_exactly(rate):
    assert rate <= on_grid(rate) <= min(1.0, rate + 2.0**-32)
    assert (on_grid(rate) * 2**32).is_integer()


@pytest.mark.parametrize("rate", [0.0, -0.1, 1.1, math.nan, math.inf])
def test_rates_that_are_no_probability_are_refused(rate):
    with pytest.raises(BudgetError, match="above 0 and at most 1"):
        on_grid(rate)
    with pytest.raises(EngineError, match="multiple of"):
        events(rate, 4, Halves(0, 0, 0, 0))


def test_with_rate_one_everybody_is_in_and_an_empty_table_gives_an_empty_sample():
    noise = SystemNoise()
    assert noise.chance(1.0, 5).all()
    assert noise.chance(0.5, 0).shape == (0,)
    assert noise.chance(0.25, 7).shape == (7,)


def test_events_of_the_system_happen_as_often_as_a_binomial_law_allows():
    drawn = int(SystemNoise().chance(on_grid(0.05), 1_000_000).sum())
    assert min(binom.cdf(drawn, 1_000_000, 0.05), binom.sf(drawn - 1, 1_000_000, 0.05)) > 1e-7
