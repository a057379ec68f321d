"""Distances between real and synthetic marginals, many sets at a time, with the noise floor of each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.evaluate.comparison import Codes, Comparison
from dpsyn_core.evaluate.dependent_rows import rows_as_one
from dpsyn_core.progress import Progress, silent
from dpsyn_core.schema import AttributeSet, Domain

DENSE_CELLS = 1 << 22  # above this a marginal is counted by sorting its records: 2 x 32 MB at most otherwise
BATCH_CELLS = 1 << 22  # cells counted before they are compared and dropped
SPREAD_UP_TO = 512  # records of a cell up to which its halves are taken with their spread, which adds 1 / 4,096 then
TINY = 1e-9  # keeps floor of a whole product from being rounded down, and quotients from 0 / 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Distances:
    """One entry a set, in the order of `sets`; float64 or int64 arrays of shape (len(sets),).

    tvd: total variation distance, half of l1. chi2: two-sample chi-square with dof degrees of freedom.
    floor: mean tvd of another sample of the same people, of the synthetic table's size; see `FreshSample`.
    held, cells: distinct counts of real records per cell, and for each the number of cells with it in all sets.
    """

    sets: list[AttributeSet]
    tvd: NDArray[np.float64]
    chi2: NDArray[np.float64]
    dof: NDArray[np.int64]
    floor: NDArray[np.float64]
    held: NDArray[np.int64]
    cells: NDArray[np.int64]

    @property
    def l1(self) -> NDArray[np.float64]:
        """L1 distance of the frequencies."""
        return 2 * self.tvd


def marginal_distances(c: Comparison, sets: Sequence[AttributeSet], *, progress: Progress = silent) -> Distances:
    """Compares the marginals of both tables on the given sets, once a comparison. Private."""
    key = ("distances", tuple(sets))
    if key not in c.scores:
        c.scores[key] = _distances(c, sets, progress)
    out: Distances = c.scores[key]
    return out


def _distances(c: Comparison, sets: Sequence[AttributeSet], progress: Progress) -> Distances:
    from dpsyn_core.evaluate.kernels import distances  # numba is heavy

    fresh = FreshSample(c.n, c.m)
    rows = np.zeros((len(sets), 5))
    done, tally = 0, []
    with ThreadPoolExecutor(max_workers=2) as pool:  # the counting kernels release the lock
        for batch in batches(c.domain, sets):
            if c.domain.cells(batch[0]) > DENSE_CELLS:
                tables = [_sparse(c.domain, c.truth, c.synthetic, batch[0])]
            else:
                real = pool.submit(c.real_counter.marginals, batch)
                synthetic = pool.submit(c.synthetic_counter.marginals, batch)
                pairs = zip(real.result(), synthetic.result(), strict=True)
                tables = [(r.reshape(-1), s.reshape(-1)) for r, s in pairs]
            for r, s in tables:
                rows[done] = distances(r, s, c.n, c.m, fresh.deviations)
                tally.append(np.unique(r[r > 0], return_counts=True))
                done += 1
            progress("comparing marginals", done, len(sets))
    l1, chi2, support, *parts = rows.T
    none = np.zeros(0, dtype=np.int64)
    sizes, place = np.unique(np.concatenate([none, *(h for h, _ in tally)]), return_inverse=True)
    cells = np.bincount(place, np.concatenate([none, *(n for _, n in tally)]), len(sizes)).astype(np.int64)
    return Distances(
        sets=list(sets),
        tvd=np.clip(l1 / 2, 0, 1),
        chi2=chi2,
        dof=np.maximum(support.astype(np.int64) - 1, 0),
        floor=np.minimum(1, fresh.distance(*parts) / 2 * np.sqrt([rows_as_one(c, *s) for s in sets])),
        held=sizes.astype(np.int64),
        cells=cells,
    )


class FreshSample:
    """How far another sample of the same people is from the real table, which is a sample as well.

    Both miss values that the other has, and no closed form in the real counts says how often. But the real table can be
    cut at random into two parts that are to each other as the tables are, and into two parts of half that size. Their
    mean distances follow exactly from the counts, and a power of the size through both leads to the whole size: a half
    where all values are frequent, 0 where each record is alone. On Zipf, geometric, uniform and mixed laws that is
    -2 to +7 % off the mean of real samples.

    deviations: float64 (2, n + 1), what a cell of so many real records adds to the L1 distance of either two parts.
    """

    def __init__(self, n: int, m: int) -> None:
        """n: real records. m: those of the other sample."""
        share = min(n, m) / (n + min(n, m))  # of the real records, for the part that stands for the other table
        counts = np.arange(n + 1)
        whole = binomial_deviations(counts, share)
        half = np.interp(counts / 2, counts, whole)  # by the mean; the rest is 1 / (8 count) of it
        exact = min(n, SPREAD_UP_TO) + 1
        half[:exact] = _halves(exact) @ whole[:exact]
        self.deviations = np.stack([whole, 2 * half]) / (n * share * (1 - share))
        self.size = n / (n + min(n, m))  # of the larger two parts, of the tables
        self.more = (1 + n / m) / 2 if m > n else 1.0

    def distance(self, first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
        """L1 distances at the whole size, from the sums of both deviations over the cells of each marginal."""
        power = np.clip(np.log2(np.maximum(second, TINY) / np.maximum(first, TINY)), 0.0, 0.5)
        return np.asarray(np.minimum(first, 2.0) * (self.size * self.more) ** power)


def binomial_deviations(trials: NDArray[np.int64], p: float) -> NDArray[np.float64]:
    """Mean absolute deviation E|X - trials p| of X ~ Binomial(trials, p), 0 < p < 1, for each number of trials.

    Closed form 2 v C(trials, v) p^v (1 - p)^(trials - v + 1) with v = floor(trials p) + 1. Source: De Moivre 1730;
    Diaconis and Zabell 1991, Statistical Science 6(3).
    """
    from scipy.special import gammaln

    k = trials.astype(np.float64)
    v = np.floor(k * p + TINY) + 1
    log = math.log(2) + np.log(v) + gammaln(k + 1) - gammaln(v + 1) - gammaln(np.maximum(k - v, 0) + 1)
    out: NDArray[np.float64] = np.exp(log + v * math.log(p) + (k - v + 1) * math.log1p(-p)) * (k > 0)
    return out


def _halves(size: int) -> NDArray[np.float64]:
    """Chances that j of k coins show heads, (k, j), for fewer than `size` coins."""
    from scipy.special import gammaln

    k, j = np.indices((size, size))
    log = gammaln(k + 1) - gammaln(j + 1) - gammaln(np.maximum(k - j, 0) + 1) - k * math.log(2)
    return np.where(j <= k, np.exp(log), 0.0)


def sampled_sets(domain: Domain, k: int, count: int, *, all_up_to: int, seed: int) -> list[AttributeSet]:
    """All sets of k attributes when there are at most `all_up_to`, else `count` distinct ones drawn by a seed."""
    total = math.comb(len(domain), k)
    if total <= all_up_to:
        return domain.subsets(k)
    picks = np.random.default_rng(seed).choice(total, size=min(count, total), replace=False, shuffle=False)
    return [_unrank(domain.names, k, int(p)) for p in np.sort(picks)]


def _unrank(names: Sequence[str], k: int, rank: int) -> AttributeSet:
    """The combination of this rank in lexicographic order."""
    out: list[str] = []
    i = 0
    while k:
        below = math.comb(len(names) - i - 1, k - 1)  # combinations that start with names[i]
        if rank < below:
            out.append(names[i])
            k -= 1
        else:
            rank -= below
        i += 1
    return tuple(out)


def batches(domain: Domain, sets: Sequence[AttributeSet]) -> Iterator[list[AttributeSet]]:
    """Consecutive sets that are counted together; a set too large to lay out is counted alone."""
    batch: list[AttributeSet] = []
    held = 0
    for names in sets:
        cells = domain.cells(names)
        alone = cells > DENSE_CELLS or held > DENSE_CELLS
        if batch and (alone or held + cells > BATCH_CELLS):
            yield batch
            batch, held = [], 0
        batch.append(names)
        held = held + cells if cells <= DENSE_CELLS else DENSE_CELLS + 1
    if batch:
        yield batch


def _sparse(
    domain: Domain, real: Codes, synthetic: Codes, names: AttributeSet
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Counts of the cells that hold a record in either table, for marginals too large to lay out."""
    n = real.shape[1]
    key = np.zeros(n + synthetic.shape[1], dtype=np.int64)
    for name in names:
        i, size = domain.index(name), domain[name].size
        if int(key.max(initial=0)) >= 2**62 // size:  # number the cells afresh before the product overflows
            key = np.unique(key, return_inverse=True)[1].astype(np.int64)
        key = key * size + np.concatenate([real[i], synthetic[i]])
    cell = np.unique(key, return_inverse=True)[1]
    cells = int(cell.max()) + 1
    return np.bincount(cell[:n], minlength=cells), np.bincount(cell[n:], minlength=cells)
