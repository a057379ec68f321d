"""Sparse vectors of counts and draws from a Dirichlet posterior.

The Dirichlet-multinomial mechanism, drawn exactly from a Pólya urn with integer weights.

f(out | y) is proportional to prod Gamma(alpha + y_i + out_i) / Gamma(alpha + y_i) with m = sum out fixed. Moving one
record from cell j to cell i changes it by at most (m + alpha) / alpha, and so does adding or removing one, hence
theta = max_records moves change it by at most theta log(1 + m / alpha) = epsilon. The first is Charest 2011; the second
holds as m is a public constant. The proportions of the model are never drawn: the ratio of their densities is
unbounded.

Noise on a table of which only the cells above a threshold are kept, in time proportional to the cells kept.

Every cell of the table gets two-sided geometric noise and cells below the threshold are dropped. An empty cell
survives with probability q = a^t / (1 + a), a = exp(-1/b), independently of the others, and what it exceeds the
threshold by is geometric (that distribution is memoryless). So the survivors among the empty cells are a Bernoulli
process with geometric gaps, drawn without touching the cells between them: the output is distributed as if every cell
had been drawn.
Source: gardn999's entry to the 2018 challenge describes the threshold; the sparse drawing is derived here.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import BudgetError, EngineError
from dpsyn_core.privacy import Cost, NoiseSource

_STEP = 2.0**-20  # prior counts are multiples of this, so that the urn has integer weights
_LIMIT = 1 << 61
_TRIES_OF_A_DRAW = 200


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
        if tries > _TRIES_OF_A_DRAW:
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
        if tries > _TRIES_OF_A_DRAW:
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


def urn_unit(cells: float, prior: float, draws: int) -> int:
    """Into how many parts a record's weight is divided, so that the urn has whole weights below 2^61; public.

    cells: how many have the prior count; of uneven ones their sum over the least.

    Raises:
        BudgetError: not even whole records would fit.
    """
    unit = int(1 / _STEP)
    total = cells * prior + 2.0**40 + draws  # tables hold fewer than 2^40 records
    while unit > 1 and total * unit >= _LIMIT:
        unit //= 2
    if total * unit >= _LIMIT:
        msg = f"{cells:.10g} cells with a prior of {prior:.4g} each are above 2^61; use a larger epsilon or fewer cells"
        raise BudgetError(msg)
    return unit


def dirichlet_multinomial(
    counts: NDArray[np.int64],
    prior: float,
    draws: int,
    *,
    noise: NoiseSource,
    weights: NDArray[np.float64] | None = None,
) -> NDArray[np.int64]:
    """One draw of Multinomial(draws, Dirichlet(counts + prior * weights)), shape (cells,).

    weights: public, at least 1 each, so that no cell has less than the prior count; None: 1 for all.

    An urn: the t-th record falls into cell i with weight prior + counts_i + records already there, that is, it is
    either fresh from the fixed weights or a copy of an earlier record chosen at random. Copies are resolved by
    following their sources, so that no loop runs over the records.
    """
    unit = urn_unit(counts.size if weights is None else float(weights.sum()), prior, draws)
    prior_counts = math.ceil(prior * unit) if weights is None else np.ceil(prior * unit * weights).astype(np.int64)
    ends = np.cumsum(counts * unit + prior_counts)
    if draws == 0:
        return np.zeros(counts.size, dtype=np.int64)
    fixed = int(ends[-1])
    tickets = uniform_below(fixed + unit * np.arange(draws, dtype=np.int64), noise)
    fresh = tickets < fixed
    source = np.where(fresh, np.arange(draws), (tickets - fixed) // unit)
    while True:
        further = source[source]
        if (further == source).all():
            break
        source = further
    cells = np.searchsorted(ends, tickets[source], side="right")
    return np.bincount(cells, minlength=counts.size).astype(np.int64)


_RAREST = 40.0  # no Bernoulli process with q below 2^-40 is drawn: a denser one is drawn and thinned
_BATCH = 1 << 20
_PATIENCE = 100


def survival(scale: float, threshold: int) -> float:
    """P(Z >= threshold) of two-sided geometric noise, threshold at least 1."""
    a = math.exp(-1 / scale)
    return math.exp(-threshold / scale) / (1 + a)


def _fine(scale: float) -> int:
    """A power of two m with m * scale at least 1: floors of m-th parts of finer noise have exactly the coarse law.

    P(floor(K / m) >= k) = P(K >= m k) = exp(-k / b) when K is one-sided geometric of scale m b, and m b is exact in
    floating point. So draws of a small scale, nearly all of which are 0, are never waited for.
    """
    return 1 if scale >= 1 else 1 << math.ceil(-math.log2(scale))


def _one_sided(noise: NoiseSource, scale: float, size: int) -> NDArray[np.int64]:
    """Draws of P(k) = (1 - a) a^k, k >= 0: the magnitude of non-zero two-sided draws, less one. scale: at least 1."""
    kept: list[NDArray[np.int64]] = []
    left, tries = size, 0
    while left > 0:
        draws = np.abs(noise.geometric(scale, left + left // 2 + 16))
        draws = draws[draws > 0][:left] - 1
        tries = 0 if draws.size else tries + 1
        if tries > _PATIENCE:
            msg = "the noise source gives nothing but zeros"
            raise EngineError(msg)
        kept.append(draws)
        left -= draws.size
    return np.concatenate(kept) if kept else np.zeros(0, dtype=np.int64)


def empty_survivors(
    noise: NoiseSource, *, scale: float, threshold: int, cells: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Indices and noisy values of the cells that reach the threshold when all `cells` are empty.

    Survivors of a lower threshold, in steps of 1/m, are drawn and thinned: what a survivor exceeds it by is geometric.
    """
    m = _fine(scale)
    fine, limit = scale * m, threshold * m
    # a threshold so low that survivors are drawn within 2^50 cells; 1 / (1 + a) is the share of the coarse law
    lower = max(1, min(limit, math.floor(_RAREST * math.log(2) * fine)))
    q = math.exp(-lower / fine) / (1 + math.exp(-1 / scale))
    gap_scale = -1 / math.log1p(-q)  # above 1, for q is below 0.61
    chosen: list[NDArray[np.int64]] = []
    last = -1
    while last < cells:
        expected = (cells - last) * q
        batch = min(_BATCH, int(expected + 4 * math.sqrt(expected) + 8))
        steps = _one_sided(noise, gap_scale, batch) + 1
        at = last + np.cumsum(np.minimum(steps, cells + 1))
        chosen.append(at[at < cells])
        last = int(at[-1])
    index = np.concatenate(chosen)
    values = lower + _one_sided(noise, fine, index.size)
    keep = values >= limit
    return index[keep], values[keep] // m


def noisy_above(
    occupied: NDArray[np.int64],
    counts: NDArray[np.int64],
    noise: NoiseSource,
    *,
    scale: float,
    threshold: int,
    cells: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Indices (ascending) and noisy values of all cells that reach the threshold.

    Args:
        occupied: flat indices of the cells that hold records, ascending.
        counts: their counts.
        noise: where draws come from.
        scale: b of the two-sided geometric noise, P(z) proportional to exp(-|z|/b).
        threshold: at least 1; lower values are dropped.
        cells: cells of the whole table.
    """
    index, values = empty_survivors(noise, scale=scale, threshold=threshold, cells=cells)
    was_empty = ~np.isin(index, occupied)
    noisy = counts + noise.geometric(scale, counts.size)
    keep = noisy >= threshold
    index = np.concatenate([index[was_empty], occupied[keep]])
    values = np.concatenate([values[was_empty], noisy[keep]])
    order = np.argsort(index, kind="stable")
    return index[order], values[order]
