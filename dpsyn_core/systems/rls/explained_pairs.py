"""Pairs that a fit to the tables of a tree explains, so that they need no table; their scores go through the gate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.estimate import shrink_unordered
from dpsyn_core.measure import Gate, choose_tables, score_sets
from dpsyn_core.privacy import Cost
from dpsyn_core.systems.rls.budget import Noise
from dpsyn_core.systems.rls.evidence import RlsEvidence
from dpsyn_core.systems.rls.expectation import fitted_tables
from dpsyn_core.systems.rls.pairs import Pairs, sampling_errors

if TYPE_CHECKING:
    from dpsyn_core.measure import Counter


class ExplainedPairs:
    """Doubtful pairs that the tables of the others explain: measuring them would add more error than it removes.

    Of what is released so far, records are fitted, and what they show of each doubtful pair is the expected table.
    """

    def __init__(self, pairs: Pairs, view: RlsEvidence) -> None:
        """view: of the tables of all pairs that are not doubtful."""
        self.pairs, self.view, self.places = pairs, view, np.flatnonzero(pairs.doubtful)
        self.sets, self.maps = [pairs.sets[i] for i in self.places], [pairs.recodes[i] for i in self.places]
        self.alone = [view.product(s, m) for s, m in zip(self.sets, self.maps, strict=True)]
        self.fitted = fitted_tables(view, self.sets, self.maps)
        self.chance = sampling_errors(self.alone)
        self.excess = np.array([pairs.scores[s] for s in self.sets]) - self.chance
        self.shown = np.array([float(np.abs(f - a).sum()) for f, a in zip(self.fitted, self.alone, strict=True)])
        whole = max(float(self.excess.sum()), 1e-9)
        self._short, self._noisy = 1 - float(self.shown.sum()) / whole, pairs.sigma * len(self.places) / whole

    @property
    def vague(self) -> bool:
        """Whether the fit may fall short of the scores of all doubtful pairs for their noise alone."""
        return self._short <= self._noisy / self.view.tuning.pairs.vague

    def by_scores(self, noise: Noise) -> NDArray[np.bool_]:
        """Where the fit shows what the scores of all doubtful pairs show together, those of which it shows as much.

        As in a tree: such a pair is off by sampling alone. Where the fit falls short of all together, there is none:
        that it shows as much dependence for one of them does not say that it is the same dependence. For each pair.
        """
        t, sigma = self.view.tuning.pairs, self.pairs.sigma
        if self._short > min(1 - t.explains, t.vague * self._noisy):
            return np.zeros(len(self.pairs.sets), dtype=np.bool_)
        explained = self.shown >= t.explains * (self.excess - sigma)
        return self._needless(np.where(explained, self.chance, np.inf), self.pairs.cost, noise)

    def by_fit(self, counter: Counter, *, cost: Cost, noise: Noise, gate: Gate) -> NDArray[np.bool_]:
        """Scores the doubtful pairs against the fit, and chooses those of which it is too near to pay for a table."""
        tuning = self.view.tuning.records.shrinkage
        scores, sigma = score_sets(
            counter, self.sets, self.fitted, self.maps, cost=cost, gate=gate, name="scores of pairs against a fit"
        )
        excess = scores - self.chance
        off = np.minimum(shrink_unordered(excess, sigma, tuning=tuning), self.excess + self.pairs.sigma)
        return self._needless(self.chance + np.maximum(off, 0.0), self.pairs.cost.less(cost), noise)

    def _needless(self, off: NDArray[np.float64], cost: Cost, noise: Noise) -> NDArray[np.bool_]:
        """Doubtful pairs that no table pays for; off: how far each is from the fit, inf where it needs one."""
        pairs, weights = self.pairs, self.pairs.weights[:, None]
        errors = np.stack([np.full(len(pairs.sets), 2 * max(self.view.total, 1.0)), np.zeros(len(pairs.sets))], axis=1)
        errors[self.places, 0] = np.minimum(off, errors[self.places, 0])
        cells = np.stack([np.zeros(len(pairs.sets)), pairs.cells], axis=1)
        chosen = choose_tables(
            errors * weights,
            cells * weights,
            cost=cost,
            sensitivity=noise.sensitivity,
            noise_factor=self.view.tuning.pairs.noise_factor,
        )
        out = np.zeros(len(pairs.sets), dtype=np.bool_)
        out[self.places] = np.isfinite(off) & (chosen[self.places] == 0)
        return out
