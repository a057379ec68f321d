"""Working attributes: how the design's groups, patterns and bins are counted, and how their codes come back."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.counting.base import Counter
from dpsyn_core.marginals.coarsening import Coarsening, Recodes, coarse_shape
from dpsyn_core.marginals.compression import Compressed
from dpsyn_core.marginals.types import Measurement
from dpsyn_core.measurement.gate import Gate
from dpsyn_core.measurement.released import law_of
from dpsyn_core.privacy.charge import table_kind
from dpsyn_core.privacy.cost import Cost
from dpsyn_core.records.join import conditional_column
from dpsyn_core.schema.domain import CodedAttribute, Domain
from dpsyn_core.synthesizers.dpsyn2018.design import Bins, Design
from dpsyn_core.synthesizers.dpsyn2018.shared import shared_values

Codes = NDArray[np.unsignedinteger]


@dataclass(frozen=True, kw_only=True, slots=True)
class Working:
    """One attribute of the model: a tuple of attributes, each perhaps coarse, over their Cartesian product.

    there: for a pattern whose members share one value, the values that stand for it; else None.
    """

    name: str
    members: tuple[str, ...]
    sizes: tuple[int, ...]  # of the members after their coarse maps
    maps: Recodes  # of the members that are coarse
    there: int | None = None

    @property
    def size(self) -> int:
        """Cells before compression."""
        return math.prod(self.sizes)

    def alone(self, member: str) -> Working:
        """One member by itself, at the resolution that it has here."""
        size = self.sizes[self.members.index(member)]
        maps = {member: self.maps[member]} if member in self.maps else {}
        return Working(name=member, members=(member,), sizes=(size,), maps=maps)

    def onto(self, members: Sequence[str]) -> Coarsening:
        """From this attribute's cells to those of some of its members, in their order here."""
        cells = np.arange(self.size)
        grid = np.unravel_index(cells, self.sizes) if self.size else (cells,) * len(self.sizes)
        at = [self.members.index(m) for m in members]
        return Coarsening.of(np.ravel_multi_index(tuple(grid[i] for i in at), tuple(self.sizes[i] for i in at)))


def working_attributes(domain: Domain, design: Design) -> list[Working]:
    """The model's attributes: groups and patterns first, then single attributes, in domain order."""
    bins = {b.attribute: b for b in design.bins}
    found = [(g.name, g.attributes, False, False) for g in design.groups]
    found += [(p.name, p.attributes, True, p.shared) for p in design.patterns]
    used = design.grouped() | design.derived()
    found += [(n, (n,), False, False) for n in domain.names if n not in used]
    out = []
    for name, members, pattern, shared in found:
        maps = {}
        for m in members:
            if m in bins:
                maps[m] = bins_of(domain[m], bins[m])
            elif pattern and domain[m].size > 1:
                maps[m] = bins_of(domain[m], Bins(attribute=m, width=domain[m].size))
        maps = {m: found for m, found in maps.items() if found.size < domain[m].size}
        sizes = coarse_shape(domain, members, maps)
        there = domain[members[0]].size - domain[members[0]].special if shared else None
        out.append(Working(name=name, members=members, sizes=sizes, maps=maps, there=there))
    return out


def bins_of(attribute: CodedAttribute, bins: Bins) -> Coarsening:
    """Bin of every code; codes that stand for missing or other keep a bin of their own unless `codes` says more."""
    if bins.codes:
        return Coarsening.of(bins.codes)
    plain = attribute.size - attribute.special
    codes = np.arange(plain)
    found = np.searchsorted(bins.edges, codes, side="right") if bins.edges else codes // (bins.width or 1)
    first = int(found[-1]) + 1 if plain else 0
    return Coarsening.of(np.concatenate([found, first + np.arange(attribute.special)]))


def count(counter: Counter, parts: Sequence[Working], compressed: Mapping[str, Compressed]) -> NDArray[np.int64]:
    """Exact counts over working attributes, compressed where a map is given; private."""
    names = tuple(m for w in parts for m in w.members)
    maps = {m: w.maps[m] for w in parts for m in w.members if m in w.maps}
    table = counter.marginal(names, maps).reshape([w.size for w in parts])
    for axis, w in enumerate(parts):
        if w.name in compressed:
            table = compressed[w.name].recode.sum(table, axis).astype(np.int64)
    return table


def measure(
    counter: Counter, parts: Sequence[Working], compressed: Mapping[str, Compressed], cost: Cost, gate: Gate
) -> Measurement:
    """One release over working attributes, named by their members."""
    shape = [compressed[w.name].size if w.name in compressed else w.size for w in parts]
    members = [m for w in parts for m in w.members]
    got = gate.release(
        "marginal " + " x ".join(members),
        partial(count, counter, parts, compressed),
        kind=table_kind(len(members)),
        cells=math.prod(shape),
        cost=cost,
    )
    values = got.values.reshape(shape).astype(np.float64)
    return Measurement(attributes=tuple(w.name for w in parts), values=values, sigma=got.sigma, law=law_of(got.charge))


def members_of(
    column: NDArray[np.intp], w: Working, fine: Mapping[str, Measurement], domain: Domain, *, rng: Generator
) -> dict[str, NDArray[np.intp]]:
    """Splits a working column into its members and refines those that were coarse.

    Inside a bin, values follow the released one-way; a bin in which nothing was released above zero is uniform.
    """
    rest = column
    coarse = {}
    for m, size in reversed(list(zip(w.members, w.sizes, strict=True))):
        coarse[m], rest = rest % size, rest // size
    values = {m: fine[m].values if m in fine else np.zeros(domain[m].size) for m in w.members}
    if w.there is not None:
        maps = {m: w.maps[m].map if m in w.maps else np.arange(domain[m].size) for m in w.members}
        return shared_values(coarse, maps, values, w.there, rng=rng)
    out = {}
    for m, size in zip(w.members, w.sizes, strict=True):
        code = coarse[m]
        if m in w.maps:
            inside = w.maps[m].map[None, :] == np.arange(size)[:, None]
            table = np.where(inside, np.clip(values[m], 0, None)[None, :] + 1e-9, 0)
            code = conditional_column(code.astype(np.min_scalar_type(max(size - 1, 0))), table, rng=rng)
        out[m] = code
    return out
