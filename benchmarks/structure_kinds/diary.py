"""Time use, 25,000 x 7: what somebody does follows from the hour, the weekday and who it is, all three together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.structure_kinds.kind import Figures, Kind, category, number

RECORDS = 25_000
DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
PEOPLE = ["pupil", "worker", "nurse", "retired"]
DOES = ["sleep", "lesson", "work", "care", "travel", "leisure", "meal"]


class Diary(Kind):
    """Figures: lessons of pupils on mornings of school days and on Sundays, work of nurses at night."""

    name = "diary"

    def attributes(self) -> list[dict[str, Any]]:
        return [
            category("day", DAYS),
            number("hour", 0, 23),
            category("who", PEOPLE),
            category("does", DOES),
            category("place", ["home", "out", "road"]),
            category("alone", ["no", "yes"]),
            category("region", [str(i) for i in range(9)]),
        ]

    def drawn(self, rng: np.random.Generator) -> pd.DataFrame:
        n = RECORDS
        day, hour, who = rng.integers(0, 7, n), rng.integers(0, 24, n), rng.choice(4, n, p=[0.22, 0.45, 0.08, 0.25])
        does = np.where((hour < 7) | (hour > 22), 0, rng.choice([4, 5, 6], n, p=[0.2, 0.6, 0.2]))
        school = (who == 0) & (day < 5) & (hour > 7) & (hour < 14)
        job = (who == 1) & (day < 5) & (hour > 8) & (hour < 18)
        shift = (who == 2) & ((hour < 6) | (hour > 20))
        does = np.where(school & (rng.random(n) < 0.85), 1, does)
        does = np.where(job & (rng.random(n) < 0.75), 2, does)
        does = np.where(shift & (rng.random(n) < 0.7), 3, does)
        out = np.isin(does, [1, 2, 3]) | (rng.random(n) < 0.15)
        return pd.DataFrame(
            {
                "day": np.array(DAYS)[day],
                "hour": hour,
                "who": np.array(PEOPLE)[who],
                "does": np.array(DOES)[does],
                "place": np.where(does == 4, "road", np.where(out, "out", "home")),
                "alone": np.where(rng.random(n) < np.where(does == 0, 0.7, 0.3), "yes", "no"),
                "region": rng.integers(0, 9, n).astype(str),
            }
        )

    def figures(self, made: pd.DataFrame, real: pd.DataFrame) -> Figures:
        weekday = ~made.day.isin(["Sat", "Sun"])
        pupil, nurse = made.who == "pupil", made.who == "nurse"
        morning, night = made.hour.between(8, 13), (made.hour < 6) | (made.hour > 20)
        lesson = made.does == "lesson"
        return {
            "lessons of pupils on school mornings": float(lesson[pupil & weekday & morning].mean()),
            "lessons of pupils on Sundays": float(lesson[pupil & (made.day == "Sun")].mean()),
            "lessons of others": float(lesson[~pupil].mean()),
            "care of nurses at night": float((made.does == "care")[nurse & night].mean()),
            "travel that is not on the road": float(((made.does == "travel") != (made.place == "road")).mean()),
        }
