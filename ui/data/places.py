"""Which files of its own machine a server reads for its visitors."""

from contextlib import AbstractContextManager
from pathlib import Path

from dpsyn_core.errors import TableError
from dpsyn_core.tables import confined, files_at
from ui.shared.access import limits


def allowed(text: str) -> Path:
    """The path, when visitors of this server may read it: any on one's own machine, else in named folders.

    A folder and a pattern are looked into: one file elsewhere among those that they mean, and none of them is read.
    Whoever opens the files checks them once more (`tables.confines`). Raises TableError.
    """
    path = Path(text.strip()).expanduser()
    if not text.strip():
        msg = "no path was given; write the full path of a CSV, TSV, Parquet or Excel file"
        raise TableError(msg)
    if limits() is not None:
        with within():
            files_at(path)
    return path


def within() -> AbstractContextManager[None]:
    """Within this block the server itself reads tables only where its visitors may."""
    return confined(limits())
