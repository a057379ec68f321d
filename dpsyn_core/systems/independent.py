"""Independent: one noisy marginal an attribute, no correlations; the baseline that others must beat."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.estimate import Measurement, ReleasedTables, Shard, one_piece, shrink_one_way
from dpsyn_core.measure import Counter, Gate, measure_marginals
from dpsyn_core.progress import Progress, silent
from dpsyn_core.systems.base import Guarantee, MethodConfig, Sharded, Synthesizer, Task
from dpsyn_core.systems.few_values import many
from dpsyn_core.systems.registry import register
from dpsyn_core.systems.settings import Estimate, Size, estimate_of


@register("independent")
class IndependentConfig(MethodConfig):
    """No settings."""

    summary = "One noisy marginal a column and no correlations: the baseline every other system must beat."
    guarantee = Guarantee(text="(epsilon, delta)-DP by exact Gaussian accounting; epsilon-DP at delta 0")

    takes_links = True
    measures = ("sum",)  # parts that were drawn apart add up to too narrow a sum

    def seconds(self, size: Size) -> float:
        """As measured; see `synthesizers.estimates`."""
        return 0.75 + 0.15 * size.values

    def estimate(self, size: Size) -> Estimate:
        """No pair is counted."""
        return estimate_of(self.seconds(size), replace(size, cells=0.0))

    def build(self, task: Task) -> Synthesizer:
        """Splits the budget evenly over the attributes."""
        return Independent(task)


class Independent(Synthesizer):
    """Calibrated."""

    def __init__(self, task: Task) -> None:
        """Keeps the task; Gaussian noise when there is a delta, Laplace otherwise."""
        self.domain = task.domain
        self.cost = task.budget.gaussian() if task.budget.delta else task.budget.pure()

    def measure(self, counter: Counter, *, gate: Gate, progress: Progress = silent) -> list[Measurement]:
        """One charge an attribute."""
        sets = self.domain.singletons()
        return measure_marginals(counter, sets, self.cost.split([1.0] * len(sets)), gate=gate)

    def restored(self, released: ReleasedTables) -> ReleasedTables:
        """The very tables."""
        return released

    def synthesize(
        self, measured: Any, n_records: int | None, *, rng: Generator, progress: Progress = silent
    ) -> NDArray[np.unsignedinteger]:
        """Each column drawn independently from its clipped marginal, uniform when nothing is left."""
        sharded = self.sharded(measured, n_records, rng=rng)
        return sharded.begin(progress)(one_piece(sharded.n_records), rng, progress)

    def sharded(self, measured: Any, n_records: int | None, *, rng: Generator) -> Sharded:
        """Every record is drawn by itself, so that shards are drawn as one piece is."""
        total = float(
            np.average([m.values.sum() for m in measured], weights=[1 / (m.cells * m.sigma**2) for m in measured])
        )
        n = max(0, round(total)) if n_records is None else n_records
        chances = []
        for m in measured:
            a = self.domain[m.attributes[0]]
            values = m.values
            if many(a):  # noise of a thousand bins, clipped, would outweigh the records
                values = shrink_one_way(values, m.sigma, ordered=True, special=a.special, total=total)
            p = np.clip(values, 0, None)
            chances.append(p / p.sum() if p.sum() > 0 else np.full(m.cells, 1 / m.cells))
        dtype = np.min_scalar_type(max(self.domain.sizes) - 1)

        def make(shard: Shard, own: Generator, _: Progress) -> NDArray[np.unsignedinteger]:
            columns = [own.choice(len(p), size=shard.n_records, p=p) for p in chances]
            return np.stack(columns).astype(dtype) if columns else np.zeros((0, shard.n_records), dtype=dtype)

        return Sharded(n_records=n, begin=lambda progress: make)
