"""Pairs of numbers whose records crowd inside coarse values are measured at more values; others are not."""

import numpy as np
import pytest

from dpsyn_core.estimate.marginals.coarsening import Coarsening
from dpsyn_core.estimate.marginals.types import Measurement
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.domain import CodedAttribute, Domain
from dpsyn_core.systems.base import Task
from dpsyn_core.systems.registry import configure
from tests.seeded import SeededNoise

SIDE = 120
MAP = Domain(
    (
        CodedAttribute(name="east", size=SIDE, ordered=True, number=True),
        CodedAttribute(name="north", size=SIDE, ordered=True, number=True),
        CodedAttribute(name="kind", size=3),
    )
)


def along_a_road(n, rng):
    """Half of the records within three steps of a diagonal, the others anywhere."""
    east, kind = rng.integers(0, SIDE, n), rng.integers(0, 3, n)
    near = np.clip(east + rng.integers(-3, 4, n), 0, SIDE - 1)
    return np.stack([east, np.where(rng.random(n) < 0.5, near, rng.integers(0, SIDE, n)), kind]).astype(np.uint16)


def of_a_copula(n, rng):
    """Two normal numbers with a correlation of .6."""
    one = rng.normal(size=n)
    other = 0.6 * one + 0.8 * rng.normal(size=n)
    east, north = (np.clip(60 + 18 * x, 0, SIDE - 1) for x in (one, other))
    return np.stack([east, north, rng.integers(0, 3, n)]).astype(np.uint16)


def calibrated(domain, n_public=None):
    task = Task(domain=domain, unit=Unit(), budget=Budget(epsilon=2.0, delta=1e-9), n_public=n_public)
    return configure("rls", {}).calibrate(task)


def released(codes):
    system = calibrated(MAP)
    gate = Gate(account=Account(system.cost), noise=SeededNoise(1), unit=Unit())
    measured = system.measure(MemoryCounter(codes, MAP), gate=gate)
    return system, measured, gate.account


def sizes(measured):
    """Of the tables of both numbers."""
    return sorted(m.values.size for m in measured if m.attributes == ("east", "north"))


def on_the_road(codes):
    return float((np.abs(codes[0].astype(int) - codes[1].astype(int)) <= 3).mean())


def test_records_along_a_road_get_a_finer_table_and_stay_on_it():
    codes = along_a_road(20_000, np.random.default_rng(0))
    system, measured, account = released(codes)
    few, *_, many = sizes(measured)
    assert many > 3 * few
    made = system.synthesize(measured, 20_000, rng=np.random.default_rng(0))
    coarse = type(measured)([m for m in measured if m.values.size != many])
    without = system.synthesize(coarse, 20_000, rng=np.random.default_rng(0))
    real = on_the_road(codes)
    assert on_the_road(without) + 0.02 < on_the_road(made) <= real
    assert "scores of finer pairs" in [c.name for c in account.charges]


def test_numbers_of_a_copula_keep_their_few_values():
    _, measured, account = released(of_a_copula(20_000, np.random.default_rng(0)))
    assert "scores of finer pairs" in [c.name for c in account.charges]  # scored, and found to be as expected
    assert len(set(sizes(measured))) == 1


def test_without_two_numbers_nothing_is_scored_again():
    codes = along_a_road(5_000, np.random.default_rng(0))
    domain = Domain((CodedAttribute(name="east", size=SIDE, ordered=True, number=True), *MAP.attributes[2:]))
    system = calibrated(domain)
    gate = Gate(account=Account(system.cost), noise=SeededNoise(1), unit=Unit())
    system.measure(MemoryCounter(codes[[0, 2]], domain), gate=gate)
    assert "scores of finer pairs" not in [c.name for c in gate.account.charges]


