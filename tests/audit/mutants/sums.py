"""Seeded bugs in sums of clipped vectors and in training on samples: P3GM's family brought them into the world."""

import numpy as np

from dpsyn_core.measure import charges as charges_module
from dpsyn_core.measure import gate as gate_module
from dpsyn_core.measure import sums as gate_sums
from dpsyn_core.measure.counting import sums as counting_sums
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.counting.sums import STEPS, Outer, SumRule, Whole
from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy import subsampling as sampled
from dpsyn_core.privacy.budget import Cost
from dpsyn_core.systems.rls import models as rls_models
from tests.audit import layers
from tests.audit.mutants.base import mutant, replacing
from tests.audit.probe import FEATURES, Probe


def probe_t1():
    layers.t1("probe")


def probe_t2():
    layers.t2("probe", seeds=(0,))


@mutant("vectors are clipped by the mean norm of their batch", "T2", probe_t2)
def clipped_by_batch():
    def by_batch(parts, clip, *, non_negative=False):
        dense = [
            np.einsum("ip,iq->ipq", p.left, p.right).reshape(len(p.left), -1) if isinstance(p, Outer) else p
            for p in parts
        ]
        whole = np.concatenate(dense, axis=1)
        mean = np.linalg.norm(whole, axis=1).mean() if len(whole) else 1.0
        return [Whole(left=np.trunc(whole * (0.999 * STEPS * min(1 / clip, 1 / max(mean, 1e-9)))))]

    with replacing((counting_sums, "clipped", by_batch), (gate_sums, "check_maps", lambda *a: None)):
        yield


@mutant("only the batch's sum is clipped", "T2", probe_t2)
def clipped_at_the_end():
    real = counting_sums.clipped

    def loose(parts, clip, *, non_negative=False):
        found = real(parts, clip * 50, non_negative=non_negative)
        for part in found:
            part.left[:] *= 50.0  # in the steps of the smaller norm
        return found

    with replacing((counting_sums, "clipped", loose), (gate_sums, "check_maps", lambda *a: None)):
        yield


@mutant("a factor of a matrix is clipped and the other is not", "T2", probe_t2)
def half_clipped():
    real = counting_sums.clipped

    def half(parts, clip, *, non_negative=False):
        found = real(parts, clip, non_negative=non_negative)
        return [p if p.right is None else Whole(left=p.left, right=4.0 * p.right) for p in found]

    with replacing((counting_sums, "clipped", half)):
        yield


def from_the_table(change):
    """A counter whose maps see features that `change` has made of them and of those of the whole table."""
    real = MemoryCounter.vector_sum

    def changed(self, rule, maps, sample=None):
        table = np.zeros((max(1, self._codes.shape[1]), rule.features.width))
        rule.features.fill(table, {name: self._codes[i] for i, name in enumerate(self.domain.names)})
        return real(self, rule, [lambda x, f=f: f(change(x, table)) for f in maps], sample)

    return replacing((MemoryCounter, "vector_sum", changed))


@mutant("features are centred at the mean of the table", "T2", probe_t2)
def mean_from_data():
    with from_the_table(lambda x, table: x - 30 * table.mean(axis=0)):
        yield


@mutant("features are scaled by the largest in the table", "T2", probe_t2)
def scaled_by_data():
    with from_the_table(lambda x, table: x / np.maximum(1e-3, table.max())):
        yield


@mutant("training starts from the mean of the table", "T1", probe_t1)
def uncharged_start():
    def start(self, counter):
        rule = SumRule(features=FEATURES, clip=50.0, cells=12)
        return counter.vector_sum(rule, [lambda x: [x]])[:12] / STEPS

    def once(self, counter, gate, summed, sampled_cost):
        moments = gate.release_sum(
            "moments", counter, lambda x: [x], rule=SumRule(features=FEATURES, clip=3.0, cells=12), cost=summed
        )
        return [moments.values, self.start(counter)]

    with replacing((Probe, "start", start), (Probe, "train", once)):
        yield


