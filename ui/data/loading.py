"""Loading: from a sample, an upload, a path or a database to a dataset and a schema to start from."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpsyn_core.privacy import dataset_name
from dpsyn_core.runs import OLD, ReadSpec
from dpsyn_core.schema import Schema
from dpsyn_core.tables import AS_FOUND, Batches, ReadForm
from ui.data.databases import fetch, named
from ui.data.places import allowed, within
from ui.data.reading import Tell, limits, readers
from ui.shared.jobs import hashed
from ui.shared.state import Dataset, Workspace, jobs
from ui.shared.text import t
from ui.shared.visitors import marked
from ui.synthesize import methods

if TYPE_CHECKING:
    import pyarrow as pa

EARLIER = 20  # tables of a visitor whose schemas are kept while another one is loaded
LARGEST = 1 << 30  # bytes of a file that is read into the app's memory by its path
MOST_CELLS = 50_000_000  # of a Parquet file that is
PREVIEWED = 8  # records
LOOKED = 8_000_000  # cells of a larger table that the pages show


def sample(space: Workspace, name: str = "sample") -> None:
    """Loads a bundled simulated table, the census at first; its ledger is the visitor's own, for it protects nobody."""
    table, schema = bundled(name)
    shown = t("data.sample_name") if name == "sample" else f"{name}.csv"
    place(space, Dataset(shown, f"{name}-{hashed(space.owner)[:6]}", table, sample=True), schema)


@st.cache_resource(show_spinner=False)
def bundled(name: str) -> tuple[pa.Table, Schema]:
    """A bundled table: simulated, so it may be shared by all visitors; neither part can be changed in place."""
    import pyarrow as pa
    import pyarrow.csv as pacsv

    from dpsyn_core.data import paths

    path, document = paths(name)
    schema = Schema.load(document)
    texts = dict.fromkeys((a.name for a in schema.attributes), pa.string())
    # our own file, known to be whole: the strict reader would load a compiler first, which delays the first page
    options = pacsv.ConvertOptions(column_types=texts, strings_can_be_null=False)
    return pacsv.read_csv(path, convert_options=options), schema


def place(space: Workspace, dataset: Dataset, schema: Schema | None) -> None:
    """Puts a dataset on the workspace and forgets what belonged to the one before.

    A table that this visitor had before is known by its content: its schema, its name on the ledger and its runs are
    found again, also after a restart of the server.
    """
    chosen = schema if schema is not None else draft(dataset)  # may refuse the table, before anything has changed
    _put_aside(space)
    dataset.serial = recognised(dataset, space.owner)
    before = None if dataset.sample else _earlier(space, dataset)
    if before is not None:
        chosen, dataset.ledger = before
        dataset.returned = True
    space.dataset, space.schema = dataset, chosen
    methods.put_linked(space, None)
    space.memo.clear()
    for key in [k for k in st.session_state if str(k).startswith(("schema_", "neighbours", "theta", "about_n", "who"))]:
        del st.session_state[key]


def recognised(dataset: Dataset, owner: str) -> str:
    """A digest of the table's content under the server's key, which names the table for this visitor alone."""
    import pyarrow as pa

    if dataset.table is None:
        return dataset.serial
    if dataset.place is not None:
        return marked(owner.encode() + _files(Path(dataset.place)) + _declared(dataset.form))[:24]
    content = hashlib.sha256(f"{dataset.table.num_rows}".encode())
    for name, column in zip(dataset.table.column_names, dataset.table.columns, strict=True):
        # one chunk, so that the same cells give the same bytes however a reader cut them
        whole = pa.table([column], names=[name]).combine_chunks()
        with pa.ipc.new_stream(pa.PythonFile(_Digest(content), mode="w"), whole.schema) as stream:
            stream.write_table(whole)
    return marked(owner.encode() + content.digest())[:24]


def _declared(form: ReadForm) -> bytes:
    """What was declared of a large table; the first four fields always, for the marks of runs that are kept."""
    said = {name: getattr(form, name) for name in OLD} | form.model_dump(exclude_defaults=True)
    return repr(sorted(said.items())).encode()


def _files(path: Path) -> bytes:
    """A digest of where a large table lies, and of the sizes and times of its files: its content is not read for it."""
    from dpsyn_core.tables import files_at

    with within():
        found = [(str(f), f.stat().st_size, f.stat().st_mtime_ns) for f in files_at(path)[0]]
    return hashlib.sha256(repr((str(path), found)).encode()).digest()


class _Digest:
    """A file that keeps nothing of what is written but its digest."""

    closed = False

    def __init__(self, digest: hashlib._Hash) -> None:
        self._digest = digest

    def write(self, data: bytes) -> int:
        """Takes bytes in."""
        self._digest.update(data)
        return len(data)

    def flush(self) -> None:
        """Nothing is held back."""

    def close(self) -> None:
        """Nothing to close."""


