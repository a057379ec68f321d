"""Guess first: the number that each lab's question has for an answer, computed by the lab's own lesson."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np

DELTA = 1e-6


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
    from ui.learn.numbers.systems import results

    return float(100 * results("growing")["mcf"][-1])


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

    return float(100 * noise_error([100_000], 100, 50, 1.0, 1e-9)[0])


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
}  # fmt: skip


@cache
def answer(lab: str) -> float:
    """The number that the lab's question asks for."""
    return float(ANSWERS[lab]())
