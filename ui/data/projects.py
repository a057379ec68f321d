"""Projects: schema, settings and finished runs in one file that can be opened again; no private record unless asked.

A project is a zip of JSON and of released tables. It is opened as what it is, a file from outside: its entries are
those listed here, of limited size, its tables are read in a child process, and its documents hold values alone, each
within bounds. No word of them names a file, here or in the folder of a run.

A file that is saved without the private table holds: the names that the owner gave (of the file, of the dataset on the
ledger, of runs), settings, the schema where nothing in it was read from the data, and the files of private runs. A run
names its table by HMAC-SHA-256 of the table's keyed digest under a salt drawn for that run. The server and the visitor
that made the run recognise the table by it; nobody else can, nor tell whether two runs came from the same content.
Entries carry no time, because the time at which a run's files were written tells how long it worked on the data.
"""

from __future__ import annotations

import hashlib
import io
import json
import lzma
import re
import secrets
import zipfile
import zlib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, get_args

import streamlit as st
from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from dpsyn_core.errors import DPSynError, InputError
from dpsyn_core.files import fields_once, unfit_text
from dpsyn_core.outside import below, file_word
from dpsyn_core.privacy import MOST as MOST_EPSILON
from dpsyn_core.privacy import Look, Manifest, UsedTable, remember, remembered
from dpsyn_core.runs import (
    MANIFEST,
    MEASUREMENTS,
    MOST_BYTES,
    PUBLIC,
    RELEASE,
    SCHEMA,
    SYNTHETIC,
    FinishedRun,
    Line,
    Word,
    load_release,
)
from dpsyn_core.schema import Schema, TableSchema
from dpsyn_core.systems import registry
from ui.data import loading
from ui.questions import kept as questions
from ui.schema import tried
from ui.shared import results, uploads
from ui.shared.jobs import KEPT, Job, salted
from ui.shared.state import Dataset, Workspace, jobs
from ui.shared.text import literal, number, sentence, t
from ui.shared.theme import note
from ui.synthesize import methods

PROJECT, TABLE = "project.json", "table.parquet"
MOST = 500 << 20  # bytes of all entries together, unpacked
TAKEN = "project_taken"
PAID = ("run_id", "epsilon", "delta", "schema_hash", "charges")  # which a refit repeats of its run
RELEASED = (SYNTHETIC, MANIFEST, MEASUREMENTS, SCHEMA)
DOCUMENT = 64 << 20  # bytes of the project's own document, and of a schema
LARGEST = {PROJECT: DOCUMENT, SCHEMA: DOCUMENT, MANIFEST: MOST_BYTES[MANIFEST]}  # of an entry; of others what all have
DAMAGED = (zlib.error, lzma.LZMAError, UnicodeDecodeError)  # what a packed entry, or a name, raises that is none
RECORDS, SEED = 50_000_000, 2**31 - 1  # the largest that the fields of Synthesize take


class RunNote(BaseModel):
    """A finished run: what it was asked, what it is called, when it was made."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    spec: FinishedRun
    label: Line
    created: float = Field(ge=0, le=1e12)
    salt: str = Field("", pattern="^([0-9a-f]{2}){0,32}$", description="Drawn for this run; version 1 has none")
    table: str = Field("", pattern="^[0-9a-z ]{0,64}$", description="The table's name on its server, under the salt")
    own: bool = Field(False, description="Made from the private table in the file; said only where there is one")
    fingerprint: str = Field(default="", max_length=64, exclude=True, description="Of version 1; nothing reads it")


class Project(BaseModel):
    """The document of a project."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    version: Literal[1, 2, 3] = 3
    dataset: Line
    ledger: Line
    epsilon: float = Field(1.0, gt=0, le=MOST_EPSILON)
    delta: float = Field(1e-9, ge=0, lt=1)
    method: Word | Literal[""] = ""
    settings: dict[Word, dict[Line, JsonValue]] = Field(default_factory=dict)
    n_records: int | None = Field(None, ge=1, le=RECORDS)
    questions_share: float | None = Field(None, ge=0, le=1)
    seed: int = Field(1, ge=0, le=SEED)
    chosen_on: UsedTable | None = Field(None, description="The public table that chose method and settings")
    query_vouched: bool = Field(False, description="Of the private table in the file: that its query is vouched for")
    looks: tuple[Look, ...] = Field((), description="Of that table: which exact answers about it were shown")
    runs: tuple[RunNote, ...] = Field((), max_length=KEPT)


