"""Every system on codes that are stored on disk: with the same noise, the same records as from memory."""

import tempfile

import numpy as np
import pytest

from dpsyn_core.measure.counting import stored as store
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.counting.stored import Store, StoredCounter
from dpsyn_core.measure.gate import Gate
from dpsyn_core.measure.unprotected import UnprotectedGate
from dpsyn_core.privacy.account import Account
from dpsyn_core.systems.registry import configure, names
from tests.systems.harness import SeededNoise, random_codes, task_for
from tests.systems.test_contract import MINI, SIZES, N


def made(name, counter_of):
    """The records that a system makes with seeded noise, from whatever counts these codes."""
    task = task_for(name, SIZES, N)
    config = configure(name, MINI.get(name, {}))
    system = config.calibrate(task)
    kind = UnprotectedGate if config.reasons else Gate
    gate = kind(account=Account(system.cost, delta=system.failure), noise=SeededNoise(3), unit=task.unit)
    measured = system.measure(counter_of(random_codes(SIZES, N), task.domain), gate=gate)
    return system.synthesize(measured, 30, rng=np.random.default_rng(4))


@pytest.fixture
def stored(monkeypatch):
    """Counts from a file, in blocks of seven records."""
    monkeypatch.setattr(store, "FEWEST", 1)
    monkeypatch.setattr(store, "MOST", 7)
    with tempfile.TemporaryFile() as file:

        def counter(codes, domain):
            kept = Store(file, domain)
            kept.append(codes)
            kept.finish()
            return StoredCounter(kept)

        yield counter


@pytest.mark.parametrize("name", names())
def test_a_system_makes_the_same_records_from_codes_on_disk_as_from_memory(name, stored):
    assert np.array_equal(made(name, stored), made(name, MemoryCounter))
