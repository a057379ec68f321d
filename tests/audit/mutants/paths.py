"""Seeded bugs that let a system see the data past the gate, for T1."""

import logging
import warnings

import numpy as np

from dpsyn_core.systems import independent
from dpsyn_core.systems.independent import Independent
from dpsyn_core.systems.others.dpsyn import DPSyn
from dpsyn_core.systems.rls import pairs as rls_pairs
from tests.audit import apart, layers
from tests.audit.mutants.base import mutant, replacing


@mutant("a marginal is scaled to the exact total", "T1", lambda: layers.t1("independent"))
def exact_total():
    real = independent.measure_marginals

    def measure(counter, sets, costs, **kwargs):
        out = real(counter, sets, costs, **kwargs)
        for m in out:
            m.values[...] += int(counter.marginal(())) / m.values.size
        return out

    with replacing((independent, "measure_marginals", measure)):
        yield


@mutant("pairs are chosen by exact scores", "T1", lambda: layers.t1("rls, pairs and triples"))
def free_selection():
    real = rls_pairs.score_sets

    def score(counter, sets, expected, recodes, **kwargs):
        _, sd = real(counter, sets, expected, recodes, **kwargs)
        tables = [counter.marginal(s, maps) for s, maps in zip(sets, recodes, strict=True)]
        apart = [np.outer(t.sum(axis=1), t.sum(axis=0)) / max(t.sum(), 1) for t in tables]  # as if independent
        return np.array([np.abs(t - a).sum() for t, a in zip(tables, apart, strict=True)]), sd

    with replacing((rls_pairs, "score_sets", score)):
        yield


@mutant("record synthesis starts from real rows", "T1", lambda: layers.t1("dpsyn"))
def real_rows():
    measure, synthesize = DPSyn.measure, DPSyn.synthesize

    def keep(self, counter, **kwargs):
        self.rows = counter._codes
        return measure(self, counter, **kwargs)

    def start(self, measured, n_records, **kwargs):
        out = synthesize(self, measured, n_records, **kwargs)
        k = min(out.shape[1], self.rows.shape[1])
        out[:, :k] = self.rows[:, :k]
        return out

    with replacing((DPSyn, "measure", keep), (DPSyn, "synthesize", start)):
        yield


@mutant("consistency reads the exact counts", "T1", lambda: layers.t1("dpsyn"))
def nosy_consistency():
    from dpsyn_core.systems.others import record_settings

    measure, consistent, seen = DPSyn.measure, record_settings.make_consistent, {}

    def keep(self, counter, **kwargs):
        seen["total"] = float(counter.marginal(()))
        return measure(self, counter, **kwargs)

    def make(measured, *, total=None, **kwargs):
        return consistent(measured, total=seen["total"], **kwargs)

    with replacing((DPSyn, "measure", keep), (record_settings, "make_consistent", make)):
        yield


@mutant("progress tells the exact number of records", "T1", lambda: layers.t1("independent"))
def talkative():
    measure = Independent.measure

    def tell(self, counter, *, gate, progress):
        n = int(counter.marginal(()))
        progress("counting", n, n)
        return measure(self, counter, gate=gate, progress=progress)

    with replacing((Independent, "measure", tell)):
        yield


@mutant("post-processing is seeded by the table", "T1", lambda: layers.t1("independent"))
def data_seed():
    measure, synthesize = Independent.measure, Independent.synthesize

    def keep(self, counter, **kwargs):
        self.seed = int(counter.marginal(("d",))[0])
        return measure(self, counter, **kwargs)

    def seeded(self, measured, n, *, rng, **kwargs):
        return synthesize(self, measured, n, rng=np.random.default_rng(self.seed), **kwargs)

    with replacing((Independent, "measure", keep), (Independent, "synthesize", seeded)):
        yield


@mutant("a rare table is refused by its exact counts", "T1", lambda: layers.t1("independent"))
def refusing():
    from dpsyn_core.errors import TableError

    measure = Independent.measure

    def refuse(self, counter, **kwargs):
        if counter.marginal(("d",))[2]:
            raise TableError("attribute 'd' has a rare value")
        return measure(self, counter, **kwargs)

    with replacing((Independent, "measure", refuse)):
        yield


@mutant("a warning says that a value is rare", "T1", lambda: layers.t1("independent"))
def warning():
    measure = Independent.measure

    def warn(self, counter, **kwargs):
        if counter.marginal(("d",))[2] == 1:
            warnings.warn("attribute 'd' has a rare value", stacklevel=1)
        return measure(self, counter, **kwargs)

    with replacing((Independent, "measure", warn)):
        yield


CACHED = "exact counts are kept in a cache from run to run"


@mutant(CACHED, "T1 apart", lambda: apart.t1_apart(["independent"], planted=CACHED))
def kept_counts():
    measure, synthesize, kept = Independent.measure, Independent.synthesize, {}

    def keep(self, counter, **kwargs):
        kept.setdefault("records", int(counter.marginal(())))
        return measure(self, counter, **kwargs)

    def sized(self, measured, n, **kwargs):
        return synthesize(self, measured, kept["records"], **kwargs)

    with replacing((Independent, "measure", keep), (Independent, "synthesize", sized)):
        yield


@mutant("a log record tells the number of records", "T1", lambda: layers.t1("independent"))
def logging_size():
    measure = Independent.measure

    def log(self, counter, **kwargs):
        logging.getLogger("dpsyn_core.systems").debug("%s records", counter.marginal(()))
        return measure(self, counter, **kwargs)

    with replacing((Independent, "measure", log)):
        yield
