"""Projects: schema, settings and finished runs in one file that can be opened again; no private record unless asked.

A project is a zip of JSON and of released tables. It is opened as what it is, a file from outside: its entries are
those listed here, of limited size, its tables are read in a child process, and its documents hold values alone, each
within bounds. No word of them names a file, here or in the folder of a run.

A file that is saved without the private table holds: the names that the owner gave (of files, of the dataset on the
ledger, of runs), settings, the schema where nothing in it was read from the data, and the files of private runs. A run
names its table by HMAC-SHA-256 of the table's keyed digest under a salt drawn for that run. The server and the visitor
that made the run recognise the table by it; nobody else can, nor tell whether two runs came from the same content.
Entries carry no time, because the time at which a run's files were written tells how long it worked on the data.
"""

import io
import json
import re
import secrets
import zipfile
from typing import Any, get_args

import streamlit as st
from pydantic import BaseModel

from dpsyn_core.errors import DPSynError, InputError
from dpsyn_core.outside import below, file_word
from dpsyn_core.privacy import Look, UsedTable
from dpsyn_core.runs import MANIFEST, PUBLIC, RELEASE, SCHEMA, FinishedRun
from dpsyn_core.schema import LinkedSchema, Schema, TableSchema
from dpsyn_core.systems import registry
from ui.data import loading
from ui.data.project_files import (
    PROJECT,
    TABLE,
    TABLES,
    Project,
    RunNote,
    document_of,
    entries_of,
    parquet,
    released,
    run_of,
)
from ui.linked import limits
from ui.linked import loading as trees
from ui.questions import kept as questions
from ui.schema import tried
from ui.shared import results, uploads
from ui.shared.downloads import download
from ui.shared.jobs import KEPT, Job, salted
from ui.shared.state import Dataset, Workspace, jobs
from ui.shared.text import literal, number, sentence, t
from ui.shared.theme import note
from ui.synthesize import methods

TAKEN = "project_taken"
CHOSEN = ("epsilon", "delta", "method", "n_records", "seed", "questions_share", "chosen_on")  # on pages, as they stand


def panel(space: Workspace) -> None:
    """Saving and opening, folded away."""
    if not space.parts:
        return
    with st.expander(t("project.title"), key="project_expander"):
        note(t("project.lead"))
        offers = not space.sample and not space.choices.safe
        whole = offers and st.checkbox(t("project.with_table"), key="project_whole")
        if whole:
            note(t("project.with_table_note"), "alarm")
        name = f"{'PRIVATE-' if whole else ''}{file_word(space.ledger, 'project')}.dpsyn.zip"
        download(t("project.save"), name, lambda: save(space, whole=whole), key="project_save")
        got = uploads.one(t("project.open"), ["zip"], key="project_open")
        if got is not None and st.session_state.get(TAKEN) != got.file_id:
            try:
                with st.spinner(t("data.reading")):
                    space.memo[TAKEN] = open_project(space, got.getvalue())
                    st.session_state[TAKEN] = got.file_id  # where a press ends this run of the page, the next one opens
            except DPSynError as error:
                st.session_state[TAKEN] = got.file_id
                st.error(literal(sentence(error)))
            else:
                st.rerun()
        if TAKEN in space.memo:
            note(space.memo[TAKEN])


