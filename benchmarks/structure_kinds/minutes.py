"""Journeys, 12,000 x 6: whole minutes that people round to 5, money to 10, and distances that nobody rounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.structure_kinds.kind import Figures, Kind, category, number

RECORDS = 12_000


class Minutes(Kind):
    """Figures: shares that are divisible, and means."""

    name = "minutes"

    def attributes(self) -> list[dict[str, Any]]:
        return [
            number("minutes", 0, 240),
            number("fare", 0, 2_000),
            number("metres", 0, 40_000),
            number("wait", 0, 90),
            category("by", ["foot", "bus", "train", "car", "bike"]),
            category("for", ["work", "school", "shop", "visit"]),
        ]

    def drawn(self, rng: np.random.Generator) -> pd.DataFrame:
        n = RECORDS
        by = rng.choice(5, n, p=[0.25, 0.2, 0.1, 0.35, 0.1])
        minutes = np.clip(rng.gamma(2.2, 14, n) * (1 + 0.5 * (by == 2)), 5, 240)
        pace = np.array([75, 280, 900, 600, 240])[by]
        return pd.DataFrame(
            {
                "minutes": (np.rint(minutes / 5) * 5).astype(int),
                "fare": np.where(np.isin(by, [1, 2]), np.rint(np.clip(minutes * 9, 0, 2_000) / 10) * 10, 0).astype(int),
                "metres": np.clip(minutes * pace * rng.lognormal(0, 0.2, n), 0, 40_000).round().astype(int),
                "wait": np.where(rng.random(n) < 0.75, rng.choice([0, 15, 30, 45], n), rng.integers(0, 60, n)),
                "by": np.array(["foot", "bus", "train", "car", "bike"])[by],
                "for": rng.choice(["work", "school", "shop", "visit"], n, p=[0.4, 0.2, 0.25, 0.15]),
            }
        )

    def figures(self, made: pd.DataFrame, real: pd.DataFrame) -> Figures:
        return {
            "minutes divisible by 5": float((made.minutes % 5 == 0).mean()),
            "fares divisible by 10": float((made.fare % 10 == 0).mean()),
            "waits divisible by 15": float((made.wait % 15 == 0).mean()),
            "metres divisible by 5": float((made.metres % 5 == 0).mean()),
            "mean of minutes, of real": float(made.minutes.mean() / real.minutes.mean()),
        }
