"""NIST 2018, third score: Gini index and pay-gap rank by group."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from dpsyn_core.errors import MetricError
from dpsyn_core.marginals import figures
from dpsyn_core.metrics.base import Metric, Score
from dpsyn_core.metrics.comparison import Comparison
from dpsyn_core.metrics.income import Incomes, by_group, descending_ranks, group_statistics, incomes, right_gini
from dpsyn_core.metrics.registry import register

FULL = 1_000_000.0


def strict_score(real: Incomes, synthetic: Incomes) -> float:
    """The official score: 5 10^5 (root mean square of the Gini agreement + that of the rank agreement).

    Right-endpoint Gini index, an absent side has mean 0, ranks of the synthetic table run over its own groups,
    a group that it lacks scores 0.
    """
    truth, found = _official(real), _official(synthetic)
    c = len(truth)
    if c < 2:
        msg = "the strict income score divides by the number of groups less one; name a group with two or more values"
        raise MetricError(msg)
    gini = [(1 - abs(g - found[k][0])) ** 2 for k, (g, _) in truth.items() if k in found]
    rank = [max(0.0, 1 - abs(r - found[k][1]) / (c - 1)) ** 2 for k, (_, r) in truth.items() if k in found]
    return FULL / 2 * (math.sqrt(math.fsum(gini) / c) + math.sqrt(math.fsum(rank) / c))


def clean_score(real: Incomes, synthetic: Incomes) -> float:
    """The same agreement with guards: trapezoid Gini index, ranks over the groups whose real gap exists, ties shared.

    A group without a synthetic Gini index or gap scores 0 there; where no group has a real gap only the Gini
    index counts; a single group always has the right rank.
    """
    from scipy.stats import rankdata

    a, b = group_statistics(real), group_statistics(synthetic)
    at = {int(g): i for i, g in enumerate(b.group)}
    pairs = [(i, at.get(int(g))) for i, g in enumerate(a.group)]
    gini = [0.0 if j is None else 1 - abs(float(a.gini[i] - b.gini[j])) for i, j in pairs]
    parts = [_rms(gini)]
    ranked = [(i, j) for i, j in pairs if not np.isnan(a.gap[i])]
    if ranked:
        both = [(i, j) for i, j in ranked if j is not None and not np.isnan(b.gap[j])]
        agreement = [0.0] * (len(ranked) - len(both))
        if both:
            ours = rankdata([-a.gap[i] for i, _ in both])
            theirs = rankdata([-b.gap[j] for _, j in both])
            agreement += [max(0.0, 1 - abs(x - y) / max(1, len(ranked) - 1)) for x, y in zip(ours, theirs, strict=True)]
        parts.append(_rms(agreement))
    return FULL * math.fsum(parts) / len(parts)


def _rms(agreement: list[float]) -> float:
    return math.sqrt(math.fsum(x * x for x in agreement) / len(agreement))


def _official(t: Incomes) -> dict[int, tuple[float, int]]:
    """Gini index and pay-gap rank by group, as the official scripts compute them."""
    group, first = np.unique(t.group, return_index=True)
    gap = figures.gaps(by_group(t, group), t.side, of=lambda g: np.nan_to_num(figures.means(g)))  # absent: mean 0
    ranks = descending_ranks(gap, first)
    gini = right_gini(t, group)
    return {int(g): (float(x), int(r)) for g, x, r in zip(group, gini, ranks, strict=True)}


def official_sides(c: Comparison) -> tuple[Incomes, Incomes]:
    """Incomes as the strict score reads them: a code below both sides joins the second."""
    real, synthetic = incomes(c)
    values, split = c.resolved.split_values, c.resolved.split
    if values is None or split is None or min(values) == 0:
        return real, synthetic
    roles = c.resolved
    out = []
    for t, codes, income in zip((real, synthetic), (c.truth, c.synthetic), c.numbers(roles.income or ""), strict=True):
        limit = np.inf if roles.not_applicable is None else roles.not_applicable
        column = codes[c.domain.index(split)][income < limit]
        out.append(replace(t, side=np.where(column < min(values), 1, t.side)))
    return out[0], out[1]


@register(22)
@dataclass(frozen=True, kw_only=True)
class NistIncome(Metric):
    """Needs an income; groups and sides by the roles of the comparison."""

    name = "nist-income"
    title = "NIST Gini and pay-gap score"
    question = "Are income inequality and the rank of the pay gap right in every group?"
    goal = "high"
    minimum = 0.0
    maximum = FULL
    unit = "points of 1,000,000"
    on = "exact numbers by group"

    def compute(self, comparison: Comparison) -> Score:
        """Headline in the clean mode; the strict score is in the details."""
        clean = clean_score(*incomes(comparison))
        details: dict[str, object] = {"clean": clean, "roles": _roles(comparison)}
        try:
            details["strict"] = strict_score(*official_sides(comparison))
        except MetricError as error:
            details["strict_error"] = str(error)
        return Score(
            metric=self.name,
            value=clean,
            sentence=f"Gini index and pay-gap rank by group agree to {clean / FULL:.1%}.",
            details=details,
        )


def _roles(c: Comparison) -> dict[str, object]:
    r = c.resolved
    words = c.words(r.split) if r.split else []
    return {
        "income": r.income,
        "group": r.group,
        "split": r.split,
        "sides": [words[v] for v in r.split_values] if r.split_values else None,
        "not_applicable": r.not_applicable,
    }
