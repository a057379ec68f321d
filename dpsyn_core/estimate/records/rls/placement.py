"""Places numbers inside the coarse values that pairs were measured at, after the fit. Blind.

Pairs of numbers are measured at coarse values. Which fine value inside a coarse one a record gets is open, and the
fit leaves it to chance. Here a Gaussian copula is read off the released tables, and the fine values that a column
holds inside a coarse one are handed out in the order of normal scores drawn from it. No measured table and no one-way
changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.estimate.records.copula import STRONGEST, TINY, hand_out, mean_scores, normal_scores
from dpsyn_core.estimate.records.rls.fit import Target

Floats = NDArray[np.float64]
CHANCE = 3.0  # standard deviations of a correlation of independent records, below which it counts as none
NODES = 24  # quadrature points inside a coarse value


@dataclass(frozen=True, kw_only=True, slots=True)
class Number:
    """An attribute whose values are numbers. place: its position in a record. ranked: how many values have order."""

    place: int
    ranked: int


class Copula:
    """The Gaussian copulas of two columns with given shares of their cells, one for each correlation."""

    def __init__(self, rows: Floats, columns: Floats) -> None:
        """rows, columns: float64, positive shares of the cells in order, which add up to 1 each."""
        from scipy.special import ndtri  # scipy is heavy, and systems are imported by every page

        self._rows = rows
        self._edges = ndtri(np.clip(np.concatenate([[0.0], np.cumsum(columns)]), TINY, 1 - TINY))
        low = np.concatenate([[0.0], np.cumsum(rows)[:-1]])
        nodes = (np.arange(NODES) + 0.5) / NODES
        self._scores = ndtri(np.clip(low[:, None] + rows[:, None] * nodes, TINY, 1 - TINY))

    def shares(self, correlation: float) -> Floats:
        """Shares of the cells of the pair, shape (rows, columns), at a correlation between -1 and 1."""
        from scipy.special import ndtr

        r = correlation
        upto = ndtr((self._edges - r * self._scores[:, :, None]) / np.sqrt(1 - r * r)).mean(axis=1)
        out: Floats = self._rows[:, None] * np.diff(upto, axis=1)
        return out

    def nearest(self, table: Floats) -> float:
        """The correlation whose shares are nearest to those of a table, by least squares on its cells."""
        from scipy.optimize import minimize_scalar

        def misfit(strength: float) -> float:
            return float(((self.shares(float(np.tanh(strength))) - table) ** 2).sum())

        top = float(np.arctanh(STRONGEST))
        minimum = minimize_scalar(misfit, bounds=(-top, top), method="bounded", options={"xatol": 2e-3})
        return float(np.tanh(minimum.x))


def correlation(values: Floats, rows: Floats, columns: Floats) -> float:
    """The correlation of the Gaussian copula that is nearest to a table, by least squares on its cells.

    Args:
        values: float64 (r, c), counts, at least 2 each way; rows and columns in order.
        rows: float64 (r,), positive counts of the rows alone.
        columns: float64 (c,), those of the columns.
    """
    return Copula(rows / rows.sum(), columns / columns.sum()).nearest(values / max(float(values.sum()), 1e-9))


def place_numbers(
    rows: NDArray[np.uint16],
    targets: Sequence[Target],
    one_ways: Sequence[Floats],
    numbers: Sequence[Number],
    *,
    rng: Generator,
) -> None:
    """Hands out the fine values of numbers inside their coarse values; `rows` is changed in place.

    Args:
        rows: uint16 (n_records, n_attributes), fitted codes.
        targets: the tables that they were fitted to.
        one_ways: for each attribute float64 (its size,), released counts.
        numbers: which attributes are numbers.
        rng: for the normal scores.
    """
    at = {number.place: i for i, number in enumerate(numbers)}
    matrix = _correlations(targets, one_ways, numbers, at)
    used = [i for i in range(len(numbers)) if np.count_nonzero(matrix[i]) > 1]
    boxes = _boxes(targets, numbers, at)
    if not any(int(boxes[i].max()) + 1 < numbers[i].ranked for i in used):
        return
    cells: list[NDArray[np.intp]] = []
    counts: list[Floats] = []
    for i in used:
        codes = rows[:, numbers[i].place].astype(np.intp)
        ranked = codes < numbers[i].ranked
        cells.append(np.where(ranked, boxes[i][np.where(ranked, codes, 0)], -1).astype(np.intp))
        sizes = np.maximum(one_ways[numbers[i].place][: numbers[i].ranked], 0.0)
        counts.append(np.bincount(boxes[i], weights=sizes).astype(np.float64))
    matrix_used, of_rows = matrix[np.ix_(used, used)], correlations_of(cells, [len(c) for c in counts])
    matrix = matrix.copy()
    matrix[np.ix_(used, used)] = np.where(matrix_used == 0, of_rows, matrix_used)
    scores = np.empty((len(used), len(rows)), dtype=np.float32)
    for part, drawn in normal_scores(cells, counts, matrix[np.ix_(used, used)], rng=rng):
        scores[:, part] = drawn
    for cell, i, score in zip(cells, used, scores, strict=True):
        keys = _keys(rows, targets, numbers[i].place, at)
        inside = np.flatnonzero(cell >= 0)
        column = rows[inside, numbers[i].place]
        hand_out(column, cell[inside] * (int(keys.max(initial=0)) + 1) + keys[inside], score[inside])
        rows[inside, numbers[i].place] = column


def correlations_of(cells: Sequence[NDArray[np.intp]], sizes: Sequence[int]) -> Floats:
    """Correlations of the copula that the cells of records show, for pairs of numbers that no table holds.

    Two numbers that a third one depends on are taken to depend on each other by a fit that knows no better. Normal
    scores that knew nothing of it would make up for it by moving the third.

    Args:
        cells: for each number the cell of each record in order, -1 where it has none.
        sizes: how many cells each has.
    """
    n = len(cells[0]) if cells else 0
    middles, kept = np.zeros((len(cells), n), dtype=np.float32), np.ones(len(cells))
    for i, (cell, size) in enumerate(zip(cells, sizes, strict=True)):
        mass = np.bincount(cell[cell >= 0], minlength=size).astype(np.float64)
        share = mass / max(float(mass.sum()), 1.0)
        mean = mean_scores(share)
        middles[i] = np.where(cell >= 0, mean[np.maximum(cell, 0)], 0.0)
        kept[i] = max(float(share @ mean**2), TINY)
    matrix = np.clip((middles @ middles.T) / max(n, 1) / np.outer(kept, kept), -STRONGEST, STRONGEST)
    np.fill_diagonal(matrix, 1.0)
    out: Floats = np.where(np.abs(matrix) < CHANCE / np.sqrt(max(n, 1)), 0.0, matrix).astype(np.float64)
    return out


def told_apart(targets: Sequence[Target], place: int, ranked: int) -> NDArray[np.intp]:
    """For each value in order of an attribute the values that all tables with others count together with it."""
    cells = np.zeros(ranked, dtype=np.intp)
    for target in targets:
        if len(target.attributes) > 1 and place in target.attributes:
            recode = target.maps[target.attributes.index(place)][:ranked]
            cells = np.unique(cells * (int(recode.max()) + 1) + recode, return_inverse=True)[1]
    return cells


def _boxes(targets: Sequence[Target], numbers: Sequence[Number], at: dict[int, int]) -> list[NDArray[np.intp]]:
    """For each number the coarse value of each value: the finest that its tables with other numbers tell apart."""
    of_numbers = [t for t in targets if sum(place in at for place in t.attributes) > 1]
    return [told_apart(of_numbers, number.place, number.ranked) for number in numbers]


def _keys(rows: NDArray[np.uint16], targets: Sequence[Target], place: int, at: dict[int, int]) -> NDArray[np.int64]:
    """For each record a number for the categories that a table holds together with this attribute.

    Values that move among records with the same key change no such table.
    """
    keys = np.zeros(len(rows), dtype=np.int64)
    for target in targets:
        if place in target.attributes:
            for other, recode in zip(target.attributes, target.maps, strict=True):
                if other not in at:
                    joined = keys * (int(recode.max()) + 1) + recode[rows[:, other]]
                    keys = np.unique(joined, return_inverse=True)[1]
    return keys


def _correlations(
    targets: Sequence[Target], one_ways: Sequence[Floats], numbers: Sequence[Number], at: dict[int, int]
) -> Floats:
    """Correlations (numbers, numbers) of the copula, from what was measured of two numbers; 0 where nothing was.

    A table of two numbers comes before the sums of a larger one that holds these two and no other number. A value with
    a separate cell behind those in order says nothing of the order.
    """
    matrix = np.eye(len(numbers))
    for target in sorted(targets, key=lambda t: -len(t.attributes)):
        axes = [k for k, a in enumerate(target.attributes) if a in at and not target.firm]
        if len(axes) != 2:
            continue
        i, j = (at[target.attributes[k]] for k in axes)
        maps = [target.maps[k] for k in axes]
        values = target.values.sum(axis=tuple(k for k in range(len(target.attributes)) if k not in axes))
        sizes = [int(m[numbers[k].ranked - 1]) + 1 for k, m in zip((i, j), maps, strict=True)]
        sides = [
            np.bincount(m[: numbers[k].ranked], weights=one_ways[a][: numbers[k].ranked], minlength=size)[:size]
            for k, a, m, size in zip((i, j), [target.attributes[x] for x in axes], maps, sizes, strict=True)
        ]
        if min(sizes) > 1 and min(float(s.sum()) for s in sides) > 0:
            estimate = correlation(values[: sizes[0], : sizes[1]], *(np.maximum(s, 1e-6) for s in sides))
            matrix[i, j] = matrix[j, i] = estimate
    return matrix
