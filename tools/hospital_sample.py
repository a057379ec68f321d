"""The bundled stays in a hospital, a documented model (docs/reference/sample.md) whose records obey declared rules."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
PATIENTS = 4_200
FIRST_DAY, DAYS = np.datetime64("2023-01-01"), 365  # of admission
LONGEST = 60  # days of a stay
# ward, share of adults, days of an average stay, euros a day, euros of a stay
WARDS = (
    ("Internal medicine", 0.34, 5.5, 420, 600),
    ("Surgery", 0.26, 4.0, 510, 2600),
    ("Day surgery", 0.14, 0.0, 0, 1300),
    ("Cardiology", 0.12, 4.8, 560, 1900),
    ("Maternity", 0.08, 2.6, 450, 1500),
    ("Geriatrics", 0.06, 11.0, 380, 400),
    ("Paediatrics", 0.0, 2.9, 470, 500),
)
NAMES = tuple(w[0] for w in WARDS)
MARITAL = ("single", "married", "divorced", "widowed")
RULES: list[dict[str, Any]] = [
    {"kind": "order", "lower": "admitted", "upper": "discharged"},
    {"kind": "difference", "column": "los_days", "of": "discharged", "minus": "admitted"},
    {"kind": "impossible", "where": "age in [0, 15] and marital in {married, divorced, widowed}"},
    {"kind": "impossible", "where": "ward = Paediatrics and age in [18, 99]"},
    {"kind": "impossible", "where": "ward = Geriatrics and age in [0, 64]"},
    {"kind": "impossible", "where": "ward = Day surgery and los_days in [1, 60]"},
]


class Draws(Protocol):
    """What the generator of samples offers (`make_sample.Chance`)."""

    def uniform(self, n: int) -> Floats:
        """On [0, 1)."""

    def normal(self, n: int) -> Floats:
        """Standard normal."""

    def pick(self, weights: Floats) -> Ints:
        """One column index a row of weights."""

    def yes(self, probability: Floats | float, n: int) -> NDArray[np.bool_]:
        """True with the given probabilities."""


def hospital(chance: Draws, patients: int = PATIENTS) -> dict[str, NDArray[np.generic]]:
    """Stays: most patients have one, some two or three; a stay never ends before it begins."""
    stays = 1 + chance.yes(0.16, patients) + (chance.yes(0.16, patients) & chance.yes(0.3, patients))
    patient = np.repeat(np.arange(patients), stays)
    n = len(patient)
    child = chance.yes(0.13, patients)
    adult = np.clip(np.round(57 + 19 * chance.normal(patients)), 18, 99)
    age = np.where(child, np.floor(18 * chance.uniform(patients)), adult).astype(np.int64)[patient]
    shares = np.tile([w[1] for w in WARDS], (n, 1))
    shares[:, NAMES.index("Geriatrics")] = np.where(age >= 65, 0.22, 0.0)
    shares[:, NAMES.index("Maternity")] *= ((age >= 18) & (age <= 45)) * 3.0
    young = age < 18
    shares[young] = 0.0
    shares[young, NAMES.index("Paediatrics")] = 0.8
    shares[young, NAMES.index("Surgery")] = 0.2
    ward = chance.pick(shares)
    average = np.array([w[2] for w in WARDS])[ward] * (1 + np.maximum(age - 60, 0) / 80)
    drawn = np.floor(-np.log1p(-chance.uniform(n)) * average + 0.5 * (average > 0))
    los = np.minimum(drawn, LONGEST).astype(np.int64)
    emergency = chance.yes(np.where(ward == NAMES.index("Day surgery"), 0.02, 0.25 + age / 250), n)
    week = np.array([1.25, 1.2, 1.1, 1.1, 1.0, 0.55, 0.5])
    # planned stays begin on working days; 2023-01-01 was a Sunday
    day = chance.pick(np.where(emergency[:, None], 1.0, np.tile(np.roll(week, 1), (n, DAYS // 7 + 1))[:, :DAYS]))
    single = np.where(age < 16, 1.0, 1 / (1 + np.exp((age - 29) / 6)))
    widowed = np.where(age < 16, 0.0, 0.55 / (1 + np.exp((80 - age) / 7)))
    rest = 1 - single - widowed * (1 - single)
    marital = chance.pick(np.stack([single, 0.78 * rest, 0.22 * rest, widowed * (1 - single)], axis=1))
    euros = np.array([w[4] for w in WARDS])[ward] + np.array([w[3] for w in WARDS])[ward] * (los + 0.5)
    cost = np.clip(np.round(euros * np.exp(0.35 * chance.normal(n)) / 10) * 10, 50, 60_000).astype(np.int64)
    order = np.argsort(chance.uniform(n), kind="stable")
    admitted = FIRST_DAY + day.astype("timedelta64[D]")
    columns: dict[str, NDArray[np.generic]] = {
        "patient_id": np.char.add("p", (200_000 + patient).astype(str)),
        "admitted": admitted,
        "discharged": admitted + los.astype("timedelta64[D]"),
        "los_days": los,
        "ward": np.array(NAMES)[ward],
        "emergency": np.where(emergency, "yes", "no"),
        "age": age,
        "marital": np.array(MARITAL)[marital],
        "cost": cost,
    }
    return {name: column[order] for name, column in columns.items()}


def hospital_schema() -> dict[str, Any]:
    """The public description of the stays, with the rules of every record; three stays of a patient count."""

    def listed(name: str, values: tuple[str, ...]) -> dict[str, Any]:
        return {
            "name": name, "kind": "categorical", "values": list(values), "ordered": False, "other": False,
            "missing": False, "source": "public",
        }  # fmt: skip

    def whole(name: str, least: int, most: int, bins: dict[str, Any], **more: Any) -> dict[str, Any]:
        return {
            "name": name, "kind": "numeric", "dtype": "integer", "min": least, "max": most, "bins": bins, **more,
            "missing": False, "source": "public",
        }  # fmt: skip

    def date(name: str, last: str) -> dict[str, Any]:
        return {
            "name": name, "kind": "datetime", "min": str(FIRST_DAY), "max": last, "bins": {"every": "month"},
            "missing": False, "source": "public",
        }  # fmt: skip

    return {
        "version": 1,
        "name": "hospital",
        "unit": {"neighbours": "add-remove", "identifier": "patient_id", "max_records": 3, "source": "public"},
        "n_records": None,
        "attributes": [
            {"name": "patient_id", "kind": "identifier", "source": "public"},
            date("admitted", "2023-12-31"),
            date("discharged", "2024-02-29"),
            whole("los_days", 0, LONGEST, {"count": LONGEST + 1}),
            listed("ward", NAMES),
            listed("emergency", ("no", "yes")),
            whole("age", 0, 99, {"count": 20}),
            listed("marital", MARITAL),
            whole("cost", 0, 60_000, {"count": 60}, step=10),
        ],
        "rules": [rule | {"source": "public"} for rule in RULES],
    }
