"""Wasserstein distance of every number: how far values would have to move, on average, without any bins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpsyn_core.metrics.base import Metric, Score
from dpsyn_core.metrics.comparison import Comparison, Floats
from dpsyn_core.metrics.raw_numbers import columns, worst_first
from dpsyn_core.metrics.registry import register


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
        found = columns(comparison)
        errors = np.array([distance(c.real, c.synthetic) / c.scale for c in found])
        floor = np.array([expected_distance(c.real, len(c.synthetic)) / c.scale for c in found])
        worst = int(errors.argmax())
        return Score(
            metric=self.name,
            value=float(errors.mean()),
            floor=float(floor.mean()),
            sentence=f"The values of a number are {errors.mean():.3f} interquartile ranges away from the real ones on "
            f"average; most for {found[worst].name} ({errors[worst]:.3f}).",
            details={"columns": worst_first([c.name for c in found], errors), "max": float(errors.max())},
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
