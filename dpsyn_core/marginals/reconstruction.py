"""Other ways to reconstruct a marginal that no released table covers: least norm and a linear program. Blind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import SizeError
from dpsyn_core.marginals.constraint import Constraint
from dpsyn_core.schema.domain import AttributeSet

Array = NDArray[np.float64]
Rule = Literal["maximum-entropy", "least-norm", "linear-program"]

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
        The table, float64 of `shape`, and the rounds made.

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
    sums, wanted = vstack(rows), np.concatenate(goals)
    slack = csr_array(np.ones((wanted.size, 1)))
    found = linprog(
        np.append(np.zeros(cells), 1.0),
        A_ub=vstack([hstack([sums, -slack]), hstack([-sums, -slack])]),
        b_ub=np.concatenate([wanted, -wanted]),
        method="highs",
    )
    return np.clip(np.asarray(found.x[:-1], dtype=np.float64), 0, None).reshape(tuple(shape))