@mutant("sums are divided by the exact size of their batch", "T1", probe_t1)
def divided_by_batch():
    sizes, real_sum, real_out = [], Gate._summed, gate_sums.released

    def summed(self, counter, rule, maps, charge):
        sizes.append(int(counter.marginal(())))
        return real_sum(self, counter, rule, maps, charge)

    def divided(values, rule, charge):
        return real_out(values * 8 // max(1, sizes[-1]), rule, charge)

    with replacing((Gate, "_summed", summed), (gate_sums, "released", divided)):
        yield


@mutant("the sampling rate is a batch size over the number of records", "T1", probe_t1)
def rate_from_n():
    real = Gate.release_sampled_sum

    def by_size(self, name, counter, *, rate, **kwargs):
        return real(self, name, counter, rate=min(1.0, 8 / max(8, int(counter.marginal(())))), **kwargs)

    with replacing((Gate, "release_sampled_sum", by_size)):
        yield


@mutant("the first step of training is free", "T2", probe_t2)
def a_free_step():
    real = charges_module.sampled_charge

    def cheaper(*args, steps, **kwargs):
        return real(*args, steps=steps - 1, **kwargs)

    def endless(self, *maps):
        self.taken += 1
        return self._step(maps)

    def twice(self, counter, gate, *costs):
        rule = SumRule(features=FEATURES, clip=2.0, cells=12)
        run = gate.release_sampled_sum("training", counter, rule=rule, rate=0.3, steps=2, cost=costs[1], delta=1e-4)
        return [run.step(lambda x: [x]).values for _ in range(2)]

    with replacing(
        (gate_module, "sampled_charge", cheaper), (gate_sums.SampledSums, "step", endless), (Probe, "train", twice)
    ):
        yield


@mutant("samples are paid for as if each individual held one record", "T2", probe_t2)
def one_record_each():
    real = charges_module.sampled_charge

    def single(name, cost, unit, **kwargs):
        return real(name, cost, type(unit)(neighbours=unit.neighbours), **kwargs)

    with replacing((gate_module, "sampled_charge", single)):
        yield


@mutant("an exchanged record moves a sum by sqrt(2) only", "T2", probe_t2)
def root_two():
    real = charges_module.sum_charge

    def short(*args, non_negative=False, **kwargs):
        return real(*args, non_negative=True, **kwargs)

    def opposite(self, counter, gate, summed, sampled_cost):
        def against(x):
            return [np.where(x[:, 8:9] > 0, -1.0, 1.0) * np.where(x[:, 11:12] > 0, -1.0, 1.0)]

        return [
            gate.release_sum(
                "signs", counter, against, rule=SumRule(features=FEATURES, clip=0.5, cells=1), cost=summed
            ).values
        ]

    with replacing((gate_module, "sum_charge", short), (Probe, "train", opposite)):
        yield


@mutant("samples are accounted at a smaller rate than they are drawn", "T2", probe_t2)
def understated_rate():
    real = sampled._sampled_mu.__wrapped__

    def rarer(sampling, delta):
        return real(sampled.replace(sampling, rate=sampling.rate / 3), delta)

    told = charges_module.sampled_charge

    def charge(*args, **kwargs):
        with replacing((sampled, "_sampled_mu", rarer)):
            sampled._multiplier.cache_clear()
            return told(*args, **kwargs)

    with replacing((gate_module, "sampled_charge", charge)):
        yield
    sampled._multiplier.cache_clear()


@mutant("samples are batches of a fixed size", "T0", layers.t0_samples)
def fixed_size():
    rng = np.random.default_rng(0)

    def fixed(self, charge, n_records):
        out = np.zeros(n_records, dtype=bool)
        out[rng.permutation(n_records)[: round(charge.sampling * n_records)]] = True
        return out

    with replacing((Gate, "_sampled", fixed)):
        yield


@mutant("batches are dealt from a shuffled table, without replacement", "T0", layers.t0_samples)
def without_replacement():
    rng, left = np.random.default_rng(0), []

    def dealt(self, charge, n_records):
        size = int(rng.binomial(n_records, charge.sampling))
        if len(left) < size:
            left[:] = rng.permutation(n_records).tolist()
        out = np.zeros(n_records, dtype=bool)
        out[left[:size]] = True
        del left[:size]
        return out

    with replacing((Gate, "_sampled", dealt)):
        yield


@mutant("one sample serves all steps", "T0", layers.t0_samples)
def one_sample():
    real, kept = Gate._sampled, {}

    def same(self, charge, n_records):
        return kept.setdefault(n_records, real(self, charge, n_records))

    with replacing((Gate, "_sampled", same)):
        yield


@mutant("runs of records are sampled together", "T0", layers.t0_samples)
def in_runs():
    real = Gate._sampled

    def runs(self, charge, n_records):
        return real(self, charge, -(-n_records // 2)).repeat(2)[:n_records]

    with replacing((Gate, "_sampled", runs)):
        yield


@mutant("samples are a little larger than is charged", "T0", lambda: layers.t0_samples(n=2000))
def larger_samples():
    real = Gate._sampled

    def larger(self, charge, n_records):
        return real(self, charge, n_records) | (np.random.default_rng().random(n_records) < 0.01)

    with replacing((Gate, "_sampled", larger)):
        yield


@mutant("noise on samples is a tenth of what is charged", "T3", lambda: layers.t3("probe", runs=25))
def little_noise():
    real = Gate._noisy

    def little(self, exact, charge):
        if charge.mechanism == "sampled-gaussian":
            return exact + self._noise.gaussian(charge.scale / 10, exact.size)
        return real(self, exact, charge)

    with replacing((Gate, "_noisy", little)):
        yield


def rls_t1():
    layers.t1("rls, declared questions")


def rls_t2():
    layers.t2("rls, declared questions", seeds=(0,))


@mutant("a regression starts from coefficients of the records themselves", "T1", rls_t1)
def start_from_records():
    real = rls_models.measure_models

    def peeking(designs, measured, draft, counter, **kwargs):
        real(designs, measured, lambda n: counter._codes, counter, **kwargs)

    with replacing((rls_models, "measure_models", peeking)):
        yield


@mutant("both sums of a regression spend what is meant for one", "T2", rls_t2)
def both_sums_for_one():
    def twice(cost, parts):
        return [cost, cost] if tuple(parts) == rls_models.ROUNDS else real(cost, parts)

    real = Cost.split
    with replacing((Cost, "split", twice)):
        yield
