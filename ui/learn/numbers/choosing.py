"""Choosing with noise and making tables agree.

Lab 16: choosing a winner by the exponential mechanism, and the first that passes a mark by the sparse vector.

Source: McSherry, Talwar 2007; Dwork, Naor, Reingold, Rothblum, Vadhan 2009; Lyu, Su, Li 2017 for wrong variants.

Lab 4: two noisy tables that share an attribute are made to agree, step by step.

Source: Hay, Rastogi, Miklau, Suciu 2010; Qardaji, Yang, Li 2014.
"""

import math

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.estimate import Measurement, agree, make_consistent, overlaps
from dpsyn_core.privacy import Budget

Floats = NDArray[np.float64]
VOTES = np.array([41.0, 38.0, 30.0, 22.0, 9.0])  # ballots for five outings of a class of 140
WAITING = np.array([24.0, 29, 27, 31, 28, 32, 30, 33, 31, 34, 33, 36])  # patients who waited too long, day by day
MARK = 30.0
SETS = (("A", "B"), ("A", "C"))
STEPS = ("noisy", "total", "shared", "whole")
# a worked example, and one with a negative cell, which the last step removes
EXAMPLES = {
    "worked": (np.array([[10.0, 5], [7, 8]]), np.array([[6.0, 4, 2], [9, 5, 8]])),
    "negative": (np.array([[10.0, -3], [7, 8]]), np.array([[6.0, 4, -4], [9, 5, 8]])),
}


def moved(scores: Floats, mover: int, points: float) -> Floats:
    """The scores after one person takes `points` from the leader and gives them to another: the worst neighbour."""
    out = scores.copy()
    out[int(np.argmax(scores))] -= points
    out[mover] += points
    return out


def exponential(scores: Floats, epsilon: float, sensitivity: float) -> Floats:
    """Chance of each choice: proportional to exp(epsilon score / (2 sensitivity)); (choices,)."""
    Budget(epsilon=epsilon, delta=0.0)
    weight = epsilon * (scores - scores.max()) / (2 * sensitivity)
    chance = np.exp(weight)
    return np.asarray(chance / chance.sum())


def above_mark(
    scores: Floats, mark: float, epsilon: float, sensitivity: float, *, noisy_mark: bool = True, nodes: int = 4001
) -> Floats:
    """Chance that the sparse vector stops at each score, and at none; (scores + 1,).

    The mark gets Laplace noise of scale 2 sensitivity / epsilon, each score of 4 sensitivity / epsilon; the first
    score above the mark is told and nothing more. Exact up to the integration over the noise of the mark: given that
    noise the scores are independent. Without noise on the mark (a published mistake) nothing is promised.
    """
    Budget(epsilon=epsilon, delta=0.0)
    wide = 4 * sensitivity / epsilon
    if noisy_mark:
        # equal steps of the distribution of the noise, each at its middle
        u = (np.arange(nodes) + 0.5) / nodes
        shift = -np.sign(u - 0.5) * np.log1p(-2 * np.abs(u - 0.5)) * (2 * sensitivity / epsilon)
    else:
        shift = np.zeros(1)
    gap = mark + shift[:, None] - scores[None, :]  # noise that a score needs: (nodes, scores)
    passes = np.where(gap > 0, 0.5 * np.exp(-np.abs(gap) / wide), 1 - 0.5 * np.exp(-np.abs(gap) / wide))
    stays = np.cumprod(1 - passes, axis=1)
    before = np.concatenate([np.ones((len(shift), 1)), stays[:, :-1]], axis=1)
    return np.asarray(np.append((before * passes).mean(axis=0), stays[:, -1].mean()))


def log_ratio(one: Floats, other: Floats) -> Floats:
    """Ln of the ratio of two lists of chances, outcome by outcome; epsilon bounds its size."""
    return np.asarray(np.log(one) - np.log(other))


def largest_ratio(epsilon: float, assumed: float, real: float) -> float:
    """Ln of the largest ratio that one person with `real` points to move can cause, over all whom they favour."""
    before, others = exponential(VOTES, epsilon, assumed), np.delete(np.arange(len(VOTES)), np.argmax(VOTES))
    after = (exponential(moved(VOTES, int(mover), real), epsilon, assumed) for mover in others)
    return max(float(np.abs(log_ratio(chances, before)).max()) for chances in after)


def largest_promise(epsilon: float, assumed: float, *, days: int | None = None) -> float:
    """Ln of the largest ratio over all tables when one person moves scores by 1 and `assumed` was believed.

    Choosing: epsilon / assumed. The sparse vector alike; without noise on the mark each score before the last adds
    up to epsilon / 4 of its own, so that the loss grows with the number of `days`.
    """
    return epsilon / assumed if days is None else days * epsilon / (4 * assumed)


def margin(epsilon: float, sensitivity: float, choices: int, failure: float = 0.05) -> float:
    """The lead at which the winner is chosen with probability 1 - failure at least, whatever the others have."""
    return 2 * sensitivity * math.log((choices - 1) * (1 - failure) / failure) / epsilon


def tables(example: str, step: str) -> list[Floats]:
    """Both tables after a step: as measured; after the totals agree; after A agrees; non-negative as well."""
    values = [v.copy() for v in EXAMPLES[example]]
    if step == "whole":
        measured = [Measurement(attributes=s, values=v, sigma=1.0) for s, v in zip(SETS, values, strict=True)]
        return [m.values for m in make_consistent(measured)]
    lattice = overlaps(SETS)
    wanted = {"noisy": [], "total": [o for o in lattice if not o[0]], "shared": list(lattice)}[step]
    agree(values, SETS, [1.0, 1.0], wanted)
    return values
