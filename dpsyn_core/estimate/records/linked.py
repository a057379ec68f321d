"""Record least squares on linked records: children are fitted while their parents and earlier siblings stand. Blind."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.estimate.records.linked_records import LinkedRecords
from dpsyn_core.estimate.records.rls.fit import Pace, proposals_by
from dpsyn_core.estimate.records.rls.tuning import RECORDS, Fitting
from dpsyn_core.progress import Progress, silent

if TYPE_CHECKING:
    from dpsyn_core.estimate.records.linked_kernel import LinkedLayout

Floats = NDArray[np.float64]

MIXED = 4  # times in a sweep that siblings without an order change places; with fewer they share less


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkedAxis:
    """One axis of a table: which cell along it a record has.

    column: of the record; None: the axis looks at the sibling before alone. other: a column that stands, of the same
    record. before: a column of the sibling before. map: axis positions by the values of (before or other, column), or
    of the only column named.
    """

    map: NDArray[np.intp]
    column: int | None = None
    other: int | None = None
    before: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkedTarget:
    """A table that the records should match: axes, values in weights of the synthetic records, sigma in the same."""

    axes: tuple[LinkedAxis, ...]
    values: Floats
    sigma: float

    @property
    def coupled(self) -> bool:
        """Whether it looks at siblings."""
        return any(a.before is not None for a in self.axes)


def laid_out(targets: Sequence[LinkedTarget], first_own: int, columns: int) -> tuple[LinkedLayout, Floats, Floats]:
    """The layout of the tables for the kernel, their values, and the weight of each cell, flat.

    Tables of one record come first.
    """
    from dpsyn_core.estimate.records.linked_kernel import LinkedLayout  # numba is heavy

    targets = sorted(targets, key=lambda t: t.coupled)
    places: dict[tuple[object, ...], int] = {}
    readings: list[tuple[int, ...]] = []
    codes, length, base, axis_ptr, axes = [np.zeros(0, np.uint16)], 0, [], [0], []
    runs: list[dict[int, list[tuple[int, int]]]] = [{} for _ in range(columns - first_own)]
    coupled: list[list[int]] = [[] for _ in range(columns - first_own)]
    cells = 0
    for number, target in enumerate(targets):
        stride = target.values.size
        for axis, size in zip(target.axes, target.values.shape, strict=True):
            stride //= size
            narrow = axis.map.astype(np.uint16)
            key = (axis.column, axis.other, axis.before, narrow.shape, narrow.tobytes())
            if key not in places:
                places[key] = len(readings)
                readings.append(_reading(axis, length))
                codes.append(narrow.ravel())
                length += narrow.size
            axes.append((places[key], stride))
            for c in {axis.column, axis.before} - {None}:
                if c is None or c < first_own:
                    continue
                if not target.coupled:
                    runs[c - first_own].setdefault(places[key], []).append((number, stride))
                elif number not in coupled[c - first_own]:
                    coupled[c - first_own].append(number)
        axis_ptr.append(len(axes))
        base.append(cells)
        cells += target.values.size
    of_run = [run for of_column in runs for run in of_column.items()]
    members = [m for _, listed in of_run for m in listed]
    whole = np.ascontiguousarray(np.array(readings, dtype=np.int64).reshape(-1, 7).T)
    layout = LinkedLayout(
        column=whole[0],
        step=whole[1],
        other=whole[2],
        step_other=whole[3],
        before=whole[4],
        step_before=whole[5],
        ptr=whole[6],
        codes=np.concatenate(codes),
        base=np.array(base, dtype=np.int64),
        weights=np.array([1 / t.sigma**2 for t in targets], dtype=np.float32),
        axis_ptr=np.array(axis_ptr, dtype=np.int64),
        axis_reading=np.array([a[0] for a in axes], dtype=np.int64),
        axis_stride=np.array([a[1] for a in axes], dtype=np.int64),
        run_ptr=np.cumsum([0, *map(len, runs)]),
        run_reading=np.array([g for g, _ in of_run], dtype=np.int64),
        member_ptr=np.cumsum([0, *(len(listed) for _, listed in of_run)]),
        member_table=np.array([t for t, _ in members], dtype=np.int64),
        member_stride=np.array([s for _, s in members], dtype=np.int64),
        coupled_ptr=np.cumsum([0, *map(len, coupled)]),
        coupled_table=np.array([t for of_column in coupled for t in of_column], dtype=np.int64),
        first_coupled=sum(not t.coupled for t in targets),
    )
    goal = np.concatenate([np.zeros(0), *(t.values.ravel() for t in targets)])
    return layout, goal, np.repeat([1 / t.sigma**2 for t in targets], [t.values.size for t in targets])


def _reading(axis: LinkedAxis, ptr: int) -> tuple[int, ...]:
    """column, step, other, step_other, before, step_before, ptr of an axis whose map begins at `ptr`."""
    width = axis.map.shape[-1]  # of the last index of the map: the column's, where there is one
    before = 0 if axis.before is None else width if axis.map.ndim == 2 else 1
    return (
        axis.column or 0,
        int(axis.column is not None),
        axis.other or 0,
        0 if axis.other is None else width,
        axis.before or 0,
        before,
        ptr,
    )


def fit_linked(
    records: LinkedRecords,
    targets: Sequence[LinkedTarget],
    probabilities: Sequence[Floats],
    *,
    pace: Pace,
    rng: Generator,
    progress: Progress = silent,
    tuning: Fitting = RECORDS.fitting,
) -> float:
    """Moves single cells of the children's columns until their weighted counts match the targets; returns F.

    Post-processing. With `pace.shards` above 1, as many threads each take some parents with all their children, and
    answer for an equal part of every residual; what comes out does not depend on which is faster.

    Args:
        records: their rows are changed in place.
        targets: the tables to match.
        probabilities: for each movable column float64 (size,), positive sum: where proposals are drawn from.
        pace: temperatures of the sweeps, proposals in each, and threads.
        rng: for the proposals.
        progress: receives the sweep and F.
        tuning: constants.
    """
    from dpsyn_core.estimate.records.linked_kernel import add_weights, move_linked  # numba is heavy
    from dpsyn_core.estimate.records.rls.kernel import EXPONENTIALS

    layout, goal, weights = laid_out(targets, records.first_own, records.rows.shape[1])
    proposals = proposals_by(probabilities, tuning=tuning)
    exponentials = -np.log((np.arange(EXPONENTIALS) + 0.5) / EXPONENTIALS).astype(np.float32)
    states = [np.array([int(s)], dtype=np.uint64) for s in rng.integers(1, 2**63, size=tuning.threads)]

    def counted() -> NDArray[np.float32]:
        sums = np.zeros(goal.size)
        add_weights(records, records.lags, sums, layout)
        return np.asarray(weights * (sums - goal), dtype=np.float32)

    residuals = counted()

    def move(part: LinkedRecords, own: NDArray[np.float32], temperature: float, state: NDArray[np.uint64]) -> None:
        heat = np.float32(temperature)
        move_linked(part, part.lags, own, layout, proposals, exponentials, heat, pace.repeats, state)

    loss = 0.0
    parts_of_sweep = 1 if records.ordered else min(MIXED, pace.repeats)
    hottest = pace.temperatures[0] if records.ordered else tuning.hot  # warmer, siblings lose what they start with
    pace = replace(
        pace,
        temperatures=tuple(min(t, hottest) for t in pace.temperatures for _ in range(parts_of_sweep)),
        repeats=pace.repeats // parts_of_sweep,
    )
    for number, temperature in enumerate(pace.temperatures, 1):
        if not records.ordered and number > 1:
            records.mixed(rng)
            residuals = counted()
        shards = pace.at(len(pace.temperatures) - number)
        if shards == 1:
            move(records, residuals, temperature, states[0])
        else:
            parts = [records.part(p) for p in _parts(records.coupling, shards)]
            partial = [residuals / np.float32(shards) for _ in parts]
            with ThreadPoolExecutor(shards) as pool:
                list(pool.map(move, parts, partial, [temperature] * shards, states))
            residuals = np.sum(partial, axis=0, dtype=np.float32)
        loss = float(np.sum(np.square(residuals, dtype=np.float64) / weights))
        progress("fitting records", number, len(pace.temperatures), loss)
    return loss


def _parts(coupling: NDArray[np.float32], count: int) -> list[slice]:
    """Ranges of records that each begin with a first child."""
    firsts = np.append(np.flatnonzero(coupling == 0), len(coupling))
    cuts = firsts[np.searchsorted(firsts, np.linspace(0, len(coupling), count + 1).astype(np.int64))]
    return [slice(int(a), int(b)) for a, b in pairwise(cuts)]
