"""Target tables for records: which attributes, which shape, which counts, and what single moves aim at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.estimate.marginals.types import Measurement, probabilities, whole_counts
from dpsyn_core.schema import Domain


@dataclass(frozen=True, kw_only=True, slots=True)
class TargetTable:
    """A target for n records.

    rows: int64 (k,), attributes in the order of the axes. sizes: int64 (k,). share: float64 (cells,), adds up
    to 1. weight: how much a residual of this table counts beside another's.
    """

    rows: NDArray[np.int64]
    sizes: NDArray[np.int64]
    share: NDArray[np.float64]
    weight: float = 1.0

    def counts(self, n: int, rng: Generator) -> NDArray[np.int64]:
        """Whole counts for n records, int64 (cells,), each within one record of its share.

        A table of more cells than records is rounded systematically: its running total is rounded down from a start
        that chance decides, so that the totals of its columns stay. By the largest remainder, all records would go to
        the cells that expect the most, however little more that is.
        """
        if not self.sparse(n):
            return whole_counts(self.share, n, rng=rng)
        behind = np.floor(np.cumsum(self.share) * n + rng.random())
        behind[-1] = n  # the shares add up to 1 but for the last digit
        return np.diff(behind, prepend=0.0).astype(np.int64)

    def sparse(self, n: int) -> bool:
        """Whether the table has more cells than n records, so that most of them expect less than one."""
        return self.share.size > n

    def aims(self, n: int, rng: Generator) -> NDArray[np.float64]:
        """What single moves aim at, float64 (cells,): the expected counts, but whole ones of a sparse table.

        Where a cell expects less than half a record, no record is nearest to it, and the sum of distances would be
        least with all records in the cells that expect the most.
        """
        return self.counts(n, rng).astype(np.float64) if self.sparse(n) else self.share * n


def tables_of(measured: Sequence[Measurement], domain: Domain) -> list[TargetTable]:
    """Targets from measurements, each clipped at zero; weights are inverse variances with a mean of 1.

    Measurements without attributes (the total) do not constrain single records and are left out.
    """
    used = [m for m in measured if m.attributes]
    inverse = [1 / m.sigma**2 if m.sigma > 0 else 1.0 for m in used]
    mean = sum(inverse) / max(len(inverse), 1)
    return [
        TargetTable(
            rows=np.array([domain.index(n) for n in m.attributes], dtype=np.int64),
            sizes=np.array(m.values.shape, dtype=np.int64),
            share=probabilities(m.values).ravel(),
            weight=w / mean,
        )
        for m, w in zip(used, inverse, strict=True)
    ]