@pytest.mark.parametrize("correlation", [0.0, 0.8])
def test_what_is_expected_of_finer_values_adds_up_to_the_first_table(correlation):
    rng = np.random.default_rng(3)
    one = rng.normal(size=40_000)
    other = correlation * one + np.sqrt(1 - correlation**2) * rng.normal(size=40_000)
    codes = [np.clip(60 + 18 * x, 0, SIDE - 1).astype(int) for x in (one, other)]
    even, halves = (np.arange(SIDE) // (SIDE // 6), np.arange(SIDE) // (SIDE // 12))
    counts = np.zeros((6, 6))
    np.add.at(counts, (even[codes[0]], even[codes[1]]), 1.0)
    truth = np.zeros((12, 12))
    np.add.at(truth, (halves[codes[0]], halves[codes[1]]), 1.0)
    ones = [
        Measurement(attributes=(n,), values=np.bincount(c, minlength=SIDE).astype(float), sigma=1.0)
        for n, c in zip(("east", "north"), codes, strict=True)
    ]
    ones.append(Measurement(attributes=("kind",), values=np.full(3, 40_000 / 3), sigma=1.0))
    first = Measurement(
        attributes=("east", "north"),
        values=counts,
        sigma=1.0,
        recodes=dict.fromkeys(("east", "north"), Coarsening.of(even)),
    )
    system = calibrated(MAP, n_public=40_000)
    view = system.view([*ones, first])
    expected = view.finer_pair(first, dict.fromkeys(("east", "north"), Coarsening.of(halves)))
    blocks = expected.reshape(6, 2, 6, 2).sum(axis=(1, 3))
    assert np.abs(blocks - counts).sum() < 0.02 * counts.sum()
    spread = np.repeat(np.repeat(counts / 4, 2, axis=0), 2, axis=1)
    assert np.abs(expected - truth).sum() < 0.5 * np.abs(spread - truth).sum()


def blank_where_the_other_is_not(n, rng):
    """Two numbers of which each record has one: a skip."""
    first = rng.random(n) < 0.5
    one, other = rng.integers(0, SIDE, n), rng.integers(0, SIDE, n)
    return np.stack([np.where(first, one, SIDE), np.where(first, SIDE, other)]).astype(np.uint16)


def test_two_numbers_that_no_record_has_together_are_measured_without_trouble():
    blank = {"size": SIDE + 1, "ordered": True, "number": True, "special": 1}
    domain = Domain((CodedAttribute(name="east", **blank), CodedAttribute(name="north", **blank)))
    codes = blank_where_the_other_is_not(6_000, np.random.default_rng(0))
    system = calibrated(domain)
    gate = Gate(account=Account(system.cost), noise=SeededNoise(1), unit=Unit())
    measured = system.measure(MemoryCounter(codes, domain), gate=gate)
    made = system.synthesize(measured, 6_000, rng=np.random.default_rng(0))
    assert ((made[0] < SIDE) != (made[1] < SIDE)).mean() > 0.95


def test_a_table_that_does_not_divide_another_one_of_its_pair_is_read_by_itself():
    thirds, quarters = (Coarsening.of(np.arange(SIDE) // (SIDE // k)) for k in (3, 4))
    rng = np.random.default_rng(4)
    east = rng.integers(0, SIDE, 20_000)
    north = np.clip(east + rng.integers(-20, 21, 20_000), 0, SIDE - 1)
    ones = [
        Measurement(attributes=(n,), values=np.bincount(c, minlength=SIDE).astype(float), sigma=1.0)
        for n, c in (("east", east), ("north", north))
    ]
    ones.append(Measurement(attributes=("kind",), values=np.full(3, 20_000 / 3), sigma=1.0))
    tables = []
    for recode in (thirds, quarters):
        counts = np.zeros((recode.size, recode.size))
        np.add.at(counts, (recode.map[east], recode.map[north]), 1.0)
        maps = dict.fromkeys(("east", "north"), recode)
        tables.append(Measurement(attributes=("east", "north"), values=counts, sigma=5.0, recodes=maps))
    system = calibrated(MAP, n_public=20_000)
    of_both = [t.values for t in system.view([*ones, *tables]).targets(20_000) if len(t.attributes) == 2]
    alone = [t.values for t in system.view([*ones, tables[1]]).targets(20_000) if len(t.attributes) == 2]
    np.testing.assert_allclose(of_both[1], alone[0])
