"""Lab 12: randomised response, where everybody adds their own noise, against noise that is added once to the count.

Source: Warner 1965; Kasiviswanathan, Lee, Nissim, Raskhodnikova, Smith 2011.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.privacy.budget import Budget

Floats = NDArray[np.float64]
SEED = 12


def truth_probability(epsilon: float) -> float:
    """Chance that a person answers truthfully: e^epsilon / (e^epsilon + 1); the most that epsilon-DP allows."""
    Budget(epsilon=epsilon, delta=0.0)
    return 1 / (1 + math.exp(-epsilon))


def local_error(people: float, epsilon: float) -> float:
    """Standard deviation of the estimated share, for a given group: sqrt(p (1 - p) / n) / (2 p - 1).

    The randomness is that of the answers alone; it does not depend on how many say yes.
    """
    p = truth_probability(epsilon)
    return math.sqrt(p * (1 - p) / people) / (2 * p - 1)


def central_error(people: float, epsilon: float) -> float:
    """The same with two-sided geometric noise on the count of yes: sqrt(2 a) / ((1 - a) n) with a = e^-epsilon."""
    Budget(epsilon=epsilon, delta=0.0)
    return math.sqrt(2 * math.exp(-epsilon)) / (-math.expm1(-epsilon) * people)


def sampling_error(people: float, share: float) -> float:
    """What a random sample of so many people is off by anyway, without any noise: sqrt(s (1 - s) / n)."""
    return math.sqrt(share * (1 - share) / people)


def equal_people(people: float) -> float:
    """How many must be asked at random for the error that central noise has on `people`: n^2 / 2, for every epsilon."""
    return people**2 / 2


def people_for(error: float, epsilon: float, *, local: bool) -> int:
    """The least number of people at which the noise alone is at most this error, as a share."""
    if local:
        return math.ceil((local_error(1, epsilon) / error) ** 2)
    return math.ceil(central_error(1, epsilon) / error)


def surveys(people: int, share: float, epsilon: float, *, local: bool, times: int, seed: int) -> Floats:
    """Estimated shares of `times` surveys of the same group; (times,). A share of exactly round(n share) says yes."""
    rng = np.random.default_rng((SEED, seed, people, local))
    yes = round(people * share)
    if local:
        p = truth_probability(epsilon)
        said = rng.binomial(yes, p, times) + rng.binomial(people - yes, 1 - p, times)
        return np.asarray((said / people - (1 - p)) / (2 * p - 1))
    stop = -math.expm1(-epsilon)
    noise = rng.geometric(stop, times) - rng.geometric(stop, times)
    return np.asarray((yes + noise) / people)
