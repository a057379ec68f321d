"""Seeded bugs in the mean tables of batteries, for T2; and settings with which the mini-world has some."""

from dataclasses import replace

import numpy as np

from dpsyn_core.measure import measure as measures
from dpsyn_core.measure.gate import Gate
from dpsyn_core.systems.rls import batteries, system
from dpsyn_core.systems.rls.system import Rls, RlsConfig
from dpsyn_core.systems.rls.tuning import TUNING
from tests.audit import layers
from tests.audit.mutants.base import mutant, replacing


def ready_batteries():
    """What is replaced so that two columns of three values are a battery, whose pairs with others get mean tables."""
    choice = replace(TUNING.batteries, items=2, pairs=1, sure=-np.inf, alike=np.inf)
    real = batteries.measure_mean_tables

    def build(self, task):
        return Rls(self, task, tuning=replace(TUNING, batteries=choice))

    def of_all(counter, view, pairs, **kwargs):
        means, left = real(counter, view, replace(pairs, sets=[]), **kwargs)
        return means, replace(pairs, cost=left.cost)

    return (
        (RlsConfig, "build", build),
        (batteries, "form", lambda name: "item"),
        (batteries, "_best_part", lambda *given: 0.1),
        (system, "measure_mean_tables", of_all),
    )


def audited():
    with replacing(*ready_batteries()):
        layers.t2("rls, pairs and triples")


@mutant("a sum of tables is charged as one table", "T2", audited)
def one_of_many():
    real = Gate.release

    def cheap(self, name, count, *, l1=None, l2=None, **kwargs):
        m = measures.averaged(name)
        if m is not None:
            l1, l2 = l1 / m, l2 / m
        return real(self, name, count, l1=l1, l2=l2, **kwargs)

    with replacing((Gate, "release", cheap)):
        yield


@mutant("a mean of tables counts one pair twice", "T2", audited)
def twice():
    real = system.measure_mean_tables
    measure = batteries.measure_mean

    def more(counter, pairs, **kwargs):
        class Doubled:
            domain = counter.domain

            def marginals(self, sets, recodes):
                tables = counter.marginals(sets, recodes)
                return [tables[0] * 2, *tables[1:]]

        return measure(Doubled(), pairs, **kwargs)

    with replacing((system, "measure_mean_tables", real), (batteries, "measure_mean", more)):
        yield
