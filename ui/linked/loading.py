"""Loading linked tables: the bundled households, several uploads, one file with a person's rows, a schema file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import streamlit as st

from dpsyn_core.data import linked_paths
from dpsyn_core.errors import DPSynError, TableError
from dpsyn_core.privacy import dataset_name
from dpsyn_core.questions import Questions
from dpsyn_core.runs import SCHEMA, ReadSpec
from dpsyn_core.schema import LinkDraft, LinkedSchema, PanelDraft, Schema, guessed_links, with_keys
from dpsyn_core.tables import ReadForm
from ui.data.loading import draft, recognised
from ui.data.reading import SheetError, Tell, limits, readers
from ui.linked.limits import looked_before
from ui.shared.jobs import hashed
from ui.shared.state import Dataset, Linked, Workspace, jobs
from ui.shared.text import t
from ui.shared.visitors import marked
from ui.synthesize import methods

if TYPE_CHECKING:
    import pyarrow as pa

SAMPLE = "households"
MOST = 20  # tables of one linked run, as the schema allows
Known: TypeAlias = dict[tuple[bytes, str | None], tuple[Any, Any]]  # reading and drafted schema, by file and sheet
ENDINGS = re.compile(r"\.(csv|tsv|txt|parquet|xlsx|z?sav|dta|sas7bdat|xpt)(\.gz)?$", re.IGNORECASE)


def sample(space: Workspace) -> None:
    """Loads the simulated households and persons; their ledger is the visitor's own, for they protect nobody."""
    tables, schema = _bundled()
    ledger = f"{SAMPLE}-{hashed(space.owner)[:6]}"
    parts = {n: _part(space, Dataset(n, ledger, table, sample=True), None) for n, table in tables.items()}
    linked = Linked(schema.name, ledger, parts, schema.root.name, sample=True)
    linked.adopt(schema)
    place(space, linked)


@cache
def _bundled() -> tuple[Mapping[str, pa.Table], LinkedSchema]:
    from dpsyn_core.tables import read_table

    tables, schema = linked_paths(SAMPLE)
    return {name: read_table(path) for name, path in tables.items()}, LinkedSchema.load(schema)


def place(space: Workspace, linked: Linked) -> None:
    """Puts linked tables on the workspace; tables with a run of this visitor get the schema of that run again."""
    linked.serial = _serial(space, linked)
    linked.book(linked.ledger)
    if not linked.sample:
        before = next((j for j in jobs().of(space.owner) if j.spec.linked and j.made_from(linked.serial)), None)
        if before is not None:
            linked.adopt(LinkedSchema.load(before.folder / SCHEMA))
            space.asked.setdefault(linked.serial, Questions.of(before.spec.questions or []).asked_across())
    if looked_before(linked):
        linked.seen = linked.structure()
    methods.put_linked(space, linked)
    space.memo.clear()
    for key in [k for k in st.session_state if str(k).startswith("linked_") and not str(k).startswith("linked_up")]:
        del st.session_state[key]


def brought(space: Workspace, name: str, given: Mapping[str, Dataset], schema: Schema | None, *, panel: bool) -> Linked:
    """Linked tables that a project brings, by name, as its schema describes them, else as headers let expect.

    Raises SchemaError where the schema is about other tables.
    """
    parts = {n: _part(space, dataset, draft(dataset)) for n, dataset in given.items()}
    only, first = next(iter(given.items()))
    if panel:
        linked = Linked(name, first.ledger, {only: parts[only]}, only, panel=PanelDraft())
    else:
        linked = _guessed(parts, name, first.ledger)
    linked.serial = _serial(space, linked)
    if isinstance(schema, LinkedSchema):
        linked.adopt(schema)
    return linked


def _serial(space: Workspace, linked: Linked) -> str:
    parts = sorted((n, p.dataset.serial) for n, p in linked.parts.items() if p.dataset is not None)
    return marked(repr((space.owner, linked.panel is not None, parts)).encode())[:24]


