"""Record least squares: fits records to weighted marginals by annealed single-cell moves. Blind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.errors import SizeError
from dpsyn_core.estimate.records.rls.tuning import RECORDS, Fitting
from dpsyn_core.progress import Progress, silent

if TYPE_CHECKING:
    from dpsyn_core.estimate.records.rls.kernel import Alias

MAX_VALUES = 65_536  # codes are uint16


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """A table that the records should match.

    attributes: positions in a record. maps: for each of them, an integer array of shape (its size,) from value to
    axis position. values: float64, one axis an attribute, in counts of the synthetic table. sigma: standard
    deviation of a cell in the same counts; the weight is 1 / sigma^2. empty: bool, of the shape of values, cells that
    are kept without records; None: none is. firm: whether no record may leave its cell, whatever it would gain.
    """

    attributes: tuple[int, ...]
    maps: tuple[NDArray[np.intp], ...]
    values: NDArray[np.float64]
    sigma: float
    empty: NDArray[np.bool_] | None = None
    firm: bool = False

    @property
    def joins(self) -> bool:
        """Whether it was measured, and is over several attributes."""
        return len(self.attributes) > 1 and not self.firm

    def goal(self, below: float) -> NDArray[np.float64]:
        """The values, and so many standard deviations below 0 where cells are empty: each record there costs more.

        No record can leave an empty cell, so that nothing else is moved by it.
        """
        return self.values if self.empty is None else np.where(self.empty, -below * self.sigma, self.values)


@dataclass(frozen=True, kw_only=True, slots=True)
class Fitted:
    """Records of shape (n_records, n_attributes), and F after every sweep, the start first."""

    rows: NDArray[np.uint16]
    history: tuple[float, ...]


def _numbers(values: Iterable[int]) -> NDArray[np.uint32]:
    return np.fromiter(values, dtype=np.uint32)


def _starts(lengths: Iterable[int]) -> NDArray[np.uint32]:
    """Where parts of these lengths start in a flat array, and where the last one ends."""
    return _numbers(accumulate(lengths, initial=0))


class Plan:
    """Targets laid out flat for the kernels."""

    def __init__(self, sizes: Sequence[int], targets: Sequence[Target], *, tuning: Fitting = RECORDS.fitting) -> None:
        """Lays out codes, cells and weights; nothing is counted yet.

        Raises:
            SizeError: an attribute has more values than a 16-bit code holds.
        """
        if max(sizes, default=1) > MAX_VALUES:
            msg = f"an attribute has {max(sizes)} values, above the cap of {MAX_VALUES}; use coarser bins"
            raise SizeError(msg)
        from dpsyn_core.estimate.records.rls.kernel import Layout  # numba is heavy

        self.tuning = tuning
        readings: dict[tuple[int, bytes], int] = {}
        codes: list[NDArray[np.uint16]] = []
        ptr, axes, base = [0], [], []
        runs: list[list[tuple[int, list[tuple[int, int]]]]] = [[] for _ in sizes]
        cells = 0
        for number, target in enumerate(targets):
            stride = target.values.size
            for j, recode, size in zip(target.attributes, target.maps, target.values.shape, strict=True):
                stride //= size
                narrow = np.asarray(recode, dtype=np.uint16)
                reading = readings.setdefault((j, narrow.tobytes()), len(codes))
                if reading == len(codes):
                    codes.append(narrow)
                axes.append((reading, stride))
                if not runs[j] or runs[j][-1][0] != reading:
                    runs[j].append((reading, []))
                runs[j][-1][1].append((number, stride))
            ptr.append(len(axes))
            base.append(cells)
            cells += target.values.size
        weights = np.array([1 / t.sigma**2 for t in targets], dtype=np.float32)
        self.goal = np.concatenate([np.zeros(0), *(t.goal(tuning.below_empty).ravel() for t in targets)])
        self.cell_weight = np.repeat(weights, [t.values.size for t in targets])
        in_order = [run for of_attribute in runs for run in of_attribute]
        members = [member for _, tables in in_order for member in tables]
        self.layout = Layout(
            reading_attribute=_numbers(j for j, _ in readings),
            reading_ptr=_starts(map(len, codes))[:-1],
            codes=np.concatenate([np.zeros(0, np.uint16), *codes]),
            table_base=_numbers(base),
            weights=weights,
            axis_ptr=_numbers(ptr),
            axis_reading=_numbers(a[0] for a in axes),
            axis_stride=_numbers(a[1] for a in axes),
            run_ptr=_starts(map(len, runs)),
            run_reading=_numbers(reading for reading, _ in in_order),
            member_ptr=_starts(len(tables) for _, tables in in_order),
            member_table=_numbers(m[0] for m in members),
            member_stride=_numbers(m[1] for m in members),
        )

    def counts(self, rows: NDArray[np.uint16], times: NDArray[np.int32] | None = None) -> NDArray[np.int32]:
        """Counts of the records in the cells of all targets, flat; each counts once, or `times` times."""
        from dpsyn_core.estimate.records.rls.kernel import add_counts, room  # numba is heavy

        if times is None:
            times = np.ones(len(rows), dtype=np.int32)
        counted = np.zeros(self.goal.size, dtype=np.int32)
        threads = self.tuning.threads
        if len(rows) < self.tuning.threaded_records:  # starting a thread takes longer than counting a small table
            add_counts(rows, times, counted, self.layout, *room(self.layout))
            return counted
        totals = [counted, *(np.zeros_like(counted) for _ in range(threads - 1))]

        def count(part: NDArray[np.uint16], often: NDArray[np.int32], held: NDArray[np.int32]) -> None:
            add_counts(part, often, held, self.layout, *room(self.layout))

        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(count, np.array_split(rows, threads), np.array_split(times, threads), totals))
        whole: NDArray[np.int32] = np.sum(totals, axis=0, dtype=np.int32)
        return whole

    def residuals(self, rows: NDArray[np.uint16], counts: NDArray[np.int32] | None = None) -> NDArray[np.float32]:
        """Weight times (count - target), flat; counts: of the records, computed where None."""
        counts = self.counts(rows) if counts is None else counts
        residuals: NDArray[np.float32] = (self.cell_weight * (counts - self.goal)).astype(np.float32)
        return residuals

    def loss(self, residuals: NDArray[np.float32]) -> float:
        """F: the weighted sum of squares."""
        return float(np.sum(np.square(residuals, dtype=np.float64) / self.cell_weight))


def proposals_by(probabilities: Sequence[NDArray[np.float64]], *, tuning: Fitting = RECORDS.fitting) -> Alias:
    """Values to propose: by the given probabilities, but for a part (`Fitting.any_value`) any value they hold.

    That part lets rare values come; `lift` keeps them as rare as their probabilities say.
    """
    from dpsyn_core.estimate.records.rls.kernel import Alias, alias_table  # numba is heavy

    ptr = _starts(map(len, probabilities))
    keep, other, lift = (np.zeros(ptr[-1], dtype=kind) for kind in (np.float32, np.uint32, np.float32))
    for j, p in enumerate(probabilities):
        part, held, wanted = slice(ptr[j], ptr[j + 1]), p > 0, p / p.sum()
        mixed = (1 - tuning.any_value) * wanted + tuning.any_value * held / np.count_nonzero(held)
        alias_table(mixed / mixed.sum(), keep[part], other[part])
        lift[part][held] = np.log(wanted[held] / mixed[held])
    return Alias(ptr, keep, other, lift)


class Course:
    """Targets and proposals, laid out once for any number of walks."""

    def __init__(
        self,
        targets: Sequence[Target],
        probabilities: Sequence[NDArray[np.float64]],
        *,
        tuning: Fitting = RECORDS.fitting,
    ) -> None:
        """Lays them out; arguments as in `fit_records`."""
        self.tuning = tuning
        self.plan = Plan([len(p) for p in probabilities], targets, tuning=tuning)
        self.proposals = proposals_by(probabilities, tuning=tuning)

    def towards(self, goal: NDArray[np.float64]) -> Course:
        """The same towards other values of the targets, flat, in their order."""
        other = copy(self)
        other.plan = copy(self.plan)
        other.plan.goal = goal
        return other


@dataclass(frozen=True, kw_only=True, slots=True)
class Pace:
    """How a fit is paced: temperature of each sweep, proposals to a cell in one sweep, and threads (`shards`)."""

    temperatures: tuple[float, ...]
    repeats: int
    shards: int = 1

    def at(self, left: int) -> int:
        """Threads of a sweep: one in the last two where that is cheap, which correct what parts left open."""
        return 1 if left < 2 and self.repeats > 1 else self.shards


def cooling(sweeps: int, hot: float | None = None, *, tuning: Fitting = RECORDS.fitting) -> tuple[float, ...]:
    """Temperatures of the sweeps: falling in equal ratios, then two at 0; all at 0 when sweeps are few."""
    warm = sweeps - tuning.cold_sweeps if sweeps > tuning.fewest_sweeps else 0
    first = tuning.hot if hot is None else hot
    return (*(float(t) for t in np.geomspace(first, tuning.cold, warm)), *([0.0] * (sweeps - warm)))


def proposals_of(visits: float, tuning: Fitting = RECORDS.fitting) -> float:
    """Proposals to a cell of a fit in which one proposal to every cell visits this many cells of tables."""
    visits = max(1.0, visits)
    usual = min(tuning.usual_proposals, max(tuning.fewest_proposals, tuning.most_visits / visits))
    return max(usual, min(tuning.cheap_visits / visits, tuning.most_proposals))


def schedule(
    n_records: int,
    n_attributes: int,
    targets: Sequence[Target],
    *,
    effort: float = 1.0,
    tuning: Fitting = RECORDS.fitting,
) -> Pace:
    """A pace whose work is bounded: 32 proposals to a cell, more where that is cheap, 3 where records are many.

    The error of a fit to noisy targets hardly changes beyond 32: there, noise outweighs what moves can still gain.
    Small tables have precise targets at high budgets, and time to spare. Larger sets than pairs do not count: with
    fewer proposals for their sake, pairs would fit worse than alone.
    """
    places = sum(len(t.attributes) for t in targets if len(t.attributes) <= 2 and not t.firm)
    proposals = max(1, round(effort * proposals_of(n_records * (n_attributes + places), tuning)))
    repeats = proposals // min(proposals, tuning.sweeps)
    noise = [t.sigma for t in targets if t.joins]
    hot = tuning.hot
    if noise:
        hot = float(np.clip(tuning.fluctuation**2 / np.median(noise) ** 2, tuning.hot, tuning.hottest))
    temperatures = cooling(proposals // repeats, hot, tuning=tuning)  # eight sweeps, or more where some are left over
    shards = tuning.threads if n_records >= tuning.threaded_records else 1
    return Pace(temperatures=temperatures, repeats=repeats, shards=shards)


class Walk:
    """Records on their way: single-cell moves that keep the residuals of all targets up to date."""

    def __init__(
        self, rows: NDArray[np.uint16], course: Course, *, rng: Generator, counts: NDArray[np.int32] | None = None
    ) -> None:
        """Counts the records once, unless `Plan.counts` of them are given; `rows` is changed in place from here on."""
        from dpsyn_core.estimate.records.rls.kernel import EXPONENTIALS  # numba is heavy

        self.rows = rows
        self.plan = course.plan
        self.residuals = self.plan.residuals(rows, counts)
        self.loss = self.plan.loss(self.residuals)
        self._proposals = course.proposals
        self._exponentials = -np.log((np.arange(EXPONENTIALS) + 0.5) / EXPONENTIALS).astype(np.float32)
        self._states = [np.array([int(s)], dtype=np.uint64) for s in rng.integers(1, 2**63, size=course.tuning.threads)]

    def sweep(self, temperature: float, repeats: int, *, shards: int = 1) -> float:
        """Visits every record once, with `repeats` proposals to each of its cells; returns F.

        With shards, as many threads each take a part of the records and answer for an equal part of every residual,
        as if that part had separate targets; their residuals then add up to those of the whole. The outcome
        depends on the number of shards and not on the order in which the threads run.
        """
        if shards == 1:
            change = self._moves(self.rows, self.residuals, temperature, repeats, 0)
            self.loss = max(self.loss + 2 * change, 0.0)
            return self.loss
        parts = np.array_split(self.rows, shards)
        residuals = [self.residuals / np.float32(shards) for _ in parts]
        with ThreadPoolExecutor(shards) as pool:
            list(pool.map(self._moves, parts, residuals, [temperature] * shards, [repeats] * shards, range(shards)))
        self.residuals = np.sum(residuals, axis=0, dtype=np.float32)
        self.loss = self.plan.loss(self.residuals)
        return self.loss

    def _moves(
        self, rows: NDArray[np.uint16], residuals: NDArray[np.float32], temperature: float, repeats: int, shard: int
    ) -> float:
        from dpsyn_core.estimate.records.rls.kernel import move_cells, room  # numba is heavy

        layout, state, heat = self.plan.layout, self._states[shard], np.float32(temperature)
        change, _ = move_cells(
            rows, residuals, layout, self._proposals, self._exponentials, heat, repeats, state, *room(layout)
        )
        return float(change)


def fit_records(
    rows: NDArray[np.uint16],
    targets: Sequence[Target],
    probabilities: Sequence[NDArray[np.float64]],
    *,
    pace: Pace,
    rng: Generator,
    progress: Progress = silent,
    tuning: Fitting = RECORDS.fitting,
) -> Fitted:
    """Moves single cells of the records until their counts match the targets as well as their weights ask.

    Post-processing: it is handed released values only, and starts from `rows`, which must come from them too.

    Args:
        rows: uint16 (n_records, n_attributes), codes; changed in place.
        targets: the tables to match.
        probabilities: for each attribute float64 (its size,), positive sum: where proposals are drawn from.
        pace: temperatures of the sweeps, proposals in each, and threads.
        rng: for the proposals; the same state gives the same records.
        progress: receives the sweep and F.
        tuning: constants.

    Returns:
        The records and F after every sweep.
    """
    return follow(rows, Course(targets, probabilities, tuning=tuning), pace=pace, rng=rng, progress=progress)


def follow(
    rows: NDArray[np.uint16],
    course: Course,
    *,
    pace: Pace,
    rng: Generator,
    progress: Progress = silent,
    counts: NDArray[np.int32] | None = None,
) -> Fitted:
    """As `fit_records`, on a course that is laid out already. counts: `Plan.counts` of the records; None: computed."""
    walk = Walk(rows, course, rng=rng, counts=counts)
    history = [walk.loss]
    for number, temperature in enumerate(pace.temperatures, 1):
        history.append(walk.sweep(temperature, pace.repeats, shards=pace.at(len(pace.temperatures) - number)))
        progress("fitting records", number, len(pace.temperatures), history[-1])
    return Fitted(rows=rows, history=tuple(history))
