"""Records follow released model sums: outcomes are exchanged between records until their sums are the released ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.estimate.marginals.model_sums import ModelSum

Floats = NDArray[np.float64]
SWEEPS = 40  # over all records, at most
NEAR = 0.01  # of the squared noise of the sums, at which exchanging ends
CAUTION = 0.5  # of the way that is still to go, in one sweep


def exchange_outcomes(
    rows: NDArray[np.integer], positions: Mapping[str, int], sums: Sequence[ModelSum], *, total: float, rng: Generator
) -> None:
    """Exchanges the outcome of records, so that their score vectors add up to the released sums.

    Each outcome keeps its frequencies. Pairs of records are drawn at random and exchange their outcomes with a
    probability that grows with what this adds towards the released sums, which is about how outcomes change when
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
        own = [s for s in sums if s.design.outcome == outcome]
        at = positions[outcome]
        for _ in range(SWEEPS):
            units = [s.sigma * n / max(total, 1.0) for s in own]
            vectors = np.hstack([_of(s, rows, positions) / u for s, u in zip(own, units, strict=True)])
            left = np.concatenate([s.values / s.sigma for s in own]) - vectors.sum(axis=0)
            if left @ left <= NEAR * len(left):
                break
            order = rng.permutation(n)
            a, b = order[: n // 2], order[n // 2 : 2 * (n // 2)]
            differ = rows[a, at] != rows[b, at]
            a, b = a[differ], b[differ]
            after = rows[np.concatenate([a, b])].copy()
            after[:, at] = rows[np.concatenate([b, a]), at]
            moved = np.hstack([_of(s, after, positions) / u for s, u in zip(own, units, strict=True)])
            gain = moved[: len(a)] + moved[len(a) :] - vectors[a] - vectors[b]
            exchanged = _chosen(gain, left, rng)
            rows[a[exchanged], at], rows[b[exchanged], at] = rows[b[exchanged], at], rows[a[exchanged], at]
            if not exchanged.any():
                break


def _of(s: ModelSum, rows: NDArray[np.integer], positions: Mapping[str, int]) -> Floats:
    return s.clipped(s.design.numbers({n: rows[:, positions[n]] for n in s.design.lookups}))


def _chosen(gain: Floats, left: Floats, rng: Generator) -> NDArray[np.bool_]:
    """Which exchanges are made, (pairs,): none where chance would lead away from the released sums."""
    gram = gain.T @ gain
    along = gain @ np.linalg.lstsq(gram + 1e-9 * np.trace(gram) * np.eye(len(gram)), left, rcond=None)[0]
    size = 2 * CAUTION
    while size > 1e-3:
        made = rng.random(len(gain)) < size * along
        if made.any() and np.square(left - gain[made].sum(axis=0)).sum() < left @ left:
            return np.asarray(made)
        size /= 2
    return np.zeros(len(gain), dtype=bool)
