"""From consistent measurements to records: initialise, update, polish. Floor 3, blind."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.marginals.types import Measurement
from dpsyn_core.progress import Progress, silent
from dpsyn_core.records.gum import gum, mcf
from dpsyn_core.records.initialise import independent_records, one_way_shares
from dpsyn_core.records.polish import polish
from dpsyn_core.records.settings import FitSettings
from dpsyn_core.records.tables import tables_of
from dpsyn_core.schema.domain import Domain


def fit_records(
    measured: Sequence[Measurement],
    domain: Domain,
    n: int,
    settings: FitSettings,
    *,
    rng: Generator,
    progress: Progress = silent,
) -> NDArray[np.unsignedinteger]:
    """Codes (n_attributes, n) whose tables follow the measurements.

    Args:
        measured: consistent tables at the full resolution of `domain`; attributes on no table come out uniform.
        domain: attributes and sizes.
        n: number of records, at least 0.
        settings: see FitSettings.
        rng: post-processing randomness.
        progress: reports sweeps and passes.
    """
    tables = tables_of(measured, domain)
    codes = independent_records(one_way_shares(tables, domain.sizes), n, rng=rng)
    if settings.updater == "mcf":
        mcf(codes, tables, sweeps=settings.gum.sweeps, rng=rng, progress=progress)
    else:
        gum(codes, tables, settings.gum, rng=rng, progress=progress)
    return polish(codes, tables, passes=settings.polish, squared=settings.squared, rng=rng, progress=progress)
