"""Rhythms of dates: the only days or times that a column can hold by public knowledge: Mondays, full hours."""

from __future__ import annotations

from functools import lru_cache
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.binning import WholeBins
from dpsyn_core.schema.grids import FINE, OF_TIMES, Rhythm, calendar_width

Days = NDArray[np.int64]
RHYTHMS: tuple[Rhythm, ...] = get_args(Rhythm)
OF_DAYS = tuple(r for r in RHYTHMS if r not in OF_TIMES)
OF_A_WEEK, OF_PERIODS = RHYTHMS[1:8], OF_DAYS[8:-1]
MONTHS = {"month": 1, "quarter": 3, "year": 12}
MONDAY = 4  # 1970-01-05 was a Monday
# distinct dates that have to keep a rhythm before it is proposed: fewer keep one by chance
ENOUGH = {"weekdays": 30, "no-sundays": 60, **dict.fromkeys(OF_A_WEEK, 6), **dict.fromkeys(OF_PERIODS, 2)}
ENOUGH |= dict.fromkeys(OF_TIMES, 30)


def keeps(rhythm: Rhythm, days: Days) -> NDArray[np.bool_]:
    """Which days, or of a rhythm of times which seconds, counted since 1970, are of a rhythm."""
    if rhythm in OF_TIMES:
        return np.asarray(days % OF_TIMES[rhythm] == 0)
    weekday = (days - MONDAY) % 7
    if rhythm in ("weekdays", "no-sundays"):
        return np.asarray(weekday < (5 if rhythm == "weekdays" else 6))
    if rhythm in OF_A_WEEK:
        return np.asarray(weekday == OF_A_WEEK.index(rhythm))
    period, _, end = rhythm.partition("-")
    first = days + 1 if end == "end" else days  # the day after an end begins a period
    months = first.astype("datetime64[D]").astype("datetime64[M]")
    begins = months.astype("datetime64[D]").astype(np.int64) == first
    return np.asarray(begins & (months.astype(np.int64) % MONTHS[period] == 0))


@lru_cache(maxsize=500)
def _days_of(rhythm: Rhythm, low: int, high: int) -> Days:
    every = np.arange(low, high + 1, dtype=np.int64)
    days = every[keeps(rhythm, every)]
    if not len(days):
        raise _none(rhythm)
    return days


def bins_of(rhythm: Rhythm, low: int, high: int, declared: WholeBins | None) -> WholeBins:
    """Bins in days whose values are drawn among the days of a rhythm.

    Days between two of them lie in the bin of the one that ends their period, or, where the rhythm names beginnings,
    days of a week or weekdays, of the one before.

    Args:
        rhythm: public.
        low: first day, since 1970.
        high: last day.
        declared: bins without the rhythm; None: one for each of its days, or up to about 1,000.

    Raises:
        SchemaError: no date of the rhythm lies in the range, or in one of the declared bins.
    """
    days = _days_of(rhythm, low, high)
    if declared is None:
        step = -(-len(days) // FINE)
        starts = days[:-1][step - 1 :: step] + 1 if rhythm.endswith("-end") else days[step::step]
        return WholeBins(np.append([low], starts).astype(np.int64), high, only=days)
    bins = WholeBins(declared.starts, declared.last, only=days)
    if (bins.places()[1] == 0).any():
        raise _empty(rhythm)
    return bins


def _none(rhythm: Rhythm) -> SchemaError:
    msg = f"no date of the rhythm '{rhythm}' lies between min and max; widen them, or drop rhythm"
    return SchemaError(msg)


def _empty(rhythm: Rhythm) -> SchemaError:
    msg = f"a bin holds no date of the rhythm '{rhythm}'; leave bins out, or make them wider"
    return SchemaError(msg)


def timed_bins(rhythm: Rhythm, low: int, high: int, declared: WholeBins | None) -> WholeBins:
    """Bins in seconds whose times are drawn among those of a rhythm of times; arguments and errors as of `bins_of`."""
    step = OF_TIMES[rhythm]
    first = -(-low // step) * step
    if first > high:
        raise _none(rhythm)
    if declared is not None:
        begins, ends = declared.bounds()
        if (-(-begins // step) * step > ends).any():
            raise _empty(rhythm)
        return WholeBins(declared.starts, declared.last, step)
    width = max(step, calendar_width(high - low + 1, seconds=True))
    starts = np.arange(low // width * width, high + 1, width, dtype=np.int64)
    return WholeBins(np.append([low], starts[starts > first]), high, step)


def found_in(days: Days) -> Rhythm | None:
    """The narrowest rhythm that all of these distinct days keep, for a proposal; None where there is none."""
    order: tuple[Rhythm, ...] = (*reversed(OF_PERIODS), *OF_A_WEEK, "weekdays", "no-sundays")
    return _first_kept(order, days)


def found_in_times(seconds: NDArray[np.int64]) -> Rhythm | None:
    """The same for distinct times, in seconds since 1970, that are more than days."""
    return _first_kept((*reversed(OF_TIMES),), seconds)


def _first_kept(order: tuple[Rhythm, ...], days: Days) -> Rhythm | None:
    return next((r for r in order if len(days) >= ENOUGH[r] and keeps(r, days).all()), None)
