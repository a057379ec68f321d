"""Reads one table in a child process, from an untrusted file or a database, and drafts a schema for it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from dpsyn_core.errors import DPSynError, SchemaError
from dpsyn_core.platforms import limit_resources
from dpsyn_core.runs.jobs.folder import DRAFT, UPLOAD, finish
from dpsyn_core.runs.jobs.places import of_worker
from dpsyn_core.runs.jobs.spec import ReadJob, ReadSpec
from dpsyn_core.tables import confine_process

if TYPE_CHECKING:
    from dpsyn_core.tables import Batches

READ_FAULT = "The file could not be read because of a fault in the program; save it as CSV and try again."


def read_when_asked() -> int:
    """Imports what reading needs, waits for one line with a `ReadJob` on the standard input, and reads its table.

    So the app keeps one ready. An input that ends without a line means that the app is gone. The job comes this way,
    and not by an argument or a file, because the address of a database may hold a password.

    Returns:
        The exit status.
    """
    from dpsyn_core.schema import drafted
    from dpsyn_core.tables import read_table

    drafted(read_table(b"a,b\n1,2\n3,4\n"), "loads all that reading needs")
    line = sys.stdin.readline().strip()
    if not line:
        return 0
    job = ReadJob.model_validate_json(line)
    folder, spec = job.folder, job.spec
    confine_process(of_worker())
    return finish(
        folder,
        lambda _: _read(folder, spec),
        lambda: (
            f"reading the {spec.source} takes more than {spec.memory_mb} MB of memory; give fewer columns or records"
        ),
        full="the table cannot be handed over",
        sheets=lambda: _sheets(folder, spec),
        sentence=READ_FAULT,
    )


def _read(folder: Path, spec: ReadSpec) -> None:
    """Reads, drafts a schema, hands both over."""
    from dpsyn_core.privacy import dataset_name
    from dpsyn_core.schema import drafted
    from dpsyn_core.tables import HERE, leave

    limit_resources(spec.memory_mb, spec.seconds)
    os.environ[HERE] = "1"  # this process is the one that may end
    table = _opened(folder, spec)
    if spec.drafted:
        try:
            schema, _ = drafted(table.whole(), dataset_name(spec.name))
        except SchemaError as error:
            row = 1 if table.header_hint is None else table.header_hint[0]
            if row == 1:  # the headers begin where they were looked for
                raise
            msg = (
                f"the first lines look like a title, and the headers may be in line {row}, blank ones not "
                "counted; say in which line they are"
            )
            raise SchemaError(msg) from error
        schema.dump(folder / DRAFT)
    leave(folder, table)


def _opened(folder: Path, spec: ReadSpec) -> Batches:
    """The table in memory; of a path that holds more than `most_cells`, some records, for looks at it."""
    from dpsyn_core.tables import open_table

    source = (folder / UPLOAD).read_bytes() if spec.path is None else spec.path
    batches = open_table(source, spec.form, name=spec.name, most=spec.most, seconds=spec.seconds)
    if spec.most_cells is None:
        return batches.holding(batches.whole())
    import numpy as np

    from dpsyn_core.tables import sampled

    return sampled(batches, max(1, spec.most_cells // max(1, len(batches.columns))), rng=np.random.default_rng())


def _sheets(folder: Path, spec: ReadSpec) -> tuple[str, ...]:
    """The sheets of a workbook of several, for the page to offer the others; none for any other file."""
    from dpsyn_core.tables import sheets, steady

    if spec.form.of_database or not spec.name.lower().endswith((".xlsx", ".ods")):
        return ()
    try:
        if spec.path is None:
            names = sheets((folder / UPLOAD).read_bytes())
        else:
            with steady(Path(spec.path)) as here:
                names = sheets(here.read_bytes())
    except (DPSynError, OSError):
        return ()  # the file itself is refused
    return names if len(names) > 1 else ()
