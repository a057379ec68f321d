"""Reads one table in a child process, from an untrusted file or a database, and drafts a schema for it."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from dpsyn_core.errors import DPSynError, OutputError, SizeError, TableError
from dpsyn_core.jobs.folder import DRAFT, UPLOAD, leave_fault, leave_refusal
from dpsyn_core.jobs.limits import limit_resources
from dpsyn_core.jobs.places import of_worker
from dpsyn_core.jobs.spec import QuerySpec, ReadJob, ReadSpec
from dpsyn_core.tables.confines import confine_process

if TYPE_CHECKING:
    from dpsyn_core.tables.reading import Reading

READ_FAULT = "The file could not be read because of a fault in the program; save it as CSV and try again."


def read_when_asked() -> int:
    """Imports what reading needs, waits for one line with a `ReadJob` on the standard input, and reads its table.

    So the app keeps one ready. An input that ends without a line means that the app is gone. The job comes this way,
    and not by an argument or a file, because the address of a database may hold a password.

    Returns:
        The exit status.
    """
    from dpsyn_core.schema.drafting import draft
    from dpsyn_core.tables.read import read_table

    draft(read_table(b"a,b\n1,2\n3,4\n"), "loads all that reading needs")
    line = sys.stdin.readline().strip()
    if not line:
        return 0
    job = ReadJob.model_validate_json(line)
    folder, spec = job.folder, job.spec
    confine_process(of_worker())
    sys.excepthook = partial(_fault, folder)
    try:
        _read(folder, spec)
    except MemoryError:
        what = "file" if spec.database is None else "database"
        msg = f"reading the {what} takes more than {spec.memory_mb} MB of memory; give fewer columns or records"
        return leave_refusal(folder, SizeError(msg))
    except DPSynError as error:
        return leave_refusal(folder, error, _sheets(folder, spec))
    except OSError as error:
        msg = f"the table cannot be handed over ({error.strerror}); free disk space or set DPSYN_HOME elsewhere"
        return leave_refusal(folder, OutputError(msg))
    return 0


def _fault(folder: Path, kind: type[BaseException], _: BaseException, trace: TracebackType | None) -> None:
    leave_fault(folder, kind, trace, sentence=READ_FAULT)


def _read(folder: Path, spec: ReadSpec) -> None:
    """Reads, drafts a schema, hands both over."""
    from dpsyn_core.privacy.names import dataset_name
    from dpsyn_core.schema.drafting import draft
    from dpsyn_core.tables.handover import leave

    limit_resources(spec.memory_mb, spec.seconds)
    reading = _from_file(folder, spec) if spec.database is None else _from_database(spec.database, spec.seconds)
    draft(reading.table, dataset_name(spec.name)).dump(folder / DRAFT)
    leave(folder, reading)


def _from_file(folder: Path, spec: ReadSpec) -> Reading:
    from dpsyn_core.tables.read import read

    if spec.path is not None and spec.most_cells is not None:
        return _some(spec.path, spec.most_cells, spec)
    source = (folder / UPLOAD).read_bytes() if spec.path is None else spec.path
    return read(
        source, name=spec.name, delimiter=spec.delimiter, encoding=spec.encoding, sheet=spec.sheet,
        multiline=spec.multiline, header_row=spec.header_row, header=spec.header,
    )  # fmt: skip


def _some(path: str, most_cells: int, spec: ReadSpec) -> Reading:
    """Records of a large table, drawn by chance, for looks at it; runs read all of it."""
    import numpy as np

    from dpsyn_core.tables.places import files_at, place_batches
    from dpsyn_core.tables.reading import Reading
    from dpsyn_core.tables.sampling import sampled
    from dpsyn_core.tables.text_batches import TextForm

    if spec.header_row != 1:
        msg = (
            f"the headers are said to stand in line {spec.header_row}, which is for files that are read whole; remove "
            "the lines above them from a table of this size"
        )
        raise TableError(msg)
    form = TextForm(
        delimiter=spec.delimiter, encoding=spec.encoding, multiline=spec.multiline, header=spec.header
    )  # fmt: skip
    batches = place_batches(path, form)
    most = max(1, most_cells // max(1, len(batches.columns)))
    found = sampled(batches, most, rng=np.random.default_rng())
    text = not files_at(path)[0][0].name.lower().endswith(".parquet")
    return Reading(
        table=found.table, kind="files" if text else "parquet", notices=batches.notices, odd=tuple(batches.odd),
        records=found.of, delimiter=spec.delimiter, encoding=spec.encoding, header=spec.header,
    )  # fmt: skip


def _sheets(folder: Path, spec: ReadSpec) -> tuple[str, ...]:
    """The sheets of a workbook of several, for the page to offer the others; none for any other file."""
    from dpsyn_core.tables.confines import steady
    from dpsyn_core.tables.excel import sheets

    if spec.database is not None or not spec.name.lower().endswith(".xlsx"):
        return ()
    try:
        if spec.path is None:
            found = sheets((folder / UPLOAD).read_bytes())
        else:
            with steady(Path(spec.path)) as here:
                found = sheets(here.read_bytes())
    except (DPSynError, OSError):
        return ()  # the file itself is refused
    return found if len(found) > 1 else ()


def _from_database(spec: QuerySpec, seconds: int) -> Reading:
    from dpsyn_core.tables.databases import Database, read_database
    from dpsyn_core.tables.reading import Reading

    base = Database(system=spec.system, place=spec.place)
    table = read_database(
        base, table=spec.table, query=spec.query, vouched=spec.vouched, most=spec.most, seconds=seconds
    )  # fmt: skip
    return Reading(table=table, kind=spec.system)
