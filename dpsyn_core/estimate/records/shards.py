"""Synthesizes records in shards and joins them, table by table.

Shards: parts of the synthetic records that are fitted separately, each to its share of every table.

The shares of a table are whole numbers that add up to the table rounded: a cell of 30 in 100 shards is 1 in 30 of them,
and not 0.3 in each, which every shard would round to nothing. Blind.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MOST = 1_000_000  # records of a shard: enough that what chance does in one hardly shows in all
VALUES = 1 << 24  # values of a shard: wide tables have shorter ones


@dataclass(frozen=True, kw_only=True, slots=True)
class Shard:
    """Records start to start + n_records of `whole`; shards are numbered from 0."""

    number: int
    start: int
    n_records: int
    whole: int


def one_piece(n_records: int) -> Shard:
    """The shard that is all records."""
    return Shard(number=0, start=0, n_records=n_records, whole=n_records)


def shards_of(n_records: int, attributes: int) -> list[Shard]:
    """Equal shards of so many records; at least one. They depend on these two numbers alone, not on the machine."""
    most = max(1, min(MOST, VALUES // max(1, attributes)))
    number = max(1, -(-n_records // most))
    ends = [n_records * i // number for i in range(number + 1)]
    return [
        Shard(number=i, start=a, n_records=b - a, whole=n_records) for i, (a, b) in enumerate(itertools.pairwise(ends))
    ]


def shard_share(values: NDArray[np.float64], shard: Shard, phases: NDArray[np.float64]) -> NDArray[np.float64]:
    """The share of a table: whole numbers, each off by less than 1, that add up over all shards.

    Systematic rounding: a cell's running total is rounded down behind each shard, from a start that chance decides.

    Args:
        values: counts of the whole synthetic table, of any shape.
        shard: which share.
        phases: in [0, 1), of the same shape, and the same for all shards.
    """
    whole = max(1, shard.whole)
    before = np.floor(values * (shard.start / whole) + phases)
    behind = np.floor(values * ((shard.start + shard.n_records) / whole) + phases)
    share: NDArray[np.float64] = behind - before
    return share
