"""Every column in figures, real and synthetic: blank cells, distinct values, mean, deviation, quantiles. Private."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.evaluate.comparison import Comparison, Floats
from dpsyn_core.evaluate.findings.cells import MISSING
from dpsyn_core.evaluate.shifts import moved, together
from dpsyn_core.schema import CodedAttribute

QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
FAR_BLANK = 0.02  # by so much the share of blank cells has moved
FAR_DEVIATION = 0.1  # of itself
SURE = 3.0  # standard errors
A_DAY = 86_400  # seconds
OTHER = "(other)"  # words of the cell of values that the schema does not list


@dataclass(frozen=True, kw_only=True, slots=True)
class Figures:
    """One column of one table. mean, deviation (n - 1): of numbers. quantiles: numbers, or words of an order.

    unlisted: values that the schema does not list count as one distinct value, so that there may be more.
    """

    missing: float
    distinct: int
    unlisted: bool = False
    mean: float | None = None
    deviation: float | None = None
    quantiles: tuple[float | str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ColumnProfile:
    """One column in both tables. wrong: the figures that a fresh sample of the people would hardly have."""

    column: str
    real: Figures
    synthetic: Figures
    wrong: tuple[str, ...]

    def plain(self) -> dict[str, Any]:
        """As JSON types."""
        return asdict(self) | {"wrong": list(self.wrong)}


def profiles(c: Comparison) -> list[ColumnProfile]:
    """All columns in the order of the schema, once a comparison."""
    if "profiles" not in c.scores:
        c.scores["profiles"] = [_profile(c, n) for n in c.domain.names]
    out: list[ColumnProfile] = c.scores["profiles"]
    return out


def _profile(c: Comparison, name: str) -> ColumnProfile:
    i, words = c.domain.index(name), c.words(name)
    if name in c.real_values and name in c.synthetic_values:
        left, right = (_of_numbers(x) for x in c.exact(name))
        wrong = _wrong_numbers(c.exact(name)[0], left, right, c.m)
    else:
        sides = ((c.truth, c.real_dates), (c.synthetic, c.synthetic_dates))
        unit = c.date_units.get(name, A_DAY)
        left, right = (_of_codes(codes[i], words, c.domain[name], dates.get(name), unit) for codes, dates in sides)
        right = replace(right, unlisted=False)  # they are written as one text
        wrong = []
    share = (left.missing * c.n + 2) / (c.n + 4)
    if abs(right.missing - left.missing) > max(FAR_BLANK, SURE * np.sqrt(share * (1 - share) / together(c.n, c.m))):
        wrong.insert(0, "missing")
    return ColumnProfile(column=name, real=left, synthetic=right, wrong=tuple(wrong))


def _of_numbers(values: Floats) -> Figures:
    valid = values[~np.isnan(values)]
    missing = 1 - len(valid) / max(1, len(values))
    if not len(valid):
        return Figures(missing=missing, distinct=0)
    return Figures(
        missing=missing,
        distinct=len(np.unique(valid)),
        mean=float(valid.mean()),
        deviation=float(valid.std(ddof=1)) if len(valid) > 1 else 0.0,
        quantiles=tuple(np.quantile(valid, QUANTILES).tolist()),
    )


def _of_codes(
    codes: NDArray[np.unsignedinteger[Any]], words: Sequence[str], a: CodedAttribute, dates: Floats | None, unit: int
) -> Figures:
    counts = np.bincount(codes, minlength=len(words))
    blank = len(words) - 1 if words and words[-1] == MISSING else -1
    missing = float(counts[blank] / max(1, len(codes))) if blank >= 0 else 0.0
    plain = counts[: a.size - a.special]
    quantiles: tuple[str, ...] = ()
    if a.ordered and plain.sum():
        at = np.searchsorted(np.cumsum(plain), np.array(QUANTILES) * (plain.sum() - 1), side="right")
        quantiles = tuple(words[k] for k in at)
    distinct = int(np.count_nonzero(counts)) - int(blank >= 0 and counts[blank] > 0)
    if dates is not None:
        valid = dates[~np.isnan(dates)] * unit
        distinct, missing = len(np.unique(valid)), float(np.isnan(dates).mean())
        quantiles = _of_dates(valid, words[0], precise=unit == 1) if len(valid) else ()
    unlisted = dates is None and OTHER in words and bool(counts[words.index(OTHER)])
    return Figures(missing=missing, distinct=distinct, unlisted=unlisted, quantiles=quantiles)


def _of_dates(seconds: Floats, first: str, *, precise: bool) -> tuple[str, ...]:
    """Quantiles of dates or times as the files have them; months and years where all cells are first days of them.

    first: label of the first bin, which shows what a cell names.
    """
    at = np.floor(np.quantile(seconds, QUANTILES)).astype("datetime64[s]")
    if precise:
        return tuple(str(x) for x in at)
    days = seconds.astype("datetime64[s]").astype("datetime64[D]")
    for unit, letters in (("Y", 4), ("M", 7)):
        if len(first) == letters and (days == days.astype(f"datetime64[{unit}]")).all():
            return tuple(str(x)[:letters] for x in at)
    return tuple(str(x)[:10] for x in at)


def _wrong_numbers(values: Floats, real: Figures, synthetic: Figures, m: int) -> list[str]:
    """values: of the real column, m: synthetic records."""
    if real.mean is None or real.deviation is None:
        return []
    if synthetic.mean is None or synthetic.deviation is None:
        return ["mean"]
    valid = values[~np.isnan(values)]
    records = together(len(valid), round(m * (1 - real.missing)))
    out = ["mean"] if moved(valid, synthetic.mean, records) is not None else []
    # the deviation moved where the mean of squares did, which a few records of a heavy tail hold
    apart = (valid - real.mean) ** 2
    far = abs(synthetic.deviation - real.deviation) > FAR_DEVIATION * real.deviation
    alone = synthetic.deviation == 0
    if far and (alone or moved(apart, synthetic.deviation**2, records) is not None):
        out.append("deviation")
    return out
