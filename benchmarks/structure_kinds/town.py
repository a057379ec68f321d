"""A map, 18,000 x 6: three hot spots, a road across the town, and a lake without records."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.structure_kinds.kind import Figures, Kind, category, number

RECORDS, SIDE = 18_000, 300
SPOTS = np.array([(60, 80), (210, 90), (150, 240)])
LAKE, RADIUS = (100, 170), 32
KINDS = ["home", "shop", "crash", "theft", "noise"]


class Town(Kind):
    """Figures: shares on the road, in the lake and at hot spots, and of crashes on the road."""

    name = "town"

    def attributes(self) -> list[dict[str, Any]]:
        return [
            number("east", 0, SIDE),
            number("north", 0, SIDE),
            category("event", KINDS),
            category("night", ["no", "yes"]),
            number("hour", 0, 23),
            category("day", ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]),
        ]

    def drawn(self, rng: np.random.Generator) -> pd.DataFrame:
        n = 2 * RECORDS  # what falls into the lake or out of the town is drawn again
        where = rng.choice(5, n, p=[0.22, 0.15, 0.12, 0.23, 0.28])
        along = rng.uniform(0, SIDE, n)
        east = np.where(where < 3, SPOTS[np.minimum(where, 2), 0] + rng.normal(0, 9, n), along)
        north = np.where(where < 3, SPOTS[np.minimum(where, 2), 1] + rng.normal(0, 9, n), rng.uniform(0, SIDE, n))
        north = np.where(where == 3, _road(along) + rng.normal(0, 2.5, n), north)
        inside = (np.minimum(east, north) >= 0) & (np.maximum(east, north) <= SIDE)
        inside &= np.hypot(east - LAKE[0], north - LAKE[1]) > RADIUS
        kept = np.flatnonzero(inside)[:RECORDS]
        where, m = where[kept], len(kept)
        event = np.where(
            where == 3, rng.choice(5, m, p=[0.05, 0.1, 0.6, 0.1, 0.15]), rng.choice(5, m, p=[0.4, 0.2, 0.05, 0.2, 0.15])
        )
        hour = np.where(where == 0, rng.normal(22, 2, m), rng.normal(14, 4.5, m)).round().astype(int) % 24
        return pd.DataFrame(
            {
                "east": east[kept].round().astype(int),
                "north": north[kept].round().astype(int),
                "event": np.array(KINDS)[event],
                "night": np.where((hour < 6) | (hour > 20), "yes", "no"),
                "hour": hour,
                "day": rng.choice(["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"], m),
            }
        )

    def figures(self, made: pd.DataFrame, real: pd.DataFrame) -> Figures:
        road = (made.north - _road(made.east)).abs() <= 6
        crashes = made.event == "crash"
        late = (made.hour < 6) | (made.hour > 20)
        return {
            "on the road": float(road.mean()),
            "crashes on the road": float(road[crashes].mean()),
            "in the lake": float((np.hypot(made.east - LAKE[0], made.north - LAKE[1]) < RADIUS - 2).mean()),
            "at hot spots": float(
                np.logical_or.reduce([np.hypot(made.east - x, made.north - y) < 18 for x, y in SPOTS]).mean()
            ),
            "hour and night disagree": float((late != (made.night == "yes")).mean()),
        }


def _road(east: Any) -> Any:
    return 20 + 0.85 * east
