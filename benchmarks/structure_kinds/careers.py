"""A panel, 6,000 x 11: the state of people in eight half-years; nobody comes back from two of the states."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.structure_kinds.kind import Figures, Kind, category

RECORDS, WAVES = 6_000, 8
STATES = ["study", "work", "search", "care", "retired", "dead"]
STEP = np.array(
    [
        [0.80, 0.12, 0.06, 0.015, 0.0, 0.005],
        [0.01, 0.90, 0.04, 0.02, 0.025, 0.005],
        [0.03, 0.35, 0.55, 0.06, 0.0, 0.01],
        [0.02, 0.12, 0.05, 0.80, 0.0, 0.01],
        [0.0, 0.0, 0.0, 0.0, 0.97, 0.03],
        [0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
    ]
)


class Careers(Kind):
    """Figures: people who come back from the dead or from retirement, who stay in a state, and who die in all."""

    name = "careers"

    def attributes(self) -> list[dict[str, Any]]:
        waves = [category(f"wave{t}", STATES) for t in range(WAVES)]
        return [*waves, category("sex", ["f", "m"]), category("group", list("abcdef")), category("school", list("123"))]

    def drawn(self, rng: np.random.Generator) -> pd.DataFrame:
        n = RECORDS
        group = rng.integers(0, 6, n)
        state = np.where(group == 0, 0, np.where(group == 5, 4, rng.choice(4, n, p=[0.05, 0.7, 0.12, 0.13])))
        waves, cumulative = [state], np.cumsum(STEP, axis=1)
        for _ in range(WAVES - 1):
            state = (rng.random(n)[:, None] > cumulative[state]).sum(axis=1).clip(0, 5)
            waves.append(state)
        columns = {f"wave{t}": np.array(STATES)[s] for t, s in enumerate(waves)}
        school = np.where(rng.random(n) < 0.5, (group % 3), rng.integers(0, 3, n)) + 1
        return pd.DataFrame(
            {
                **columns,
                "sex": rng.choice(["f", "m"], n),
                "group": np.array(list("abcdef"))[group],
                "school": school.astype(str),
            }
        )

    def figures(self, made: pd.DataFrame, real: pd.DataFrame) -> Figures:
        waves = made[[f"wave{t}" for t in range(WAVES)]].to_numpy()
        before, after = waves[:, :-1], waves[:, 1:]
        dead = waves == "dead"
        back = ((before == "dead") & (after != "dead")).any(axis=1)
        again = ((before == "retired") & ~np.isin(after, ["retired", "dead"])).any(axis=1)
        return {
            "come back from the dead, of those dead": float(back.sum() / max(dead.any(axis=1).sum(), 1)),
            "leave retirement for work": float(again.sum() / max((waves == "retired").any(axis=1).sum(), 1)),
            "in the state of the half-year before": float((before == after).mean()),
            "work through all waves": float((waves == "work").all(axis=1).mean()),
            "dead in the last wave, of real": float(dead[:, -1].mean() / (real.wave7 == "dead").mean()),
        }
