"""Correlations of numbers, by bins and by values.

Exact numbers of both tables, column by column, for the metrics that do not look at bins.

Correlation matrices of the numeric attributes.

Rank correlations of exact numbers, which bins would hide.

Rank correlation of ordered columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate.associations import associations, pair_details
from dpsyn_core.evaluate.base import Metric, Score, register
from dpsyn_core.evaluate.comparison import Comparison, Floats

FENCE = 3.0  # interquartile ranges beyond a quartile: Tukey's outer fence


@dataclass(frozen=True, kw_only=True, slots=True)
class Column:
    """One number in both tables. Private.

    real, synthetic: float64, sorted, without missing cells. scale: the real interquartile range, or where that is 0
    the real standard deviation, or 1 for a constant.
    """

    name: str
    real: Floats
    synthetic: Floats
    scale: float

    @property
    def fences(self) -> tuple[float, float]:
        """Tukey's outer fences of the real numbers."""
        low, high = np.quantile(self.real, [0.25, 0.75])
        return float(low - FENCE * self.scale), float(high + FENCE * self.scale)


def named(comparison: Comparison) -> list[str]:
    """Attributes with exact numbers in both tables that the schema puts in order."""
    c = comparison
    return [n for n in c.domain.names if c.numeric(n) and n in c.real_values and n in c.synthetic_values]


def columns(comparison: Comparison) -> list[Column]:
    """The numbers of every such attribute that both tables hold. Raises MetricError where there is none."""
    out = []
    for name in named(comparison):
        real, synthetic = (np.sort(x[~np.isnan(x)]) for x in comparison.numbers(name))
        if not len(real) or not len(synthetic):
            continue
        low, high = np.quantile(real, [0.25, 0.75])
        scale = float(high - low) or float(real.std()) or 1.0
        out.append(Column(name=name, real=real, synthetic=synthetic, scale=scale))
    if not out:
        msg = "no attribute holds numbers in both tables; declare a column as numeric in the schema"
        raise MetricError(msg)
    return out


def worst_first(names: list[str], errors: Floats) -> list[dict[str, object]]:
    """One row a name, the largest error first."""
    return [{"attribute": names[i], "error": float(errors[i])} for i in np.argsort(-errors, kind="stable")]


CHUNK = 1 << 16  # records multiplied at a time
MOST_RANKED = 500_000_000  # records times pairs with missing cells that are ranked one by one: some 20 s
FEWEST = 10_000  # records that every pair is ranked on


@register(53)
@dataclass(frozen=True, kw_only=True)
class CorrelationMatrix(Metric):
    """Pearson correlation of exact numbers; of codes for dates and ordered categories."""

    name = "correlation"
    title = "Correlation matrix"
    question = "Are the linear correlations of numeric attributes kept?"
    goal = "low"
    minimum = 0.0
    maximum = 2.0
    unit = "correlation"
    on = "exact numbers"

    def compute(self, comparison: Comparison) -> Score:
        """Mean absolute difference over the pairs; an attribute with a single value is correlated with nothing: 0."""
        names = [n for n in comparison.domain.names if comparison.numeric(n)]
        if len(names) < 2:
            msg = f"a correlation needs two numeric attributes; the schema has {len(names)}"
            raise MetricError(msg)
        columns = [comparison.numbers(n) for n in names]
        real = correlation_matrix([c[0] for c in columns])
        synthetic = correlation_matrix([c[1] for c in columns])
        pairs = np.triu_indices(len(names), 1)
        difference = abs(synthetic - real)[pairs]
        worst = int(difference.argmax())
        i, j = int(pairs[0][worst]), int(pairs[1][worst])
        return Score(
            metric=self.name,
            value=float(difference.mean()),
            sentence=f"A correlation of two numeric attributes is off by {difference.mean():.3f} on average; "
            f"most between {names[i]} and {names[j]} ({real[i, j]:.2f} in the real table, "
            f"{synthetic[i, j]:.2f} in the synthetic one).",
            details={
                "attributes": names,
                "real": real,
                "synthetic": synthetic,
                "max": difference.max(),
                "frobenius": float(np.linalg.norm(synthetic - real)),
            },
        )


def correlation_matrix(columns: Sequence[Floats]) -> NDArray[np.float64]:
    """Pearson correlations (d, d) over the records that have both values; 0 where one of them does not vary."""
    x = np.stack([_standardised(c) for c in columns])
    d, n = x.shape
    count, sx, sxx, sxy = (np.zeros((d, d)) for _ in range(4))
    for start in range(0, n, CHUNK):
        part = x[:, start : start + CHUNK].astype(np.float64)
        there = (~np.isnan(part)).astype(np.float64)
        part = np.nan_to_num(part, nan=0.0)
        count += there @ there.T
        sx += part @ there.T  # sum of x over the records that have y too
        sxx += part**2 @ there.T
        sxy += part @ part.T
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = sxx - sx**2 / count
        spread = np.where(spread > 1e-9 * np.maximum(sxx, 1e-300), spread, np.nan)
        out = (sxy - sx * sx.T / count) / np.sqrt(spread * spread.T)
    out = np.clip(np.nan_to_num(out, nan=0.0), -1, 1)
    np.fill_diagonal(out, 1.0)
    return out


