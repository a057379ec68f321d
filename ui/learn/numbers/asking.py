"""Labs on attacks: questions to a release, repeated and reconstructed from, and what a table without names gives away.

Lab 10: a secret column from many noisy sums over random groups, by least squares.
Source: Dinur, Nissim 2003; Dwork, McSherry, Talwar 2007 (least squares); Cohen, Nissim 2018 (an attack in practice).

Lab 12: randomised response, where everybody adds their own noise, against noise that is added once to the count.
Source: Warner 1965; Kasiviswanathan, Lee, Nissim, Raskhodnikova, Smith 2011.

Lab 21: what k-anonymity leaves open. Source: Sweeney 2002; Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam 2007.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.privacy import Budget

Floats = NDArray[np.float64]
SEED = 12
Bools = NDArray[np.bool_]
RECONSTRUCTION_SEED = 10
KNOWN = ("CITY", "SEX", "AGE", "RACE", "MARST", "FAMSIZE")  # what neighbours know of each other
HIDDEN = "EMPSTAT"
BANDS = (1, 5, 10, 20)  # years of age in a class


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


@dataclass(frozen=True, kw_only=True, slots=True)
class Survey:
    """A column of yes/no answers and the groups that were summed. secret: (people,). groups: 0/1 (answers, people).

    inverse: (people, answers), the least squares solution as a matrix. spread: (people,), the standard deviation of
    each person's estimate at noise 1.
    """

    secret: Floats
    groups: Floats
    inverse: Floats
    spread: Floats


@lru_cache(maxsize=8)
def survey(people: int, per_person: int) -> Survey:
    """`per_person` times `people` groups; everybody is in each group with probability one half. The same every time."""
    rng = np.random.default_rng((RECONSTRUCTION_SEED, people, per_person))
    secret = rng.integers(0, 2, people).astype(np.float64)
    groups = rng.integers(0, 2, (per_person * people, people)).astype(np.float64)
    inverse = np.asarray(np.linalg.pinv(groups), dtype=np.float64)
    return Survey(secret=secret, groups=groups, inverse=inverse, spread=np.sqrt((inverse**2).sum(axis=1)))


def attack(asked: Survey, noise: float, seed: int = 0) -> Bools:
    """One attack: Gaussian noise of this standard deviation on every sum; whether each person is read rightly."""
    rng = np.random.default_rng((RECONSTRUCTION_SEED, seed, len(asked.groups)))
    answers = asked.groups @ asked.secret + noise * rng.standard_normal(len(asked.groups))
    guessed = asked.inverse @ answers > 0.5
    return np.asarray(guessed == (asked.secret > 0.5))


def expected_share(asked: Survey, noise: float) -> float:
    """Expected share of the column that is read rightly, exactly: the mean of Phi(1 / (2 noise spread)).

    The estimate of a person is normal around the truth with standard deviation noise x spread, and is rounded at 1/2.
    """
    from scipy.special import ndtr  # heavy

    if noise <= 0:
        return 1.0
    return float(np.mean(ndtr(0.5 / (noise * asked.spread))))


def noise_for_share(asked: Survey, share: float) -> float:
    """The noise at which the attack reads this share of the column, between one half and one; bisection to 1e-9."""
    low, high = 1e-6, 1e6
    for _ in range(120):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if expected_share(asked, middle) > share else (low, middle)
    return low


def private_noise(answers: int, epsilon: float, delta: float) -> float:
    """Standard deviation of the Gaussian noise that (epsilon, delta)-DP asks of so many sums.

    One person may be in every group, so that their answer moves all sums by 1: sensitivity sqrt(answers).
    """
    return Budget(epsilon=epsilon, delta=delta).gaussian().sigma(math.sqrt(answers))


@dataclass(frozen=True, kw_only=True, slots=True)
class Linked:
    """One entry a person of the sample.

    size: people who agree in all that is known. alike: whether all of them have the same secret.
    """

    size: NDArray[np.int64]
    alike: NDArray[np.bool_]

    def below(self, k: int) -> float:
        """Share of people in groups of fewer than k: left out of a k-anonymous table."""
        return float((self.size < k).mean())

    def told(self, k: int) -> float:
        """Share of the people in groups of k and more whose secret the group gives away; 0 where nobody is left."""
        kept = self.size >= k
        return float(self.alike[kept].mean()) if kept.any() else 0.0


@cache
def _codes() -> dict[str, NDArray[np.int64]]:
    from dpsyn_core.schema import sample_table

    table = sample_table()
    found = {n: np.unique(table.column(n).to_numpy(), return_inverse=True)[1] for n in (*KNOWN, HIDDEN) if n != "AGE"}
    return found | {"AGE": table.column("AGE").cast("int64").to_numpy()}


@lru_cache(maxsize=256)
def linked(known: tuple[str, ...], band: int) -> Linked:
    """Groups of the simulated sample that agree in what somebody knows, ages in classes of `band` years."""
    codes = _codes()
    n = len(codes[HIDDEN])
    rows = [codes[name] // band if name == "AGE" else codes[name] for name in known]
    group = _groups(rows, n)
    size = np.bincount(group)
    secrets = np.unique(np.stack([group, codes[HIDDEN]]), axis=1)[0]
    alike = np.bincount(secrets, minlength=len(size)) == 1
    return Linked(size=size[group], alike=alike[group])


def _groups(rows: Sequence[NDArray[np.int64]], n: int) -> NDArray[np.intp]:
    if not rows:
        return np.zeros(n, dtype=np.intp)
    return np.asarray(np.unique(np.stack(rows), axis=1, return_inverse=True)[1]).ravel()
