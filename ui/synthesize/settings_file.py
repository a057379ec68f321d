"""The settings of a run as one file: saved on three pages, and put back as schema, budget, system and questions."""

import streamlit as st

from dpsyn_core.errors import MethodError, SchemaError
from dpsyn_core.questions import Questions
from dpsyn_core.runs import RunSettings, RunSpec
from dpsyn_core.schema import LinkedSchema, Schema
from ui.privacy import budget
from ui.privacy.guarantee import NEIGHBOURS, THETA
from ui.questions import kept
from ui.schema import editor, files, tried
from ui.shared import results, uploads
from ui.shared.downloads import download
from ui.shared.faults import refusals
from ui.shared.jobs import Job
from ui.shared.state import Workspace
from ui.shared.text import amount, literal, number, plain, t
from ui.shared.theme import note
from ui.synthesize import methods

TAKEN, SAID, PENDING = "run_settings_taken", "run_settings_said", "run_settings_pending"  # of the visitor's session


def panel(space: Workspace, *, key: str) -> None:
    """Folded away: the file of what is chosen now, and a field that takes one."""
    schema = space.kept_schema
    if schema is None:
        return
    with st.container() if key == "privacy" else st.expander(t("settings_file.title"), key=f"{key}_settings_file"):
        note(t("settings_file.note"))
        with refusals("alarm"):
            made = RunSettings.of_run(_public(space, methods.run_of(space)), schema)
            if space.choices.valid:
                button(made, key=f"{key}_settings_save")
        upload(space, key=f"{key}_settings_upload")


def of_job(space: Workspace, job: Job) -> RunSettings:
    """The settings that a finished run was made with."""
    return RunSettings.of_run(_public(space, job.spec), results.schema(space, job))


def button(made: RunSettings, *, key: str) -> None:
    """Download of the file."""
    download(t("settings_file.save"), made.file_name, made.dumps, key=key)


def _public(space: Workspace, run: RunSpec) -> RunSpec:
    """The run without the visitor's own name of the sample on the ledger, which names nothing anywhere else."""
    sample = space.sample and run.dataset == space.ledger
    return run.model_copy(update={"dataset": None}) if sample else run


def upload(space: Workspace, *, key: str) -> None:
    """A field that puts all settings back; what does not fit the loaded table is refused, and nothing changes then."""
    got = uploads.one(t("settings_file.upload"), ["json"], key=key)
    if got is not None and st.session_state.get(TAKEN) != got.file_id:
        st.session_state[TAKEN] = got.file_id
        st.session_state.pop(SAID, None)
        with refusals():
            found = RunSettings.loads(got.getvalue())
            check(space, found)
            st.session_state[PENDING] = found
            st.session_state[SAID] = _said(space, found)
            st.rerun()
    if got is not None and (said := st.session_state.get(SAID)):
        note(said)


def check(space: Workspace, found: RunSettings) -> None:
    """Raises SchemaError where a loaded table lacks a column, MethodError for a system that is not offered here."""
    _check_schema(space, found.schema)
    if found.run.method not in methods.offered(space):
        known = ", ".join(methods.offered(space))
        msg = f"the system '{found.run.method}' is for teaching and not offered here; known are {known}"
        raise MethodError(msg)


def _check_schema(space: Workspace, schema: Schema) -> None:
    """Raises SchemaError where a schema describes something else than what is loaded."""
    if space.linked is None:
        files.check(space, schema.alone("one table is loaded; load those tables on the Data page"))
    elif isinstance(schema, LinkedSchema):
        space.linked.check(schema)
    else:
        msg = f"the settings are of one table, and {len(space.parts)} linked ones are loaded; load it on the Data page"
        raise SchemaError(msg)


def _said(space: Workspace, found: RunSettings) -> str:
    run, schema = found.run, found.schema
    name = literal(run.dataset or schema.ledger_name)
    described = [one.columns for one in schema.tables if one.columns is not None] if schema.links else [schema]
    counts = {"columns": sum(len(one.attributes) for one in described), "questions": len(_questions(found))}
    values = {name: number(count) for name, count in counts.items()}
    values |= {"epsilon": amount(run.epsilon), "delta": amount(run.delta), "method": run.method}
    ledger = "" if space.sample else " " + t("settings_file.ledger", name=name)
    return t("settings_file.taken", **values) + ledger


def _questions(found: RunSettings) -> Questions:
    """The questions of a file."""
    return Questions.of(found.run.questions or [])


def take_pending(space: Workspace) -> None:
    """Puts back what was uploaded in the run before; stands above all fields, which can be filled only before that."""
    found: RunSettings | None = st.session_state.pop(PENDING, None)
    if found is None:
        return
    restore(space, found)
    choices, unit = space.choices, found.schema.unit
    filled: dict[str, object] = {name: getattr(choices, name) for name in methods.FIELDS}
    filled |= {budget.EPSILON: plain(choices.epsilon), budget.DELTA: plain(choices.delta)}
    filled[budget.SLIDER] = budget.nearest(choices.epsilon)
    if space.linked is None:  # fields of linked tables are drawn anew with their schema
        filled |= {NEIGHBOURS: unit.neighbours, THETA: unit.max_records}
    st.session_state.update(filled)


def restore(space: Workspace, found: RunSettings) -> None:
    """Makes a file's settings, which `check` let pass, the visitor's own."""
    run, choices = found.run, space.choices
    _take_schema(space, found.schema, run.dataset)
    choices.epsilon, choices.delta, choices.valid = run.epsilon, run.delta, True
    choices.n_records, choices.questions_share = run.n_records, run.questions_share
    choices.seed = choices.seed if run.seed is None else run.seed
    choices.chosen_on = run.chosen_on
    methods.take(space, run.method, dict(run.settings))
    asked = _questions(found)
    space.asked[space.serial] = []
    kept.add(space, (*asked.questions, *asked.across))


def _take_schema(space: Workspace, schema: Schema, dataset: str | None) -> None:
    """The schema becomes that of the editor, which can take the step back; the table gets its name on the ledger."""
    if space.linked is not None and isinstance(schema, LinkedSchema):
        space.linked.adopt(tried.taken_linked(space.linked, schema.booked_as(dataset or schema.ledger_name)))
        return
    if space.dataset is not None and not space.dataset.sample:
        space.dataset.ledger = dataset or schema.ledger_name  # by which a look is found too
    editor.take(space, tried.taken(space, schema))
    editor.sync(space)
