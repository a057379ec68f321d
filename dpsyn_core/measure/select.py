"""Scores attribute sets against the tables expected from releases so far, and chooses which of them to measure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.estimate import Recodes, coarse_shape, descend
from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy import Cost, Unit
from dpsyn_core.schema import AttributeSet

if TYPE_CHECKING:
    from dpsyn_core.measure.counting.base import Counter

GRID = 16  # expected counts are rounded to sixteenths, so that scores are whole numbers
EXCEPTIONS = "exceptions to what follows"  # what the charge of `score_exceptions` is called
BATCH = 4_000_000  # cells counted at a time


def score_sets(
    counter: Counter,
    sets: Sequence[AttributeSet],
    expected: Sequence[NDArray[np.float64]],
    recodes: Sequence[Recodes],
    *,
    cost: Cost,
    gate: Gate,
    name: str,
) -> tuple[NDArray[np.float64], float]:
    """Releases how far each table is from what is expected of it: sum over cells of |count - expected|.

    Expected tables must come from released values. The gate is handed sum |GRID count - round(GRID expected)|, a
    whole number. An individual who joins or leaves changes the counts of one table by at most max_records in L1, hence
    by the triangle inequality each score by at most GRID max_records; one who is replaced, twice that. The vector of P
    scores then has L1 sensitivity P times and L2 sensitivity sqrt(P) times that of one score.

    Args:
        counter: exact counts.
        sets: attribute sets to score.
        expected: for each set float64 of the shape of its (coarse) table, in counts.
        recodes: for each set the coarse maps of the attributes that are counted coarsely in it.
        cost: what all scores together may spend.
        gate: through which they are released.
        name: what the charge is called.

    Returns:
        Scores in counts, shape (sets,), and the standard deviation of their noise.
    """
    if not sets:  # nothing is counted or spent
        return np.zeros(0), 0.0
    one = GRID * gate.unit.l1()
    released = gate.release(
        name,
        lambda: _scores(counter, sets, expected, recodes),
        kind="scores",
        cells=len(sets),
        cost=cost,
        l1=one * len(sets),
        l2=one * math.sqrt(len(sets)),
    )
    return released.values / GRID, released.sigma / GRID


def _scores(
    counter: Counter, sets: Sequence[AttributeSet], expected: Sequence[NDArray[np.float64]], recodes: Sequence[Recodes]
) -> NDArray[np.int64]:
    scores = np.zeros(len(sets), dtype=np.int64)
    same: dict[int, list[int]] = {}  # sets that share their coarse maps are counted together
    for i, maps in enumerate(recodes):
        same.setdefault(id(maps), []).append(i)
    for places in same.values():
        start = 0
        while start < len(places):
            stop, cells = start, 0
            while stop < len(places) and (stop == start or cells + expected[places[stop]].size <= BATCH):
                cells += expected[places[stop]].size
                stop += 1
            part = places[start:stop]
            tables = counter.marginals([sets[i] for i in part], recodes[part[0]])
            counted = np.concatenate([table.ravel() for table in tables])
            targets = np.rint(GRID * np.concatenate([expected[i].ravel() for i in part])).astype(np.int64)
            begins = np.cumsum([0, *(table.size for table in tables[:-1])])
            scores[part] = np.add.reduceat(np.abs(GRID * counted - targets), begins)
            start = stop
    return scores


def exceptions_noise(count: int, cost: Cost, unit: Unit) -> float:
    """Standard deviation, in records, of each of `count` scores of `score_exceptions` that split a cost."""
    if cost.pure:
        return math.sqrt(2) * cost.scale(float(unit.max_records * count))
    return cost.sigma(unit.max_records * math.sqrt(count))


def score_exceptions(
    counter: Counter,
    sets: Sequence[AttributeSet],
    of: Sequence[str | None],
    recodes: Sequence[Recodes],
    *,
    cost: Cost,
    gate: Gate,
) -> tuple[NDArray[np.float64], float]:
    """Releases how many records have, in other columns, not what is commonest among those that share one value.

    With n(a, b) the records with value a of the one column and values b of the others, a score is the sum over a of
    n(a) - max over b of n(a, b): 0 where the others follow from the one. Where no column is named, it is the number of
    records that neither have the first value of all columns nor the last of all. A record that joins raises the number
    of records and perhaps one of the terms by 1, so that a score rises by 0 or 1. An individual who joins, leaves or is
    replaced moves each score by at most max_records (docs/proofs/scores.md, S7): L1 of P scores P times, L2 sqrt(P)
    times that.

    Args:
        counter: exact counts.
        sets: for each score the columns, in domain order.
        of: for each score the column of the set that the others are to follow from, or None.
        recodes: for each set the columns that are counted coarsely in it; from public settings or released values.
        cost: what all scores together may spend.
        gate: through which they are released.

    Returns:
        Scores in records, shape (sets,), and the standard deviation of their noise.
    """
    one = float(gate.unit.max_records)
    released = gate.release(
        EXCEPTIONS,
        lambda: _exceptions(counter, sets, of, recodes),
        kind="scores",
        cells=len(sets),
        cost=cost,
        l1=one * len(sets),
        l2=one * math.sqrt(len(sets)),
    )
    return released.values.astype(np.float64), released.sigma


def _exceptions(
    counter: Counter, sets: Sequence[AttributeSet], of: Sequence[str | None], recodes: Sequence[Recodes]
) -> NDArray[np.int64]:
    """The exact scores; consecutive sets that share their coarse maps are counted together."""
    cells = [math.prod(coarse_shape(counter.domain, names, maps)) for names, maps in zip(sets, recodes, strict=True)]
    scores = np.zeros(len(sets), dtype=np.int64)
    start = 0
    while start < len(sets):
        stop, maps = start + 1, recodes[start]
        while stop < len(sets) and recodes[stop] is maps and sum(cells[start : stop + 1]) <= BATCH:
            stop += 1
        for i, table in enumerate(counter.marginals(sets[start:stop], maps), start):
            root = of[i]
            if root is None:
                agree = table.flat[0] + table.flat[-1]
            else:
                first = np.moveaxis(table, sets[i].index(root), 0)
                agree = first.reshape(len(first), -1).max(axis=1).sum()
            scores[i] = table.sum() - agree
        start = stop
    return scores


def shares(cells: NDArray[np.float64], *, pure: bool) -> NDArray[np.float64]:
    """Relative costs that minimise the total expected L1 error of tables with these many cells.

    Gaussian noise: error c / sqrt(rho), hence rho proportional to c^(2/3); Laplace: c / epsilon, hence c^(1/2).
    """
    return np.power(cells, 1 / 2 if pure else 2 / 3)


def noise_error(weight: float, cost: Cost, sensitivity: float) -> float:
    """Expected L1 error of tables whose `shares` add up to `weight` when they split `cost`.

    Args:
        weight: sum of the shares.
        cost: what the tables spend together.
        sensitivity: of one table, L2 for Gaussian noise and L1 for Laplace.
    """
    if cost.pure:
        return float(sensitivity * weight**2 / cost.epsilon)  # mean absolute value of Laplace noise is its scale
    return float(sensitivity * weight**1.5 / math.sqrt(math.pi * cost.rho))  # of Gaussian noise sqrt(2 / pi) sigma


def added_noise(cells: NDArray[np.float64], weight: float, cost: Cost, sensitivity: float) -> NDArray[np.float64]:
    """What tables of these cells would each add to the L1 error of tables with this `weight`; see `noise_error`."""
    power = 2.0 if cost.pure else 1.5
    added: NDArray[np.float64] = noise_error(1.0, cost, sensitivity) * (
        (weight + shares(cells, pure=cost.pure)) ** power - weight**power
    )
    return added


def choose_tables(
    errors: NDArray[np.float64],
    cells: NDArray[np.float64],
    *,
    cost: Cost,
    sensitivity: float,
    noise_factor: float = 1.0,
) -> NDArray[np.intp]:
    """Chooses for each set the table that leaves the least error, noise included. Reads released scores only.

    Steepest descent, one set at a time, on the sum of the errors that are left and the noise of all chosen tables
    under the best split of the cost. With one table a set it is PrivSyn's DenseMarg (Zhang et al. 2021, section
    4.2) that may also take a set back.

    Args:
        errors: (sets, options) L1 error that each option leaves open, in counts; option 0 measures nothing.
        cells: (sets, options) cells of the tables, 0 in option 0. Infinity in either rules an option out.
        cost: what all chosen tables spend together.
        sensitivity: as in `noise_error`.
        noise_factor: of the noise that counts; above 1 chooses fewer.

    Returns:
        The option of every set, shape (sets,).
    """
    share = np.where(cells > 0, shares(cells, pure=cost.pure), 0.0)
    unit = noise_factor * noise_error(1.0, cost, sensitivity)
    power = 2.0 if cost.pure else 1.5
    least = 1e-12 * float(np.abs(errors[:, 0]).sum())  # gains below are rounding, and could go round in circles
    if not len(errors):
        return np.zeros(0, dtype=np.intp)
    return descend(errors, share, unit=unit, power=power, least=least)


def choose_sets(
    gains: NDArray[np.float64], cells: NDArray[np.float64], *, cost: Cost, sensitivity: float, noise_factor: float = 1.0
) -> list[int]:
    """Positions of the sets whose measurement removes more error than its noise adds; see `choose_tables`.

    Args:
        gains: L1 error that measuring each set would remove, in counts.
        cells: cells of each set.
        cost: what all chosen sets spend together.
        sensitivity: as in `noise_error`.
        noise_factor: of the noise that counts; above 1 chooses fewer.
    """
    zeros = np.zeros(len(gains))
    options = choose_tables(
        np.column_stack([gains, zeros]),
        np.column_stack([zeros, cells]),
        cost=cost,
        sensitivity=sensitivity,
        noise_factor=noise_factor,
    )
    return [int(i) for i in np.flatnonzero(options)]
