"""Starting a run from what the visitor has chosen, after everything that can be refused was refused."""

from __future__ import annotations

import os
import secrets

from dpsyn_core.errors import DPSynError, SchemaError
from dpsyn_core.jobs.spec import JobSpec
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.questions.document import Questions
from dpsyn_core.synthesizers.base import Task
from dpsyn_core.synthesizers.registry import config_class, configure
from ui.questions import kept
from ui.shared.jobs import Job
from ui.shared.results import fingerprint
from ui.shared.state import Workspace, jobs
from ui.shared.text import t
from ui.synthesize import methods
from ui.synthesize.estimates import in_place, job_memory

SECONDS = "DPSYN_JOB_SECONDS"  # environment variable


def spec_of(space: Workspace) -> JobSpec:
    """The run that the visitor's choices describe. Raises SchemaError without a table."""
    if space.dataset is None or space.schema is None:
        msg = "no table is loaded; load one on the Data page"
        raise SchemaError(msg)
    choices, method = space.choices, methods.chosen(space)
    return JobSpec(
        epsilon=choices.epsilon,
        delta=choices.delta,
        method=method,
        settings=methods.settings_of(space, method),
        n_records=choices.n_records,
        questions=kept.fitting(space).document() if kept.lines(space) else None,
        questions_share=choices.questions_share if config_class(method).takes_questions else 0.0,
        query_vouched=space.dataset.query_vouched,
        seed=choices.seed if choices.seed is not None else secrets.randbelow(2**31),
        dataset=space.dataset.ledger,
        table=JobSpec.model_fields["table"].default if space.dataset.place is None else space.dataset.place,
        form=space.dataset.form,
        memory_mb=job_memory(),
        seconds=int(os.environ.get(SECONDS, "3600")),
    )


def problem(space: Workspace) -> str:
    """Why a run cannot start, or an empty text; asks the system itself, reads no data."""
    if not space.choices.valid:
        return t("start.budget")
    if space.dataset is None or space.schema is None:
        return t("start.no_table")
    if any(row.problem for row in space.rows):
        return t("start.rows")
    try:
        spec = spec_of(space)
        task = Task.of(
            space.schema, Budget(epsilon=spec.epsilon, delta=spec.delta),
            questions=Questions.of(spec.questions) if spec.questions else Questions.of([]),
            questions_share=spec.questions_share,
        )  # fmt: skip
        configure(spec.method, spec.settings).calibrate(task)
        if space.dataset.place is not None:
            in_place(space)  # its files are there, and its codes fit the disk
    except DPSynError as error:
        return str(error)
    return ""


def start(space: Workspace) -> Job:
    """Queues the run. Raises DPSynError."""
    spec = spec_of(space)
    if space.dataset is None or space.schema is None:
        msg = "no table is loaded; load one on the Data page"
        raise SchemaError(msg)
    label = t("run.label", method=spec.method, epsilon=f"{spec.epsilon:g}")
    schema = kept.in_schema(space, space.kept_schema or space.schema)
    return jobs().start(
        space.owner,
        spec,
        schema,
        space.dataset.whole,
        label=label,
        fingerprint=fingerprint(schema, spec),
        public={"serial": space.dataset.serial, "dataset": space.dataset.name},
    )
