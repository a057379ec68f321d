"""Partition selection keeps its (epsilon, delta): checked on the exact probabilities, and on draws."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from dpsyn_core.errors import BudgetError
from dpsyn_core.measure.charges import partition_charge
from dpsyn_core.measure.gate import Gate
from dpsyn_core.measure.partitions import failure, gaussian_failure, least, reach_for, threshold, truncated
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget, Cost
from dpsyn_core.privacy.noise.system import SystemNoise
from dpsyn_core.privacy.unit import Unit
from tests.privacy.noise.bits import SeededBits

pytestmark = pytest.mark.chance("samplers")


def law(scale, reach):
    x = np.arange(-reach, reach + 1)
    w = np.exp(-np.abs(x) / scale)
    return x, w / w.sum()


def keep_probability(n, scale, reach):
    x, p = law(scale, reach)
    return p[n + x > reach].sum() if n else 0.0


@pytest.mark.parametrize("per_key", [1, 3])
@pytest.mark.parametrize(("scale", "delta"), [(1.0, 1e-6), (8.3, 1e-9), (0.05, 1e-3), (3.0, 0.3)])
def test_every_count_and_the_next_keep_epsilon_and_delta(scale, delta, per_key):
    reach = reach_for(scale, per_key, delta)
    epsilon = per_key / scale
    for n in range(0, 2 * reach + 2, per_key):
        p, q = keep_probability(n, scale, reach), keep_probability(n + per_key, scale, reach)
        slack = 1e-12
        assert q <= math.exp(min(epsilon, 700)) * p + delta + slack
        assert p <= math.exp(min(epsilon, 700)) * q + delta + slack
        assert 1 - q <= math.exp(min(epsilon, 700)) * (1 - p) + delta + slack
        assert 1 - p <= math.exp(min(epsilon, 700)) * (1 - q) + delta + slack


def test_the_failure_is_the_mass_that_a_shift_pushes_out_and_the_reach_is_the_least():
    for scale, per_key, delta in ((2.0, 1, 1e-5), (7.0, 4, 1e-8)):
        reach = reach_for(scale, per_key, delta)
        _, p = law(scale, reach)
        assert failure(scale, per_key, reach) == pytest.approx(p[-per_key:].sum(), rel=1e-12)
        assert failure(scale, per_key, reach) <= delta < failure(scale, per_key, reach - 1)


def test_one_contribution_gives_the_optimal_threshold_of_the_literature():
    # Desfontaines et al. 2022: k = ceil(ln((e^eps + 2 delta - 1) / ((e^eps + 1) delta)) / eps)
    for epsilon, delta in ((1.0, 1e-5), (0.1, 1e-9), (3.0, 1e-7)):
        k = math.ceil(math.log((math.expm1(epsilon) + 2 * delta) / ((math.exp(epsilon) + 1) * delta)) / epsilon)
        assert reach_for(1 / epsilon, 1, delta) == k


@pytest.mark.parametrize("per_key", [1, 3])
@pytest.mark.parametrize(("epsilon", "delta", "keys"), [(1.0, 1e-6, 1), (0.3, 1e-9, 5), (6.0, 1e-3, 20)])
def test_a_gaussian_threshold_keeps_the_keys_of_one_individual_with_delta_at_most(epsilon, delta, keys, per_key):
    unit = Unit(max_records=keys * per_key)
    charge = partition_charge("k", Budget(epsilon=epsilon, delta=delta).gaussian(), unit, per_key=per_key, delta=delta)
    reach = threshold(charge, per_key)
    assert charge.sensitivity == pytest.approx(math.sqrt(keys) * per_key)
    assert charge.rho == pytest.approx((charge.sensitivity / charge.scale) ** 2 / 2)
    for counts in ([per_key] * keys, [1] * (keys * per_key)):
        lost = sum(norm.sf((reach - n + 0.5) / charge.scale) for n in counts)
        assert lost <= delta
    assert gaussian_failure(charge.scale, per_key, keys * per_key, reach - 1) > delta


def gate_of(cost, delta, unit=None):
    return Gate(account=Account(cost, delta=delta), noise=SystemNoise(), unit=unit or Unit())


def test_shared_keys_come_out_sorted_and_rare_ones_stay_in():
    cost = Cost(epsilon=1.0)
    got = gate_of(cost, 1e-6).partitions(
        "categories of 'city'",
        lambda: (["rome", "oslo", "bern"], np.array([5000, 1, 5000])),
        cost=cost,
        delta=1e-6,
        distinct=True,
    )
    assert got.keys == ("bern", "rome")  # 'oslo' comes out with probability 1e-6
    assert got.charge.delta == 1e-6
    assert got.charge.epsilon == pytest.approx(1.0)


def test_a_key_of_one_individual_comes_out_with_probability_delta():
    cost, delta = Cost(epsilon=2.0), 0.01
    kept = 0
    for _ in range(300):
        keys = [str(i) for i in range(100)]
        got = gate_of(cost, delta).partitions(
            "k", lambda keys=keys: (keys, np.ones(100, dtype=np.int64)), cost=cost, delta=delta, distinct=True
        )
        kept += len(got.keys)
    reach = reach_for(0.5, 1, delta)
    expected = 30_000 * failure(0.5, 1, reach)
    assert expected <= 300
    assert abs(kept - expected) < 6 * math.sqrt(expected)


@pytest.mark.parametrize(("neighbours", "moved"), [("add-remove", 5), ("replace", 10)])
@pytest.mark.parametrize("distinct", [True, False])
def test_theta_and_replacement_widen_the_noise_and_divide_delta(neighbours, moved, distinct):
    cost = Cost(epsilon=1.0)
    gate = gate_of(cost, 1e-6, Unit(neighbours=neighbours, max_records=5))
    asked = []
    gate._kept = lambda counts, per_key, charge: (asked.append((per_key, charge)), counts > 0)[1]
    gate.partitions("k", lambda: (["a"], np.array([3])), cost=cost, delta=1e-6, distinct=distinct)
    ((per_key, charge),) = asked
    assert per_key == (1 if distinct else 5)
    assert charge.scale == pytest.approx(moved)
    assert charge.sensitivity == moved


def test_truncated_draws_stay_in_reach_and_follow_their_law():
    class Source:
        def geometric(self, scale, size):
            from dpsyn_core.privacy.noise.laplace import two_sided_geometric

            return two_sided_geometric(scale, size, SeededBits(5 + size))

    draws = truncated(Source(), 2.0, 3, 200_000)
    _, p = law(2.0, 3)
    counts = np.bincount(draws + 3, minlength=7)
    assert counts.size == 7
    assert (np.abs(counts - 200_000 * p) < 6 * np.sqrt(200_000 * p)).all()


@pytest.mark.parametrize("delta", [0.0, 1.0, -1e-9, math.nan])
def test_a_delta_that_promises_nothing_is_refused(delta):
    cost = Cost(epsilon=1.0)
    with pytest.raises(BudgetError, match="delta of 'k'"):
        gate_of(cost, 0.5).partitions("k", lambda: pytest.fail("read"), cost=cost, delta=delta, distinct=True)


@pytest.mark.parametrize("exact", range(1, 40))
def test_a_failure_of_delta_itself_is_not_spent_so_that_rounding_cannot_pass_it(exact):
    assert least(lambda k: 0.5**k, 1, 0.5**exact) == exact + 1
    assert least(lambda k: 0.5**k, 1, 0.5**exact * 1.001) == exact
