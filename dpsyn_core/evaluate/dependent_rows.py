"""Rows that belong together, such as the visits of one person or the days of one gauge, count as fewer records.

What two of them have in common is measured column by column: the correlation of a row with the next one of the same
person, or of the same series. Of groups of b rows with a correlation r a mean errs as one of n / (1 + (b - 1) r)
records (Kish 1965), of a series as one of n (1 - r) / (1 + r) (Bartlett 1946). A relation of two columns errs as if r
were the product of both correlations: a column that differs from row to row takes none of the other one's. Private.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.evaluate.comparison import Comparison, Floats
from dpsyn_core.evaluate.findings.cells import ExactCells, alike

FEWEST = 100  # records of which a series is found
ONE_AT_A_TIME = 0.9  # share of the records of a series whose key and time no other record has
MOST_KEYS = 0.2  # keys by records: more are no series
SURE = 4.0  # standard errors from which on a correlation is none by chance
MOST = 0.999  # of a correlation
SHARED = 5  # series from which on what all have on one day is a season, which a fresh sample has as well


@dataclass(frozen=True, kw_only=True)
class DependentRows:
    """The real rows in order, those that belong together beside each other.

    order: of the rows. next: whether a row belongs to the one before. size: rows that belong together on average.
    keys, times: of series, of the rows in their order; None for persons. fixed: columns that name a series or a time,
    of which every table has the same values.
    """

    order: NDArray[np.intp]
    next: NDArray[np.bool_]
    size: float
    keys: NDArray[np.intp] | None = None
    times: NDArray[np.intp] | None = None
    fixed: tuple[str, ...] = ()

    def correlation(self, values: Floats) -> float:
        """Of a number with that of the next row that belongs to it, 0 to MOST; 0 where it may be chance."""
        x = values[self.order]
        if self.keys is not None and self.times is not None:
            x = less_means(x, self.keys)
            if self.keys.max(initial=0) >= SHARED - 1:
                x = less_means(x, self.times)
        pairs = self.next & ~np.isnan(x[1:]) & ~np.isnan(x[:-1])
        now, last = x[1:][pairs], x[:-1][pairs]
        if len(now) < 2 or min(now.std(), last.std()) == 0:
            return MOST
        r = float(np.corrcoef(now, last)[0, 1])
        return min(MOST, r) if r > SURE / np.sqrt(len(now)) else 0.0

    def rows(self, r: float) -> float:
        """How many rows count as one."""
        if self.keys is None:
            return 1 + (self.size - 1) * r
        return min(self.size, (1 + r) / (1 - r))


def less_means(x: Floats, groups: NDArray[np.intp]) -> Floats:
    """Values less the mean of their group 0, 1, ..., NaN where there is none."""
    there = ~np.isnan(x)
    count = np.bincount(groups[there], minlength=int(groups.max(initial=0)) + 1)
    mean = np.bincount(groups[there], x[there], len(count)) / np.maximum(count, 1)
    return np.asarray(x - mean[groups])


def rows_as_one(c: Comparison, *names: str) -> float:
    """How many rows count as one for a column, or for a relation of several; 1 where no rows belong together."""
    rows = _rows(c)
    if rows is None or (rows.fixed and set(names) <= set(rows.fixed)):
        return 1.0
    return rows.rows(float(np.prod([_correlation(c, rows, n) for n in names])))


def _correlation(c: Comparison, rows: DependentRows, name: str) -> float:
    known: dict[str, float] = c.scores.setdefault("correlations of rows", {})
    if name not in known:
        known[name] = MOST if name in rows.fixed else rows.correlation(_numbers(c, name))
    return known[name]


def _numbers(c: Comparison, name: str) -> Floats:
    """A column as numbers; of words, how common each is, so that equal words are equal numbers."""
    if c.readable(name) or name in c.real_dates:
        return c.exact(name)[0]
    codes = c.truth[c.domain.index(name)]
    return np.asarray(np.bincount(codes)[codes] + codes / (codes.max(initial=0) + 1.0))


def _rows(c: Comparison) -> DependentRows | None:
    if "dependent rows" not in c.scores:
        c.scores["dependent rows"] = None  # what is asked on the way takes rows as they are
        c.scores["dependent rows"] = _of_persons(c) or _of_series(c)
    out: DependentRows | None = c.scores["dependent rows"]
    return out


def _of_persons(c: Comparison) -> DependentRows | None:
    if c.persons is None:
        return None
    order = np.argsort(c.persons, kind="stable")
    count = np.bincount(c.persons)
    same = c.persons[order][1:] == c.persons[order][:-1]
    return DependentRows(order=order, next=same, size=float((count.astype(float) ** 2).sum() / c.n))


def _of_series(c: Comparison) -> DependentRows | None:
    for date in (n for n in c.domain.names if n in c.real_dates and n in c.synthetic_dates and n in c.date_units):
        key = series_key(c, date)
        if key is not None:
            found = TimeOrder.of(c, date, key, 0)
            times = np.unique(c.exact(date)[0][found.order], return_inverse=True)[1]
            size = c.n / (int(found.keys.max(initial=0)) + 1)
            fixed = tuple(n for n in (key, date) if n)
            return DependentRows(
                order=found.order, next=found.next, size=size, keys=found.keys, times=times, fixed=fixed
            )
    return None


def series_key(c: Comparison, date: str) -> str | None:
    """The column whose values each have one record at a time, empty for one series; None where there is none."""
    cells = ExactCells.of(c)
    when = cells.column(date)[0]
    if c.n < FEWEST or (when < 0).mean() > 1 - ONE_AT_A_TIME:
        return None
    if len(np.unique(when)) >= ONE_AT_A_TIME * c.n:
        return "" if even_steps(np.unique(c.exact(date)[0])) else None
    for a in c.domain.attributes:
        x, _, size = cells.column(a.name)
        if a.name == date or size > MOST_KEYS * c.n or len(np.unique(x)) < 2:
            continue
        both = len(np.unique(x.astype(np.int64) * (int(when.max()) + 1) + when))
        by_chance = c.n / 2 * alike(x) * alike(when)  # records with key and time of another, were they unrelated
        if both >= ONE_AT_A_TIME * c.n and 1 - both / c.n < by_chance / 2:
            return a.name
    return None


def even_steps(times: Floats) -> bool:
    """Whether most steps between times are equal."""
    steps = np.diff(times[~np.isnan(times)])
    if len(steps) < 2:
        return False
    _, counts = np.unique(steps, return_counts=True)
    return bool(counts.max() >= len(steps) / 2)


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
        x = less_means(x, self.keys)
        pairs = self.next & ~np.isnan(x[1:]) & ~np.isnan(x[:-1])
        if pairs.sum() < FEWEST:
            return None
        now, last = x[1:][pairs], x[:-1][pairs]
        if now.std() == 0 or last.std() == 0:
            return None
        return float(np.corrcoef(now, last)[0, 1])
