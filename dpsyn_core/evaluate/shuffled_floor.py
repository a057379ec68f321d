"""The second floor of a score: what unrelated columns get, that is the real table with every column shuffled by itself.

The first floor is a fresh sample of the people. A score between the two is read as a share of the way: 1 as good as a
fresh sample, 0 as good as columns without any relation. Drawn once with a fixed seed. Private.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate.base import Metric, Score, metric_class
from dpsyn_core.evaluate.comparison import Comparison, Floats

# metrics that see more than one column at a time, and take seconds
FLOORED = (
    "tvd-2way",
    "tvd-3way",
    "range-queries",
    "number-ranges",
    "rank-correlation",
    "spearman",
    "correlation",
    "cramers-v",
    "mutual-information",
    "itemsets",
)
SEED = 0
NARROW = 1e-3  # floors nearer than this to each other say nothing about what lies between them


@dataclass(frozen=True, kw_only=True, slots=True)
class Between:
    """A score with its two floors. kept: share of the way, 1 for a fresh sample, 0 for unrelated columns, clipped.

    None where the floors cannot be distinguished: then no relation of the real table could be lost.
    """

    score: Score
    fresh: float
    unrelated: float

    @property
    def kept(self) -> float | None:
        """The share of the way."""
        way = self.unrelated - self.fresh
        if abs(way) < NARROW:
            return None
        return float(np.clip((self.unrelated - self.score.value) / way, 0, 1))


def between(c: Comparison, name: str, score: Score | None = None) -> Between | None:
    """The floors of a metric, once a comparison; None for a metric without a second floor.

    Raises:
        MetricError: the metric cannot be computed on these tables.
    """
    if name not in FLOORED or len(c.domain) < 2:
        return None
    metric = metric_class(name)()
    got = metric.score(c) if score is None else score
    key = ("between", name)
    if key not in c.scores:
        fresh = _score(c, metric, alone=False) if got.floor is None else got.floor
        c.scores[key] = fresh, _score(c, metric, alone=True)
    fresh, unrelated = c.scores[key]
    return Between(score=got, fresh=fresh, unrelated=unrelated)


def floors(c: Comparison, scores: Mapping[str, Score | MetricError]) -> dict[str, Between]:
    """The floors of all scores that have them."""
    out = {}
    for name, score in scores.items():
        if isinstance(score, Score):
            floor = between(c, name, score)
            if floor is not None:
                out[name] = floor
    return out


def _score(c: Comparison, metric: Metric, *, alone: bool) -> float:
    return metric.compute(redrawn(c, alone=alone)).value


def redrawn(c: Comparison, *, alone: bool) -> Comparison:
    """The comparison with real records in place of the synthetic ones.

    alone: every column shuffled by itself; else a fresh sample: records drawn with replacement.
    """
    key = ("redrawn", alone)
    if key not in c.scores:
        picks = Picks(c, alone=alone)
        codes = np.stack([row[picks[name]] for name, row in zip(c.domain.names, c.truth, strict=True)])
        c.scores[key] = replace(
            c,
            synthetic=codes,
            synthetic_values=Picked(c.real_values, picks),
            synthetic_dates=Picked(c.real_dates, picks),
            measurements=(),
            shared={},
        )
    out: Comparison = c.scores[key]
    return out


def shuffled_score(c: Comparison, metric: Metric) -> float:
    """A metric of codes on the synthetic table with every column shuffled by itself."""
    rng = np.random.default_rng(SEED)
    codes = np.stack([row[rng.permutation(c.m)] for row in c.synthetic])
    return metric.compute(replace(c, synthetic=codes, measurements=(), shared={})).value


class Picks:
    """Which records each column takes; drawn anew whenever they are asked for, since wide tables have many."""

    def __init__(self, c: Comparison, *, alone: bool) -> None:
        """alone: every column is permuted independently."""
        self._n, self._m, self._place, self._alone = c.n, c.m, c.domain.index, alone

    def __getitem__(self, name: str) -> NDArray[np.intp]:
        """The same records whenever they are asked for."""
        rng = np.random.default_rng([SEED, 1 + self._place(name) if self._alone else 0])
        if self._alone and self._n == self._m:
            return rng.permutation(self._n)
        return rng.integers(0, self._n, self._m)


class Picked(Mapping[str, Floats]):
    """Columns of the real table in the order that was drawn, computed lazily."""

    def __init__(self, values: Mapping[str, Floats], picks: Picks) -> None:
        """Takes the columns and the drawn records of each."""
        self._values, self._picks = values, picks

    def __getitem__(self, name: str) -> Floats:
        """The numbers of an attribute."""
        return self._values[name][self._picks[name]]

    def __contains__(self, name: object) -> bool:
        """Whether an attribute has numbers; reads nothing."""
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        """The names."""
        return iter(self._values)

    def __len__(self) -> int:
        """How many attributes have numbers."""
        return len(self._values)
