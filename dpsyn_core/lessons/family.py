"""Lab 15: what a promise to one person means for a group, and what it costs to protect the group as one.

Source: Dwork, Roth 2014, Theorem 2.2; Dong, Roth, Su 2022, Theorem 2.14 (group privacy of Gaussian noise, exact).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.odds import best_guess, best_guess_of_mu


@dataclass(frozen=True, kw_only=True, slots=True)
class Promise:
    """What a group gets.

    epsilon: of the whole group, at the same delta. guess: best chance to tell, from one noisy count, whether the group
    is in the table. noise: standard deviation of that count, in records.
    """

    epsilon: float
    guess: float
    noise: float


def laplace(epsilon: float, people: int, *, unit: int = 1) -> Promise:
    """Noise for `unit` people as one individual; a group of `people` is `people / unit` times as well hidden, at least.

    Two-sided geometric noise of scale unit / epsilon: the group moves the count by `people`, so that the ratio is at
    most e^(epsilon people / unit), which is attained.
    """
    whole = epsilon * people / unit
    a = math.exp(-Budget(epsilon=epsilon, delta=0.0).pure().epsilon / unit)
    # the best attack on one count tells two shifted laws apart: half of one plus their distance (see `shifted`)
    return Promise(epsilon=whole, guess=shifted(a, people), noise=math.sqrt(2 * a) / (1 - a))


def shifted(a: float, shift: int) -> float:
    """Best chance to tell apart two-sided geometric noise, P(z) ~ a^|z|, from the same noise moved by `shift`.

    The ratio of the laws falls with z, so the best attack cuts in the middle: P(noise > -shift / 2), ties halved.
    """
    if shift % 2:
        below = a ** ((shift + 1) // 2) / (1 + a)  # P(noise <= -(shift + 1) / 2)
        return 1 - below
    half = shift // 2
    tie = (1 - a) / (1 + a) * a**half  # P(noise = -shift / 2)
    below = a ** (half + 1) / (1 + a)
    return 1 - below - tie / 2


def bound(epsilon: float, people: int, *, unit: int = 1) -> float:
    """The best guess that the promise allows: e^x / (1 + e^x) with x = epsilon people / unit."""
    return best_guess(min(epsilon * people / unit, 700.0))


def gaussian(epsilon: float, delta: float, people: int, *, unit: int = 1) -> Promise:
    """The same with Gaussian noise: a group of k is protected with k mu, exactly."""
    from dpsyn_core.privacy.conversions import gdp_epsilon  # scipy is heavy

    cost = Budget(epsilon=epsilon, delta=delta).gaussian()
    mu = math.sqrt(2 * cost.rho) * people / unit
    return Promise(epsilon=gdp_epsilon(mu, delta), guess=best_guess_of_mu(mu), noise=cost.sigma(float(unit)))


def simple_delta(epsilon: float, delta: float, people: int) -> float:
    """The textbook delta of a group: k e^((k - 1) epsilon) delta, at k epsilon; `exact_delta` is far smaller."""
    return people * math.exp(min((people - 1) * epsilon, 700.0)) * delta


def exact_delta(epsilon: float, delta: float, people: int) -> float:
    """The delta that Gaussian noise for one person gives a group at k epsilon, exactly."""
    from dpsyn_core.privacy.conversions import gdp_delta  # scipy is heavy

    mu = math.sqrt(2 * Budget(epsilon=epsilon, delta=delta).gaussian().rho)
    return gdp_delta(people * epsilon, people * mu)
