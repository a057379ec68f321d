"""Shapes of numbers: distances, tails and ranges.

Wasserstein distance of every number: how far values would have to move, on average, without any bins.

Tails: how many records lie far outside the usual range of a number.

Range questions on exact numbers: intervals whose ends are values, not borders of bins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate.base import Metric, Score, register
from dpsyn_core.evaluate.comparison import Comparison, Floats
from dpsyn_core.evaluate.correlations import columns, named, worst_first


@register(31)
@dataclass(frozen=True, kw_only=True)
class Wasserstein(Metric):
    """Wasserstein-1 distance of exact numbers, in units of the real interquartile range."""

    name = "wasserstein"
    title = "Distance of numbers"
    question = "How far would the values of a number have to move to match the real ones?"
    goal = "low"
    minimum = 0.0
    maximum = None
    unit = "interquartile ranges"
    on = "exact numbers"

    def compute(self, comparison: Comparison) -> Score:
        """Mean over the numbers, and the figure of each; beside it what a fresh sample would score on average."""
        parts = columns(comparison)
        errors = np.array([distance(c.real, c.synthetic) / c.scale for c in parts])
        floor = np.array([expected_distance(c.real, len(c.synthetic)) / c.scale for c in parts])
        worst = int(errors.argmax())
        return Score(
            metric=self.name,
            value=float(errors.mean()),
            floor=float(floor.mean()),
            sentence=f"The values of a number are {errors.mean():.3f} interquartile ranges away from the real ones on "
            f"average; most for {parts[worst].name} ({errors[worst]:.3f}).",
            details={"columns": worst_first([c.name for c in parts], errors), "max": float(errors.max())},
        )


def distance(real: Floats, synthetic: Floats) -> float:
    """Area between the distribution functions of two sorted samples, in the unit of the values."""
    at = np.sort(np.concatenate([real, synthetic]), kind="stable")
    widths = np.diff(at)
    first = np.searchsorted(real, at[:-1], side="right") / len(real)
    second = np.searchsorted(synthetic, at[:-1], side="right") / len(synthetic)
    return float(np.abs(first - second) @ widths)


def expected_distance(real: Floats, size: int) -> float:
    """What a fresh sample of `size` of the real values scores on average: sqrt(2 / pi) int sqrt(F (1 - F) / size) dx.

    The count below x is binomial; its mean absolute deviation is that of a normal of the same variance, which is
    right for all but the outermost values.
    """
    below = np.arange(1, len(real)) / len(real)
    return float(np.sqrt(2 / np.pi) * (np.sqrt(below * (1 - below) / size) @ np.diff(real)))


@register(32)
@dataclass(frozen=True, kw_only=True)
class Tails(Metric):
    """Share of records beyond the outer fences: three interquartile ranges below or above the real quartiles."""

    name = "tails"
    title = "Mass in the tails"
    question = "Are there as many records far from the rest as there really are?"
    goal = "low"
    minimum = 0.0
    maximum = 1.0
    unit = "share of records"
    on = "exact numbers"

    def compute(self, comparison: Comparison) -> Score:
        """Mean absolute difference of the share of records beyond the fences, and both shares for every number."""
        rows: list[dict[str, Any]] = []
        for c in columns(comparison):
            low, high = c.fences
            real, synthetic = (_beyond(x, low, high) for x in (c.real, c.synthetic))
            rows.append({"attribute": c.name, "low": low, "high": high, "real": real, "synthetic": synthetic})
        errors = np.array([abs(r["synthetic"] - r["real"]) for r in rows])
        worst = rows[int(errors.argmax())]
        return Score(
            metric=self.name,
            value=float(errors.mean()),
            sentence=f"The share of records far outside a number's usual range is off by {errors.mean():.2%} on "
            f"average; most for {worst['attribute']} ({worst['real']:.2%} in the real table, "
            f"{worst['synthetic']:.2%} here).",
            details={"columns": [rows[i] for i in np.argsort(-errors, kind="stable")], "max": float(errors.max())},
        )


def _beyond(values: Floats, low: float, high: float) -> float:
    """Share of sorted values below `low` or above `high`."""
    inside = np.searchsorted(values, high, side="right") - np.searchsorted(values, low, side="left")
    return 1.0 - float(inside) / len(values)


WORST = 10  # questions that are listed


@register(33)
@dataclass(frozen=True, kw_only=True)
class NumberRanges(Metric):
    """Counts inside random intervals of one number, and inside boxes of two, between values of the real table."""

    name = "number-ranges"
    title = "Range questions on exact numbers"
    question = "If somebody counts the records between two values of a number, how far off is the synthetic answer?"
    goal = "low"
    minimum = 0.0
    maximum = 1.0
    unit = "share of records"
    on = "exact numbers"
    count: int = 300
    seed: int = 0

    def compute(self, comparison: Comparison) -> Score:
        """Mean absolute error of a frequency over `count` questions, half of them on two numbers."""
        names = named(comparison)
        if not names:
            msg = "no attribute holds numbers in both tables; declare a column as numeric in the schema"
            raise MetricError(msg)
        rng = np.random.default_rng(self.seed)
        rows = [self._ask(comparison, names, rng, two=i % 2 == 1 and len(names) > 1) for i in range(self.count)]
        errors = np.array([abs(r["synthetic"] - r["real"]) for r in rows])
        return Score(
            metric=self.name,
            value=float(errors.mean()),
            sentence=f"The share of records between two values of a number is off by {errors.mean():.2%} on average "
            f"(half of the answers by less than {np.median(errors):.2%}).",
            details={
                "questions": len(rows),
                "max": float(errors.max()),
                "worst": [rows[i] for i in np.argsort(-errors, kind="stable")[:WORST]],
            },
        )

    def _ask(self, c: Comparison, names: list[str], rng: np.random.Generator, *, two: bool) -> dict[str, Any]:
        """One question: which numbers, between which values, and the share of records in both tables."""
        asked = sorted(rng.choice(len(names), 2 if two else 1, replace=False))
        real, synthetic = np.ones(c.n, dtype=bool), np.ones(c.m, dtype=bool)
        words = []
        for i in asked:
            left, right = c.numbers(names[i])
            low, high = _interval(left, rng)
            real &= (left >= low) & (left <= high)
            synthetic &= (right >= low) & (right <= high)
            words.append(f"{names[i]} in [{low:g}, {high:g}]")
        return {"query": " and ".join(words), "real": float(real.mean()), "synthetic": float(synthetic.mean())}


def _interval(values: Floats, rng: np.random.Generator) -> tuple[float, float]:
    """Two values of a column, in order; the whole line where it holds no number."""
    valid = values[~np.isnan(values)]
    if not len(valid):
        return -np.inf, np.inf
    low, high = np.sort(rng.choice(valid, 2))
    return float(low), float(high)
