"""Dirichlet-multinomial: the prior of oracle 17, the exhaustive supremum, and the urn against its moments."""

import itertools
import math

import numpy as np
import pytest

from dpsyn_core.errors import MethodError, SettingError, SizeError, UnitError
from dpsyn_core.measure.gate import Gate
from dpsyn_core.measure.sparse import dirichlet_multinomial, prior_count, uniform_below
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget, Cost
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.domain import Domain
from dpsyn_core.systems.base import Task
from dpsyn_core.systems.registry import configure
from tests.systems.harness import PlainCounter, SeededNoise

SLIDES = np.array([816, 109, 7, 39, 6, 17])


def tables(n, cells):
    """All count tables of n records."""
    for bars in itertools.combinations(range(n + cells - 1), cells - 1):
        edges = (-1, *bars, n + cells - 1)
        yield tuple(b - a - 1 for a, b in itertools.pairwise(edges))


def log_probability(out, y, alpha):
    """Exact log of P(out | y) up to the multinomial coefficient, which does not depend on y."""
    total = math.lgamma(sum(y) + alpha * len(y)) - math.lgamma(sum(y) + alpha * len(y) + sum(out))
    return total + sum(math.lgamma(alpha + a + b) - math.lgamma(alpha + a) for a, b in zip(y, out, strict=True))


def neighbours(y, theta):
    """All tables that differ by the exchange of one individual of exactly theta records."""
    step = {y}
    for _ in range(theta):
        step = {
            tuple(t[k] - (k == i) + (k == j) for k in range(len(t)))
            for t in step
            for i in range(len(t))
            for j in range(len(t))
            if t[i] > 0
        }
    return step


def test_prior_counts_are_those_of_the_slides():
    assert prior_count(994, Cost(epsilon=5.0)) == pytest.approx(6.742953, abs=2e-6)
    assert prior_count(994, Cost(epsilon=1.0)) == pytest.approx(578.4848, abs=1e-4)


@pytest.mark.parametrize(
    ("n", "m", "cells", "epsilon"), [(1, 1, 2, 1.0), (5, 5, 3, 1.0), (6, 3, 3, 0.5), (4, 8, 2, 2.0)]
)
def test_the_exhaustive_supremum_of_the_log_ratio_is_epsilon(n, m, cells, epsilon):
    alpha = prior_count(m, Cost(epsilon=epsilon))
    outs = list(tables(m, cells))
    worst = max(
        abs(log_probability(o, y, alpha) - log_probability(o, z, alpha))
        for y in tables(n, cells)
        for z in neighbours(y, 1)
        for o in outs
    )
    assert worst <= epsilon
    assert worst == pytest.approx(epsilon, rel=2e-5)  # the prior is rounded up to a multiple of 2^-20


def test_several_records_an_individual_and_a_changed_number_of_records_stay_within_epsilon():
    epsilon, theta, m, cells = 1.5, 3, 4, 3
    alpha = prior_count(m, Cost(epsilon=epsilon), theta)
    outs = list(tables(m, cells))
    swaps = [(y, z) for y in tables(4, cells) for z in neighbours(y, theta)]
    sizes = [(y, z) for k in (1, 2, 3) for y in tables(2, cells) for d in tables(k, cells) for z in [np.add(y, d)]]
    for y, z in [*swaps, *sizes]:
        assert max(abs(log_probability(o, y, alpha) - log_probability(o, z, alpha)) for o in outs) <= epsilon


@pytest.mark.slow
def test_the_urn_has_the_means_and_deviations_of_oracle_17():
    noise, alpha, runs = SeededNoise(3), prior_count(994, Cost(epsilon=5.0)), 1500
    draws = np.array([dirichlet_multinomial(SLIDES, alpha, 994, noise=noise) for _ in range(runs)])
    assert (draws.sum(axis=1) == 994).all()
    mean = np.array([790.565, 111.216, 13.206, 43.954, 12.245, 22.814])
    sd = np.array([17.804, 13.910, 5.052, 9.072, 4.867, 6.608])
    assert np.allclose(draws.mean(axis=0), mean, atol=6 * sd / math.sqrt(runs))
    assert np.allclose(draws.std(axis=0), sd, rtol=6 * 0.75 / math.sqrt(runs))


@pytest.mark.slow
def test_the_urn_has_the_exact_law_on_a_small_table():
    y, alpha, m, runs = np.array([2, 0, 1]), prior_count(3, Cost(epsilon=1.0)), 3, 20_000
    outs = list(tables(m, 3))
    coefficient = [math.lgamma(m + 1) - sum(math.lgamma(o + 1) for o in out) for out in outs]
    p = np.exp([log_probability(o, tuple(y), alpha) + c for o, c in zip(outs, coefficient, strict=True)])
    assert p.sum() == pytest.approx(1.0)
    noise = SeededNoise(11)
    index = {o: i for i, o in enumerate(outs)}
    seen = np.bincount(
        [index[tuple(dirichlet_multinomial(y, alpha, m, noise=noise).tolist())] for _ in range(runs)],
        minlength=len(outs),
    )
    statistic = ((seen - runs * p) ** 2 / (runs * p)).sum()
    assert statistic < 50  # chi-square with 9 degrees of freedom passes 50 with probability 1e-7


def test_uniform_integers_fill_their_bounds_evenly():
    bounds = np.repeat(np.array([1, 3, 10], dtype=np.int64), 30_000)
    draws = uniform_below(bounds, SeededNoise(5)).reshape(3, -1)
    assert (draws[0] == 0).all()
    for row, bound in ((1, 3), (2, 10)):
        seen = np.bincount(draws[row], minlength=bound)
        assert seen.size == bound
        assert np.abs(seen - 30_000 / bound).max() < 6 * math.sqrt(30_000 / bound)


