"""A small table in which nothing depends on anything, 500 x 12: what looking for dependence costs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.structure_kinds.kind import Figures, Kind, category, cramers_v

RECORDS = 500
SIZES = {f"c{i:02d}": 2 + i % 5 for i in range(12)}


class Unrelated(Kind):
    """Figure: the mean of Cramer's V over all pairs."""

    name = "unrelated"

    def attributes(self) -> list[dict[str, Any]]:
        return [category(n, [str(i) for i in range(k)]) for n, k in SIZES.items()]

    def drawn(self, rng: np.random.Generator) -> pd.DataFrame:
        return pd.DataFrame(
            {
                n: rng.choice(k, RECORDS, p=np.arange(2, k + 2) / np.arange(2, k + 2).sum()).astype(str)
                for n, k in SIZES.items()
            }
        )

    def figures(self, made: pd.DataFrame, real: pd.DataFrame) -> Figures:
        names = list(SIZES)
        return {"mean V": float(np.mean([cramers_v(made[a], made[b]) for i, a in enumerate(names) for b in names[:i]]))}
