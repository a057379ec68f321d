"""NIST 2018, second score: random range queries around real records."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate.base import Metric, Score, register
from dpsyn_core.evaluate.comparison import Comparison
from dpsyn_core.evaluate.workload import CountQuery, Filter, chance_workload, count_queries, count_records

FULL = 1_000_000.0
LEAST = 1e-6  # a synthetic frequency counts as at least this
FEWEST = 30  # queries made from the schema that real records must answer


def range_score(real: NDArray[np.float64], synthetic: NDArray[np.float64]) -> float:
    """10^6 max(0, 1 - RMS of ln(max(f_p, 10^-6) / f_o) / ln 1000) for real frequencies above 0."""
    logs = np.log(np.maximum(synthetic, LEAST) / real)
    return FULL * max(0.0, 1 - float(np.sqrt(np.mean(logs**2))) / math.log(1000))


def query_frequencies(
    c: Comparison, queries: Sequence[CountQuery], *, missing: Collection[str] = ()
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Real and synthetic frequencies; conditions on columns that the synthetic table lacks always match there."""
    kept = [CountQuery(tuple(k for k in q.conditions if k.attribute not in missing)) for q in queries]
    real = count_records(c.domain, c.truth, c.real_values, queries)
    synthetic = count_records(c.domain, c.synthetic, c.synthetic_values, kept)
    return real / c.n, synthetic / c.m


def record_queries(c: Comparison, count: int, *, keep: float, strict: bool, seed: int) -> list[CountQuery]:
    """Queries around distinct random real records, so that each holds at least one of them. Private.

    Args:
        c: the comparison.
        count: at most so many.
        keep: probability that an attribute is asked for.
        strict: values of an enumerated attribute are drawn until one repeats, as the official generator does, and
            a query may ask nothing; otherwise they are a random subset of random size and a query asks something.
        seed: of the workload.
    """
    rng = np.random.default_rng(seed)
    names = c.domain.names
    queries = []
    for row in rng.choice(c.n, size=min(count, c.n), replace=False):
        kept = np.flatnonzero(rng.random(len(names)) < keep)
        if not strict and not len(kept):
            kept = rng.integers(0, len(names), 1)
        queries.append(CountQuery(tuple(_around(c, names[i], int(row), strict=strict, rng=rng) for i in kept)))
    return queries


def _around(c: Comparison, name: str, row: int, *, strict: bool, rng: Generator) -> Filter:
    if name in c.bounds and name in c.real_values and name in c.synthetic_values:
        base, (low, high) = float(c.real_values[name][row]), c.bounds[name]
        if math.isfinite(base):
            reach = float(rng.uniform(0, high - low))
            return Filter(attribute=name, low=base - reach, high=base + reach)
    a = c.domain[name]
    base_code = int(c.truth[c.domain.index(name), row])
    if not strict and a.ordered and base_code < a.size - a.special:
        reach = int(rng.integers(0, a.size - a.special))
        inside = range(max(0, base_code - reach), min(a.size - a.special - 1, base_code + reach) + 1)
        return Filter(attribute=name, codes=tuple(inside))
    chosen = {base_code}
    if strict:
        while (draw := int(rng.integers(0, a.size))) not in chosen:
            chosen.add(draw)
    else:
        others = rng.permutation(a.size)[: int(rng.integers(0, a.size))]
        chosen.update(int(v) for v in others)
    return Filter(attribute=name, codes=tuple(sorted(chosen)))


@register(21)
@dataclass(frozen=True, kw_only=True)
class NistRange(Metric):
    """Clean: each attribute asked for with probability 33 % (the paper). Strict: 10 % and the official draws."""

    name = "nist-range"
    title = "NIST range-query score"
    question = "Do random range queries around real records get the right frequency?"
    goal = "high"
    minimum = 0.0
    maximum = FULL
    unit = "points of 1,000,000"
    count: int = 300
    keep: float = 0.33
    strict_keep: float = 0.10
    seed: int = 0

    def compute(self, comparison: Comparison) -> Score:
        """Headline in the clean mode; the strict score is in the details."""
        details: dict[str, object] = {}
        for mode, keep in (("clean", self.keep), ("strict", self.strict_keep)):
            queries = record_queries(comparison, self.count, keep=keep, strict=mode == "strict", seed=self.seed)
            real, synthetic = query_frequencies(comparison, queries)
            details[mode] = range_score(real, synthetic)
            details[f"{mode}_queries"] = len(queries)
            details[f"{mode}_answered_by_none"] = int((synthetic == 0).sum())
        clean = float(details["clean"])  # type: ignore[arg-type]
        lost = details["clean_answered_by_none"]
        return Score(
            metric=self.name,
            value=clean,
            sentence=f"{len(queries)} range queries around real records score {clean:,.0f} of 1,000,000; "
            f"{lost} of them find no synthetic record.",
            details=details,
        )


@register(21)
@dataclass(frozen=True, kw_only=True)
class NistRangeSchema(Metric):
    """The same score for queries drawn from the schema alone: far more of them ask for few records, or for none.

    Each attribute is asked for with probability `keep`, by a random interval or a random subset of its values.
    Queries that no real record answers have no ratio and are left out.
    """

    name = "nist-range-schema"
    title = "NIST range-query score, queries from the schema"
    question = "Do random ranges, mostly thinly populated, get the right frequency?"
    goal = "high"
    minimum = 0.0
    maximum = FULL
    unit = "points of 1,000,000"
    count: int = 3000  # a draw of 300 alone moves the score of Adult by 18,000 points
    keep: float = 0.33
    seed: int = 0

    def compute(self, comparison: Comparison) -> Score:
        """Headline over all queries that a real record answers."""
        c = comparison
        queries = chance_workload(c.domain, self.count, seed=self.seed, keep=self.keep)
        real, synthetic = count_queries(c, queries)
        asked = real > 0
        if np.count_nonzero(asked) < FEWEST:
            msg = (
                f"real records answer fewer than {FEWEST} of {len(queries)} queries on {len(c.domain)} attributes, too "
                "few for a score; use nist-range"
            )
            raise MetricError(msg)
        value = range_score(real[asked] / c.n, synthetic[asked] / c.m)
        lost = int((synthetic[asked] == 0).sum())
        return Score(
            metric=self.name,
            value=value,
            sentence=f"{int(asked.sum()):,} range queries made from the schema score {value:,.0f} of 1,000,000; "
            f"{lost:,} of them find no synthetic record.",
            details={
                "queries": len(queries),
                "answered": int(asked.sum()),
                "answered_by_none": lost,
                "median_frequency": float(np.median(real[asked]) / c.n),
                "seed": self.seed,
            },
        )
