"""Private ways that are no synthesizer, dressed as systems so that T1 and T2 look at them: itemsets, bought schemas."""

import numpy as np
import pyarrow as pa

from dpsyn_core.errors import BudgetError
from dpsyn_core.measure.counting.transactions import TableTransactions
from dpsyn_core.measure.discovery import Wanted, cap_of, discover
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.document import SchemaUnit
from dpsyn_core.systems.base import Guarantee, Synthesizer
from dpsyn_core.systems.others.privbasis import PrivBasisSettings, find_itemsets


def as_codes(released):
    """Anything released, as an array of bytes that T1 can compare."""
    return np.frombuffer(repr(released).encode(), dtype=np.uint8)[None, :]


class Itemsets(Synthesizer):
    """PrivBasis on the codes taken as transactions: a code above 0 is presence."""

    guarantee = Guarantee(text="for audits", approximate=False)

    def __init__(self, budget: Budget):
        self.cost = budget.pure()

    def measure(self, counter, *, gate, progress=None):
        counted = TableTransactions.of_codes(counter._codes)
        return find_itemsets(counted, PrivBasisSettings(k=3, longest=2), cost=self.cost, gate=gate)

    def synthesize(self, measured, n_records, *, rng, progress=None):
        return as_codes(measured)


LAVISH = 50  # twelve records tell nothing at a small epsilon: this many times more is spent


class Discovery(Synthesizer):
    """A schema bought from the codes written as text, column by column: a refusal of one leaves the others."""

    guarantee = Guarantee(text="for audits")

    def __init__(self, budget: Budget):
        self.wanted = [
            Wanted(name="a", kind="integer"),
            Wanted(name="b", kind="float", bins=3),
            Wanted(name="c", kind="integer", low=0, high=9, bins=4),
            Wanted(name="d", kind="date"),
        ]
        if budget.delta:
            self.wanted.append(Wanted(name="e", kind="categorical"))
        lavish = Budget(epsilon=LAVISH * budget.epsilon, delta=budget.delta)
        self.cost, self.failure = cap_of(self.wanted, lavish, Unit())

    def measure(self, counter, *, gate, progress=None):
        a, b, c, d = (row.astype(int) for row in counter._codes)
        columns = {
            "a": [str(10 * x) for x in a],
            "b": [str(x / 3) for x in b],
            "c": [str(x) for x in c],
            "d": [f"20{10 + x}-05-01" for x in d],
            "e": [f"value {x}" for x in c],
        }
        table = pa.table({n: pa.array(v, pa.string()) for n, v in columns.items()})
        unit = SchemaUnit(neighbours=gate.unit.neighbours, max_records=gate.unit.max_records)
        found = []
        for want, cost in zip(self.wanted, self.cost.split([1.0] * len(self.wanted)), strict=True):
            try:
                one = discover(table, [want], name="t", unit=unit, gate=gate, cost=cost, delta=self.failure)
                found.append((one.schema.dumps(), one.total))
            except BudgetError as refusal:  # decided on noisy counts
                found.append(str(refusal))
        return found

    def synthesize(self, measured, n_records, *, rng, progress=None):
        return as_codes(measured)
