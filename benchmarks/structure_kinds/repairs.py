"""Insured cars, 22,000 x 8: an amount that is 0 where there was no claim, and has a heavy tail where there was one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.structure_kinds.kind import Figures, Kind, category, number, words

RECORDS = 22_000


class Repairs(Kind):
    """Figures: claims and amounts that disagree, the mean and the tail of amounts, and a gap between classes."""

    name = "repairs"

    def attributes(self) -> list[dict[str, Any]]:
        return [
            category("class", words("class", 9)),
            category("area", words("zone", 14)),
            number("age", 18, 90),
            number("bonus", 0, 22),
            category("fuel", ["petrol", "diesel", "electric"]),
            number("mileage", 0, 60),
            category("claims", ["0", "1", "2", "3"]),
            number("amount", 0, 80_000),
        ]

    def drawn(self, rng: np.random.Generator) -> pd.DataFrame:
        n = RECORDS
        kind = rng.choice(9, n, p=np.array([30, 22, 16, 11, 8, 5, 4, 3, 1]) / 100)
        zone, age = rng.integers(0, 14, n), np.clip(rng.normal(47, 15, n), 18, 90)
        rate = 0.05 * np.exp(0.5 * (age < 26) + 0.05 * kind)
        claims = np.minimum(rng.poisson(rate), 3)
        size = np.exp(7.1 + 0.06 * kind + 1.05 * rng.normal(0, 1, n)) * np.maximum(claims, 1)
        return pd.DataFrame(
            {
                "class": np.array(words("class", 9))[kind],
                "area": np.array(words("zone", 14))[zone],
                "age": age.round().astype(int),
                "bonus": np.clip((age - 18) / 2.6 + rng.normal(0, 4, n) - 3 * claims, 0, 22).round().astype(int),
                "fuel": np.array(["petrol", "diesel", "electric"])[(kind + rng.choice(3, n, p=[0.7, 0.2, 0.1])) % 3],
                "mileage": np.clip(rng.gamma(3, 5, n), 0, 60).round().astype(int),
                "claims": claims.astype(str),
                "amount": np.where(claims > 0, np.clip(size, 1, 80_000), 0).round().astype(int),
            }
        )

    def figures(self, made: pd.DataFrame, real: pd.DataFrame) -> Figures:
        paid = made.amount[made.claims != "0"]
        before = real.amount[real.claims != "0"]
        young = made[made.age < 26], made[made.age >= 26]
        return {
            "claims and amount disagree": float(((made.claims != "0") != (made.amount > 0)).mean()),
            "mean amount of a claim, of real": float(paid.mean() / before.mean()) if len(paid) else 0.0,
            "P99 of claims, of real": float(paid.quantile(0.99) / before.quantile(0.99)) if len(paid) else 0.0,
            "P99.9 of all, of real": float(made.amount.quantile(0.999) / real.amount.quantile(0.999)),
            "claims of the young, over others'": float(
                (young[0].claims != "0").mean() / max((young[1].claims != "0").mean(), 1e-9)
            ),
        }
