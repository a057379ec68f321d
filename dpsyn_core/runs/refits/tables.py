"""Converts released tables for a system that did not measure them. Post-processing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import SizeError, TableError
from dpsyn_core.estimate import Coarsening, Measurement, Recodes, ReleasedTables, Scores, merged, probabilities, project
from dpsyn_core.schema import Domain
from dpsyn_core.systems import (
    CELL,
    FewValuesConfig,
    MethodConfig,
    MSTConfig,
    RlsEvidence,
    coarse_sizes,
    model_cells,
    rare_codes,
)

Floats = NDArray[np.float64]
MAKERS = ("rls", "independent", "dpsyn", "mst")  # systems that make records of any released tables
MODEL_MB = 4.0  # of the graphical model of tables that were not chosen for one: some ten seconds
MOST_CELLS = 50_000_000  # of all tables together at one resolution, as `dpsyn` itself measures at most


def evidence_of(tables: Sequence[Measurement], domain: Domain, n_public: int | None) -> RlsEvidence:
    """What released tables say of totals, single columns and all they hold, without most of their noise.

    Raises TableError where a column is in none of them.
    """
    return RlsEvidence(domain, with_columns(tables, domain), n_public)


def with_columns(tables: Sequence[Measurement], domain: Domain) -> list[Measurement]:
    """The tables, and for each column without a one-way the sum of those that hold it value by value.

    Raises TableError for a column that no table holds.
    """
    single = {m.attributes[0] for m in tables if len(m.attributes) == 1}
    out = list(tables)
    for a in domain.attributes:
        if a.name in single:
            continue
        holding = [m for m in tables if a.name in m.attributes]
        if not holding:
            if a.size == 1:
                out.append(Measurement(attributes=(a.name,), values=np.array([_total(tables)]), sigma=1.0))
                continue
            msg = f"no released table holds '{a.name}', so that nothing is known of it; leave the column out"
            raise TableError(msg)
        plain = [m for m in holding if a.name not in m.recodes] or holding
        out += merged([projected(m, (a.name,)) for m in plain])
    return out


def _total(tables: Sequence[Measurement]) -> float:
    return float(np.mean([m.values.sum() for m in tables])) if tables else 0.0


def projected(m: Measurement, names: Sequence[str]) -> Measurement:
    """A table summed over all attributes but these, which stay in its order; its noise adds up."""
    kept = tuple(n for n in m.attributes if n in names)
    if kept == m.attributes:
        return m
    values = project(m.values, m.attributes, kept)
    sigma = m.sigma * math.sqrt(m.values.size / max(values.size, 1))
    recodes = {n: r for n, r in m.recodes.items() if n in kept}
    return replace(m, attributes=kept, values=values, sigma=sigma, recodes=recodes)


def onto_columns(tables: Sequence[Measurement], names: Sequence[str]) -> ReleasedTables:
    """What the tables say of some columns; each set of attributes at one resolution once."""
    projections = ((m, projected(m, names)) for m in tables)
    out = ReleasedTables(merged([p for m, p in projections if p.attributes or not m.attributes]))
    scores: Scores | None = getattr(tables, "scores", None)
    out.scores = None if scores is None else scores.among(names)
    return out


def spread(m: Measurement, ones: Mapping[str, Floats], recodes: Recodes) -> Measurement:
    """A table at other coarse values (those of `recodes`; all values where an attribute has none there).

    Inside a coarse value, values are as frequent as in the columns alone. The noise of the sum stays what it is.
    """
    values = m.values
    for axis, name in enumerate(m.attributes):
        before, after = m.recodes.get(name), recodes.get(name)
        if before == after or (before is None and after is None):
            continue
        size = len(ones[name])
        old, new = (r or Coarsening.identity(size) for r in (before, after))
        matrix = np.zeros((new.size, old.size))
        np.add.at(matrix, (new.map, old.map), old.within(np.maximum(ones[name], 0.0)))
        values = np.moveaxis(np.tensordot(matrix, values, axes=(1, axis)), 0, axis)
    sigma = m.sigma * math.sqrt(m.values.size / max(values.size, 1))
    return replace(m, values=values, sigma=sigma, recodes={n: recodes[n] for n in m.attributes if n in recodes})


def for_maker(
    tables: Sequence[Measurement], config: MethodConfig, domain: Domain, *, n_public: int | None
) -> ReleasedTables:
    """Tables in the form in which one of `MAKERS` makes records of them.

    Args:
        tables: released, of whatever system.
        config: settings of one of `MAKERS`.
        domain: of the schema.
        n_public: the number of records where it is public.

    Raises:
        TableError: a column is in no table. SizeError: the tables are too large at the resolution of the method.
    """
    every = with_columns([m for m in tables if m.attributes], domain)
    if config.name == "rls":
        out = ReleasedTables([*(m for m in tables if not m.attributes), *every])
        out.scores = getattr(tables, "scores", None)
        return out
    view = RlsEvidence(domain, every, n_public)
    ones = dict(zip(domain.names, view.one_ways, strict=True))
    alone = [_alone(every, name, ones, sigma) for name, sigma in zip(domain.names, view.sigmas, strict=True)]
    if config.name == "independent" or len(domain) == 1:
        return ReleasedTables(alone)
    joint = [m for m in every if len(m.attributes) > 1]
    recodes: Recodes = {}
    if isinstance(config, MSTConfig):
        recodes = rare_codes(alone, config.rare, domain)
    elif isinstance(config, FewValuesConfig):
        recodes = config.recodes(domain)
        alone = [spread(m, ones, recodes) for m in alone]
    if sum(_cells(m, domain, recodes) for m in joint) > MOST_CELLS:
        msg = f"the released tables have more than {MOST_CELLS} cells at the resolution of '{config.name}'; use 'rls'"
        raise SizeError(msg)
    wide = merged([spread(m, ones, recodes) for m in joint])
    if isinstance(config, MSTConfig):
        wide = _within_model(wide, ones, coarse_sizes(domain, recodes), recodes, min(config.max_model_size, MODEL_MB))
    return ReleasedTables([*alone, *wide])


def _alone(tables: Sequence[Measurement], name: str, ones: Mapping[str, Floats], sigma: float) -> Measurement:
    """The table of one column, value by value: as released, else as the coarse ones tell."""
    one_ways = [m for m in tables if m.attributes == (name,) and name not in m.recodes]
    return merged(one_ways)[0] if one_ways else Measurement(attributes=(name,), values=ones[name], sigma=sigma)


def _cells(m: Measurement, domain: Domain, recodes: Recodes) -> int:
    return math.prod(recodes[n].size if n in recodes else domain[n].size for n in m.attributes)


def _within_model(
    tables: Sequence[Measurement], ones: Mapping[str, Floats], sizes: Mapping[str, int], recodes: Recodes, most: float
) -> list[Measurement]:
    """Tables of one graphical model of at most so many MB: those first that depend most, beyond their noise."""
    order = sorted(tables, key=lambda m: -_dependence(m, ones, recodes))
    kept: list[Measurement] = []
    for m in order:
        if model_cells([k.attributes for k in [*kept, m]], sizes) * CELL <= most * 2**20:
            kept.append(m)
    return [m for m in tables if any(m is k for k in kept)]


def _dependence(m: Measurement, ones: Mapping[str, Floats], recodes: Recodes) -> float:
    """L1 distance, in records, of a table from independence, less what its noise adds to it on average."""
    alone = np.array(max(float(m.values.sum()), 0.0))
    for name in m.attributes:
        counts = recodes[name].sum(ones[name]) if name in recodes else ones[name]
        alone = np.multiply.outer(alone, probabilities(counts))
    return float(np.abs(m.values - alone).sum()) - math.sqrt(2 / math.pi) * m.sigma * m.cells
