"""Order lines, 16,000 x 8: 90 articles in 9 groups with 2 % of mistakes, a second name, a tax that follows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.structure_kinds.kind import Figures, Kind, category, foreign, number, shares_of, words

RECORDS, ARTICLES, GROUPS = 16_000, 90, 9
RARE = "recall"


class Orders(Kind):
    """Figures: groups, names and taxes that do not follow; lines of a rare reason, all of one article."""

    name = "orders"

    def __init__(self) -> None:
        rng = np.random.default_rng(13)
        articles, groups = words("item", ARTICLES), words("group", GROUPS)
        self.group = {a: groups[i] for a, i in zip(articles, rng.integers(0, GROUPS, ARTICLES), strict=True)}
        self.label = dict(zip(articles, np.array(words("name", ARTICLES))[rng.permutation(ARTICLES)], strict=True))
        self.tax = {g: ["7", "19", "0"][i] for g, i in zip(groups, rng.integers(0, 3, GROUPS), strict=True)}
        self.price = np.exp(rng.normal(3.2, 0.8, ARTICLES))

    def attributes(self) -> list[dict[str, Any]]:
        return [
            category("item", words("item", ARTICLES)),
            category("name", words("name", ARTICLES)),
            category("group", words("group", GROUPS)),
            category("tax", ["7", "19", "0"]),
            number("count", 1, 60),
            number("price", 0, 1_000),
            category("reason", ["sale", "gift", "return", RARE]),
            category("land", words("land", 20)),
        ]

    def drawn(self, rng: np.random.Generator) -> pd.DataFrame:
        n = RECORDS
        at = rng.choice(ARTICLES, n, p=shares_of(ARTICLES))
        item = pd.Series(np.array(words("item", ARTICLES))[at])
        wrong = np.array(words("group", GROUPS))[rng.integers(0, GROUPS, n)]
        reason = rng.choice(["sale", "gift", "return"], n, p=[0.85, 0.1, 0.05])
        return pd.DataFrame(
            {
                "item": item,
                "name": item.map(self.label),
                "group": np.where(rng.random(n) < 0.02, wrong, item.map(self.group)),
                "tax": item.map(self.group).map(self.tax),
                "count": np.clip(rng.geometric(0.25, n), 1, 60),
                "price": np.clip(self.price[at] * rng.lognormal(0, 0.1, n), 0, 1_000).round().astype(int),
                "reason": np.where((at == 40) & (rng.random(n) < 0.7), RARE, reason),
                "land": np.array(words("land", 20))[rng.choice(20, n, p=shares_of(20))],
            }
        )

    def figures(self, made: pd.DataFrame, real: pd.DataFrame) -> Figures:
        recalled = made[made.reason == RARE]
        return {
            "item in another group (.018)": foreign(made, "item", "group", self.group),
            "item with a wrong name": foreign(made, "item", "name", self.label),
            "wrong tax of an item": foreign(made, "item", "tax", {i: self.tax[g] for i, g in self.group.items()}),
            "recalls, of the real number": len(recalled) / max((real.reason == RARE).sum(), 1),
            "recalls of the one item": float((recalled["item"] == "item040").mean()) if len(recalled) else 0.0,
        }
