"""Project files: their documents and entries, each checked, for a project is a file from outside."""

import hashlib
import io
import json
import lzma
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter, ValidationError

from dpsyn_core.errors import DPSynError, InputError
from dpsyn_core.files import fields_once, unfit_text
from dpsyn_core.privacy import MOST as MOST_EPSILON
from dpsyn_core.privacy import Look, Manifest, UsedTable
from dpsyn_core.runs import (
    ANSWERS,
    MANIFEST,
    MEASUREMENTS,
    MOST_BYTES,
    PRINTED,
    RELEASE,
    SCHEMA,
    SYNTHETIC,
    FinishedRun,
    JobSpec,
    Line,
    Word,
    load_release,
    synthetic_places,
)
from dpsyn_core.schema import LinkedSchema, Schema
from dpsyn_core.systems import registry
from ui.data import loading
from ui.linked import loading as trees
from ui.shared.jobs import KEPT

PROJECT, TABLE = "project.json", "table.parquet"
MOST = 500 << 20  # bytes of all entries together, unpacked
PAID = ("run_id", "epsilon", "delta", "schema_hash", "charges")  # which a refit repeats of its run
BESIDE = (MANIFEST, MEASUREMENTS, SCHEMA)  # what every run has next to its tables
TABLES = tuple(f"table-{i}.parquet" for i in range(trees.MOST))  # the private linked ones, in the order of their names
EVERY = (*BESIDE, SYNTHETIC, ANSWERS, RELEASE, *(f"synthetic-{i}.parquet" for i in range(trees.MOST)))  # of a run
DOCUMENT = 64 << 20  # bytes of the project's own document, and of a schema
# of an entry; of others what all have
LARGEST = {PROJECT: DOCUMENT, SCHEMA: DOCUMENT, ANSWERS: DOCUMENT, MANIFEST: MOST_BYTES[MANIFEST]}
DAMAGED = (zlib.error, lzma.LZMAError, UnicodeDecodeError)  # what a packed entry, or a name, raises that is none
RECORDS, SEED = 50_000_000, 2**31 - 1  # the largest that the fields of Synthesize take
Text = Annotated[str, Field(max_length=10_000, pattern=PRINTED)]


class Checked(BaseModel):
    """A part of a document from outside: no field but those that are named, no number that is none."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class RunNote(Checked):
    """A finished run: what it was asked, what it is called, when it was made."""

    spec: FinishedRun
    label: Line
    created: float = Field(ge=0, le=1e12)
    salt: str = Field("", pattern="^([0-9a-f]{2}){0,32}$", description="Drawn for this run; version 1 has none")
    table: str = Field("", pattern="^[0-9a-z ]{0,64}$", description="The table's name on its server, under the salt")
    own: bool = Field(False, description="Made from the private table in the file; said only where there is one")
    fingerprint: str = Field(default="", max_length=64, exclude=True, description="Of version 1; nothing reads it")


class AnsweredFigure(Checked):
    """One figure of an answer about linked tables."""

    labels: dict[Text, Text]
    estimate: float | None
    low: float | None
    high: float | None
    synthetic: float | None


class AnsweredQuestion(Checked):
    """The answer of a run of linked tables to a question, as its file has it."""

    question: Text
    about: Text
    at_most: int | None = Field(ge=1)
    unit: Text
    confidence: float = Field(gt=0, lt=1)
    sentence: Text
    figures: tuple[AnsweredFigure, ...]


class Project(Checked):
    """The document of a project."""

    version: Literal[1, 2, 3, 4] = 4
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
    linked: tuple[Line, ...] = Field((), max_length=trees.MOST, description="Names of the linked tables in the file")
    panel: bool = Field(False, description="Whether the one of them holds the rows of a panel")
    runs: tuple[RunNote, ...] = Field((), max_length=KEPT)


def document_of(raw: bytes) -> Project:
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


def entries_of(raw: bytes) -> dict[str, bytes]:
    """What a project may hold, unpacked; anything else in the file is left alone. Raises InputError."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            wanted = {PROJECT, SCHEMA, TABLE, *TABLES} | {f"runs/{i}/{n}" for i in range(KEPT) for n in EVERY}
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


