"""From scores of shadow runs to bounds on epsilon.

What right guesses prove: a lower bound on epsilon, and intervals of shares.

A shadow run decides by the toss of a coin who is in its table; an attack sees what the run releases and guesses some
of the coins. Under (epsilon, delta)-DP too many right guesses are unlikely; the smallest epsilon under which they are
not is the one that it takes to explain them.
Source: Steinke, Nasr, Jagielski 2023, "Privacy Auditing with One (1) Training Run", Theorem 5.2 and appendix D.

Judges an attack: what it learnt on half of the runs is counted on the other half.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.runs.attacks.result import AttackTally, Floats, Outcome, Rate, Roc, Verdict

Bounds = NDArray[np.float64]
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
    p - c is Newcombe's, from the intervals of both shares. Sources: Giomi, Boenisch, Wehmeyer, Tasnadi 2023, equation
    1; Newcombe 1998, method 10 (here with exact intervals); 1 - c is taken as estimated.

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


USUAL, SURE = 0.05, 1e-4  # chances of a bound above the truth: of the one that is shown, and of the one that accuses
SHARES = (0.0, 0.005, 0.02, 0.05, 0.1, 0.25, 0.5)  # of the coins that are called in, and that are called out
POINTS, RESAMPLES = 60, 200


def gained(right: NDArray[np.int64], guesses: NDArray[np.int64]) -> Floats:
    """About the epsilon that right guesses prove: the logit of a lower limit of their share (Wilson 1927)."""
    z, n = 1.645, np.maximum(guesses, 1)
    p = right / n
    low = (p + z * z / (2 * n) - z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))) / (1 + z * z / n)
    return np.where(guesses > 0, np.log(np.maximum(low, 1e-9) / np.maximum(1 - low, 1e-9)), -np.inf)


def cut(scores: Sequence[Floats], coins: NDArray[np.bool_], train: int) -> tuple[int, float, float]:
    """The best attacker and its two cuts, by the training runs: above the first it says in, below the second out.

    scores: (runs, coins) of each attacker; coins: as they fell.
    """
    best, chosen = -np.inf, (0, np.inf, -np.inf)
    truth = coins[:train].ravel()
    for k, score in enumerate(scores):
        flat = score[:train].ravel()
        order = np.argsort(-flat, kind="stable")
        ranked, sorted_scores = truth[order], flat[order]
        ins, outs = np.cumsum(ranked), np.cumsum(~ranked[::-1])
        n = len(flat)
        for top in SHARES:
            for bottom in SHARES:
                a, b = int(top * n), int(bottom * n)
                if a + b == 0:
                    continue
                right = (ins[a - 1] if a else 0) + (outs[b - 1] if b else 0)
                value = float(gained(np.array(right), np.array(a + b)))
                if value > best:
                    high = float(sorted_scores[a - 1]) if a else np.inf
                    low = float(sorted_scores[n - b]) if b else -np.inf
                    best, chosen = value, (k, high, low)
    return chosen


def sure_enough(outcomes: Sequence[Outcome]) -> float:
    """How sure a guess must be to count, by training runs: the level that would prove most."""
    sure = np.concatenate([o.sure for o in outcomes])
    if len(sure) == 0:
        return -np.inf
    right = np.concatenate([o.coins[o.guessed] == o.said for o in outcomes])
    order = np.argsort(-sure, kind="stable")
    ends = np.flatnonzero(np.append(np.diff(sure[order]) != 0, True))  # equal ones count together
    value = gained(np.cumsum(right[order])[ends], ends + 1)
    return float(sure[order][ends[int(np.argmax(value))]])


def bounds(coins: int, guesses: int, right: int, epsilon: float, delta: float) -> dict[str, Any]:
    """The fields of a result that follow from its guesses."""
    needed, sure = (least_epsilon(coins, guesses, right, delta, chance) for chance in (USUAL, SURE))
    verdict: Verdict = "leak" if sure > epsilon else "doubt" if needed > epsilon else "nothing"
    return {
        "coins": coins,
        "guesses": guesses,
        "right": right,
        "needed": needed,
        "sure": sure,
        "verdict": verdict,
        "provable": least_epsilon(coins, coins, coins, delta, USUAL),
    }


def roc(score: Floats, coins: NDArray[np.bool_]) -> Roc:
    """The curve on judged runs, (runs, coins) each. Its band is the wider of two.

    One is exact for independent coins, the other resamples whole runs, for coins of one run share its noise.
    """
    alarms = np.unique(np.concatenate([np.linspace(0, 0.1, POINTS // 3), np.linspace(0.1, 1, POINTS)]))
    rates = _found(score.ravel(), coins.ravel(), alarms)
    members = int(coins.sum())
    exact = np.array([interval(round(f * members), members) for f in rates])
    rng = np.random.default_rng(0)
    again = []
    for _ in range(RESAMPLES):
        rows = rng.integers(0, len(score), len(score))
        again.append(_found(score[rows].ravel(), coins[rows].ravel(), alarms))
    low, high = np.quantile(again, [0.025, 0.975], axis=0)
    return Roc(
        alarms=tuple(alarms),
        found=tuple(rates),
        low=tuple(np.minimum(exact[:, 0], low)),
        high=tuple(np.maximum(exact[:, 1], high)),
        area=float(np.trapezoid(rates, alarms)),
    )


def _found(score: Floats, truth: NDArray[np.bool_], alarms: Floats) -> Floats:
    """Share of members above the score that lets in at most each share of the others; ties are broken evenly."""
    order = np.argsort(-score, kind="stable")
    ends = np.append(np.diff(score[order]) != 0, True)
    ins, outs = np.cumsum(truth[order])[ends], np.cumsum(~truth[order])[ends]
    if ins[-1] == 0 or outs[-1] == 0:
        return np.asarray(alarms, dtype=np.float64)
    x = np.concatenate([[0.0], outs / outs[-1]])
    y = np.concatenate([[0.0], ins / ins[-1]])
    at = np.searchsorted(x, alarms, side="right") - 1  # of points above each other, the highest
    after = np.minimum(at + 1, len(x) - 1)
    step = x[after] - x[at]
    part = np.where(step > 0, (alarms - x[at]) / np.where(step > 0, step, 1), 0.0)
    return np.asarray(y[at] + part * (y[after] - y[at]))


def rates(outcomes: Sequence[Outcome]) -> tuple[Rate, ...]:
    """Successes by name over all runs, and all together where there are several names."""
    total: dict[str, AttackTally] = {}
    for one in outcomes:
        for name, tally in one.tallies.items():
            total[name] = total.get(name, AttackTally()) + tally
    if len(total) > 1:
        total = {"all columns": sum(total.values(), AttackTally()), **total}
    return tuple(rate(name, tally) for name, tally in total.items() if tally.inside and tally.control)


def rate(name: str, tally: AttackTally) -> Rate:
    """A tally with its excess."""
    excess_rate, low, high = excess((tally.inside_right, tally.inside), (tally.control_right, tally.control))
    return Rate(
        name=name,
        tried=tally.inside,
        succeeded=tally.inside_right,
        control_tried=tally.control,
        control_succeeded=tally.control_right,
        excess=excess_rate,
        low=low,
        high=high,
    )
