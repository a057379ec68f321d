"""What a run will take, from public sizes alone: each system's config estimates its own seconds and memory.

The figures stand on processor seconds of one thread that `python -m benchmarks.estimates` measured for every system on
tables of 2,000 to 100,000 records and 7 to 28 attributes, and on the run of 1,000,000 x 14 of the README.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpsyn_core.schema.domain import Domain

SECONDS_PER_CELL = 0.6  # for each million cells of all pairs, whatever the system
MOST = 1e15  # cells of the whole domain that are told apart; no system can take as many
BASE_MB, MB_PER_MILLION, MB_PER_MILLION_CELLS = 285, 20.0, 24.0  # of values, and of cells of all pairs


@dataclass(frozen=True)
class Size:
    """What an estimate depends on: records in and out; millions of cells of all pairs, and of the whole domain."""

    records: int
    out: int
    attributes: int
    cells: float
    domain: float = 0.0

    @classmethod
    def of(cls, domain: Domain, records: int, out: int | None = None) -> Size:
        """The size of a run. out: records to write, when that is another number than those that are read."""
        sizes = domain.sizes
        cells = (sum(sizes) ** 2 - sum(s * s for s in sizes)) / 2e6
        whole = min(math.prod(map(float, sizes)), MOST) / 1e6  # of 200 numbers it is no float any more
        return cls(records=records, out=out or records, attributes=len(sizes), cells=cells, domain=whole)

    @property
    def values(self) -> float:
        """Millions of values to be made."""
        return self.out * self.attributes / 1e6


@dataclass(frozen=True)
class Estimate:
    """Processor seconds of one thread once the engine is loaded, and peak megabytes of the process."""

    seconds: float
    megabytes: float


def estimate_of(seconds: float, size: Size) -> Estimate:
    """An estimate from a system's own seconds, with the counting of pairs and the memory that all systems need."""
    values = max(size.records, size.out) * size.attributes / 1e6
    megabytes = BASE_MB + MB_PER_MILLION * values + MB_PER_MILLION_CELLS * size.cells
    return Estimate(seconds=seconds + SECONDS_PER_CELL * size.cells, megabytes=megabytes)
