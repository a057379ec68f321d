"""Every seeded bug is caught by the layer that is said to catch it."""

import pytest

from tests.audit.gates import Alarm
from tests.audit.mutants import MUTANTS

pytestmark = pytest.mark.chance("T0", "T3")

RAW = {"T1 raw", "T2 raw", "fuzz"}  # neighbours that were bytes, frames and databases


def test_there_are_at_least_twenty_mutants_of_every_layer():
    assert len(MUTANTS) >= 20
    assert len({m.name for m in MUTANTS}) == len(MUTANTS)
    assert {m.layer for m in MUTANTS} == {"T0", "T1", "T1 apart", "T1 whole", "T2", "T2 whole", "T3", *RAW}


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: m.name)
def test_the_layer_catches(mutant):
    with mutant.plant(), pytest.raises(Alarm):
        mutant.check()
