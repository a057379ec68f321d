"""What a purchase of knowledge can find, before it is paid for: how many individuals a value needs, and at what price.

From public numbers alone: the columns to buy, the unit of privacy and the budget. Nothing here reads a table.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from dpsyn_core.measure.charges import noise_charge
from dpsyn_core.measure.discovery import RANGE_AND_EDGES, Wanted, cap_of, category_count, shares
from dpsyn_core.measure.quantiles import RANGE_CELLS, ceiling
from dpsyn_core.privacy import LARGEST_EPSILON, Budget, Cost, Unit

SHARE = 0.1  # a useful purchase sees values that a tenth of the records have
_STEPS = 40  # halvings of the interval of epsilon


def people_needed(wanted: Sequence[Wanted], unit: Unit, budget: Budget) -> dict[str, int]:
    """For each column, how many records a power-of-two range (or individuals a category) needs to be released.

    Columns whose range is declared need none for it, and are left out.

    Raises:
        BudgetError: categories are to be bought at delta 0.
    """
    cost, delta = cap_of(wanted, budget, unit)
    parts = cost.split(shares(wanted))[1:]
    out = {}
    for want, part in zip(wanted, parts, strict=True):
        if want.kind == "categorical":
            out[want.name] = category_count(wanted, cost, unit, delta)
        elif want.low is None:
            out[want.name] = _stretch(want, part, unit)
    return out


def least_epsilon(wanted: Sequence[Wanted], unit: Unit, delta: float, records: int) -> float | None:
    """Smallest epsilon at which every column shows what a tenth of so many records have; None above all epsilons."""

    def useful(epsilon: float) -> bool:
        needs = people_needed(wanted, unit, Budget(epsilon=epsilon, delta=delta))
        return max(needs.values(), default=0) <= SHARE * records

    low, high = math.log(1e-4), math.log(LARGEST_EPSILON)
    if not useful(math.exp(high)):
        return None
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if useful(math.exp(middle)) else (middle, high)
        if high - low < 0.01:
            break
    return math.exp(high)


def _stretch(want: Wanted, part: Cost, unit: Unit) -> int:
    cost = part if want.bins is None else part.split(RANGE_AND_EDGES)[0]
    if want.kind == "date":
        cost = part.scaled(0.5)
    cells = RANGE_CELLS[want.kind == "float"]
    charge = noise_charge("range", cost, unit, kind="range", cells=cells)
    return math.ceil(ceiling(charge, cells))
