"""Lab 17: is an effect real? Intervals for a difference of two shares, with and without the noise taken into account.

Source: Karwa, Vadhan 2018 and Gaboardi, Lim, Rogers, Vadhan 2016 on what ignoring the noise does; delta method.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.inference.direct import Direct, read_directly
from dpsyn_core.inference.quantities import Gaps
from dpsyn_core.privacy.budget import Budget

Floats = NDArray[np.float64]
SEED = 17
BASE = 0.30  # share of recoveries without the treatment
Z = 1.959963984540054  # two-sided 95 %
AT_ONCE = 200  # studies that are read together: weights of 200 x 800 cells


@dataclass(frozen=True, kw_only=True, slots=True)
class Studies:
    """Repeated studies. estimate, naive, honest: (studies,), the difference and the half widths of both intervals."""

    truth: float
    estimate: Floats
    naive: Floats
    honest: Floats

    def covers(self, half: Floats) -> NDArray[np.bool_]:
        """Whether each interval of this half width holds the truth."""
        return np.asarray(np.abs(self.estimate - self.truth) <= half)

    def finds(self, half: Floats) -> NDArray[np.bool_]:
        """Whether each interval leaves out zero: an effect is claimed."""
        return np.asarray(np.abs(self.estimate) > half)


def sigma(epsilon: float, delta: float) -> float:
    """Standard deviation of the noise on each of the four counts: one table, each person in one of its cells."""
    return Budget(epsilon=epsilon, delta=delta).gaussian().sigma(1.0)


def studies(people: int, effect: float, noise: float, *, times: int, seed: int) -> Studies:
    """`times` studies of `people` patients, half of them treated; each releases a 2 x 2 table with noise.

    Each share is recovered / (recovered + not), both noisy. The intervals are those of the engine for one noisy table;
    for a share p of n patients its variances are p (1 - p) / n for the patients drawn, and
    noise^2 ((1 - p)^2 + p^2) / n^2 for the noise, by the delta method.
    """
    rng = np.random.default_rng((SEED, seed, people))
    half = people // 2
    shares = np.array([BASE, BASE + effect])
    got = rng.binomial(half, shares[:, None], (2, times)).astype(np.float64)
    table = np.stack([half - got, got])  # (recovered or not, arm, study)
    table = table + np.rint(noise * rng.standard_normal(table.shape))[::-1]
    tables = np.moveaxis(table, (0, 1, 2), (2, 1, 0))  # (study, arm, not recovered or recovered)
    found = [_read(part, noise) for part in np.array_split(tables, -(-times // AT_ONCE))]
    return Studies(
        truth=effect,
        estimate=np.concatenate([f.estimate for f in found]),
        naive=np.concatenate([f.forgetful() for f in found]),
        honest=np.concatenate([f.half("population") for f in found]),
    )


def _read(tables: Floats, noise: float) -> Direct:
    """The engine's intervals for the difference of two shares, which is a gap of means of 0 and 1, one a study.

    An arm whose noisy counts show nobody is read as one patient, half recovered, so that every study has an estimate.
    """
    tables = np.maximum(tables, 0.0)
    tables = np.where(tables.sum(axis=2, keepdims=True) > 0, tables, 0.5)
    gaps = Gaps(
        attributes=("study", "arm", "recovered"), axis=2, side=1, codes=(1, 0), numbers=np.array([0.0, 1.0])
    )  # fmt: skip
    return read_directly(gaps, tables, noise)


def expected_coverage(people: int, effect: float, noise: float) -> float:
    """Coverage of the naive interval by the normal approximation: 2 Phi(z r) - 1, r the ratio of the deviations."""
    drawn, added = variances(people, effect, noise)
    return math.erf(Z * math.sqrt(drawn / (drawn + added)) / math.sqrt(2))


def variances(people: int, effect: float, noise: float) -> tuple[float, float]:
    """Variance of the difference by the patients drawn, and by the noise."""
    n = people // 2
    shares = (BASE, BASE + effect)
    drawn = sum(p * (1 - p) / n for p in shares)
    return drawn, sum(noise**2 * ((1 - p) ** 2 + p**2) / n**2 for p in shares)


def power(people: int, effect: float, noise: float) -> float:
    """How often the interval that counts the noise leaves out zero, by the normal approximation."""
    drawn, added = variances(people, effect, noise)
    at = abs(effect) / math.sqrt(drawn + added)

    def phi(x: float) -> float:
        return (1 + math.erf(x / math.sqrt(2))) / 2

    return phi(at - Z) + phi(-at - Z)
