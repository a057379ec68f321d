"""Starts the server as `streamlit run` does; makes a worker ready and loads the first page before anybody has come."""

import importlib
import sys
import threading
import time

from streamlit import runtime
from streamlit.web import cli

# in the order in which the first page asks for them
NEEDED = (
    "ui.shared.frame",
    "pandas",
    "pyarrow.csv",
    "pyarrow.pandas_compat",
    "PIL.Image",
    "dpsyn_core.data",
    "ui.data.profile",
    "ui.data.projects",
    "ui.data.quick",
    "ui.data.real",
    "ui.data.sources",
    "ui.data.who",
    "ui.linked.diagram",
    "ui.shared.tables",
    "dpsyn_core.privacy.ledger.grouping",
    "dpsyn_core.privacy.ledger.limits",
    "dpsyn_core.privacy.ledger.sums",
    "dpsyn_core.privacy.manifest.certificates",
    "dpsyn_core.report.build",
    "dpsyn_core.report.figures",
    "dpsyn_core.systems.rls.system",
    "pandas.core.methods.to_dict",
    "scipy.special",
)
PATIENCE = 30.0  # seconds in which a server is up


def load() -> None:
    """Loads them as soon as the server is up; a page that is asked for meanwhile waits for the one it needs alone."""
    deadline = time.monotonic() + PATIENCE
    while not runtime.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    ready()
    for name in NEEDED:
        importlib.import_module(name)


def ready() -> None:
    """Makes a worker ready for the first run, but on a server that runs nothing or whose first page will refuse."""
    from dpsyn_core.errors import SettingError
    from dpsyn_core.runs import check_places_apart
    from ui.shared import access, state

    try:
        check_places_apart()
    except SettingError:  # every page says so
        return
    if not access.classroom():
        state.jobs()


if __name__ == "__main__":
    threading.Thread(target=load, name="dpsyn-first-page", daemon=True).start()
    sys.exit(cli.main())