def _part(space: Workspace, dataset: Dataset, schema: Schema | None) -> Workspace:
    """A table as a workspace of its own, with the choices of the visitor."""
    dataset.serial = recognised(dataset, space.owner)
    return Workspace(space.owner, dataset=dataset, schema=schema, choices=space.choices, one_of_linked=True)


class Given(NamedTuple):
    """A file that was handed over, or one sheet of it."""

    file: str
    raw: bytes
    sheet: str | None = None


def sheets(given: Given, known: Known) -> tuple[str, ...]:
    """The names of a workbook's sheets, if it has several; a child process reads it. known: see `read`."""
    if not given.file.lower().endswith(".xlsx"):
        return ()
    try:
        reading, _ = _read(given, known, lambda _: None)
    except SheetError as error:
        return error.sheets
    except DPSynError:
        return ()  # what is wrong with it is said where it is read as a table
    known[given.raw, reading.form.sheet] = known[given.raw, None]
    return tuple(reading.sheets) if len(reading.sheets) > 1 else ()


def _read(given: Given, known: Known, tell: Tell) -> tuple[Any, Schema]:
    key = given.raw, given.sheet
    if key not in known:
        spec = ReadSpec(name=given.file, form=ReadForm(sheet=given.sheet), **limits())
        known[key] = readers().read(spec, given.raw, tell)
    return known[key]


def read(files: Sequence[Given], known: Known, *, tell: Tell = lambda _: None) -> list[tuple[str, Any, Schema]]:
    """Reads uploads in child processes: (name, reading, drafted schema). known: what was read before, by content.

    Raises DPSynError whose sentence names the file.
    """
    if len(files) > MOST:
        msg = f"{len(files)} files were given; at most {MOST} tables can be linked"
        raise TableError(msg)
    out = []
    for given in files:
        try:
            found = _read(given, known, tell)
        except DPSynError as error:
            where = given.sheet or given.file
            msg = str(error) if where in str(error) else f"'{where}': {error}"
            raise (TableError if isinstance(error, SheetError) else type(error))(msg) from error
        out.append((given.sheet or given.file, *found))
    return out


def tables(space: Workspace, found: Sequence[tuple[str, Any, Schema]]) -> None:
    """Several files become linked tables; keys and root are guessed from headers alone. Raises DPSynError."""
    parts: dict[str, Workspace] = {}
    for file, reading, drafted in found:
        dataset = _dataset(file, reading)
        if dataset.name in parts:
            msg = f"two files are named '{dataset.name}'; every table needs a name of its own, so rename one of them"
            raise TableError(msg)
        parts[dataset.name] = _part(space, dataset, drafted)
    linked = _guessed(parts)
    for name, part in parts.items():
        if part.schema is not None:
            part.schema = with_keys(part.schema, linked.keys_of(name))
    place(space, linked)


def panel(space: Workspace, found: tuple[str, Any, Schema]) -> None:
    """One file becomes persons and their rows, once their columns are chosen. Raises DPSynError."""
    file, reading, drafted = found
    dataset = _dataset(file, reading)
    name, part = dataset.name, _part(space, dataset, with_keys(drafted, ()))
    place(space, Linked(name, name, {name: part}, name, panel=PanelDraft()))


def _dataset(file: str, reading: Any) -> Dataset:
    """What was read from a file, as the table that is called after it."""
    plain = ENDINGS.sub("", Path(file).name).lstrip(".").replace("/", "-").replace("\\", "-")
    name = plain[:80] or t("linked.table")
    return Dataset(name, name, reading.whole(), notices=list(reading.notices), odd=list(reading.odd))


def _guessed(parts: dict[str, Workspace], name: str = "", ledger: str = "") -> Linked:
    """Tables with the links that their headers let expect; without a name they have that of their root."""
    tables = {n: p.dataset.table for n, p in parts.items() if p.dataset is not None}
    found = guessed_links({n: [] if table is None else table.column_names for n, table in tables.items()})
    links = {n: LinkDraft(parent, key) for n, (parent, key) in found.parents.items()}
    own, ordered = dataset_name(found.root), {found.root: parts[found.root]} | parts  # the root comes first everywhere
    return Linked(name or own, ledger or own, ordered, found.root, keys=found.keys, links=links)
