"""Association of pairs of columns, real and synthetic: Cramer's V, mutual information and rank correlation. Private.

All three are read off the contingency table of a pair, in one pass over the pairs of both tables.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate.base import Metric, Score, register
from dpsyn_core.evaluate.comparison import Codes, Comparison
from dpsyn_core.evaluate.distances import DENSE_CELLS, batches
from dpsyn_core.measure import Counter
from dpsyn_core.schema import AttributeSet, CodedAttribute, Domain

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
    out: Associations = c.scores["associations"]
    return out


def _associations(c: Comparison) -> Associations:
    pairs = c.domain.subsets(2)
    out = np.zeros((len(MEASURES), 2, len(pairs)))
    for which, (counter, codes) in enumerate([(c.real_counter, c.truth), (c.synthetic_counter, c.synthetic)]):
        done = 0
        for batch in batches(c.domain, pairs):
            for names, cells in zip(batch, occupied_cells(counter, codes, c.domain, batch), strict=True):
                a, b = (c.domain[n] for n in names)
                out[0, which, done] = cramers_v(cells)
                out[1, which, done] = mutual_information(cells)
                out[2, which, done] = spearman(cells, a, b)
                done += 1
    return Associations(pairs=pairs, cramers_v=out[0], mutual_information=out[1], spearman=out[2])


def occupied_cells(counter: Counter, codes: Codes, domain: Domain, batch: Sequence[AttributeSet]) -> list[Cells]:
    """The cells of some pairs that hold records."""
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


def corrected_v(cells: Cells) -> float:
    """Cramer's V less what chance gives to many values and few records (Bergsma 2013); 0 when one is constant."""
    rows, columns, count = cells
    n = float(count.sum())
    r, c = (len(np.unique(x[count > 0])) - 1 for x in (rows, columns))
    if min(r, c) < 1 or n < 2:
        return 0.0
    phi = cramers_v(cells) ** 2 * min(r, c) - r * c / (n - 1)
    least = min(k - k**2 / (n - 1) for k in (r, c))
    return math.sqrt(min(1.0, max(0.0, phi / least))) if least > 0 else 0.0


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


WORST = 10


def pair_details(found: Associations, measure: str) -> dict[str, Any]:
    """Details of one measure over the pairs for which it is defined. Raises MetricError when there is no pair."""
    real, synthetic = getattr(found, measure)
    defined = np.flatnonzero(~np.isnan(real))
    if not len(defined):
        msg = "an association needs two attributes; the schema has one"
        raise MetricError(msg)
    difference = abs(synthetic - real)[defined]
    order = defined[np.argsort(-difference, kind="stable")][:WORST]
    return {
        "attributes": [list(found.pairs[i]) for i in defined],
        "real": real[defined],
        "synthetic": synthetic[defined],
        "difference": difference,
        "max": difference.max(),
        "worst": [
            {"attributes": list(found.pairs[i]), "real": real[i], "synthetic": synthetic[i]} for i in order.tolist()
        ],
    }


@register(50)
@dataclass(frozen=True, kw_only=True)
class CramersV(Metric):
    """At schema resolution; missing and other count as values."""

    name = "cramers-v"
    title = "Association of pairs"
    question = "Are attributes as strongly associated as in the real table?"
    goal = "low"
    minimum = 0.0
    maximum = 1.0
    unit = "Cramer's V"

    def compute(self, comparison: Comparison) -> Score:
        """Mean absolute difference of Cramer's V over all pairs."""
        details = pair_details(associations(comparison), "cramers_v")
        mean = float(np.mean(details["difference"]))
        return Score(
            metric=self.name,
            value=mean,
            sentence=f"Cramer's V of a pair of attributes is off by {mean:.3f} on average, on a scale from 0 to 1.",
            details=details,
        )


@register(51)
@dataclass(frozen=True, kw_only=True)
class MutualInformation(Metric):
    """At schema resolution; missing and other count as values. Small tables have more of it by chance."""

    name = "mutual-information"
    title = "Mutual information of pairs"
    question = "Is the mutual information of pairs of attributes that of the real table?"
    goal = "low"
    minimum = 0.0
    maximum = None
    unit = "nats"

    def compute(self, comparison: Comparison) -> Score:
        """Mean absolute difference of the mutual information over all pairs."""
        details = pair_details(associations(comparison), "mutual_information")
        mean, real = float(np.mean(details["difference"])), float(np.mean(details["real"]))
        return Score(
            metric=self.name,
            value=mean,
            sentence=f"The mutual information of a pair is off by {mean:.3f} nats on average, where the real "
            f"average is {real:.3f}.",
            details=details,
        )