def save(space: Workspace, *, whole: bool = False) -> bytes:
    """The project as a zip.

    Without `whole` it holds what may be published: the schema where nothing in it was read from the data, and runs with
    a guarantee. With it everything, the private table included.
    """
    choices, linked = space.choices, space.linked
    if not space.parts:
        msg = "no table is loaded; load one on the Data page"
        raise InputError(msg)
    kept = [j for j in jobs().of(space.owner) if j.state == "done" and (whole or results.manifest(space, j)["private"])]
    vouched = any(p.dataset is not None and p.dataset.query_vouched for p in space.parts.values())
    project = Project(
        dataset=_line(space.name),
        ledger=_line(space.ledger),
        settings=json.loads(json.dumps(choices.settings, default=_plain)),
        query_vouched=whole and vouched,
        looks=tuple(what for what in get_args(Look) if whole and tried.seen(_marks(space), what)),
        linked=() if linked is None or not whole else tuple(space.parts),
        panel=linked is not None and linked.panel is not None,
        runs=tuple(_noted(space, j, whole=whole) for j in kept),
        **{chosen: getattr(choices, chosen) for chosen in CHOSEN},
    )
    entries = {PROJECT: project.model_dump_json(indent=1).encode()}
    schema = space.kept_schema
    if schema is not None and (whole or schema.private):
        entries[SCHEMA] = questions.in_schema(space, schema).dumps().encode()
    for i, job in enumerate(kept):
        tables = [place.name for place in results.places(space, job).values()]
        refit = job.spec.release is not None and below(job.folder, job.spec.release).exists()
        brings = [*released(tables, job.spec), *([RELEASE] if refit else [])]
        entries |= {f"runs/{i}/{name}": (job.folder / name).read_bytes() for name in brings}
    for place, part in zip([TABLE] if linked is None else TABLES, space.parts.values(), strict=False):
        if whole and part.dataset is not None and part.dataset.whole is not None:
            entries[place] = parquet(part.dataset.whole)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, raw in entries.items():
            archive.writestr(zipfile.ZipInfo(name), raw, zipfile.ZIP_DEFLATED)  # dated 1980, whenever it was written
    return out.getvalue()


def _marks(space: Workspace) -> tuple[str, ...]:
    """The keys under which exact answers about what is loaded are remembered; none for samples."""
    return tried.names(space) if space.linked is None else limits.keys(space.linked)


def _noted(space: Workspace, job: Job, *, whole: bool) -> RunNote:
    """The note of a run. A run that came from a project keeps its mark; the others get one under a fresh salt."""
    serial, salt = str(job.public.get("serial", "")), str(job.public.get("salt", ""))
    if serial and not salt:
        salt = secrets.token_hex(16)
        serial = salted(serial, salt)
    own = whole and results.same_table(space, job)
    spec = FinishedRun.of(job.spec)
    return RunNote(spec=spec, label=_line(job.label), created=job.created, salt=salt, table=serial, own=own)


def _line(text: str) -> str:
    """As much of a name as a project holds."""
    return "".join(c if c.isprintable() else " " for c in text)[:200]


def _plain(value: Any) -> Any:
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else str(value)


def open_project(space: Workspace, raw: bytes) -> str:
    """Takes a project over into the workspace, and says what was opened. Raises DPSynError; nothing is taken then."""
    entries = entries_of(raw)
    project = document_of(entries.get(PROJECT, b""))
    schema = Schema.loads(entries[SCHEMA].decode("utf-8", "replace")) if SCHEMA in entries else None
    runs = [run_of(entries, i, run) for i, run in enumerate(project.runs[:KEPT])]
    places = dict(zip(project.linked, TABLES, strict=False)) or {project.dataset: TABLE}
    tables = {n: loading.uploaded_table(p, entries[p]) for n, p in places.items() if p in entries}
    if project.linked and len(tables) < len(places):
        lacking = next(n for n in places if n not in tables)
        msg = f"the project lacks the table '{lacking[:80]}' that it names; save the project again"
        raise InputError(msg)
    if tables:
        vouched = project.query_vouched or any(run.own and run.spec.query_vouched for run, _ in runs)
        brought = {n: Dataset(n, project.ledger, table, query_vouched=vouched) for n, table in tables.items()}
        _place(space, project, brought, schema)
        for what in project.looks:
            tried.see(_marks(space), what)
        _take(space, schema, unless_changed=True)
    else:
        _take(space, schema)
    here = {run for _, run in _finished(space)}
    for run, files in runs:
        if _run_of(files[MANIFEST]) in here:
            continue  # it is still here
        public = {"serial": run.table, "salt": run.salt, "dataset": project.dataset}
        if run.own and tables:
            public |= {"serial": space.serial, "salt": ""}
        made_with = Schema.loads(files[SCHEMA].decode("utf-8", "replace"))
        spec = run.spec.job(public_table=None).model_copy(update=_public_table(files[MANIFEST]))
        mark = results.fingerprint(made_with, spec)
        jobs().adopt(space.owner, spec, files, label=run.label, fingerprint=mark, public=public)
    for chosen in CHOSEN:
        setattr(space.choices, chosen, getattr(project, chosen))
    space.choices.settings, left_out = _fitting(project.settings)
    methods.forget_fields()
    said = t("project.opened", runs=number(len(runs)), name=project.dataset)
    said += " " + t("project.left_out", names=", ".join(left_out)) if left_out else ""
    opened = {_run_of(files[MANIFEST]) for _, files in runs}
    known = any(results.same_table(space, job) for job, run in _finished(space) if run in opened)
    return said if tables or known else f"{said} {t('project.needs_table', name=project.dataset)}"


