"""One-ways whose values were measured one by one and, once more, summed up in coarse values. Blind."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.estimate.records.rls.denoise import shrink_one_way, shrink_ordered, shrink_unordered, with_total
from dpsyn_core.estimate.records.rls.oneway.empty_runs import supported
from dpsyn_core.estimate.records.rls.tuning import RECORDS, Shrinkage

if TYPE_CHECKING:
    from dpsyn_core.estimate.records.rls.oneway.shape import Sums

Floats = NDArray[np.float64]
FAINT = 1e-3  # of an even share, that a value without smooth evidence counts for beside others


def shrink_with_sums(
    values: Floats,
    sigma: float,
    sums: Sequence[Sums],
    *,
    ordered: bool,
    special: int,
    total: float,
    number: bool = False,
    tuning: Shrinkage = RECORDS.shrinkage,
) -> Floats:
    """As `shrink_one_way`, with noisy sums of runs of values in addition.

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
        number: as there.
        tuning: constants.
    """
    of_values = partial(
        shrink_one_way, sigma=sigma, ordered=ordered, special=special, total=total, number=number, tuning=tuning
    )
    if not sums:
        return of_values(values)
    fine = values.astype(np.float64)
    blocks = []
    for s in sums:
        width = np.maximum(np.bincount(s.recode, minlength=len(s.values)), 1)
        var, other = width * sigma**2, s.sigma**2
        sums_of = np.bincount(s.recode, weights=fine, minlength=len(s.values))
        fine = fine + ((s.values - sums_of) * var / (var + other) / width)[s.recode]
        blocks.append((s.recode, np.sqrt(var * other / (var + other))))
    clean = of_values(fine)
    hidden, weight = _hidden(fine, sigma, len(fine) - special if ordered else 0, total, tuning)
    for of_sums, (recode, noise) in zip(sums, blocks, strict=True):
        raw: Floats = np.bincount(recode, weights=fine, minlength=len(noise)).astype(np.float64)
        raw = raw + (total - float(raw.sum())) * noise**2 / float((noise**2).sum())
        goal = with_total(noise * shrink_unordered(raw / noise, 1.0, tuning=tuning), total)
        beside = _beside_shown(goal, fine, hidden, weight, recode, noise, sigma, tuning)
        kept = np.where(hidden, 0.0, clean)
        fixed = np.zeros(len(noise), dtype=bool)
        short = len(fine) - special < tuning.emptied_from  # queries for its rare values find some
        for places, tail in _tails(values, sigma, of_sums, raw, noise, hidden[: len(fine) - special], total, tuning):
            counts = tail + clean[places] if short else tail
            sums_of = np.bincount(recode[places], weights=counts, minlength=len(noise))
            of_end = np.bincount(recode[places], minlength=len(noise)) > 0
            weight[places], fixed = counts, fixed | of_end
            goal, beside = np.where(of_end, sums_of, goal), np.where(of_end, sums_of, beside)
        if fixed.any():  # the total is known, so that what the ends lose by their shape is elsewhere
            free = np.where(fixed | (goal <= 0), 0.0, noise**2)
            gap = total - float(goal.sum())
            goal = np.maximum(goal + gap * _ratio(free, np.full(len(free), float(free.sum()))), beside)
        of_kept, of_weight = (
            np.bincount(recode, weights=w, minlength=len(noise)).astype(np.float64) for w in (kept, weight)
        )
        clean = kept * _ratio(goal - beside, of_kept)[recode] + weight * _ratio(beside, of_weight)[recode]
    return with_total(clean, total)


def _tails(
    values: Floats,
    sigma: float,
    sums: Sums,
    known: Floats,
    noise: Floats,
    hidden: NDArray[np.bool_],
    total: float,
    tuning: Shrinkage,
) -> list[tuple[NDArray[np.intp], Floats]]:
    """Positions of the ends that show no records and were counted in separate blocks, and their estimated counts."""
    from dpsyn_core.estimate.records.rls.oneway.tails import ends_of, tail_of

    ranked = len(hidden)
    recode, order = sums.recode[:ranked], np.arange(ranked)
    alone = np.bincount(recode, weights=hidden, minlength=len(noise)) == np.bincount(sums.recode, minlength=len(noise))
    ends = ends_of(~(hidden & alone[recode]), tuning=tuning) if hidden.any() else []
    return [
        (order[end], tail_of(end, values[:ranked], sigma, sums, known, noise, total, tuning=tuning)) for end in ends
    ]


def _ratio(part: Floats, whole: Floats) -> Floats:
    out: Floats = np.divide(part, whole, out=np.zeros_like(whole), where=whole > 0)
    return out


def _hidden(
    known: Floats, sigma: float, ranked: int, total: float, tuning: Shrinkage
) -> tuple[NDArray[np.bool_], Floats]:
    """Which values no stretch of single counts shows, and how records would be spread among them.

    They follow the smooth estimate and are fewer in proportion to the distance from what is shown.
    """
    hidden, weight = np.zeros(len(known), dtype=bool), np.zeros(len(known))
    clean = (known + (total - float(known.sum())) / len(known))[:ranked]
    shown = supported(clean, sigma, strict_ends=True, tuning=tuning)
    if ranked < tuning.emptied_from and shown.any():  # between its ends, `shrink_one_way` has left a part of them
        shown[int(np.argmax(shown)) : ranked - int(np.argmax(shown[::-1]))] = True
    if shown.all() or not shown.any():
        return hidden, weight
    hidden[:ranked] = ~shown
    places, seen = np.flatnonzero(~shown), np.flatnonzero(shown)
    after = np.clip(np.searchsorted(seen, places), 1, max(len(seen) - 1, 1)) if len(seen) > 1 else np.zeros(0, int)
    near = np.stack([seen[after - 1], seen[after]]) if len(seen) > 1 else seen[None, :1]
    away = np.abs(places - near).min(axis=0)
    smooth = np.clip(shrink_ordered(clean, sigma, tuning=tuning)[~shown], 0, None)
    weight[places] = (smooth + FAINT * total / len(known)) / away
    return hidden, weight


def _beside_shown(
    wanted: Floats,
    known: Floats,
    hidden: NDArray[np.bool_],
    weight: Floats,
    recode: NDArray[np.intp],
    noise: Floats,
    sigma: float,
    tuning: Shrinkage,
) -> Floats:
    """Records of each coarse value that are not where single counts show any: a thin tail, as far as they stand out.

    A coarse value has far less noise than the sum of the many single counts of a tail. What is left of it when the
    shown counts are taken off lies in the tail, where it stands out of the noise of that difference.
    """
    size = len(wanted)
    shown = np.bincount(recode, weights=np.where(hidden, 0.0, known), minlength=size)
    values = np.bincount(recode, weights=~hidden, minlength=size)
    left = wanted - shown
    shown_runs = (left > tuning.beside_shown * np.sqrt(noise**2 + sigma**2 * values)) & (
        np.bincount(recode, weights=weight, minlength=size) > 0
    )
    out: Floats = np.where(shown_runs, np.clip(left, 0.0, wanted), 0.0)
    return out
