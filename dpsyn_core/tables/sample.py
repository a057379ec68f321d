"""Sampling: records drawn from a table, where all of it would not fit in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator

from dpsyn_core.progress import Progress, silent
from dpsyn_core.tables.batches import MAX_FILE, Batches, joined


def sampled(batches: Batches, most: int, *, rng: Generator, progress: Progress = silent) -> Batches:
    """`most` records of a table, every set of so many equally likely, in their order; all of a table with fewer.

    The table is read once. Memory holds about twice what is drawn, and a batch.
    """
    parts: list[Any] = []
    keys: list[Any] = []
    below, seen, count = np.inf, 0, 0
    likely = max(1, batches.likely_records)
    for table in batches.read():
        progress("reading", min(seen, likely), likely)
        seen += table.num_rows
        own = rng.random(table.num_rows)  # the records with the smallest numbers are drawn
        taken = np.flatnonzero(own < below)
        if len(taken):
            parts.append(table if len(taken) == table.num_rows else table.take(taken))
            keys.append(own[taken])
            count += len(taken)
        if count > 2 * most:
            parts, keys, below = _smallest(parts, keys, most)
            count = most
    if count > most:
        parts, keys, _ = _smallest(parts, keys, most)
        count = most
    progress("reading", likely, likely)
    return batches.holding(joined(parts, batches.columns), drawn_from=seen if count < seen else None)


def at_most(batches: Batches, most: int, *, rng: Generator, progress: Progress = silent) -> Batches:
    """As `sampled`; a table that is small, or surely has no more records than that, is read at once and then cut."""
    likely = batches.load is not None and batches.size <= MAX_FILE and batches.likely_records <= most
    if not batches.small and not likely:
        return sampled(batches, most, rng=rng, progress=progress)
    table = batches.whole()
    if table.num_rows <= most:
        return batches.holding(table)
    chosen = np.sort(rng.choice(table.num_rows, most, replace=False, shuffle=False))
    return batches.holding(table.take(chosen), drawn_from=table.num_rows)


def _smallest(parts: list[Any], keys: list[Any], most: int) -> tuple[list[Any], list[Any], float]:
    """The records with the `most` smallest keys, and the largest of these keys."""
    every = np.concatenate(keys)
    chosen = np.zeros(len(every), dtype=bool)
    chosen[np.argpartition(every, most - 1)[:most]] = True
    left, kept, start = [], [], 0
    for part, key in zip(parts, keys, strict=True):
        at = np.flatnonzero(chosen[start : start + len(key)])
        start += len(key)
        if len(at):
            left.append(part.take(at))
            kept.append(key[at])
    return left, kept, float(every[chosen].max())
