"""A system for audits alone: it goes every way through the gate, also those that no registered system takes yet."""

import numpy as np

from dpsyn_core.counting.sparse import occupied
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.synthesizers.base import Guarantee, Synthesizer

ALL = ("a", "b", "c", "d")
LOOSE = 0.02  # delta of the key release: large, so that a wrong threshold shows in few runs


class Probe(Synthesizer):
    guarantee = Guarantee(text="for audits")

    def __init__(self, budget: Budget):
        self.failure = LOOSE
        self.cost = budget.pure() if budget.delta == 0 else Budget(epsilon=8.0, delta=0.05).zcdp()

    def measure(self, counter, *, gate, progress=None):
        total, pair, sparse, chosen, one_sided, keys = self.cost.split([1, 2, 1, 1, 1, 2])
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

        out.append(gate.partitions("keys", present, cost=keys, delta=LOOSE, distinct=gate.unit.max_records == 1))
        return out

    def synthesize(self, measured, n_records, *, rng, progress=None):
        return np.zeros((4, max(0, int(measured[0].item()))), dtype=np.uint8)
