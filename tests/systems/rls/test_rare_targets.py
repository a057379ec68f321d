"""A target that few records have, and numbers of some tens of values that tell it."""

import numpy as np

from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.domain import CodedAttribute, Domain
from dpsyn_core.systems.base import Task
from dpsyn_core.systems.registry import configure
from dpsyn_core.systems.rls.tuning import TUNING
from tests.seeded import SeededNoise

NUMBERS, BINS = 10, 60


def table(n, rate):
    """Numbers that follow one factor, and a target that the largest values of this factor have; a domain."""
    rng = np.random.default_rng(1)
    factor = rng.normal(size=n)
    seen = 0.7 * factor + rng.normal(size=(NUMBERS, n))
    told = factor + 0.5 * rng.normal(size=n)
    target = told > np.quantile(told, 1 - rate)
    codes = np.clip((seen + 2.5) / 5 * BINS, 0, BINS - 1)
    attributes = [CodedAttribute(name=f"x{i}", size=BINS, ordered=True, number=True) for i in range(NUMBERS)]
    return np.stack([*codes, target]).astype(np.uint8), Domain((*attributes, CodedAttribute(name="y", size=2)))


def ranked(score, target):
    """The chance that a record with the target has a larger score than one without (AUROC)."""
    place = np.empty(len(score))
    place[np.argsort(score, kind="stable")] = np.arange(len(score))
    return (place[target].mean() - (target.sum() - 1) / 2) / (~target).sum()


def released(codes, domain, epsilon, seed):
    """A calibrated system with what it released."""
    task = Task(domain=domain, unit=Unit(), budget=Budget(epsilon=epsilon, delta=1e-6), n_public=None)
    system = configure("rls", {"effort": 0.1, "even": False, "triples": False}).calibrate(task)
    gate = Gate(account=Account(system.cost), noise=SeededNoise(seed), unit=task.unit)
    return system, system.measure(MemoryCounter(codes, domain), gate=gate)


def predicted(codes, domain, epsilon, seed):
    """AUROC on the real records of the sum of numbers weighted by their synthetic means with and without the target."""
    system, measured = released(codes, domain, epsilon, seed)
    made = system.synthesize(measured, None, rng=np.random.default_rng(seed)).astype(float)
    has = made[-1] == 1
    weights = made[:-1, has].mean(axis=1) - made[:-1, ~has].mean(axis=1)
    return ranked(weights @ codes[:-1].astype(float), codes[-1] == 1)


def test_a_rare_target_is_measured_with_most_numbers_of_sixty_values_that_tell_it():
    codes, domain = table(20_000, 0.05)
    _, measured = released(codes, domain, 1.0, 0)
    pairs = [m.attributes for m in measured if len(m.attributes) == 2]
    assert sum("y" in p for p in pairs) > NUMBERS / 2
    assert sum("y" not in p for p in pairs) > NUMBERS


def test_where_all_is_lost_in_noise_predictions_are_chance_and_fall_on_both_sides_of_it():
    codes, domain = table(500, 0.1)
    found = np.array([predicted(codes, domain, 0.02, seed) for seed in range(10)])
    assert found.min() < 0.5 < found.max()
    assert abs(found.mean() - 0.5) < 3 * found.std(ddof=1) / np.sqrt(10)


def test_numbers_are_merged_with_categories_where_that_halves_their_values_and_always_from_128_on():
    merges = TUNING.resolution.merges
    assert [merges(bins, 20.0) for bins in (16, 39, 40, 60, 127, 128)] == [False, False, True, True, True, True]
    assert not merges(74, 50.0)
    assert merges(128, 100.0)