def log_law(out, y, prior):
    """As `log_probability`, with a prior count of its own for each cell."""
    whole = sum(y) + sum(prior)
    total = math.lgamma(whole) - math.lgamma(whole + sum(out))
    return total + sum(math.lgamma(p + a + b) - math.lgamma(p + a) for p, a, b in zip(prior, y, out, strict=True))


@pytest.mark.parametrize(("epsilon", "theta"), [(1.0, 1), (1.5, 2)])
def test_uneven_prior_counts_stay_within_epsilon_and_reach_it(epsilon, theta):
    alpha = prior_count(4, Cost(epsilon=epsilon), theta)
    prior, outs = alpha * np.array([1.0, 2.5, 7.0]), list(tables(4, 3))
    swaps = [(y, z) for y in tables(4, 3) for z in neighbours(y, theta)]
    sizes = [(y, np.add(y, d)) for k in range(1, theta + 1) for y in tables(2, 3) for d in tables(k, 3)]
    worst = max(abs(log_law(o, y, prior) - log_law(o, z, prior)) for y, z in [*swaps, *sizes] for o in outs)
    assert 0.8 * epsilon < worst <= epsilon


def test_the_urn_with_uneven_prior_counts_has_the_exact_law():
    y, m, runs = np.array([2, 0, 1]), 3, 20_000
    weights = np.array([1.0, 3.0, 1.5])
    alpha = prior_count(m, Cost(epsilon=1.0))
    outs = list(tables(m, 3))
    coefficient = [math.lgamma(m + 1) - sum(math.lgamma(o + 1) for o in out) for out in outs]
    p = np.exp([log_law(o, y, alpha * weights) + c for o, c in zip(outs, coefficient, strict=True)])
    assert p.sum() == pytest.approx(1.0)
    noise, index = SeededNoise(12), {o: i for i, o in enumerate(outs)}
    drawn = (dirichlet_multinomial(y, alpha, m, noise=noise, weights=weights) for _ in range(runs))
    seen = np.bincount([index[tuple(d.tolist())] for d in drawn], minlength=len(outs))
    assert ((seen - runs * p) ** 2 / (runs * p)).sum() < 50  # as above


def test_exposures_draw_rates_together_and_are_read_before_a_charge():
    domain = Domain.of({"town": 3, "sex": 2})
    people = np.array([1_000, 2_000, 20_000])
    shares = []
    for exposures in ("", "town=1000/2000/20000"):
        system = configure("dirichlet-multinomial", {"exposures": exposures}).calibrate(
            task_of(domain, 230, epsilon=1.0)
        )
        gate = Gate(account=Account(system.cost), noise=SeededNoise(1), unit=Unit(neighbours="replace"))
        codes = np.array([np.repeat([0, 1, 2], people // 100), np.zeros(230, dtype=int)])
        [got] = system.measure(PlainCounter(codes, domain), gate=gate)
        shares.append(got.counts.reshape(3, 2).sum(axis=1) / 230)
        assert got.counts.sum() == 230
    assert shares[0][2] < 0.6
    assert shares[1][2] > 0.75
    for wrong, word in (("area=1/2/3", "no attribute"), ("town=1/2", "3 values"), ("town=1/0/3", "above 0"),
                        ("town=a/b/c", "above 0"), ("town=1/nan/3", "above 0")):  # fmt: skip
        with pytest.raises(SettingError, match=word):
            configure("dirichlet-multinomial", {"exposures": wrong}).calibrate(task_of(domain, 230))


def task_of(domain, n, *, epsilon=5.0, neighbours="replace", theta=1):
    unit = Unit(neighbours=neighbours, max_records=theta)
    return Task(domain=domain, unit=unit, budget=Budget(epsilon=epsilon, delta=0.0), n_public=n)


def test_tables_and_replicates_share_epsilon():
    domain = Domain.of({"a": 3, "b": 2})
    task = task_of(domain, 20)
    system = configure("dirichlet-multinomial", {"tables": "a, b", "replicates": 2}).calibrate(task)
    gate = Gate(account=Account(system.cost), noise=SeededNoise(1), unit=task.unit)
    measured = system.measure(PlainCounter(np.zeros((2, 20), dtype=int), domain), gate=gate)
    assert [c.epsilon for c in gate.account.charges] == pytest.approx([1.25] * 4)
    assert [c.mechanism for c in gate.account.charges] == ["dirichlet"] * 4
    out = system.synthesize(measured, None, rng=np.random.default_rng(0))
    assert out.shape == (2, 40)
    assert (np.bincount(out[0, :20], minlength=3) == measured[0].counts[0]).all()
    assert (np.bincount(out[1, 20:], minlength=2) == measured[1].counts[1]).all()


def test_add_remove_neighbours_private_n_and_large_tables_are_refused():
    domain = Domain.of({"a": 300, "b": 300})
    config = configure("dirichlet-multinomial", {})
    with pytest.raises(UnitError, match="'rls'"):
        config.calibrate(task_of(domain, 10, neighbours="add-remove"))
    with pytest.raises(MethodError, match="public number"):
        config.calibrate(task_of(domain, None))
    with pytest.raises(SizeError, match="'field-groups'"):
        config.calibrate(task_of(domain, 10))
    gate = Gate(account=Account(Cost(epsilon=1.0)), noise=SeededNoise(0), unit=Unit())
    with pytest.raises(UnitError, match="replace"):
        gate.dirichlet("t", lambda: np.zeros(2, dtype=int), cells=2, draws=3, cost=Cost(epsilon=1.0))
    assert not gate.account.charges
