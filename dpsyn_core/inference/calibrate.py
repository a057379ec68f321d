"""What no released table holds: how far off a fit is there, learnt from tables that are left out or merged. Blind.

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

from dpsyn_core.inference.evidence import Evidence
from dpsyn_core.inference.functional import Floats, count, part, reach, sampling
from dpsyn_core.inference.tuning import INFERENCE, Inference
from dpsyn_core.marginals.coarsening import coarsen
from dpsyn_core.marginals.types import Measurement
from dpsyn_core.schema.domain import AttributeSet

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
        held = np.maximum(table.sum(axis=tuple(i for i in range(table.ndim) if i != axis)), 0.0)
        out.append(held / held.sum() if held.sum() > 0 else np.full(len(held), 1 / len(held)))
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
