"""Guess first: the number that each lab's question has for an answer, computed by the lab's own lesson."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

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


def _count() -> float:
    return math.e


def _attacker() -> float:
    from dpsyn_core.privacy import best_guess

    return 100 * best_guess(1.0, 1e-9)


def _composition() -> float:
    from dpsyn_core.privacy import Unit, crossings

    return math.ceil(crossings(1.0, 1e-9, Unit())["laplace_basic:gaussian_exact"])


def _consistency() -> float:
    """One count from 2 noisy cells and from 3: the mean weighted by 1 / variance against the first alone."""
    return 100 * (1 - math.sqrt((1 / (1 / 2 + 1 / 3)) / 2))


def _growing() -> float:
    from ui.learn.numbers.growing import grown, women

    return women(grown(2.0, 0.5))


def _sweeps() -> float:
    from ui.learn.numbers.growing import errors

    return 100 * errors()["mcf"][-1]


def _views() -> float:
    from dpsyn_core.estimate import affine_plane

    return len(affine_plane(8))


def _prior() -> float:
    from ui.learn.numbers.family import COUNTS, least_alpha

    return least_alpha(int(COUNTS.sum()), 5.0)


def _leak() -> float:
    from ui.learn.numbers.counting import enough

    return enough(1.0, DELTA)


def _race() -> float:
    from ui.learn.numbers.systems import curve

    line = curve("independent", "tvd-2way")
    return float(100 * line.middle[list(line.epsilons).index(1.0)])


def _reconstruction() -> float:
    from ui.learn.numbers.asking import expected_share, survey

    return 100 * expected_share(survey(64, 4), 4.0)


def _membership() -> float:
    from ui.learn.numbers.game import shadow

    return 100 * shadow("exact", 1.0).right


def _asking() -> float:
    from ui.learn.numbers.asking import people_for

    return people_for(0.01, 1.0, local=True)


def _clipping() -> float:
    from ui.learn.numbers.counting import best_bound, incomes

    return best_bound(incomes(300), 0.1)


def _budgets() -> float:
    from ui.learn.numbers.systems import curve

    line = curve("rls", "tvd-2way")
    return float(100 * line.middle[list(line.epsilons).index(10.0)])


def _family() -> float:
    from ui.learn.numbers.family import laplace

    return 100 * laplace(1.0, 5).guess


def _choosing() -> float:
    from ui.learn.numbers.choosing import VOTES, exponential

    return float(100 * exponential(VOTES, 0.1, 1.0)[0])


def _effect() -> float:
    from ui.learn.numbers.family import expected_coverage, sigma

    return 100 * expected_coverage(200, 0.1, sigma(0.2, DELTA))


def _groups() -> float:
    from ui.learn.numbers.systems import CLASSES, by_class

    small = next(i for i, (low, high) in enumerate(CLASSES) if low <= 10 <= high)
    return float(100 * by_class("rls", 1.0, "count")[small])


def _training() -> float:
    from ui.learn.numbers.training import spent

    return spent(1.5, 60, 200)[1]


def _spending() -> float:
    from ui.learn.numbers.game import best_expected

    return best_expected()


def _linkage() -> float:
    from ui.learn.numbers.asking import linked

    return 100 * linked(("CITY", "SEX", "AGE", "RACE"), 1).below(2)


def _sparse() -> float:
    from ui.learn.numbers.bounds import found_by_each

    return 100 * found_by_each(20, 50.0, 1.0)


def _variants() -> float:
    from ui.learn.numbers.accounting import variants

    return variants(10.0, 80, DELTA).exact


def _years() -> float:
    from ui.learn.numbers.accounting import yearly

    return float(yearly(1.0, 1e-9, 10)[1][-1])


def _hidden() -> float:
    from ui.learn.numbers.bounds import conclusion

    return 100 * conclusion(500, 0.4, 1.0)[1]


def _logic() -> float:
    from ui.learn.numbers.bounds import synthetic

    stays = synthetic("pairs", 7)
    return float(100 * np.mean(stays.backwards))


def _records() -> float:
    from ui.learn.numbers.accounting import noise_error

    return float(100 * noise_error([10_000_000], 100, 50, 1.0, 1e-9)[0])


def _dependence() -> float:
    from ui.learn.numbers.pairs import pairs

    return pairs().best(1.0)


def _agreeing() -> float:
    from ui.learn.numbers.pairs import off

    return off("sample", 1.0, "linear-program") / off("sample", 1.0, "maximum-entropy")


def _rounds() -> float:
    from ui.learn.numbers.bounds import allowed, largest

    return allowed(10_000, 1.0, 8) / largest("practical", 10_000, 1.0, 8)


def _hardness() -> float:
    from ui.learn.numbers.bounds import records_for

    return math.floor(math.log10(records_for())) + 1


def _phases() -> float:
    from ui.learn.numbers.phases import scores

    return 100 * scores("one", 50, 0.5, 0.2)


def _exposures() -> float:
    from ui.learn.numbers.exposures import CASES, model

    return float(model("cases", 3.0).moments()[0][0] / CASES[0])


ANSWERS: dict[str, Callable[[], float]] = {
    name[1:]: made for name, made in list(globals().items()) if name.startswith("_") and name[1:2] != "_"
}


@cache
def answer(lab: str) -> float:
    """The number that the lab's question asks for."""
    return float(ANSWERS[lab]())
