"""Seeded privacy bugs, applied one at a time; each names the layer that catches it."""

from collections.abc import Callable
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from unittest import mock

import numpy as np

from dpsyn_core import release
from dpsyn_core.measurement import gate as gate_module
from dpsyn_core.measurement.gate import Gate, Released
from dpsyn_core.noise import choice, gaussian, laplace, stream
from dpsyn_core.noise.system import SystemNoise
from dpsyn_core.privacy import accounting
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.cost import Cost
from dpsyn_core.privacy.ledger import Ledger
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema import bounding
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.document import Schema
from dpsyn_core.synthesizers import independent, rls
from dpsyn_core.synthesizers.dpsyn import DPSyn
from dpsyn_core.synthesizers.independent import Independent
from tests.audit import layers, whole


@dataclass(frozen=True)
class Mutant:
    """A bug: what it does, which layer must raise the alarm, how it is planted, how that layer is run."""

    name: str
    layer: str
    plant: Callable
    check: Callable


MUTANTS = []


def mutant(name, layer, check):
    """Registers a context manager that plants a bug."""

    def keep(plant):
        MUTANTS.append(Mutant(name, layer, contextmanager(plant), check))
        return plant

    return keep


@contextmanager
def replacing(*triples):
    """All of (object, attribute, replacement) at once."""
    with ExitStack() as stack:
        for target, attribute, value in triples:
            stack.enter_context(mock.patch.object(target, attribute, value))
        yield


def quick_t0():
    layers.t0(draws=2_000_000)  # so that 0.55 % is six standard deviations beyond the threshold


def few(name, runs=60):
    return lambda: layers.t3(name, runs=runs)


# ---- the source of noise


@mutant("the stream's key is fixed", "T0", quick_t0)
def fixed_key():
    with mock.patch.object(stream.os, "urandom", bytes):
        yield


@mutant("noise comes from NumPy with a seed", "T0", quick_t0)
def numpy_seeded():
    def draw(self, sigma, size):
        return np.rint(np.random.default_rng(0).normal(0, sigma, size)).astype(np.int64)

    with replacing((SystemNoise, "gaussian", draw)):
        yield


@mutant("one vector of noise is used for every release of its size", "T0", quick_t0)
def reused():
    real, kept = SystemNoise.geometric, {}

    def draw(self, scale, size):
        key = (id(self), scale, size)
        if key not in kept:
            kept[key] = real(self, scale, size)
        return kept[key]

    with replacing((SystemNoise, "geometric", draw)):
        yield


@mutant("sigma is 0.55 % too small in the sampler", "T0", quick_t0)
def slightly_small():
    real = gaussian.rounded_gaussian
    with replacing((gaussian, "rounded_gaussian", lambda s, n, bits: real(s * 0.9945, n, bits))):
        yield


@mutant("sigma is halved in the sampler", "T0", quick_t0)
def halved_sampler():
    real = gaussian.rounded_gaussian
    with replacing((gaussian, "rounded_gaussian", lambda s, n, bits: real(s / 2, n, bits))):
        yield


@mutant("noise is cut off at four sigma", "T0", quick_t0)
def cut_tails():
    real = gaussian.rounded_gaussian
    with replacing((gaussian, "rounded_gaussian", lambda s, n, b: np.clip(real(s, n, b), -int(4 * s), int(4 * s)))):
        yield


@mutant("the Gaussian is rounded toward zero", "T0", quick_t0)
def truncated():
    def draw(self, sigma, size):
        return np.random.default_rng().normal(0, sigma, size).astype(np.int64)

    with replacing((SystemNoise, "gaussian", draw)):
        yield


@mutant("the Laplace scale is 2 % too small", "T0", quick_t0)
def small_laplace():
    real = laplace.two_sided_geometric
    with replacing((laplace, "two_sided_geometric", lambda b, n, bits: real(b * 0.98, n, bits))):
        yield


