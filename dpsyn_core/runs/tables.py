"""Tables of a release: synthesized from its measurements, one or several, and decoded. Post-processing."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.errors import EngineError
from dpsyn_core.estimate import Measurement, noisy_total, redrawn, scores_in_bins
from dpsyn_core.progress import Progress, silent
from dpsyn_core.runs.measurement import Measured
from dpsyn_core.schema import Codec, Codes, Schema, in_order

if TYPE_CHECKING:
    from dpsyn_core.schema import KnownZeros
    from dpsyn_core.systems import Synthesizer


def make_tables(measured: Measured, *, progress: Progress = silent) -> list[NDArray[np.unsignedinteger]]:
    """Codes (n_attributes, n_records) of every table that the run makes. Costs nothing, however many there are.

    One table is the fit to the released values themselves. Of several, each is a fit to values with fresh noise on top;
    all have as many records.
    """
    count, rng, tables = measured.wanted, measured.rng, measured.spec.tables
    released = without_known_zeros(measured.measurements, measured.task.zeros, measured.system)
    if tables == 1:
        return [measured.system.synthesize(released, count, rng=rng, progress=progress)]
    if not isinstance(released, list) or not all(isinstance(m, Measurement) for m in released):
        msg = "what was released is no list of tables with known noise, so that it cannot be drawn again"
        raise EngineError(msg)
    n = round(noisy_total(released)) if count is None else count
    pure = measured.task.budget.delta == 0
    out: list[NDArray[np.unsignedinteger]] = []
    for i in range(tables):
        out.append(measured.system.synthesize(redrawn(released, pure=pure, rng=rng), n, rng=rng))
        progress("making tables", i + 1, tables)
    return out


def without_known_zeros(released: Any, zeros: KnownZeros | None, system: Synthesizer) -> Any:
    """Released tables without what stands in cells that rules make impossible; what is no table stays as it is.

    What a system keeps next to its tables holds them as it released them itself, on values that may be merged.
    """
    if zeros is None:
        return released
    if isinstance(released, list):
        out = copy(released)  # keeps the scores beside the tables
        out[:] = [_emptied(m, zeros, m) for m in released]
        return out
    if is_dataclass(released) and not isinstance(released, type):
        values = {f.name: getattr(released, f.name) for f in fields(released) if f.init}
        lists = {k: v for k, v in values.items() if isinstance(v, list) and v and isinstance(v[0], Measurement)}
        for name, tables in lists.items():
            lists[name] = copy(tables)
            lists[name][:] = [_emptied(m, zeros, system.outward(m)) for m in tables]
        return replace(released, **lists) if lists else released
    return released


def _emptied(m: Any, zeros: KnownZeros, outward: Any) -> Any:
    """outward: the same table with the maps from the values of the schema."""
    if not isinstance(m, Measurement):
        return m
    values = zeros.emptied(m.values, m.attributes, {n: r.map for n, r in outward.recodes.items()})
    return m if values is m.values else replace(m, values=values)


def table_of(
    codes: Codes,
    schema: Schema,
    *,
    columns: Sequence[str],
    rng: Generator,
    listed: bool = False,
    repaired: list[tuple[int, int]] | None = None,
    measured: Sequence[str] | None = None,
) -> Any:
    """A pyarrow table of synthetic codes, with the types that the schema declares; no record breaks its rules.

    Args:
        codes: synthetic, (n_attributes, n_records).
        schema: public metadata.
        columns: names of the source's columns; those that come out keep their order.
        rng: for positions inside bins.
        listed: see `Codec.decode`.
        repaired: gets how many cells were changed to keep the rules, and how many records had to be left out.
        measured: the columns that the codes are of; the others are computed from them. None: all.
    """
    if not schema.rules:
        return _decoded(codes, Codec(schema), columns, rng, listed)
    from dpsyn_core.schema import part_of, repair, with_computed

    part = schema if measured is None else part_of(schema, measured)
    table = _decoded(codes, Codec(part), columns, rng, listed)
    table = in_order(with_computed(table, schema, rng, listed=listed), schema.output_names, columns)
    table, found = repair(table, schema.rules, schema, rng)
    if repaired is not None:
        repaired.append((found.cells, found.left_out))
    return table


def _decoded(codes: Codes, codec: Codec, columns: Sequence[str], rng: Generator, listed: bool) -> Any:
    scores = scores_in_bins(codes, codec.domain, rng=rng)
    return codec.decode(codes, rng=rng, order=columns, scores=scores, listed=listed)


def repaired_codes(codes: Codes, table: Any, schema: Schema) -> Codes:
    """The codes of a decoded table after its repair; the given codes unchanged where there are no rules."""
    return Codec(schema).encode(table, individuals=False).codes if schema.rules else codes
