"""Seeded bugs in the scores of what follows, for T2; and settings with which columns of the mini-world follow."""

from dataclasses import replace

import numpy as np

from dpsyn_core.measure.gate import Gate
from dpsyn_core.systems.rls.system import Rls, RlsConfig
from dpsyn_core.systems.rls.tuning import TUNING
from tests.audit import layers
from tests.audit.mutants.base import mutant, replacing


def ready_followers():
    """What is replaced so that every pair of columns is scored, and columns follow, and have values together."""
    always = {"away": np.inf, "clear": 1e-12, "exceptions": np.inf, "part": np.inf, "seen": np.inf, "score": 0.1}
    together = {"worth": np.inf, "least": -1.0, "clear_marks": 1e-12, "part_marks": np.inf}
    followers = replace(TUNING.followers, **always, **together)

    def build(self, task):
        return Rls(self, task, tuning=replace(TUNING, followers=followers))

    return ((RlsConfig, "build", build),)


def audited():
    with replacing(*ready_followers()):
        layers.t2("rls, pairs and triples")


@mutant("scores of exceptions share the sensitivity of one score", "T2", audited)
def shared_exceptions():
    real = Gate.release

    def cheap(self, name, count, *, cells, l1=None, l2=None, **kwargs):
        if name == "exceptions to what follows":
            l1, l2 = l1 / cells, l2 / cells**0.5
        return real(self, name, count, cells=cells, l1=l1, l2=l2, **kwargs)

    with replacing((Gate, "release", cheap)):
        yield


@mutant("an individual counts as one record in scores of exceptions", "T2", audited)
def lone_exceptions():
    real = Gate.release

    def cheap(self, name, count, *, cells, l1=None, l2=None, **kwargs):
        if name == "exceptions to what follows":
            l1, l2 = float(cells), cells**0.5
        return real(self, name, count, cells=cells, l1=l1, l2=l2, **kwargs)

    with replacing((Gate, "release", cheap)):
        yield
