"""Interactions: what two columns say together of a third one beyond what each says by itself.

Of each number and column of two values the means by two short lists are compared with the additive fit to them, by
the records of each cell (two-way analysis of variance; Scheffé 1959, chapter 4), whose variances may differ. Such a
relation shows in no pair of columns: who gets a bonus in a small shop by day and in a large one by night.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.evaluate import shifts
from dpsyn_core.evaluate.comparison import Comparison, Floats
from dpsyn_core.evaluate.dependent_rows import rows_as_one
from dpsyn_core.evaluate.findings.finding import Finding
from dpsyn_core.evaluate.findings.outcomes import column_numbers, outcome_columns, two_valued

SHORT = 6  # values of a list at most
FEWEST = 20  # records of each cell in both tables
MOST_SETS = 400  # of an outcome and two lists that are looked at, the first in the order of the schema
SOME = 0.01  # of the variance that an interaction explains at least
RARE = 1e-8  # chance of an interaction, or of a difference of two, by which it is none
HALF = 0.5  # of an interaction that is left, or with the opposite sign
OF_A_RELATION = 0.6  # weight of a relation that is lost, as of a correlation


@dataclass(frozen=True, kw_only=True, slots=True)
class OutcomeInteraction:
    """What `first` and `second` say together of `outcome`: the share of its variance that this explains.

    kept: the slope of synthetic interactions on real ones, 1 where they are as large, below 0 where they are opposite.
    far: whether both differ beyond chance.
    """

    outcome: str
    first: str
    second: str
    real: float
    synthetic: float
    kept: float
    far: bool

    @property
    def lost(self) -> bool:
        """Whether less than half of it is left, beyond chance."""
        return self.far and self.kept < HALF

    @property
    def turned(self) -> bool:
        """Whether it is opposite, beyond chance."""
        return self.far and self.kept < -HALF


def interactions(c: Comparison) -> list[OutcomeInteraction]:
    """Those that the real table has beyond chance, the largest first; once a comparison."""
    if "interactions" not in c.scores:
        found = (_of(c, *names) for names in _sets(c))
        c.scores["interactions"] = sorted((x for x in found if x is not None), key=lambda x: -x.real)
    out: list[OutcomeInteraction] = c.scores["interactions"]
    return out


def lost_interactions(c: Comparison) -> Iterator[Finding]:
    """Those that are gone, or opposite: of the same three columns once, of the one that is more of an outcome."""
    ranks = {name: k for k, name in enumerate([*outcome_columns(c), *shifts.numbers(c), *c.domain.names][::-1])}
    named: set[frozenset[str]] = set()
    for x in sorted(interactions(c), key=lambda x: -ranks[x.outcome]):
        columns = frozenset((x.outcome, x.first, x.second))
        if x.lost and columns not in named:
            named.add(columns)
            yield Finding(
                key="interaction_turned" if x.turned else "interaction",
                weight=min(1.0, OF_A_RELATION * float(np.sqrt(x.real)) * (1 - x.kept)),
                columns=(x.outcome, x.first, x.second),
                real=x.real,
                synthetic=x.synthetic,
                fresh=x.real,
                remedy="declare",
            )


def _sets(c: Comparison) -> list[tuple[str, str, str]]:
    short = [n for n in shifts.categories(c) if c.domain[n].size - c.domain[n].special <= SHORT]
    outcomes = list(dict.fromkeys([*two_valued(c), *shifts.numbers(c)]))
    pairs = list(combinations(short, 2))
    return [(y, a, b) for a, b in pairs for y in outcomes if y not in (a, b)][:MOST_SETS]


def _of(c: Comparison, outcome: str, first: str, second: str) -> OutcomeInteraction | None:
    codes = [[t[c.domain.index(name)] for t in (c.truth, c.synthetic)] for name in (first, second)]
    sizes = [c.domain[name].size - c.domain[name].special for name in (first, second)]
    tables = [
        _cells(y, codes[0][k], codes[1][k], (sizes[0], sizes[1])) for k, y in enumerate(column_numbers(c, outcome))
    ]
    full = np.min([t[0] for t in tables], axis=0) >= FEWEST
    rows = np.flatnonzero(full.sum(axis=1) == full.sum(axis=1).max(initial=0))
    columns = np.flatnonzero(full[rows].all(axis=0))
    if len(rows) < 2 or len(columns) < 2:
        return None
    at = np.ix_(rows, columns)
    (n, mean, square), (m, here, square_here) = [[x[at] for x in t] for t in tables]
    left, left_out = _beyond(n, mean)
    right, _ = _beyond(n, here)
    own = float((n * left**2).sum())
    within = [np.maximum(square - mean**2, 0), np.maximum(square_here - here**2, 0)]
    spread = float((n * within[0]).sum() / n.sum()) + _between(n, mean)
    real = own / float(n.sum()) / spread if spread > 0 else 0.0
    as_one = rows_as_one(c, outcome)
    if real < SOME or _chance(own / as_one, left_out, within[0]) > RARE:
        return None
    apart = float((n * (left - right) ** 2).sum()) / as_one
    return OutcomeInteraction(
        outcome=outcome,
        first=first,
        second=second,
        real=real,
        synthetic=float((n * right**2).sum() / n.sum()) / spread,
        kept=float((n * left * right).sum()) / own,
        far=_chance(apart, left_out, within[0] + within[1] * n / m) < RARE,
    )


def _cells(
    y: Floats, first: NDArray[np.uint16], second: NDArray[np.uint16], sizes: tuple[int, int]
) -> tuple[Floats, Floats, Floats]:
    """Records, means and mean squares of a number by two lists."""
    there = ~np.isnan(y) & (first < sizes[0]) & (second < sizes[1])
    at = first[there].astype(np.intp) * sizes[1] + second[there]
    count = np.bincount(at, minlength=sizes[0] * sizes[1]).astype(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = [np.bincount(at, v, len(count)) / count for v in (y[there], y[there] ** 2)]
    return count.reshape(sizes), np.nan_to_num(means[0]).reshape(sizes), np.nan_to_num(means[1]).reshape(sizes)


def _between(count: Floats, mean: Floats) -> float:
    middle = float((count * mean).sum() / count.sum())
    return float((count * (mean - middle) ** 2).sum() / count.sum())


def _beyond(weight: Floats, mean: Floats) -> tuple[Floats, Floats]:
    """Means less the additive fit to them, by weighted least squares, and what leaves these of means times roots."""
    rows, columns = mean.shape
    design = np.zeros((rows * columns, rows + columns))
    i, j = np.divmod(np.arange(rows * columns), columns)
    design[np.arange(len(i)), i] = design[np.arange(len(j)), rows + j] = 1
    root = np.sqrt(weight.ravel())
    scaled = design * root[:, None]
    left_out = np.eye(len(root)) - scaled @ np.linalg.pinv(scaled)
    return np.asarray((left_out @ (mean.ravel() * root) / root).reshape(mean.shape)), left_out


def _chance(square: float, left_out: Floats, variance: Floats) -> float:
    """How rarely chance makes so large a sum of weighted squares, of cells whose variances differ (Box 1954)."""
    from scipy.stats import chi2

    together = left_out @ (variance.reshape(-1, 1) * left_out)
    one, two = float(np.trace(together)), float((together**2).sum())
    if two <= 0:
        return 0.0  # nothing varies within the cells
    return float(chi2.sf(square * one / two, one**2 / two))
