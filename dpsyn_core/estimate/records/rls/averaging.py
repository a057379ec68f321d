"""Lowers the sampling error of fitted records: fits them to the average of many fits. Blind."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.estimate.records.rls.fit import Course, Pace, Plan, Target, Walk
from dpsyn_core.estimate.records.rls.gaps import gaps_of
from dpsyn_core.estimate.records.rls.placement import Number
from dpsyn_core.estimate.records.rls.tuning import RECORDS, Evening, RecordTuning
from dpsyn_core.progress import Progress, silent

Numbers = Mapping[int, NDArray[np.intp]]
Floats = NDArray[np.float64]
NO_NUMBERS: Numbers = MappingProxyType({})


def pays(n_records: int, n_attributes: int, *, tuning: Evening = RECORDS.evening) -> bool:
    """Whether evening out repays its time: tables with few records gain most."""
    return n_attributes > 1 and n_records * n_attributes * (n_attributes - 1) // 2 <= tuning.most_work


def all_pairs(
    sizes: Sequence[int],
    sigma: float,
    *,
    numbers: Numbers = NO_NUMBERS,
    measured: Collection[tuple[int, ...]] = (),
    tuning: Evening = RECORDS.evening,
) -> list[Target]:
    """Empty tables of all pairs that are not too large, at full resolution, but for numbers, and no pair of these.

    A walk among good fits wanders off the narrow band that two dependent numbers lie in, so that its average would
    weaken their dependence; and each of a thousand values of a number holds too few records to be evened out. In the
    same way it would weaken differences of numbers between categories, where these were measured.

    Args:
        sizes: of the attributes.
        sigma: of the targets.
        numbers: for attributes that are numbers, by position, the coarse map of their values.
        measured: attributes of the tables that records were fitted to.
        tuning: constants.
    """
    maps = [numbers.get(i, np.arange(size)) for i, size in enumerate(sizes)]
    shape = [int(m.max()) + 1 for m in maps]
    return [
        Target(attributes=(a, b), maps=(maps[a], maps[b]), values=np.zeros((shape[a], shape[b])), sigma=sigma)
        for a, b in itertools.combinations(range(len(sizes)), 2)
        if shape[a] * shape[b] <= tuning.largest_pair
        and not (a in numbers and b in numbers)
        and not ((a in numbers or b in numbers) and (a, b) in measured)
    ]


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
    tuning: RecordTuning = RECORDS,
) -> list[NDArray[np.float64]]:
    """Average counts of tables over a walk among good fits: close to what the targets let us expect of them.

    The walk keeps a temperature above 0, so that it moves on among records that fit about equally well.

    Args:
        rows: uint16 (n_records, n_attributes), already fitted; changed in place.
        targets: what they were fitted to; at least one of them joins attributes.
        probabilities: as in `fit_records`.
        tables: shapes and maps of the tables to average; their values are not read.
        pace: half its proposals and all its threads are used.
        rng: for the proposals.
        progress: receives the sweep.
        tuning: constants.
    """
    t = tuning.evening
    tally = Tally(Plan([len(p) for p in probabilities], tables, tuning=tuning.fitting))
    walk = Walk(rows, Course(targets, probabilities, tuning=tuning.fitting), rng=rng)
    temperature = t.temperature * float(np.median([1 / x.sigma**2 for x in targets if x.joins]))
    last = t.skipped_sweeps + t.averaged_sweeps
    for number in range(1, last + 1):
        walk.sweep(temperature, max(1, pace.repeats // 2), shards=pace.shards)
        if number > t.skipped_sweeps:
            tally.see(rows)
        progress("averaging fits", number, last)
    parts = np.split(tally.sums() / t.averaged_sweeps, np.cumsum([x.values.size for x in tables])[:-1])
    return [part.reshape(x.values.shape) for part, x in zip(parts, tables, strict=True)]


def even_records(
    rows: NDArray[np.uint16],
    targets: Sequence[Target],
    probabilities: Sequence[NDArray[np.float64]],
    *,
    pace: Pace,
    rng: Generator,
    numbers: Numbers = NO_NUMBERS,
    valued: Sequence[Number] = (),
    progress: Progress = silent,
    tuning: RecordTuning = RECORDS,
) -> NDArray[np.uint16]:
    """Replaces random counts of fitted records by expected ones, as far as whole records can.

    Records that fit the targets are still a random sample in everything that no target fixes: pairs that were not
    measured, and values inside coarse ones. The average of all pairs over a walk among good fits is close to their
    expectation, and a fit at temperature 0 to the targets and to these averages has about half the sampling error.
    Post-processing.

    Args:
        rows: uint16 (n_records, n_attributes), already fitted; changed in place.
        targets: what they were fitted to.
        probabilities: as in `fit_records`.
        pace: its proposals and threads are used.
        rng: for the proposals.
        numbers: as in `all_pairs`.
        valued: all attributes that are numbers: in measured tables, averages get the differences of means that fitted
            records have; see `as_fitted`.
        progress: receives the sweep and F of the last fit.
        tuning: constants.
    """
    t = tuning.evening
    measured = {x.attributes for x in targets if not x.firm}
    pairs = all_pairs([len(p) for p in probabilities], t.deviation, numbers=numbers, measured=measured, tuning=t)
    if not pairs:  # such as a table of two numbers, with a million cells
        return rows
    before, ranked = rows.copy(), {n.place: n.ranked for n in valued}
    averages = average_tables(rows, targets, probabilities, pairs, pace=pace, rng=rng, progress=progress, tuning=tuning)
    expected = [
        replace(x, values=as_fitted(x, values, before, ranked) if x.attributes in measured else values)
        for x, values in zip(pairs, averages, strict=True)
    ]
    cold = Walk(rows, Course([*targets, *expected], probabilities, tuning=tuning.fitting), rng=rng)
    for number in range(1, t.fit_sweeps + 1):
        loss = cold.sweep(0.0, pace.repeats, shards=pace.at(t.fit_sweeps - number))
        progress("evening out", number, t.fit_sweeps, loss)
    return rows


def as_fitted(x: Target, average: Floats, rows: NDArray[np.uint16], ranked: Mapping[int, int]) -> Floats:
    """An average with the differences of a number between categories that fitted records have: a walk weakens them."""
    numbers = [i for i in x.attributes if i in ranked]
    if len(numbers) != 1:
        return average
    cells = np.ravel_multi_index(tuple(m[rows[:, i]] for i, m in zip(x.attributes, x.maps, strict=True)), average.shape)
    fitted = np.bincount(cells, minlength=average.size).reshape(average.shape).astype(np.float64)
    axis, upto, out = x.attributes.index(numbers[0]), ranked[numbers[0]], average.copy()
    part = np.moveaxis(out, axis, 0)[:upto]
    part[:] = gaps_of(part, np.moveaxis(fitted, axis, 0)[:upto])
    return out
