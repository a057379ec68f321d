"""False alarms of the suite: which tests draw noise that has no seed, and how often all of them fail by chance.

Nothing is tried again, so that a test of noise must fail by chance next to never. A plugin of tests/conftest.py: every
test draws its noise, and which records stay, from keys that follow from its own name, so that it sees the same in every
run. Only a test that is marked `chance` with the name of a share draws as a run does, from the operating system's keys.
All its statistics together have that share of false alarms, by the union bound, and the shares are at most TOTAL. What
child processes of a test draw has no seed either; no test looks at it as a statistic.
"""

import hashlib
import os

import pytest

from dpsyn_core.measure import unprotected
from dpsyn_core.measure.sources import bounding
from dpsyn_core.privacy.noise import stream

TOTAL = 1e-4
SHARES = {
    "T0": 1e-5,  # fourteen statistics at 1e-5 / 14 each (tests/audit/layers.py)
    "T3": 1e-5,  # at most 500 statistics at 1e-5 / 500; those of shared noise and of linked tables at seven deviations
    "T4": 6e-5,  # one system in the suite at 5e-5, linked tables at 1e-6 (tests/runs/trees/test_leaks.py)
    "samplers": 8e-6,  # below 80 statistics of draws at 1e-7 each
}


class Keys:
    """Stands in for `os` where the engine takes keys: those of a place while there is one, else the system's."""

    place = None
    taken = 0
    process = os.getpid()

    def urandom(self, size):
        if Keys.place is None or os.getpid() != Keys.process:
            return os.urandom(size)
        Keys.taken += 1
        return hashlib.shake_256(f"{Keys.place} {Keys.taken}".encode()).digest(size)

    def __getattr__(self, name):
        return getattr(os, name)


def pytest_configure(config):
    assert sum(SHARES.values()) <= TOTAL
    for module in (stream, bounding, unprotected):
        module.os = Keys()


def _place(node, name):
    """None where the tests of a node are of chance."""
    return None if node.get_closest_marker("chance") else name


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    for item in items:
        for mark in item.iter_markers("chance"):
            if not mark.args or not set(mark.args) <= set(SHARES):
                raise pytest.UsageError(
                    f"{item.nodeid}: `chance` names a share of tests/chance.py: {', '.join(SHARES)}"
                )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    Keys.place, Keys.taken = _place(item, item.nodeid), 0
    try:
        return (yield)
    finally:
        Keys.place = None


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef, request):
    """What several tests share does not depend on which of them comes first."""
    if fixturedef.scope == "function":
        return (yield)
    before = Keys.place, Keys.taken
    name = f"{fixturedef.baseid} {fixturedef.argname} {getattr(request, 'param_index', '')}"
    Keys.place, Keys.taken = _place(request.node, name), 0
    try:
        return (yield)
    finally:
        Keys.place, Keys.taken = before