@mutant("selection is sharper than it is charged", "T0", quick_t0)
def sharp_choice():
    real = choice.choose
    with replacing((choice, "choose", lambda gaps, rate, bits: real(gaps, rate * 1.2, bits))):
        yield


# ---- ways around the gate


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


@mutant("pairs are chosen by exact scores", "T1", lambda: layers.t1("rls"))
def free_selection():
    real = rls.score_sets

    def score(counter, sets, expected, recodes, **kwargs):
        noisy, sd = real(counter, sets, expected, recodes, **kwargs)
        exact = [np.abs(counter.marginal(s, recodes) - e).sum() for s, e in zip(sets, expected, strict=True)]
        return np.array(exact) + 0 * noisy, sd

    with replacing((rls, "score_sets", score)):
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
    from dpsyn_core.synthesizers import record_settings

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


@mutant("the output has exactly as many records as the table", "T1 whole", whole.t1_whole)
def exact_size():
    measure, synthesize = Independent.measure, Independent.synthesize

    def keep(self, counter, **kwargs):
        self.n = int(counter.marginal(()))
        return measure(self, counter, **kwargs)

    def sized(self, measured, n, **kwargs):
        return synthesize(self, measured, self.n, **kwargs)

    with replacing((Independent, "measure", keep), (Independent, "synthesize", sized)):
        yield


@mutant("the domain is cut to the values that occur", "T1 whole", whole.t1_whole)
def domain_from_data():
    encode, decode, seen = Codec.encode, Codec.decode, {}

    def keep(self, table, **kwargs):
        out = encode(self, table, **kwargs)
        seen["values"] = [np.unique(column) for column in out.codes]
        return out

    def cut(self, codes, **kwargs):
        known = [np.where(np.isin(c, v), c, v[0]) for c, v in zip(codes, seen["values"], strict=True)]
        return decode(self, np.stack(known).astype(codes.dtype), **kwargs)

    with replacing((Codec, "encode", keep), (Codec, "decode", cut)):
        yield


# ---- sensitivity, charges, conversions


@mutant("theta is ignored", "T2", lambda: layers.t2("independent"))
def no_theta():
    with replacing(
        (Unit, "l2", lambda self, marginals=1: marginals**0.5 * (2 if self.neighbours == "replace" else 1) ** 0.5)
    ):
        yield


@mutant("sqrt(theta) stands for theta", "T2", lambda: layers.t2("rls"))
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


@mutant("the measurement forgets the theta that the selection knew", "T2", lambda: layers.t2("rls"))
def forgetful_measurement():
    real = Gate.release

    def forgetful(self, name, count, **kwargs):
        known = {} if name.startswith("scores") else {"l1": 1.0, "l2": 1.0}
        return real(self, name, count, **(kwargs | known))

    with replacing((Gate, "release", forgetful)):
        yield


@mutant("scores share the sensitivity of one score", "T2", lambda: layers.t2("rls"))
def cheap_scores():
    real = Gate.release

    def cheap(self, name, count, *, cells, l1=None, l2=None, **kwargs):
        return real(self, name, count, cells=cells, l1=l1 and l1 / cells, l2=l2 and l2 / cells**0.5, **kwargs)

    with replacing((Gate, "release", cheap)):
        yield


@mutant("scores that rise and fall are called one-sided", "T2", lambda: layers.t2("probe"))
def called_monotone():
    real = gate_module.gaps_and_rate
    with replacing(
        (gate_module, "gaps_and_rate", lambda *a, one_sided, **k: real(*a, one_sided=True, **k)),
    ):
        yield


