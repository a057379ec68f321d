"""What the phases of P3GM cost together, by its Theorem 4, by the baseline of the paper and as a run would book it.

Source: Takagi, Takahashi, Cao, Yoshikawa 2021, Theorem 4 and section VI-F; neighbours add or remove a record.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpsyn_core.errors import BudgetError
from dpsyn_core.privacy.conversions import gdp_epsilon, zcdp_epsilon
from dpsyn_core.privacy.subsampling import SHARE, Sampling, check, sampled_mu

LEAST_NOISE = 0.05  # below, epsilon is in the thousands and floating-point numbers end
_ORDERS = np.arange(2, 256)


@dataclass(frozen=True, kw_only=True, slots=True)
class Phases:
    """sigma_p: noise of the components. sigma_e: of each of the 2 parts + 1 releases of an iteration of the mixture.

    Training takes epochs of records / batch steps on samples. All noise is for vectors of length 1.
    """

    sigma_p: float
    sigma_e: float
    records: int
    batch: int
    epochs: int
    parts: int = 3
    iterations: int = 20

    def __post_init__(self) -> None:
        for name in ("sigma_p", "sigma_e"):
            _noise(name, getattr(self, name))
        for name in ("records", "batch", "epochs", "parts", "iterations"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                msg = f"{name} is {value}; it must be a whole number of at least 1"
                raise BudgetError(msg)
        if self.batch > self.records:
            msg = f"batch is {self.batch}, and there are {self.records} records; name a batch of at most as many"
            raise BudgetError(msg)

    @property
    def rho(self) -> float:
        """Of components and mixture, by zCDP."""
        return 1 / (2 * self.sigma_p**2) + self.iterations * (2 * self.parts + 1) / (2 * self.sigma_e**2)

    def epsilons(self, sigma_s: float, delta: float) -> dict[str, float]:
        """Epsilon at delta with this noise in the training.

        baseline: two promises, each at half of delta, added. theorem_4: Renyi divergences added, with exact moments
        of the training where the paper prints a bound. booked: as this project accounts for it. Raises BudgetError.
        """
        _noise("sigma_s", sigma_s)
        steps = self.epochs * (self.records // self.batch)
        sampling = Sampling(rate=self.batch / self.records, multiplier=sigma_s, steps=steps)
        check(sampling, delta * SHARE)
        training = steps * np.array([_divergence(sampling.rate, sigma_s, int(a)) for a in _ORDERS])
        alone = float((training + math.log(2 / delta) / (_ORDERS - 1)).min())
        whole = training + self.rho * _ORDERS + math.log(1 / delta) / (_ORDERS - 1)
        mu = math.sqrt(2 * self.rho + sampled_mu(sampling, delta * SHARE) ** 2)
        return {
            "baseline": zcdp_epsilon(self.rho, delta / 2) + alone,
            "theorem_4": float(whole.min()),
            "booked": gdp_epsilon(mu, delta * (1 - SHARE)),
        }


def _noise(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= LEAST_NOISE:
        msg = f"{name} is {value}; it must be a number of at least {LEAST_NOISE}, for example 48.09"
        raise BudgetError(msg)


def _divergence(rate: float, sigma: float, order: int) -> float:
    """Renyi divergence of one step on a sample. Source: Mironov, Talwar, Zhang 2019, equation 6."""
    if rate == 1:
        return order / (2 * sigma**2)
    k = np.arange(order + 1)
    factorials = np.concatenate([[0.0], np.log(np.arange(1, order + 1)).cumsum()])  # their logarithms
    logs = factorials[order] - factorials[k] - factorials[order - k] + k * math.log(rate)
    return float(np.logaddexp.reduce(logs + (order - k) * math.log1p(-rate) + k * (k - 1) / (2 * sigma**2))) / (
        order - 1
    )
