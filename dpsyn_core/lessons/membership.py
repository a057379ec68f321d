"""Lab 11: who is in the table? Attacks on synthetic tables: shadow runs of the engine, and a small one drawn here.

`python -m benchmarks.lessons --only membership` makes many synthetic tables with and without one unusual person; an
attack learns from half of them and is judged on the other half. The small mechanism here is drawn at once: a noisy
histogram, from which a table is drawn.
Source: Shokri, Stronati, Song, Shmatikov 2017 (shadow models); Stadler, Oprisanu, Troncoso 2022 (on synthetic data).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.lessons.sample import results
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.odds import trade_off

Floats = NDArray[np.float64]
SEED = 11
EPSILONS = (0.3, 1.0, 3.0, 10.0)
SYSTEMS = ("histogram", "rls", "independent", "exact")
# a histogram of 60 people over 12 cells; the person is the only one in the last
CELLS = np.array([11, 9, 8, 7, 6, 5, 5, 4, 3, 1, 1, 0])
RUNS = 400  # live tables of each world


@dataclass(frozen=True, kw_only=True, slots=True)
class RocPoints:
    """An attack: share of tables with the person that it finds, by its false alarms; (points,) each.

    right: how often it is right at the cut that it learnt, when both worlds are as likely. runs: that it is judged on,
    in each world.
    """

    alarms: Floats
    found: Floats
    right: float
    runs: int

    @property
    def margin(self) -> float:
        """Half width of the 95 % interval of `right`, by the normal approximation."""
        return 1.96 * math.sqrt(max(self.right * (1 - self.right), 0.25 / self.runs) / (2 * self.runs))


def shadow(system: str, epsilon: float) -> RocPoints:
    """The attack on tables of the engine, from runs made beforehand; `exact` counts have no epsilon."""
    made = results("membership")
    place = 0 if system == "exact" else list(made["epsilons"]).index(epsilon)
    one = made["systems"][system][place]
    return RocPoints(
        alarms=np.asarray(made["alarms"], dtype=np.float64),
        found=np.asarray(one["found"], dtype=np.float64),
        right=float(one["right"]),
        runs=int(made["runs"]) // 2,
    )


def drawn(epsilon: float, seed: int) -> RocPoints:
    """The attack on 2 x RUNS small tables made now: how many of their records lie in the person's cell."""
    rng = np.random.default_rng((SEED, seed, round(1000 * epsilon)))
    with_person = CELLS.copy()
    with_person[-1] += 1
    inside, outside = (_tables(cells, epsilon, rng) for cells in (with_person, CELLS))
    half = RUNS // 2
    marks = np.arange(0, int(max(inside.max(), outside.max())) + 2)
    judged_in, judged_out = inside[half:], outside[half:]
    alarms = np.array([(judged_out >= m).mean() for m in marks])
    found = np.array([(judged_in >= m).mean() for m in marks])
    learnt = np.array([(inside[:half] >= m).mean() - (outside[:half] >= m).mean() for m in marks])
    cut = marks[int(np.argmax(learnt))]
    right = 0.5 * float((judged_in >= cut).mean() + (judged_out < cut).mean())
    return RocPoints(alarms=alarms[::-1], found=found[::-1], right=right, runs=half)


def _tables(cells: NDArray[np.int64], epsilon: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Records in the last cell of RUNS synthetic tables: geometric noise on every cell, negatives to 0, 60 draws."""
    stop = -math.expm1(-Budget(epsilon=epsilon, delta=0.0).pure().epsilon)
    shape = (RUNS, len(cells))
    noisy = np.maximum(cells + rng.geometric(stop, shape) - rng.geometric(stop, shape), 0).astype(np.float64)
    noisy[noisy.sum(axis=1) == 0] = 1.0
    share = noisy[:, -1] / noisy.sum(axis=1)
    return np.asarray(rng.binomial(int(CELLS.sum()), share), dtype=np.int64)


def limit(alarms: Floats, epsilon: float, delta: float) -> Floats:
    """The most that any attack can find at these false alarms: 1 minus the least misses that epsilon allows."""
    return np.asarray(1 - trade_off(alarms, epsilon, delta))


def person() -> dict[str, str]:
    """The unusual person of the shadow runs: value by column."""
    return {str(k): str(v) for k, v in results("membership")["person"].items()}
