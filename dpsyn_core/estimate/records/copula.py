"""Normal scores of numbers inside the cells of their records, drawn from a Gaussian copula. Blind.

Coded records say in which cell (a bin, or a coarse value) each number lies, and not where inside it. Where numbers
depend on each other, a record that lies high in the cell of one lies high in that of another. The scores drawn here
say so; values inside a cell are then handed out in their order, which changes no count of any cell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.schema import Domain

Floats = NDArray[np.float64]
SWEEPS = 8  # of Gibbs sampling (convention)
WEAKEST = 0.05  # correlation from which on a number takes part: a weak one may follow from two strong ones
HIDDEN = 0.002  # share of a number's variance inside its bins, under which chance does as well
STRONGEST = 0.9995  # correlation; nearer to 1 the conditional law is narrower than a cell can show
LEAST_EIGENVALUE = 1e-3  # of a correlation matrix that is inverted
TINY = 1e-12  # probabilities this close to 0 or 1 have normal scores beyond 7
CHUNK = 1 << 16  # records whose scores are drawn together: 0.5 MB a number
THREADS = 2  # a constant, so that results do not depend on the machine


def positive_definite(matrix: Floats) -> Floats:
    """A correlation matrix with its eigenvalues raised to at least `LEAST_EIGENVALUE`, scaled to a unit diagonal."""
    values, vectors = np.linalg.eigh(matrix)
    raised = (vectors * np.maximum(values, LEAST_EIGENVALUE)) @ vectors.T
    scale = np.sqrt(np.diag(raised))
    out: Floats = raised / np.outer(scale, scale)
    return out


def normal_scores(
    cells: Sequence[NDArray[np.integer]], counts: Sequence[Floats], matrix: Floats, *, rng: Generator
) -> Iterator[tuple[slice, Floats]]:
    """Draws the scores of all records, part by part.

    Args:
        cells: for each number the cell of each record in order, shape (n_records,); -1 where the record has none.
        counts: for each number non-negative weights of its cells, shape (cells,).
        matrix: correlations (numbers, numbers).
        rng: for the draws; the same state gives the same scores.

    Yields:
        A slice of the records, and float64 (numbers, records of the slice).
    """
    from scipy.special import ndtri

    precision: Floats = np.asarray(np.linalg.inv(positive_definite(matrix)), dtype=np.float64)
    upper = [np.cumsum(c) / max(float(c.sum()), TINY) for c in counts]
    edges = [ndtri(np.clip(np.concatenate([[0.0], u]), TINY, 1 - TINY)) for u in upper]
    n = len(cells[0]) if cells else 0
    parts = [slice(start, min(start + CHUNK, n)) for start in range(0, n, CHUNK)]
    generators = rng.spawn(len(parts))
    with ThreadPoolExecutor(THREADS) as pool:
        for first in range(0, len(parts), THREADS):  # no more than these parts are held at a time
            group = range(first, min(first + THREADS, len(parts)))
            drawn = pool.map(lambda i: _drawn([c[parts[i]] for c in cells], edges, precision, generators[i]), group)
            yield from zip((parts[i] for i in group), drawn, strict=True)


def _drawn(cells: Sequence[NDArray[np.integer]], edges: Sequence[Floats], precision: Floats, rng: Generator) -> Floats:
    """Scores of one part, by Gibbs sampling from the normal law cut to each record's cells."""
    d, n = len(cells), len(cells[0])
    low, high = np.empty((d, n)), np.empty((d, n))
    for i, (cell, edge) in enumerate(zip(cells, edges, strict=True)):
        inside = cell >= 0
        low[i] = np.where(inside, edge[np.where(inside, cell, 0)], edge[0])
        high[i] = np.where(inside, edge[np.where(inside, cell, 0) + 1], edge[-1])
    scores = _between(low, high, rng.random((d, n)))
    for _ in range(SWEEPS):
        for i in range(d):
            spread = precision[i, i] ** -0.5
            mean = scores[i] - (precision[i] @ scores) / precision[i, i]
            drawn = _between((low[i] - mean) / spread, (high[i] - mean) / spread, rng.random(n))
            scores[i] = np.clip(mean + spread * drawn, low[i], high[i])
    return scores