def _standardised(column: Floats) -> NDArray[np.float32]:
    """Mean 0 and deviation 1, which float32 keeps to seven digits whatever the unit; all 0 when constant."""
    valid = column[~np.isnan(column)]
    if not len(valid) or float(np.ptp(valid)) == 0:
        return np.where(np.isnan(column), np.nan, 0.0).astype(np.float32)
    return np.asarray((column - valid.mean()) / valid.std(), dtype=np.float32)


@register(52)
@dataclass(frozen=True, kw_only=True)
class RankCorrelation(Metric):
    """Spearman's correlation of exact values, as pandas has it: ties share a rank, records that lack a value are out.

    Of numbers, dates, ordered categories and categories that are numbers.
    """

    name = "rank-correlation"
    title = "Rank correlation of exact numbers"
    question = "Do numbers rise and fall together as they really do, looked at value by value and not in bins?"
    goal = "low"
    minimum = 0.0
    maximum = 2.0
    unit = "rank correlation"
    on = "exact numbers"

    def compute(self, comparison: Comparison) -> Score:
        """Mean absolute difference over all pairs that can be put in order, and the largest one."""
        names = comparison.sortable
        if len(names) < 2:
            msg = f"a rank correlation needs two numbers or other columns in order; the schema has {len(names)}"
            raise MetricError(msg)
        both = [comparison.exact(n) for n in names]
        real, synthetic = (rank_correlations([pair[side] for pair in both]) for side in (0, 1))
        pairs = np.triu_indices(len(names), 1)
        difference = abs(synthetic - real)[pairs]
        worst = int(difference.argmax())
        i, j = int(pairs[0][worst]), int(pairs[1][worst])
        return Score(
            metric=self.name,
            value=float(difference.mean()),
            sentence=f"The rank correlation of two numbers is off by {difference.mean():.3f} on average; most between "
            f"{names[i]} and {names[j]} ({real[i, j]:.2f} in the real table, {synthetic[i, j]:.2f} here).",
            details={"attributes": names, "real": real, "synthetic": synthetic, "max": float(difference.max())},
        )


def rank_correlations(columns: Sequence[Floats]) -> NDArray[np.float64]:
    """Spearman's correlations (d, d) over the records that have both values, ranked among those records.

    Ranks of whole columns serve pairs without missing cells. The other pairs are ranked one by one; where that would
    take minutes, on some of the records, drawn by chance.
    """
    from dpsyn_core.evaluate.kernels import rank_correlation  # numba is heavy

    out = correlation_matrix([ranks(c) for c in columns])
    blank = [bool(np.isnan(c).any()) for c in columns]
    pairs = [(i, j) for i in range(len(columns)) for j in range(i) if blank[i] or blank[j]]
    if not pairs:
        return out
    most = max(FEWEST, MOST_RANKED // len(pairs))
    n = len(columns[0])
    drawn = slice(None) if n <= most else np.random.default_rng(0).choice(n, most, replace=False, shuffle=False)
    short = [np.ascontiguousarray(c[drawn]) for c in columns]
    orders = [np.argsort(c, kind="stable")[: np.count_nonzero(~np.isnan(c))].astype(np.int32) for c in short]
    for i, j in pairs:
        out[i, j] = out[j, i] = rank_correlation(short[i], short[j], orders[i], orders[j])
    return out


def ranks(column: Floats) -> Floats:
    """Ranks of the values, 1 for the smallest, ties sharing their mean; NaN stays NaN."""
    out: Floats = rankdata(column, nan_policy="omit")
    return out


@register(52)
@dataclass(frozen=True, kw_only=True)
class Spearman(Metric):
    """Of numbers, dates and ordered categories at schema resolution; records that lack a value are left out."""

    name = "spearman"
    title = "Rank correlation of ordered columns"
    question = "Is the rank correlation of ordered columns that of the real table?"
    goal = "low"
    minimum = 0.0
    maximum = 2.0
    unit = "rank correlation"

    def compute(self, comparison: Comparison) -> Score:
        """Mean absolute difference of Spearman's correlation over all pairs of ordered attributes."""
        pairs = associations(comparison)
        if not (~np.isnan(pairs.spearman[0])).any():
            msg = "rank correlation needs two ordered attributes; the schema has fewer (declare ordered: true)"
            raise MetricError(msg)
        details = pair_details(pairs, "spearman")
        mean = float(np.mean(details["difference"]))
        return Score(
            metric=self.name,
            value=mean,
            sentence=f"The rank correlation of two ordered columns is off by {mean:.3f} on average.",
            details=details,
        )
