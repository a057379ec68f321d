"""Ranges and bin edges of a numeric column, bought from the data through the gate.

Range: noisy counts of signed powers of two; the outermost ones that stand above the noise bound the range (the idea
of Wilson et al. 2020, section 5.2). Edges: noisy counts on the levels of a tree of branching 4 over the public range,
walked from the root to each quantile. Both are histograms: an individual changes each by at most max_records records,
and all that follows the noise is post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import BudgetError
from dpsyn_core.measurement.gate import Gate
from dpsyn_core.measurement.released import Released
from dpsyn_core.privacy.cost import Cost

BRANCH = 4
LEVELS = 6  # 4^6 = 4096 leaves
_TOP = 62  # exponents of whole numbers: magnitudes below 2^62
_LOW = -40  # smallest exponent of fractions: smaller magnitudes count as 0
_STRAY = 1e-3  # chance that noise alone makes any empty bucket stand out


def buy_range(
    values: NDArray[np.float64] | NDArray[np.int64], name: str, *, whole: bool, gate: Gate, cost: Cost
) -> tuple[float, float]:
    """Lowest and highest power-of-two bucket with a count above the noise, as a range; one charge.

    Args:
        values: (n,), any range, without missing cells; max_records enforced.
        name: of the column.
        whole: whether the column holds integers; then the range is whole too.
        gate: charges and draws noise.
        cost: what the range may spend.

    Raises:
        BudgetError: no bucket stands out (decided on noisy counts).
    """
    lowest = 0 if whole else _LOW
    side = _TOP - lowest
    got = gate.release(
        f"range of {name}", lambda: np.bincount(_bucket(values, lowest), minlength=2 * side + 1),
        kind="range", cells=2 * side + 1, cost=cost,
    )  # fmt: skip
    found = np.flatnonzero(got.values > noise_ceiling(got))
    if found.size == 0:
        msg = f"the range of '{name}' cannot be told from the noise at this budget; declare its min and max instead"
        raise BudgetError(msg)
    return _edge(int(found[0]), side, lowest, whole=whole)[0], _edge(int(found[-1]), side, lowest, whole=whole)[1]


def noise_ceiling(got: Released) -> float:
    """A height that noise alone passes in any cell with probability of at most 1e-3."""
    odds = math.log(got.values.size / _STRAY)
    if got.charge.mechanism == "gaussian":
        return got.sigma * math.sqrt(2 * odds) + 0.5
    return got.charge.scale * odds  # P(Z >= t) <= exp(-t / b)


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
        bins: number of bins wanted.
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
