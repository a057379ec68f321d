"""Gates for audits: one that answers from a tape, one that watches two neighbouring tables at once."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpsyn_core.measurement.gate import Gate, ReleasedKeys
from dpsyn_core.measurement.scores import gaps_and_rate


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

    def _urn(self, exact, draws, charge):
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


class PairGate(Gate):
    """Reads both neighbours at every access, releases the side that is run, and keeps notes; quiet: adds no noise."""

    def __init__(self, counter, side=0, *, quiet=False, **kwargs):
        super().__init__(**kwargs)
        self.quiet = quiet
        self.counter, self.side = counter, side
        self.notes, self.late = [], []
        counter.side = side

    def _both(self, name, read):
        def reading():
            if not self.account.charges or self.account.charges[-1].name != name:
                self.late.append(name)
            self.counter.side = 1 - self.side
            self.there = read()
            self.counter.side = self.side
            return read()

        return reading

    def release(self, name, count, **kwargs):
        return super().release(name, self._both(name, count), **kwargs)

    def release_sparse(self, name, occupied, **kwargs):
        return super().release_sparse(name, self._both(name, occupied), **kwargs)

    def dirichlet(self, name, count, **kwargs):
        return super().dirichlet(name, self._both(name, count), **kwargs)

    def select(self, name, scores, *, monotone=False, **kwargs):
        self.one_sided = monotone and self.unit.neighbours == "add-remove"
        return super().select(name, self._both(name, scores), monotone=monotone, **kwargs)

    def partitions(self, name, present, **kwargs):
        return super().partitions(name, self._both(name, present), **kwargs)

    def _note(self, way, here, there, out, charge, extra=None):
        self.notes.append(Note(way, here, there, out, charge, extra))
        return out

    def _noisy(self, exact, charge):
        there = np.asarray(self.there).astype(np.int64).reshape(exact.shape)
        return self._note("noise", exact, there, exact if self.quiet else super()._noisy(exact, charge), charge)

    def _noisy_above(self, index, counts, threshold, charge):
        here, there = dense(index, counts, charge.cells), dense(*self.there, charge.cells)
        return self._note(
            "sparse", here, there, super()._noisy_above(index, counts, threshold, charge), charge, threshold
        )

    def _urn(self, exact, draws, charge):
        there = np.asarray(self.there).astype(np.int64).ravel()
        return self._note("urn", exact.ravel(), there, super()._urn(exact, draws, charge), charge, draws)

    def _chosen(self, gaps, rate, charge):
        there, _ = gaps_and_rate(
            np.asarray(self.there),
            charge.name,
            sensitivity=charge.sensitivity,
            epsilon=charge.epsilon,
            one_sided=self.one_sided,
        )
        return self._note(
            "choice", log_law(gaps, rate), log_law(there, rate), super()._chosen(gaps, rate, charge), charge
        )

    def _kept(self, counts, per_key, charge):
        kept = super()._kept(counts, per_key, charge)
        return self._note("keys", counts, dict(zip(*self.there, strict=True)), kept, charge, per_key)


def dense(index, counts, cells):
    """A sparse table with all its cells."""
    out = np.zeros(cells, dtype=np.int64)
    out[index] = counts
    return out


def log_law(gaps, rate):
    """Log probabilities of the exponential mechanism."""
    return -rate * gaps - np.log(np.exp(-rate * gaps).sum())
