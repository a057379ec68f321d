"""Two more measures of SDNist: unique records that are met again, and the principal components of both tables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.metrics.base import Metric, Score, register
from dpsyn_core.metrics.comparison import Codes, Comparison

COMPONENTS = 5  # as SDNist's report shows


def unique_met(real: Codes, synthetic: Codes) -> tuple[int, int]:
    """Numbers of real records that are unlike all other real ones, and of those that also occur among the synthetic."""
    both = np.concatenate([real, synthetic], axis=1).astype(np.uint32)
    which = np.unique(both, axis=1, return_inverse=True)[1].ravel()
    n, kinds = real.shape[1], int(which.max(initial=-1)) + 1
    alone = np.bincount(which[:n], minlength=kinds) == 1
    met = np.bincount(which[n:], minlength=kinds) > 0
    return int(alone.sum()), int((alone & met).sum())


@register(57)
@dataclass(frozen=True, kw_only=True)
class UniqueMatches(Metric):
    """At the resolution of the schema. A fresh sample of the same people has some too: it is no proof of a leak."""

    name = "unique-matches"
    title = "Unique records met again (SDNist)"
    question = "How many of the records that occur once in the real table occur in the synthetic one?"
    goal = "low"
    minimum = 0.0
    maximum = 1.0
    unit = "share of unique records"
    on = "records"
    quick = False

    def compute(self, comparison: Comparison) -> Score:
        """Share of the real records that occur once which the synthetic table has; 0 where none occurs once."""
        alone, met = unique_met(comparison.truth, comparison.synthetic)
        return Score(
            metric=self.name,
            value=met / max(alone, 1),
            sentence=f"{met:,} of {alone:,} records that occur once in the real table also occur in the synthetic one.",
            details={"unique": alone, "met": met},
        )


def component_distances(real: Codes, synthetic: Codes, most: int = COMPONENTS) -> NDArray[np.float64]:
    """Wasserstein distances of both tables along the first components of the real one, in standard deviations there.

    As SDNist: codes are numbers, standardised by the real table. Columns with one value say nothing.
    """
    from scipy.stats import wasserstein_distance

    kept = np.ptp(real, axis=1) > 0
    x, y = real[kept].astype(np.float64), synthetic[kept].astype(np.float64)
    centre, width = x.mean(axis=1, keepdims=True), x.std(axis=1, keepdims=True)
    x, y = (x - centre) / width, (y - centre) / width
    if not len(x) or not y.shape[1]:
        return np.zeros(0)
    values, vectors = np.linalg.eigh(x @ x.T / x.shape[1])
    chosen = [i for i in np.argsort(values)[::-1][:most] if values[i] > 1e-9]
    return np.array([wasserstein_distance(vectors[:, i] @ x, vectors[:, i] @ y) / values[i] ** 0.5 for i in chosen])


@register(58)
@dataclass(frozen=True, kw_only=True)
class PrincipalComponents(Metric):
    """SDNist draws the two tables along these components; here their distance is one number."""

    name = "components"
    title = "Principal components (SDNist)"
    question = "Do the records lie alike along the five directions in which the real ones differ most?"
    goal = "low"
    minimum = 0.0
    maximum = None
    unit = "standard deviations"
    on = "records"
    quick = False

    def compute(self, comparison: Comparison) -> Score:
        """Mean Wasserstein distance along at most five components of the real codes."""
        found = component_distances(comparison.truth, comparison.synthetic)
        value = float(found.mean()) if len(found) else 0.0
        return Score(
            metric=self.name,
            value=value,
            sentence=f"Along the {len(found)} directions in which real records differ most, synthetic ones lie "
            f"{value:.2f} standard deviations from where they should.",
            details={"by_component": found.tolist()},
        )
