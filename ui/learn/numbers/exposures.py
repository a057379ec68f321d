"""Lab 33: cases of an illness by district, drawn from the Gamma-Poisson model with public numbers of inhabitants.

y_i ~ Poisson(n_i lambda_i), lambda_i ~ Gamma(a_i, b_i); the draws are multinomial with shares in proportion to
n_i lambda_i. The numbers of inhabitants n_i are public, so is the number of draws. The shapes a_i are the smallest that
docs/proofs/gamma-poisson.md allows. Drawn here by floating-point gammas, for the eye: a release draws whole numbers.

Source: Quick 2021; the condition is derived in docs/proofs/gamma-poisson.md.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Floats = NDArray[np.float64]
PEOPLE = np.array([800, 1_500, 2_500, 4_000, 7_000, 12_000, 20_000, 35_000, 60_000, 110_000, 200_000, 400_000])
CASES = np.array(
    [1, 0, 2, 9, 4, 10, 11, 30, 38, 82, 118, 301]
)  # invented; the fourth district has thrice the usual rate
Prior = Literal["cases", "rates"]
PRIORS: tuple[Prior, ...] = ("cases", "rates")


@dataclass(frozen=True, kw_only=True)
class CasesModel:
    """shapes: a_i, imaginary cases of each district. rates: b_i, imaginary inhabitants."""

    shapes: Floats
    rates: Floats

    def moments(self, cases: NDArray[np.int64] = CASES) -> tuple[Floats, Floats]:
        """Mean and standard deviation of the synthetic cases of each district; where b is in proportion to n."""
        m, given = int(cases.sum()), cases + self.shapes
        whole = given.sum()
        share = given / whole
        return m * share, np.sqrt(m * share * (1 - share) * (whole + m) / (whole + 1))

    def draw(self, rng: Generator, cases: NDArray[np.int64] = CASES) -> NDArray[np.int64]:
        """As many synthetic cases as real ones."""
        lambdas = rng.gamma(cases + self.shapes, 1 / (PEOPLE + self.rates))
        weights = PEOPLE * lambdas
        return np.asarray(rng.multinomial(int(cases.sum()), weights / weights.sum()))


def model(prior: Prior, epsilon: float, cases: NDArray[np.int64] = CASES) -> CasesModel:
    """cases: as many imaginary cases in every district. rates: more in larger ones, so that all have one rate.

    In both b is in proportion to n, so that the condition is that of the Dirichlet-multinomial.
    """
    from dpsyn_core.privacy import least_shapes

    least = least_shapes(int(cases.sum()), epsilon, PEOPLE.astype(np.float64), PEOPLE.astype(np.float64))
    shapes = least if prior == "cases" else least * PEOPLE / PEOPLE.min()
    return CasesModel(shapes=shapes, rates=PEOPLE * 1.0)


def by_thousand(cases: Floats | NDArray[np.int64]) -> Floats:
    """Cases of 1,000 inhabitants."""
    return np.asarray(1_000 * cases / PEOPLE)


def off(prior: Prior, epsilon: float) -> float:
    """Root of the mean square error of a draw's rate, of 1,000 inhabitants, over the districts alike."""
    mean, deviation = model(prior, epsilon).moments()
    return math.sqrt(float(np.mean(np.square(by_thousand(mean - CASES)) + np.square(by_thousand(deviation)))))
