"""Columns that moved as a whole: dates whose mean or weekdays moved, blank cells, and columns left with one value.

As in `moved`, by more than a fresh sample of the people would be. Private.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpsyn_core.evaluate import shifts as moved
from dpsyn_core.evaluate.comparison import Comparison
from dpsyn_core.evaluate.dependent_rows import rows_as_one
from dpsyn_core.evaluate.profile import A_DAY, profiles
from dpsyn_core.schema import OF_A_WEEK, Rhythm, keeps

DAYS: tuple[Rhythm, ...] = (*OF_A_WEEK, "month-start", "month-end")
FEWEST = 10  # records of a fresh sample that would hardly all have one value


@dataclass(frozen=True, kw_only=True, slots=True)
class MovedDate:
    """Mean of a column of dates or times, in seconds since 1970; precise: times of day count."""

    column: str
    real: float
    synthetic: float
    precise: bool
    distance: float


@dataclass(frozen=True, kw_only=True, slots=True)
class MovedDays:
    """Share of the dates of a column that are days of a kind, such as Sundays."""

    column: str
    day: Rhythm
    real: float
    synthetic: float


@dataclass(frozen=True, kw_only=True, slots=True)
class MovedBlanks:
    """Share of blank cells of a column."""

    column: str
    real: float
    synthetic: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Fixed:
    """A column of one value in all synthetic records, and how many values it really has."""

    column: str
    value: float | str
    real: int


def dated(c: Comparison) -> list[str]:
    """Columns of dates or times whose unit is declared."""
    return [n for n in c.domain.names if n in c.real_dates and n in c.synthetic_dates and n in c.date_units]


def dates(c: Comparison) -> list[MovedDate]:
    """Columns of dates whose mean moved, the farthest first."""
    names = dated(c)
    sure, out = moved.sure_of(len(names)), []
    for name in names:
        real, synthetic = (x[~np.isnan(x)] for x in c.exact(name))
        if len(real) < 2 or not len(synthetic):
            continue
        records = moved.together(len(real), len(synthetic)) / rows_as_one(c, name)
        shift = moved.moved(real, float(synthetic.mean()), records, sure=sure, relative=False)
        if shift is not None:
            unit = c.date_units[name]
            out.append(
                MovedDate(
                    column=name,
                    real=float(real.mean()) * unit,
                    synthetic=float(synthetic.mean()) * unit,
                    precise=unit == 1,
                    distance=shift,
                )
            )
    return sorted(out, key=lambda x: -x.distance)


def days(c: Comparison) -> list[MovedDays]:
    """Per column of dates the kind of days whose share moved most, the farthest first."""
    names, out = dated(c), []
    sure = moved.sure_of(len(names) * len(DAYS))
    for name in names:
        sides = [x[~np.isnan(x)] * c.date_units[name] // A_DAY for x in c.exact(name)]
        n, m = map(len, sides)
        if not n or not m:
            continue
        whole = [x.astype(np.int64) for x in sides]
        real, synthetic = (np.array([keeps(day, x).mean() for day in DAYS]) for x in whole)
        k = int(np.abs(synthetic - real).argmax())
        error = moved.error_of_share(real[k], n, m) * np.sqrt(rows_as_one(c, name))
        if abs(synthetic[k] - real[k]) > max(sure * error, moved.FAR_SHARE):
            out.append(MovedDays(column=name, day=DAYS[k], real=float(real[k]), synthetic=float(synthetic[k])))
    return sorted(out, key=lambda x: -abs(x.synthetic - x.real))


def blanks(c: Comparison) -> list[MovedBlanks]:
    """Columns whose share of blank cells moved, the farthest first."""
    out = [
        MovedBlanks(column=p.column, real=p.real.missing, synthetic=p.synthetic.missing)
        for p in profiles(c)
        if "missing" in p.wrong
    ]
    return sorted(out, key=lambda x: -abs(x.synthetic - x.real))


def fixed(c: Comparison) -> list[Fixed]:
    """Columns of one value, where the people have several and a fresh sample would show them."""
    if c.m < FEWEST:
        return []
    out = []
    for i, p in enumerate(profiles(c)):
        if p.real.distinct < 2 or p.synthetic.distinct != 1 or p.synthetic.missing > 0:
            continue
        commonest = np.bincount(c.truth[i]).max() / c.n
        if c.m * (1 - commonest) > moved.SURE**2:
            value = p.synthetic.mean if p.synthetic.mean is not None else c.words(p.column)[int(c.synthetic[i][0])]
            out.append(Fixed(column=p.column, value=value, real=p.real.distinct))
    return out
