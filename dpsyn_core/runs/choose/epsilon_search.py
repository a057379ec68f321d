"""Epsilon backwards: from an error that can be borne, or from what an attacker may gain, to epsilon. Public.

The error is the forecast of the plan for an assumed number of records, so it rests on the assumptions of a forecast.
The gain is what the guarantee proves, for the best attack on anybody.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from dpsyn_core.errors import BudgetError, SettingError
from dpsyn_core.privacy import Budget, best_guess
from dpsyn_core.runs.choose.forecast import forecast
from dpsyn_core.runs.choose.outlook import outlook
from dpsyn_core.runs.spec import RunSpec
from dpsyn_core.schema import Schema

COLUMNS, PAIRS = "columns", "pairs"  # what an error may be of, besides a declared question
LEAST, MOST = 0.01, 100.0  # epsilons between which one is sought: nothing is learnt below, nothing protected above
STEPS = 33  # of the curve: eight a factor of ten
HALVINGS = 6  # of the step in which the error is reached: the epsilon is within 0.5 % then


def gain(epsilon: float, delta: float) -> float:
    """By how much an attacker's best guess can exceed a coin's: 0 to 0.5, as a share (0.05 are 5 points of 100)."""
    return best_guess(epsilon, delta) - 0.5


def epsilon_for_gain(most: float, delta: float) -> float:
    """The largest epsilon at which no attacker gains more than `most`; inverts `gain`.

    Args:
        most: above 0 and below 0.5, as a share.
        delta: of the budget.

    Raises:
        SettingError: `most` is out of range.
        BudgetError: delta alone allows that much.
    """
    if not 0 < most < 0.5:
        msg = f"the gain is {most:g}; it must lie above 0 and below 0.5 (50 points: every guess right), such as 0.05"
        raise SettingError(msg)
    Budget(epsilon=1.0, delta=delta)
    odds = (0.5 + most - delta) / (0.5 - most)
    if odds <= 1:
        msg = f"delta {delta:g} alone lets an attacker gain {delta / 2:g}; take a smaller delta for a gain of {most:g}"
        raise BudgetError(msg)
    return math.log(odds)


@dataclass(frozen=True, kw_only=True, slots=True)
class Reached:
    """An error curve, and where it falls to a target for good.

    of: `columns`, `pairs` or the name of a question. epsilons, errors: the curve forward; None where nothing is
    measured. epsilon: the smallest from which the error stays at or below the target; None where it does not up to
    `MOST`, which is what the forecast then says.
    """

    of: str
    target: float
    n_records: int
    epsilons: tuple[float, ...]
    errors: tuple[float | None, ...]
    epsilon: float | None

    def rounded(self) -> float | None:
        """The epsilon, up to two digits: a budget that people write, and that meets the target too."""
        return None if self.epsilon is None else rounded_up(self.epsilon)


def rounded_up(epsilon: float) -> float:
    """The next number of two digits: 0.4237 becomes 0.43."""
    step = 10.0 ** (math.floor(math.log10(epsilon)) - 1)
    return float(f"{math.ceil(epsilon / step - 1e-9) * step:.2g}")


def rounded_down(epsilon: float) -> float:
    """The number of two digits below, for a limit that must hold."""
    step = 10.0 ** (math.floor(math.log10(epsilon)) - 1)
    return float(f"{math.floor(epsilon / step + 1e-9) * step:.2g}")


def choices(spec: RunSpec, schema: Schema) -> list[str]:
    """What the error of a run may be of: single columns, measured pairs, and each declared question by its name."""
    return [COLUMNS, PAIRS, *(q.name for q in spec.asked(schema).questions)]


def error_at(spec: RunSpec, schema: Schema, of: str, n_records: int, epsilon: float) -> float | None:
    """The forecast error at one epsilon; None where no table of that is measured.

    Raises:
        SettingError: nothing is called `of`.
    """
    if of in (COLUMNS, PAIRS):
        [figures] = outlook(spec, schema, epsilons=[epsilon], sizes=[n_records])
        return figures.columns if of == COLUMNS else figures.pairs
    errors = forecast(spec.model_copy(update={"epsilon": epsilon}), schema, n_records=n_records)
    for line in errors.each:
        if line.question.name == of:
            return line.before if line.after is None else line.after
    msg = f"no question is called '{of[:80]}'; known are {', '.join(choices(spec, schema))}"
    raise SettingError(msg)


def epsilon_for_error(spec: RunSpec, schema: Schema, *, of: str, target: float, n_records: int) -> Reached:
    """The smallest epsilon whose forecast error stays at or below a target. Raises what calibration raises.

    Args:
        spec: of the run; its epsilon plays no part.
        schema: public metadata; a public number of records in it comes before `n_records`.
        of: `columns`, `pairs`, or the name of a declared question.
        target: above 0 and below 1.
        n_records: about how many records there are: a public number, for the epsilon will be published.
    """
    n = n_records if schema.n_records is None else schema.n_records
    return searched(partial(error_at, spec, schema, of, n), of=of, target=target, n_records=n)


def searched(error_at: Callable[[float], float | None], *, of: str, target: float, n_records: int) -> Reached:
    """The smallest epsilon from which on an error stays at or below a target.

    Args:
        error_at: the error at an epsilon; None where nothing is measured.
        of: what the error is of.
        target: above 0 and below 1.
        n_records: about how many records there are.

    Raises:
        SettingError: the target is out of range.
    """
    if not 0 < target < 1:
        msg = f"the error is {target:g}; it must lie above 0 and below 1, such as 0.02 for 2%"
        raise SettingError(msg)
    epsilons = [float(f"{e:.4g}") for e in np.geomspace(LEAST, MOST, STEPS)]
    errors = [error_at(e) for e in epsilons]
    first = _first(errors, target)
    best = None if first is None else epsilons[first]
    if first is not None and first > 0:
        low, high = epsilons[first - 1], epsilons[first]
        for _ in range(HALVINGS):
            middle = math.sqrt(low * high)
            error = error_at(middle)
            low, high = (low, middle) if error is not None and error <= target else (middle, high)
        best = high
    return Reached(
        of=of, target=target, n_records=n_records, epsilons=tuple(epsilons), errors=tuple(errors), epsilon=best
    )


def _first(errors: Sequence[float | None], target: float) -> int | None:
    """Where the errors are at or below the target, there and everywhere after it."""
    reached = None
    for i in range(len(errors) - 1, -1, -1):
        error = errors[i]
        if error is None or error > target:
            break
        reached = i
    return reached
