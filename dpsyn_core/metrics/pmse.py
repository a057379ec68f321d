"""Propensity: how well a logistic regression tells synthetic records from real ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpsyn_core.metrics.base import Metric, Score
from dpsyn_core.metrics.comparison import Comparison
from dpsyn_core.metrics.features import Encoder
from dpsyn_core.metrics.registry import register


@register(55)
@dataclass(frozen=True, kw_only=True)
class Propensity(Metric):
    """Main effects of all attributes; at most `most` records of each table, drawn by the seed."""

    name = "pmse"
    title = "Telling real from synthetic"
    question = "Can a simple model tell a synthetic record from a real one?"
    goal = "low"
    minimum = 0.0
    maximum = 0.25
    unit = "mean squared propensity error"
    quick = False
    most: int = 20_000
    seed: int = 0

    def compute(self, comparison: Comparison) -> Score:
        """Mean of (p - c)^2, the pMSE, with c the synthetic share; the floor is what a fresh sample would score.

        Source: Snoke, Raab, Nowok, Dibben, Slavkovic 2018, J. R. Statist. Soc. A 181(3): (k - 1)(1 - c)^2 c / N for
        a logistic model of k parameters.
        """
        from sklearn.linear_model import LogisticRegression
        from sklearn.metrics import roc_auc_score

        c = comparison
        rng = np.random.default_rng(self.seed)
        encode = Encoder.fit(c, c.domain.names)
        rows = [np.sort(rng.permutation(size)[: self.most]) for size in (c.n, c.m)]
        x = np.concatenate([encode(c.truth, c.real_values, rows[0]), encode(c.synthetic, c.synthetic_values, rows[1])])
        y = np.repeat([0, 1], [len(rows[0]), len(rows[1])])
        x = np.unique(x[:, np.ptp(x, axis=0) > 0], axis=1)  # constant and repeated columns say nothing
        share = float(y.mean())
        if x.shape[1] == 0:
            return self._score(0.0, 0.0, 0.5, 1)
        model = LogisticRegression(C=1e4, max_iter=500).fit(x, y)
        p = model.predict_proba(x)[:, 1]
        centred = x.astype(np.float64) - x.mean(axis=0, dtype=np.float64)
        k = int(np.linalg.matrix_rank(centred.T @ centred, hermitian=True)) + 1  # of the columns, at their own size
        expected = (k - 1) * (1 - share) ** 2 * share / len(y)
        return self._score(float(((p - share) ** 2).mean()), expected, float(roc_auc_score(y, p)), k)

    def _score(self, pmse: float, expected: float, auroc: float, parameters: int) -> Score:
        return Score(
            metric=self.name,
            value=pmse,
            floor=expected,
            sentence=f"Shown a real and a synthetic record, a simple model names the real one {auroc:.0%} of the time "
            "(50% is guessing).",
            details={
                "ratio": pmse / expected if expected > 0 else None,
                "auroc": auroc,
                "parameters": parameters,
            },
        )
