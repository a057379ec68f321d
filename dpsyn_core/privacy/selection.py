"""What the best of a random number of runs costs, where each run and its score together are rho-zCDP.

The number of runs is geometric with a whole mean m: after each run it ends with probability 1/m. By Theorem 1 of
docs/proofs/tuning.md the choice has, for every order a > 1 and b > 1, Renyi divergence of order a at most

    rho a + 2 (1 - 1/b) rho b + 2 ln(m) / b + ln(m) / (a - 1).

Sources: Papernot, Steinke 2022, Theorem 2 (with eta = 1); Liu, Talwar 2019; Canonne, Kamath, Steinke 2020 (conversion).
"""

from __future__ import annotations

import math

from dpsyn_core.errors import BudgetError

MOST_RUNS = 100  # on average; beyond, each run has so little budget that no choice makes up for it
_MARGIN = 1e-9  # prices are rounded up, and rho down, by this share
_STEPS = 80  # halvings: the bracket is then below rounding


def check_runs(runs: int) -> None:
    """Raises BudgetError for a mean number of runs that is not between 2 and 100."""
    if isinstance(runs, bool) or not isinstance(runs, int) or not 2 <= runs <= MOST_RUNS:
        msg = f"the mean number of runs is {runs!r}; it must be a whole number from 2 to {MOST_RUNS}, for example 3"
        raise BudgetError(msg)


def selection_renyi(rho: float, runs: int, order: float) -> float:
    """Bound on the Renyi divergence of the choice, at the order b that makes it smallest."""
    log_runs = math.log(runs)
    b = max(1.0, math.sqrt(log_runs / rho))  # at 1, the limit: the first of the two terms is gone
    return rho * order + 2 * (rho * (b - 1) + log_runs / b) + log_runs / (order - 1)


def selection_epsilon(rho: float, runs: int, delta: float) -> float:
    """Epsilon at delta of the best of about `runs` runs of rho each, rounded up."""
    total = math.inf
    for i in range(-400, 1201):  # any order gives a valid bound: the grid only loses a little
        order = 1 + math.exp(i / 100)
        said = selection_renyi(rho, runs, order) + math.log1p(-1 / order)
        total = min(total, said - (math.log(delta) + math.log(order)) / (order - 1))
    return max(0.0, total) * (1 + _MARGIN)


def selection_rho(epsilon: float, delta: float, runs: int) -> float:
    """The rho that each run may spend where the choice may cost (epsilon, delta), rounded down. Raises BudgetError."""
    check_runs(runs)
    if not 0 < delta < 1:
        msg = f"delta is {delta:g}: a choice among runs needs a delta above 0, for example 1e-9"
        raise BudgetError(msg)
    low, high = 0.0, epsilon  # rho-zCDP at epsilon = rho would already be too much
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if middle > 0 and selection_epsilon(middle, runs, delta) <= epsilon:
            low = middle
        else:
            high = middle
    if low <= 0:
        msg = f"epsilon {epsilon:g} is too small to choose among about {runs} runs; raise it, or choose fewer"
        raise BudgetError(msg)
    return low * (1 - _MARGIN)
