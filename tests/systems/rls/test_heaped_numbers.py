"""Small tables in which one value of a number holds many records: dry days, no income, weeks of 40 hours."""

import numpy as np
import pyarrow as pa
import pytest

from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.document import Schema
from dpsyn_core.systems.base import Task
from dpsyn_core.systems.registry import config_class, configure
from dpsyn_core.systems.rls.system import Rls
from tests.seeded import SeededNoise

HEAPS = {"rain": 0, "income": 0, "hours": 40, "warmth": None}  # the value that is heaped


def number(name, low, high, step):
    return {"name": name, "kind": "numeric", "min": low, "max": high, "step": step}


SCHEMA = Schema.of(
    {
        "version": 1,
        "name": "weather",
        "attributes": [
            number("rain", 0, 60, 0.1),
            number("income", 0, 1_000_000, 1),
            number("hours", 1, 99, 1),
            number("warmth", -10, 40, 0.1),
            {"name": "kind", "kind": "categorical", "values": ["a", "b", "c"]},
        ],
    }
)


def weather(n, seed=0):
    """57 % of the days are dry, 60 % of the people have no income, 45 % work 40 hours; warmth has no heap."""
    rng = np.random.default_rng(seed)
    columns = {
        "rain": np.where(rng.random(n) < 0.57, 0.0, rng.gamma(0.8, 8, n)).clip(0, 60).round(1),
        "income": np.where(rng.random(n) < 0.6, 0, np.exp(10 + 0.6 * rng.normal(size=n))).clip(0, 1e6).round(),
        "hours": np.where(rng.random(n) < 0.45, 40, rng.normal(37, 10, n)).clip(1, 99).round(),
        "warmth": rng.normal(14, 7, n).clip(-10, 40).round(1),
        "kind": rng.choice(["a", "b", "c"], n),
    }
    return Codec(SCHEMA).encode(pa.table(columns)).codes


def measured(codes, epsilon, seed):
    """The system, and what it has released."""
    task = Task(domain=SCHEMA.domain(), unit=Unit(), budget=Budget(epsilon=epsilon, delta=1e-6), n_public=None)
    system = Rls(configure("rls", {}), task)
    gate = Gate(account=Account(system.cost), noise=SeededNoise(seed), unit=task.unit)
    return system, system.measure(MemoryCounter(codes, task.domain), gate=gate)


def code_of(name):
    return int(np.flatnonzero(SCHEMA[name].middles() == HEAPS[name])[0])


@pytest.mark.parametrize("n", [300, 1_500, 5_000])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_a_value_that_stands_out_of_the_noise_keeps_its_share(n, epsilon):
    codes = weather(n)
    system, released = measured(codes, epsilon, 0)
    view = system.view(released)
    for i, (name, value) in enumerate(HEAPS.items()):
        if value is not None:
            at = code_of(name)
            share, found = np.mean(codes[i] == at), view.one_ways[i][at] / view.total
            noise = view.counted[i] / n  # of the first count of this value; a second one is as precise
            if share > 6 * noise:  # else a heap cannot be told from noise among so many values
                assert found == pytest.approx(share, abs=4 * noise + 0.03), name


def test_synthetic_records_keep_it_too():
    codes = weather(1_500)
    system, released = measured(codes, 1.0, 3)
    made = system.synthesize(released, 1_500, rng=np.random.default_rng(0))
    for i, name in enumerate(HEAPS):
        if HEAPS[name] is not None:
            at = code_of(name)
            assert np.mean(made[i] == at) == pytest.approx(np.mean(codes[i] == at), abs=0.1), name


def test_a_number_without_heaps_gets_none():
    codes = weather(1_500)
    for seed in range(4):
        system, released = measured(codes, 1.0, seed)
        counts = system.view(released).one_ways[3]
        assert counts.max() < 0.02 * counts.sum()  # of 500 values; the fullest one holds some 0.006


def test_amounts_of_the_few_who_have_one_keep_their_mean_and_their_tail():
    """6 % of 20,000 people have a claim; without the lengths of bins its 99th percentile is half of the real one."""
    rng = np.random.default_rng(5)
    amount = np.where(rng.random(20_000) < 0.06, np.exp(7 + rng.normal(size=20_000)), 0.0).clip(0, 1e5).round()
    schema = Schema.of({"version": 1, "name": "claims", "attributes": [number("amount", 0, 100_000, 1)]})
    codes = Codec(schema).encode(pa.table({"amount": amount})).codes
    task = Task(domain=schema.domain(), unit=Unit(), budget=Budget(epsilon=0.5, delta=1e-9), n_public=None)
    value, off = schema["amount"].middles(), []
    real = np.bincount(codes[0], minlength=len(value))
    for seed in range(5):
        system = Rls(configure("rls", {}), task)
        gate = Gate(account=Account(system.cost), noise=SeededNoise(seed), unit=task.unit)
        view = system.view(system.measure(MemoryCounter(codes, task.domain), gate=gate))
        found = [_mean_and_tail(c, value) for c in (view.one_ways[0], real)]
        off.append(np.abs(np.log(found[0] / found[1])))
    assert (np.median(off, axis=0) < [0.1, 0.25]).all()


def _mean_and_tail(counts, value):
    """Of the numbers above 0: the mean, and the 99th percentile."""
    share = counts[1:] / counts[1:].sum()
    return np.array([share @ value[1:], value[1:][np.searchsorted(np.cumsum(share), 0.99)]])


@pytest.mark.parametrize("name", ["mst", "aim", "dpsyn", "independent", "privbayes"])
def test_systems_that_merge_codes_take_a_table_of_numbers_too(name):
    """Merged codes are no longer round: a domain that still said so was refused."""
    codes, promise = weather(400), config_class(name).guarantee
    unit = Unit(neighbours=promise.neighbours[0])
    budget = Budget(epsilon=1.0, delta=1e-6 if promise.approximate else 0.0)
    task = Task(domain=SCHEMA.domain(), unit=unit, budget=budget, n_public=400)
    system = configure(name, {}).calibrate(task)
    gate = Gate(account=Account(system.cost), noise=SeededNoise(0), unit=unit)
    released = system.measure(MemoryCounter(codes, task.domain), gate=gate)
    made = system.synthesize(released, 50, rng=np.random.default_rng(0))
    assert made.shape == (len(SCHEMA.domain()), 50)
