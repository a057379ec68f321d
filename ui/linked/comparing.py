"""Comparing a run of linked tables with the real ones: by link and by table, once for the visitor who owns both."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dpsyn_core.evaluate.loader import compare_tables
from dpsyn_core.runs.trees.reference import LinkVerdict, link_verdicts, separate_tables
from ui.linked import files
from ui.report.look import Look, Side
from ui.shared import results
from ui.shared.jobs import Job
from ui.shared.state import Workspace
from ui.shared.theme import palette

if TYPE_CHECKING:
    import pyarrow as pa

    from dpsyn_core.evaluate.comparison import Comparison


def real_tables(space: Workspace, job: Job) -> dict[str, pa.Table] | None:
    """The loaded tables by the names of the run's schema; None where others are loaded."""
    if space.linked is None or not results.same_table(space, job):
        return None
    schema = files.schema(space, job)
    return separate_tables(schema, space.linked.inputs(schema))


def links(space: Workspace, job: Job) -> list[LinkVerdict] | None:
    """The scores of the links between their references; None where other tables are loaded."""
    real = real_tables(space, job)
    if real is None:
        return None
    schema = files.schema(space, job)

    def make() -> list[LinkVerdict]:
        made = separate_tables(schema, files.tables(space, job))
        # which roots the references draw decides nothing that is released, and stays the same for a run
        return link_verdicts(schema, made, real, rng=np.random.default_rng(job.spec.seed))

    return results.kept(space, ("linked verdicts", job.id), make)


def table(space: Workspace, job: Job, name: str) -> Look | None:
    """One table of a run next to the real one, as the panels of single tables take it; None where it has no columns."""
    real, schema = real_tables(space, job), files.schema(space, job)
    columns = schema[name].columns
    if real is None or columns is None:
        return None
    place = [t.name for t in schema.tables].index(name)

    def make() -> Comparison:
        made = separate_tables(schema, files.tables(space, job))
        return compare_tables(columns, made[name], real[name])

    comparison = results.kept(space, ("comparison", job.id, name), make)
    # results are kept by the id of a run, and each table of it has its own
    of_table = replace(job, id=f"{job.id}-{place}", label=f"{job.label} · {name}")
    return Look(space, (Side("A", of_table, comparison, palette().synthetic),))
