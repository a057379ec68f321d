"""Differences of a number between categories at their full size, which shrinking the cells of their table takes away.

Shrinking is right for the error of cells and wrong for their sums: every difference comes out too small. The sum of
normal scores in a category is one linear functional of its noisy counts, and its noise is known. Where these sums stand
out of their noise, the shrunk counts of each category are tilted until they have them. Blind.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.records.copula import mean_scores

Floats = NDArray[np.float64]
ROUNDS = 30  # of Newton's method; it stops when all sums are met
NEAR = 1e-6  # of the records: sums as near as that are met
STEEPEST = 3.0  # a tilt by more multiplies the ends of a column by e^6 and more, and is noise (convention)


def coarse_scores(counts: Floats, recode: NDArray[np.intp]) -> tuple[Floats, float]:
    """Mean normal score of each coarse value of a number, and the part of the variance of scores that these keep.

    Args:
        counts: float64 (values,), non-negative counts of the values in order.
        recode: (values,), the coarse value of each, in order.
    """
    fine = mean_scores(counts / max(float(counts.sum()), 1e-9))
    held = np.bincount(recode, counts)
    scores = np.divide(np.bincount(recode, counts * fine), held, out=np.zeros(len(held)), where=held > 0)
    whole = float(counts @ fine**2)
    return scores, float(held @ scores**2) / whole if whole > 0 else 1.0


def with_gaps(clean: Floats, values: Floats, scores: Floats, kept: float, sigma: float) -> Floats:
    """A shrunk table with the sums of normal scores that its noisy counts show, column by column.

    The sums of all columns are drawn from those of the shrunk table towards those of the noisy one: wholly where their
    squares are many times what noise alone would give, not at all where they are less. Values inside a coarse one are
    handed out by chance, so that a difference between columns loses what coarse values do not keep; sums are larger by
    as much. A column is tilted exponentially in the score, and keeps its records.

    Args:
        clean: float64 (r, c), counts without most of their noise; rows are coarse values of a number in order.
        values: float64 (r, c), the noisy counts.
        scores: float64 (r,), of the rows; see `coarse_scores`.
        kept: part of the variance of scores that the rows keep, above 0.
        sigma: standard deviation of the noise of a count.
    """
    clean = np.maximum(clean, 0.0)
    columns = clean.sum(axis=0)
    total, shown, held = float(columns.sum()), scores @ values, scores @ clean
    strength = float(shown @ shown)
    if total <= 0 or min(clean.shape) < 2 or strength <= 0:
        return clean
    part = max(1 - (sigma**2 * float(scores @ scores) * len(columns) / strength) ** 2, 0.0)
    goal = held + part * (shown / kept - held)
    inverse = np.divide(1.0, columns, out=np.zeros_like(columns), where=columns > 0)
    tilt, out = np.zeros(len(columns)), clean
    for _ in range(ROUNDS):
        off = goal - scores @ out
        spread = scores**2 @ out - (scores @ out) ** 2 * inverse
        step = np.divide(off, spread, out=np.zeros_like(off), where=spread > NEAR * total)
        if (np.abs(off) <= NEAR * total).all():
            break
        tilt = np.clip(tilt + np.clip(step, -1.0, 1.0), -STEEPEST, STEEPEST)
        tilted = clean * np.exp(np.outer(scores, tilt))
        out = tilted * np.divide(columns, tilted.sum(axis=0), out=np.zeros_like(columns), where=columns > 0)
    return out