def _between(low: Floats, high: Floats, share: Floats) -> Floats:
    """Standard normal values between two bounds, at a share of the probability between them."""
    from scipy.special import ndtr, ndtri  # scipy is heavy, and systems are imported by every page

    flip = low > 0  # work in the lower tail, where the distribution function keeps its digits
    a, b = np.where(flip, -high, low), np.where(flip, -low, high)
    pa, pb = ndtr(a), ndtr(b)
    drawn = np.clip(ndtri(np.clip(pa + (pb - pa) * share, 1e-300, 1 - 1e-16)), a, b)
    out: Floats = np.where(flip, -drawn, drawn)
    return out


def scores_in_bins(codes: NDArray[np.integer], domain: Domain, *, rng: Generator) -> dict[str, NDArray[np.float32]]:
    """Scores that say where inside its bin each record's number lies, from what the codes say of the dependence.

    Correlations of the copula are read off the codes: the covariance of the mean normal scores of the bins, over the
    shares of the variance that the bins keep. A number is placed when its bins hide more than `HIDDEN` of its
    variance and it depends on another number; the numbers that it depends on take part.

    Args:
        codes: (n_attributes, n_records), synthetic.
        domain: their attributes.
        rng: for the scores.

    Returns:
        float32 (n_records,) for each number whose values should be placed; others are placed by chance.
    """
    n = codes.shape[1]
    places = [i for i, a in enumerate(domain.attributes) if a.number and a.size - a.special > 1]
    if len(places) < 2 or not n:
        return {}
    cells, counts, kept = [], [], np.empty(len(places))
    middles = np.zeros((len(places), n), dtype=np.float32)
    for row, i in enumerate(places):
        ranked = domain.attributes[i].size - domain.attributes[i].special
        cell = np.where(codes[i] < ranked, codes[i].astype(np.int32), -1)
        sizes = np.bincount(cell[cell >= 0], minlength=ranked).astype(np.float64)
        share = sizes / max(float(sizes.sum()), 1.0)
        mean = mean_scores(share)
        middles[row] = np.where(cell >= 0, np.append(mean, 0.0)[cell], 0.0)
        kept[row] = max(float(share @ mean**2), TINY)
        cells.append(cell)
        counts.append(sizes)
    correlations = np.clip((middles @ middles.T).astype(np.float64) / n / np.outer(kept, kept), -STRONGEST, STRONGEST)
    del middles
    matrix = np.where(np.abs(correlations) < WEAKEST, 0.0, correlations)
    np.fill_diagonal(matrix, 1.0)
    placed = (kept < 1 - HIDDEN) & (np.count_nonzero(matrix, axis=1) > 1)
    if not placed.any():
        return {}
    used = np.flatnonzero(np.count_nonzero(matrix[placed], axis=0))
    out = {int(i): np.empty(n, dtype=np.float32) for i in np.flatnonzero(placed)}
    drawn_parts = normal_scores(
        [cells[i] for i in used], [counts[i] for i in used], matrix[np.ix_(used, used)], rng=rng
    )
    for part, drawn in drawn_parts:
        for row, place in enumerate(used):
            if int(place) in out:
                out[int(place)][part] = drawn[row]
    return {domain.names[places[i]]: scores for i, scores in out.items()}


def mean_scores(share: Floats) -> Floats:
    """Mean normal score of each cell of an ordered column, from the shares of its records; 0 for empty cells."""
    from scipy.special import ndtri

    edges = ndtri(np.clip(np.concatenate([[0.0], np.cumsum(share)]), TINY, 1 - TINY))
    density = np.exp(-(edges**2) / 2) / np.sqrt(2 * np.pi)
    out: Floats = np.divide(density[:-1] - density[1:], share, out=np.zeros(len(share)), where=share > 0)
    return out


def hand_out(values: NDArray[np.generic], cell: NDArray[np.integer], scores: NDArray[np.floating]) -> None:
    """Gives the values that the records of a cell hold to these records in the order of their scores, in place.

    Args:
        values: (n,), changed; the values of each cell stay in it.
        cell: (n,).
        scores: (n,).
    """
    by_value, by_score = np.lexsort((values, cell)), np.lexsort((scores, cell))
    values[by_score] = values[by_value]
