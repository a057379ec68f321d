"""Time: cycles of hours, weekdays and months, how much a number is like the one before, and pairs within series."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.evaluate import shifts
from dpsyn_core.evaluate.comparison import Comparison, Floats
from dpsyn_core.evaluate.dependent_rows import TimeOrder, less_means, rows_as_one, series_key
from dpsyn_core.evaluate.findings.cells import ExactCells
from dpsyn_core.evaluate.findings.finding import Finding

FAR = 0.1  # by so much a share of the variance, or an autocorrelation, is another one
SERIES = 0.2  # autocorrelation from which on a number is a series
MOST = 30  # numbers that are compared within series, the first in the order of the schema
OF_A_PAIR = 0.6  # weight of a correlation that is off by 1
FEWEST = 100  # records of which a cycle or a series is found
A_DAY = 86_400
NONE = 24  # above all hours, weekdays and months
FEW, LEAST_PARTS = 5, 4  # records of an hour or a month that has a mean, and parts that make a course
MOVED, MANY = 0.5, 50  # correlation of two courses up to which one has moved, and records of each of their parts then
TURNED = 0.5  # negative correlation of two courses from which on they are opposite
SURE = 5.0


def series(c: Comparison) -> Iterator[Finding]:
    """Cycles and autocorrelations that are not those of the real table."""
    dates = [n for n in c.domain.names if n in c.real_dates and n in c.synthetic_dates and n in c.date_units]
    numbers = shifts.numbers(c)
    for date in dates:
        precise = c.date_units[date] == 1
        sides = [parts_of(x * c.date_units[date], precise=precise) for x in c.exact(date)]
        for name in numbers:
            yield from _cycles(c, date, sides, name)
        key = series_key(c, date)
        if key is None:
            continue
        courses = [TimeOrder.of(c, date, key, side) for side in (0, 1)]
        for name in numbers:
            if name != key:
                yield from _before(c, (name, date, *([key] if key else [])), courses)
        if key:
            yield from _within(c, [n for n in numbers if n != key], key)


def parts_of(seconds: Floats, *, precise: bool) -> dict[str, NDArray[np.int64]]:
    """Hour, weekday and month of times since 1970, NONE where there is none."""
    valid = ~np.isnan(seconds)
    whole = np.where(valid, seconds, 0).astype(np.int64)
    days = whole // A_DAY
    month = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) % 12
    out = {"weekday": (days + 3) % 7, "month": month}
    if precise:
        out = {"hour": whole % A_DAY // 3600} | out
    return {k: np.where(valid, v, NONE) for k, v in out.items()}


def _cycles(c: Comparison, date: str, sides: list[dict[str, NDArray[np.int64]]], name: str) -> Iterator[Finding]:
    values = c.exact(name)
    for part in sides[0]:
        real, synth = (shifts.correlation_ratio(x, s[part], NONE) ** 2 for x, s in zip(values, sides, strict=True))
        groups = 24 if part == "hour" else 12
        courses = [_means(x, s[part]) for x, s in zip(values, sides, strict=True)]
        of_a_part = min(c.n, c.m) / groups
        other = _other_course(*courses, first=int(part != "hour"), many=of_a_part >= MANY)
        if min(real, synth) >= FAR and other is not None:
            kind, turned = other
            yield Finding(
                key=f"{kind}_{part}", weight=min(real, synth), columns=(name, date), what=turned, remedy="time"
            )
            continue
        if min(c.n, c.m) < FEWEST or real < FAR or abs(real - synth) < FAR:
            continue
        if abs(real - synth) > SURE * np.sqrt(4 * real * (1 - real) ** 2 / min(c.n, c.m)) + groups / min(c.n, c.m):
            yield Finding(
                key=f"cycle_{part}",
                weight=abs(real - synth),
                columns=(name, date),
                real=real,
                synthetic=synth,
                fresh=real,
                remedy="time",
            )


def _means(values: Floats, part: NDArray[np.int64]) -> Floats:
    """Mean of a number in each hour, weekday or month; NaN where there are FEW records."""
    count, mean, _ = shifts.by_group(values, part, NONE)
    return np.where(count >= FEW, mean, np.nan)


def _other_course(real: Floats, synth: Floats, *, first: int, many: bool) -> tuple[str, dict[str, int]] | None:
    """Where both courses are highest: course, where one falls as the other rises; moved, where they hardly agree.

    None where they do. first: the number of the first hour, weekday or month. many: there are records enough for a
    course that hardly agrees to be no chance.
    """
    both = ~(np.isnan(real) | np.isnan(synth))
    if both.sum() < LEAST_PARTS or real[both].std() == 0 or synth[both].std() == 0:
        return None
    agree = np.corrcoef(real[both], synth[both])[0, 1]
    if agree > (MOVED if many else -TURNED):
        return None
    at = np.flatnonzero(both)
    highest = {"at": int(at[real[both].argmax()]) + first, "here_at": int(at[synth[both].argmax()]) + first}
    return "course" if agree <= -TURNED else "moved", highest


def _within(c: Comparison, names: list[str], key: str) -> Iterator[Finding]:
    """Pairs of numbers whose correlation within the series is another one, also where that of all rows is the same."""
    keys = [np.unique(x, return_inverse=True)[1] for x in ExactCells.of(c).column(key)[:2]]
    left = {n: [less_means(x, k) for x, k in zip(c.exact(n), keys, strict=True)] for n in names[:MOST]}
    for a, b in combinations(left, 2):
        real, synth = (_correlation(x, y) for x, y in zip(left[a], left[b], strict=True))
        as_one = rows_as_one(c, a, b)
        error = np.sqrt(as_one * ((1 - real**2) ** 2 / c.n + (1 - synth**2) ** 2 / c.m))
        if min(c.n, c.m) >= FEWEST and abs(real - synth) > max(FAR, SURE * error):
            yield Finding(
                key="pair_within",
                weight=OF_A_PAIR * min(1.0, abs(real - synth)),
                columns=(a, b, key),
                real=real,
                synthetic=synth,
                fresh=real,
                remedy="declare",
            )


def _correlation(x: Floats, y: Floats) -> float:
    both = ~(np.isnan(x) | np.isnan(y))
    if both.sum() < 2 or min(x[both].std(), y[both].std()) == 0:
        return 0.0
    return float(np.corrcoef(x[both], y[both])[0, 1])


def _before(c: Comparison, columns: tuple[str, ...], courses: list[TimeOrder]) -> Iterator[Finding]:
    real, synth = (x.autocorrelation(v) for x, v in zip(courses, c.exact(columns[0]), strict=True))
    if real is None or synth is None or abs(real) < SERIES or abs(real - synth) < FAR:
        return
    if abs(real - synth) > SURE * np.sqrt(2 / min(c.n, c.m)):
        yield Finding(
            key="before",
            weight=min(1.0, abs(real - synth)),
            columns=columns,
            real=real,
            synthetic=synth,
            fresh=real,
            remedy="time",
        )
