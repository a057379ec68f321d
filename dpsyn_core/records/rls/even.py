"""Takes the chance out of fitted records: fits them to the average of many fits. Blind."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.progress import Progress, silent
from dpsyn_core.records.rls.fit import Pace, Plan, Target, Walk

STEP = 5.0  # warmth of the walk, in squared counts: enough to change pairs that no target holds
BURN, KEEP = 2, 12  # sweeps before and while pairs are averaged
SWEEPS = 4  # of the cold fit
LARGEST = 400_000  # cells of a pair table that is averaged
WORK = 12_000_000  # records times pairs beyond which chance is small or the work is large
SPREAD = 15.0  # standard deviation, in counts, that an averaged cell is trusted with


def pays(n_records: int, n_attributes: int) -> bool:
    """Whether evening out is worth its time: tables with few records gain most."""
    return n_attributes > 1 and n_records * n_attributes * (n_attributes - 1) // 2 <= WORK


def all_pairs(sizes: Sequence[int], sigma: float) -> list[Target]:
    """Empty tables of all pairs that are not too large, at full resolution."""
    return [
        Target(
            attributes=(a, b), maps=(np.arange(sizes[a]), np.arange(sizes[b])),
            values=np.zeros((sizes[a], sizes[b])), sigma=sigma,
        )
        for a, b in itertools.combinations(range(len(sizes)), 2)
        if sizes[a] * sizes[b] <= LARGEST
    ]  # fmt: skip


class Tally:
    """Counts of records, summed over moments; a record is counted when it changes, for all moments it has lasted."""

    def __init__(self, plan: Plan) -> None:
        """Tables to count; nothing has been seen yet."""
        self._plan = plan
        self._sums = np.zeros(plan.goal.size, dtype=np.int64)
        self._held = np.zeros((0, 0), dtype=np.uint16)
        self._lasted = np.zeros(0, dtype=np.int32)

    def see(self, rows: NDArray[np.uint16]) -> None:
        """One moment; always the same records in the same order."""
        if not len(self._held):
            self._held, self._lasted = rows.copy(), np.ones(len(rows), dtype=np.int32)
            return
        changed = (rows != self._held).any(axis=1)
        self._sums += self._plan.counts(self._held, np.where(changed, self._lasted, np.int32(0)))
        self._held[changed] = rows[changed]
        self._lasted = np.where(changed, np.int32(1), self._lasted + np.int32(1))

    def sums(self) -> NDArray[np.int64]:
        """Flat sums over all moments so far, int64 (cells of all tables)."""
        sums: NDArray[np.int64] = self._sums + self._plan.counts(self._held, self._lasted)
        return sums


def average_tables(
    rows: NDArray[np.uint16],
    targets: Sequence[Target],
    probabilities: Sequence[NDArray[np.float64]],
    tables: Sequence[Target],
    *,
    pace: Pace,
    rng: Generator,
    progress: Progress = silent,
) -> list[NDArray[np.float64]]:
    """Average counts of tables over a warm walk among fits: close to what the targets let us expect of them.

    Args:
        rows: uint16 (n_records, n_attributes), already fitted; changed in place.
        targets: what they were fitted to; at least one of them joins attributes.
        probabilities: as in `fit_records`.
        tables: shapes and maps of the tables to average; their values are not read.
        pace: half its proposals and all its threads are used.
        rng: for the proposals.
        progress: told the sweep.
    """
    tally = Tally(Plan([len(p) for p in probabilities], tables))
    walk = Walk(rows, targets, probabilities, rng=rng)
    warmth = STEP * float(np.median([1 / t.sigma**2 for t in targets if len(t.attributes) > 1]))
    for number in range(1, BURN + KEEP + 1):
        walk.sweep(warmth, max(1, pace.repeats // 2), shards=pace.shards)
        if number > BURN:
            tally.see(rows)
        progress("averaging fits", number, BURN + KEEP)
    parts = np.split(tally.sums() / KEEP, np.cumsum([t.values.size for t in tables])[:-1])
    return [part.reshape(t.values.shape) for part, t in zip(parts, tables, strict=True)]


def even_records(
    rows: NDArray[np.uint16],
    targets: Sequence[Target],
    probabilities: Sequence[NDArray[np.float64]],
    *,
    pace: Pace,
    rng: Generator,
    progress: Progress = silent,
) -> NDArray[np.uint16]:
    """Replaces the chance counts of fitted records by expected ones, as far as whole records can.

    Records that fit the targets still hold a chance sample of everything that no target fixes: pairs that were not
    measured and values inside coarse ones. The average of all pairs over a warm walk among fits is close to their
    expectation, and a cold fit to the targets and to these averages has about half the chance error of a sample.
    Post-processing.

    Args:
        rows: uint16 (n_records, n_attributes), already fitted; changed in place.
        targets: what they were fitted to.
        probabilities: as in `fit_records`.
        pace: its proposals and threads are used.
        rng: for the proposals.
        progress: told the sweep and F of the cold fit.
    """
    pairs = all_pairs([len(p) for p in probabilities], SPREAD)
    averages = average_tables(rows, targets, probabilities, pairs, pace=pace, rng=rng, progress=progress)
    expected = [
        Target(attributes=t.attributes, maps=t.maps, values=values, sigma=t.sigma)
        for t, values in zip(pairs, averages, strict=True)
    ]
    cold = Walk(rows, [*targets, *expected], probabilities, rng=rng)
    for number in range(1, SWEEPS + 1):
        progress("evening out", number, SWEEPS, cold.sweep(0.0, pace.repeats, shards=pace.at(number == SWEEPS)))
    return rows
