"""Comparing a run with the real table: built once for the visitor who owns both, by the engine's metrics."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate import Comparison, Roles, asked_groups, between, compare_tables, compute
from dpsyn_core.report import build
from ui.shared import results
from ui.shared.jobs import Job
from ui.shared.state import Dataset, Workspace

if TYPE_CHECKING:
    import pyarrow as pa

    from dpsyn_core.evaluate import Score
    from dpsyn_core.schema import Schema


@dataclass(frozen=True)
class Pairs:
    """TVD of all pairs as a symmetric matrix (NaN on its diagonal), with the mean and what a fresh sample scores.

    floors: what a fresh sample scores in each pair. unrelated: what shuffled columns score, where that is known.
    """

    names: tuple[str, ...]
    tvd: NDArray[np.float64]
    floors: NDArray[np.float64]
    mean: float
    floor: float
    unrelated: float | None = None

    def worst(self, *, beyond_chance: bool = False) -> tuple[str, str, float]:
        """The pair that differs most; beyond_chance: most above a fresh sample, which many cells put off."""
        filled = np.nan_to_num(self.tvd - self.floors if beyond_chance else self.tvd, nan=-1)
        i, j = np.unravel_index(int(np.argmax(filled)), filled.shape)
        return self.names[min(i, j)], self.names[max(i, j)], max(0.0, float(np.nan_to_num(self.tvd[i, j])))


def of(space: Workspace, job: Job, roles: Roles | None = None, table: str = "") -> Comparison | None:
    """The comparison of a run with a loaded table; None when another table is loaded, or it is empty.

    table: which one of linked tables.
    """
    if not results.same_table(space, job):
        return None
    chosen = replace(roles or Roles(), asked=asked_groups(job.spec.questions))
    make = partial(_compared, space, job, chosen, table)
    return results.kept(space, ("comparison", job.id, repr(chosen), table), make)


def described(space: Workspace, job: Job, table: str = "") -> Schema:
    """The schema of a synthetic table. table: which one of linked tables."""
    if not table:
        return results.schema(space, job)
    return next(one for one in results.named_schemas(space, job) if one[0] == table)[1]


def part(space: Workspace, job: Job, table: str = "") -> Job:
    """A run as that of one of its tables: results are kept by the id of a run, and each table of it has its own."""
    if not table:
        return job
    place = [t.name for t in results.tree(space, job).tables].index(table)
    spec = job.spec.model_copy(update={"questions": None})  # they are about several tables
    return replace(job, id=f"{job.id}-{place}", label=f"{job.label} \u00b7 {table}", spec=spec)


def separate(space: Workspace, job: Job) -> dict[str, pa.Table]:
    """The synthetic linked tables by the names of the schema; of a panel, persons and their rows."""
    from dpsyn_core.runs import separate_tables

    return separate_tables(results.tree(space, job), results.tables(space, job))


def real_tables(space: Workspace, job: Job) -> dict[str, pa.Table] | None:
    """The loaded linked tables by the names of the run's schema; None where others are loaded."""
    from dpsyn_core.runs import separate_tables

    if space.linked is None or not results.same_table(space, job):
        return None
    schema = results.tree(space, job)
    return separate_tables(schema, space.linked.inputs(schema))


def _compared(space: Workspace, job: Job, roles: Roles, table: str) -> Comparison | None:
    more: dict[str, Any] = {}
    if table:
        real, made = (real_tables(space, job) or {}).get(table), separate(space, job)[table]
    else:
        data, made = space.dataset, results.synthetic(space, job)
        real, records = (None, None) if data is None else (data.table, data.records)
        more = {"measurements": results.measurements(space, job), "real_of": records}
        more["synthetic_of"] = results.synthetic_of(space, job)
    if real is None or real.num_rows == 0 or made.num_rows == 0:
        return None
    return compare_tables(described(space, job, table), made, real, roles=roles, **more)


def of_files(space: Workspace, job: Job, real: Dataset | None = None) -> Comparison:
    """What a report of a run of one table rests on: released values alone, or beside those of a real table too.

    Tables that were released of other records than these, of a refit with a condition, are no part of it.
    """
    partial_table = results.condition(space, job) is not None
    measured = [] if partial_table else [m for m in results.measurements(space, job) if m.attributes]
    return compare_tables(
        results.schema(space, job),
        results.synthetic(space, job),
        None if real is None else real.table,
        measurements=measured,
        synthetic_of=results.synthetic_of(space, job),
        real_of=None if real is None else real.records,
    )


def score(space: Workspace, job: Job, comparison: Comparison, metric: str) -> Score | MetricError:
    """One metric of a run, computed once for this visitor."""
    key = score_key(job, comparison, metric)
    return results.kept(space, key, lambda: compute(comparison, [metric])[metric])


def score_key(job: Job, comparison: Comparison, metric: str) -> tuple[str, ...]:
    """Where a score is kept."""
    return ("score", job.id, metric, repr(comparison.roles))


def pairs(space: Workspace, job: Job, comparison: Comparison) -> Pairs:
    """The pairwise TVD of a run."""
    names = comparison.domain.names
    if len(names) < 2:
        none = np.full((len(names), len(names)), np.nan)
        return Pairs(names, none, none, 0.0, 0.0)
    got = score(space, job, comparison, "tvd-2way")
    if isinstance(got, MetricError):
        raise got
    tvd, floors = (build.pair_matrix(got, names, what) for what in ("tvd", "floor"))
    key = ("between", "tvd-2way", job.id, repr(comparison.roles))
    ends = results.kept(space, key, lambda: between(comparison, "tvd-2way", got))
    return Pairs(names, tvd, floors, got.value, float(got.floor or 0.0), None if ends is None else ends.unrelated)
