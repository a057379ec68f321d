"""A small clinic, 1,600 x 16: one number has a second peak far away, where it was written in another unit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.structure_kinds.kind import Figures, Kind, category, number

RECORDS = 1_600
PLAIN = {"sugar": (40, 400, 110, 25), "iron": (5, 60, 22, 7), "pulse": (30, 200, 75, 13), "sleep": (0, 14, 7, 1.5)}
LISTED = {"sex": 2, "ward": 6, "smoker": 3, "pain": 5, "diet": 4, "insured": 3, "again": 2, "blood": 8, "city": 7}


class Laboratory(Kind):
    """Figures: records in the second peak, over the real number; in the gap between both; and a mean."""

    name = "laboratory"

    def attributes(self) -> list[dict[str, Any]]:
        numbers = [number(n, low, high) for n, (low, high, _, _) in PLAIN.items()]
        listed = [category(n, [str(i) for i in range(k)]) for n, k in LISTED.items()]
        return [number("weight", 30, 250), number("score", 0, 999), number("age", 0, 100), *numbers, *listed]

    def drawn(self, rng: np.random.Generator) -> pd.DataFrame:
        n = RECORDS
        trait = rng.normal(0, 1, n)
        pounds = rng.random(n) < 0.22
        weight = np.clip(rng.normal(74, 9, n) + 4 * trait, 30, 112)
        numbers = {
            name: np.clip(middle + spread * (0.5 * trait + 0.87 * rng.normal(0, 1, n)), low, high).round().astype(int)
            for name, (low, high, middle, spread) in PLAIN.items()
        }
        listed = {
            name: np.clip(k * (0.5 + 0.25 * (rng.normal(0, 1, n) + 0.4 * trait)), 0, k - 1).astype(int).astype(str)
            for name, k in LISTED.items()
        }
        return pd.DataFrame(
            {
                "weight": np.where(pounds, np.clip(weight * 2.2, 30, 250), weight).round().astype(int),
                "score": np.where(rng.random(n) < 0.18, 999, np.clip(rng.normal(120, 40, n), 0, 300))
                .round()
                .astype(int),
                "age": np.clip(rng.normal(55, 17, n), 0, 100).round().astype(int),
                **numbers,
                **listed,
            }
        )

    def figures(self, made: pd.DataFrame, real: pd.DataFrame) -> Figures:
        return {
            "second peak, of real": float((made.weight > 125).mean() / (real.weight > 125).mean()),
            "between the peaks": float(made.weight.between(108, 124).mean()),
            "mean weight, of real": float(made.weight.mean() / real.weight.mean()),
            "score of 999, of real": float((made.score == 999).mean() / (real.score == 999).mean()),
            "scores from 400 to 998": float(made.score.between(400, 998).mean()),
        }
