"""Fitting records to marginals, and the last steps that polish them.

Polish: after GUM, single-cell moves that lower the residuals of all tables at once.

From consistent measurements to records: initialise, update, polish.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.estimate.marginals.types import Measurement, project
from dpsyn_core.estimate.records.gum import UpdateSettings, gum, independent_records, mcf, one_way_shares
from dpsyn_core.estimate.records.gum_kernel import cell_numbers, polish_pass
from dpsyn_core.estimate.records.join import components, conditional_column, peel
from dpsyn_core.estimate.records.random import seed_state
from dpsyn_core.estimate.records.targets import TargetTable, tables_of
from dpsyn_core.progress import Progress, silent
from dpsyn_core.schema import Domain

CHECK = 5  # passes between two checks of the gain
GAIN = 0.001  # stop when a pass lowers the residuals by less than this share


@dataclass(frozen=True, slots=True)
class _Layout:
    """Tables seen from each attribute; see `polish_pass`."""

    weight: NDArray[np.float32]
    entry: NDArray[np.int64]
    offset: NDArray[np.int64]
    stride: NDArray[np.int64]
    other: NDArray[np.int64]
    other_row: NDArray[np.int64]
    other_stride: NDArray[np.int64]
    movable: NDArray[np.int64]


def polish(
    codes: NDArray[np.unsignedinteger],
    tables: Sequence[TargetTable],
    *,
    passes: int,
    rng: Generator,
    progress: Progress = silent,
) -> NDArray[np.unsignedinteger]:
    """Proposes, for every record in turn, to copy one attribute from a random record; keeps what helps.

    A move is kept when the weighted residuals of the tables that hold the attribute fall; ties are decided at random.

    Args:
        codes: unsigned (n_attributes, n_records).
        tables: targets; see `TargetTable.aims`.
        passes: proposals a record, at most; it stops when a pass gains less than 0.1 %.
        rng: post-processing randomness.
        progress: gets the mean total variation distance to the targets.

    Returns:
        New codes of the same shape.
    """
    d, n = codes.shape
    layout = _layout(tables, d)
    if n == 0 or passes == 0 or layout.movable.size == 0:
        return codes
    residual = _residuals(codes, tables, rng)
    records = np.ascontiguousarray(codes.T)
    weight = np.concatenate([np.full(t.share.size, t.weight) for t in tables])
    level = float(np.sum(weight * np.abs(residual)))
    state = seed_state(rng)
    for start in range(0, passes, CHECK):
        many = min(CHECK, passes - start)
        fell = 0.0
        for _ in range(many):
            fell += polish_pass(
                records,
                residual,
                layout.weight,
                layout.entry,
                layout.offset,
                layout.stride,
                layout.other,
                layout.other_row,
                layout.other_stride,
                layout.movable,
                state,
            )
        distance = float(np.abs(residual).sum(dtype=np.float64)) / (2 * n * len(tables))
        progress("polish", start + many, passes, distance)
        if fell < GAIN * many * level:
            break
        level -= fell
    return np.ascontiguousarray(records.T)


def _layout(tables: Sequence[TargetTable], d: int) -> _Layout:
    """Turns tables into entries by attribute. Loops over tables and axes only."""
    starts = np.concatenate([[0], np.cumsum([t.share.size for t in tables])]).astype(np.int64)
    moves: list[list[tuple[float, int, int, list[tuple[int, int]]]]] = [[] for _ in range(d)]
    for table, start in zip(tables, starts, strict=False):
        strides = [int(np.prod(table.sizes[axis + 1 :])) for axis in range(table.rows.size)]
        for axis, row in enumerate(table.rows):
            others = [(int(r), s) for a, (r, s) in enumerate(zip(table.rows, strides, strict=True)) if a != axis]
            moves[row].append((table.weight, int(start), strides[axis], others))
    flat = [e for entries in moves for e in entries]
    widths = [len(e[3]) for e in flat]
    # an attribute that stands alone in one table is exact from the start and stays so
    movable = [j for j in range(d) if any(e[3] for e in moves[j])]
    return _Layout(
        weight=np.array([e[0] for e in flat], dtype=np.float32),
        entry=np.concatenate([[0], np.cumsum([len(entries) for entries in moves])]).astype(np.int64),
        offset=np.array([e[1] for e in flat], dtype=np.int64),
        stride=np.array([e[2] for e in flat], dtype=np.int64),
        other=np.concatenate([[0], np.cumsum(widths)]).astype(np.int64),
        other_row=np.array([r for e in flat for r, _ in e[3]], dtype=np.int64),
        other_stride=np.array([s for e in flat for _, s in e[3]], dtype=np.int64),
        movable=np.array(movable, dtype=np.int64),
    )


def _residuals(
    codes: NDArray[np.unsignedinteger], tables: Sequence[TargetTable], rng: Generator
) -> NDArray[np.float32]:
    """Count minus what moves aim at in every cell, float32, table after table."""
    n = codes.shape[1]
    cell = np.empty(n, dtype=np.int32)
    out = []
    for t in tables:
        cell_numbers(codes, t.rows, t.sizes, cell)
        out.append(np.bincount(cell, minlength=t.share.size) - t.aims(n, rng))
    return np.concatenate(out).astype(np.float32)


def fit_to_marginals(
    measured: Sequence[Measurement],
    domain: Domain,
    n: int,
    settings: UpdateSettings,
    *,
    separate: bool = True,
    append: bool = True,
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
        rows = [domain.index(a) for a in group]
        shared, apart = [shares[r] for r in rows], len(groups) > 1
        codes[rows] = _group(inside, domain.project(group), shared, n, settings, append, apart, rng, progress)
    return polish(codes, tables, passes=settings.polish, rng=rng, progress=progress)


def _group(
    measured: Sequence[Measurement],
    domain: Domain,
    shares: Sequence[NDArray[np.float64]],
    n: int,
    settings: UpdateSettings,
    append: bool,
    alone: bool,
    rng: Generator,
    progress: Progress,
) -> NDArray[np.unsignedinteger]:
    """Records of attributes that some table connects: updates on the core, then the leaves.

    alone: other groups are synthesized by themselves. Updates of their tables would blur what these records take over
    of the noise; without them the update rate is cooled, unless the result of the sweeps is to stay.
    """
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
        gum(inner, tables, settings, cooled=alone and settings.polish > 0, rng=rng, progress=progress)
    codes[rows] = inner
    for leaf in reversed(leaves):
        table = project(leaf.measurement.values, leaf.measurement.attributes, (leaf.parent, leaf.name))
        codes[domain.index(leaf.name)] = conditional_column(codes[domain.index(leaf.parent)], table, rng=rng)
    return codes
