"""Starting a run from what the visitor has chosen, after everything that can be refused was refused."""

from __future__ import annotations

from dpsyn_core.errors import DPSynError, SchemaError
from dpsyn_core.runs import JobSpec
from ui.linked import starting as trees
from ui.questions import kept
from ui.shared.jobs import Job
from ui.shared.results import fingerprint
from ui.shared.state import Workspace, check_shown, jobs
from ui.shared.text import local, t
from ui.synthesize import public_table
from ui.synthesize.estimates import in_place, job_memory, job_seconds
from ui.synthesize.methods import run_of


def spec_of(space: Workspace) -> JobSpec:
    """The run that the visitor's choices describe. Raises SchemaError without a table."""
    if space.linked is not None:
        return trees.spec_of(space, space.linked)
    if space.dataset is None or space.schema is None:
        msg = "no table is loaded; load one on the Data page"
        raise SchemaError(msg)
    return JobSpec(
        **run_of(space).model_dump(),
        table=JobSpec.model_fields["table"].default if space.dataset.place is None else space.dataset.place,
        query_vouched=space.dataset.query_vouched,
        form=space.dataset.form,
        memory_mb=job_memory(),
        seconds=job_seconds(),
    )


def problem(space: Workspace) -> str:
    """Why a run cannot start, or an empty text; asks the system itself, reads no data."""
    if not space.choices.valid:
        return t("start.budget")
    if space.linked is None and (space.dataset is None or space.schema is None):
        return t("start.no_table")
    if any(row.problem for part in space.parts.values() for row in part.rows):
        return t("start.rows")
    try:
        if space.linked is not None:
            trees.check(space, space.linked)
            return ""
        spec = spec_of(space)
        if space.schema is not None:
            spec.config.calibrate(spec.task(space.schema))
        if why := public_table.problem(space):
            return why
        if space.dataset is not None and space.dataset.place is not None:
            in_place(space)  # its files are there, and its codes fit the disk
    except DPSynError as error:
        return str(error)
    return ""


def start(space: Workspace) -> Job:
    """Queues the run. Raises DPSynError."""
    check_shown(space)
    if space.linked is not None:
        return trees.start(space, space.linked)
    spec, learnt = spec_of(space), public_table.of_run(space)
    if space.dataset is None or space.schema is None:
        msg = "no table is loaded; load one on the Data page"
        raise SchemaError(msg)
    if learnt is not None:
        spec = spec.model_copy(update={"public_table": learnt.file})
    label = t("run.label", method=spec.method, epsilon=local(spec.epsilon, "g"))
    schema = kept.in_schema(space, space.kept_schema or space.schema)
    return jobs().start(
        space.owner,
        spec,
        schema,
        space.dataset.whole,
        label=label,
        fingerprint=fingerprint(schema, spec),
        public={"serial": space.dataset.serial, "dataset": space.dataset.name},
        files={} if learnt is None else {learnt.file: learnt.content},
    )
