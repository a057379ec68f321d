"""Calibrating intervals, with the constants that were tuned for them.

Constants of the intervals: each with its unit, and its reason or where it was measured.

They were chosen on the simulated tables that `benchmarks/coverage_tables.py` calls LEARNT_ON, and coverage is measured
on others (`python -m benchmarks.coverage`).

What no released table holds: how far off a fit is there, learnt from tables that are left out or merged. Blind.

A probe is one random functional of a released table that a fit did not see, or saw with neighbouring coarse values
merged: its squared error less the noise of the table, beside what could explain it. Probes of a release are put
together in a model: squared error = a x sampling variance + b x (reach x dependence)^2, with b not negative, and a
factor c by which intervals have to be widened to hold 95 % of the probes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.estimate import Measurement, coarsen
from dpsyn_core.questions.answers.evidence import Evidence
from dpsyn_core.questions.answers.functionals import Floats, count, part, reach, sampling
from dpsyn_core.schema import AttributeSet


@dataclass(frozen=True, kw_only=True, slots=True)
class Inference:
    """How answers get their intervals."""

    refits: int = 10
    """Refits to released values with their noise drawn again; their spread is known to a quarter."""

    folds: int = 4
    """Parts of the measured pairs that are left out in turn."""

    effort: float = 0.1
    """Of a usual fit, for all of them: their spread hardly depends on it."""

    exact_part: float = 0.8
    """Of the half-width of a measured table's noisy cells that an interval around the synthetic answer has at least:
    a fit draws on other tables too and is usually closer, but not always."""

    agreeing: float = 0.5
    """Of the same half-width: how far the noisy cells may be from the synthetic answer before its interval grows."""

    probes: int = 24
    """Random functionals of each left-out or merged table."""

    fewest_probes: int = 60
    """Probes at and above which the error of what no table holds is learnt from the release itself."""

    usual_sampling: float = 1.3
    """Times the sampling variance: squared error of a part that nothing measured."""

    usual_dependence: float = 1.0
    """Times the square of reach times dependence: the same, where the release has too few probes."""

    usual_factor: float = 1.25
    """Widening in the same place."""

    least_dependence: float = 0.3
    """Times the same square at least, of pairs: one that is left out has more company among the measured ones than one
    that was never measured, and is predicted better. What LEARNT_ON learns is between .3 and 4."""

    usual_of_triples: float = 1.0
    """In place of `usual_dependence` for three and more attributes, of which the weakest pair stands for the
    dependence. With .6, gaps of hours and pay by sex and marital status in the bundled sample were missed."""

    bounded_wider: float = 1.3
    """Widening of bounded intervals as a whole: without it .90 to .97 of them held in benchmarks.coverage, at half the
    width that they may have."""

    fewest_records: float = 10.0
    """Records that a mean, gap, quantile or Gini index needs on each side to get an interval (convention)."""

    clear: float = 4.0
    """Standard deviations, over refits, of the same number of records: fewer may be none at all."""

    fewest_refits: int = 5
    """Refits below which no regression gets an interval (convention)."""

    fewest_events: float = 3.0
    """Standard deviations of the noise of a cell: records that a term of a regression needs on its rarer side."""

    summed_wider: float = 1.2
    """Widening of the standard errors of a regression with a released sum: the records that the sum is read with are
    not the real ones (benchmarks.models)."""

    separated: float = 0.1
    """Part of the refits in which a term may be lost; more, and its estimate may be infinite (convention)."""


INFERENCE = Inference()


Codes = NDArray[np.unsignedinteger]
Z95 = 1.959964


@dataclass(frozen=True, kw_only=True, slots=True)
class Probes:
    """One entry per probe: squared error, variance of its noise, sampling variance, and reach times dependence."""

    error: Floats
    noise: Floats
    sampling: Floats
    reach: Floats

    @classmethod
    def joined(cls, parts: Sequence[Probes]) -> Probes:
        """All probes of several tables."""
        empty = np.zeros(0)
        return cls(
            error=np.concatenate([empty, *(p.error for p in parts)]),
            noise=np.concatenate([empty, *(p.noise for p in parts)]),
            sampling=np.concatenate([empty, *(p.sampling for p in parts)]),
            reach=np.concatenate([empty, *(p.reach for p in parts)]),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class ErrorModel:
    """Squared error of what no table holds. learnt: from how many probes; 0 for the constants of `Inference`."""

    sampling: float
    dependence: float
    factor: float
    learnt: int = 0

    def variance(self, of_sampling: Floats, of_reach: Floats) -> Floats:
        """Widened by the factor that holds 95 % of the probes."""
        return self.factor**2 * (self.sampling * of_sampling + self.dependence * of_reach**2)


def learn(probes: Probes, *, usual: float = 1.0, least: float = 0.0, tuning: Inference = INFERENCE) -> ErrorModel:
    """Least squares for b, probes weighted by the inverse of what they would vary by; then the factor.

    The part of sampling is a constant: left-out tables depend more than those that were never measured, and a part of
    sampling that is learnt on them takes up what belongs to dependence, so that weak tables get far too much.

    Args:
        probes: at tables that were left out or merged.
        usual: b where there are too few probes.
        least: b at least.
        tuning: constants.
    """
    if len(probes.error) < tuning.fewest_probes:
        return ErrorModel(sampling=tuning.usual_sampling, dependence=usual, factor=tuning.usual_factor)
    known = probes.noise + tuning.usual_sampling * probes.sampling
    spread = known + np.median(probes.error) + 1e-9
    x, y = probes.reach**2 / spread, (probes.error - known) / spread
    b = max(float(x @ y) / max(float(x @ x), 1e-300), least)
    ratio = np.sqrt(probes.error / np.maximum(known + b * probes.reach**2, 1e-12)) / Z95
    factor = max(float(np.quantile(ratio, 0.95)), 1.0)
    return ErrorModel(sampling=tuning.usual_sampling, dependence=b, factor=factor, learnt=len(ratio))


def coarse_count(codes: Codes, evidence: Evidence, table: Measurement) -> Floats:
    """Synthetic counts in the cells of a released table, scaled to the number of records."""
    full = coarsen(count(codes, evidence.domain, table.attributes), table.attributes, table.recodes)
    scaled: Floats = full * (evidence.total / max(codes.shape[1], 1))
    return scaled


def dependence(table: Floats) -> float:
    """Share of the records by which a table differs from its independent one: the L1 distance over the total."""
    total = float(table.sum())
    if total <= 0:
        return 0.0
    expected = np.array(1.0)
    for margin in margins_of(table):
        expected = np.multiply.outer(expected, margin)
    return float(np.abs(table / total - expected).sum())


def margins_of(table: Floats) -> list[Floats]:
    """Probabilities of each axis alone; even where there is nothing."""
    out = []
    for axis in range(table.ndim):
        sums = np.maximum(table.sum(axis=tuple(i for i in range(table.ndim) if i != axis)), 0.0)
        out.append(sums / sums.sum() if sums.sum() > 0 else np.full(len(sums), 1 / len(sums)))
    return out


def left_out_probes(
    evidence: Evidence, table: Measurement, codes: Codes, strength: float, *, rng: Generator, probes: int
) -> Probes:
    """A table that a fit did not see against the fit: random sets of values on each axis, their interaction alone.

    strength: the dependence that the release states for its attributes, as a share of the records.
    """
    expected = coarse_count(codes, evidence, table)
    weights = np.ones((probes, *([1] * expected.ndim)))
    for axis, size in enumerate(expected.shape):
        weights = weights * _sets(size, probes, rng).reshape(probes, *_along(axis, size, expected.ndim))
    inner = part(weights, [True] * expected.ndim, margins_of(expected))
    return _probes(inner, table.values - expected, expected, table.sigma, strength)


def merged_probes(evidence: Evidence, table: Measurement, codes: Codes, *, rng: Generator, probes: int) -> Probes:
    """A table whose neighbouring coarse values are merged against itself: how their records split is predicted.

    Inside the merged value, the split is predicted by the one-way; the probe is a functional that this prediction makes
    0 whatever the rest of the table holds.
    """
    expected = coarse_count(codes, evidence, table)
    axes = [i for i, n in enumerate(table.attributes) if n in table.recodes and expected.shape[i] > 3]
    if not axes:
        return Probes.joined([])
    margins = margins_of(expected)
    inner = np.ones((probes, *expected.shape))
    for k in range(probes):
        cut = int(rng.choice(axes))
        p, size = margins[cut], expected.shape[cut]
        first = int(rng.integers(0, size - 1))
        both = p[first] + p[first + 1]
        split = np.zeros(size)
        share = p[first] / both if both > 0 else 0.5
        split[first], split[first + 1] = 1 - share, -share
        for axis in range(expected.ndim):
            vector = split if axis == cut else _sets(expected.shape[axis], 1, rng)[0]
            inner[k] *= vector.reshape(_along(axis, len(vector), expected.ndim))
    strength = evidence.strength(table.attributes, dependence(expected))
    return _probes(inner, table.values, expected, table.sigma, strength)


def _probes(inner: Floats, difference: Floats, expected: Floats, sigma: float, strength: float) -> Probes:
    flat = inner.reshape(len(inner), -1)
    return Probes(
        error=(flat @ difference.ravel()) ** 2,
        noise=sigma**2 * (flat**2).sum(axis=1),
        sampling=sampling(inner, expected),
        reach=reach(inner, expected) * strength,
    )


def _sets(size: int, probes: int, rng: Generator) -> Floats:
    """Random runs of neighbouring values, or single ones, as 0 and 1, (probes, size); at least one value each."""
    first = rng.integers(0, size, probes)
    width = 1 + rng.integers(0, max(size // 2, 1), probes)
    place = (np.arange(size)[None, :] - first[:, None]) % size
    chosen: Floats = (place < width[:, None]).astype(np.float64)
    return chosen


def _along(axis: int, size: int, dimensions: int) -> tuple[int, ...]:
    return tuple(size if i == axis else 1 for i in range(dimensions))


def folds(pairs: Sequence[AttributeSet], count_: int, *, rng: Generator) -> list[list[AttributeSet]]:
    """Measured pairs in so many parts of about equal size, at random; fewer where there are few pairs."""
    order = rng.permutation(len(pairs))
    parts = np.array_split(order, min(count_, len(pairs))) if len(pairs) > 1 else []
    return [[pairs[i] for i in p] for p in parts]


def without(measured: Sequence[Measurement], pairs: Sequence[AttributeSet]) -> list[Measurement]:
    """The released tables that hold none of these pairs."""
    gone = [set(p) for p in pairs]
    return [m for m in measured if not any(g.issubset(m.attributes) for g in gone)]
