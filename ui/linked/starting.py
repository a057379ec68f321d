"""The run of linked tables that a visitor declared, and what refuses it before it starts."""

from __future__ import annotations

from typing import Any

from dpsyn_core.questions import Questions
from dpsyn_core.runs import JobSpec
from dpsyn_core.schema import METHOD, LinkedSchema
from ui.shared.jobs import Job
from ui.shared.results import fingerprint
from ui.shared.state import Linked, Workspace, jobs
from ui.shared.text import counted, local, t
from ui.synthesize.estimates import job_memory, job_seconds


def spec_of(space: Workspace, linked: Linked) -> JobSpec:
    """The run that the visitor's choices describe."""
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
        seconds=job_seconds(),
    )


def questions_of(linked: Linked) -> dict[str, Any] | None:
    """The declared questions as the document of a run; None for none."""
    return Questions.of(linked.questions).document() if linked.questions else None


def check(space: Workspace, linked: Linked) -> None:
    """Refuses tables and questions that do not fit, and a budget whose noise could not be drawn; reads no data.

    Raises DPSynError.
    """
    from dpsyn_core.runs import division

    asked = Questions.of(linked.questions)
    division(linked.schema(), spec_of(space, linked).budget, questions=asked)


def start(space: Workspace, linked: Linked) -> Job:
    """Queues the run. Raises DPSynError."""
    spec, schema = spec_of(space, linked), linked.schema()
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
    kept = [
        counted("linked.keeps", one.max_children, child=one.table if not schema.one_file else t("linked.rows"))
        for one in schema.hanging
    ]
    return t("linked.keeps_lead", list=", ".join(kept))