def _place(space: Workspace, project: Project, brought: dict[str, Dataset], schema: Schema | None) -> None:
    """Puts the private tables of a project on the workspace, with its schema. Raises DPSynError."""
    if project.linked:
        linked = trees.brought(space, project.dataset, brought, schema, panel=project.panel)
        trees.place(space, linked)
        return
    if isinstance(schema, LinkedSchema):
        msg = "the project holds one table and a schema of several; save the project again"
        raise InputError(msg)
    loading.place(space, brought[project.dataset], schema)


def _take(space: Workspace, schema: Schema | None, *, unless_changed: bool = False) -> None:
    """Takes over the schema of a project where it is about what is loaded, its rules marked as declared now.

    unless_changed: not where the tables were here before, with a schema that stands again.
    """
    linked = space.linked
    if isinstance(schema, LinkedSchema):
        if linked is None:
            return
        try:
            linked.check(schema)
        except DPSynError:  # it is about other tables
            return
        if not unless_changed or linked.declared() == schema:
            linked.adopt(tried.taken_linked(linked, schema))
    elif isinstance(schema, TableSchema) and linked is None:
        data = space.dataset
        if data is not None and _fits(data, schema) and (not unless_changed or space.schema == schema):
            space.schema = tried.taken(space, schema)


def _fitting(settings: dict[str, dict[str, Any]]) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """The settings that systems take, by system, and the systems whose settings are left out."""
    kept = {}
    for method, chosen in settings.items():
        try:
            registry.configure(method, chosen)
        except DPSynError:
            continue
        kept[method] = chosen
    return kept, sorted(set(settings) - set(kept))


def _public_table(manifest: bytes) -> dict[str, Any]:
    """The fields of a job on the public table that its manifest names; the table is not in the project."""
    used = json.loads(manifest).get("public_table") or {}
    if used.get("candidates"):
        return {"chosen_on": UsedTable.model_validate(used)}
    return {"public_table": used["name"]} if re.fullmatch(PUBLIC, used.get("name", "")) else {}


def _run_of(manifest: bytes) -> tuple[Any, Any]:
    """What tells the manifests of two runs apart: the entry of the ledger, and the content of the table."""
    document = json.loads(manifest)
    return document["run_id"], (document.get("digests") or {}).get("content")


def _finished(space: Workspace) -> list[tuple[Job, tuple[Any, ...]]]:
    """The visitor's finished runs, each with what tells it apart."""
    done = [job for job in jobs().of(space.owner) if job.state == "done"]
    return [(job, _run_of((job.folder / MANIFEST).read_bytes())) for job in done]


def _fits(dataset: Dataset, schema: Schema) -> bool:
    """Whether the loaded table has the columns of a schema."""
    if dataset.table is None:
        return False
    return {a.name for a in schema.attributes if a.coded} <= set(dataset.table.column_names)
