"""Means of numbers with long tails: a released clipped sum keeps them near."""

import numpy as np
import pytest

from dpsyn_core.counting.memory import MemoryCounter
from dpsyn_core.marginals.released_file import pack_measurements, read_released
from dpsyn_core.marginals.types import ReleasedTables
from dpsyn_core.measurement.gate import Gate
from dpsyn_core.noise.system import SystemNoise
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.document import Schema
from dpsyn_core.synthesizers.base import Task
from dpsyn_core.synthesizers.registry import configure

SCHEMA = Schema.of(
    {
        "version": 1,
        "name": "stays",
        "attributes": [
            {"name": "cost", "kind": "numeric", "min": 0, "max": 300_000, "dtype": "integer"},
            {"name": "visits", "kind": "numeric", "min": 0, "max": 80, "dtype": "integer"},
            {"name": "sex", "kind": "categorical", "values": ["f", "m"]},
        ],
    }
)


def measured(budget, n=10_000):
    pa = pytest.importorskip("pyarrow")
    rng = np.random.default_rng(4)
    cost = np.clip(np.exp(6 + 1.1 * rng.normal(size=n)), 0, 300_000).round().astype(int)
    visits = np.clip(rng.negative_binomial(1, 0.25, n), 0, 80)
    codes = Codec(SCHEMA).encode(pa.table({"cost": cost, "visits": visits, "sex": rng.choice(["f", "m"], n)})).codes
    system = configure("rls", {}).calibrate(Task(domain=SCHEMA.domain(), unit=Unit(), budget=budget, n_public=None))
    gate = Gate(account=Account(system.cost), noise=SystemNoise(), unit=Unit())
    found = system.measure(MemoryCounter(codes, SCHEMA.domain()), gate=gate)
    return system, found, gate, codes


def means(system, found):
    return [
        float(np.nan_to_num(np.frombuffer(a.middles)) @ c / c.sum())
        for a, c in zip(SCHEMA.domain().attributes[:2], system.view(found).one_ways, strict=False)
    ]


def test_means_of_one_ways_follow_the_released_sums():
    system, found, gate, codes = measured(Budget(epsilon=1.0, delta=1e-9))
    real = [np.frombuffer(a.middles)[c].mean() for a, c in zip(SCHEMA.domain().attributes[:2], codes, strict=False)]
    assert [s.name for s in found.sums] == ["cost", "visits"]
    with_sums = means(system, found)
    assert with_sums[1] == pytest.approx(real[1], rel=0.12) and with_sums[0] == pytest.approx(real[0], rel=0.35)
    assert [c.name for c in gate.account.charges if c.kind == "sum"] == ["clipped sum cost", "clipped sum visits"]
    (step,) = [s for s in system.steps(codes.shape[1]) if s.kind == "sum"]
    assert step.parts == (2, 2) and means(system, ReleasedTables(found)) != with_sums


def test_sums_are_kept_in_the_file_of_a_release():
    system, found, _, _ = measured(Budget(epsilon=1.0, delta=1e-9))
    again = read_released(pack_measurements(found, schema=SCHEMA), "release").measurements
    assert again.sums == found.sums and np.allclose(means(system, again), means(system, found))


def test_a_pure_budget_has_no_sums():
    system, found, _, _ = measured(Budget(epsilon=1.0, delta=0.0))
    assert not found.sums and not [s for s in system.steps(10_000) if s.kind == "sum"]


def test_nothing_but_what_the_gate_answers_decides_the_clips_and_the_records(monkeypatch):
    monkeypatch.setattr(Gate, "_noisy", lambda self, exact, charge: np.full(np.shape(exact), 60, dtype=np.int64))
    made = []
    for n in (2_000, 9_000):
        system, found, gate, _ = measured(Budget(epsilon=1.0, delta=1e-9), n)
        records = system.synthesize(found, 500, rng=np.random.default_rng(1))
        made.append((found.sums, [(c.name, c.scale) for c in gate.account.charges], records))
    assert made[0][:2] == made[1][:2] and np.array_equal(made[0][2], made[1][2])
