"""Proposed ranges of numbers and dates: ends on round values beyond those that a draft read."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from dpsyn_core.schema import date_formats as written_dates
from dpsyn_core.schema.drafts.column import COMMON, RARE
from dpsyn_core.schema.drafts.proposal import not_, present
from dpsyn_core.schema.drafts.usual_values import AVERAGES, HUNDRED, MARKS, RANGES, SCALES, YEARS
from dpsyn_core.schema.individuals import coded_values
from dpsyn_core.tables import canonical_text as canonical
from dpsyn_core.tables import clocks
from dpsyn_core.tables import numbers as casting

MANY = 200  # values of a list that is proposed

LONG = 10**6  # whole numbers of so many digits that are not round may be names of things
NINE = 10**8  # whole numbers from nine digits on that are not round name persons, such as by their telephone
TIMES = (10**9, 2**31)  # seconds since 1970 of the years 2001 to 2038
HUNDREDTH = 0.01  # numbers that are all smaller are no shares: a range up to 1 would be nearly one bin of them
NICE = (1.0, 2.0, 2.5, 5.0, 10.0)
NEAR_DAYS, NEAR_MONTHS = 3, 92  # times of so few days get whole days as their ends, and of a season whole months: a


# range is cut into a thousand bins, and of a year they are nine hours wide
def numbers_of_days(drafted: Mapping[str, Any], column: Any) -> dict[str, Any] | None:
    """Whole numbers that are dates without marks, such as 20240131; None for others."""
    if drafted.get("written") or not 10**5 <= drafted["max"] < 10**8:
        return None
    texts = canonical.to_text(canonical.uniques(column)[0])
    texts = present(texts.filter(not_(canonical.blanks(texts))))
    drafts = written_dates.dates(drafted["name"], texts) if len(texts) >= written_dates.FEW else None
    return None if drafts is None else drafts | {"missing": bool(drafted.get("missing"))}


def numbers_of_things(drafted: Mapping[str, Any], column: Any) -> list[int] | None:
    """A few long whole numbers that nearly all records share, as of shops or doctors; None for amounts and others."""
    if drafted["kind"] != "numeric" or drafted["dtype"] != "integer" or drafted.get("written") or drafted["min"] < LONG:
        return None
    values, valid = casting.to_numbers(column, whole=True)
    numbers, counts = np.unique(values[valid], return_counts=True)
    few = len(numbers) <= MANY and counts[counts < COMMON].sum() <= RARE * counts.sum()
    return numbers.tolist() if few and np.gcd.reduce(numbers) % 10 else None


def numbers_of_persons(drafted: Mapping[str, Any], column: Any) -> bool:
    """Whether whole numbers are telephones, cards or accounts: long, of one length, not round, and no times."""
    times = drafted["min"] >= TIMES[0] and drafted["max"] < TIMES[1]
    if times or drafted["dtype"] != "integer" or drafted["min"] < NINE:
        return False
    texts = canonical.to_text(canonical.uniques(column)[0])
    return coded_values(present(texts.filter(not_(canonical.blanks(texts)))), drafted["name"])


def outward(low: float, high: float, name: str, *, whole: bool) -> tuple[Any, Any]:
    """A usual range where the header names one that holds the values, else ends on round numbers beyond them."""
    words = {w.lower() for w in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)}
    if whole:
        for usual, first, last in RANGES:
            if words & usual and first <= low and high <= last:
                return first, last
        if low >= YEARS[0] and high <= YEARS[1] and words & {"year", "yr"}:
            return decades(low, high)
    for named, least, most in () if whole else AVERAGES:
        if words & named and least <= low and high <= most:
            return float(least), float(most)
    if (low, high) in SCALES:
        return low, high
    if low >= 0 and high == HUNDRED:  # points of a hundred, whatever the fewest were
        return type(high)(0), high
    if not whole and low >= 0 and HUNDREDTH < high <= 1:
        return 0.0, 1.0
    step = _step(max(high - low, abs(high) * 1e-3, 1.0 if whole else 1e-9) / 10)
    step = max(step, 1.0) if whole else step
    one = whole and low == 1  # what is counted begins at 1 where it does not begin at 0
    down = (
        1.0 if one else 0.0 if 0 <= low < step else step * (math.ceil(low / step) - 1)
    )  # beyond the value, also where it is round
    up = 0.0 if -step < high <= 0 else step * (math.floor(high / step) + 1)
    if whole:
        return math.floor(down), math.ceil(up)
    digits = max(0, -math.floor(math.log10(step)) + 1)
    return round(down, digits), round(up, digits)


def marks(drafted: Mapping[str, Any]) -> tuple[float, float] | None:
    """Ends of marks with halves or quarters, such as 1 to 5 by .5, which nobody goes beyond; None for other numbers."""
    low, high = float(drafted["min"]), float(drafted["max"])
    if drafted.get("step") not in (0.25, 0.5) or not 0 <= low <= 1 < high <= MARKS or not high.is_integer():
        return None
    return low, high


def clock(drafted: Mapping[str, Any]) -> tuple[int, int] | None:
    """Ends of times: a whole day where some are late in it, to its last step, else from 0; None for other numbers."""
    marks = str(drafted.get("written") or "").count(":")
    if not marks or drafted["min"] < 0:
        return None
    day, step = clocks.DAY[marks], drafted.get("step") or 1
    if day / 2 <= drafted["max"] <= day:  # 24:00 is a time where the table has it
        return 0, max(int(drafted["max"]), (day - 1) // int(step) * int(step))
    return 0, outward(0, drafted["max"], "", whole=True)[1]


def decades(low: float, high: float) -> tuple[int, int]:
    """First year of the decade of one year before, and that after the decade of one year later."""
    return 10 * math.floor((low - 1) / 10), 10 * math.ceil((high + 1) / 10)


def _step(size: float) -> float:
    """The round number (1, 2, 2.5 or 5 times a power of ten) from a size on."""
    power = 10.0 ** math.floor(math.log10(size))
    return next(n * power for n in NICE if n * power >= size * (1 - 1e-12))


def wider_bins(drafted: Mapping[str, Any]) -> dict[str, Any]:
    """Bins of the draft for the wider range; none where range and step decide."""
    bins = drafted.get("bins")
    if not bins:
        return {}
    if "edges" in bins:
        return {"bins": {"count": len(bins["edges"])}}
    return {"bins": dict(bins)}


def on_grid(low: Any, high: Any, step: float | None) -> tuple[Any, Any]:
    """Ends moved outward to multiples of the step."""
    if not step:
        return low, high
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    if isinstance(low, int) and float(step).is_integer():
        return first * int(step), last * int(step)
    digits = max(0, -math.floor(math.log10(step)) + 1)
    return round(first * step, digits), round(last * step, digits)


def seen_dates(column: Any, ways: tuple[str, ...]) -> tuple[str, str]:
    """The first and the last date of a column that the draft gave whole years."""
    texts = canonical.to_text(canonical.uniques(column)[0])
    return written_dates.ends(present(texts.filter(not_(canonical.blanks(texts)))), ways)


def calendar(first: str, last: str) -> tuple[str, str, str]:
    """Whole years around two days or times, written as they are; months or days around times that lie closer. Why."""
    low, high = np.datetime64(first[:10]), np.datetime64(last[:10])
    near = (high - low).astype(int) if first[10:] else math.inf  # days
    unit, why = ("D", "days") if near <= NEAR_DAYS else ("M", "months") if near <= NEAR_MONTHS else ("Y", "calendar")
    start = low.astype(f"datetime64[{unit}]").astype("datetime64[D]")
    end = (high.astype(f"datetime64[{unit}]") + 1).astype("datetime64[D]") - 1
    if not first[10:]:
        return str(start), str(end), why
    zone = "Z" if first.endswith("Z") else ""
    return f"{start}T00:00:00{zone}", f"{end}T23:59:59{zone}", why
