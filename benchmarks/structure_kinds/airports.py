"""Landings, 15,000 x 7: 160 airports in 35 countries on 5 continents, with 12 currencies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.structure_kinds.kind import Figures, Kind, category, foreign, number, shares_of, words

RECORDS, AIRPORTS, COUNTRIES, CONTINENTS, CURRENCIES = 15_000, 160, 35, 5, 12


class Airports(Kind):
    """Figures: records with an airport in a wrong country, and so on; airports whose commonest country is wrong."""

    name = "airports"

    def __init__(self) -> None:
        rng = np.random.default_rng(11)
        lands, monies = words("land", COUNTRIES), words("coin", CURRENCIES)
        of_airport = np.r_[np.arange(COUNTRIES), rng.choice(COUNTRIES, AIRPORTS - COUNTRIES, p=shares_of(COUNTRIES))]
        self.country = {a: lands[i] for a, i in zip(words("port", AIRPORTS), rng.permutation(of_airport), strict=True)}
        self.continent = {c: f"part{i}" for c, i in zip(lands, rng.integers(0, CONTINENTS, COUNTRIES), strict=True)}
        self.currency = {c: monies[i] for c, i in zip(lands, rng.choice(CURRENCIES, COUNTRIES), strict=True)}
        self.seats = rng.normal(150, 40, AIRPORTS)

    def attributes(self) -> list[dict[str, Any]]:
        return [
            category("airport", words("port", AIRPORTS)),
            category("country", words("land", COUNTRIES)),
            category("continent", (f"part{i}" for i in range(CONTINENTS))),
            category("currency", words("coin", CURRENCIES)),
            category("airline", words("line", 10)),
            number("seats", 10, 400),
            category("season", ["spring", "summer", "autumn", "winter"]),
        ]

    def drawn(self, rng: np.random.Generator) -> pd.DataFrame:
        n = RECORDS
        port = rng.choice(AIRPORTS, n, p=shares_of(AIRPORTS, power=0.9))
        airport = pd.Series(np.array(words("port", AIRPORTS))[port])
        country = airport.map(self.country)
        line = (country.str[4:].astype(int) + rng.choice(10, n, p=np.r_[0.5, 0.2, np.full(8, 0.0375)])) % 10
        return pd.DataFrame(
            {
                "airport": airport,
                "country": country,
                "continent": country.map(self.continent),
                "currency": country.map(self.currency),
                "airline": np.array(words("line", 10))[line],
                "seats": np.clip(self.seats[port] + rng.normal(0, 25, n), 10, 400).round().astype(int),
                "season": rng.choice(["spring", "summer", "autumn", "winter"], n, p=[0.2, 0.4, 0.25, 0.15]),
            }
        )

    def figures(self, made: pd.DataFrame, real: pd.DataFrame) -> Figures:
        commonest = made.groupby("airport").country.agg(lambda c: c.mode().iloc[0])
        return {
            "airport in a wrong country": foreign(made, "airport", "country", self.country),
            "country on a wrong continent": foreign(made, "country", "continent", self.continent),
            "wrong currency of a country": foreign(made, "country", "currency", self.currency),
            "airports mostly in a wrong country": float((commonest.index.map(self.country) != commonest).mean()),
        }