def run_of(entries: dict[str, bytes], i: int, run: RunNote) -> tuple[RunNote, dict[str, bytes]]:
    """The files of a run, each checked; its table is read in a child process and written anew."""
    from dpsyn_core.tables import gunzip

    def of_run(name: str) -> bytes:
        if f"runs/{i}/{name}" not in entries:
            msg = f"run {i + 1} of the project lacks its {name}; save the project again"
            raise InputError(msg)
        return entries[f"runs/{i}/{name}"]

    schema = Schema.loads(of_run(SCHEMA).decode("utf-8", "replace"))
    places = [place.name for place in synthetic_places(Path(), schema).values()] if schema.links else [SYNTHETIC]
    files = {name: of_run(name) for name in released(places, run.spec)}
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
    if ANSWERS in files:
        files[ANSWERS] = _answers(i, files[ANSWERS])
    tables = [loading.uploaded_table(name, files[name]) for name in places]
    files |= {name: parquet(table) for name, table in zip(places, tables, strict=True)}
    files[MANIFEST] = _stated(manifest, tables, [files[name] for name in places], files[MANIFEST])
    return run, files


def _answers(i: int, raw: bytes) -> bytes:
    """The answers of a run about linked tables, each field checked. Raises InputError."""
    form = TypeAdapter(list[AnsweredQuestion])
    try:
        return form.dump_json(form.validate_json(raw))
    except ValidationError as error:
        msg = f"the answers of run {i + 1} of the project are not those of a run; save the project again"
        raise InputError(msg) from error


def _check_asked(i: int, spec: FinishedRun, schema: Schema) -> None:
    """Refuses a run that no page can have asked for: its words go into scripts and pages. Raises InputError."""
    from dpsyn_core.runs import Changes, TreePlan, schema_of_refit, with_rules

    job = spec.job(public_table=None)
    try:
        if bool(spec.linked) != bool(schema.links):
            msg = "its schema describes one table, and several are named, or the other way round"
            raise InputError(msg)
        if isinstance(schema, LinkedSchema):
            TreePlan.of(job, schema)
            schema_of_refit(Changes(where=job.where, columns=job.columns, rules=job.rules), schema)
            return
        for system in {job.method, job.maker or job.method}:
            registry.configure(system, job.settings if system == job.method else {})
        job.asked(schema)
        with_rules(schema, job.rules)
    except DPSynError as error:
        msg = f"run {i + 1} of the project was asked for what no run takes ({error}); save the project again"
        raise InputError(msg) from error


def _stated(manifest: Manifest, tables: Sequence[Any], written: Sequence[bytes], text: bytes) -> bytes:
    """The manifest with digests of the files that were written anew, where they hold its tables and nothing is signed.

    Without them the files would be others than the manifest's, although nothing but its tables is in them.
    """
    from dpsyn_core.tables import content_digest

    known = manifest.digests
    each = () if known is None else known.tables or (known,)
    if known is None or manifest.signature is not None or [d.content for d in each] != [*map(content_digest, tables)]:
        return text
    files = [{**d.files, "parquet": hashlib.sha256(raw).hexdigest()} for d, raw in zip(each, written, strict=True)]
    several = tuple(d.model_copy(update={"files": f}) for d, f in zip(known.tables, files, strict=False))
    return manifest.written(known.model_copy(update={"files": files[0], "tables": several})).to_json().encode()


def released(tables: Iterable[str], spec: JobSpec | FinishedRun) -> tuple[str, ...]:
    """The files that a finished run leaves: its tables, what stands next to them, and answers about linked ones."""
    return (*tables, *BESIDE, *([ANSWERS] if spec.linked and spec.questions else []))


def parquet(table: Any) -> bytes:
    """A table as the bytes of a Parquet file."""
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()
