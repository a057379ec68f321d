"""The Dirichlet-multinomial mechanism, drawn exactly from a Pólya urn with integer weights.

f(out | y) is proportional to prod Gamma(alpha + y_i + out_i) / Gamma(alpha + y_i) with m = sum out fixed. Moving one
record from cell j to cell i changes it by at most (m + alpha) / alpha, and so does adding or removing one, hence
theta = max_records moves change it by at most theta log(1 + m / alpha) = epsilon. The first is Charest 2011; the second
holds as m is a public constant. The proportions of the model are never drawn: the ratio of their densities is
unbounded.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import BudgetError, EngineError
from dpsyn_core.noise.source import NoiseSource
from dpsyn_core.privacy.cost import Cost

_STEP = 2.0**-20  # prior counts are multiples of this, so that the urn has integer weights
_LIMIT = 1 << 61
_PATIENCE = 200


def prior_count(draws: int, cost: Cost, theta: int = 1) -> float:
    """Least prior count of a cell, m / (e^(epsilon / theta) - 1), rounded up to a multiple of 2^-20.

    Args:
        draws: m, synthetic records in the table.
        cost: what the table may spend; pure DP.
        theta: most records of an individual (max_records).
    """
    if not cost.pure:
        msg = "the Dirichlet-multinomial mechanism is pure DP; split the budget in epsilon"
        raise BudgetError(msg)
    least = draws / math.expm1(cost.epsilon / theta) if cost.epsilon / theta < 700 else 0.0
    return (math.floor(least * (1 + 1e-12) / _STEP) + 1) * _STEP


def _bits(noise: NoiseSource, size: int) -> NDArray[np.int64]:
    """Fair bits: the signs of non-zero two-sided draws."""
    kept: list[NDArray[np.int64]] = []
    left, tries = size, 0
    while left > 0:
        draws = noise.geometric(16.0, left + left // 8 + 64)
        bits = (draws[draws != 0][:left] > 0).astype(np.int64)
        tries = 0 if bits.size else tries + 1
        if tries > _PATIENCE:
            msg = "the noise source gives nothing but zeros"
            raise EngineError(msg)
        kept.append(bits)
        left -= bits.size
    return np.concatenate(kept) if kept else np.zeros(0, dtype=np.int64)


def uniform_below(bounds: NDArray[np.int64], noise: NoiseSource) -> NDArray[np.int64]:
    """Exact uniform integers in [0, bound) for each bound, by rejection from fair bits."""
    out = np.full(bounds.size, -1, dtype=np.int64)
    todo = np.arange(bounds.size)
    tries = 0
    while todo.size:
        width = int(bounds[todo].max() - 1).bit_length()
        tries += 1
        if tries > _PATIENCE:
            msg = "the noise source gives no usable bits"
            raise EngineError(msg)
        draws = np.zeros(todo.size, dtype=np.int64)
        bits = _bits(noise, todo.size * width).reshape(width, todo.size)
        for row in bits:  # at most 62 rows
            draws = draws * 2 + row
        fits = draws < bounds[todo]
        out[todo[fits]] = draws[fits]
        todo = todo[~fits]
    return out


def urn_unit(cells: int, prior: float, draws: int) -> int:
    """Into how many parts a record's weight is divided, so that the urn has whole weights below 2^61; public.

    Raises:
        BudgetError: not even whole records would fit.
    """
    unit = int(1 / _STEP)
    total = cells * prior + 2.0**40 + draws  # tables hold fewer than 2^40 records
    while unit > 1 and total * unit >= _LIMIT:
        unit //= 2
    if total * unit >= _LIMIT:
        msg = f"{cells} cells with a prior of {prior:.4g} each are above 2^61; use a larger epsilon or fewer cells"
        raise BudgetError(msg)
    return unit


def dirichlet_multinomial(
    counts: NDArray[np.int64], prior: float, draws: int, *, noise: NoiseSource
) -> NDArray[np.int64]:
    """One draw of Multinomial(draws, Dirichlet(counts + prior)), shape (cells,).

    An urn: the t-th record falls into cell i with weight prior + counts_i + records already there, that is, it is
    either fresh from the fixed weights or a copy of an earlier record chosen at random. Copies are resolved by
    following their sources, so that no loop runs over the records.
    """
    unit = urn_unit(counts.size, prior, draws)
    weights = np.cumsum(counts * unit + math.ceil(prior * unit))
    if draws == 0:
        return np.zeros(counts.size, dtype=np.int64)
    fixed = int(weights[-1])
    tickets = uniform_below(fixed + unit * np.arange(draws, dtype=np.int64), noise)
    fresh = tickets < fixed
    source = np.where(fresh, np.arange(draws), (tickets - fixed) // unit)
    while True:
        further = source[source]
        if (further == source).all():
            break
        source = further
    cells = np.searchsorted(weights, tickets[source], side="right")
    return np.bincount(cells, minlength=counts.size).astype(np.int64)
