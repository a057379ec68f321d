"""One-ways and the dependence of every pair of a table that is declared public.

Exact counts leave here without noise, so nothing of it may be computed on a private table. The caller passes the
owner's word that the table is public (a simulated sample, or an earlier release of the same survey).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.counting.memory import MemoryCounter
from dpsyn_core.errors import InputError
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.domain import AttributeSet, Domain

Floats = NDArray[np.float64]
MOST_PAIR_CELLS = 4_000_000  # of one pair of columns; larger ones are named and left out
BATCH_CELLS = 20_000_000  # cells of pairs that are counted at a time: 160 MB
REFUSED = (
    "exploring shows exact counts, so it takes a public table only; say that this one is public (a simulated sample or "
    "an earlier release), or buy knowledge about a private one with budget (dpsyn schema draft --buy)"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Dependence:
    """How far a pair is from independence.

    indif: half the L1 distance of the pair's frequencies from the product of both columns' frequencies, in [0, 1].
    by_chance: the mean of the same for independent columns with these frequencies and as many records.
    """

    pair: AttributeSet
    indif: float
    by_chance: float
    cells: int

    @property
    def excess(self) -> float:
        """What is left of the distance without the part that chance explains, at least 0."""
        return max(self.indif - self.by_chance, 0.0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Exploration:
    """What a public table shows.

    codes: (n_attributes, n_records). one_ways: counts of each attribute. pairs: the strongest dependence first.
    left_out: pairs with too many cells to look at.
    """

    schema: Schema
    domain: Domain
    codes: NDArray[np.unsignedinteger]
    one_ways: dict[str, NDArray[np.int64]]
    pairs: list[Dependence]
    left_out: list[AttributeSet]

    @property
    def n_records(self) -> int:
        """Number of records."""
        return int(self.codes.shape[1])

    def counter(self) -> MemoryCounter:
        """Counts the records."""
        return MemoryCounter(self.codes, self.domain)


def explore(table: Any, schema: Schema, *, public: bool) -> Exploration:
    """Looks at a public table.

    Guarantee: none. The counts are exact.

    Args:
        table: pyarrow.
        schema: of the table; need not be confirmed.
        public: the owner's word that the table may be published as it is.

    Raises:
        InputError: the table is not declared public, has no records, or does not fit its schema.
    """
    if not public:
        raise InputError(REFUSED)
    codec = Codec(schema)
    domain = codec.domain
    codes = codec.encode(table, individuals=False, strict=True).codes  # a sentence instead of fewer records
    if not codes.shape[1]:
        msg = "the table has no records, so it shows nothing; give a public table with at least one record"
        raise InputError(msg)
    counter = MemoryCounter(codes, domain)
    ones = dict(zip(domain.names, counter.marginals(domain.singletons()), strict=True))
    size = {p: math.prod(domain.shape(p)) for p in domain.subsets(2)}
    small = [p for p in size if size[p] <= MOST_PAIR_CELLS]
    found: list[Dependence] = []
    start = 0
    while start < len(small):
        stop, cells = start, 0
        while stop < len(small) and (stop == start or cells + size[small[stop]] <= BATCH_CELLS):
            cells += size[small[stop]]
            stop += 1
        tables = counter.marginals(small[start:stop])
        found += [_dependence(p, t) for p, t in zip(small[start:stop], tables, strict=True)]
        start = stop
    found.sort(key=lambda d: (-d.excess, d.pair))
    left_out = [p for p in size if size[p] > MOST_PAIR_CELLS]
    return Exploration(schema=schema, domain=domain, codes=codes, one_ways=ones, pairs=found, left_out=left_out)


def _dependence(pair: AttributeSet, counts: NDArray[np.int64]) -> Dependence:
    """Distance of one pair from independence, and its mean by chance, where counts are Poisson."""
    n = float(counts.sum())
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / n
    distance = float(np.abs(counts - expected).sum()) / (2 * n)
    # mean absolute deviation of a Poisson count: that of a normal one, or twice the mean where that is smaller
    chance = float(np.minimum(np.sqrt(2 * expected / np.pi), 2 * expected).sum()) / (2 * n)
    return Dependence(pair=pair, indif=distance, by_chance=chance, cells=counts.size)
