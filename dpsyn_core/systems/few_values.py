"""Numbers of many bins for systems that tell every value apart: neighbouring bins are merged by public rule.

A system that measures tables at full resolution drowns where numbers have hundreds of bins. It runs on fewer values,
which follow from the schema alone, so that its charges are those of a schema with so many bins. Afterwards a record
gets one of the bins that were merged: by chance, but handed out in the order that dependent numbers suggest.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.estimate import (
    NO_RECODES,
    Coarsening,
    Measurement,
    Recodes,
    ReleasedTables,
    coarse_domain,
    hand_out,
    scores_in_bins,
)
from dpsyn_core.measure import Counter, Gate, occupied
from dpsyn_core.progress import Progress, silent
from dpsyn_core.schema import AttributeSet, CodedAttribute, Domain
from dpsyn_core.systems.base import MethodConfig, Synthesizer, Task
from dpsyn_core.systems.steps import Step

MANY = 100  # bins of a number from which on they are merged; fewer were declared by somebody who meant them


class FewValuesConfig(MethodConfig, ABC):
    """Settings of a system that runs on few values of every number."""

    number_values: ClassVar[int] = 32  # of a number, after merging

    def recodes(self, domain: Domain) -> Recodes:
        """For each number of many bins which of them are merged, by public facts alone."""
        return {a.name: Coarsening.even(a, self.number_values) for a in domain.attributes if many(a)}

    def working_domain(self, domain: Domain) -> Domain:
        """The attributes with their merged values."""
        return coarse_domain(domain, self.recodes(domain))

    def calibrate(self, task: Task) -> Synthesizer:
        """The system on merged values where some number has many bins, else on all."""
        recodes = self.recodes(task.domain)
        if not recodes:
            return super().calibrate(task)
        inner = super().calibrate(replace(task, domain=coarse_domain(task.domain, recodes)))
        return FewValues(inner, task.domain, recodes)


def many(attribute: CodedAttribute) -> bool:
    """Whether an attribute is a number of many bins."""
    return attribute.number and attribute.size - attribute.special >= MANY


@dataclass(slots=True)
class MergedCounter:
    """Counts merged values of a counter of all values."""

    counter: Counter
    domain: Domain
    recodes: Recodes

    def marginal(self, attributes: AttributeSet, recodes: Recodes = NO_RECODES) -> NDArray[np.int64]:
        """As `Counter.marginal`, on merged values."""
        return self.counter.marginal(attributes, self._through(recodes))

    def marginals(self, sets: Sequence[AttributeSet], recodes: Recodes = NO_RECODES) -> list[NDArray[np.int64]]:
        """As `Counter.marginals`, on merged values."""
        return self.counter.marginals(sets, self._through(recodes))

    def occupied(
        self, attributes: AttributeSet, recodes: Recodes = NO_RECODES
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """As `SparseCounter.occupied`, on merged values."""
        return occupied(self.counter, attributes, self._through(recodes))

    def _through(self, recodes: Recodes) -> Recodes:
        """First merged, then as the system asks."""
        asked = {n: r.compose(recodes[n]) if n in recodes else r for n, r in self.recodes.items()}
        return {**recodes, **asked}


class FewValues(Synthesizer):
    """Calibrated: a system on merged values, and what leads there and back."""

    def __init__(self, inner: Synthesizer, domain: Domain, recodes: Recodes) -> None:
        """Spends what the system spends, as it spends it."""
        self.inner, self.domain, self.recodes = inner, domain, recodes
        self.merged = coarse_domain(domain, recodes)
        self.cost, self.failure = inner.cost, inner.failure

    def steps(self, n_records: float) -> Sequence[Step]:
        """Those of the system."""
        return self.inner.steps(n_records)

    def measure(self, counter: Counter, *, gate: Gate, progress: Progress = silent) -> Any:
        """What the system measures, on merged values; marginals say by which maps they were counted."""
        measured = self.inner.measure(MergedCounter(counter, self.merged, self.recodes), gate=gate, progress=progress)
        return _each(measured, self.outward)

    def measurements(self, measured: Any) -> ReleasedTables:
        """Those of the system, with the maps by which they were counted."""
        tables = self.inner.measurements(self._released(measured))
        return tables.like(self.outward(m) for m in tables)

    def restored(self, released: ReleasedTables) -> Any:
        """What the system itself restores, of the tables as it released them."""
        return _each(self.inner.restored(released.like(self._inward(m) for m in released)), self.outward)

    def _released(self, measured: Any) -> Any:
        """What the system itself returned."""
        return _each(measured, self._inward)

    def outward(self, m: Any) -> Any:
        """A marginal with the maps from the values of the schema."""
        if not isinstance(m, Measurement):
            return m
        merged = {n: r for n, r in self.recodes.items() if n in m.attributes}
        through = {n: r.compose(m.recodes[n]) if n in m.recodes else r for n, r in merged.items()}
        return replace(m, recodes={**m.recodes, **through})

    def _inward(self, m: Any) -> Any:
        """A marginal as the system released it."""
        if not isinstance(m, Measurement):
            return m
        maps = {n: r.without(self.recodes[n]) if n in self.recodes else r for n, r in m.recodes.items()}
        return replace(m, recodes={n: r for n, r in maps.items() if n not in self.recodes or not r.is_identity})

    def synthesize(
        self, measured: Any, n_records: int | None, *, rng: Generator, progress: Progress = silent
    ) -> NDArray[np.unsignedinteger]:
        """The system's records, and for each merged value one of its bins."""
        coarse = self.inner.synthesize(self._released(measured), n_records, rng=rng, progress=progress)
        scores = scores_in_bins(coarse, self.merged, rng=rng)
        out = np.empty(coarse.shape, dtype=np.min_scalar_type(max(self.domain.sizes) - 1))
        for i, name in enumerate(self.domain.names):
            out[i] = coarse[i]
            if name in self.recodes:
                recode = self.recodes[name]
                out[i] = recode.first[coarse[i]] + rng.integers(0, recode.width[coarse[i]])
                if name in scores:
                    hand_out(out[i], coarse[i], scores[name])
        return out


def _each(measured: Any, change: Callable[[Any], Any]) -> Any:
    """Marginals changed one by one, with the scores that chose them; what is no list of marginals stays."""
    if isinstance(measured, ReleasedTables):
        return measured.like(change(m) for m in measured)
    return [change(m) for m in measured] if isinstance(measured, list) else measured