@mutant("the charge is booked after the count", "T2", lambda: layers.t2("independent"))
def late_charge():
    def release_late(self, name, count, *, cells, cost, l1=None, l2=None):
        charge = gate_module.noise_charge(name, cost, self.unit, cells=cells, l1=l1, l2=l2)
        exact = np.asarray(count())
        self.account.debit(charge)
        return Released(values=self._noisy(exact, charge), sigma=gate_module.sigma_of(charge), charge=charge)

    with replacing((Gate, "release", release_late)):
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
    real = accounting.gdp_mu
    with replacing((accounting, "gdp_mu", lambda e, d: 2**0.5 * real(e, d))):
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
    real = gate_module.prior_count
    with replacing((gate_module, "prior_count", lambda *a: real(*a) / 2)):
        yield


@mutant("all records of an individual are kept", "T2 whole", whole.t2_whole)
def no_bounding():
    with replacing((release, "bound", lambda encoded, theta: encoded.codes)):
        yield


@mutant("which records are kept depends on their place in the file", "T2 whole", whole.t2_whole)
def bounding_by_place():
    def hashes(encoded, key):
        place = np.arange(encoded.n_records, dtype=np.uint64)
        return (place * np.uint64(0x9E3779B97F4A7C15)) ^ (place << np.uint64(7))

    with replacing((bounding, "record_hashes", hashes)):
        yield


@mutant("the ledger is debited when the run is over", "T2 whole", whole.t2_crash)
def late_ledger():
    with replacing((Ledger, "reserve", lambda self, *a, **k: None)):
        yield


@mutant("the NOT PRIVATE stamp is lost", "T2 whole", whole.stamp)
def lost_stamp():
    with replacing((Schema, "reasons", ())):
        yield


@mutant("the identifier is written out", "T2 whole", whole.stamp)
def identifier_out():
    import pyarrow as pa

    real = Codec.decode

    def decode(self, codes, **kwargs):
        out = real(self, codes, **kwargs)
        return out.append_column("who", pa.array(["p1"] * out.num_rows))

    with replacing((Codec, "decode", decode)):
        yield


# ---- noise that is not what was charged


@mutant("sigma is 1.25 times too small when noise is added", "T3", few("independent", runs=150))
def under_noised():
    def noisy(self, exact, charge):
        return exact + self._noise.gaussian(charge.scale / 1.25, exact.size).reshape(exact.shape)

    with replacing((Gate, "_noisy", noisy)):
        yield


@mutant("empty cells get no noise", "T3", few("independent", runs=150))
def quiet_empties():
    real = Gate._noisy
    with replacing((Gate, "_noisy", lambda self, exact, charge: np.where(exact == 0, 0, real(self, exact, charge)))):
        yield


@mutant("the total is released without noise", "T3", few("rls"))
def exact_release_of_total():
    real = Gate._noisy
    with replacing(
        (Gate, "_noisy", lambda self, exact, charge: exact if charge.name == "total" else real(self, exact, charge))
    ):
        yield


@mutant("empty cells of a sparse table never come out", "T3", few("probe"))
def no_ghosts():
    real = gate_module.noisy_above

    def occupied_only(index, counts, noise, **kwargs):
        kept, values = real(index, counts, noise, **kwargs)
        own = np.isin(kept, index)
        return kept[own], values[own]

    with replacing((gate_module, "noisy_above", occupied_only)):
        yield


@mutant("empty cells of a contingency table get no prior", "T3", few("dirichlet-multinomial"))
def no_prior_for_empties():
    real = gate_module.dirichlet_multinomial

    def occupied_only(counts, prior, draws, *, noise):
        out = np.zeros_like(counts)
        out[counts > 0] = real(counts[counts > 0], prior, draws, noise=noise)
        return out

    with replacing((gate_module, "dirichlet_multinomial", occupied_only)):
        yield


@mutant("keys of one individual come out too often", "T3", few("probe"))
def loose_threshold():
    real = gate_module.reach_for
    with replacing((gate_module, "reach_for", lambda *a: max(1, real(*a) - 2))):
        yield


@mutant("selection takes the best without noise", "T3", few("probe"))
def greedy():
    with replacing((Gate, "_chosen", lambda self, gaps, rate, charge: int(np.argmin(gaps)))):
        yield
