"""Plan of a run: what it would charge, and whether the budget is enough; public.

Nothing here reads a table: schema and run decide.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.runs.spec import RunSpec
from dpsyn_core.schema import CodedAttribute, Domain, Schema
from dpsyn_core.systems import ASSUMED, DEFAULT, RunPlan, Step, dry_run, plan_of

__all__ = [
    "ASSUMED", "LOST", "RunPlan", "Step", "column_error", "columns_off", "lost", "lost_sentence",
    "plan", "plan_of",
]  # fmt: skip

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
    errors = []
    for step in made.steps:
        std = made.std(step)
        if std is None or step.kind in NO_TABLES:
            continue
        off = columns_off(domain.attributes, max(step.cells[1], 1), math.sqrt(std[0] * std[1]), n_records)
        errors.append(float(off.mean()))
    return min(errors, default=None)


def columns_off(attributes: Sequence[CodedAttribute], most: int, std: float, n_records: float) -> NDArray[np.float64]:
    """TVD that noise alone gives each of these columns, at most 1; see `column_error`.

    Args:
        attributes: the columns.
        most: cells of a table of one column, at most.
        std: standard deviation of the noise of a cell, in counts.
        n_records: about how many records there are, in counts.
    """
    sizes = np.array([a.size for a in attributes], dtype=np.float64)
    parts = np.array([min(a.size, COARSE) if a.number else a.size for a in attributes], dtype=np.float64)
    cells = np.minimum(sizes, most)
    off = np.sqrt(cells * np.minimum(cells, parts)) * std * math.sqrt(2 / math.pi) / (2 * n_records)
    return np.asarray(np.minimum(off, 1.0))


def lost(made: RunPlan, spec: RunSpec, schema: Schema, n_records: float) -> float | None:
    """The error of single columns where it is so large that the result would be of no use; else None."""
    n = float(n_records if schema.n_records is None else schema.n_records)
    error = column_error(made, spec.config.working_domain(schema.domain()), n)
    return error if error is not None and error >= LOST else None


def lost_sentence(error: float, spec: RunSpec, schema: Schema) -> str:
    """A sentence on an error that `lost` computed, with a remedy."""
    problem = (
        f"{spec.method} is not made for {len(schema.domain())} columns at epsilon {spec.epsilon:g} and so few records: "
        f"noise alone puts single columns off by about {error:.0%}"
    )
    other = "" if spec.method == DEFAULT else f"the method '{DEFAULT}', "
    return f"{problem}; take {other}fewer columns, fewer values of each, or a larger epsilon"
