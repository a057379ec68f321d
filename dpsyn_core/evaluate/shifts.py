"""What moved: rank correlations of pairs, means of numbers, and means of groups that are not those of the real table.

A figure counts as moved where it is off by more than two samples of the same people are from each other (the real table
is one of them), and by enough to matter;
with many figures, by more than any of them would be (Bonferroni 1936), and where few records hold most of a sum, by
more than these come and go (Bernstein 1946).
All figures are those that a reader of the two files computes, on exact values and without blank cells. Private.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.evaluate.base import Score
from dpsyn_core.evaluate.comparison import Comparison, Floats
from dpsyn_core.evaluate.correlations import RankCorrelation
from dpsyn_core.evaluate.dependent_rows import rows_as_one
from dpsyn_core.evaluate.findings.cells import MISSING

SURE = 3.0  # standard errors of a fresh sample beyond which a figure is not that of one
RARE = 0.001  # share of fresh samples of which any figure of a kind may be said to have moved
FEW_OF_A_GROUP = 30  # records up to which the deviation within a group is too uncertain to stand alone
FAR_CORRELATION = 0.1  # of a rank correlation: less is hardly seen in a plot
FAR_MEAN = 0.05  # of a standard deviation, or of the mean itself
FAR_SHARE = 0.02  # of all records: by so much the share of a value has moved
NEW_SHARE = 0.01  # of all records: by so much there is a value that no real record has
SHORT = 12  # values of a category whose groups are compared
FEWEST = 5  # records of a group whose mean says anything
PULLED = 0.1  # of the differences between groups
MOST_PAIRS = 400  # of a number and a category that are compared; the first in the order of the schema


@dataclass(frozen=True, kw_only=True, slots=True)
class MovedPair:
    """A rank correlation over the records that have both values."""

    columns: tuple[str, str]
    real: float
    synthetic: float


@dataclass(frozen=True, kw_only=True, slots=True)
class MovedMean:
    """The mean of a number; distance is what it is sorted by: in standard deviations, or in parts of the mean."""

    column: str
    real: float
    synthetic: float
    distance: float


@dataclass(frozen=True, kw_only=True, slots=True)
class MovedGroup:
    """The mean of a number among the records of one value of a category; column "" for the share of that value.

    decimal: the value is a number.
    """

    column: str
    category: str
    value: str
    real: float
    synthetic: float
    distance: float
    decimal: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class GroupMeans:
    """A number by the values of a short category: means by group, real and synthetic; NaN where a group has none.

    sizes: real and synthetic records of each group that have the number. far: by so much at least the mean of a fresh
    sample is off now and then. kept: the slope of synthetic differences from
    the overall mean on real ones: 1 where the gaps between groups are as large as the real ones, 0 where there are none
    left; None where the real groups do not differ beyond chance.
    """

    column: str
    category: str
    values: list[str]
    real: Floats
    synthetic: Floats
    sizes: NDArray[np.int64]
    far: Floats
    deviation: float
    kept: float | None

    @property
    def moved(self) -> NDArray[np.bool_]:
        """Which groups have a mean that a fresh sample would hardly have, and that is far off."""
        valid = (self.sizes[0] >= FEWEST) & (self.sizes[1] > 0)
        gap = np.abs(np.nan_to_num(self.synthetic) - np.nan_to_num(self.real))
        far = np.maximum(np.nan_to_num(self.far), 2 * FAR_MEAN * self.deviation)
        return np.asarray(valid & (gap > far) & (self.deviation > 0))

    @property
    def pulled(self) -> bool:
        """Whether the differences between the groups are smaller or larger than they are, by a tenth at least."""
        return self.kept is not None and abs(self.kept - 1) > PULLED


def sure_of(count: int) -> float:
    """Standard errors that none of `count` figures exceeds in 999 of 1,000 fresh samples; three at least."""
    return max(SURE, -NormalDist().inv_cdf(RARE / 2 / max(1, count)))


def by_chance(deviation: Floats, farthest: Floats, records: Floats, sure: float) -> Floats:
    """How far means of so many records lie from the true ones at most, but for the chance of `sure` standard errors.

    Bernstein's inequality: where one record lies far out, whether it is drawn once or three times moves the mean.
    """
    return np.asarray(sure * deviation / np.sqrt(records) + sure**2 * farthest / (6 * records))


def correlations(c: Comparison) -> list[MovedPair]:
    """Pairs whose rank correlation moved, the farthest first."""
    names = c.sortable
    if len(names) < 2:
        return []
    score: Score = RankCorrelation().score(c)
    real, synthetic = (np.asarray(score.details[k]) for k in ("real", "synthetic"))
    i, j = np.triu_indices(len(names), 1)
    gap = np.abs(synthetic - real)[i, j]
    present = np.array([float((~np.isnan(c.exact(n)[0])).mean()) for n in names])
    as_one = np.array([rows_as_one(c, names[a], names[b]) for a, b in zip(i, j, strict=True)])
    records = np.maximum(together(c.n, c.m) * np.minimum(present[i], present[j]) / as_one, 2)
    # a rank correlation r of m records is off by (1 - r^2) / sqrt(m - 1), and a little more where ranks are uneven
    error = sure_of(len(i)) * (1 - real[i, j] ** 2 / 2) / np.sqrt(records)
    seen = np.maximum(np.abs(real), np.abs(synthetic))[i, j] * np.sqrt(records) > SURE  # one of the two is no chance
    order = np.argsort(-gap, kind="stable")
    chosen = [k for k in order if seen[k] and gap[k] > max(FAR_CORRELATION, error[k])]
    return [
        MovedPair(
            columns=(names[i[k]], names[j[k]]), real=float(real[i[k], j[k]]), synthetic=float(synthetic[i[k], j[k]])
        )
        for k in chosen
    ]


def means(c: Comparison, sure: float | None = None) -> list[MovedMean]:
    """Numbers whose mean moved, the farthest first; dates and ordered words have none. sure: None for all together."""
    out, names = [], numbers(c)
    sure = sure_of(len(names)) if sure is None else sure
    for name in names:
        real, synthetic = (x[~np.isnan(x)] for x in c.exact(name))
        if len(real) < 2 or not len(synthetic):
            continue
        records = together(len(real), len(synthetic)) / rows_as_one(c, name)
        shift = moved(real, float(synthetic.mean()), records, sure=sure)
        if shift is not None:
            out.append(
                MovedMean(column=name, real=float(real.mean()), synthetic=float(synthetic.mean()), distance=shift)
            )
    return sorted(out, key=lambda x: -x.distance)


def together(n: int, m: int) -> float:
    """Records that stand for two samples: a mean of as many errs as much as the means of both differ."""
    return 1 / (1 / max(n, 1) + 1 / max(m, 1))


def moved(real: Floats, synthetic: float, records: float, *, sure: float = SURE, relative: bool = True) -> float | None:
    """How far a mean moved, in standard deviations or in parts of the mean of what is never negative; None: not.

    Args:
        real: values without blank cells.
        synthetic: the other mean.
        records: that it rests on.
        sure: standard errors of a fresh sample.
        relative: whether parts of the mean say anything.
    """
    mean, deviation = float(real.mean()), float(real.std())
    gap = abs(synthetic - mean)
    far = gap / deviation if deviation > 0 else (0.0 if gap == 0 else np.inf)
    if relative and mean > 0 and real.min() >= 0:
        far = max(far, gap / mean)
    # what no value lies far below is not lower by chance because some lie far above
    farthest = float(real.max()) - mean if synthetic > mean else mean - float(real.min())
    no_chance = gap > by_chance(np.array(deviation), np.array(farthest), np.array(max(1.0, records)), sure)
    return float(far) if no_chance and far > FAR_MEAN else None


def numbers(c: Comparison) -> list[str]:
    """Attributes whose cells are numbers in the files."""
    return [n for n in c.domain.names if n in c.real_values and n in c.synthetic_values]


def categories(c: Comparison) -> list[str]:
    """Attributes of two to SHORT values that are no binned numbers."""
    return [n for n in listed(c) if 2 <= c.domain[n].size - c.domain[n].special <= SHORT]


def listed(c: Comparison) -> list[str]:
    """Attributes of listed values, few or many."""
    return [a.name for a in c.domain.attributes if not a.number and a.name not in c.real_dates and a.size > 1]


def gaps(c: Comparison) -> list[GroupMeans]:
    """Every number by every short category, once a comparison; no column by itself."""
    if "gaps" not in c.scores:
        pairs = [(n, g) for n in numbers(c) for g in categories(c) if n != g]
        compared = pairs[:MOST_PAIRS]
        sure = sure_of(sum(c.domain[g].size - c.domain[g].special for _, g in compared))
        c.scores["gaps"] = [_gaps(c, n, g, sure) for n, g in compared]
    out: list[GroupMeans] = c.scores["gaps"]
    return out


def _gaps(c: Comparison, name: str, category: str, sure: float) -> GroupMeans:
    a, i = c.domain[category], c.domain.index(category)
    plain = a.size - a.special
    sides = []
    for values, codes in zip(c.exact(name), (c.truth[i], c.synthetic[i]), strict=True):
        sides.append(by_group(values, codes, plain))
    (n, real, square), (m, synthetic, _) = sides
    with np.errstate(invalid="ignore", divide="ignore"):
        within = np.sqrt(np.maximum(square - real**2, 0))
        fresh = np.minimum(n * c.m / c.n, m)
        fresh = 1 / (1 / n + 1 / fresh) / rows_as_one(c, name)  # records that the difference of two means rests on
    use = (n >= FEWEST) & (m >= 1)
    whole = float((n * np.nan_to_num(real)).sum() / max(1, n.sum()))
    synth = float((m * np.nan_to_num(synthetic)).sum() / max(1, m.sum()))
    deviation = float(np.sqrt(max(0.0, (n * np.nan_to_num(square)).sum() / max(1, n.sum()) - whole**2)))
    spread = np.where(n < FEW_OF_A_GROUP, np.fmax(within, deviation), within)
    farthest = _farthest(name, i, c, real, np.nan_to_num(np.sign(synthetic - real)))
    far = by_chance(spread, np.fmax(farthest, 0), np.maximum(fresh, 1), sure)
    kept = None
    if use.sum() >= 2:
        weight, left, right = n[use], real[use] - whole, synthetic[use] - synth
        between = float(weight @ left**2)
        chance = float((within[use] ** 2).sum())  # what groups that do not differ would show
        if between > (1 + SURE) * max(chance, 1e-12 * max(1.0, whole**2)):
            kept = float(weight @ (left * right)) / between
    return GroupMeans(
        column=name,
        category=category,
        values=c.words(category)[:plain],
        real=real,
        synthetic=synthetic,
        sizes=np.stack([n, m]),
        far=far,
        deviation=deviation,
        kept=kept,
    )


def _farthest(name: str, category: int, c: Comparison, means: Floats, way: Floats) -> Floats:
    """How far the farthest record of each group lies from the group's real mean, to the side that the mean moved to."""
    values, codes = c.exact(name)[0], c.truth[category]
    there = ~np.isnan(values) & (codes < len(means))
    out = np.zeros(len(means))
    np.maximum.at(out, codes[there], way[codes[there]] * (values[there] - means[codes[there]]))
    return out


