"""Marginals: total variation distance of all 1-way, all 2-way, and all or many seeded k-way marginals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate.base import Metric, Score, register
from dpsyn_core.evaluate.comparison import Comparison
from dpsyn_core.evaluate.distances import Distances, marginal_distances, sampled_sets
from dpsyn_core.evaluate.subsample import equivalent_subsample, in_words

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
WORST = 10


@dataclass(frozen=True, kw_only=True)
class KWayTVD(Metric):
    """TVD of the marginals of `order` attributes: all when there are at most `all_up_to`, else `count` seeded ones."""

    goal = "low"
    minimum = 0.0
    maximum = 1.0
    unit = "share of records"
    order: int = 4
    count: int = 300
    all_up_to: int = 500
    seed: int = 0
    name: ClassVar[str] = "tvd"
    title: ClassVar[str] = "Marginals"
    question: ClassVar[str] = "How far is an average marginal of this order from the real one?"

    def compute(self, comparison: Comparison) -> Score:
        """Mean TVD over the marginals, their quantiles, the worst ones, and the noise floor of each."""
        d = len(comparison.domain)
        if not 1 <= self.order <= d:
            msg = f"there is no {self.order}-way marginal of {d} attributes; choose an order from 1 to {d}"
            raise MetricError(msg)
        sets = sampled_sets(comparison.domain, self.order, self.count, all_up_to=self.all_up_to, seed=self.seed)
        apart = marginal_distances(comparison, sets)
        mean, floor = float(apart.tvd.mean()), float(apart.floor.mean())
        share = equivalent_subsample(apart, comparison.n)
        what = {1: "an attribute", 2: "a pair of attributes"}.get(self.order, f"a set of {self.order} attributes")
        return Score(
            metric=self.name,
            value=mean,
            floor=floor,
            sentence=f"On average, {mean:.1%} of the records would have to move for {what} to match; "
            f"a fresh sample of this size would need {floor:.1%}. It is as good as {in_words(share)}.",
            details=_details(apart, comparison, sampled=len(sets) < math.comb(d, self.order))
            | {"equivalent_subsample": share},
        )


@register(10)
@dataclass(frozen=True, kw_only=True)
class OneWayTVD(KWayTVD):
    """All 1-way marginals."""

    name = "tvd-1way"
    title = "Single columns"
    question = "Does each attribute alone have the right distribution?"
    order: int = 1
    all_up_to: int = 1_000_000


@register(11)
@dataclass(frozen=True, kw_only=True)
class PairwiseTVD(KWayTVD):
    """All 2-way marginals."""

    name = "tvd-2way"
    title = "Pairs of columns"
    question = "Does each pair of attributes have the right joint distribution?"
    order: int = 2
    all_up_to: int = 1_000_000


@register(12)
@dataclass(frozen=True, kw_only=True)
class ThreeWayTVD(KWayTVD):
    """All 3-way marginals when there are at most 500, else 300 seeded ones."""

    name = "tvd-3way"
    title = "Triples of columns"
    question = "Does each triple of attributes have the right joint distribution?"
    order: int = 3


def _details(found: Distances, comparison: Comparison, *, sampled: bool) -> dict[str, Any]:
    worst = np.argsort(-found.tvd, kind="stable")[:WORST]
    return {
        "sets": len(found.sets),
        "sampled": sampled,
        "mean": found.tvd.mean(),
        "quantiles": {f"{q:g}": float(np.quantile(found.tvd, q)) for q in QUANTILES},
        "max": found.tvd.max(),
        "floor": found.floor.mean(),
        "l1": found.l1.mean(),
        "chi2_per_dof": found.chi2.sum() / max(1, int(found.dof.sum())),
        "worst": [{"attributes": list(found.sets[i]), "tvd": found.tvd[i], "floor": found.floor[i]} for i in worst],
        "by_attribute": _by_attribute(found, comparison),
        "marginals": {
            "attributes": [list(s) for s in found.sets],
            "tvd": found.tvd,
            "l1": found.l1,
            "chi2": found.chi2,
            "dof": found.dof,
            "floor": found.floor,
        },
    }


def _by_attribute(found: Distances, comparison: Comparison) -> dict[str, float]:
    """Mean TVD of the marginals that hold each attribute (absent when none of the drawn ones does)."""
    sums: dict[str, list[float]] = {}
    for names, tvd in zip(found.sets, found.tvd, strict=True):
        for name in names:
            sums.setdefault(name, []).append(float(tvd))
    return {n: float(np.mean(sums[n])) for n in comparison.domain.names if n in sums}
