"""Sums of clipped vectors through the gate: what is checked before, and the steps of a training run."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import EngineError, MethodError
from dpsyn_core.measure.counting.sums import BLOCK, STEPS, Outer, Part, SumRule, VectorCounter, VectorMap, clipped, head
from dpsyn_core.measure.releases import ReleasedSum
from dpsyn_core.privacy import Charge
from dpsyn_core.schema import Domain

# One step of a training run: reads the records by these maps, and gives the noisy sum.
Step = Callable[[Sequence[VectorMap]], ReleasedSum]


class SampledSums:
    """The steps of one charge. Every step draws a fresh sample and fresh noise; only steps paid for can be taken.

    They follow each other without another release between, so that they are one mechanism to the accounting.
    """

    def __init__(self, charge: Charge, step: Step, current: Callable[[], bool]) -> None:
        """Args: charge: of all steps. step: takes one. current: whether it is still the last charge of the run."""
        self.charge = charge
        self.taken = 0
        self._step, self._current = step, current

    def step(self, *maps: VectorMap) -> ReleasedSum:
        """The noisy sum over a fresh sample, by one map (or one for each code of the attribute that divides the sums).

        Raises:
            EngineError: all steps are taken, or the run has released something else since.
        """
        if self.taken >= self.charge.steps:
            msg = f"'{self.charge.name}' has taken the {self.charge.steps} steps that it paid for"
            raise EngineError(msg)
        if not self._current():
            msg = (
                f"'{self.charge.name}' cannot go on: its steps must follow each other, and something else was released"
            )
            raise EngineError(msg)
        self.taken += 1
        return self._step(maps)


def counter_of(name: str, counter: object) -> VectorCounter:
    """The counter, if it can sum vectors. Raises MethodError otherwise."""
    if isinstance(counter, VectorCounter):
        return counter
    msg = f"'{name}' sums vectors of records, which this source of records cannot do; use the method 'rls'"
    raise MethodError(msg)


def check_rule(name: str, rule: SumRule, domain: Domain) -> int:
    """How many maps the rule asks for. Raises EngineError for a rule that means nothing: a fault of the system."""
    if not (math.isfinite(rule.clip) and rule.clip > 0 and rule.cells >= 1):
        msg = f"'{name}' has the clip norm {rule.clip} and {rule.cells} cells; both must be finite and above 0"
        raise EngineError(msg)
    rule.features.check(domain)
    return 1 if rule.by is None else domain[rule.by].size


def check_maps(name: str, maps: Sequence[VectorMap], rule: SumRule, domain: Domain) -> None:
    """Tries each map on public rows, before any record is read.

    The numbers that the map gives for a row must be the same, to the last bit, wherever the row stands and whatever
    stands beside it: the sensitivity rests on that. They are compared before they are rounded to whole steps, for a
    difference that moves none of these few rows over a boundary may move a private one. This finds maps that mix
    records (a mean over the batch), and arithmetic whose last digits depend on the place of a row (matrix products in
    single precision do, on some processors).

    Raises:
        EngineError: a vector has the wrong length or a number that is not finite, or depends on other rows or on its
            place.
    """
    expected = check_rule(name, rule, domain)
    if len(maps) != expected:
        msg = f"'{name}' was given {len(maps)} maps; it needs {expected}"
        raise EngineError(msg)
    rows = _public_rows(rule, domain)
    turned = np.roll(np.arange(BLOCK)[::-1], 37)
    halved = rows.copy()
    halved[BLOCK // 2 :] = 0.0
    for vectors in maps:
        first = _on(rows, vectors)
        cells = sum(part.cells for part in clipped(first, rule.clip, non_negative=rule.non_negative))
        if cells != rule.cells:
            msg = f"the map of '{name}' gives vectors of {cells} cells where {rule.cells} were announced"
            raise EngineError(msg)
        if not all(np.isfinite(factor).all() for part in first for factor in _factors(part)):
            msg = (
                f"the map of '{name}' gives numbers that are not finite for rows of finite features; bound what it "
                "computes, or use smaller steps if it is trained"
            )
            raise EngineError(msg)
        same = _equal(first, _on(rows[turned], vectors), turned) and _equal(
            first, _on(halved, vectors), np.arange(BLOCK // 2)
        )
        if not same:
            msg = (
                f"the map of '{name}' makes the vector of a record from other records too, or from its place among "
                "them; compute each row by itself, in double precision"
            )
            raise EngineError(msg)


def _on(rows: NDArray[np.float64], vectors: VectorMap) -> list[Part]:
    with np.errstate(all="ignore"):
        return head(vectors(rows.copy()), BLOCK)


def _factors(part: Part) -> tuple[NDArray[np.floating], ...]:
    """The arrays of a part, each with one row a record; one where both factors are the same array."""
    if not isinstance(part, Outer) or part.right is part.left:
        return (np.asarray(part.left if isinstance(part, Outer) else part),)
    return np.asarray(part.left), np.asarray(part.right)


def _equal(first: Sequence[Part], second: Sequence[Part], rows: NDArray[np.int64]) -> bool:
    """Whether the first rows of the second are these rows of the first, number by number and without a tolerance."""
    pairs = [(_factors(a), _factors(b)) for a, b in zip(first, second, strict=False)]
    return len(first) == len(second) and all(
        len(a) == len(b) and all(np.array_equal(x[rows], y[: rows.size]) for x, y in zip(a, b, strict=True))
        for a, b in pairs
    )


def _public_rows(rule: SumRule, domain: Domain) -> NDArray[np.float64]:
    """Features of a full block of public records, whose codes cycle through each attribute at a different rate."""
    out = np.zeros((BLOCK, rule.features.width))
    row = np.arange(BLOCK)
    codes = {n: (row * (2 * k + 1) + row // 7) % domain[n].size for k, n in enumerate(rule.features.tables)}
    rule.features.fill(out, codes)
    return out


def released(values: NDArray[np.int64], rule: SumRule, charge: Charge) -> ReleasedSum:
    """A noisy sum on the grid, in the units of its vectors."""
    unit = rule.clip / STEPS
    shaped = values.reshape(-1, rule.cells) if rule.by is not None else values.ravel()
    return ReleasedSum(values=np.asarray(shaped * unit, dtype=np.float64), sigma=charge.scale * unit, charge=charge)
