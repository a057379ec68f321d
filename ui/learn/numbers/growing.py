"""Lab 5: one GUM update of five people towards a target. Lab 34: the errors of whole runs, made beforehand.

Source: Li, Zhang, Wang 2021, appendix A, Figures 3 and 4.
"""

from typing import get_args

import numpy as np
from numpy.typing import NDArray

from ui.learn.numbers.systems import results

Codes = NDArray[np.uint8]
# income, gender, age of five people; the published example: (high, male) 4 -> 1, (high, female) 1 -> 4
PEOPLE: Codes = np.array([[1, 1, 1, 1, 1], [0, 0, 0, 0, 1], [0, 1, 1, 0, 2]], dtype=np.uint8)
TARGET = np.array([0, 0, 1, 4], dtype=np.int64)  # (low, male), (low, female), (high, male), (high, female)
RATED = 100  # sweeps over which the rates are drawn


def grown(alpha: float, copies: float, seed: int = 0) -> Codes:
    """The five people after one update. copies: share of what a cell gains that is copied from its records."""
    from dpsyn_core.estimate import seed_state, update  # compiled: not where the labs run in a browser

    codes = PEOPLE.copy()
    cell = np.empty(codes.shape[1], dtype=np.int32)
    state = seed_state(np.random.default_rng(seed))
    update(codes, np.array([0, 1]), np.array([2, 2]), TARGET, alpha, copies, cell, state)
    return codes


def women(people: Codes) -> int:
    """How many of them are women; the target is TARGET[3]."""
    return int((people[1] == 1).sum())


def errors() -> dict[str, list[float]]:
    """Mean distance to all exact pairs of the simulated sample, sweep by sweep; made by `benchmarks.lessons`."""
    found: dict[str, list[float]] = results("growing")
    return found


def rates(sweeps: int = RATED) -> dict[str, list[float]]:
    """The update rate, sweep by sweep, for the four ways to let it fall; alpha 1, and .84 after 20 sweeps in steps."""
    from dpsyn_core.estimate import Decay, UpdateSettings

    return {c: [UpdateSettings(alpha=1.0, decay_curve=c).rate(t) for t in range(sweeps)] for c in get_args(Decay)}
