"""Coarse codes from released one-ways: neighbouring bins and rare values are measured together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.schema.domain import CodedAttribute

LEAST = 12  # fewer values than this show no order
LAGS = 8  # values this far apart still count as neighbours
CLEAR = 4.0  # standard deviations above the mean of values in random order


def in_order(counts: NDArray[np.float64]) -> bool:
    """Whether neighbouring codes have similar counts, so that they seem to be ordered although nobody declared it.

    The sum of the autocorrelations of the ranks at the first lags, in standard deviations of a random order, where
    each has mean -1 / n or so and variance 1 / n (Wald and Wolfowitz 1943). Several lags are used because
    of heaped values, as in hours worked. Ages, years and values sorted by frequency pass; values sorted by name do not.
    Reads released counts only, shape (size,).
    """
    n = len(counts)
    if n < LEAST:
        return False
    _, place, ties = np.unique(counts, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(ties) - (ties + 1) / 2)[place]
    ranks = ranks - ranks.mean()
    spread = float((ranks**2).sum())
    if spread <= 0:
        return False
    lags = np.arange(1, min(LAGS, n // 4) + 1)
    found = sum(float((ranks[lag:] * ranks[:-lag]).sum()) / spread + (n - lag) / (n * (n - 1)) for lag in lags)
    return bool(found > CLEAR * float(np.sqrt(((n - lags) / n**2).sum())))


def coarse_map(counts: NDArray[np.float64], attribute: CodedAttribute, *, least: float) -> NDArray[np.intp]:
    """Merges values until each coarse value holds at least `least` records, as far as there are that many.

    Neighbours merge in an ordered attribute, the rarest values merge in an unordered one; values without order
    ("missing", "other") merge with each other. Reads released counts only.

    Args:
        counts: float64 (size,), non-negative estimates.
        attribute: its order and its special values.
        least: records that a coarse value should hold.

    Returns:
        Coarse code of every value, 0, 1, 2, ... without gaps, shape (size,).
    """
    ranked = attribute.size - attribute.special if attribute.ordered else 0
    rest = ranked + np.argsort(-counts[ranked:], kind="stable")
    recode = np.zeros(attribute.size, dtype=np.intp)
    _merge(counts, np.arange(ranked), least, recode, 0)
    _merge(counts, rest, least, recode, int(recode.max(initial=-1)) + 1 if ranked else 0)
    return recode


def _merge(
    counts: NDArray[np.float64], values: NDArray[np.intp], least: float, recode: NDArray[np.intp], first: int
) -> None:
    """Numbers runs of values from `first` on; a last run that is too small joins the one before it."""
    code, held = first, 0.0
    for position, value in enumerate(values):
        if position and held >= least:
            code, held = code + 1, 0.0
        recode[value] = code
        held += counts[value]
    if held < least and code > 0 and len(values):
        mask = recode[values] == code
        recode[values[mask]] = code - 1
