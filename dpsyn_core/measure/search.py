"""Finds, among many attribute sets, those that are not as expected: noisy maxima over groups of sets."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.estimate import Recodes, coarse_shape
from dpsyn_core.measure.gate import Gate
from dpsyn_core.measure.select import GRID
from dpsyn_core.privacy import Cost
from dpsyn_core.schema import AttributeSet, Domain

if TYPE_CHECKING:
    from dpsyn_core.measure.counting.base import Counter

PARTS = 4  # into which a group is divided: 3 and 4 need the fewest answers
BLOCK = 1 << 14  # cells of a table of which many sets are margins
Tables = list[NDArray[np.int64]]


class Margins:
    """Attribute sets as margins of fewer, larger tables, so that records are counted once for many sets. Public."""

    def __init__(self, domain: Domain, sets: Sequence[AttributeSet], recodes: Recodes) -> None:
        """Divides the attributes into runs; the tables are unions of runs, of as many as a set has attributes."""
        self.sets, self.recodes = sets, recodes
        order = max(map(len, sets))
        run, number, length = {}, 0, 1
        for name in domain.names:
            size = coarse_shape(domain, (name,), recodes)[0]
            if length > 1 and length * size > BLOCK ** (1 / order):
                number, length = number + 1, 1
            run[name] = number
            length *= size
        keys = [tuple(sorted({run[n] for n in s})) for s in sets]
        place = {key: i for i, key in enumerate(dict.fromkeys(keys))}
        self.tables = [tuple(n for n in domain.names if run[n] in key) for key in place]
        self.shapes = [coarse_shape(domain, names, recodes) for names in self.tables]
        self.cells = [math.prod(shape) for shape in self.shapes]
        self.held: list[list[int]] = [[] for _ in place]
        for i, key in enumerate(keys):
            self.held[place[key]].append(i)

    @property
    def work(self) -> int:
        """Cells that are read for all sets together."""
        return sum(cells * len(members) for cells, members in zip(self.cells, self.held, strict=True))

    def counts(self, counter: Counter) -> Tables:
        """Exact, of the larger tables."""
        return counter.marginals(self.tables, self.recodes)

    def distances(self, differences: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
        """The L1 norm of each set's margin of whole numbers in the larger tables, int64 (sets,)."""
        from dpsyn_core.measure.counting.kernels import margin_distances  # numba is heavy

        out = np.zeros(len(self.sets), dtype=np.int64)
        for names, table, members in zip(self.tables, differences, self.held, strict=True):
            axis = {n: i for i, n in enumerate(names)}
            axes = np.array([axis[n] for i in members for n in self.sets[i]], dtype=np.int64)
            ptr = np.cumsum([0, *(len(self.sets[i]) for i in members)], dtype=np.int64)
            sums = np.zeros(len(members), dtype=np.int64)
            margin_distances(table.ravel().astype(np.int64), np.array(table.shape, dtype=np.int64), ptr, axes, sums)
            out[members] = sums
        return out


def excesses(
    counter: Counter,
    margins: Sequence[Margins],
    expected: Sequence[Sequence[NDArray[np.float64]]],
    explained: NDArray[np.float64],
) -> NDArray[np.int64]:
    """GRID times what the L1 distance of each set from its expectation is above what explains it. Private.

    Args:
        counter: exact counts.
        margins: whose sets are scored, in turn.
        expected: for each of `margins` what is expected of its tables, in counts, from released values.
        explained: (sets,) part of each distance that is no news, in counts, from released values.
    """
    parts = []
    for margin, target in zip(margins, expected, strict=True):
        differences = [
            GRID * table - np.rint(GRID * e).astype(np.int64)
            for table, e in zip(margin.counts(counter), target, strict=True)
        ]
        parts.append(margin.distances(differences))
    return np.asarray(np.concatenate(parts) - np.rint(GRID * explained).astype(np.int64))


def search_sets(
    scores: Callable[[], NDArray[np.int64]], count: int, *, cost: Cost, least: float, most: int, gate: Gate, name: str
) -> tuple[dict[int, float], int]:
    """Finds the scores above `least`, by noisy maxima over groups of them.

    The largest of all scores is released, then those of PARTS parts of each group that shows one, down to single
    scores. A maximum of numbers that an individual moves by at most so much moves by no more, however many there are:
    each answer has the sensitivity of one score (docs/proofs/scores.md), so that nothing is paid for the number of
    scores but its logarithm, and where there is nothing to find, one answer tells so.

    Args:
        scores: called after the first charge; int64 (count,), each moved by an individual by at most GRID times the L1
            sensitivity of a table, such as `excesses`.
        count: of scores, at least 1; public.
        cost: of one answer.
        least: score, in counts, above which a group is looked into.
        most: answers, at most.
        gate: through which they are released.
        name: what the charges are called.

    Returns:
        The noisy value of each score above `least`, in counts, by its position; and the number of answers.
    """
    exact: Tables = []
    one = GRID * gate.unit.l1()

    def largest(groups: Sequence[range]) -> NDArray[np.int64]:
        if not exact:
            exact.append(scores())
        return np.array([exact[0][g.start : g.stop].max() for g in groups])

    out: dict[int, float] = {}
    groups, asked = [range(count)], 0
    while groups and asked < most:
        released = gate.release(
            name,
            partial(largest, groups),
            kind="scores",
            cells=len(groups),
            cost=cost.scaled(len(groups)),
            l1=one * len(groups),
            l2=one * math.sqrt(len(groups)),
        )
        asked += len(groups)
        values = released.values / GRID
        shown = [i for i in np.argsort(-values, kind="stable") if values[i] > least]
        out |= {groups[i].start: float(values[i]) for i in shown if len(groups[i]) == 1}
        wide = [groups[i] for i in shown if len(groups[i]) > 1][: max(most - asked, 0) // PARTS]
        groups = [part for g in sorted(wide, key=lambda g: g.start) for part in _parts(g)]
    return out, asked


def _parts(group: range) -> list[range]:
    """A group in PARTS consecutive ones of nearly equal length, or single ones."""
    ends = np.linspace(group.start, group.stop, min(PARTS, len(group)) + 1).astype(int).tolist()
    return [range(a, b) for a, b in itertools.pairwise(ends)]
