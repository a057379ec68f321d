"""What a run will take, as the page shows it: a range of seconds around the system's own estimate, and megabytes."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpsyn_core.errors import SettingError, TableError
from dpsyn_core.systems import MethodConfig, Size, config_class, configure
from ui.shared.state import Workspace

if TYPE_CHECKING:
    from dpsyn_core.measure import CountingPlan

MEMORY = "DPSYN_JOB_MEMORY_MB"  # environment variable: megabytes that one run may use
SECONDS = "DPSYN_JOB_SECONDS"  # environment variable: seconds that one run may take
START = 1.5  # seconds to start a worker and load the engine
SPREAD = 1.7  # the range goes from a forecast divided by this to the forecast times this


@dataclass(frozen=True)
class Forecast:
    """Wall seconds on a machine with nothing else to do, and peak megabytes."""

    low: float
    high: float
    megabytes: float


def job_memory() -> int:
    """Megabytes that one run may use, as the operator set them."""
    return int(os.environ.get(MEMORY, "4096"))


def job_seconds() -> int:
    """Seconds that one run may take, as the operator set them."""
    return int(os.environ.get(SECONDS, "3600"))


def forecast(config: MethodConfig, size: Size) -> Forecast:
    """What a run of a system takes on a table of this size."""
    got = config.estimate(size)
    seconds = START + got.seconds
    return Forecast(low=seconds / SPREAD, high=seconds * SPREAD, megabytes=round(got.megabytes, -1))


def in_place(space: Workspace) -> CountingPlan:
    """Where the records of a table outside the app will be counted, and what that takes.

    Raises SizeError where its codes do not fit the disk, TableError where its files are gone.
    """
    from dpsyn_core.measure import choose
    from dpsyn_core.runs import planned
    from dpsyn_core.tables import open_table
    from ui.data.places import within
    from ui.shared.results import kept

    data, schema = space.dataset, space.schema
    if data is None or schema is None or data.place is None:
        msg = "no table outside the app is loaded; load one on the Data page"
        raise TableError(msg)
    memory, path, form = planned(job_memory()), data.place, data.form
    key = ("in place", data.serial, hash(schema.dumps()))
    with within():
        return kept(space, key, lambda: choose(open_table(path, form), engine=None, memory=memory, schema=schema))


def estimated(space: Workspace, method: str) -> Forecast | None:
    """A forecast; None in safe mode when the number of records is private."""
    from ui.privacy.guarantee import records

    n = records(space)
    if space.schema is None or n is None:
        return None
    try:
        config = configure(method, space.choices.settings.get(method, {}))
    except SettingError:  # the page says elsewhere what is wrong with the settings
        config = config_class(method)()
    return forecast(config, Size.of(config.working_domain(space.schema.domain()), n, space.choices.n_records))
