"""Starting a run from what the visitor has chosen, after everything that can be refused was refused."""

from typing import Any

from dpsyn_core.errors import DPSynError, SchemaError
from dpsyn_core.runs import JobSpec
from ui.questions import kept
from ui.shared.jobs import Job
from ui.shared.results import fingerprint
from ui.shared.state import Workspace, check_shown, jobs
from ui.shared.text import local, t
from ui.synthesize import public_table
from ui.synthesize.estimates import in_place, job_memory, job_seconds
from ui.synthesize.methods import run_of

NO_TABLE = "no table is loaded; load one on the Data page"


def spec_of(space: Workspace) -> JobSpec:
    """The run that the visitor's choices describe. Raises SchemaError without a table."""
    fields: dict[str, Any] = run_of(space).model_dump()
    fields["query_vouched"] = any(p.dataset is not None and p.dataset.query_vouched for p in space.parts.values())
    fields |= {"memory_mb": job_memory(), "seconds": job_seconds()}
    if space.linked is not None:
        schema = space.linked.declared()
        given = (space.linked.root,) if schema is None else tuple(space.linked.inputs(schema))
        return JobSpec(**fields, linked=given)
    if space.dataset is None or space.schema is None:
        raise SchemaError(NO_TABLE)
    place = JobSpec.model_fields["table"].default if space.dataset.place is None else space.dataset.place
    return JobSpec(**fields, table=place, form=space.dataset.form)


def problem(space: Workspace) -> str:
    """Why a run cannot start, or an empty text; asks the system itself, reads no data."""
    if not space.choices.valid:
        return t("start.budget")
    if space.linked is None and (space.dataset is None or space.schema is None):
        return t("start.no_table")
    if any(row.problem for part in space.parts.values() for row in part.rows):
        return t("start.rows")
    try:
        spec = spec_of(space)
        if space.linked is not None:
            from dpsyn_core.runs import TreePlan

            TreePlan.of(spec, space.linked.schema())
            return public_table.problem(space)
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
    spec, learnt = spec_of(space), public_table.of_run(space)
    if learnt is not None:
        spec = spec.model_copy(update={"public_table": learnt.file})
    declared = space.kept_schema if space.linked is None else space.linked.schema()
    if declared is None:
        raise SchemaError(NO_TABLE)
    schema = kept.in_schema(space, declared)
    return jobs().start(
        space.owner,
        spec,
        schema,
        space.inputs(declared),
        label=t("run.label", method=spec.method, epsilon=local(spec.epsilon, "g")),
        fingerprint=fingerprint(schema, spec),
        public={"serial": space.serial, "dataset": space.name},
        files={} if learnt is None else {learnt.file: learnt.content},
    )
