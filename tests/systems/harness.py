"""What the tests of systems share: seeded noise, a plain counter, gates that watch or replay a tape."""

import numpy as np

from dpsyn_core.errors import EngineError
from dpsyn_core.measure.counting.base import Counter
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.gate import Gate, Released
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.charge import Charge
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.domain import CodedAttribute, Domain
from dpsyn_core.systems.base import Task
from dpsyn_core.systems.registry import config_class, configure
from tests.seeded import SeededNoise


class PlainCounter(Counter):
    """Counts a code table with numpy; refuses to count while `guard` is set and no gate is open."""

    def __init__(self, codes, domain, *, guard=False):
        self.codes, self.domain = np.asarray(codes), domain
        self.guard, self.open = guard, False

    def marginal(self, attributes, recodes=None):
        if self.guard and not self.open:
            raise EngineError("counted outside the gate")
        recodes = recodes or {}
        columns, shape = [], []
        for name in attributes:
            column = self.codes[self.domain.index(name)].astype(np.int64)
            size = self.domain[name].size
            if name in recodes:
                column, size = recodes[name].map[column], recodes[name].size
            columns.append(column)
            shape.append(size)
        if not columns:
            return np.array(self.codes.shape[1], dtype=np.int64)
        flat = np.ravel_multi_index(columns, shape)
        return np.bincount(flat, minlength=int(np.prod(shape))).reshape(shape)

    def marginals(self, sets, recodes=None):
        return [self.marginal(s, recodes) for s in sets]

    def vector_sum(self, rule, maps, sample=None):
        if self.guard and not self.open:
            raise EngineError("summed outside the gate")
        return MemoryCounter(self.codes, self.domain).vector_sum(rule, maps, sample)


class WatchingGate(Gate):
    """A gate that lets a guarded counter count only while it is asked for a release."""

    def __init__(self, counter, **kwargs):
        super().__init__(**kwargs)
        self.counter = counter

    def _watched(self, count):
        def call(*args):
            self.counter.open = True
            try:
                return count(*args)
            finally:
                self.counter.open = False

        return call

    def release_tables(self, wanted, count):
        return super().release_tables(wanted, self._watched(count))

    def select(self, name, scores, **kwargs):
        return super().select(name, self._watched(scores), **kwargs)

    def release_sparse(self, name, occupied, **kwargs):
        return super().release_sparse(name, self._watched(occupied), **kwargs)

    def dirichlet(self, name, count, **kwargs):
        return super().dirichlet(name, self._watched(count), **kwargs)

    def _summed(self, *args):
        return self._watched(super()._summed)(*args)


class TapeGate(Gate):
    """Never looks at the data: the same constants whatever it is asked to count."""

    def _booked(self, name, cells, mechanism, cost):
        half = {"epsilon": cost.epsilon, "rho": cost.epsilon**2 / 2} if cost.pure else {"rho": cost.rho}
        charge = Charge(name=name, mechanism=mechanism, sensitivity=1.0, scale=1.0, cells=cells, **half)
        self.account.debit(charge)
        return charge

    def release_tables(self, wanted, count):
        out = []
        for w in wanted:
            charge = self._booked(w.name, w.cells, "geometric" if w.cost.pure else "gaussian", w.cost)
            tape = np.random.default_rng(len(w.name) + w.cells)
            out.append(Released(values=tape.integers(-3, 40, w.cells), sigma=2.0, charge=charge))
        return out

    def _summed(self, counter, rule, maps, charge):
        return np.zeros(len(maps) * rule.cells, dtype=np.int64)

    def _noisy(self, exact, charge):
        return np.random.default_rng(exact.size).integers(-(2**24), 2**26, exact.size)

    def select(self, name, scores, *, sensitivity, cost, monotone=False):
        self._booked(name, 1, "exponential", cost)
        return 0

    def dirichlet(self, name, count, *, cells, draws, cost, exposures=None):
        charge = self._booked(name, cells, "dirichlet", cost)
        values = np.bincount(np.arange(draws) % cells, minlength=cells)
        return Released(values=values, sigma=0.0, charge=charge)


def domain_of(sizes, *, grouped=True):
    """A domain whose first two attributes form the group 'g' when there are more than two."""
    group = "g" if grouped and len(sizes) > 2 else None
    return Domain(
        tuple(
            CodedAttribute(name=n, size=s, ordered=s > 2, group=group if i < 2 else None)
            for i, (n, s) in enumerate(sizes.items())
        )
    )


def random_codes(sizes, n, seed=0):
    """Codes with a dependence between neighbours: each column follows the one before it half of the time."""
    rng = np.random.default_rng(seed)
    rows = []
    for size in sizes.values():
        fresh = np.minimum(rng.integers(0, size, n), rng.integers(0, size, n))
        if rows:
            fresh = np.where(rng.random(n) < 0.5, np.minimum(rows[-1], size - 1), fresh)
        rows.append(fresh)
    return np.array(rows, dtype=np.uint8).reshape(len(sizes), n)


def task_for(name, sizes, n, *, neighbours=None, theta=1, epsilon=2.0, pure=None, grouped=True):
    """A task that the system supports, unless told otherwise."""
    guarantee = config_class(name).guarantee
    neighbours = neighbours or guarantee.neighbours[0]
    pure = (not guarantee.approximate) if pure is None else pure
    return Task(
        domain=domain_of(sizes, grouped=grouped),
        unit=Unit(neighbours=neighbours, max_records=theta),
        budget=Budget(epsilon=epsilon, delta=0.0 if pure else 1e-6),
        n_public=n if guarantee.needs_public_n else None,
    )


def run(name, task, codes, *, settings=None, noise=None, n_records=None, seed=0, gate_class=Gate):
    """Calibrates, measures and synthesizes; returns the codes, the gate and the system."""
    system = configure(name, settings or {}).calibrate(task)
    counter = PlainCounter(codes, task.domain, guard=gate_class is WatchingGate)
    kwargs = {
        "account": Account(system.cost, delta=system.failure),
        "noise": noise or SeededNoise(seed + 1),
        "unit": task.unit,
    }
    gate = WatchingGate(counter, **kwargs) if gate_class is WatchingGate else gate_class(**kwargs)
    measured = system.measure(counter, gate=gate)
    out = system.synthesize(measured, n_records, rng=np.random.default_rng(seed))
    return out, gate, system
