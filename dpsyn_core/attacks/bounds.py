"""What right guesses prove: a lower bound on epsilon, and intervals of shares.

A shadow run decides by the toss of a coin who is in its table; an attack sees what the run releases and guesses some
of the coins. Under (epsilon, delta)-DP too many right guesses are unlikely; the smallest epsilon under which they are
not is the one that it takes to explain them.
Source: Steinke, Nasr, Jagielski 2023, "Privacy Auditing with One (1) Training Run", Theorem 5.2 and appendix D.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
LARGEST = 50.0  # no bound above it is looked for
STEPS = 40  # of the bisection: to within 5e-11


def chance_of(coins: int, guesses: int, right: int, epsilon: float, delta: float) -> float:
    """The largest probability of at least `right` right guesses under (epsilon, delta)-DP.

    The number of right guesses is at most that of randomised response, but for delta: beta + 2 m delta alpha, where
    beta = P[B >= v], alpha = max over i of P[v > B >= v - i] / i, and B is binomial(guesses, 1 / (1 + e^-epsilon)).
    The guesses of one run may depend on each other, for they share its noise.

    Args:
        coins: independent fair coins that decided who is in, over all runs.
        guesses: how many of them were guessed; the others were passed over.
        right: how many guesses were right.
        epsilon: at least 0.
        delta: of the promise.
    """
    from scipy.stats import binom  # heavy

    q = 1 / (1 + math.exp(-epsilon))
    beta = float(binom.sf(right - 1, guesses, q))
    if delta == 0 or right == 0:
        return min(1.0, beta)
    below = np.cumsum(binom.pmf(np.arange(right - 1, -1, -1), guesses, q))
    alpha = float(np.max(below / np.arange(1, right + 1)))
    return min(1.0, beta + 2 * coins * delta * alpha)


def least_epsilon(coins: int, guesses: int, right: int, delta: float, chance: float) -> float:
    """The epsilon that it takes to explain the guesses: smaller ones make them rarer than `chance`. At least 0.

    It is above the true epsilon with a probability of at most `chance`.
    """
    if guesses == 0 or chance_of(coins, guesses, right, 0.0, delta) > chance:
        return 0.0
    low, high = 0.0, LARGEST
    for _ in range(STEPS):
        middle = (low + high) / 2
        if chance_of(coins, guesses, right, middle, delta) > chance:
            high = middle
        else:
            low = middle
    return low


def interval(successes: int, tried: int, confidence: float = 0.95) -> tuple[float, float]:
    """The exact interval of a share. Source: Clopper, Pearson 1934."""
    from scipy.stats import beta

    if tried == 0:
        return 0.0, 1.0
    tail = (1 - confidence) / 2
    low = float(beta.ppf(tail, successes, tried - successes + 1)) if successes else 0.0
    high = float(beta.ppf(1 - tail, successes + 1, tried - successes)) if successes < tried else 1.0
    return low, high


def excess(inside: tuple[int, int], control: tuple[int, int]) -> tuple[float, float, float]:
    """How much of the room above the control group's success an attack gains, with its 95 % interval.

    (p - c) / (1 - c) for the shares p of successes on people of the table and c on the control group. The interval of
    p - c is Newcombe's, from the two shares' own. Sources: Giomi, Boenisch, Wehmeyer, Tasnadi 2023, equation 1;
    Newcombe 1998, method 10 (here with exact intervals); the room 1 - c is taken as it was found.

    Args:
        inside: successes and attempts on people of the table.
        control: the same on people who are not in it.
    """
    (a, n), (b, m) = inside, control
    if n == 0 or m in {0, b}:
        return 0.0, -1.0, 1.0
    p, c = a / n, b / m
    (p_low, p_high), (c_low, c_high) = interval(a, n), interval(b, m)
    down = math.hypot(p - p_low, c_high - c)
    up = math.hypot(p_high - p, c - c_low)
    room = 1 - c
    return (p - c) / room, max(-1.0, (p - c - down) / room), min(1.0, (p - c + up) / room)
