"""Sparse tables and urns: whole weights below 2^61, exact draws, and survivors by their law."""

import collections
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dpsyn_core.errors import BudgetError, EngineError
from dpsyn_core.measure import sparse
from dpsyn_core.measure.sparse import (
    dirichlet_multinomial,
    empty_survivors,
    noisy_above,
    prior_count,
    survival,
    uniform_below,
    urn_unit,
)
from dpsyn_core.privacy.budget import Cost


class Script:
    """A source of noise that gives what is written down, one entry a call, as often as it is asked for so many."""

    def __init__(self, *draws):
        self.draws, self.scales = list(draws), []

    def geometric(self, scale, size):
        self.scales.append(scale)
        given = np.asarray(self.draws.pop(0), dtype=np.int64)
        return np.resize(given, size)


def test_a_record_is_divided_as_finely_as_whole_weights_below_the_limit_allow():
    assert urn_unit(2.0**60 - 2.0**40, 1.0, 0) == 1
    assert urn_unit(2.0**59 - 2.0**40, 1.0, 0) == 2
    assert urn_unit(10.0, 1.0, 0) == 1 << 20
    assert urn_unit(2.0**40 - 4, 1.0, 3) == 1 << 20
    assert urn_unit(2.0**40 - 3, 1.0, 3) == 1 << 19
    with pytest.raises(BudgetError, match="above 2\\^61"):
        urn_unit(2.0**61 - 2.0**40, 1.0, 0)
    with pytest.raises(BudgetError, match="above 2\\^61"):
        urn_unit(1.0, 1.0, 2**61)


@pytest.mark.parametrize("theta", [None, 1, 3])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0, 60.0])
@pytest.mark.parametrize("draws", [0, 1, 1000])
def test_the_prior_count_is_the_least_multiple_of_the_step_that_keeps_epsilon(draws, epsilon, theta):
    found = prior_count(draws, Cost(epsilon=epsilon), *([] if theta is None else [theta]))
    steps = Fraction(found) * 2**20
    assert steps.denominator == 1
    least = draws / math.expm1(epsilon / (theta or 1))
    assert least < found <= least * (1 + 1e-11) + 2.0**-20


def test_an_epsilon_beyond_floats_needs_one_step_and_a_rho_is_refused():
    assert prior_count(1000, Cost(epsilon=5000.0)) == 2.0**-20
    assert prior_count(1000, Cost(epsilon=5000.0), 100) == prior_count(1000, Cost(epsilon=50.0))
    with pytest.raises(BudgetError, match="pure DP"):
        prior_count(1000, Cost(rho=1.0))


@pytest.mark.parametrize("bound", [1, 2, 3, 5, 8])
def test_a_whole_number_below_a_bound_is_made_of_fair_bits_and_those_beyond_are_drawn_again(bound):
    width = (bound - 1).bit_length()
    for bits in itertools.product((0, 1), repeat=width):
        value = int("".join(map(str, bits)) or "0", 2)
        signs = [s for b in bits for s in ((0, 7) if b else (-2, 0))]  # zeros are dropped
        noise = Script(signs, [1, *[-1] * 9], [1])  # then the highest bit alone
        found = uniform_below(np.array([bound]), noise)
        assert found.tolist() == [value if value < bound else 1 << (width - 1)]
        assert set(noise.scales) <= {16.0}


def test_every_bound_gets_its_own_bits():
    found = uniform_below(np.array([4, 1, 2]), Script([1, -1, 1, -1, -1, 1, *[-1] * 99], [-1]))
    assert found.tolist() == [2, 0, 0] or found.tolist() == [2, 0, 1]
    assert uniform_below(np.zeros(0, dtype=np.int64), Script()).tolist() == []


def test_a_source_without_bits_is_a_fault_and_no_endless_loop():
    with pytest.raises(EngineError, match="nothing but zeros"):
        uniform_below(np.array([2]), Script(*[[0]] * 500))
    with pytest.raises(EngineError, match="no usable bits"):
        uniform_below(np.array([3]), Script(*[[1]] * 500))


