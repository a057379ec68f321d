"""Seeded bugs in sensitivities, charges and conversions, for T2."""

from dataclasses import replace

import numpy as np

from dpsyn_core.measure import gate as gate_module
from dpsyn_core.measure import scores as score_module
from dpsyn_core.measure import sparse
from dpsyn_core.measure.gate import Gate, Released
from dpsyn_core.privacy import conversions
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget, Cost
from dpsyn_core.privacy.unit import Unit
from tests.audit import bought, layers
from tests.audit.mutants.base import mutant, replacing


@mutant("theta is ignored", "T2", lambda: layers.t2("independent"))
def no_theta():
    with replacing(
        (Unit, "l2", lambda self, marginals=1: marginals**0.5 * (2 if self.neighbours == "replace" else 1) ** 0.5)
    ):
        yield


@mutant("sqrt(theta) stands for theta", "T2", lambda: layers.t2("rls, pairs and triples"))
def root_theta():
    real = Unit.l2
    with replacing((Unit, "l2", lambda self, marginals=1: real(self, marginals) / self.max_records**0.5)):
        yield


@mutant("replace neighbours are taken for add/remove ones", "T2", lambda: layers.t2("independent"))
def one_way_replace():
    with replacing(
        (Unit, "l1", lambda self, marginals=1: marginals * self.max_records),
        (Unit, "l2", lambda self, marginals=1: self.max_records * marginals**0.5),
    ):
        yield


@mutant("the measurement forgets the theta that the selection knew", "T2", lambda: layers.t2("rls, pairs and triples"))
def forgetful_measurement():
    real = Gate.release_tables

    def forgetful(self, wanted, count):
        return real(self, [w if w.name.startswith("scores") else replace(w, l1=1.0, l2=1.0) for w in wanted], count)

    with replacing((Gate, "release_tables", forgetful)):
        yield


@mutant("scores share the sensitivity of one score", "T2", lambda: layers.t2("rls, pairs and triples"))
def cheap_scores():
    real = Gate.release

    def cheap(self, name, count, *, cells, l1=None, l2=None, **kwargs):
        return real(self, name, count, cells=cells, l1=l1 and l1 / cells, l2=l2 and l2 / cells**0.5, **kwargs)

    with replacing((Gate, "release", cheap)):
        yield


@mutant("scores that rise and fall are called one-sided", "T2", lambda: layers.t2("probe"))
def called_monotone():
    real = score_module.gaps_and_rate
    with replacing(
        (score_module, "gaps_and_rate", lambda *a, one_sided, **k: real(*a, one_sided=True, **k)),
    ):
        yield


@mutant("the charge is booked after the count", "T2", lambda: layers.t2("independent"))
def late_charge():
    def release_late(self, wanted, count):
        tables, out = count(), []
        for w, table in zip(wanted, tables, strict=True):
            charge = gate_module.noise_charge(
                w.name, w.cost, self.unit, kind=w.kind, cells=w.cells, l1=w.l1, l2=w.l2
            )  # fmt: skip
            self.account.debit(charge)
            values = self._noisy(np.asarray(table), charge)
            out.append(Released(values=values, sigma=gate_module.sigma_of(charge), charge=charge))
        return out

    with replacing((Gate, "release_tables", release_late)):
        yield


@mutant(
    "of tables that are counted together, all but the last are booked after the count",
    "T2",
    lambda: layers.t2("rls, pairs and triples"),
)
def late_charges_of_several():
    def mostly_late(self, wanted, count):
        charges = [
            gate_module.noise_charge(w.name, w.cost, self.unit, kind=w.kind, cells=w.cells, l1=w.l1, l2=w.l2)
            for w in wanted
        ]
        self.account.debit(charges[-1])
        tables = count()
        for charge in charges[:-1]:
            self.account.debit(charge)
        self.account.charges.append(self.account.charges.pop(-len(charges)))
        return [
            Released(values=self._noisy(np.asarray(t), c), sigma=gate_module.sigma_of(c), charge=c)
            for t, c in zip(tables, charges, strict=True)
        ]

    with replacing((Gate, "release_tables", mostly_late)):
        yield


@mutant("one charge in two is forgotten", "T2", lambda: layers.t2("independent"))
def forgotten_charge():
    real, calls = Account.debit, []

    def debit(self, charge):
        calls.append(charge)
        if len(calls) % 2:
            real(self, charge)

    with replacing((Account, "debit", debit)):
        yield


@mutant("mu squared is taken for rho", "T2", lambda: layers.t2("independent"))
def wrong_conversion():
    real = conversions.gdp_mu
    with replacing((conversions, "gdp_mu", lambda e, d: 2**0.5 * real(e, d))):
        yield


@mutant("sigma loses its square root of two", "T2", lambda: layers.t2("independent"))
def small_sigma():
    real = Cost.sigma
    with replacing(
        (Cost, "sigma", lambda self, l2: real(self, l2) / 2**0.5),
        (Account, "debit", lambda self, charge: self.charges.append(charge)),
    ):
        yield


@mutant("the prior is half of what epsilon needs", "T2", lambda: layers.t2("dirichlet-multinomial"))
def half_prior():
    real = sparse.prior_count
    with replacing((sparse, "prior_count", lambda *a: real(*a) / 2)):
        yield


@mutant("two choices of one name share a charge", "T2", lambda: layers.t2("mwem"))
def shared_charge():
    real = Account.debit

    def debit(self, charge):
        if charge.mechanism != "exponential" or charge.name not in {c.name for c in self.charges}:
            real(self, charge)

    with replacing((Account, "debit", debit)):
        yield


@mutant("replace neighbours count once in the choices of a mixed run", "T2", lambda: layers.t2("mwem"))
def half_of_an_exchange():
    real = Gate.select

    def select(self, name, scores, *, sensitivity, **kwargs):
        return real(self, name, scores, sensitivity=sensitivity / self.unit.l1() * self.unit.max_records, **kwargs)

    with replacing((Gate, "select", select)):
        yield


@mutant("a setting that few people touch forgets theta", "T2", lambda: layers.t2("mwem, kind=queries"))
def rare_setting():
    real = Gate.select

    def select(self, name, scores, *, sensitivity, **kwargs):
        forgets = self.unit.max_records if name == "the worst query" else 1
        return real(self, name, scores, sensitivity=sensitivity / forgets, **kwargs)

    with replacing((Gate, "select", select)):
        yield


@mutant("counts of records pass for counts of individuals", "T2", lambda: layers.t2("discovery"))
def records_for_individuals():
    real = Gate.partitions

    def partitions(self, *args, distinct, **kwargs):
        return real(self, *args, distinct=True, **kwargs)

    with replacing((Gate, "partitions", partitions)):
        yield


@mutant("a purchase converts its rho with the delta that it keeps for failures", "T2 whole", bought.t2_bought)
def delta_spent_twice():
    real = Budget.gaussian
    with replacing((Budget, "gaussian", lambda self, **_: real(self))):
        yield


@mutant("a Gaussian threshold is paid for one category of an individual", "T2 whole", bought.t2_bought)
def one_category_an_individual():
    real = gate_module.partition_charge

    def cheap(name, cost, unit, *, per_key, delta):
        return real(name, cost, replace(unit, max_records=per_key), per_key=per_key, delta=delta)

    with replacing((gate_module, "partition_charge", cheap)):
        yield
