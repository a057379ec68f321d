"""Outlook: the expected error of tables by number of records and epsilon, from the plan of a run alone. Public."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dpsyn_core.evaluate import expected_tvd
from dpsyn_core.runs.price import RunPlan, Step, column_error, plan
from dpsyn_core.runs.spec import RunSpec
from dpsyn_core.schema import Schema

EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)
SIZES = (1_000, 10_000, 100_000, 1_000_000)
NO_TABLE = ("total", "cell")  # steps that release counts, but no table
PAIRS = ("2-way", "chosen", "listed")


@dataclass(frozen=True, kw_only=True, slots=True)
class Outlook:
    """At one number of records and one epsilon.

    columns, pairs: mean TVD that noise alone gives single columns and measured pairs of middle size, at most 1; None
    where the system measures no such table.
    """

    epsilon: float
    n_records: int
    columns: float | None
    pairs: float | None


def table_steps(made: RunPlan | None) -> list[Step]:
    """The steps that release tables of counts."""
    if made is None:
        return []
    return [s for s in made.steps if s.sigma is not None and s.kind not in NO_TABLE]


def table_error(made: RunPlan, step: Step, n_records: float) -> tuple[float, float]:
    """Least and largest expected TVD of the tables of a step. Raises ValueError for a step without tables."""
    std = made.std(step)
    if std is None:
        msg = f"a step of kind {step.kind} releases no tables"
        raise ValueError(msg)
    # a table's share grows with its size where a system weighs them: small tables then have the larger noise
    ends = [expected_tvd(c, x, n_records) for c in step.cells for x in (std[::-1] if step.about else std)]
    return min(ends[0], ends[3]), max(ends[0], ends[3])


def outlook(
    spec: RunSpec, schema: Schema, *, epsilons: Sequence[float] = EPSILONS, sizes: Sequence[int] = SIZES
) -> list[Outlook]:
    """One entry for each epsilon and size, sizes within epsilons. Raises what calibration raises; reads no data.

    Args:
        spec: of the run; its epsilon gives way to each of `epsilons`.
        schema: public metadata; its number of records, where it is public, gives way to each of `sizes`.
        epsilons: budgets.
        sizes: numbers of records.
    """
    domain = spec.config.working_domain(schema.domain())
    out = []
    for epsilon in epsilons:
        for n in sizes:
            public = schema if schema.n_records is None else schema.model_copy(update={"n_records": n})
            planned = plan(spec.model_copy(update={"epsilon": epsilon}), public, n_records=n)
            columns = column_error(planned, domain, n)
            out.append(Outlook(epsilon=epsilon, n_records=n, columns=columns, pairs=pairs_error(planned, n)))
    return out


def pairs_error(made: RunPlan, n_records: float) -> float | None:
    """Mean TVD that noise alone gives measured pairs of middle size; None where none is measured."""
    ends = [table_error(made, s, n_records) for s in table_steps(made) if s.kind in PAIRS]
    return max((math.sqrt(low * high) for low, high in ends), default=None)
