"""Outlook: whether a system has budget enough for so many columns, before anything is spent. Public facts alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dpsyn_core.runs.plan import RunPlan
from dpsyn_core.schema.domain import Domain
from dpsyn_core.synthesizers.base import Task
from dpsyn_core.synthesizers.registry import DEFAULT, configure

COARSE = 16  # parts of a number's range that are compared: noise of finer bins cancels inside them
LOST = 0.25  # expected error of single columns from which on a table is of no use
NO_TABLES = ("total", "cell", "question", "synthetic", "patterns")  # kinds of steps that say nothing of every column


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


def lost(made: RunPlan, method: str, settings: Mapping[str, Any], task: Task, n_records: float) -> float | None:
    """The error of single columns where it is so large that the result would be of no use; else None."""
    n = float(n_records if task.n_public is None else task.n_public)
    error = column_error(made, configure(method, settings).working_domain(task.domain), n)
    return error if error is not None and error >= LOST else None


def sentence(error: float, method: str, columns: int, epsilon: float) -> str:
    """What to tell of an error that `lost` found, with what to do."""
    said = (
        f"{method} is not made for {columns} columns at epsilon {epsilon:g} and so few records: noise alone puts "
        f"single columns off by about {error:.0%}"
    )
    other = "" if method == DEFAULT else f"the method '{DEFAULT}', "
    return f"{said}; take {other}fewer columns, fewer values of each, or a larger epsilon"
