"""Odds: what epsilon and delta mean for somebody who tries to find out whether you are in the table."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import BudgetError
from dpsyn_core.privacy.budget import Budget

Floats = NDArray[np.float64]
ANCHORS = (0.1, 1.0, 10.0)


def best_guess(epsilon: float, delta: float = 0.0) -> float:
    """Largest chance to guess right, for the best attack and a coin's prior: (e^epsilon + delta) / (e^epsilon + 1).

    Half of one plus the total variation that (epsilon, delta)-DP allows. Source: Kairouz, Oh, Viswanath 2017,
    Theorem 2.1 (the region of errors).
    """
    Budget(epsilon=epsilon, delta=delta)
    shrink = math.exp(-epsilon)
    return (1 + delta * shrink) / (1 + shrink)


def best_guess_of_mu(mu: float) -> float:
    """The same for mu-GDP, exactly: Phi(mu / 2). What a run's own noise allows, below what its budget promises."""
    return (1 + math.erf(mu / 2 / math.sqrt(2))) / 2


@dataclass(frozen=True, kw_only=True, slots=True)
class Odds:
    """Whole numbers out of 100 attackers. join: guess right at most; guessing: would without the table."""

    join: int
    guessing: int
    sentence: str
    anchors: tuple[tuple[float, str], ...]


def odds(epsilon: float, delta: float = 0.0) -> Odds:
    """The odds sentence, with anchors at epsilon 0.1, 1 and 10 (the chosen one left out)."""
    chance = best_guess(epsilon, delta)
    return Odds(
        join=round(100 * chance),
        guessing=50,
        sentence=odds_sentence(epsilon, delta),
        anchors=tuple((e, _out_of_100(best_guess(e, delta))) for e in ANCHORS if e != epsilon),
    )


def odds_sentence(epsilon: float, delta: float = 0.0) -> str:
    """One sentence for a person who knows nothing of epsilon."""
    most = _out_of_100(best_guess(epsilon, delta))
    if most == "all":
        return "If 100 attackers try to tell whether you are in the table, all may guess right; 50 would by guessing."
    return (
        f"If 100 attackers try to tell whether you are in the table, at most {most} guess right; 50 would by guessing."
    )


def anchor_sentence(epsilon: float, delta: float = 0.0) -> str:
    """How the other anchors would read: "At epsilon 0.1: 52. At 10: all."."""
    parts = [f"{e:g}: {text}." for e, text in odds(epsilon, delta).anchors]
    return " ".join(f"At epsilon {part}" if i == 0 else f"At {part}" for i, part in enumerate(parts))


def posterior(prior: Floats | float, epsilon: float) -> tuple[Floats, Floats]:
    """Lowest and highest belief that you are in the table, after seeing the output, from each prior belief.

    The likelihood ratio lies between e^-epsilon and e^epsilon, up to an event of probability delta.
    Source: Wasserman, Zhou 2010, section 2; Bayes.

    Args:
        prior: beliefs in [0, 1], any shape.
        epsilon: above 0.
    """
    Budget(epsilon=epsilon, delta=0)
    p = _shares(prior, "prior")
    shrink = math.exp(-epsilon)
    return p * shrink / (p * shrink + (1 - p)), p / (p + (1 - p) * shrink)


def best_success(prior: Floats | float, epsilon: float, delta: float = 0.0) -> Floats:
    """Largest chance to be right, over all attacks, from each prior belief that you are in the table.

    Linear in the errors, so that a corner of the allowed region is best: no false alarm, no miss, or the point
    between, where its two edges meet.
    """
    Budget(epsilon=epsilon, delta=delta)
    p = _shares(prior, "prior")
    alarm = miss = (1 - delta) * math.exp(-epsilon) / (1 + math.exp(-epsilon))
    corners = [p * (1 - miss) + (1 - p) * (1 - alarm), p * delta + (1 - p), p + (1 - p) * delta]
    best: Floats = np.maximum.reduce(corners)
    return best


def trade_off(false_alarm: Floats | float, epsilon: float, delta: float = 0.0) -> Floats:
    """Smallest share of misses that an attack with this share of false alarms can have under (epsilon, delta)-DP.

    Source: Kairouz, Oh, Viswanath 2017, Theorem 2.1; Wasserman, Zhou 2010, Theorem 2.4.
    """
    Budget(epsilon=epsilon, delta=delta)
    a = _shares(false_alarm, "share of false alarms")
    # e^epsilon overflows above 700; where it does, the first edge only matters at no false alarm at all
    steep = math.exp(min(epsilon, 700.0))
    edges = [np.zeros_like(a), 1 - delta - steep * a, math.exp(-epsilon) * (1 - delta - a)]
    smallest: Floats = np.maximum.reduce(edges)
    return smallest


def trade_off_of_mu(false_alarm: Floats | float, mu: float) -> Floats:
    """The same for mu-GDP, exactly: Phi(Phi^-1(1 - alarm) - mu). Source: Dong, Roth, Su 2022, Definition 2.6."""
    from scipy.special import ndtr, ndtri  # heavy

    a = _shares(false_alarm, "share of false alarms")
    return np.asarray(ndtr(-ndtri(a) - mu), dtype=np.float64)


def _out_of_100(chance: float) -> str:
    return "all" if chance >= 0.995 else str(round(100 * chance))


def _shares(values: Floats | float, what: str) -> Floats:
    found = np.asarray(values, dtype=np.float64)
    if not bool(np.all((found >= 0) & (found <= 1))):
        msg = f"a {what} must lie between 0 and 1"
        raise BudgetError(msg)
    return found
