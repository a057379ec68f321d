"""Columns that follow from others, which the mini-world is too small for, pass the audits as well."""

import numpy as np
import pytest

from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.unit import Unit
from tests.audit import layers
from tests.audit.gates import TapeGate
from tests.audit.mutants.base import replacing
from tests.audit.mutants.followers import ready_followers
from tests.audit.world import DOMAIN, calibrated, random_table
from tests.seeded import SeededNoise

pytestmark = pytest.mark.chance("T0", "T3")


@pytest.fixture
def following():
    with replacing(*ready_followers()):
        yield


@pytest.mark.parametrize("n", [1, 400])
def test_columns_of_the_mini_world_follow(following, n):
    system = calibrated("rls", Unit())
    gate = TapeGate(account=Account(system.cost), noise=SeededNoise(0), unit=Unit())
    measured = system.measure(MemoryCounter(random_table(n, 1), DOMAIN), gate=gate)
    assert "exceptions to what follows" in [c.name for c in gate.account.charges]
    assert measured.followers
    assert measured.together
    assert np.array_equal(system.synthesize(measured, 9, rng=np.random.default_rng(0)).shape, (4, 9))


@pytest.mark.parametrize("layer", [layers.t1, layers.t2])
def test_it_passes_the_layer(following, layer):
    layer("rls, pairs and triples")
