"""The contract holds together: a calibrated system measures through the gate and synthesizes."""

import numpy as np

from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.domain import Domain
from dpsyn_core.systems.base import Task
from dpsyn_core.systems.registry import configure
from tests.seeded import SeededNoise


class ListCounter:
    def __init__(self, codes, domain):
        self.codes, self.domain = codes, domain

    def marginal(self, attributes, recodes={}):
        index = [self.domain.index(a) for a in attributes]
        out = np.zeros(self.domain.shape(attributes), dtype=np.int64)
        np.add.at(out, tuple(self.codes[i] for i in index), 1)
        return out

    def marginals(self, sets, recodes={}):
        return [self.marginal(s) for s in sets]


def test_independent_runs_end_to_end():
    domain = Domain.of({"a": 3, "b": 2})
    codes = np.array([[0, 1, 2, 2], [0, 1, 1, 1]], dtype=np.uint8)
    task = Task(domain=domain, unit=Unit(), budget=Budget(epsilon=100.0, delta=1e-9))
    system = configure("independent", {}).calibrate(task)
    gate = Gate(account=Account(system.cost), noise=SeededNoise(1), unit=task.unit)
    measured = system.measure(ListCounter(codes, domain), gate=gate)
    out = system.synthesize(measured, 10, rng=np.random.default_rng(0))
    assert out.shape == (2, 10)
    assert (out.max(axis=1) < np.array([3, 2])).all()
    assert gate.account.spent <= system.cost.rho
