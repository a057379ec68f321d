"""Plan of a run: what it would charge, whether its noise can be drawn, and whether the budget is enough; public.

Nothing here reads a table: schema and run decide.
"""

from __future__ import annotations

import math

import numpy as np

from dpsyn_core.measurement.charges import check_widest
from dpsyn_core.privacy.budget import Cost
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.runs.spec import RunSpec
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.domain import Domain
from dpsyn_core.synthesizers import dry_run
from dpsyn_core.synthesizers.dry_run import ASSUMED, RunPlan, plan_of
from dpsyn_core.synthesizers.registry import DEFAULT
from dpsyn_core.synthesizers.steps import Step, noise_of

__all__ = [
    "ASSUMED", "LOST", "RunPlan", "Step", "check_drawable", "check_shares", "column_error", "lost", "lost_sentence",
    "plan", "plan_of",
]  # fmt: skip

_SCORES = 4096.0  # the sensitivity of a score is at most so many times that of a count: 4 for each of a million pairs
COARSE = 16  # parts of a number's range that are compared: noise of finer bins cancels inside them
LOST = 0.25  # expected error of single columns from which on a table is of no use
NO_TABLES = ("total", "cell", "question", "synthetic", "patterns")  # kinds of steps that say nothing of every column


def plan(spec: RunSpec, schema: Schema, *, n_records: float | None = None) -> RunPlan:
    """What a run would charge. Raises what calibration raises; reads no data.

    Args:
        spec: of the run.
        schema: public metadata.
        n_records: about how many records there are, for forecasts; default the schema's public number, or 10,000.
    """
    return dry_run.plan(spec.method, spec.settings, spec.task(schema), n_records=n_records)


def check_drawable(made: RunPlan) -> None:
    """Refuses a run of which some noise is beyond the samplers, before it is charged; public facts alone decide.

    Scores state no scale of their own: what a count would need at the same cost is taken with room for the largest
    sensitivity of any score.

    Raises:
        BudgetError: a scale is above 2^50.
    """
    widest = max((c.scale for c in made.charges), default=0.0)
    for step in made.steps:
        if step.sigma is not None:
            widest = max(widest, *step.sigma)
        elif step.kind == "scores":
            least = step.share[0] or step.share[1]
            widest = max(widest, _SCORES * noise_of(made.cost.scaled(least / max(step.parts[1], 1)), made.unit))
    if widest:
        check_widest(widest)


def check_shares(cost: Cost, unit: Unit, *, parts: int) -> None:
    """As `check_drawable`, for runs without a plan that divide `cost` into at most so many equal parts."""
    check_widest(noise_of(cost.scaled(1 / parts), unit))


def column_error(made: RunPlan, domain: Domain, n_records: float) -> float | None:
    """Mean TVD that noise alone would give single columns, at most 1; None where no step measures tables of them.

    Numbers are compared at `COARSE` parts of their range, each of which holds the noise of its bins. The step with the
    least noise counts, as if each of its tables were one column. A table of several columns is noisier than that, and
    a fit to several tables better.

    Args:
        made: plan of the run.
        domain: the values that the system works on.
        n_records: about how many records there are.
    """
    sizes = np.array(domain.sizes, dtype=np.float64)
    parts = np.array([min(a.size, COARSE) if a.number else a.size for a in domain.attributes], dtype=np.float64)
    found = []
    for step in made.steps:
        std = made.std(step)
        if std is None or step.kind in NO_TABLES:
            continue
        cells = np.minimum(sizes, max(step.cells[1], 1))
        off = (
            np.sqrt(cells * np.minimum(cells, parts))
            * math.sqrt(std[0] * std[1])
            * math.sqrt(2 / math.pi)
            / (2 * n_records)
        )
        found.append(float(np.minimum(off, 1.0).mean()))
    return min(found, default=None)


def lost(made: RunPlan, spec: RunSpec, schema: Schema, n_records: float) -> float | None:
    """The error of single columns where it is so large that the result would be of no use; else None."""
    n = float(n_records if schema.n_records is None else schema.n_records)
    error = column_error(made, spec.config.working_domain(schema.domain()), n)
    return error if error is not None and error >= LOST else None


def lost_sentence(error: float, spec: RunSpec, schema: Schema) -> str:
    """What to tell of an error that `lost` found, with what to do."""
    said = (
        f"{spec.method} is not made for {len(schema.domain())} columns at epsilon {spec.epsilon:g} and so few records: "
        f"noise alone puts single columns off by about {error:.0%}"
    )
    other = "" if spec.method == DEFAULT else f"the method '{DEFAULT}', "
    return f"{said}; take {other}fewer columns, fewer values of each, or a larger epsilon"