@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 1.0]])
@pytest.mark.parametrize(("counts", "prior", "unit"), [([1, 0, 2], 1.0, 1), ([0, 0, 0], 2.0, 1), ([0, 1, 0], 0.5, 2)])
def test_an_urn_draws_the_law_of_the_dirichlet_multinomial(monkeypatch, counts, prior, unit, weights):
    """By exhaustion: every row of tickets of three draws, each as likely as every other."""
    monkeypatch.setattr(sparse, "urn_unit", lambda cells, prior, draws: unit)
    alpha = [c + prior * w for c, w in zip(counts, weights or [1.0] * 3, strict=True)]
    draws, limits = 3, [round((sum(alpha) + t) * unit) for t in range(3)]
    found = collections.Counter()
    for tickets in itertools.product(*map(range, limits)):

        def drawn(bounds, noise, tickets=tickets):
            assert bounds.tolist() == limits
            return np.array(tickets)

        monkeypatch.setattr(sparse, "uniform_below", drawn)
        out = dirichlet_multinomial(
            np.array(counts), prior, draws, noise=None, weights=None if weights is None else np.array(weights)
        )
        found[tuple(out.tolist())] += 1
    for out in itertools.product(range(draws + 1), repeat=3):
        if sum(out) == draws:
            law = math.factorial(draws) / math.prod(sum(alpha) + t for t in range(draws))
            for a, k in zip(alpha, out, strict=True):
                law *= math.prod(a + i for i in range(k)) / math.factorial(k)
            assert found[out] / math.prod(limits) == pytest.approx(law)
    monkeypatch.undo()
    assert dirichlet_multinomial(np.array(counts), prior, 0, noise=None).tolist() == [0, 0, 0]


@pytest.mark.parametrize("scale", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("threshold", [1, 2, 9])
def test_an_empty_cell_survives_as_often_as_its_noise_reaches_the_threshold(scale, threshold):
    a = math.exp(-1 / scale)
    law = math.fsum((1 - a) / (1 + a) * a**k for k in range(threshold, threshold + 400))
    assert survival(scale, threshold) == pytest.approx(law, rel=1e-9)


@pytest.mark.parametrize(("scale", "parts"), [(4.0, 1), (1.0, 1), (0.99, 2), (0.5, 2), (0.49, 4), (0.1, 16)])
def test_small_noise_is_drawn_in_parts_of_at_least_scale_one_and_no_finer(scale, parts):
    assert sparse._fine(scale) == parts


def gaps_of(q):
    return -1 / math.log1p(-q)


def test_survivors_lie_where_the_gaps_say_and_exceed_the_threshold_by_what_is_drawn():
    scale, threshold, cells = 3.0, 2, 10
    noise = Script([1, -2, 5, 0, 3, 900], [-1, 4, 3])
    index, values = empty_survivors(noise, scale=scale, threshold=threshold, cells=cells)
    # gaps are the magnitudes of what is drawn: 1, 2, 5, then 3 passes the end
    assert index.tolist() == [0, 2, 7] and values.tolist() == [2 + 0, 2 + 3, 2 + 2]
    assert noise.scales == [pytest.approx(gaps_of(survival(scale, threshold))), scale]


def test_the_last_cell_may_survive_and_the_one_after_it_is_none():
    for cells, survivors in ((3, [2]), (2, [])):
        index, _ = empty_survivors(Script([3, 900], [1]), scale=3.0, threshold=2, cells=cells)
        assert index.tolist() == survivors


def test_survivors_of_a_threshold_that_hardly_any_reach_are_those_of_a_lower_one_that_pass_it():
    scale, threshold = 1.0, 100
    lower = math.floor(40 * math.log(2))
    noise = Script([1, 900], [threshold - lower + 1])
    index, values = empty_survivors(noise, scale=scale, threshold=threshold, cells=5)
    assert index.tolist() == list(range(5))[: len(index)] and set(values.tolist()) <= {threshold}
    assert noise.scales[0] == pytest.approx(gaps_of(survival(scale, lower)))
    index, _ = empty_survivors(Script([1, 900], [threshold - lower]), scale=scale, threshold=threshold, cells=5)
    assert index.tolist() == []


def test_occupied_cells_get_their_own_noise_and_the_table_stays_in_order(monkeypatch):
    monkeypatch.setattr(sparse, "empty_survivors", lambda noise, **_: (np.array([1, 4, 7]), np.array([9, 8, 6])))
    index, values = noisy_above(
        np.array([0, 4, 5, 9]), np.array([5, 2, 3, 7]), Script([0, 1, -1, -9]), scale=2.0, threshold=3, cells=10
    )
    # 4 is occupied, so that its survival as an empty cell does not count; 5 falls below the threshold, 9 too
    assert index.tolist() == [0, 1, 4, 7] and values.tolist() == [5, 9, 3, 6]