def by_group(values: Floats, codes: NDArray[np.integer[Any]], known: int) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Records, means and means of squares by group, of the records that have the number."""
    there = ~np.isnan(values) & (codes < known)
    at, x = codes[there].astype(np.intp), values[there]
    count = np.bincount(at, minlength=known)
    with np.errstate(invalid="ignore", divide="ignore"):
        return count, np.bincount(at, x, known) / count, np.bincount(at, x * x, known) / count


def correlation_ratio(values: Floats, codes: NDArray[np.integer[Any]], known: int) -> float:
    """Square root of the share of a number's variance that lies between the groups; 0 for a constant."""
    count, mean, square = by_group(values, codes, known)
    n = count.sum()
    if not n:
        return 0.0
    mean, square = np.nan_to_num(mean), np.nan_to_num(square)
    middle = float(count @ mean) / n
    whole = float(count @ square) / n - middle**2
    between_groups = float(count @ (mean - middle) ** 2) / n
    return float(np.sqrt(np.clip(between_groups / whole, 0, 1))) if whole > 1e-12 * max(1.0, middle**2) else 0.0


def groups(c: Comparison) -> list[MovedGroup]:
    """Means of groups that moved against the mean of all, and shares of values that moved, the farthest first."""
    out = []
    for g in gaps(c):
        for k in np.flatnonzero(g.moved):
            out.append(
                MovedGroup(
                    column=g.column,
                    category=g.category,
                    value=g.values[k],
                    real=float(g.real[k]),
                    synthetic=float(g.synthetic[k]),
                    distance=float(abs(g.synthetic[k] - g.real[k]) / g.deviation),
                    decimal=g.category in c.synthetic_values,
                )
            )
    return sorted(out, key=lambda x: -x.distance)


