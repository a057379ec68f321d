"""Time: cycles of hours, weekdays and months in numbers, and how much a number is like the one before it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.evaluate import shifts
from dpsyn_core.evaluate.comparison import Comparison, Floats
from dpsyn_core.evaluate.findings.cells import ExactCells, alike
from dpsyn_core.evaluate.findings.finding import Finding

FAR = 0.1  # by so much a share of the variance, or an autocorrelation, is another one
SERIES = 0.2  # autocorrelation from which on a number is a series
FEWEST = 100  # records of which a cycle or a series is found
ONE_AT_A_TIME = 0.9  # share of the records of a series whose key and time no other record has
MOST_KEYS = 0.2  # keys by records: more are no series
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


def series_key(c: Comparison, date: str) -> str | None:
    """The column whose values each have one record at a time, empty for one series; None where there is none."""
    cells = ExactCells.of(c)
    when = cells.column(date)[0]
    if c.n < FEWEST or (when < 0).mean() > 1 - ONE_AT_A_TIME:
        return None
    if len(np.unique(when)) >= ONE_AT_A_TIME * c.n:
        return "" if _even(np.unique(c.exact(date)[0])) else None
    for a in c.domain.attributes:
        x, _, size = cells.column(a.name)
        if a.name == date or size > MOST_KEYS * c.n or len(np.unique(x)) < 2:
            continue
        both = len(np.unique(x.astype(np.int64) * (int(when.max()) + 1) + when))
        by_chance = c.n / 2 * alike(x) * alike(when)  # records with key and time of another, were they unrelated
        if both >= ONE_AT_A_TIME * c.n and 1 - both / c.n < by_chance / 2:
            return a.name
    return None


def _even(times: Floats) -> bool:
    """Whether most steps between times are equal."""
    steps = np.diff(times[~np.isnan(times)])
    if len(steps) < 2:
        return False
    _, counts = np.unique(steps, return_counts=True)
    return bool(counts.max() >= len(steps) / 2)


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


@dataclass(frozen=True, kw_only=True, slots=True)
class TimeOrder:
    """The records of one table in time, key by key.

    order: of the records. next: whether one follows in its key. keys: 0, 1, ... of the records in this order.
    """

    order: NDArray[np.intp]
    next: NDArray[np.bool_]
    keys: NDArray[np.intp]

    @classmethod
    def of(cls, c: Comparison, date: str, key: str, side: int) -> TimeOrder:
        """That of the real (0) or the synthetic table (1); key: "" for one series."""
        when = c.exact(date)[side]
        if not key:
            order = np.argsort(when, kind="stable")
            return cls(order=order, next=np.ones(max(0, len(order) - 1), bool), keys=np.zeros(len(order), np.intp))
        who = ExactCells.of(c).column(key)[:2][side]
        order = np.lexsort((when, who))
        same = who[order][1:] == who[order][:-1]
        return cls(order=order, next=same, keys=np.concatenate([[0], np.cumsum(~same)]))

    def autocorrelation(self, values: Floats) -> float | None:
        """The correlation of a number, less the mean of its key, with the one before it; None where there are few."""
        x = values[self.order]
        count, mean, _ = shifts.by_group(x, self.keys, int(self.keys.max(initial=0)) + 1)
        x = x - np.where(count > 0, mean, 0.0)[self.keys]
        pairs = self.next & ~np.isnan(x[1:]) & ~np.isnan(x[:-1])
        if pairs.sum() < FEWEST:
            return None
        now, last = x[1:][pairs], x[:-1][pairs]
        if now.std() == 0 or last.std() == 0:
            return None
        return float(np.corrcoef(now, last)[0, 1])
