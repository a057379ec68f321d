"""The bundled calls to a fire brigade, a model (docs/reference/sample.md) with a worked design for `dpsyn-2018`.

The 32 columns have the names of Table 1 of Li, Zhang, Wang 2021, so that the design fits that table too.
"""

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
ADDRESSES = 5 * BOXES  # five midblock points of every box
CITIES = ("Town", "Harbour", "Airfield", "Park")
ACROSS, DOWN = 12, 8  # boxes, in a map of 100 x 100 squares
DATES = (
    "Call Date", "Watch Date", "Received DtTm", "Entry DtTm", "Dispatch DtTm", "Response DtTm", "On Scene DtTm",
    "Transport DtTm", "Hospital DtTm", "Available DtTm",
)  # fmt: skip


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


def places() -> tuple[Ints, Ints]:
    """Longitude and latitude of every address, as squares of a map, 0 to 99. Public."""
    box, at = np.divmod(np.arange(ADDRESSES), 5)
    return box % ACROSS * 8 + 3 + at * 7 % 6, box // ACROSS * 12 + 4 + at * 5 % 9


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
    address = 5 * box + chance.one_of([0.4, 0.25, 0.15, 0.12, 0.08], n)
    east, north = places()
    dates = dict.fromkeys(DATES, FIRST_DAY + day.astype("timedelta64[D]"))
    dates["Watch Date"] = FIRST_DAY + np.maximum(day - (hour < 8), 0).astype("timedelta64[D]")
    dates["Available DtTm"] = FIRST_DAY + (day + late).astype("timedelta64[D]")
    left = ~(arrived | chance.yes(0.5, n))
    blank = {"Response DtTm": left, "On Scene DtTm": ~arrived, "Transport DtTm": ~moved, "Hospital DtTm": ~moved}
    texts = {d: np.where(blank[d], "", dates[d].astype(str)) if d in blank else dates[d] for d in DATES}
    zipcode = (box // 6 + chance.yes(0.1, n)) % ZIPS
    district = (box // 12 + (chance.uniform(n) < 0.08)) % DISTRICTS
    return {
        "Call Type": np.array([t[0] for t in TYPES])[kind],
        "Call Type Group": np.array(GROUPS)[group],
        "Call Final Disposition": np.array(DISPOSITIONS)[disposition],
        "Unit ID": np.char.add("U", (number + 1).astype(str)),
        "Unit Type": np.array(UNITS)[unit],
        "ALS Unit": np.where(advanced, "yes", "no"),
        "Unit sequence": sequence,
        "Number of Alarms": alarms,
        "Original Priority": np.array(PRIORITIES)[original],
        "Priority": np.array(PRIORITIES)[priority],
        "Final Priority": np.array(PRIORITIES)[final],
        **texts,
        "Location-lng": east[address],
        "Location-lat": north[address],
        "Address": address,
        "Box": box,
        "Station Area": stations()[box],
        "Battalion": np.char.add("B", (1 + battalions()[box]).astype(str)),
        "Zipcode of Incident": np.char.add("9", (4100 + zipcode).astype(str)),
        "City": np.array(CITIES)[np.where(zipcode < ZIPS - 3, 0, zipcode - ZIPS + 4)],
        "Supervisor District": 1 + district,
        "Neighborhood District": np.char.add("N", (1 + box // 5).astype(str)),
        "Fire Prevention District": 1 + battalions()[box] // 2,
    }


def firecalls_schema() -> dict[str, Any]:
    """The public description of the calls: values, bounds, and which dates and times may be blank."""

    def listed(name: str, values: Any) -> dict[str, Any]:
        return {
            "name": name, "kind": "categorical", "values": list(values), "ordered": False, "other": False,
            "missing": False, "source": "public",
        }  # fmt: skip

    def whole(name: str, least: int, most: int) -> dict[str, Any]:
        return {
            "name": name, "kind": "numeric", "dtype": "integer", "min": least, "max": most,
            "bins": {"count": most - least + 1}, "missing": False, "source": "public",
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
            listed("Call Type", [t[0] for t in TYPES]),
            listed("Call Type Group", GROUPS),
            listed("Call Final Disposition", DISPOSITIONS),
            listed("Unit ID", [f"U{i + 1}" for i in range(sum(PER_KIND))]),
            listed("Unit Type", UNITS),
            listed("ALS Unit", ("no", "yes")),
            whole("Unit sequence", 1, 10),
            whole("Number of Alarms", 1, 3),
            *(listed(p, PRIORITIES) for p in ("Original Priority", "Priority", "Final Priority")),
            *(date(d) for d in DATES),
            whole("Location-lng", 0, 99),
            whole("Location-lat", 0, 99),
            whole("Address", 0, ADDRESSES - 1),
            whole("Box", 0, BOXES - 1),
            whole("Station Area", 0, STATIONS - 1),
            listed("Battalion", [f"B{i + 1}" for i in range(BATTALIONS)]),
            listed("Zipcode of Incident", [f"9{4100 + i}" for i in range(ZIPS)]),
            listed("City", CITIES),
            whole("Supervisor District", 1, DISTRICTS),
            listed("Neighborhood District", [f"N{i + 1}" for i in range((BOXES - 1) // 5 + 1)]),
            whole("Fire Prevention District", 1, BATTALIONS // 2),
        ],
    }


def firecalls_design() -> dict[str, Any]:
    """The design of Li, Zhang, Wang 2021, section 5.3, as far as they state it: nothing of it comes from the records.

    Theirs are the groups, the pattern of the dates, and places by budget: one-ways of the coordinates and random boxes
    and addresses where epsilon is low; coordinates with other places in between; both coordinates as one attribute
    with box and address where it is high. Which epsilon is low, and the other sets, they do not state: those are ours.
    """
    groups = [
        {"name": "Unit_Info", "attributes": ["ALS Unit", "Unit Type"]},
        {"name": "Call_Type_Info", "attributes": ["Call Type Group", "Call Type"]},
        {"name": "Priority_Info", "attributes": ["Final Priority", "Original Priority", "Priority"]},
    ]
    place = {"name": "Place", "attributes": ["Location-lng", "Location-lat"]}
    low: list[Any] = [
        ["Call_Type_Info", "Unit_Info"], ["Call_Type_Info", "Priority_Info"], ["Call_Type_Info", "Time_Availability"],
        ["Call_Type_Info", "Call Final Disposition"], ["Call Final Disposition", "Time_Availability"],
        ["Unit_Info", "Time_Availability"], ["Unit ID", "Unit_Info"], ["Unit ID", "Station Area"],
        ["Call Type", "Unit sequence", "Number of Alarms"], ["Station Area", "Call Type"],
        ["Station Area", "Zipcode of Incident"], ["Station Area", "Neighborhood District"],
        ["Station Area", "Supervisor District"], ["Zipcode of Incident", "City"],
    ]  # fmt: skip
    middle = [
        [axis, other]
        for axis in ("Location-lng", "Location-lat")
        for other in ("Station Area", "Zipcode of Incident", "Neighborhood District", "Supervisor District")
    ]
    high = [
        ["Place", "Box"], ["Place", "Address"], ["Place", "Station Area"], ["Place", "Zipcode of Incident"],
        ["Box", "Station Area"],
    ]  # fmt: skip
    return {
        "groups": groups,
        "patterns": [{"name": "Time_Availability", "attributes": list(DATES), "shared": True}],
        "functional": [{"target": t, "source": "Station Area"} for t in ("Battalion", "Fire Prevention District")],
        "unmeasured": ["Box", "Address"],
        "marginals": [{"epsilon": 0, "sets": low}],
        "budgets": [
            {"epsilon": 1, "sets": low + middle},
            {"epsilon": 4, "groups": [*groups, place], "sets": low + high, "unmeasured": []},
        ],
    }
