"""Which files of its own machine a server reads for its visitors."""

from __future__ import annotations

import os
from pathlib import Path

from dpsyn_core.errors import TableError
from dpsyn_core.files import home
from ui.shared.access import shared

FOLDERS = "DPSYN_DATA_FOLDERS"  # folders that a shared server lets visitors read by path, separated as in PATH


def allowed(text: str) -> Path:
    """The path, when visitors of this server may read it: any on one's own machine, else in named folders."""
    path = Path(text.strip()).expanduser()
    if not text.strip():
        msg = "no path was given; write the full path of a CSV, TSV, Parquet or Excel file"
        raise TableError(msg)
    folders = [Path(f).resolve() for f in os.environ.get(FOLDERS, "").split(os.pathsep) if f]
    if folders or shared():
        resolved = path.resolve()
        # the app's own folder holds the ledger and other visitors' runs
        if resolved.is_relative_to(home().resolve()) or not any(resolved.is_relative_to(f) for f in folders):
            msg = "this server does not read that folder; upload the file, or ask its operator to allow the folder"
            raise TableError(msg)
    return path
