"""The search for sets of any order, which takes larger tables than the mini-world, passes the audits as well."""

from dataclasses import replace

import numpy as np
import pytest

from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.systems.rls.system import Rls, RlsConfig
from dpsyn_core.systems.rls.tuning import TUNING
from tests.audit import layers
from tests.audit.gates import TapeGate
from tests.audit.mutants.base import replacing
from tests.audit.world import DOMAIN, calibrated, random_table
from tests.seeded import SeededNoise

pytestmark = pytest.mark.chance("T0", "T3")


@pytest.fixture
def searching():
    """Any dependence is looked for, and every group is looked into."""
    eager = replace(TUNING, orders=replace(TUNING.orders, strongest=np.inf, significant=-1e3, lost=1e9))

    def build(self, task):
        return Rls(self, task, tuning=eager)

    with replacing((RlsConfig, "build", build)):
        yield


@pytest.mark.parametrize("n", [1, 400])
def test_the_mini_world_is_searched(searching, n):
    system = calibrated("rls", Unit())
    gate = TapeGate(account=Account(system.cost), noise=SeededNoise(0), unit=Unit())
    system.measure(MemoryCounter(random_table(n, 1), DOMAIN), gate=gate)
    names = [c.name for c in gate.account.charges]
    assert names.count("largest scores of 3") > 1
    assert "largest scores of 4" in names


@pytest.mark.parametrize("layer", [layers.t1, layers.t2])
def test_it_passes_the_layer(searching, layer):
    layer("rls, pairs and triples")
