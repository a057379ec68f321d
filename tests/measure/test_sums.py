"""Sums of clipped vectors: their sensitivity by brute force, and what the gate refuses."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import kstest

from dpsyn_core.errors import BudgetError, EngineError
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.counting.sums import BLOCK, STEPS, Features, Outer, SumRule, clipped, one_hot
from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Cost
from dpsyn_core.privacy.composition import compose
from dpsyn_core.privacy.noise.system import SystemNoise
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.domain import CodedAttribute, Domain

pytestmark = pytest.mark.chance("samplers")

DOMAIN = Domain((CodedAttribute(name="a", size=3), CodedAttribute(name="b", size=2)))
RECORDS = list(itertools.product(range(3), range(2)))
LOUD = Features(tables={"a": np.array([[3.0, -1.0], [0.2, 0.1], [-2.0, 4.0]]), "b": np.array([[-0.5], [0.7]])})
WEIGHTS = np.random.default_rng(0).normal(size=(3, 4))


def bare(x):
    return [x]


def factors(x):
    hidden = np.maximum(x @ WEIGHTS, 0.0)
    return [Outer(left=x, right=hidden), hidden - 1.0, Outer(left=hidden, right=hidden)]


MAPS = {"bare": (bare, 3, False), "factors": (factors, 12 + 4 + 16, False), "non-negative": (factors, 32, True)}


def counter(rows):
    return MemoryCounter(np.array(rows, dtype=np.uint8).reshape(-1, 2).T, DOMAIN)


def rule(cells, **more):
    return SumRule(**({"features": LOUD, "clip": 1.3, "cells": cells} | more))


class Quiet(SystemNoise):
    """No noise, and everybody in every sample."""

    def gaussian(self, sigma, size):
        return np.zeros(size, dtype=np.int64)

    def chance(self, rate, size):
        return np.ones(size, dtype=bool)


def gate_of(*, unit=None, noise=None, rho=0.5, delta=1e-6):
    return Gate(account=Account(Cost(rho=rho), delta=delta), noise=noise or Quiet(), unit=unit or Unit())


@pytest.mark.parametrize("kind", MAPS)
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("theta", [1, 2])
def test_no_neighbour_moves_a_sum_by_more_than_what_is_charged(kind, neighbours, theta):
    """All individuals, each in the place of each other one, beside a few records of others."""
    vectors, cells, non_negative = MAPS[kind]
    unit = Unit(neighbours=neighbours, max_records=theta)
    base = [(0, 1), (2, 0), (2, 0)]
    individuals = list(itertools.combinations_with_replacement(RECORDS, theta))
    sums, charge = [], None
    for mine in [*individuals, *([()] if neighbours == "add-remove" else [])]:
        gate = gate_of(unit=unit)
        by = rule(cells, non_negative=non_negative)
        out = gate.release_sum("s", counter([*mine, *base]), vectors, rule=by, cost=Cost(rho=0.5))
        steps = out.values / by.clip * STEPS
        sums.append(np.rint(steps))
        assert np.abs(steps - sums[-1]).max() < 1e-6
        charge = out.charge
    pairs = [(s, sums[-1]) for s in sums] if neighbours == "add-remove" else itertools.combinations(sums, 2)
    worst = max(math.sqrt(((a - b) ** 2).sum()) for a, b in pairs)
    assert worst <= charge.sensitivity
    assert worst > 0.6 * charge.sensitivity, "more is charged than neighbours move"


def test_vectors_are_scaled_to_the_clip_norm_and_short_ones_are_left_alone():
    """Against plain arithmetic in floats, record by record."""
    rng = np.random.default_rng(1)
    left, right, rest = (rng.normal(size=(BLOCK, d)) * rng.gamma(1, 1, (BLOCK, 1)) for d in (7, 5, 3))
    whole = clipped([Outer(left=left, right=right), rest], 2.0)
    got = np.concatenate(
        [np.einsum("ip,iq->ipq", whole[0].left, whole[0].right).reshape(BLOCK, -1), whole[1].left], axis=1
    ) * (2.0 / STEPS)
    exact = np.concatenate([np.einsum("ip,iq->ipq", left, right).reshape(BLOCK, -1), rest], axis=1)
    norm = np.linalg.norm(exact, axis=1, keepdims=True)
    wanted = exact * np.minimum(1.0, 2.0 / norm)
    error = np.linalg.norm(got - wanted, axis=1) / np.linalg.norm(wanted, axis=1)
    assert (norm > 2).mean() > 0.3
    assert (norm < 2).mean() > 0.3
    assert np.median(error) < 2e-3
    assert (np.linalg.norm(got, axis=1) <= 2.0).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e308, 1e-320])
def test_a_vector_that_is_not_finite_counts_nothing_and_no_other_record_is_touched(bad):
    values = np.ones((BLOCK, 4))
    values[3, 2] = bad
    for parts in ([values], [Outer(left=values, right=values)], [Outer(left=np.ones((BLOCK, 2)), right=values)]):
        found = clipped(parts, 1.0)[0]
        assert np.isfinite(found.left).all()
        assert found.squares().max() <= STEPS**2
        assert (found.left[4:] == found.left[0]).all()


@pytest.mark.parametrize("size", [0.0, 1e-300, 1e-3, 0.999, 1.0, 1.001, 1e3, 1e150])
def test_a_record_of_any_size_stays_within_the_norm_to_the_last_step(size):
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(BLOCK, 9)), rng.normal(size=(BLOCK, 6))
    for parts in ([a * size], [Outer(left=a * size, right=b)], [Outer(left=a, right=b), a * size]):
        exact = sum(
            (p.left.astype(object) ** 2).sum(1) * (1 if p.right is None else (p.right.astype(object) ** 2).sum(1))
            for p in clipped(parts, 1.0)
        )
        assert max(exact) <= STEPS**2


def test_the_sum_does_not_depend_on_the_order_of_the_records():
    rng = np.random.default_rng(3)
    rows = rng.integers(0, (3, 2), (2000, 2))
    got = [
        gate_of().release_sum("s", counter(r), factors, rule=rule(32), cost=Cost(rho=0.5)).values
        for r in (rows, rows[rng.permutation(2000)])
    ]
    assert np.array_equal(*got)


def test_each_value_of_an_attribute_may_have_a_sum_and_a_map_of_its_own():
    rows = [(0, 0), (0, 1), (1, 1), (2, 1), (2, 1)]
    maps = [lambda x, k=k: [np.full((len(x), 1), k + 1.0)] for k in range(3)]
    out = gate_of().release_sum("s", counter(rows), maps, rule=rule(1, by="a", clip=4.0), cost=Cost(rho=0.5))
    assert out.values == pytest.approx(np.array([[2.0], [2.0], [6.0]]), rel=1e-3)


def mixes_records(x):
    return [x - x.mean(axis=0)]


def knows_its_place(x):
    return [x + np.arange(len(x))[:, None]]


def mixes_a_little(x):
    return [x + 1e-13 * x.mean(axis=0)]  # moves no whole step of the public rows


def knows_its_place_a_little(x):
    return [Outer(left=x, right=1.0 + 1e-14 * np.arange(len(x))[:, None])]


@pytest.mark.parametrize("vectors", [mixes_records, knows_its_place, mixes_a_little, knows_its_place_a_little])
def test_a_map_that_mixes_records_is_refused_before_anything_is_charged(vectors):
    gate = gate_of()
    with pytest.raises(EngineError, match="from other records too"):
        gate.release_sum("s", counter(RECORDS), vectors, rule=rule(3), cost=Cost(rho=0.5))
    assert not gate.account.charges


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_map_that_gives_no_numbers_for_public_rows_is_refused_before_anything_is_charged(bad):
    gate = gate_of()
    for vectors in (lambda x: [x * bad], lambda x: [Outer(left=x, right=np.full((len(x), 1), bad))]):
        with pytest.raises(EngineError, match="not finite"):
            gate.release_sum("s", counter(RECORDS), vectors, rule=rule(3), cost=Cost(rho=0.5))
    assert not gate.account.charges


def test_what_a_map_says_when_it_fails_on_records_is_not_passed_on():
    def picky(x):
        if x[0, 2] == 0.7 and x[1, 2] == 0.7:  # public rows never begin like this
            raise ValueError("record 0 holds a secret")
        return [x]

    with pytest.raises(EngineError) as caught:
        gate_of().release_sum("s", counter([(0, 1), (1, 1)]), picky, rule=rule(3), cost=Cost(rho=0.5))
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_a_map_that_keeps_its_block_keeps_zeros():
    kept = []

    def hoarder(x):
        kept.append(x)
        return [x.copy()]

    gate_of().release_sum("s", counter(RECORDS), hoarder, rule=rule(3), cost=Cost(rho=0.5))
    assert not kept[-1].any()


def test_a_training_run_is_paid_for_once_and_takes_no_more_steps_than_that():
    gate = gate_of()
    run = gate.release_sampled_sum(
        "t", counter(RECORDS), rule=rule(32), rate=0.25, steps=3, cost=Cost(rho=0.4), delta=1e-7
    )
    assert [c.mechanism for c in gate.account.charges] == ["sampled-gaussian"]
    for _ in range(3):
        run.step(factors)
    with pytest.raises(EngineError, match="3 steps that it paid for"):
        run.step(factors)
    assert len(gate.account.charges) == 1


def test_steps_of_a_training_run_follow_each_other():
    gate = gate_of()
    run = gate.release_sampled_sum(
        "t", counter(RECORDS), rule=rule(3), rate=0.25, steps=3, cost=Cost(rho=0.3), delta=1e-7
    )
    run.step(bare)
    gate.release_sum("s", counter(RECORDS), bare, rule=rule(3), cost=Cost(rho=0.1))
    with pytest.raises(EngineError, match="must follow each other"):
        run.step(bare)


def test_nobody_is_sampled_from_an_empty_table_and_the_noise_is_the_same():
    run = gate_of(noise=SystemNoise()).release_sampled_sum(
        "t", counter([]), rule=rule(3), rate=0.01, steps=200, cost=Cost(rho=0.3), delta=1e-7
    )
    draws = np.concatenate([run.step(bare).values for _ in range(200)])
    assert draws.std() == pytest.approx(run.charge.scale / STEPS * 1.3, rel=0.2)


def test_the_noise_of_a_sum_is_normal_with_the_charged_deviation_in_the_units_of_the_vectors():
    wide = SumRule(features=LOUD, clip=7.0, cells=20_000)
    gate = gate_of(noise=SystemNoise())
    out = gate.release_sum("s", counter([]), lambda x: [np.zeros((len(x), 20_000))], rule=wide, cost=Cost(rho=0.02))
    assert out.sigma == pytest.approx(7.0 / math.sqrt(0.04))
    assert kstest(out.values, "norm", (0, out.sigma)).pvalue > 1e-7


@pytest.mark.parametrize(("rate", "steps"), [(0.0, 5), (-0.1, 5), (1.5, 5), (math.nan, 5), (0.1, 0), (0.1, 10**7)])
def test_rates_and_steps_that_mean_nothing_are_refused_before_anything_is_charged(rate, steps):
    gate = gate_of()
    with pytest.raises(BudgetError):
        gate.release_sampled_sum(
            "t", counter(RECORDS), rule=rule(3), rate=rate, steps=steps, cost=Cost(rho=0.3), delta=1e-7
        )
    assert not gate.account.charges


@pytest.mark.parametrize("clip", [0.0, -1.0, math.inf, math.nan])
def test_clip_norms_that_mean_nothing_are_refused(clip):
    with pytest.raises(EngineError, match="clip norm"):
        gate_of().release_sum("s", counter(RECORDS), bare, rule=rule(3, clip=clip), cost=Cost(rho=0.1))


def test_what_a_training_run_costs_is_within_what_it_was_given():
    gate = gate_of(rho=0.03, delta=1e-6)
    gate.release_sampled_sum("t", counter(RECORDS), rule=rule(3), rate=0.05, steps=100, cost=Cost(rho=0.03), delta=1e-6)
    whole = compose(gate.account.charges)
    assert 0.99 * math.sqrt(0.06) < whole.mu <= math.sqrt(0.06)
    assert whole.delta == 1e-6


def test_features_are_looked_up_in_the_order_of_their_tables():
    out = np.zeros((4, 5))
    one_hot(DOMAIN).fill(out, {"a": np.array([2, 0]), "b": np.array([1, 1])})
    assert out.tolist() == [[0, 0, 1, 0, 1], [1, 0, 0, 0, 1], [0] * 5, [0] * 5]


def test_a_plan_and_the_run_that_follows_it_look_for_the_noise_of_samples_once():
    from dpsyn_core.measure.charges import sampled_charge
    from dpsyn_core.privacy import subsampling as sampled

    cost = Cost(rho=0.021)
    told = {"kind": "training", "cells": 2, "norm": 1 << 24, "steps": 7, "delta": 1e-7}
    planned = sampled_charge("gradients", cost, Unit(), rate=0.05, **told)
    assert planned.sampling * 2**32 == np.ceil(0.05 * 2**32)
    found = sampled._multiplier.cache_info().misses
    assert sampled_charge("gradients", cost, Unit(), rate=planned.sampling, **told) == planned
    assert sampled_charge("gradients", cost, Unit(), rate=0.05, **told) == planned
    assert sampled._multiplier.cache_info().misses == found


def test_a_matrix_with_a_factor_of_zeros_is_zero_and_leaves_the_other_parts():
    x = np.array([[3.0, 4.0], [0.3, 0.4], [0.0, 0.0]])
    alone = clipped([x], 1.0)[0].left
    for left, right in ((0.0, 1.0), (1.0, 0.0), (0.0, 0.0)):
        vector, matrix = clipped([x, Outer(left=np.full((3, 2), left), right=np.full((3, 4), right))], 1.0)
        assert (vector.left == alone).all()
        assert not (matrix.left.any(axis=1) & matrix.right.any(axis=1)).any()
    assert np.abs(alone[1] / STEPS - x[1]).max() < 1e-3 and np.abs(alone[0] / STEPS - [0.6, 0.8]).max() < 1e-3
