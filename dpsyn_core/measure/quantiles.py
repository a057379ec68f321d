"""Ranges and bin edges of a numeric column, bought from the data through the gate.

Range: noisy counts of signed powers of two; the outermost ones that stand above the noise bound the range (the idea
of Wilson et al. 2020, section 5.2), widened where the noisy number of records says that many lie outside. Edges: noisy
counts on the levels of a tree of branching 4 over the public range, walked from the root to each quantile. All are
histograms: an individual changes each by at most max_records records, and what follows the noise is post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import BudgetError
from dpsyn_core.measure.gate import Gate
from dpsyn_core.measure.releases import Released, sigma_of
from dpsyn_core.privacy import Charge, Cost

BRANCH = 4
LEVELS = 6  # 4^6 = 4096 leaves
_TOP = 62  # exponents of whole numbers: magnitudes below 2^62
_LOW = -40  # smallest exponent of fractions: smaller magnitudes count as 0
RANGE_CELLS = {True: 2 * (_TOP - _LOW) + 2, False: 2 * _TOP + 2}  # of fractions, of whole numbers
_STRAY = 1e-3  # chance that noise alone makes any empty bucket stand out
_WINDOWS = (1, 2, 4)  # neighbouring buckets that are looked at together
_DEPTH = 6  # powers of two below the largest bucket within which a range's records are counted
_NEAR = 3  # powers of two above the largest bucket in which more records are looked for
_FEW, _CLEAR = 0.1, 2.5  # share of the records outside that is left, deviations above which a window holds more
_SURE = 1.645  # one-sided 95 %


class Span(NamedTuple):
    """A bought range, and how many records may lie outside it: about `outside`, with 95 % confidence at most `most`.

    Both are None where the number of records with a value was not released.
    """

    low: float
    high: float
    outside: float | None = None
    most: float | None = None


def buy_range(
    values: NDArray[np.float64] | NDArray[np.int64],
    name: str,
    *,
    whole: bool,
    gate: Gate,
    cost: Cost,
    blanks: int = 0,
    total: Released | None = None,
) -> Span:
    """Power-of-two buckets from the lowest to the highest that stand out of the noise, as a range; one charge.

    Neighbouring buckets are looked at alone and in twos and fours, for values that spread over several of them. Where
    the noisy number of records says that many lie elsewhere, the range is widened to the likeliest places for them.

    Args:
        values: (n,), any range, without missing cells; max_records enforced.
        name: of the column.
        whole: whether the column holds integers; then the range is whole too.
        gate: charges and draws noise.
        cost: what the range may spend.
        blanks: records without a value; they are counted in a separate cell.
        total: the noisy number of all records, released before.

    Raises:
        BudgetError: nothing stands out (decided on noisy counts).
    """
    lowest = 0 if whole else _LOW
    side = _TOP - lowest
    got = gate.release(
        f"range of {name}",
        lambda: np.append(np.bincount(_bucket(values, lowest), minlength=2 * side + 1), np.int64(blanks)),
        kind="range",
        cells=RANGE_CELLS[not whole],
        cost=cost,
    )
    counts = got.values[:-1].astype(np.float64)
    seen = _standing_out(counts, got)
    if not seen.any():
        msg = (
            f"the range of '{name}' cannot be distinguished from the noise at this budget; declare its min and max, or "
            "how its cells are written where they are not plain numbers or dates"
        )
        raise BudgetError(msg)
    outside = most = None
    if total is not None:
        filled = float(total.values) - float(got.values[-1])  # records with a value
        doubt = math.hypot(total.sigma, got.sigma)
        seen, outside, spread = _widened(counts, seen, side, filled, doubt, got.sigma)
        most = min(outside + _SURE * spread, max(filled, 0.0))
    ends = np.flatnonzero(seen)
    low, high = (_edge(int(e), side, lowest, whole=whole)[i] for i, e in enumerate((ends[0], ends[-1])))
    return Span(low, high, outside, most)


def _standing_out(counts: NDArray[np.float64], got: Released) -> NDArray[np.bool_]:
    """Buckets in a window of 1, 2 or 4 whose sum passes what noise alone reaches; larger windows where smaller fail."""
    seen = np.zeros(counts.size, dtype=bool)
    for width in _WINDOWS:
        sums = np.convolve(counts, np.ones(width), mode="valid")
        for start in np.flatnonzero(sums > noise_ceiling(got, width)):
            if not seen[start : start + width].any():
                seen[start : start + width] = True
    return seen


def _widened(
    counts: NDArray[np.float64], seen: NDArray[np.bool_], side: int, held: float, doubt: float, sigma: float
) -> tuple[NDArray[np.bool_], float, float]:
    """Adds windows while clearly more of the `held` records lie outside; (buckets, records outside, its deviation)."""
    seen, width = seen.copy(), _WINDOWS[-1]
    level = np.abs(np.arange(counts.size) - side)
    while True:
        ends = np.flatnonzero(seen)
        at = np.arange(counts.size)
        inside = (at >= ends[0]) & (at <= ends[-1])
        # magnitudes far below the largest hold a small share of any smooth column, and much noise
        inside &= (level >= level[ends].max() - _DEPTH) | (level == 0)
        spread = math.hypot(doubt, sigma * math.sqrt(inside.sum()))
        outside = held - float(counts[inside].sum())
        # only near the magnitudes that were seen: over all powers of two, some window of noise would pass
        top = level[ends].max()
        near = (level >= top - _DEPTH) & (level <= top + _NEAR) & ~((at >= ends[0]) & (at <= ends[-1]))
        free = np.where(near, counts, 0.0)
        sums = np.convolve(free, np.ones(width), mode="valid")
        best = int(sums.argmax())
        few = outside <= max(2 * spread, _FEW * held)
        if few or sums[best] <= _CLEAR * sigma * math.sqrt(width):
            return seen, max(outside, 0.0), spread
        seen[best : best + width] |= free[best : best + width] > 0


def noise_ceiling(got: Released, width: int = 1) -> float:
    """A height that noise alone passes in any cell, or any sum of `width` neighbours, with probability below 1e-3."""
    return ceiling(got.charge, got.values.size, width)


def ceiling(charge: Charge, cells: int, width: int = 1) -> float:
    """`noise_ceiling` from public numbers alone: the charge and the number of cells."""
    odds = math.log(cells / _STRAY)
    if charge.mechanism == "gaussian":
        return sigma_of(charge) * math.sqrt(2 * width * odds) + 0.5
    if width == 1:
        return charge.scale * odds  # P(Z >= t) <= exp(-t / b)
    # Chernoff for a sum of `width` Laplace variables: E exp(Z s / b) = 1 / (1 - s^2), at the best of some s
    grid = np.linspace(0.05, 0.95, 19)
    return float(charge.scale * np.min((odds - width * np.log1p(-(grid**2))) / grid))


def _bucket(values: NDArray[np.float64] | NDArray[np.int64], lowest: int) -> NDArray[np.int64]:
    """0 .. 2 side: most negative magnitudes first, zero in the middle."""
    side = _TOP - lowest
    floats = values.astype(np.float64)
    _, exponent = np.frexp(np.abs(floats))
    level = np.clip(exponent.astype(np.int64) - 1 - lowest, -1, side - 1) + 1
    level = np.where((floats == 0) | (level < 0), 0, level)
    level = np.where(np.isinf(floats), side, level)
    return side + np.where(floats < 0, -level, level)


def _edge(bucket: int, side: int, lowest: int, *, whole: bool) -> tuple[float, float]:
    """Smallest and largest value of a bucket."""
    level = abs(bucket - side)
    if level == 0:
        return 0.0, 0.0
    near, far = 2.0 ** (lowest + level - 1), 2.0 ** (lowest + level)
    if whole:
        far -= 1 if far < 2.0**53 else 0
    return (near, far) if bucket > side else (-far, -near)


def buy_edges(
    values: NDArray[np.float64] | NDArray[np.int64],
    name: str,
    *,
    low: float,
    high: float,
    bins: int,
    whole: bool,
    gate: Gate,
    cost: Cost,
) -> list[float]:
    """Inner bin edges at about equal counts, rising, strictly between low and high; at most one charge a level.

    Args:
        values: (n,), without missing cells; clamped to the range here; max_records enforced.
        name: of the column.
        low: public or bought lower end.
        high: public or bought upper end; above low.
        bins: number of bins to make.
        whole: whether edges are whole numbers.
        gate: charges and draws noise.
        cost: what all levels together may spend.

    Returns:
        Fewer than `bins` edges when values pile up, possibly none.
    """
    span = high - low + (1 if whole else 0)
    levels = LEVELS
    while whole and levels > 1 and BRANCH ** (levels - 1) >= span:
        levels -= 1
    leaves = BRANCH**levels
    width = math.ceil(span / leaves) if whole else span / leaves
    where = np.clip((np.clip(values.astype(np.float64), low, high) - low) / width, 0, leaves - 1).astype(np.int64)
    counts = []
    for level, part in enumerate(cost.split([1.0] * levels), start=1):
        cells = BRANCH**level
        step = BRANCH ** (levels - level)
        got = gate.release(
            f"quantiles of {name}, level {level}",
            lambda step=step, cells=cells: np.bincount(where // step, minlength=cells),  # type: ignore[misc]
            kind="quantiles",
            cells=cells,
            cost=part,
        )
        counts.append(got.values)
    starts = [low + leaf * width for leaf in edges_of(counts, bins)]
    return sorted({float(s) for s in starts if low < s < high})


def edges_of(counts: Sequence[NDArray[np.int64]], bins: int) -> list[int]:
    """Leaf boundaries near the quantiles j / bins. Post-processing of noisy counts, one array a level."""
    total = float(max(counts[0].sum(), 0))
    out: set[int] = set()
    if total <= 0:
        return []
    for j in range(1, bins):
        node, rest, weight = 0, total * j / bins, 0.0
        for level in counts:
            children = np.clip(level[node * BRANCH : (node + 1) * BRANCH], 0, None).astype(np.float64)
            upto = np.cumsum(children)
            child = min(int(np.searchsorted(upto, rest)), BRANCH - 1)
            rest = max(rest - (float(upto[child - 1]) if child else 0.0), 0.0)
            node, weight = node * BRANCH + child, float(children[child])
        if weight > total / bins:  # one leaf fills a bin: give it a bin of its own
            out |= {node, node + 1}
        else:
            out.add(node if rest < weight / 2 else node + 1)
    return sorted(out)
