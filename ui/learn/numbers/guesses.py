"""Guess first: the number that each lab's question has for an answer, computed by the lab's own lesson."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from dpsyn_core import estimate, privacy

DELTA = 1e-6


@dataclass(frozen=True, slots=True)
class Axis:
    """Where a guess can lie: from `low` to `high` in steps, or evenly by ratio where there is no step."""

    low: float
    high: float
    step: float = 0.0

    @property
    def log(self) -> bool:
        """Whether it is divided by ratio."""
        return self.step == 0

    def steps(self) -> list[float]:
        """The values that can be guessed; two digits each on an axis by ratio."""
        if self.log:
            decades = round(math.log10(self.high / self.low), 6)
            whole = np.geomspace(self.low, self.high, round(24 * decades) + 1)
            return sorted({float(f"{x:.2g}") for x in whole})
        return [round(self.low + i * self.step, 6) for i in range(round((self.high - self.low) / self.step) + 1)]

    def share(self, value: float) -> float:
        """How far along the axis a value lies, from 0 to 1."""
        if self.log:
            return math.log(max(value, 1e-12) / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def ends(self) -> tuple[float, float]:
        """Both ends with a little room, as figures take them."""
        low, high = (math.log10(self.low), math.log10(self.high)) if self.log else (self.low, self.high)
        room = 0.02 * (high - low)
        return low - room, high + room


PERCENT, ATTACKS = Axis(0, 100, 1), Axis(50, 100, 1)
AXES = {
    "count": Axis(1, 10, 0.1), "attacker": ATTACKS, "composition": Axis(1, 40, 1), "consistency": PERCENT,
    "growing": Axis(0, 5, 1), "sweeps": Axis(0, 30, 0.5), "views": Axis(10, 1_000), "prior": Axis(0.1, 1_000),
    "leak": Axis(1, 100, 1), "race": Axis(0, 50, 1), "reconstruction": ATTACKS, "membership": ATTACKS,
    "asking": Axis(10, 1e6), "clipping": Axis(100, 1e5), "budgets": Axis(0.01, 10), "family": ATTACKS,
    "choosing": PERCENT, "effect": PERCENT, "groups": Axis(0, 200, 2), "training": Axis(0.01, 100),
    "spending": Axis(0, 250, 5), "linkage": PERCENT, "sparse": PERCENT, "variants": Axis(0.1, 1_000),
    "years": Axis(0, 20, 0.2), "hidden": PERCENT, "logic": PERCENT, "records": Axis(0.001, 100),
    "dependence": Axis(0, 91, 1), "agreeing": Axis(0.1, 1_000), "rounds": Axis(1, 1_000), "hardness": Axis(1, 1_000),
    "phases": PERCENT, "exposures": Axis(0.1, 1_000),
}  # fmt: skip


def _of(lesson: str) -> Any:
    """The numbers of a lesson, which are loaded when the first answer needs them."""
    return import_module(f"ui.learn.numbers.{lesson}")


def _crossing() -> float:
    """The number of questions from which Gaussian noise is smaller than Laplace noise."""
    return math.ceil(privacy.crossings(1.0, 1e-9, privacy.Unit())["laplace_basic:gaussian_exact"])


def _pairs_of(system: str, epsilon: float) -> float:
    """The error of a system's pairs, in percent."""
    line = _of("systems").curve(system, "tvd-2way")
    return float(100 * line.middle[list(line.epsilons).index(epsilon)])


def _small_groups() -> float:
    """The error of groups of 10 to 49 people under `rls`, in percent."""
    lesson = _of("systems")
    small = next(i for i, (low, high) in enumerate(lesson.CLASSES) if low <= 10 <= high)
    return float(100 * lesson.by_class("rls", 1.0, "count")[small])


ANSWERS: dict[str, Callable[[], float]] = {
    "count": lambda: math.e,
    "attacker": lambda: 100 * privacy.best_guess(1.0, 1e-9),
    "composition": _crossing,
    # one count from 2 noisy cells and from 3: the mean weighted by 1 / variance against the first alone
    "consistency": lambda: 100 * (1 - math.sqrt((1 / (1 / 2 + 1 / 3)) / 2)),
    "growing": lambda: _of("growing").women(_of("growing").grown(2.0, 0.5)),
    "sweeps": lambda: 100 * _of("growing").errors()["mcf"][-1],
    "views": lambda: len(estimate.affine_plane(8)),
    "prior": lambda: _of("family").least_alpha(int(_of("family").COUNTS.sum()), 5.0),
    "leak": lambda: _of("counting").enough(1.0, DELTA),
    "race": lambda: _pairs_of("independent", 1.0),
    "reconstruction": lambda: 100 * _of("asking").expected_share(_of("asking").survey(64, 4), 4.0),
    "membership": lambda: 100 * _of("game").shadow("exact", 1.0).right,
    "asking": lambda: _of("asking").people_for(0.01, 1.0, local=True),
    "clipping": lambda: _of("counting").best_bound(_of("counting").incomes(300), 0.1),
    "budgets": lambda: _pairs_of("rls", 10.0),
    "family": lambda: 100 * _of("family").laplace(1.0, 5).guess,
    "choosing": lambda: 100 * _of("choosing").exponential(_of("choosing").VOTES, 0.1, 1.0)[0],
    "effect": lambda: 100 * _of("family").expected_coverage(200, 0.1, _of("family").sigma(0.2, DELTA)),
    "groups": _small_groups,
    "training": lambda: _of("training").spent(1.5, 60, 200)[1],
    "spending": lambda: _of("game").best_expected(),
    "linkage": lambda: 100 * _of("asking").linked(("CITY", "SEX", "AGE", "RACE"), 1).below(2),
    "sparse": lambda: 100 * _of("bounds").found_by_each(20, 50.0, 1.0),
    "variants": lambda: _of("accounting").variants(10.0, 80, DELTA).exact,
    "years": lambda: _of("accounting").yearly(1.0, 1e-9, 10)[1][-1],
    "hidden": lambda: 100 * _of("bounds").conclusion(500, 0.4, 1.0)[1],
    "logic": lambda: 100 * np.mean(_of("bounds").synthetic("pairs", 7).backwards),
    "records": lambda: 100 * _of("accounting").noise_error([10_000_000], 100, 50, 1.0, 1e-9)[0],
    "dependence": lambda: _of("pairs").pairs().best(1.0),
    "agreeing": lambda: (
        _of("pairs").off("sample", 1.0, "linear-program") / _of("pairs").off("sample", 1.0, "maximum-entropy")
    ),
    "rounds": lambda: _of("bounds").allowed(10_000, 1.0, 8) / _of("bounds").largest("practical", 10_000, 1.0, 8),
    "hardness": lambda: math.floor(math.log10(_of("bounds").records_for())) + 1,
    "phases": lambda: 100 * _of("phases").scores("one", 50, 0.5, 0.2),
    "exposures": lambda: _of("exposures").model("cases", 3.0).moments()[0][0] / _of("exposures").CASES[0],
}


@cache
def answer(lab: str) -> float:
    """The number that the lab's question asks for."""
    return float(ANSWERS[lab]())
