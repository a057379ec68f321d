"""Sums of clipped numbers: what each code of a number counts for, and counts that agree with a released sum. Blind."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
STEPS = 1 << 10  # from the middle between both clips to either of them: whole numbers, so that sums are exact
STEEPEST = 3.0  # a count changes by a factor of e^3 at most, whatever noise a sum has (convention)
HALVINGS = 50  # of the interval that holds the tilt: to the last digits of a count
LEAST = 1e-6  # of the records: runs that hold less move no more for it


@dataclass(frozen=True, kw_only=True, slots=True)
class ClippedSum:
    """A released sum over all records of a number that is clipped at two of its codes.

    name: of the attribute. low, high: the codes, low below high. value: of the sum, in steps (`steps_of`).
    sigma: standard deviation of its noise, in steps.
    """

    name: str
    low: int
    high: int
    value: float
    sigma: float


def steps_of(middles: Floats, low: int, high: int) -> NDArray[np.int64]:
    """What a record counts for by its code: -STEPS at the lower clip and below, STEPS at the upper one and above.

    Args:
        middles: float64 (size,), the number that each code stands for, rising; NaN for special codes, which are 0.
        low: a code with a middle.
        high: a code with a larger one.
    """
    centre, half = (middles[high] + middles[low]) / 2, (middles[high] - middles[low]) / 2
    steps = np.rint(np.clip((middles - centre) / half, -1.0, 1.0) * STEPS)
    return np.nan_to_num(steps).astype(np.int64)


def with_sum(
    counts: Floats, known: ClippedSum, middles: Floats, recode: NDArray[np.intp], sigma: float
) -> Floats:  # fmt: skip
    """Counts whose sum lies between the one that they show and the released one, by the noise of both.

    Args:
        counts: float64 (size,), non-negative.
        known: the released sum.
        middles: float64 (size,), see `steps_of`; special codes come last, and keep their counts.
        recode: (size,), runs of codes that were counted together.
        sigma: standard deviation of the noise of a run.
    """
    ranked = int(np.count_nonzero(np.isfinite(middles)))
    steps = steps_of(middles, known.low, known.high)[:ranked].astype(np.float64)
    held, shown, runs = counts[:ranked], float(counts[:ranked] @ steps), recode[:ranked]
    own = _noise(held, steps, runs, sigma)
    part = own**2 / (own**2 + known.sigma**2) if known.sigma > 0 else 1.0
    return np.append(_tilted(held, steps, runs, shown + part * (known.value - shown)), counts[ranked:])


def _noise(counts: Floats, steps: Floats, recode: NDArray[np.intp], sigma: float) -> float:
    """Standard deviation of the sum that counts show by themselves, of runs of codes between the clips."""
    inside = np.where(np.abs(steps) < STEPS, counts, 0.0)
    held = np.bincount(recode, inside)
    mean = np.bincount(recode, inside * steps)[held > 0] / held[held > 0]
    middle = float(counts @ steps) / max(float(counts.sum()), LEAST)
    return sigma * float(np.sqrt(((mean - middle) ** 2).sum()))


def _tilted(counts: Floats, steps: Floats, runs: NDArray[np.intp], goal: float) -> Floats:
    """Counts with the same total whose sum is the goal, or as near as `STEEPEST` allows.

    Their logarithms change in proportion to the distance from the mean, over the root of what their run holds: with
    the root the ends move more than where most records are, as noise moves them.
    """
    total = float(counts.sum())
    if total <= 0:
        return counts
    held = np.bincount(runs, counts)[runs]
    slope = (steps - float(steps @ counts) / total) / STEPS * np.sqrt(total / np.maximum(held, LEAST * total))
    low, high, out = -STEEPEST, STEEPEST, counts
    for _ in range(HALVINGS):
        tilt = (low + high) / 2
        out = counts * np.exp(np.clip(tilt * slope, -STEEPEST, STEEPEST))
        out = out * (total / float(out.sum()))
        low, high = (tilt, high) if float(out @ steps) < goal else (low, tilt)
    return out
