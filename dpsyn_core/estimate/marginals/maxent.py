"""Any marginal from released ones: by maximum entropy, the flattest table that agrees, or by another rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import SchemaError, SizeError
from dpsyn_core.estimate.marginals.reconstruction import (
    Constraint,
    ReconstructionRule,
    constraints_of,
    least_norm,
    linear_program,
    proper,
)
from dpsyn_core.estimate.marginals.types import Measurement, project
from dpsyn_core.schema import AttributeSet, Domain

Array = NDArray[np.float64]
MAX_CELLS = 10_000_000
TOLERANCE = 1e-9  # of the total


@dataclass(frozen=True, kw_only=True, slots=True)
class Reconstruction:
    """A reconstructed marginal.

    values: float64, one axis an attribute, in counts. covered: whether one released table holds all attributes with
    all their values, so that nothing had to be assumed. residual: the largest disagreement with a released table, in
    counts; tables that contradict each other leave one. sweeps: of iterative proportional fitting. sigma: where
    covered, the least standard deviation of a cell's noise in a table that holds it, before consistency; else None.
    apart: by how much the released tables still differ on a cell that they share, in counts; 0 where they agree.
    wide: its tables have too many cells to agree as a whole, so that another marginal may differ on two of its columns.
    """

    attributes: AttributeSet
    values: Array
    covered: bool
    residual: float
    sweeps: int
    sigma: float | None = None
    apart: float = 0.0
    wide: bool = False


def reconstruct(
    measured: Sequence[Measurement],
    domain: Domain,
    names: AttributeSet,
    *,
    rule: ReconstructionRule = "maximum-entropy",
    sweeps: int = 1000,
    max_cells: int = MAX_CELLS,
) -> Reconstruction:
    """The marginal over `names` with the largest entropy among those that agree with the released tables.

    Or, by `rule`, the one of least norm, or one whose largest disagreement is least.

    Args:
        measured: consistent, non-negative tables of one total, perhaps of coarse values; attributes that none of them
            holds come out uniform.
        domain: attributes and sizes.
        names: attributes in domain order.
        rule: which of the tables that agree is taken.
        sweeps: cap on the rounds of fitting.
        max_cells: cap on the cells of the result.

    Raises:
        SchemaError: an attribute is unknown or named twice.
        SizeError: the result has more cells than the cap.

    Source: Qardaji, Yang, Li 2014, section 4.6; fitting by Deming and Stephan 1940.
    """
    check_query(domain, names, max_cells=max_cells)
    requested = set(names)
    holding = [
        m
        for m in measured
        if requested <= set(m.attributes) and not any(proper(m.recodes.get(n)) is not None for n in names)
    ]
    if holding:
        smallest = min(holding, key=lambda m: m.values.size)
        values = project(smallest.values, smallest.attributes, names)
        sigma = min(m.sigma * (m.values.size / values.size) ** 0.5 for m in holding)
        return Reconstruction(attributes=names, values=values, covered=True, residual=0.0, sweeps=0, sigma=sigma)
    constraints = constraints_of(measured, names)
    total = float(np.median([c.goal.sum() for c in constraints])) if constraints else 0.0
    if not constraints and measured:
        total = float(measured[0].values.sum())
    values = np.full(domain.shape(names), total / max(1, domain.cells(names)))
    residual, done = 0.0, 0
    if rule != "maximum-entropy" and constraints and total > 0:
        if rule == "least-norm":
            values, done = least_norm(names, domain.shape(names), constraints, total=total, sweeps=sweeps)
        else:
            values = linear_program(names, domain.shape(names), constraints)
        residual = _residual(values, names, constraints)
        return Reconstruction(attributes=names, values=values, covered=False, residual=residual, sweeps=done)
    for sweep in range(sweeps if constraints and total > 0 else 0):
        values, moved = _sweep(values, names, constraints)
        done = sweep + 1
        residual = _residual(values, names, constraints)
        if residual <= TOLERANCE * total or moved <= TOLERANCE * total:
            break
    return Reconstruction(attributes=names, values=values, covered=False, residual=residual, sweeps=done)


def check_query(domain: Domain, names: Sequence[str], *, max_cells: int = MAX_CELLS) -> None:
    """Raises SchemaError for an unknown or repeated name, SizeError for more cells than the cap."""
    if not names or len(set(names)) != len(names):
        msg = "a marginal needs at least one attribute, and each of them once"
        raise SchemaError(msg)
    if domain.cells(names) > max_cells:
        msg = (
            f"the marginal of {' x '.join(names)} has {domain.cells(names)} cells, above the cap of {max_cells}; "
            "name fewer attributes"
        )
        raise SizeError(msg)


def _sweep(values: Array, names: AttributeSet, constraints: Sequence[Constraint]) -> tuple[Array, float]:
    """One round of scaling to each constraint; also the L1 distance it moved."""
    before = values
    for c in constraints:
        now = c.of(values, names)
        factor = np.divide(c.goal, now, out=np.zeros_like(c.goal), where=now > 0)
        values = values * c.onto(factor, names)
    return values, float(np.abs(values - before).sum())


def _residual(values: Array, names: AttributeSet, constraints: Sequence[Constraint]) -> float:
    return max(float(np.abs(c.of(values, names) - c.goal).max()) for c in constraints)
