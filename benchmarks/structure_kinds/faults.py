"""Machine log, 18,000 x 6: .6 % of the records are faults, all of them in four hours of the night with few records."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.structure_kinds.kind import Figures, Kind, category, number, words

RECORDS, FAULTS = 18_000, 108
NIGHT = (1, 2, 3, 4)


class Faults(Kind):
    """Figures: faults over the real number, their share at night, and what a model that learns on the records tells."""

    name = "faults"

    def attributes(self) -> list[dict[str, Any]]:
        return [
            number("hour", 0, 23),
            number("load", 0, 120),
            number("heat", 0, 150, decimals=1),
            category("machine", words("m", 12)),
            category("crew", words("c", 8)),
            category("state", ["fault", "fine"]),
        ]

    def drawn(self, rng: np.random.Generator) -> pd.DataFrame:
        n = RECORDS
        fault = np.arange(n) < FAULTS
        day = rng.choice(np.arange(5, 24), n, p=np.r_[np.full(3, 0.02), np.full(16, 0.94 / 16)])
        late = fault | (rng.random(n) < 0.003)
        load = np.where(fault, rng.normal(82, 9, n), rng.normal(50, 15, n))
        machine = np.where(fault, rng.choice(12, n, p=np.r_[0.3, 0.3, np.full(10, 0.04)]), rng.integers(0, 12, n))
        out = pd.DataFrame(
            {
                "hour": np.where(late, rng.choice(NIGHT, n), day),
                "load": np.clip(load, 0, 120).round().astype(int),
                "heat": np.clip(30 + 0.6 * load + rng.normal(0, 8, n), 0, 150).round(1),
                "machine": np.array(words("m", 12))[machine],
                "crew": np.array(words("c", 8))[(machine + rng.integers(0, 3, n)) % 8],
                "state": np.where(fault, "fault", "fine"),
            }
        )
        return out.sample(frac=1, random_state=rng).reset_index(drop=True)

    def figures(self, made: pd.DataFrame, real: pd.DataFrame) -> Figures:
        faults = made[made.state == "fault"]
        auroc, auprc = _told(made, self.drawn(np.random.default_rng(10**6)))
        return {
            "faults, of the real number": len(faults) / max((real.state == "fault").sum(), 1),
            "faults at night": float(faults.hour.isin(NIGHT).mean()) if len(faults) else 0.0,
            "AUROC on fresh records": auroc,
            "AUPRC on fresh records": auprc,
        }


def _told(made: pd.DataFrame, fresh: pd.DataFrame) -> tuple[float, float]:
    """Of a logistic regression on indicators of hour, machine and crew, and on the numbers."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import average_precision_score, roc_auc_score

    outcome, truth = made.state == "fault", fresh.state == "fault"
    if not 5 <= outcome.sum() < len(made):
        return 0.5, float(truth.mean())
    model = LogisticRegression(max_iter=300).fit(_known(made), outcome)
    chance = model.decision_function(_known(fresh))
    return float(roc_auc_score(truth, chance)), float(average_precision_score(truth, chance))


def _known(table: pd.DataFrame) -> np.ndarray:
    codes = [table.hour.to_numpy(), *(table[c].str[1:].astype(int).to_numpy() for c in ("machine", "crew"))]
    listed = [c[:, None] == np.arange(24) for c in codes]
    return np.column_stack([*listed, (table.load - 50) / 15, (table.heat - 60) / 12])
