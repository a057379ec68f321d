"""Survey with skips, 4,000 x 30: items that are asked of workers, of parents and of smokers alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.structure_kinds.kind import Figures, Kind, alpha, category

RECORDS = 4_000
ASKED = {"works": 8, "parent": 7, "smokes": 5}  # items behind each filter
PART = {"works": 0.62, "parent": 0.45, "smokes": 0.22}
ANSWERS = ["1", "2", "3", "4", "5"]
PLAIN = {"sex": 2, "region": 8, "school": 4, "age": 6, "health": 5, "income": 7, "town": 3}


class Interview(Kind):
    """Figures: records with a broken skip, the alpha of a scale behind a filter, and how two scales agree."""

    name = "interview"

    def attributes(self) -> list[dict[str, Any]]:
        plain = [category(n, [str(i) for i in range(k)]) for n, k in PLAIN.items()]
        filters = [category(f, ["yes", "no"]) for f in ASKED]
        items = [category(f"{f}{i}", [*ANSWERS, "skip"]) for f, k in ASKED.items() for i in range(k)]
        return [*plain, *filters, *items]

    def drawn(self, rng: np.random.Generator) -> pd.DataFrame:
        n = RECORDS
        trait = rng.normal(0, 1, n)
        columns: dict[str, Any] = {
            name: np.clip(k / 2 + 0.25 * k * (rng.normal(0, 1, n) + 0.4 * trait), 0, k - 1).astype(int).astype(str)
            for name, k in PLAIN.items()
        }
        asked = {f: rng.normal(0, 1, n) + 0.3 * trait < _limit(PART[f]) for f in ASKED}
        columns |= {f: np.where(a, "yes", "no") for f, a in asked.items()}
        for f, k in ASKED.items():
            scale = 0.75 * trait + 0.66 * rng.normal(0, 1, n)
            for i in range(k):
                answer = np.clip(np.rint(3 + 0.55 * scale + 0.95 * rng.normal(0, 1, n)), 1, 5).astype(int).astype(str)
                columns[f"{f}{i}"] = np.where(asked[f], answer, "skip")
        return pd.DataFrame(columns)

    def figures(self, made: pd.DataFrame, real: pd.DataFrame) -> Figures:
        items = {f: made[[f"{f}{i}" for i in range(k)]] for f, k in ASKED.items()}
        broken = [(items[f] == "skip").ne(made[f] == "no", axis=0).any(axis=1) for f in ASKED]
        jobs = items["works"].replace("skip", np.nan).astype(float)
        homes = items["parent"].replace("skip", np.nan).astype(float)
        both = pd.concat([jobs.mean(axis=1), homes.mean(axis=1)], axis=1).dropna()
        return {
            "records with a broken skip": float(np.logical_or.reduce(broken).mean()),
            "items that break a skip": float(
                np.mean([(items[f][c] == "skip").ne(made[f] == "no").mean() for f in ASKED for c in items[f]])
            ),
            "alpha of the work scale": alpha(jobs.dropna()),
            "correlation of two scales": float(both.corr().iloc[0, 1]) if len(both) > 2 else float("nan"),
        }


def _limit(part: float) -> float:
    from scipy.stats import norm

    return float(norm.ppf(part) * np.hypot(1, 0.3))
