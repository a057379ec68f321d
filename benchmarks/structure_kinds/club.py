"""A small club, 320 x 8: two columns of five values nearly follow each other, the others depend on nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.structure_kinds.kind import Figures, Kind, category, cramers_v

RECORDS = 320
SIZES = {"team": 5, "coach": 5, "sex": 2, "year": 6, "town": 4, "fee": 3, "shirt": 4, "post": 2}


class Club(Kind):
    """Figures: Cramer's V of the two, and the largest one among all others."""

    name = "club"

    def attributes(self) -> list[dict[str, Any]]:
        return [category(n, [str(i) for i in range(k)]) for n, k in SIZES.items()]

    def drawn(self, rng: np.random.Generator) -> pd.DataFrame:
        columns = {
            n: rng.choice(k, RECORDS, p=np.arange(3, k + 3) / np.arange(3, k + 3).sum()) for n, k in SIZES.items()
        }
        columns["coach"] = np.where(rng.random(RECORDS) < 0.88, columns["team"], columns["coach"])
        return pd.DataFrame({n: c.astype(str) for n, c in columns.items()})

    def figures(self, made: pd.DataFrame, real: pd.DataFrame) -> Figures:
        names = list(SIZES)
        others = [(a, b) for i, a in enumerate(names) for b in names[:i] if {a, b} != {"team", "coach"}]
        return {
            "V of team and coach": cramers_v(made.team, made.coach),
            "largest V of another pair": max(cramers_v(made[a], made[b]) for a, b in others),
        }
