"""A system for audits alone: it goes every way through the gate, also those that no registered system takes yet."""

from zlib import crc32

import numpy as np

from dpsyn_core.measure.counting.base import occupied
from dpsyn_core.measure.counting.sums import Features, Outer, SumRule
from dpsyn_core.privacy.budget import Budget, Cost
from dpsyn_core.systems.base import Guarantee, Synthesizer

ALL = ("a", "b", "c", "d")
FEATURES = Features(
    tables={
        "a": np.eye(3), "b": np.eye(2), "c": np.diag([1.0, 1.0, 1.0, 40.0]), "d": np.diag([1.0, 1.0, 7.0]),
    }
)  # fmt: skip
FAILS = 1e-4  # delta of the samples
LOOSE = 0.02  # delta of the key release: large, so that a wrong threshold shows in few runs


class Probe(Synthesizer):
    guarantee = Guarantee(text="for audits")

    def __init__(self, budget: Budget):
        self.failure = LOOSE
        self.trains = budget.delta > 0
        self.cost = budget.pure() if budget.delta == 0 else Budget(epsilon=8.0, delta=0.05).zcdp()

    def measure(self, counter, *, gate, progress=None):
        total, pair, sparse, chosen, one_sided, keys, *more = self.cost.split([1, 2, 1, 1, 1, 2, *[3, 3] * self.trains])
        out = [
            gate.release("total", lambda: counter.marginal(()), kind="total", cells=1, cost=total).values,
            gate.release(
                "marginal a x c", lambda: counter.marginal(("a", "c")), kind="2-way", cells=12, cost=pair
            ).values,
            gate.release_sparse(
                "all", lambda: occupied(counter, ALL), kind="group", cells=72, threshold=2, cost=sparse
            ),
        ]
        theta = gate.unit.l1()

        def steps():  # a record may raise one score and lower the next: not monotone
            counts = counter.marginal(("c",)).ravel()
            return counts - np.roll(counts, 1)

        out.append(gate.select("step of c", steps, sensitivity=theta, cost=chosen))
        out.append(
            gate.select(
                "value of d",
                lambda: counter.marginal(("d",)) * 0.5,
                sensitivity=theta * 0.5,
                cost=one_sided,
                monotone=True,
            )
        )

        def present():
            counts = counter.marginal(("a", "d")).ravel()
            return [str(i) for i in np.flatnonzero(counts)], counts[counts > 0]

        halves = [keys] if keys.pure else [keys.scaled(0.5), Cost(epsilon=keys.rho**0.5 * (1 - 1e-12))]
        for name, cost in zip(("keys", "more keys"), halves, strict=False):  # the second pays epsilon: geometric noise
            out.append(
                gate.partitions(
                    name, present, cost=cost, delta=(LOOSE - FAILS) / len(halves), distinct=gate.unit.max_records == 1
                )
            )
        return out + (self.train(counter, gate, *more) if self.trains else [])

    def start(self, counter):
        """What training starts from: public zeros."""
        return np.zeros(12)

    def train(self, counter, gate, summed, sampled):
        """Second moments of all records, then two steps on samples, the second by what the first released."""
        moments = gate.release_sum(
            "moments", counter, lambda x: [Outer(left=x, right=x)],
            rule=SumRule(features=FEATURES, clip=3.0, cells=144, non_negative=True), cost=summed,
        )  # fmt: skip
        run = gate.release_sampled_sum(
            "training", counter, rule=SumRule(features=FEATURES, clip=2.0, cells=12 + 36), rate=0.3, steps=2,
            cost=sampled, delta=FAILS,
        )  # fmt: skip
        weights = self.start(counter)
        for _ in range(run.charge.steps):

            def gradient(x, w=weights):
                return [(x @ w)[:, None] + x - 0.1, Outer(left=x, right=x[:, :3] - 0.3)]

            weights = run.step(gradient).values[:12] * 1e-3
        return [moments.values, weights]

    def synthesize(self, measured, n_records, *, rng, progress=None):
        out = np.zeros((4, max(0, int(measured[0].item()))), dtype=np.uint8)
        if self.trains:  # a last row that says what was released
            out[3] = crc32(b"".join(m.tobytes() for m in measured[-2:])) % 3
        return out
