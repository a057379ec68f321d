"""Which folders of its machine a server reads tables from, for visitors who name them, and which it never reads."""

from __future__ import annotations

import os
from pathlib import Path

from dpsyn_core.errors import SettingError
from dpsyn_core.files import home
from dpsyn_core.scratch import base
from dpsyn_core.tables import Confines

FOLDERS = "DPSYN_DATA_FOLDERS"  # of the environment: folders that visitors may read by path, separated as in PATH
CONFINES = "DPSYN_CONFINES"  # of the environment of a worker: its confines, as the server that started it knows them


def data_folders() -> tuple[Path, ...]:
    """The folders that the operator named, where they really lie."""
    return tuple(Path(f).resolve() for f in os.environ.get(FOLDERS, "").split(os.pathsep) if f)


def own_folders() -> tuple[Path, ...]:
    """Folders that hold the ledger, other visitors' tables and runs, codes of runs, and the server's secrets."""
    return tuple(f.resolve() for f in (home(), base(), Path.cwd() / ".streamlit", Path.home() / ".streamlit"))


def confines(*, shared: bool) -> Confines | None:
    """What this server may read by path; None on a personal machine: whatever its user may read."""
    folders = data_folders()
    return Confines(folders=folders, closed=own_folders()) if folders or shared else None


def check_places_apart() -> None:
    """Raises SettingError for a server whose private folder lies below a data folder, or the other way round.

    What lies below both would be kept apart by the checks of single files alone.
    """
    for folder in data_folders():
        for private in (home().resolve(), base().resolve()):
            if private.is_relative_to(folder) or folder.is_relative_to(private):
                msg = (
                    f"the folder of ledger and runs '{private}' and the data folder '{folder}' of {FOLDERS} lie within "
                    "each other, so that visitors could read each other's tables; set DPSYN_HOME and DPSYN_SCRATCH to "
                    "folders elsewhere"
                )
                raise SettingError(msg)


def of_worker() -> Confines | None:
    """The confines of this process, which its server set when it started it."""
    text = os.environ.get(CONFINES)
    return None if text is None else Confines.model_validate_json(text)
