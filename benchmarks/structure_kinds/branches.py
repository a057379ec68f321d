"""Baskets, 9,000 x 7: 120 shops in 24 areas of 5 regions, 4 formats; members spend less, but for one format."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.structure_kinds.kind import Figures, Kind, category, foreign, number, shares_of, words

RECORDS, SHOPS, AREAS, REGIONS = 9_000, 120, 24, 5
FORMATS = ["market", "corner", "station", "outlet"]


class Branches(Kind):
    """Figures: places that do not fit, the part of the variance between shops, their ranks, and an interaction."""

    name = "branches"

    def __init__(self) -> None:
        rng = np.random.default_rng(12)
        areas, regions = words("area", AREAS), words("region", REGIONS)
        self.area = {s: areas[i % AREAS] for i, s in enumerate(words("shop", SHOPS))}
        self.region = {a: regions[i % REGIONS] for i, a in enumerate(areas)}
        self.format = {
            s: FORMATS[i] for s, i in zip(self.area, rng.choice(4, SHOPS, p=[0.4, 0.3, 0.2, 0.1]), strict=True)
        }
        self.level = rng.normal(0, 9, SHOPS)

    def attributes(self) -> list[dict[str, Any]]:
        return [
            category("shop", words("shop", SHOPS)),
            category("area", words("area", AREAS)),
            category("region", words("region", REGIONS)),
            category("format", FORMATS),
            category("member", ["yes", "no"]),
            number("basket", 0, 200),
            number("age", 16, 90),
        ]

    def drawn(self, rng: np.random.Generator) -> pd.DataFrame:
        n = RECORDS
        at = rng.choice(SHOPS, n, p=shares_of(SHOPS, power=0.5))
        shop = pd.Series(np.array(words("shop", SHOPS))[at])
        area, kind = shop.map(self.area), shop.map(self.format)
        age = np.clip(rng.normal(45, 16, n), 16, 90)
        member = rng.random(n) < np.where(age > 50, 0.6, 0.35)
        effect = np.where(kind == "station", 8.0, -6.0)
        basket = 70 + self.level[at] + member * effect + 0.1 * (age - 45) + rng.normal(0, 22, n)
        return pd.DataFrame(
            {
                "shop": shop,
                "area": area,
                "region": area.map(self.region),
                "format": kind,
                "member": np.where(member, "yes", "no"),
                "basket": np.clip(basket, 0, 200).round().astype(int),
                "age": age.round().astype(int),
            }
        )

    def figures(self, made: pd.DataFrame, real: pd.DataFrame) -> Figures:
        means = made.groupby("shop").basket.mean()
        others = real.groupby("shop").basket.mean()
        gap = made.groupby(["format", "member"]).basket.mean().unstack()
        gap = (gap["yes"] - gap["no"]).reindex(FORMATS)
        return {
            "shop in a wrong area": foreign(made, "shop", "area", self.area),
            "area in a wrong region": foreign(made, "area", "region", self.region),
            "shop of a wrong format": foreign(made, "shop", "format", self.format),
            "variance between shops": _between(made),
            "rank of shop means": float(means.corr(others, method="spearman")),
            "member x station": float(gap["station"] - gap.drop("station").mean()),
        }


def _between(table: pd.DataFrame) -> float:
    """Share of the variance that lies between shops (ANOVA estimate, which sampling alone does not raise)."""
    groups = table.groupby("shop").basket
    sizes, means, n = groups.size(), groups.mean(), len(table)
    within = float(((table.basket - groups.transform("mean")) ** 2).sum() / (n - len(sizes)))
    among = float((sizes * (means - table.basket.mean()) ** 2).sum() / (len(sizes) - 1))
    usual = (n - (sizes**2).sum() / n) / (len(sizes) - 1)
    variance = max((among - within) / usual, 0.0)
    return float(variance / (variance + within))