def panel(space: Workspace) -> None:
    """Saving and opening, folded away."""
    if space.dataset is None:
        return
    with st.expander(t("project.title"), key="project_expander"):
        if space.linked is not None:
            note(t("project.linked"))
            return
        note(t("project.lead"))
        whole = False
        if not space.dataset.sample and not space.choices.safe:
            whole = st.checkbox(t("project.with_table"), key="project_whole")
            if whole:
                note(t("project.with_table_note"), "alarm")
        st.download_button(
            t("project.save"), data=lambda: save(space, whole=whole),
            file_name=f"{'PRIVATE-' if whole else ''}{file_word(space.dataset.ledger, 'project')}.dpsyn.zip",
            mime="application/zip",
            on_click="ignore", key="project_save",
        )  # fmt: skip
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
    data, choices = space.dataset, space.choices
    if data is None:
        msg = "no table is loaded; load one on the Data page"
        raise InputError(msg)
    done = (j for j in jobs().of(space.owner) if j.state == "done" and not j.spec.linked)
    kept = [j for j in done if whole or _private(space, j)]
    project = Project(
        dataset=_line(data.name), ledger=_line(data.ledger), epsilon=choices.epsilon, delta=choices.delta,
        method=choices.method,
        settings=json.loads(json.dumps(choices.settings, default=_plain)), n_records=choices.n_records,
        seed=choices.seed, questions_share=choices.questions_share, chosen_on=choices.chosen_on,
        query_vouched=whole and data.query_vouched,
        looks=tuple(what for what in get_args(Look) if whole and _shown(space, what)),
        runs=tuple(_noted(space, j, whole=whole) for j in kept),
    )  # fmt: skip
    entries = {PROJECT: project.model_dump_json(indent=1).encode()}
    schema = space.kept_schema
    if schema is not None and (whole or schema.private):
        entries[SCHEMA] = questions.in_schema(space, schema).dumps().encode()
    for i, job in enumerate(kept):
        brings = [*RELEASED, RELEASE] if _brings_release(job) else RELEASED
        entries |= {f"runs/{i}/{name}": (job.folder / name).read_bytes() for name in brings}
    if whole and data.whole is not None:
        entries[TABLE] = _parquet(data.whole)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, raw in entries.items():
            archive.writestr(zipfile.ZipInfo(name), raw, zipfile.ZIP_DEFLATED)  # dated 1980, whenever it was written
    return out.getvalue()


def _shown(space: Workspace, what: Look) -> bool:
    """Whether such an answer about the table was shown to this visitor."""
    return any(remembered(key, what) for key in tried.names(space))


def _noted(space: Workspace, job: Job, *, whole: bool) -> RunNote:
    """The note of a run. A run that came from a project keeps its mark; the others get one under a fresh salt."""
    serial, salt = str(job.public.get("serial", "")), str(job.public.get("salt", ""))
    if serial and not salt:
        salt = secrets.token_hex(16)
        serial = salted(serial, salt)
    own = whole and results.same_table(space, job)
    spec = FinishedRun.of(job.spec)
    return RunNote(spec=spec, label=_line(job.label), created=job.created, salt=salt, table=serial, own=own)


def _brings_release(job: Job) -> bool:
    """Whether it is a refit whose release lies in its folder."""
    return job.spec.release is not None and below(job.folder, job.spec.release).exists()


def _line(text: str) -> str:
    """As much of a name as a project holds."""
    return "".join(c if c.isprintable() else " " for c in text)[:200]


def _private(space: Workspace, job: Job) -> bool:
    return bool(results.manifest(space, job)["private"])


