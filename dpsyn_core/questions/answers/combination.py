"""Combines the results of one analysis of several synthetic tables of a release: estimate, interval, rule."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import SettingError

Floats = NDArray[np.float64]
Rule = Literal["refits", "fully-synthetic"]
CombinedTruth = Literal["population", "table"]
RULES = ("refits", "fully-synthetic")
TRUTHS = ("population", "table")


@dataclass(frozen=True, kw_only=True, slots=True)
class Combined:
    """A combined estimate of one figure, or of several (arrays of the same shape).

    estimate: mean over the tables. variance: T, the estimated squared error of it. freedom: degrees of freedom of the
    t distribution. low, high: the interval. rule: how T was computed, in words.
    """

    estimate: Any
    variance: Any
    freedom: Any
    low: Any
    high: Any
    confidence: float
    truth: CombinedTruth
    rule: str

    @property
    def standard_error(self) -> Any:
        """Root of the variance."""
        return np.sqrt(self.variance) if isinstance(self.variance, np.ndarray) else math.sqrt(self.variance)


def combine(
    estimates: Sequence[Any] | Floats,
    variances: Sequence[Any] | Floats | None = None,
    *,
    rule: Rule = "refits",
    truth: CombinedTruth = "population",
    confidence: float = 0.95,
) -> Combined:
    """Combines the results of one analysis that was run on each of m synthetic tables.

    With B the variance of the estimates between the tables and U the mean of the variances within tables:

    - `refits`, for tables that `dpsyn synth --tables` writes: each is fitted to the released counts after their noise
      was drawn again, so that B holds noise and no sampling error. T = U + 2 B for the population, with
      (m - 1) (1 + U / (2 B))^2 degrees of freedom, and T = 2 B for the real table, with m - 1. The factor 2 in place
      of 1 + 1/m is measured: the tables are spread around a fit that is off by about as much as they are from it.
    - `fully-synthetic`, for tables whose records were drawn afresh from a model of the population (Raghunathan,
      Reiter and Rubin 2003): T = (1 + 1/m) B - U, with (m - 1) (1 - U / ((1 + 1/m) B))^2 degrees of freedom. Where
      that is not positive, T = U, which such tables have at least (Reiter 2002), with m - 1 degrees of freedom.

    On refits the second rule would subtract a sampling error that was never added; on records drawn afresh the first
    one is only wider than it has to be. It is therefore the default.

    Args:
        estimates: (m,) or (m, figures), one row a table; at least two.
        variances: of the same shape, the squared standard errors that the analysis reports on each table. Only
            `refits` for the real table needs none.
        rule: how the tables were synthesized.
        truth: the population that the real table was drawn from (noise and sampling), or the real table (noise only).
        confidence: of the interval.

    Returns:
        Floats where `estimates` is (m,), else arrays (figures,).

    Raises:
        SettingError: fewer than two tables, shapes that differ, values that are not finite, or an unknown rule.
    """
    q = _matrix(estimates, "estimates")
    m = len(q)
    if m < 2:
        msg = f"combine got the results of {m} table; give those of at least two, as `dpsyn synth --tables 20` writes"
        raise SettingError(msg)
    if rule not in RULES or truth not in TRUTHS:
        msg = f"combine got the rule '{rule}' and the truth '{truth}'; rules are {RULES}, truths are {TRUTHS}"
        raise SettingError(msg)
    if not 0 < confidence < 1:
        msg = f"the confidence is {confidence}; it must lie between 0 and 1, such as 0.95"
        raise SettingError(msg)
    alone = rule == "refits" and truth == "table"
    if variances is None and not alone:
        msg = "combine needs the variances that the analysis reports; without them only rule='refits', truth='table'"
        raise SettingError(msg)
    if rule == "fully-synthetic" and truth == "table":
        msg = "tables of records drawn afresh speak about the population; use truth='population'"
        raise SettingError(msg)
    between = q.var(axis=0, ddof=1)
    own = np.zeros_like(q) if variances is None else _matrix(variances, "variances", like=q)
    if (own < 0).any():
        msg = "combine got a negative variance; give squared standard errors"
        raise SettingError(msg)
    within = own.mean(axis=0)
    if rule == "refits":
        noise = 2 * between
        variance = noise if truth == "table" else within + noise
        ratio = np.divide(within, noise, out=np.full_like(noise, np.inf), where=noise > 0)
        freedom = np.full_like(noise, m - 1.0) if truth == "table" else (m - 1) * (1 + ratio) ** 2
        words = "T = 2 B, refits, real table" if truth == "table" else "T = U + 2 B, refits, population"
    else:
        spread = (1 + 1 / m) * between
        variance = spread - within
        positive = variance > 0
        ratio = np.divide(within, spread, out=np.zeros_like(spread), where=positive)
        freedom = np.where(positive, (m - 1) * (1 - ratio) ** 2, m - 1.0)
        variance = np.where(positive, variance, within)
        words = "T = (1 + 1/m) B - U, Raghunathan, Reiter and Rubin 2003"
        words += "" if positive.all() else "; T = U where that is not positive, Reiter 2002"
    half = t_quantile(confidence, freedom) * np.sqrt(variance)
    mean = q.mean(axis=0)
    figures = (mean, variance, freedom, mean - half, mean + half)
    one = np.ndim(estimates[0]) == 0
    shown = [float(x[0]) if one else x for x in figures]
    return Combined(
        estimate=shown[0],
        variance=shown[1],
        freedom=shown[2],
        low=shown[3],
        high=shown[4],
        confidence=confidence,
        truth=truth,
        rule=words,
    )


def t_quantile(confidence: float, freedom: Any) -> Any:
    """Half-width, in standard errors, of a two-sided interval; infinite degrees of freedom are the normal law."""
    from scipy.special import ndtri, stdtrit  # scipy is heavy, and pages import what they may not use

    upper = (1 + confidence) / 2
    degrees = np.asarray(freedom, dtype=np.float64)
    many = ~np.isfinite(degrees) | (degrees > 1e9)
    return np.where(many, ndtri(upper), stdtrit(np.where(many, 1.0, degrees), upper))


def _matrix(values: Any, what: str, *, like: Floats | None = None) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or (like is not None and array.shape != like.shape):
        shape = "one number or one row of numbers a table" if like is None else f"the shape {like.shape}"
        msg = f"combine got {what} of shape {np.shape(values)}; they need {shape}"
        raise SettingError(msg)
    if not np.isfinite(array).all():
        msg = f"combine got {what} that are not finite; leave out figures that an analysis could not compute"
        raise SettingError(msg)
    return array
