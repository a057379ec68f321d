"""Group variance: the share of a number's variance that lies between groups, such as schools, hospitals or shops.

The intraclass correlation of one-way analysis of variance, which unlike a correlation ratio does not grow with the
number of groups. Of each number and column of two values, the list of many words that explains most of it is shown,
and what declared questions name: a list of numbers, such as years of school, is taken for groups only there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.evaluate import shifts
from dpsyn_core.evaluate.comparison import Comparison, Floats
from dpsyn_core.evaluate.dependent_rows import rows_as_one
from dpsyn_core.evaluate.findings.cells import ExactCells
from dpsyn_core.evaluate.findings.finding import Finding
from dpsyn_core.evaluate.findings.outcomes import column_numbers, two_valued

MANY = 8  # values of a list that are groups without being asked for
SHOWN = 3  # that nobody asked for
MOST_PAIRS = 100
FEWEST = 30  # records beyond the number of groups
DECIDED = 0.98  # share from which on the groups decide the number, which is a function and no variance
SMALL = 0.02  # shares up to which groups hardly matter
SURE = 4.5  # standard errors
INTERVAL = 1.96
OF_A_RELATION = 0.6  # weight of a relation that is lost, as of a correlation


@dataclass(frozen=True, kw_only=True, slots=True)
class GroupVariance:
    """A number, the column of its groups, their number, and the share of variance between them in both tables.

    error: standard error of the difference of `real` and the share in a fresh sample of as many records as the
    synthetic table has. gap_error: that of the difference of both tables.
    """

    column: str
    by: str
    groups: int
    real: float
    synthetic: float
    error: float
    gap_error: float

    @property
    def fresh(self) -> tuple[float, float]:
        """Where 95 of 100 fresh samples of the same people and groups have it."""
        half = INTERVAL * self.error
        return max(0.0, self.real - half), min(1.0, self.real + half)

    @property
    def far(self) -> bool:
        """Whether the difference of both tables is beyond chance."""
        return abs(self.real - self.synthetic) > max(SMALL, SURE * self.gap_error)

    @property
    def moved(self) -> bool:
        """Whether less than half of it is left, or more than twice as much is there, beyond chance."""
        low, high = sorted((self.real, self.synthetic))
        return self.far and low < high / 2


def group_variances(c: Comparison) -> list[GroupVariance]:
    """Those of declared questions, then at most SHOWN others, the largest first; once a comparison."""
    if "group variances" not in c.scores:
        c.scores["group variances"] = _all(c)
    out: list[GroupVariance] = c.scores["group variances"]
    return out


def variances(c: Comparison) -> Iterator[Finding]:
    """Groups that explain less than half of what they explained, or more than twice as much."""
    for v in group_variances(c):
        if v.moved:
            weight = OF_A_RELATION * abs(float(np.sqrt(v.real) - np.sqrt(v.synthetic)))
            key = "group_variance" if v.synthetic < v.real else "more_variance"
            yield Finding(key=key, weight=weight, columns=(v.column, v.by), real=v.real,
                          synthetic=v.synthetic, fresh=v.real, remedy="declare")  # fmt: skip


def _all(c: Comparison) -> list[GroupVariance]:
    names = [*shifts.numbers(c), *two_valued(c)]
    asked = [(a, b) for a, b in dict.fromkeys(c.roles.asked) if a in names and b in c.domain.names and a != b]
    listed = [n for n in shifts.listed(c) if n not in c.real_values]
    many = [n for n in listed if c.domain[n].size - c.domain[n].special >= MANY]
    pairs = [(a, b) for a in names for b in many if a != b and (a, b) not in asked][:MOST_PAIRS]
    best: dict[str, GroupVariance] = {}
    for pair in pairs:
        v = _of(c, *pair)
        if v is None or max(v.real, v.synthetic) <= SMALL or v.real > DECIDED:
            continue
        if v.column not in best or max(v.real, v.synthetic) > max(best[v.column].real, best[v.column].synthetic):
            best[v.column] = v
    ordered = sorted(best.values(), key=lambda v: -max(v.real, v.synthetic))
    return [*(v for pair in asked if (v := _of(c, *pair)) is not None), *ordered[:SHOWN]]


def _of(c: Comparison, column: str, by: str) -> GroupVariance | None:
    kept = []
    for values, cells in zip(column_numbers(c, column), ExactCells.of(c).column(by)[:2], strict=True):
        there = ~np.isnan(values) & (cells >= 0)
        kept.append((values[there], np.unique(cells[there], return_inverse=True)[1]))
    (x, at), (z, made) = kept
    real, synth = intraclass(x, at), intraclass(z, made)
    if real is None or synth is None:
        return None
    k = int(at.max()) + 1
    own, as_one = _variance(real, x, k), rows_as_one(c, column)
    return GroupVariance(
        column=column,
        by=by,
        groups=k,
        real=real,
        synthetic=synth,
        error=float(np.sqrt(as_one * own * (1 / len(x) + 1 / len(z)))),
        gap_error=float(np.sqrt(as_one * (own / len(x) + _variance(synth, z, int(made.max()) + 1) / len(z)))),
    )


def intraclass(values: Floats, groups: NDArray[np.intp]) -> float | None:
    """The intraclass correlation of values by groups 0, 1, ..., at least 0; None where there are too few records.

    Source: Fisher 1925, section 38; Donner 1986, International Statistical Review 54, for groups of unequal size.
    """
    n, k = len(values), int(groups.max(initial=-1)) + 1
    if k < 2 or n < k + FEWEST:
        return None
    count = np.bincount(groups, minlength=k)
    mean = np.bincount(groups, values, k) / np.maximum(count, 1)
    between = float(count @ (mean - values.mean()) ** 2) / (k - 1)
    within = float(((values - mean[groups]) ** 2).sum()) / (n - k)
    size = (n - float(count @ count) / n) / (k - 1)
    apart = max(0.0, (between - within) / size)
    return apart / (apart + within) if apart + within > 0 else None


def _variance(share: float, values: Floats, k: int) -> float:
    """The variance of the share over samples of the same groups, times the number of records.

    That of a share of explained variance (Olkin, Finn 1995), of k groups that explain nothing, and of the
    variance of values with heavy tails.
    """
    spread = float(values.std())
    tails = float(np.mean(((values - values.mean()) / spread) ** 4)) - 3 if spread > 0 else 0.0
    return 4 * share * (1 - share) ** 2 + 2 * k / len(values) + share**2 * max(0.0, tails)