def _plain(value: Any) -> Any:
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else str(value)


def _parquet(table: Any) -> bytes:
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


def open_project(space: Workspace, raw: bytes) -> str:
    """Takes a project over into the workspace, and says what was opened. Raises DPSynError; nothing is taken then."""
    entries = _entries(raw)
    project = _document(entries.get(PROJECT, b""))
    schema = TableSchema.loads(entries[SCHEMA].decode("utf-8", "replace")) if SCHEMA in entries else None
    runs = [_run(entries, i, run) for i, run in enumerate(project.runs[:KEPT])]
    table = loading.uploaded_table(TABLE, entries[TABLE]) if TABLE in entries else None
    if table is not None:
        vouched = project.query_vouched or any(run.own and run.spec.query_vouched for run, _ in runs)
        loading.place(space, Dataset(project.dataset, project.ledger, table, query_vouched=vouched), schema)
        for what in project.looks:
            for key in tried.names(space):
                remember(key, what)
        if schema is not None and space.schema == schema:
            space.schema = tried.taken(space, schema)
    elif schema is not None and space.dataset is not None and _fits(space.dataset, schema):
        space.schema = tried.taken(space, schema)
    here = {_run_of((j.folder / MANIFEST).read_bytes()) for j in jobs().of(space.owner) if j.state == "done"}
    for run, files in runs:
        if _run_of(files[MANIFEST]) in here:
            continue  # it is still here
        public = {"serial": run.table, "salt": run.salt, "dataset": project.dataset}
        if run.own and table is not None and space.dataset is not None:
            public |= {"serial": space.dataset.serial, "salt": ""}
        made_with = TableSchema.loads(files[SCHEMA].decode("utf-8", "replace"))
        spec = run.spec.job(public_table=None).model_copy(update=_public_table(files[MANIFEST]))
        jobs().adopt(space.owner, spec, files, label=run.label,
                     fingerprint=results.fingerprint(made_with, spec), public=public)  # fmt: skip
    choices = space.choices
    choices.epsilon, choices.delta, choices.method = project.epsilon, project.delta, project.method
    choices.settings, left_out = _fitting(project.settings)
    choices.n_records, choices.seed = project.n_records, project.seed
    choices.questions_share, choices.chosen_on = project.questions_share, project.chosen_on
    methods.forget_fields()
    said = t("project.opened", runs=number(len(runs)), name=project.dataset)
    said += " " + t("project.left_out", names=", ".join(left_out)) if left_out else ""
    opened = {_run_of(files[MANIFEST]) for _, files in runs}
    mine = [
        j for j in jobs().of(space.owner) if j.state == "done" and _run_of((j.folder / MANIFEST).read_bytes()) in opened
    ]
    known = any(results.same_table(space, j) for j in mine)
    return said if table is not None or known else f"{said} {t('project.needs_table', name=project.dataset)}"


def _document(raw: bytes) -> Project:
    """The project's own document. Raises InputError."""
    why = ""
    try:
        document = json.loads(raw, object_pairs_hook=fields_once)
        unfit = unfit_text(document)
        if unfit is None:
            return Project.model_validate(document)
        why = f": it holds {unfit}"
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        why = f": {'.'.join(str(p)[:40] for p in first['loc'][:6])}: {first['msg']}"
    except (RecursionError, ValueError):  # no JSON, or a field that stands twice: the sentence below says enough
        pass
    msg = f"the file is no project of DPSyn Studio{why}; choose a file that 'Save the project' made"
    raise InputError(msg)


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


