"""The second look of rls at dear pairs, which needs larger tables than the mini-world, passes the audits as well."""

import numpy as np
import pytest

from dpsyn_core.counting.memory import MemoryCounter
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.synthesizers.rls import pairs as rls_pairs
from tests.audit import layers
from tests.audit.gates import TapeGate
from tests.audit.mutants.base import replacing
from tests.audit.world import DOMAIN, calibrated, random_table
from tests.seeded import SeededNoise


@pytest.fixture
def looks():
    """A look at every pair that four coarse values at most make smaller."""

    def smaller(scores, excess, *, cells, noise):
        return np.flatnonzero(cells[1] < cells[0])

    with replacing((rls_pairs, "COARSEST", 4.0), (rls_pairs, "COARSER", 64.0), (rls_pairs, "_dear", smaller)):
        yield


@pytest.mark.parametrize("n", [1, 400])
def test_the_mini_world_takes_the_second_look(looks, n):
    system = calibrated("rls", Unit())
    gate = TapeGate(account=Account(system.cost), noise=SeededNoise(0), unit=Unit())
    system.measure(MemoryCounter(random_table(n, 1), DOMAIN), gate=gate)
    assert "scores of coarser pairs" in [c.name for c in gate.account.charges]


@pytest.mark.parametrize("layer", [layers.t1, layers.t2])
def test_it_passes_the_layer(looks, layer):
    layer("rls")
