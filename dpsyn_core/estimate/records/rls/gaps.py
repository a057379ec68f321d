"""Differences of a number between categories at their full size, which shrinking the cells of their table takes away.

Shrinking is right for the error of cells and wrong for their sums: every difference comes out too small. The sum of
normal scores in a category is one linear functional of its noisy counts, whose noise follows. Where these sums stand
out of their noise, the shrunk counts of each category are tilted until they have them. Blind.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.estimate.records.copula import hand_out, mean_scores
from dpsyn_core.estimate.records.rls.fit import Target
from dpsyn_core.estimate.records.rls.placement import Number, told_apart

Floats = NDArray[np.float64]
ROUNDS = 30  # of Newton's method; it stops when all sums are met
NEAR = 1e-6  # of the records: sums as near as that are met
BACKFITS = 4  # rounds; effects of a few categories change no more then (convention)
STEEPEST = 3.0  # a tilt by more multiplies the ends of a column by e^6 and more, and is noise (convention)


def coarse_scores(counts: Floats, recode: NDArray[np.intp]) -> tuple[Floats, float]:
    """Mean normal score of each coarse value of a number, and the part of the variance of scores that these keep.

    Args:
        counts: float64 (values,), non-negative counts of the values in order.
        recode: (values,), the coarse value of each, in order.
    """
    fine = mean_scores(counts / max(float(counts.sum()), 1e-9))
    mass = np.bincount(recode, counts)
    scores = np.divide(np.bincount(recode, counts * fine), mass, out=np.zeros(len(mass)), where=mass > 0)
    whole = float(counts @ fine**2)
    return scores, float(mass @ scores**2) / whole if whole > 0 else 1.0


def with_gaps(clean: Floats, values: Floats, scores: Floats, kept: float, sigma: float) -> Floats:
    """A shrunk table with the sums of normal scores that its noisy counts show, column by column.

    The sums of all columns are drawn from those of the shrunk table towards those of the noisy one: wholly where their
    squares are many times what noise alone would give, not at all where they are less. Coarse values keep a part of the
    variance of scores, by which sums are scaled up. A column is tilted exponentially in the score, and keeps its
    records.

    Args:
        clean: float64 (r, c), counts without most of their noise; rows are coarse values of a number in order.
        values: float64 (r, c), the noisy counts.
        scores: float64 (r,), of the rows; see `coarse_scores`.
        kept: part of the variance of scores that the rows keep, above 0.
        sigma: standard deviation of the noise of a count.
    """
    clean = np.maximum(clean, 0.0)
    columns = clean.sum(axis=0)
    total, shown, current = float(columns.sum()), scores @ values, scores @ clean
    if total <= 0 or min(clean.shape) < 2:
        return clean
    noise = sigma**2 * float(scores @ scores)  # variance of a shown sum
    spread = columns**2 * max(float(shown @ shown) - noise * len(columns), 0.0) / float(columns @ columns)
    part = np.sqrt(np.divide(spread, spread + noise, out=np.zeros_like(spread), where=spread > 0))
    return tilted(clean, scores, current + part * (shown / kept - current))


def tilted(clean: Floats, scores: Floats, goal: Floats) -> Floats:
    """The table with each column tilted exponentially in the score of its rows, to these sums of scores (c,)."""
    columns = clean.sum(axis=0)
    total = float(columns.sum())
    inverse = np.divide(1.0, columns, out=np.zeros_like(columns), where=columns > 0)
    tilt, out = np.zeros(len(columns)), clean
    for _ in range(ROUNDS):
        off = goal - scores @ out
        spread = scores**2 @ out - (scores @ out) ** 2 * inverse
        step = np.divide(off, spread, out=np.zeros_like(off), where=spread > NEAR * total)
        if (np.abs(off) <= NEAR * total).all():
            break
        tilt = np.clip(tilt + np.clip(step, -1.0, 1.0), -STEEPEST, STEEPEST)
        scaled = clean * np.exp(np.outer(scores, tilt))
        out = scaled * np.divide(columns, scaled.sum(axis=0), out=np.zeros_like(columns), where=columns > 0)
    return out


def gaps_of(table: Floats, fitted: Floats) -> Floats:
    """An average table of a number (rows) and a category, with the mean normal scores that fitted counts have."""
    columns, scores = table.sum(axis=0), mean_scores(table.sum(axis=1) / max(float(table.sum()), NEAR))
    means = np.divide(scores @ fitted, fitted.sum(axis=0), out=np.zeros(len(columns)), where=fitted.sum(axis=0) > 0)
    return tilted(table, scores, means * columns)


def place_by_category(
    rows: NDArray[np.uint16],
    targets: Sequence[Target],
    one_ways: Sequence[Floats],
    numbers: Sequence[Number],
    *,
    rng: Generator,
) -> None:
    """Hands out the fine values of numbers inside their coarse values by category; `rows` is changed in place.

    In a category whose mean is high, values are higher inside each coarse value as well: the tail of a number lies in
    one coarse value, and its mean in a category hangs on it. The normal score of each record is moved by the mean
    scores of its categories times the variance of scores inside its coarse value, as a common normal law has it, and
    the values of a coarse value are handed out in this order. No measured table and no one-way changes.

    Args:
        rows: uint16 (n_records, n_attributes), fitted codes.
        targets: the tables that they were fitted to.
        one_ways: for each attribute float64 (its size,), released counts.
        numbers: which attributes are numbers.
        rng: for the order of equal values.
    """
    from scipy.special import ndtri  # scipy is heavy, and systems are imported by every page

    for number in numbers:
        boxes = told_apart(targets, number.place, number.ranked)
        tables = [t for t in targets if len(t.attributes) == 2 and number.place in t.attributes]
        tables = [t for t in tables if not any(n.place in t.attributes for n in numbers if n is not number)]
        inside = np.flatnonzero(rows[:, number.place] < number.ranked)
        if int(boxes.max()) + 1 == number.ranked or not tables or not len(inside):
            continue
        counts = np.maximum(one_ways[number.place][: number.ranked], 0.0)
        shift = _shifts(rows[inside], tables, counts, number)
        column = rows[inside, number.place]
        order = np.lexsort((rng.random(len(column)), column))
        score = np.empty(len(column))
        score[order] = ndtri((np.arange(len(column)) + 0.5) / len(column))
        box = boxes[column]
        sizes = np.maximum(np.bincount(box), 1)
        mean = np.bincount(box, score) / sizes
        spread = np.maximum(np.bincount(box, score**2) / sizes - mean**2, 0.0)
        hand_out(column, box, score + shift * spread[box])
        rows[inside, number.place] = column


def _shifts(rows: NDArray[np.uint16], tables: Sequence[Target], counts: Floats, number: Number) -> Floats:
    """For each record how steeply the share of its categories grows with the score, where its coarse value lies.

    Categories that depend on each other tell the same in part, which is taken off in turn (backfitting).
    """
    codes, targets = [], []
    for t in tables:
        axis = t.attributes.index(number.place)
        recode = t.maps[axis][: number.ranked]
        scores, _ = coarse_scores(counts, recode)
        slopes = steepness(np.maximum(np.moveaxis(t.values, axis, 0)[: len(scores)], 0.0), scores)
        targets.append(slopes.ravel())
        codes.append(
            recode[rows[:, number.place]] * slopes.shape[1] + t.maps[1 - axis][rows[:, t.attributes[1 - axis]]]
        )
    effects = [np.zeros(len(w)) for w in targets]
    whole = np.zeros(len(rows))
    for _ in range(BACKFITS):
        for k, (code, goal) in enumerate(zip(codes, targets, strict=True)):
            sizes = np.maximum(np.bincount(code, minlength=len(goal)), 1)
            gaps = goal - np.bincount(code, whole - effects[k][code], minlength=len(goal)) / sizes
            whole += (gaps - effects[k])[code]
            effects[k] = gaps
    return whole


def steepness(values: Floats, scores: Floats) -> Floats:
    """How steeply the logarithm of each column's share of a row grows with the score, by row, (r, c).

    The shares are those of a normal law in each column: quadratic in the score, with the mean and the mean square of
    scores that the column has.

    Args:
        values: float64 (r, c), non-negative counts.
        scores: float64 (r,), of the rows.
    """
    rows, columns = values.sum(axis=1), values.sum(axis=0)
    design = np.stack([scores, scores**2])
    design = design - (design @ rows / max(float(rows.sum()), NEAR))[:, None]
    out = np.zeros_like(values)
    for c in np.flatnonzero(columns > 0):
        tilt, goal = np.zeros(2), design @ values[:, c] / columns[c]
        for _ in range(ROUNDS):
            p = rows * np.exp(tilt @ design - float((tilt @ design).max()))
            p /= p.sum()
            mean = design @ p
            if float(np.abs(goal - mean).max()) <= NEAR:
                break
            spread = (design * p) @ design.T - np.outer(mean, mean) + NEAR * np.eye(2)
            tilt = np.clip(tilt + np.clip(np.linalg.solve(spread, goal - mean), -1, 1), -STEEPEST, STEEPEST)
        out[:, c] = tilt[0] + 2 * tilt[1] * scores
    return np.clip(out, -STEEPEST, STEEPEST)