def _entries(raw: bytes) -> dict[str, bytes]:
    """What a project may hold, unpacked; anything else in the file is left alone. Raises InputError."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            wanted = {PROJECT, SCHEMA, TABLE} | {f"runs/{i}/{n}" for i in range(KEPT) for n in (*RELEASED, RELEASE)}
            listed = [i for i in archive.infolist() if i.filename in wanted]
            for entry in listed:
                if entry.file_size > LARGEST.get(entry.filename.rpartition("/")[2], entry.file_size):
                    msg = f"'{entry.filename}' of the project has {entry.file_size >> 20} MB, more than a project holds"
                    raise InputError(msg)
            if sum(i.file_size for i in listed) > MOST:
                msg = f"the project unpacks to more than {MOST >> 20} MB; open its files one by one"
                raise InputError(msg)
            return {i.filename: archive.read(i) for i in listed}
    except (zipfile.BadZipFile, OSError, EOFError, NotImplementedError, RuntimeError, *DAMAGED) as error:
        msg = "the file is no project, or is damaged; choose a file that 'Save the project' made"
        raise InputError(msg) from error


def _run(entries: dict[str, bytes], i: int, run: RunNote) -> tuple[RunNote, dict[str, bytes]]:
    """The files of a run, each checked; its table is read in a child process and written anew."""
    from dpsyn_core.tables import gunzip

    found = {name: entries.get(f"runs/{i}/{name}") for name in RELEASED}
    files = {name: raw for name, raw in found.items() if raw is not None}
    if len(files) < len(RELEASED):
        lacking = next(n for n in RELEASED if n not in files)
        msg = f"run {i + 1} of the project lacks its {lacking}; save the project again"
        raise InputError(msg)
    schema = TableSchema.loads(files[SCHEMA].decode("utf-8", "replace"))
    _check_asked(i, run.spec, schema)
    with TemporaryDirectory() as folder:
        path = Path(folder) / MANIFEST
        path.write_bytes(files[MANIFEST])
        manifest = Manifest.load(path)
        if run.spec.refit and f"runs/{i}/{RELEASE}" in entries:
            files[RELEASE] = entries[f"runs/{i}/{RELEASE}"]
            (Path(folder) / RELEASE).write_bytes(files[RELEASE])
            paid = load_release(Path(folder) / RELEASE).manifest
            another = any(getattr(paid, name) != getattr(manifest, name) for name in PAID)
            if another or (manifest.private and not paid.private):
                msg = f"run {i + 1} of the project brings the release of another run; save the project again"
                raise InputError(msg)
    gunzip(memoryview(files[MEASUREMENTS]), MOST)
    table = loading.uploaded_table(SYNTHETIC, files[SYNTHETIC])
    files[SYNTHETIC] = _parquet(table)
    files[MANIFEST] = _stated(manifest, table, files[SYNTHETIC], files[MANIFEST])
    return run, files


def _check_asked(i: int, spec: FinishedRun, schema: Schema) -> None:
    """Refuses a run that no page can have asked for: its words go into scripts and pages. Raises InputError."""
    from dpsyn_core.runs import with_rules

    job = spec.job(public_table=None)
    try:
        for system in {job.method, job.maker or job.method}:
            registry.configure(system, job.settings if system == job.method else {})
        job.asked(schema)
        with_rules(schema, job.rules)
    except DPSynError as error:
        msg = f"run {i + 1} of the project was asked for what no run takes ({error}); save the project again"
        raise InputError(msg) from error


def _stated(manifest: Manifest, table: Any, written: bytes, text: bytes) -> bytes:
    """The manifest with the digest of the file that was written anew, where that holds its table and nothing is signed.

    Without it the file would be another one than the manifest's, although nothing but the table is in it.
    """
    from dpsyn_core.tables import content_digest

    of_it = manifest.digests is not None and manifest.digests.content == content_digest(table)
    if not of_it or manifest.signature is not None:
        return text
    return manifest.written_too({"parquet": hashlib.sha256(written).hexdigest()}).to_json().encode()


def _run_of(manifest: bytes) -> tuple[Any, Any]:
    """What tells the manifests of two runs apart: the entry of the ledger, and the content of the table."""
    document = json.loads(manifest)
    return document["run_id"], (document.get("digests") or {}).get("content")


def _fits(dataset: Dataset, schema: Schema) -> bool:
    """Whether the loaded table has the columns of a schema."""
    if dataset.table is None:
        return False
    have = set(dataset.table.column_names)
    return all(a.name in have for a in schema.attributes if a.coded)
