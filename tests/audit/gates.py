"""Gates for audits: one that answers from a tape, one that watches what neighbouring tables do."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpsyn_core.measure.gate import Gate, ReleasedKeys


class Alarm(AssertionError):
    """An audit has found a leak."""


def stable(*parts):
    """A generator that depends on public words and numbers alone."""
    return np.random.default_rng([sum(ord(ch) * (i + 1) for i, ch in enumerate(str(p))) for p in parts])


class TapeGate(Gate):
    """Charges and counts as always, then forgets the count: the answer depends on the name and the size alone."""

    def _noisy(self, exact, charge):
        tape = stable(charge.name, exact.size)
        return tape.integers(-2, 30, exact.size).astype(np.int64).reshape(exact.shape)

    def _noisy_above(self, index, counts, threshold, charge):
        tape = stable(charge.name, charge.cells)
        kept = np.unique(tape.integers(0, charge.cells, 5))
        return kept, threshold + tape.integers(0, 9, kept.size)

    def _urn(self, exact, draws, charge, weights):
        cells = stable(charge.name, exact.size).integers(0, exact.size, draws)
        return np.bincount(cells, minlength=exact.size).astype(np.int64)

    def _chosen(self, gaps, rate, charge):
        return int(stable(charge.name, gaps.size).integers(0, gaps.size))

    def partitions(self, name, present, **kwargs):
        return ReleasedKeys(keys=("0", "3"), charge=super().partitions(name, present, **kwargs).charge)


@dataclass(frozen=True)
class Note:
    """One private access: what both neighbours hold, what came out, under which charge."""

    way: str
    here: Any
    there: Any
    out: Any
    charge: Any
    extra: Any = None
    keys: Any = None
    held: Any = None  # count of every key before noise


class WatchGate(Gate):
    """Keeps notes of every access.

    two_sided: the counter: the other neighbour is read after the own one. forced: what to release instead of fresh
    draws, in order (another run's outputs). quiet: additive noise is left out.
    """

    def __init__(self, *, two_sided=None, forced=None, quiet=False, **kwargs):
        super().__init__(**kwargs)
        self.counter, self.quiet = two_sided, quiet
        self.forced = None if forced is None else list(forced)
        self.notes, self.late, self.there = [], [], None
        self.theirs = []  # of tables that are counted together

    def _watched(self, name, read):
        def reading():
            if not self.account.charges or self.account.charges[-1].name != name:
                self.late.append(name)
            own = read()
            if self.counter is not None:
                self.counter.side = 1 - self.counter.side
                self.there = read()
                self.counter.side = 1 - self.counter.side
            return own

        return reading

    def release_tables(self, wanted, count):
        names = [w.name for w in wanted]

        def reading():
            if [c.name for c in self.account.charges[-len(names) :]] != names:
                self.late += names
            own = count()
            if self.counter is not None:
                self.counter.side = 1 - self.counter.side
                self.theirs = list(count())
                self.counter.side = 1 - self.counter.side
            return own

        return super().release_tables(wanted, reading)

    def release_sparse(self, name, occupied, **kwargs):
        return super().release_sparse(name, self._watched(name, occupied), **kwargs)

    def dirichlet(self, name, count, **kwargs):
        return super().dirichlet(name, self._watched(name, count), **kwargs)

    def select(self, name, scores, **kwargs):
        return super().select(name, self._watched(name, scores), **kwargs)

    def partitions(self, name, present, **kwargs):
        held = {}

        def counted():
            keys, counts = present()
            held.update(zip(keys, (int(c) for c in counts), strict=True))
            return keys, counts

        got = super().partitions(name, self._watched(name, counted), **kwargs)
        self.notes[-1] = replace(self.notes[-1], keys=got.keys, held=held)
        if self.forced is not None:  # keys differ between tables: the other run's are released
            return ReleasedKeys(keys=self.forced.pop(0), charge=got.charge)
        return got

    def _note(self, way, here, charge, draw, extra=None, there=None):
        out = self.forced.pop(0) if self.forced is not None else draw()
        self.notes.append(Note(way, here, there, out, charge, extra))
        return out

    def _summed(self, counter, rule, maps, charge):
        if not any(c is charge for c in self.account.charges):
            self.late.append(charge.name)
        own = super()._summed(counter, rule, maps, charge)
        if self.counter is not None:
            self.counter.side = 1 - self.counter.side
            self.there = super()._summed(counter, rule, maps, charge)
            self.counter.side = 1 - self.counter.side
        return own

    def _sampled(self, charge, n_records):
        """Everybody: of all samples, the one in which neighbours differ most; `t0_samples` audits samples."""
        return np.ones(n_records, dtype=bool)

    def _noisy(self, exact, charge):
        self.there = self.theirs.pop(0) if self.theirs else self.there
        there = None if self.there is None else np.asarray(self.there).astype(np.int64).reshape(exact.shape)
        real = super()._noisy
        return self._note("noise", exact, charge, lambda: exact if self.quiet else real(exact, charge), there=there)

    def _noisy_above(self, index, counts, threshold, charge):
        real = super()._noisy_above
        here = dense(index, counts, charge.cells)
        return self._note("sparse", here, charge, lambda: real(index, counts, threshold, charge), threshold)

    def _urn(self, exact, draws, charge, weights):
        there = None if self.there is None else np.asarray(self.there).astype(np.int64).ravel()
        real = super()._urn
        return self._note("urn", exact.ravel(), charge, lambda: real(exact, draws, charge, weights), draws, there)

    def _chosen(self, gaps, rate, charge):
        real = super()._chosen
        return self._note("choice", log_law(gaps, rate), charge, lambda: real(gaps, rate, charge))

    def _kept(self, counts, per_key, charge):
        out = super()._kept(counts, per_key, charge)
        self.notes.append(Note("keys", counts, None, out, charge, per_key))
        return out


def accesses(notes):
    """The charges of all notes, that of a training run once. Raises Alarm when it takes more steps than it paid for."""
    out, taken = [], 0
    for note in notes:
        again = out and note.charge is out[-1] and note.charge.mechanism == "sampled-gaussian"
        taken = taken + 1 if again else 1
        if taken > note.charge.steps:
            raise Alarm(f"'{note.charge.name}' takes step {taken}, and paid for {note.charge.steps}")
        out += [] if again else [note.charge]
    return out


def released(notes):
    """What a run released, as another run can be forced to release it."""
    return [n.keys if n.way == "keys" else n.out for n in notes]


def dense(index, counts, cells):
    """A sparse table with all its cells."""
    out = np.zeros(cells, dtype=np.int64)
    out[index] = counts
    return out


def log_law(gaps, rate):
    """Log probabilities of the exponential mechanism."""
    return -rate * gaps - np.log(np.exp(-rate * gaps).sum())
