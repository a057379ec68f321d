"""Pupils' questionnaire, 2,000 x 18: a scale of ten items that depend weakly, one of five that depend strongly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.structure_kinds.kind import Figures, Kind, alpha, category, number

RECORDS = 2_000
WEAK, STRONG = 10, 5  # items
ANSWERS, RATINGS = ["1", "2", "3", "4", "5"], ["never", "rarely", "often"]


class Scales(Kind):
    """Figures: how reliable both scales are, how they agree, and how much schools differ."""

    name = "scales"

    def attributes(self) -> list[dict[str, Any]]:
        plain = [category("sex", ["m", "f"]), category("school", list("ABCDEF")), number("age", 10, 19)]
        weak = [category(f"w{i}", ANSWERS) for i in range(WEAK)]
        return [*plain, *weak, *(category(f"v{i}", RATINGS) for i in range(STRONG))]

    def drawn(self, rng: np.random.Generator) -> pd.DataFrame:
        n, means = RECORDS, np.random.default_rng(77).uniform(2.4, 3.8, WEAK)
        school = rng.integers(0, 6, n)
        trait = rng.normal(0, 1, n) + 0.2 * (school - 2.5)
        other = 0.5 * trait + 0.87 * rng.normal(0, 1, n)
        columns: dict[str, Any] = {
            "sex": np.array(["m", "f"])[rng.integers(0, 2, n)],
            "school": np.array(list("ABCDEF"))[school],
            "age": rng.integers(10, 20, n),
        }
        for i, mean in enumerate(means):
            answer = np.clip(np.rint(mean + 0.55 * trait + rng.normal(0, 1, n)), 1, 5)
            columns[f"w{i}"] = answer.astype(int).astype(str)
        for i in range(STRONG):
            rating = np.clip(np.rint(0.8 + 0.6 * other + 0.5 * rng.normal(0, 1, n)), 0, 2)
            columns[f"v{i}"] = np.array(RATINGS)[rating.astype(int)]
        return pd.DataFrame(columns)

    def figures(self, made: pd.DataFrame, real: pd.DataFrame) -> Figures:
        weak = made[[f"w{i}" for i in range(WEAK)]].astype(float)
        strong = made[[f"v{i}" for i in range(STRONG)]].apply(lambda c: c.map(RATINGS.index)).astype(float)
        both = np.corrcoef(weak.mean(axis=1), strong.mean(axis=1))[0, 1]
        return {
            "alpha of ten weak items": alpha(weak),
            "alpha of five strong items": alpha(strong),
            "correlation of both scales": float(np.nan_to_num(both)),
            "deviation of schools' means": float(weak.mean(axis=1).groupby(made["school"]).mean().std()),
        }
