"""From consistent measurements to records: initialise, update, polish."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.marginals.algebra import project
from dpsyn_core.marginals.types import Measurement
from dpsyn_core.progress import Progress, silent
from dpsyn_core.records.gum import gum, mcf
from dpsyn_core.records.initialise import independent_records, one_way_shares
from dpsyn_core.records.join import components, conditional_column, peel
from dpsyn_core.records.polish import polish
from dpsyn_core.records.settings import UpdateSettings
from dpsyn_core.records.tables import tables_of
from dpsyn_core.schema.domain import Domain


def fit_records(
    measured: Sequence[Measurement],
    domain: Domain,
    n: int,
    settings: UpdateSettings,
    *,
    separate: bool = False,
    append: bool = False,
    rng: Generator,
    progress: Progress = silent,
) -> NDArray[np.unsignedinteger]:
    """Codes (n_attributes, n) whose tables follow the measurements.

    Args:
        measured: consistent tables at the full resolution of `domain`; attributes on no table come out uniform.
        domain: attributes and sizes.
        n: number of records, at least 0.
        settings: of the updates.
        separate: attributes that no table connects are synthesized separately and joined at random.
        append: attributes that only one pair connects to the others are drawn from that pair after the updates.
        rng: post-processing randomness.
        progress: reports sweeps and passes.
    """
    tables = tables_of(measured, domain)
    shares = one_way_shares(tables, domain.sizes)
    sets = [m.attributes for m in measured]
    groups = components(sets, domain.names) if separate else [domain.names]
    dtype = np.min_scalar_type(max(domain.sizes, default=1) - 1)
    codes = np.empty((len(domain), n), dtype=dtype)
    for group in groups:
        inside = [m for m in measured if m.attributes and set(m.attributes) <= set(group)]
        codes[[domain.index(a) for a in group]] = _group(
            inside, domain.project(group), [shares[domain.index(a)] for a in group], n, settings, append, rng, progress
        )
    return polish(codes, tables, passes=settings.polish, rng=rng, progress=progress)


def _group(
    measured: Sequence[Measurement],
    domain: Domain,
    shares: Sequence[NDArray[np.float64]],
    n: int,
    settings: UpdateSettings,
    append: bool,
    rng: Generator,
    progress: Progress,
) -> NDArray[np.unsignedinteger]:
    """Records of attributes that some table connects: updates on the core, then the leaves."""
    core, leaves = peel(measured) if append else (list(measured), [])
    codes = independent_records(shares, n, rng=rng)
    hanging = {leaf.name for leaf in leaves}
    names = [a for a in domain.names if a not in hanging]
    rows = [domain.index(a) for a in names]
    inner = np.ascontiguousarray(codes[rows])
    tables = tables_of(core, domain.project(names))
    if settings.updater == "mcf":
        mcf(inner, tables, sweeps=settings.sweeps, rng=rng, progress=progress)
    else:
        gum(inner, tables, settings, rng=rng, progress=progress)
    codes[rows] = inner
    for leaf in reversed(leaves):
        table = project(leaf.measurement.values, leaf.measurement.attributes, (leaf.parent, leaf.name))
        codes[domain.index(leaf.name)] = conditional_column(codes[domain.index(leaf.parent)], table, rng=rng)
    return codes
