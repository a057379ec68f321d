"""One-ways whose values were measured one by one and, once more, summed up in coarse values. Blind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.records.rls.denoise import shrink_one_way, shrink_unordered, with_total
from dpsyn_core.records.rls.tuning import RECORDS, Shrinkage

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Sums:
    """Noisy counts of the coarse values of an attribute.

    recode: (size,), from value to coarse value. values: float64, one a coarse value. sigma: of their noise.
    """

    recode: NDArray[np.intp]
    values: Floats
    sigma: float


def shrink_with_sums(
    values: Floats,
    sigma: float,
    sums: Sequence[Sums],
    *,
    ordered: bool,
    special: int,
    total: float,
    tuning: Shrinkage = RECORDS.shrinkage,
) -> Floats:
    """As `shrink_one_way`, with what is known of sums of values beside.

    The noise of a thousand values adds up over half a column to that of some twenty single values; thirty coarse values
    know the same sum far better. Values are moved to the weighted mean of both (least squares), smoothed, and scaled so
    that every coarse value keeps that mean. Source: hierarchical histograms, Hay et al. 2010; Qardaji et al. 2013.

    Args:
        values: float64 (size,), noisy counts.
        sigma: standard deviation of their noise.
        sums: of coarse values, taken in turn; none gives `shrink_one_way`.
        ordered: as there.
        special: as there.
        total: the sum to give.
        tuning: constants.
    """
    if not sums:
        return shrink_one_way(values, sigma, ordered=ordered, special=special, total=total, tuning=tuning)
    known = values.astype(np.float64)
    blocks = []
    for s in sums:
        width = np.maximum(np.bincount(s.recode, minlength=len(s.values)), 1)
        own, other = width * sigma**2, s.sigma**2
        held = np.bincount(s.recode, weights=known, minlength=len(s.values))
        known = known + ((s.values - held) * own / (own + other) / width)[s.recode]
        blocks.append((s.recode, np.sqrt(own * other / (own + other))))
    clean = shrink_one_way(known, sigma, ordered=ordered, special=special, total=total, tuning=tuning)
    for recode, noise in blocks:
        wanted: Floats = np.bincount(recode, weights=known, minlength=len(noise)).astype(np.float64)
        wanted = wanted + (total - float(wanted.sum())) / len(wanted)
        wanted = with_total(noise * shrink_unordered(wanted / noise, 1.0, tuning=tuning), total)
        held = np.bincount(recode, weights=clean, minlength=len(noise))
        clean = clean * np.divide(wanted, held, out=np.zeros_like(held), where=held > 0)[recode]
    return with_total(clean, total)
