"""NIST 2018, final score: the mean of density, range queries and income."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from dpsyn_core.errors import MetricError
from dpsyn_core.metrics.base import Metric, Score
from dpsyn_core.metrics.comparison import Comparison
from dpsyn_core.metrics.nist_density import NistDensity, density_score
from dpsyn_core.metrics.nist_income import NistIncome, official_sides, strict_score
from dpsyn_core.metrics.nist_range import NistRange, query_frequencies, range_score
from dpsyn_core.metrics.registry import register
from dpsyn_core.metrics.workload import CountQuery
from dpsyn_core.schema.domain import AttributeSet

FULL = 1_000_000.0


@dataclass(frozen=True, kw_only=True, slots=True)
class OfficialScores:
    """The three official scores and their mean."""

    density: float
    range: float
    income: float

    @property
    def overall(self) -> float:
        """Mean of the three."""
        return (self.density + self.range + self.income) / 3


def official_scores(
    c: Comparison, triples: Sequence[AttributeSet], queries: Sequence[CountQuery], *, missing: Collection[str] = ()
) -> OfficialScores:
    """Strict scores for a given workload, as the official scorer computes them from its ground-truth files."""
    return OfficialScores(
        density=density_score(c, triples),
        range=range_score(*query_frequencies(c, queries, missing=missing)),
        income=strict_score(*official_sides(c)),
    )


def by_round(scores: Sequence[float]) -> list[float]:
    """The three rounds of the challenge: the first was judged by density alone, the second by density and range too.

    Args:
        scores: density, range and income.

    Returns:
        Means of the first, the first two and all three.
    """
    return [sum(scores[:i]) / i for i in range(1, len(scores) + 1)]


@register(23)
@dataclass(frozen=True, kw_only=True)
class NistFinal(Metric):
    """Mean of the scores that can be computed on these tables, with the ones that cannot named."""

    name = "nist"
    title = "NIST 2018 final score"
    question = "How would the table have scored in the NIST 2018 challenge?"
    goal = "high"
    minimum = 0.0
    maximum = FULL
    unit = "points of 1,000,000"
    seed: int = 0

    def compute(self, comparison: Comparison) -> Score:
        """Headline in the clean mode; the strict mean is in the details when all three strict scores exist."""
        parts: dict[str, Score] = {}
        missing: dict[str, str] = {}
        for metric in (NistDensity(seed=self.seed), NistRange(seed=self.seed), NistIncome()):
            try:
                parts[metric.name] = metric.score(comparison)
            except MetricError as error:
                missing[metric.name] = str(error)
        if not parts:
            raise MetricError("; ".join(dict.fromkeys(missing.values())))
        clean = sum(p.value for p in parts.values()) / len(parts)
        strict = [p.details["strict"] for p in parts.values() if "strict" in p.details]
        details: dict[str, object] = {
            "clean": clean,
            "parts": {name: p.details for name, p in parts.items()},
            "missing": missing,
        }
        if len(strict) == 3:
            details["strict"] = sum(strict) / 3
        rounds = {"clean": [p.value for p in parts.values()], "strict": strict}
        details["rounds"] = {mode: by_round(values) for mode, values in rounds.items() if len(values) == 3}
        of = "the mean of all three scores" if not missing else f"the mean of {len(parts)} of 3 scores"
        return Score(
            metric=self.name,
            value=clean,
            sentence=f"{clean:,.0f} of 1,000,000 points: {of}.",
            details=details,
        )
