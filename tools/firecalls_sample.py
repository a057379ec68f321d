"""The bundled calls to a fire brigade, a model (docs/reference/sample.md) with a worked design for `dpsyn-2018`."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
CALLS = 12_000
FIRST_DAY, DAYS = np.datetime64("2023-01-01"), 365  # of the call; what follows it may be a day later
# name, group, share, units that come first, share of ambulances, share that ends in a hospital
TYPES = (
    ("Medical incident", "Potentially life-threatening", 0.46, 0.72, 0.42),
    ("Breathing difficulty", "Potentially life-threatening", 0.12, 0.80, 0.61),
    ("Fall", "Non life-threatening", 0.10, 0.85, 0.48),
    ("Traffic collision", "Potentially life-threatening", 0.06, 0.50, 0.28),
    ("Alarm", "Alarm", 0.12, 0.02, 0.0),
    ("Structure fire", "Fire", 0.05, 0.12, 0.02),
    ("Outside fire", "Fire", 0.03, 0.02, 0.0),
    ("Gas leak", "Fire", 0.015, 0.02, 0.0),
    ("Water rescue", "Potentially life-threatening", 0.005, 0.30, 0.10),
    ("Citizen assist", "Non life-threatening", 0.03, 0.05, 0.0),
    ("Electrical hazard", "Alarm", 0.01, 0.02, 0.0),
)
GROUPS = ("Alarm", "Fire", "Non life-threatening", "Potentially life-threatening")
UNITS = ("Medic", "Engine", "Truck", "Chief", "Rescue squad", "Private ambulance")
PER_KIND = (12, 14, 8, 5, 3, 6)  # units of a kind
DISPOSITIONS = ("Patient to hospital", "Patient declined", "Fire", "No merit", "Cancelled", "Other")
PRIORITIES = ("1", "2", "3", "E")
STATIONS, BATTALIONS, BOXES, DISTRICTS, ZIPS = 24, 6, 96, 8, 16
DATES = (
    "Call_Date", "Watch_Date", "Received", "Entry", "Dispatch", "Response", "On_Scene", "Transport", "Hospital",
    "Available",
)  # fmt: skip
SEASONS = ("winter", "spring", "summer", "autumn")


class Draws(Protocol):
    """What the generator of samples offers (`make_sample.Chance`)."""

    def uniform(self, n: int) -> Floats:
        """On [0, 1)."""

    def normal(self, n: int) -> Floats:
        """Standard normal."""

    def pick(self, weights: Floats) -> Ints:
        """One column index a row of weights."""

    def one_of(self, weights: list[float] | Floats, n: int) -> Ints:
        """Draws n indices with the same weights."""

    def yes(self, probability: Floats | float, n: int) -> NDArray[np.bool_]:
        """True with the given probabilities."""


def stations() -> Ints:
    """The station of every box: four boxes each. Public."""
    return np.arange(BOXES) * STATIONS // BOXES


def battalions() -> Ints:
    """The battalion of every box: four stations each. Public."""
    return np.arange(BOXES) * BATTALIONS // BOXES


def kinds() -> Ints:
    """The kind of every unit. Public."""
    return np.repeat(np.arange(len(UNITS)), PER_KIND)


def firecalls(chance: Draws, n: int = CALLS) -> dict[str, NDArray[np.generic]]:
    """Units sent to calls, one row each: what happened where, which unit, and on which day each step was noted."""
    box = chance.one_of(0.3 + (np.arange(BOXES) * 37 % 11) / 6.0, n)
    home = box // 12  # a part of the town; some are quieter, older, further from a hospital
    lean = np.array([t[2] for t in TYPES])[None, :] * (1 + 0.9 * ((np.arange(11)[None, :] + home[:, None]) % 3 == 0))
    kind = chance.pick(lean)
    group = np.array([GROUPS.index(t[1]) for t in TYPES])[kind]
    ambulance = np.array([t[3] for t in TYPES])[kind]
    rest = 1 - ambulance
    fire = group == GROUPS.index("Fire")
    shares = [ambulance * 0.8, rest * 0.62, rest * 0.2, rest * np.where(fire, 0.14, 0.04), rest * 0.04, ambulance * 0.2]
    unit = chance.pick(np.stack(shares, axis=1))
    first = np.concatenate([[0], np.cumsum(PER_KIND)[:-1]])
    number = first[unit] + (box + (chance.uniform(n) * 3).astype(np.int64)) % np.array(PER_KIND)[unit]
    advanced = chance.yes(np.array([1.0, 0.55, 0.05, 0.1, 0.5, 0.9])[unit], n)
    sequence = 1 + np.minimum(np.floor(-np.log1p(-chance.uniform(n)) * np.where(fire, 3.0, 0.9)), 9).astype(np.int64)
    alarms = 1 + np.where(fire & chance.yes(0.06, n), 1 + chance.yes(0.3, n), 0)
    urgent = np.array([3, 3, 2, 3, 2, 3, 2, 2, 3, 0, 1])[kind]
    original = np.clip(urgent - chance.yes(0.15, n) - (chance.uniform(n) < 0.05), 0, 3)
    priority = np.where(chance.yes(0.9, n), original, 3)
    final = np.where(chance.yes(0.93, n), priority, np.maximum(priority - 1, 0))
    moved = (np.array([t[4] for t in TYPES])[kind] > 0) & np.isin(unit, (0, 5))
    moved &= chance.yes(np.clip(np.array([t[4] for t in TYPES])[kind] * 1.5, 0, 0.95), n)
    arrived = moved | chance.yes(np.where(final == 0, 0.8, 0.9), n)
    turned = np.where(fire, 2, np.where(group == 0, 3, np.where(chance.yes(0.6, n), 1, 5)))
    disposition = np.where(moved, 0, np.where(~arrived, 4, turned))
    day = chance.one_of(1 + 0.25 * np.cos(2 * np.pi * np.arange(DAYS) / DAYS), n)
    hour = chance.one_of(1.2 + np.sin(2 * np.pi * (np.arange(24) - 8) / 24), n)
    late = chance.yes(np.where(hour >= 22, 0.12, 0.002), n)
    minutes = np.clip(np.round(np.exp(1.75 + 0.4 * chance.normal(n) + 0.12 * (box % 4))), 1, 60).astype(np.int64)
    dates = dict.fromkeys(DATES, FIRST_DAY + day.astype("timedelta64[D]"))
    dates["Watch_Date"] = FIRST_DAY + np.maximum(day - (hour < 8), 0).astype("timedelta64[D]")
    dates["Available"] = FIRST_DAY + (day + late).astype("timedelta64[D]")
    blank = {"Response": ~(arrived | chance.yes(0.5, n)), "On_Scene": ~arrived, "Transport": ~moved, "Hospital": ~moved}
    texts = {d: np.where(blank[d], "", dates[d].astype(str)) if d in blank else dates[d] for d in DATES}
    zipcode = (box // 6 + chance.yes(0.1, n)) % ZIPS
    district = (box // 12 + (chance.uniform(n) < 0.08)) % DISTRICTS
    return {
        "Call_Type": np.array([t[0] for t in TYPES])[kind],
        "Call_Type_Group": np.array(GROUPS)[group],
        "Call_Final_Disposition": np.array(DISPOSITIONS)[disposition],
        "Unit_ID": np.char.add("U", (number + 1).astype(str)),
        "Unit_Type": np.array(UNITS)[unit],
        "ALS_Unit": np.where(advanced, "yes", "no"),
        "Unit_Sequence": sequence,
        "Number_of_Alarms": alarms,
        "Original_Priority": np.array(PRIORITIES)[original],
        "Priority": np.array(PRIORITIES)[priority],
        "Final_Priority": np.array(PRIORITIES)[final],
        **texts,
        "Hour": hour,
        "Season": np.array(SEASONS)[day % DAYS * 4 // DAYS],
        "Response_Minutes": np.where(arrived, minutes.astype(str), ""),
        "Box": box,
        "Station_Area": stations()[box],
        "Battalion": np.char.add("B", (1 + battalions()[box]).astype(str)),
        "Zipcode": np.char.add("9", (4100 + zipcode).astype(str)),
        "Supervisor_District": 1 + district,
        "Neighborhood": np.char.add("N", (1 + box // 5).astype(str)),
        "Fire_District": 1 + battalions()[box] // 2,
        "Location_Kind": np.array(["street", "home", "business", "care home"])[
            chance.pick(np.stack([0.2 + fire, 0.55 + 0 * kind, 0.2 + (group == 0), 0.15 * (kind == 2) + 0.05], axis=1))
        ],
    }


def firecalls_schema() -> dict[str, Any]:
    """The public description of the calls: values, bounds, and which dates and times may be blank."""

    def listed(name: str, values: Any) -> dict[str, Any]:
        return {
            "name": name, "kind": "categorical", "values": list(values), "ordered": False, "other": False,
            "missing": False, "source": "public",
        }  # fmt: skip

    def whole(name: str, least: int, most: int, *, missing: bool = False) -> dict[str, Any]:
        return {
            "name": name, "kind": "numeric", "dtype": "integer", "min": least, "max": most,
            "bins": {"count": most - least + 1}, "missing": missing, "source": "public",
        }  # fmt: skip

    def date(name: str) -> dict[str, Any]:
        return {
            "name": name, "kind": "datetime", "min": str(FIRST_DAY), "max": str(FIRST_DAY + DAYS),
            "bins": {"every": "day"}, "missing": True, "source": "public",
        }  # fmt: skip

    return {
        "version": 1,
        "name": "firecalls",
        "unit": {"neighbours": "add-remove", "source": "public"},
        "n_records": None,
        "attributes": [
            listed("Call_Type", [t[0] for t in TYPES]),
            listed("Call_Type_Group", GROUPS),
            listed("Call_Final_Disposition", DISPOSITIONS),
            listed("Unit_ID", [f"U{i + 1}" for i in range(sum(PER_KIND))]),
            listed("Unit_Type", UNITS),
            listed("ALS_Unit", ("no", "yes")),
            whole("Unit_Sequence", 1, 10),
            whole("Number_of_Alarms", 1, 3),
            *(listed(p, PRIORITIES) for p in ("Original_Priority", "Priority", "Final_Priority")),
            *(date(d) for d in DATES),
            whole("Hour", 0, 23),
            listed("Season", SEASONS),
            whole("Response_Minutes", 1, 60, missing=True),
            whole("Box", 0, BOXES - 1),
            whole("Station_Area", 0, STATIONS - 1),
            listed("Battalion", [f"B{i + 1}" for i in range(BATTALIONS)]),
            listed("Zipcode", [f"9{4100 + i}" for i in range(ZIPS)]),
            whole("Supervisor_District", 1, DISTRICTS),
            listed("Neighborhood", [f"N{i + 1}" for i in range((BOXES - 1) // 5 + 1)]),
            whole("Fire_District", 1, BATTALIONS // 2),
            listed("Location_Kind", ("street", "home", "business", "care home")),
        ],
    }


def firecalls_design() -> dict[str, Any]:
    """How a person who knows fire brigades counts the calls: nothing of it comes from the records.

    Two groups have names from Li, Zhang, Wang 2021, section 5.3, and other members: what the document puts together
    (the kind of a unit, the group of a type) follows here from a finer column.
    """
    boxes = np.arange(BOXES)
    seasons = np.append(np.arange(DAYS + 1) % DAYS * 4 // DAYS, 0)  # of every day, and of a missing one
    hierarchies = [
        ("Station_Area", "Box", stations()), ("Battalion", "Box", battalions()), ("Neighborhood", "Box", boxes // 5),
        ("Fire_District", "Box", battalions() // 2), ("Unit_Type", "Unit_ID", kinds()),
        ("Season", "Call_Date", seasons),
        ("Call_Type_Group", "Call_Type", np.array([GROUPS.index(t[1]) for t in TYPES])),
    ]  # fmt: skip
    grouped = [
        {"name": "Unit_Info", "attributes": ["Unit_ID", "ALS_Unit"]},
        {"name": "Call_Type_Info", "attributes": ["Call_Type", "Call_Final_Disposition"]},
        {"name": "Priority_Info", "attributes": ["Original_Priority", "Priority", "Final_Priority"]},
    ]
    sets: list[Any] = [
        ["Call_Type_Info", "Unit_Info"], ["Call_Type_Info", "Priority_Info"], ["Call_Type_Info", "Dates"],
        ["Box", "Call_Type"], ["Unit_ID", "Dates"], ["Call_Type", "Location_Kind"], ["Hour", "Call_Type"],
        ["Call_Type", "Unit_Sequence", "Number_of_Alarms"], ["Response_Minutes", "Dates"],
        {"attributes": ["Zipcode", "Box"], "weight": 2}, {"attributes": ["Supervisor_District", "Box"], "weight": 2},
        ["Unit_ID", "Unit_Sequence"], ["Priority_Info", "Dates"],
    ]  # fmt: skip
    return {
        "groups": grouped,
        "patterns": [{"name": "Dates", "attributes": list(DATES), "shared": True}],
        "hierarchies": [{"general": g, "detailed": d, "codes": [int(c) for c in codes]} for g, d, codes in hierarchies],
        "bins": [
            {"attribute": "Response_Minutes", "edges": [3, 5, 7, 9, 12, 15, 20, 30]},
            {"attribute": "Unit_ID", "codes": [int(c) for c in kinds()]},
        ],
        "marginals": [{"epsilon": 0, "sets": sets}],
    }
