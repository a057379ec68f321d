"""The scores of the NIST challenge: k-marginals on views of the table.

How the official NIST 2018 scripts see a table: numeric columns in 100 bins, enumerated ones as they are.

NIST 2018, first score: 3-way marginal density.

NIST 2018, final score: the mean of density, range queries and income.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate.base import Metric, Score, register
from dpsyn_core.evaluate.comparison import Codes, Comparison
from dpsyn_core.evaluate.distances import marginal_distances, sampled_sets
from dpsyn_core.evaluate.income import NistIncome
from dpsyn_core.evaluate.nist_range import NistRange
from dpsyn_core.schema import AttributeSet, CodedAttribute, Domain

BINS = 100
WIDEN = 1.0001  # the scripts widen the range so that its maximum falls inside the last bin


def strict_view(c: Comparison) -> Comparison:
    """The same tables with numeric attributes in 100 bins of width 1.0001 range / 100, "outrange" last."""
    if not c.bounds:
        return c
    attributes = list(c.domain.attributes)
    real, synthetic = list(c.truth), list(c.synthetic)
    for name, (low, high) in c.bounds.items():
        if name not in c.real_values or name not in c.synthetic_values:
            continue
        i = c.domain.index(name)
        attributes[i] = CodedAttribute(name=name, size=BINS + 1, ordered=True, special=1)
        real[i] = _hundredths(c.real_values[name], low, high)
        synthetic[i] = _hundredths(c.synthetic_values[name], low, high)
    return replace(c, domain=Domain(tuple(attributes)), real=_stack(real), synthetic=_stack(synthetic))


def _hundredths(values: NDArray[np.float64], low: float, high: float) -> NDArray[np.int64]:
    width = (high - low) * WIDEN / BINS or 1.0
    with np.errstate(invalid="ignore"):
        bins = np.floor((values - low) / width)
        inside = (values >= low) & (values <= high)
    return np.where(inside, bins, BINS).astype(np.int64)


def _stack(columns: Sequence[NDArray[Any]]) -> Codes:
    top = max(int(c.max(initial=0)) for c in columns)
    out: Codes = np.stack([c.astype(np.min_scalar_type(top)) for c in columns])
    return out


FULL = 1_000_000.0


def density_score(c: Comparison, sets: Sequence[AttributeSet]) -> float:
    """10^6 (1 - mean L1 / 2) over the marginals; frequencies of each table are divided by its number of records."""
    return FULL * (1 - float(marginal_distances(c, sets).l1.mean()) / 2)


def strict_triples(c: Comparison, count: int, seed: int) -> list[AttributeSet]:
    """Random triples as the official generator draws them: indices 0 .. d - 2, so never the last column."""
    d = len(c.domain)
    if d < 4:
        msg = f"the strict density score draws three columns before the last one, and there are {d} in all"
        raise MetricError(msg)
    rng = np.random.default_rng(seed)
    picks = [np.sort(rng.choice(d - 1, 3, replace=False)) for _ in range(count)]
    return [tuple(c.domain.names[i] for i in p) for p in picks]


@register(20)
@dataclass(frozen=True, kw_only=True)
class NistDensity(Metric):
    """Clean: `triples` distinct triples of all attributes at schema resolution. Strict: 100 by the official rule."""

    name = "nist-density"
    title = "NIST density score"
    question = "How much of the density of random triples of attributes is kept?"
    goal = "high"
    minimum = 0.0
    maximum = FULL
    unit = "points of 1,000,000"
    triples: int = 300
    strict_count: int = 100
    seed: int = 0

    def compute(self, comparison: Comparison) -> Score:
        """Headline in the clean mode; the strict score is in the details."""
        k = min(3, len(comparison.domain))
        clean = density_score(comparison, sampled_sets(comparison.domain, k, self.triples, all_up_to=0, seed=self.seed))
        details: dict[str, float | str] = {"clean": clean}
        try:
            view = strict_view(comparison)
            details["strict"] = density_score(view, strict_triples(view, self.strict_count, self.seed))
        except MetricError as error:
            details["strict_error"] = str(error)
        return Score(
            metric=self.name,
            value=clean,
            sentence=f"Random triples of attributes keep {clean / FULL:.1%} of their density.",
            details=details,
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
            metric=self.name, value=clean, sentence=f"{clean:,.0f} of 1,000,000 points: {of}.", details=details
        )
