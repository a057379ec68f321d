"""Reads one table in a child process, from an untrusted file, and drafts a schema for it."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from types import TracebackType

from dpsyn_core.errors import DPSynError, OutputError, SizeError
from dpsyn_core.jobs.folder import ASK, DRAFT, UPLOAD, leave_fault, leave_refusal
from dpsyn_core.jobs.limits import limit_resources
from dpsyn_core.jobs.spec import ReadSpec

READ_FAULT = "The file could not be read because of a fault in the program; save it as CSV and try again."


def read_when_asked() -> int:
    """Imports what reading needs, waits for the name of a folder on the standard input, and reads its table.

    So the app keeps one ready. An input that ends without a name means that the app is gone.

    Returns:
        The exit status.
    """
    from dpsyn_core.schema.drafting import draft
    from dpsyn_core.tables.read import read_table

    draft(read_table(b"a,b\n1,2\n3,4\n"), "loads all that reading needs")
    line = sys.stdin.readline().strip()
    if not line:
        return 0
    folder = Path(line)
    sys.excepthook = partial(_fault, folder)
    spec = ReadSpec.model_validate_json((folder / ASK).read_text("utf-8"))
    try:
        _read(folder, spec)
    except MemoryError:
        msg = f"reading the file takes more than {spec.memory_mb} MB of memory; give fewer columns or records"
        return leave_refusal(folder, SizeError(msg))
    except DPSynError as error:
        return leave_refusal(folder, error)
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
    from dpsyn_core.tables.read import read

    limit_resources(spec.memory_mb, spec.seconds)
    source = (folder / UPLOAD).read_bytes() if spec.path is None else spec.path
    reading = read(source, name=spec.name, delimiter=spec.delimiter, encoding=spec.encoding, multiline=spec.multiline)
    del source
    draft(reading.table, dataset_name(spec.name)).dump(folder / DRAFT)
    leave(folder, reading)
