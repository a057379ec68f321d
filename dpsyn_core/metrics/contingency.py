"""Association of pairs in both tables, read off their contingency tables in one pass."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.counting.base import Counter
from dpsyn_core.metrics.comparison import Codes, Comparison
from dpsyn_core.metrics.distances import DENSE_CELLS, batches
from dpsyn_core.schema.domain import AttributeSet, CodedAttribute, Domain

Floats = NDArray[np.float64]
Cells = tuple[NDArray[np.int64], NDArray[np.int64], Floats]  # rows, columns and counts of the cells that hold records
MEASURES = ("cramers_v", "mutual_information", "spearman")


@dataclass(frozen=True, kw_only=True, slots=True)
class Associations:
    """One entry a pair; float64 of shape (2, pairs): real first, synthetic second.

    cramers_v in [0, 1]; mutual_information in nats; spearman in [-1, 1], NaN where an attribute has no order. An
    attribute with a single value is associated with nothing: 0 in all three.
    """

    pairs: list[AttributeSet]
    cramers_v: Floats
    mutual_information: Floats
    spearman: Floats


def associations(c: Comparison) -> Associations:
    """Associations of all pairs of attributes, computed once a comparison. Private."""
    if "associations" not in c.scores:
        c.scores["associations"] = _associations(c)
    found: Associations = c.scores["associations"]
    return found


def _associations(c: Comparison) -> Associations:
    pairs = c.domain.subsets(2)
    out = np.zeros((len(MEASURES), 2, len(pairs)))
    for which, (counter, codes) in enumerate([(c.real_counter, c.truth), (c.synthetic_counter, c.synthetic)]):
        done = 0
        for batch in batches(c.domain, pairs):
            for names, cells in zip(batch, _cells(counter, codes, c.domain, batch), strict=True):
                a, b = (c.domain[n] for n in names)
                out[0, which, done] = cramers_v(cells)
                out[1, which, done] = mutual_information(cells)
                out[2, which, done] = spearman(cells, a, b)
                done += 1
    return Associations(pairs=pairs, cramers_v=out[0], mutual_information=out[1], spearman=out[2])


def _cells(counter: Counter, codes: Codes, domain: Domain, batch: Sequence[AttributeSet]) -> list[Cells]:
    if domain.cells(batch[0]) > DENSE_CELLS:
        a, b = (codes[domain.index(n)].astype(np.int64) for n in batch[0])
        size = domain[batch[0][1]].size
        cell, count = np.unique(a * size + b, return_counts=True)
        return [(cell // size, cell % size, count.astype(np.float64))]
    out = []
    for table in counter.marginals(batch):
        rows, columns = np.nonzero(table)
        out.append((rows, columns, table[rows, columns].astype(np.float64)))
    return out


def cramers_v(cells: Cells) -> float:
    """Cramer's V = sqrt(chi2 / n / min(rows - 1, columns - 1)) over the values that occur; 0 when one is constant."""
    rows, columns, count = cells
    r, c, n = np.bincount(rows, count), np.bincount(columns, count), count.sum()
    least = min(np.count_nonzero(r), np.count_nonzero(c)) - 1
    if least < 1:
        return 0.0
    chi2 = n * float((count**2 / (r[rows] * c[columns])).sum()) - n
    return math.sqrt(min(1.0, max(0.0, chi2 / n / least)))


def mutual_information(cells: Cells) -> float:
    """Mutual information in nats, of the frequencies as they are (no correction for chance)."""
    rows, columns, count = cells
    r, c, n = np.bincount(rows, count), np.bincount(columns, count), count.sum()
    return max(0.0, float((count / n * np.log(count * n / (r[rows] * c[columns]))).sum()))


def spearman(cells: Cells, a: CodedAttribute, b: CodedAttribute) -> float:
    """Rank correlation over records that have both values, ties at their middle rank; NaN without order."""
    if not (a.ordered and b.ordered):
        return math.nan
    rows, columns, count = cells
    keep = (rows < a.size - a.special) & (columns < b.size - b.special)
    rows, columns, count = rows[keep], columns[keep], count[keep]
    if not len(count):
        return 0.0
    x = _middle_ranks(np.bincount(rows, count).astype(np.float64))[rows]
    y = _middle_ranks(np.bincount(columns, count).astype(np.float64))[columns]
    n = count.sum()
    x, y = x - (count * x).sum() / n, y - (count * y).sum() / n
    spread = math.sqrt(float((count * x * x).sum()) * float((count * y * y).sum()))
    return float((count * x * y).sum() / spread) if spread > 0 else 0.0


def _middle_ranks(count: Floats) -> Floats:
    return np.asarray(np.cumsum(count) - (count - 1) / 2)