def _put_aside(space: Workspace) -> None:
    """Keeps the schema of the table that leaves, under the table's own mark."""
    if space.dataset is not None and space.schema is not None and not space.dataset.sample:
        space.earlier.pop(space.dataset.serial, None)
        space.earlier[space.dataset.serial] = (space.schema, space.dataset.ledger)
        while len(space.earlier) > EARLIER:
            del space.earlier[next(iter(space.earlier))]


def _earlier(space: Workspace, dataset: Dataset) -> tuple[Schema, str] | None:
    """Schema and ledger name with which this table was here before: of this server's life, else of its newest run."""
    from dpsyn_core.runs import SCHEMA

    if dataset.serial in space.earlier:
        return space.earlier[dataset.serial]
    for job in jobs().of(space.owner):
        if job.made_from(dataset.serial):
            schema = Schema.load(job.folder / SCHEMA)
            return schema, job.spec.dataset or schema.ledger_name
    return None


def afresh(space: Workspace) -> None:
    """Drafts the schema of the loaded table anew, as if it had never been here; runs and ledger stay."""
    if space.dataset is not None:
        space.schema = draft(space.dataset)
        st.session_state.pop(f"who_{space.dataset.serial}", None)
        space.dataset.returned = False
        space.memo.clear()


def draft(dataset: Dataset) -> Schema | None:
    """A schema read from the data, hence NOT PRIVATE until a person confirms each entry as public."""
    from dpsyn_core.schema import drafted

    return None if dataset.table is None else drafted(dataset.table, dataset.ledger)[0]


def uploaded_table(name: str, raw: bytes) -> pa.Table:
    """The table of an upload, read in a child process; nothing on the workspace changes. Raises DPSynError."""
    return readers().read(ReadSpec(name=name, drafted=False, **limits()), raw, lambda _: None)[0].whole()


def upload(space: Workspace, name: str, raw: bytes, form: ReadForm = AS_FOUND, *, tell: Tell = lambda _: None) -> None:
    """Reads the bytes of an upload in a child process. Raises DPSynError."""
    reading, drafted = readers().read(ReadSpec(name=name, form=form, **limits()), raw, tell)
    place(space, _dataset(name, reading, raw=raw), drafted)


def by_path(space: Workspace, text: str, form: ReadForm = AS_FOUND, *, tell: Tell = lambda _: None) -> None:
    """Reads what lies on this machine in a child process: a file, or in part where it is too large to hold.

    Raises TableError when it is not allowed, missing or no table.
    """
    path = allowed(text)
    with within():
        most = LOOKED if is_large(path) else None
    spec = ReadSpec(name=path.name, path=str(path.absolute()), most_cells=most, form=form, **limits())
    reading, drafted = readers().read(spec, None, tell)
    dataset = _dataset(path.name, reading, path=text)
    if reading.drawn_from is not None:
        dataset.place, dataset.records, dataset.form = str(path.absolute()), reading.drawn_from, form
    place(space, dataset, drafted)


def is_large(path: Path) -> bool:
    """Whether pages hold a part of a table only: of folders, patterns, and files with very many cells."""
    from dpsyn_core.tables import PATTERN, cells_of

    if not path.is_file():
        return path.is_dir() or bool(PATTERN.search(str(path)))
    if path.stat().st_size > LARGEST:
        return True
    return path.suffix.lower() == ".parquet" and cells_of(path) > MOST_CELLS


def again(space: Workspace, dataset: Dataset, form: ReadForm, *, tell: Tell = lambda _: None) -> None:
    """Reads the loaded file anew, as a person corrected it. Raises DPSynError."""
    if dataset.raw is not None:
        upload(space, dataset.name, dataset.raw, form, tell=tell)
    elif dataset.path is not None:
        by_path(space, dataset.path, form, tell=tell)


def database(space: Workspace, kind: str, target: str, query: str, *, vouched: bool = False, **more: Any) -> None:
    """Reads a table or a query of a database in a child process; see `fetch`. Raises DPSynError."""
    reading, drafted = fetch(kind, target, query, vouched=vouched, **more)
    name = named(kind, query.strip())
    place(space, Dataset(name, dataset_name(name), reading.whole(), query_vouched=vouched), drafted)


def _dataset(name: str, reading: Batches, raw: bytes | None = None, path: str | None = None) -> Dataset:
    short = Path(name).name
    ending = Path(short).suffix[:10]  # which says what kind of file it is where its headers are declared
    shown = short if len(short) <= 80 else short[: 80 - len(ending)] + ending
    told: dict[str, Any] = {"notices": list(reading.notices), "odd": list(reading.odd), "read": reading, "raw": raw}
    return Dataset(shown, dataset_name(short), reading.whole(), path, **told)


def preview(space: Workspace, dataset: Dataset) -> pa.Table:
    """Some records in random order, so that position tells nothing; the same ones while the table stays."""
    import numpy as np

    from ui.shared.results import kept

    table = dataset.table
    if table is None or table.num_rows == 0:
        return table
    rng = np.random.default_rng()
    some = rng.choice(table.num_rows, min(PREVIEWED, table.num_rows), replace=False)
    return kept(space, ("preview", dataset.serial), lambda: table.take(some))
