"""Who pays for the noise: how far the records of each group of a column are off, by the size of the group. Private."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate.comparison import Comparison
from dpsyn_core.evaluate.relations import groups

MOST = 200  # groups that are shown: the largest and the smallest of more
FEWEST = 5  # records of a group that are worth a comparison


@dataclass(frozen=True, kw_only=True, slots=True)
class GroupError:
    """One group. error, floor: mean TVD of the other columns within it, and of a fresh sample of its people.

    real, synthetic: records, the synthetic ones scaled to the size of the real table. error is 1 for a group that the
    synthetic table lacks.
    """

    value: str
    real: int
    synthetic: float
    error: float
    floor: float


def group_errors(c: Comparison, column: str) -> list[GroupError]:
    """The groups of a column, the largest first; other columns count in a few stretches of about equal size.

    Raises:
        MetricError: there is no other column, or no group has FEWEST records.
    """
    key = ("groups", column)
    if key not in c.scores:
        c.scores[key] = _group_errors(c, column)
    out: list[GroupError] = c.scores[key]
    return out


def _group_errors(c: Comparison, column: str) -> list[GroupError]:
    a, i = c.domain[column], c.domain.index(column)
    real, synthetic, _ = groups(c, None, None)
    sizes = [np.bincount(codes[i], minlength=a.size) for codes in (c.truth, c.synthetic)]
    kept = np.flatnonzero(sizes[0] >= FEWEST)
    if len(c.domain) < 2 or not len(kept):
        msg = f"no group of '{column}' has {FEWEST} records to compare with other columns; choose another column"
        raise MetricError(msg)
    wide = int(max(real.max(), synthetic.max())) + 1
    n, m = (np.maximum(s[kept], 1)[:, None].astype(float) for s in sizes)
    fresh = n * c.m / c.n
    error, floor = np.zeros(len(kept)), np.zeros(len(kept))
    for j in range(len(c.domain)):
        if j == i:
            continue
        tables = [
            np.bincount(codes[i].astype(np.int64) * wide + rows[j], minlength=a.size * wide).reshape(a.size, wide)[kept]
            for codes, rows in ((c.truth, real), (c.synthetic, synthetic))
        ]
        p, q = tables[0] / n, tables[1] / m
        error += np.abs(p - q).sum(axis=1) / 2
        floor += np.minimum(1, np.sqrt(2 / math.pi * p * (1 - p) / fresh).sum(axis=1) / 2)
    error, floor = error / (len(c.domain) - 1), floor / (len(c.domain) - 1)
    error[sizes[1][kept] == 0] = 1.0
    words = c.words(column)
    order = np.argsort(-sizes[0][kept], kind="stable")
    if len(order) > MOST:
        order = np.concatenate([order[: MOST // 2], order[-MOST // 2 :]])
    return [
        GroupError(
            value=words[kept[k]],
            real=int(sizes[0][kept[k]]),
            synthetic=float(sizes[1][kept[k]] * c.n / c.m),
            error=float(error[k]),
            floor=float(floor[k]),
        )
        for k in order
    ]
