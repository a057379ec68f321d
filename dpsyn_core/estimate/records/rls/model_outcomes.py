"""Records follow released model sums: coefficients from the sums, and outcomes exchanged until records have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.estimate.marginals.model_sums import ModelSum

Floats = NDArray[np.float64]
SWEEPS = 40  # over all records, at most
NEAR = 0.01  # of the squared noise of the sums, at which exchanging ends
CAUTION = 0.7  # of the way that is still to go, in one sweep
NEWTON = 25  # steps to coefficients and to the slope of exchanges, more than they need
FURTHEST = 2.0  # log odds that one step changes any record by
LARGE = 5.0  # a coefficient times the standard deviation of its term is taken to be of this size or less


def exchange_outcomes(
    rows: NDArray[np.integer], positions: Mapping[str, int], sums: Sequence[ModelSum], *, total: float, rng: Generator
) -> None:
    """Exchanges the outcome of records, so that a fit to them has the coefficients that the released sums suggest.

    Each outcome keeps its frequencies. Pairs of records are drawn at random and exchange their outcomes with a
    probability that grows with what this adds in the direction that is lacking, which is about how outcomes change when
    coefficients do: records are not picked for being extreme.

    Args:
        rows: codes (records, attributes), changed in place.
        positions: of the attributes among them.
        sums: what was released.
        total: number of real records, which the sums are of.
        rng: of the post-processing.
    """
    n = len(rows)
    for outcome in dict.fromkeys(s.design.outcome for s in sums) if n > 1 else ():
        fs = [_Followed(s, rows, positions, total) for s in sums if s.design.outcome == outcome]
        at = positions[outcome]
        for _ in range(SWEEPS):
            scores = np.hstack([f.scores(rows[:, at]) for f in fs])
            left = -scores.sum(axis=0)
            if left @ left <= NEAR * len(left):
                break
            order = rng.permutation(n)
            a, b = order[: n // 2], order[n // 2 : 2 * (n // 2)]
            differ = rows[a, at] != rows[b, at]
            a, b = a[differ], b[differ]
            gain = np.hstack([f.scores(rows[b, at], a) + f.scores(rows[a, at], b) for f in fs]) - scores[a] - scores[b]
            done = _chosen(gain, left, rng)
            rows[a[done], at], rows[b[done], at] = rows[b[done], at], rows[a[done], at]


class _Followed:
    """The score vectors of records at the coefficients that a released sum suggests, in units of its noise."""

    def __init__(self, s: ModelSum, rows: NDArray[np.integer], positions: Mapping[str, int], total: float) -> None:
        design = s.design
        numbers = design.numbers({n: rows[:, positions[n]] for n in design.lookups})
        last = sum(t.shape[1] for n, t in list(design.lookups.items())[: list(design.lookups).index(design.outcome)])
        self.y = design.lookups[design.outcome][:, design.y - last]
        scale = len(rows) / max(total, 1.0)
        x, complete = design.x(numbers), design.complete(numbers)
        self.turned = (x @ s.turn) * (complete / (s.sigma * scale))[:, None]
        self.expected = design.expected(x, coefficients(s, numbers, scale)[0])

    def scores(self, codes: NDArray[np.integer], at: NDArray[np.intp] | slice = slice(None)) -> Floats:
        """The vectors of records at these places, with these codes of the outcome."""
        return np.asarray(self.turned[at] * (self.y[codes] - self.expected[at])[:, None])


def coefficients(s: ModelSum, numbers: Floats, scale: float) -> tuple[Floats, Floats]:
    """The coefficients at which the sum over these records is expected to be the released one, and their covariance.

    They are those of least squares in units of the noise, with a weak prior (`LARGE`), among all with which the
    frequencies of outcomes stay those of these records: single columns have less noise than the sum. The covariance
    is that of the noise of the sum.

    Args:
        s: what was released.
        numbers: of the records, see `ModelDesign.numbers`.
        scale: their number over that of the real ones.
    """
    design, k = s.design, len(s.start)
    numbers = numbers[design.complete(numbers) > 0]
    x = design.x(numbers)
    weights = s.weights(x)[:, None] * (x @ s.turn) / (s.sigma * scale)
    before, aim = design.expected(x, s.start), s.values / s.sigma
    spread = np.array([float(np.std(column)) if len(x) else 0.0 for column in x.T])
    prior = np.diag(np.square(spread / LARGE))
    beta, inverse = s.start.copy(), np.zeros((k + 1, k + 1))
    for _ in range(NEWTON):
        mean = design.expected(x, beta)
        slope = x * (mean * (1 - mean) if design.logistic else np.ones(len(x)))[:, None]
        step, sums = np.zeros((k + 1, k + 1)), np.zeros(k + 1)
        moved = weights.T @ slope
        step[:k, :k] = moved.T @ moved + prior
        step[k, :k] = step[:k, k] = slope.sum(axis=0)
        sums[:k] = moved.T @ (aim - weights.T @ (mean - before)) - prior @ beta
        sums[k] = numbers[:, design.y].sum() - mean.sum()
        size = np.sqrt(np.maximum(np.abs(step).max(axis=1), 1e-300))
        inverse = np.linalg.pinv(step / np.outer(size, size), rcond=1e-13, hermitian=True) / np.outer(size, size)
        change = (inverse @ sums)[:k]
        reach = float(np.abs(x @ change).max(initial=0.0))
        beta = beta + change * (min(1.0, FURTHEST / max(reach, 1e-300)) if design.logistic else 1.0)
        if reach < 1e-6:
            break
    return np.asarray(beta), np.asarray(inverse[:k, :k])


def _chosen(gain: Floats, left: Floats, rng: Generator) -> NDArray[np.bool_]:
    """Mask of the exchanges to carry out, (pairs,): none where chance would lead away from what is lacking.

    Probabilities are max(0, gain @ slope), with the slope for which the gains that are expected add up to what is left.
    """
    ridge = 1e-6 * np.einsum("ij,ij->", gain, gain) / len(left) * np.eye(len(left)) + 1e-12 * np.eye(len(left))
    slope = np.linalg.solve(gain.T @ gain + ridge, left)
    for _ in range(NEWTON):
        likely = gain @ slope > 0
        on = gain[likely]
        slope = slope - np.linalg.solve(on.T @ on + ridge, on.T @ (on @ slope) - left)
    along = np.maximum(gain @ slope, 0.0)
    size = CAUTION
    while size > 1e-3:
        go = rng.random(len(gain)) < size * along
        if go.any() and np.square(left - gain[go].sum(axis=0)).sum() < left @ left:
            return np.asarray(go)
        size /= 2
    return np.zeros(len(gain), dtype=bool)
