"""A marginal from those that hold parts of it: least squares, Fourier coefficients.

What a released table says of a marginal that is sought: sums over its cells, perhaps at coarse values. Blind.

Fourier coefficients of a table of binary attributes, and marginals from them. Pure arithmetic, blind.

Other ways to reconstruct a marginal that no released table covers: least norm and a linear program. Blind.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import SizeError
from dpsyn_core.estimate.marginals.coarsening import Coarsening
from dpsyn_core.estimate.marginals.types import Measurement, project, spread
from dpsyn_core.schema import AttributeSet

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
    out: dict[tuple[object, ...], list[Constraint]] = {}
    for m in measured:
        shared = tuple(n for n in names if n in m.attributes)
        if not shared:
            continue
        recodes = tuple(proper(m.recodes.get(n)) for n in shared)
        goal = project(m.values, m.attributes, shared)
        out.setdefault((shared, recodes), []).append(Constraint(attributes=shared, goal=goal, recodes=recodes))
    each = [
        Constraint(
            attributes=same[0].attributes,
            recodes=same[0].recodes,
            goal=np.asarray(np.clip(np.mean([c.goal for c in same], axis=0), 0, None)),
        )
        for same in out.values()
    ]
    # of two that say the same, as where values only stand in another order, the first is kept
    return [
        c
        for i, c in enumerate(each)
        if not any(c.follows(o) and (j < i or not o.follows(c)) for j, o in enumerate(each))
    ]


def proper(recode: Coarsening | None) -> Coarsening | None:
    """A coarsening; None for one that leaves every value where it is."""
    return None if recode is None or recode.is_identity else recode


def _refines(fine: Coarsening | None, coarse: Coarsening | None) -> bool:
    """Whether values that are together in the first are together in the second; None keeps all apart."""
    return fine is None or fine.refines(Coarsening.identity(len(fine.map)) if coarse is None else coarse)


def coefficient_sets(names: Sequence[str], k: int) -> list[AttributeSet]:
    """All sets of at most k attributes, the empty one first: the coefficients that every k-way marginal needs."""
    return [s for size in range(min(k, len(names)) + 1) for s in itertools.combinations(names, size)]


def signed_sum(marginal: NDArray[np.int64]) -> int:
    """The coefficient of a set from its marginal, shape (2, ..., 2): the sum of cells, minus where codes add up odd."""
    out = marginal
    while out.ndim:
        out = out[0] - out[1]
    return int(out)


def marginal_from(coefficients: Mapping[AttributeSet, float], names: AttributeSet) -> NDArray[np.float64]:
    """The marginal of binary attributes: T(x) = 2^-k times the sum over subsets S of (-1)^(x on S) f(S).

    Args:
        coefficients: by attribute set in the order of `names`; a missing one counts as 0.
        names: k attributes.

    Returns:
        float64 (2, ..., 2).

    Source: Barak, Chaudhuri, Dwork, Kale, McSherry, Talwar 2007.
    """
    k = len(names)
    out = np.array([coefficients.get(s, 0.0) for s in _subsets(names)]).reshape((2,) * k)
    for axis in range(k):
        kept, turned = np.take(out, 0, axis), np.take(out, 1, axis)
        out = np.stack([kept + turned, kept - turned], axis=axis)
    return np.asarray(out / 2**k)


def _subsets(names: AttributeSet) -> list[AttributeSet]:
    """Subsets in the order of a table's cells: code 1 on an axis means that its attribute is in the set."""
    return [
        tuple(n for n, b in zip(names, bits, strict=True) if b) for bits in itertools.product((0, 1), repeat=len(names))
    ]


ReconstructionRule = Literal["maximum-entropy", "least-norm", "linear-program"]

PROGRAM_CELLS = 50_000  # of a marginal found by a linear program
TOLERANCE = 1e-9  # of the total


def least_norm(
    names: AttributeSet, shape: Sequence[int], constraints: Sequence[Constraint], *, total: float, sweeps: int
) -> tuple[Array, int]:
    """The non-negative table of least Euclidean norm that agrees with the constraints.

    Dykstra's alternating projections from the table of zeros: onto every constraint (its disagreement is spread evenly
    over the cells that it sums) and onto the non-negative tables.

    Args:
        names: attributes of the table.
        shape: their sizes.
        constraints: what tables over some of the attributes say.
        total: number of records, for the tolerance.
        sweeps: cap on the rounds.

    Returns:
        The table, float64 of `shape`, and the number of rounds.

    Source: Qardaji, Yang, Li 2014 (PriView), section 4.6; Boyle and Dykstra 1986.
    """
    values = np.zeros(tuple(shape))
    owed = np.zeros_like(values)
    summed = [np.maximum(c.of(np.ones(tuple(shape)), names), 1.0) for c in constraints]  # cells behind each goal
    done = 0
    for sweep in range(sweeps):
        before = values
        for c, cells in zip(constraints, summed, strict=True):
            values = values + c.onto((c.goal - c.of(values, names)) / cells, names)
        moved = values + owed
        values = np.clip(moved, 0, None)
        owed = moved - values
        done = sweep + 1
        if float(np.abs(values - before).sum()) <= TOLERANCE * max(total, 1.0):
            break
    return values, done


def linear_program(names: AttributeSet, shape: Sequence[int], constraints: Sequence[Constraint]) -> Array:
    """A non-negative table whose largest disagreement with a cell of the constraints is least, by a linear program.

    Where several tables are equally good, the solver's choice is a corner of them: many cells are 0.

    Args:
        names: attributes of the table.
        shape: their sizes.
        constraints: what tables over some of the attributes say.

    Raises:
        SizeError: more cells than a program may have.

    Source: Qardaji, Yang, Li 2014 (PriView), section 4.6.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, hstack, vstack

    cells = int(np.prod(shape, dtype=object))
    if cells > PROGRAM_CELLS:
        msg = (
            f"the marginal has {cells} cells, above the {PROGRAM_CELLS} of a linear program; name fewer attributes, or "
            "set reconstruction to 'maximum-entropy'"
        )
        raise SizeError(msg)
    numbers = np.arange(cells)
    grid = np.unravel_index(numbers, tuple(shape))
    rows, goals = [], []
    for c in constraints:
        rows.append(csr_array((np.ones(cells), (c.place(grid, names), numbers)), shape=(c.goal.size, cells)))
        goals.append(c.goal.ravel())
    sums, targets = vstack(rows), np.concatenate(goals)
    slack = csr_array(np.ones((targets.size, 1)))
    solution = linprog(
        np.append(np.zeros(cells), 1.0),
        A_ub=vstack([hstack([sums, -slack]), hstack([-sums, -slack])]),
        b_ub=np.concatenate([targets, -targets]),
        method="highs",
    )
    return np.clip(np.asarray(solution.x[:-1], dtype=np.float64), 0, None).reshape(tuple(shape))
