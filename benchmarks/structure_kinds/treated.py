"""Patients, 7,000 x 11: the severely ill are treated, so that the plain effect has the wrong sign."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.structure_kinds.kind import Figures, Kind, category, log_odds, number, words

RECORDS = 7_000


class Treated(Kind):
    """Figures: log odds of dying by treatment, plain and adjusted, a U shape, and an interaction."""

    name = "treated"

    def attributes(self) -> list[dict[str, Any]]:
        return [
            number("age", 18, 100),
            category("sex", ["f", "m"]),
            number("marker", 0.0, 60.0, decimals=1),
            number("salt", 2.0, 8.0, decimals=1),
            number("pressure", 60, 220),
            category("lung", ["no", "yes"]),
            category("ward", words("ward", 6)),
            category("smoker", ["never", "former", "current"]),
            category("stage", ["1", "2", "3", "4"]),
            category("treated", ["no", "yes"]),
            category("died", ["no", "yes"]),
        ]

    def drawn(self, rng: np.random.Generator) -> pd.DataFrame:
        n = RECORDS
        age = np.clip(rng.normal(66, 14, n), 18, 100).round()
        ill = rng.normal(0, 1, n)
        marker = np.clip(np.exp(1.6 + 0.7 * ill + 0.3 * rng.normal(0, 1, n)), 0.1, 60).round(1)
        salt = np.clip(rng.normal(4.3, 0.7, n), 2, 8).round(1)
        lung = rng.random(n) < 0.25
        stage = np.clip(np.digitize(ill + 0.5 * rng.normal(0, 1, n), [-0.5, 0.5, 1.4]) + 1, 1, 4)
        treated = rng.random(n) < _chance(-0.6 + 1.3 * np.log(marker / 5) + 0.5 * (stage - 2))
        risk = -2.6 + 0.05 * (age - 66) + 1.25 * np.log(marker / 5) + 0.45 * (stage - 2) + 0.9 * (salt - 4.3) ** 2
        died = rng.random(n) < _chance(risk - 0.9 * treated + 0.7 * treated * lung + 0.2 * lung)
        return pd.DataFrame(
            {
                "age": age.astype(int),
                "sex": np.where(rng.random(n) < 0.47, "f", "m"),
                "marker": marker,
                "salt": salt,
                "pressure": np.clip(rng.normal(130 + 0.3 * (age - 66), 20, n), 60, 220).round().astype(int),
                "lung": np.where(lung, "yes", "no"),
                "ward": np.array(words("ward", 6))[(stage + rng.integers(0, 3, n)) % 6],
                "smoker": np.where(lung, "current", rng.choice(["never", "former", "current"], n, p=[0.5, 0.3, 0.2])),
                "stage": stage.astype(str),
                "treated": np.where(treated, "yes", "no"),
                "died": np.where(died, "yes", "no"),
            }
        )

    def figures(self, made: pd.DataFrame, real: pd.DataFrame) -> Figures:
        treated, lung = (made[c].to_numpy() == "yes" for c in ("treated", "lung"))
        salt, stage = made.salt.to_numpy(), made.stage.astype(int).to_numpy()
        died = (made.died == "yes").to_numpy().astype(float)
        found = log_odds(
            died,
            [treated, made.age.to_numpy() - 66, np.log(np.maximum(made.marker.to_numpy(), 0.1) / 5), stage - 2,
             (salt - 4.3), (salt - 4.3) ** 2, lung, treated * lung],
        )  # fmt: skip
        return {
            "log odds of treatment, plain": float(log_odds(died, [treated])[0]),
            "log odds of treatment, adjusted": float(found[0]),
            "log odds of the marker": float(found[2]),
            "U shape of salt": float(found[5]),
            "treatment x lung": float(found[7]),
        }


def _chance(log: np.ndarray) -> np.ndarray:
    return np.asarray(1 / (1 + np.exp(-log)))
