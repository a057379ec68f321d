"""Mean tables of batteries, which the mini-world has none of, pass the audits as well."""

import numpy as np
import pytest

from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.unit import Unit
from tests.audit import layers
from tests.audit.gates import TapeGate
from tests.audit.mutants.base import replacing
from tests.audit.mutants.batteries import ready_batteries
from tests.audit.world import DOMAIN, calibrated, random_table
from tests.seeded import SeededNoise

pytestmark = pytest.mark.chance("T0", "T3")


@pytest.fixture
def with_batteries():
    with replacing(*ready_batteries()):
        yield


@pytest.mark.parametrize("n", [1, 400])
def test_pairs_of_the_mini_world_share_tables(with_batteries, n):
    system = calibrated("rls, pairs and triples", Unit(), epsilon=100.0)
    gate = TapeGate(account=Account(system.cost), noise=SeededNoise(0), unit=Unit())
    measured = system.measure(MemoryCounter(random_table(n, 1), DOMAIN), gate=gate)
    assert [m.pairs for m in measured.means] == [(("a", "b"), ("d", "b")), (("a", "c"), ("d", "c"))]
    assert "mean marginal of 2: a x b" in [c.name for c in gate.account.charges]
    assert np.array_equal(system.synthesize(measured, 9, rng=np.random.default_rng(0)).shape, (4, 9))


@pytest.mark.parametrize("layer", [layers.t1, layers.t2])
def test_it_passes_the_layer(with_batteries, layer):
    layer("rls, pairs and triples")
