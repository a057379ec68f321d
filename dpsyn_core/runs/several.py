"""Several synthetic tables of one release: each is fitted to the released counts with their noise drawn again."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.errors import EngineError, MethodError, SettingError
from dpsyn_core.inference.redraw import redrawn
from dpsyn_core.marginals.merging import noisy_total
from dpsyn_core.marginals.types import Measurement
from dpsyn_core.progress import Progress, silent
from dpsyn_core.runs.measured import Measured
from dpsyn_core.synthesizers.base import MethodConfig

SEVERAL = (
    "rls",
    "dpsyn",
    "independent",
)  # systems whose release is tables with known noise
MOST = 1000  # tables of one release


def check_several(config: MethodConfig, tables: int) -> None:
    """Refuses, before anything is charged, a number of tables that cannot be made. Raises SettingError, MethodError."""
    check_number(tables)
    if tables > 1 and config.name not in SEVERAL:
        msg = (
            f"{config.name} cannot make several tables of one release, for not all that it releases are tables with "
            f"known noise; use one of {', '.join(SEVERAL)}, or ask for one table"
        )
        raise MethodError(msg)


def check_number(tables: int) -> None:
    """Raises SettingError for no number of tables, or too many."""
    if isinstance(tables, bool) or not isinstance(tables, int) or not 1 <= tables <= MOST:
        msg = f"the number of tables is {tables!r}; it must be a whole number between 1 and {MOST}"
        raise SettingError(msg)


def make_tables(
    measured: Measured,
    n_records: int | None,
    tables: int,
    *,
    pure: bool,
    rng: Generator,
    progress: Progress = silent,
) -> list[NDArray[np.unsignedinteger]]:
    """Codes (n_attributes, n_records) of every table. Post-processing: costs nothing, however many there are.

    One table is the fit to the released values themselves. Of several, each is a fit to values with fresh noise on top;
    all have as many records.
    """
    released: Any = measured.released
    if tables == 1:
        return [measured.system.synthesize(released, n_records, rng=rng, progress=progress)]
    if not isinstance(released, list) or not all(isinstance(m, Measurement) for m in released):
        msg = "what was released is no list of tables with known noise, so that it cannot be drawn again"
        raise EngineError(msg)
    n = round(noisy_total(released)) if n_records is None else n_records
    out: list[NDArray[np.unsignedinteger]] = []
    for i in range(tables):
        out.append(measured.system.synthesize(redrawn(released, pure=pure, rng=rng), n, rng=rng))
        progress("making tables", i + 1, tables)
    return out