def error_of_share(real: Floats, n: int, m: int) -> Floats:
    """Standard error of the difference of a share in m records from `real`, that in n records of the same people."""
    smooth = (real * n + 2) / (n + 4)  # a value that is rare or absent varies as well (Agresti, Coull 1998)
    return np.asarray(np.sqrt(smooth * (1 - smooth) / together(n, m)))


def shares(c: Comparison) -> list[MovedGroup]:
    """Listed values whose share of the records moved, first those that are gone or new, then the farthest."""
    out, names = [], listed(c)
    sure = sure_of(sum(c.domain[name].size for name in names))
    for name in names:
        a, i = c.domain[name], c.domain.index(name)
        real, synthetic = (np.bincount(x, minlength=a.size) / max(1, len(x)) for x in (c.truth[i], c.synthetic[i]))
        both = (real * c.n + synthetic * c.m) / (c.n + c.m)  # one share, were both tables of the same people
        as_one = rows_as_one(c, name)
        error = error_of_share(both, c.n, c.m) * np.sqrt(as_one)
        words = c.words(name)
        gone = (synthetic == 0) & (real * c.m > as_one * sure**2)  # a fresh sample lacks them once in e^9 times at most
        came = (real == 0) & (synthetic > max(NEW_SHARE, as_one * sure**2 / max(1, min(c.n, c.m))))
        for k in np.flatnonzero((np.abs(synthetic - real) > np.maximum(sure * error, FAR_SHARE)) | gone | came):
            if words[k] == MISSING:
                continue  # blank cells are no value
            out.append(
                MovedGroup(
                    column="",
                    category=name,
                    value=words[k],
                    real=float(real[k]),
                    synthetic=float(synthetic[k]),
                    distance=float(abs(synthetic[k] - real[k]) + (gone[k] or came[k])),
                    decimal=name in c.synthetic_values,
                )
            )
    return sorted(out, key=lambda x: -x.distance)
