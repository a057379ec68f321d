"""What a released table says of a marginal that is sought: sums over its cells, perhaps at coarse values. Blind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.marginals.algebra import project, spread
from dpsyn_core.marginals.coarsening import Coarsening
from dpsyn_core.marginals.types import Measurement
from dpsyn_core.schema.domain import AttributeSet

Array = NDArray[np.float64]
Codes = NDArray[np.intp]


@dataclass(frozen=True, kw_only=True, slots=True)
class Constraint:
    """A goal for some attributes of a sought table.

    attributes: in domain order. goal: counts, at least 0, one axis an attribute. recodes: for each axis how
    coarse it is; None where it has all values.
    """

    attributes: AttributeSet
    goal: Array
    recodes: tuple[Coarsening | None, ...]

    def of(self, values: Array, names: AttributeSet) -> Array:
        """The sums of a table over `names` to which the goal speaks."""
        out = project(values, names, self.attributes)
        for axis, recode in enumerate(self.recodes):
            if recode is not None:
                out = recode.sum(out, axis)
        return np.asarray(out)

    def onto(self, values: Array, names: AttributeSet) -> Array:
        """Numbers of the goal's shape, ready to broadcast against a table over `names`."""
        for axis, recode in enumerate(self.recodes):
            if recode is not None:
                values = recode.expand(values, axis)
        return spread(values, self.attributes, names)

    def place(self, codes: Sequence[Codes], names: AttributeSet) -> Codes:
        """For cells with these codes (one array an attribute of `names`) the flat position in the goal."""
        at = []
        for name, recode in zip(self.attributes, self.recodes, strict=True):
            code = codes[names.index(name)]
            at.append(code if recode is None else recode.map[code])
        return np.asarray(np.ravel_multi_index(tuple(at), self.goal.shape), dtype=np.intp)

    def follows(self, other: Constraint) -> bool:
        """Whether another one, over these attributes and more and as fine, says all that this one does."""
        if self is other or not set(self.attributes) <= set(other.attributes):
            return False
        finer = dict(zip(other.attributes, other.recodes, strict=True))
        return all(_refines(finer[n], r) for n, r in zip(self.attributes, self.recodes, strict=True))


def constraints_of(measured: Sequence[Measurement], names: AttributeSet) -> list[Constraint]:
    """The goals that tables set for a marginal over `names`: the largest and finest only, equal ones averaged."""
    found: dict[tuple[object, ...], list[Constraint]] = {}
    for m in measured:
        shared = tuple(n for n in names if n in m.attributes)
        if not shared:
            continue
        recodes = tuple(proper(m.recodes.get(n)) for n in shared)
        goal = project(m.values, m.attributes, shared)
        found.setdefault((shared, recodes), []).append(Constraint(attributes=shared, goal=goal, recodes=recodes))
    each = [
        Constraint(
            attributes=same[0].attributes, recodes=same[0].recodes,
            goal=np.asarray(np.clip(np.mean([c.goal for c in same], axis=0), 0, None)),
        )
        for same in found.values()
    ]  # fmt: skip
    return [c for c in each if not any(c.follows(other) for other in each)]


def proper(recode: Coarsening | None) -> Coarsening | None:
    """A coarsening; None for one that leaves every value where it is."""
    return None if recode is None or recode.is_identity else recode


def _refines(fine: Coarsening | None, coarse: Coarsening | None) -> bool:
    """Whether values that are together in the first are together in the second; None keeps all apart."""
    return fine is None or fine.refines(Coarsening.identity(len(fine.map)) if coarse is None else coarse)
