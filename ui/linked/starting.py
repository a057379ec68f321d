"""Starting a run of linked tables from what the visitor declared, after all that can be refused was refused."""

from __future__ import annotations

import os
from typing import Any

from dpsyn_core.errors import DPSynError, SchemaError
from dpsyn_core.questions.document import Questions
from dpsyn_core.runs.jobs.spec import JobSpec
from dpsyn_core.schema.linked import METHOD, LinkedSchema
from ui.shared.jobs import Job
from ui.shared.results import fingerprint
from ui.shared.state import Linked, Workspace, check_shown, jobs
from ui.shared.text import counted, local, t
from ui.synthesize.estimates import job_memory
from ui.synthesize.starting import SECONDS


def spec_of(space: Workspace) -> JobSpec:
    """The run that the visitor's choices describe. Raises SchemaError where no linked tables are loaded."""
    linked = loaded(space)
    schema = linked.declared()
    names = (linked.root,) if schema is None else tuple(linked.inputs(schema))
    return JobSpec(
        epsilon=space.choices.epsilon,
        delta=space.choices.delta,
        method=METHOD,
        settings={} if linked.effort == 1 else {"effort": linked.effort},
        n_records=linked.n_roots,
        seed=space.choices.seed,
        dataset=linked.ledger,
        questions=questions_of(linked),
        query_vouched=any(p.dataset is not None and p.dataset.query_vouched for p in linked.parts.values()),
        linked=names,
        memory_mb=job_memory(),
        seconds=int(os.environ.get(SECONDS, "3600")),
    )


def questions_of(linked: Linked) -> dict[str, Any] | None:
    """The declared questions as a run is told them; None for none."""
    return Questions.of(linked.questions).document() if linked.questions else None


def loaded(space: Workspace) -> Linked:
    """The linked tables. Raises SchemaError where there are none."""
    if space.linked is None:
        msg = "no linked tables are loaded; load them on the Data page"
        raise SchemaError(msg)
    return space.linked


def problem(space: Workspace) -> str:
    """Why a run cannot start, or an empty text; reads no data."""
    from dpsyn_core.runs.trees.division import division

    if not space.choices.valid:
        return t("start.budget")
    try:
        linked = loaded(space)
        if any(row.problem for part in linked.parts.values() for row in part.rows):
            return t("start.rows")
        asked = Questions.of(linked.questions)
        # refuses questions that do not fit, and a budget whose noise could not be drawn
        division(linked.schema(), spec_of(space).budget, questions=asked)
    except DPSynError as error:
        return str(error)
    return ""


def start(space: Workspace) -> Job:
    """Queues the run. Raises DPSynError."""
    check_shown(space)
    linked, spec = loaded(space), spec_of(space)
    schema: LinkedSchema = linked.schema()
    return jobs().start(
        space.owner,
        spec,
        schema,
        linked.inputs(schema),
        label=t("run.label", method=linked.name, epsilon=local(spec.epsilon, "g")),
        fingerprint=fingerprint(schema, spec),
        public={"serial": linked.serial, "dataset": linked.name},
    )


def drops(schema: LinkedSchema) -> str:
    """What a run keeps of each root, in one sentence."""
    said = [
        counted("linked.keeps", one.max_children, child=one.table if not schema.one_file else t("linked.rows"))
        for one in schema.hanging
    ]
    return t("linked.keeps_lead", list=", ".join(said))
