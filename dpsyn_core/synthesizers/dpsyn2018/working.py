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
from dpsyn_core.marginals.compression import Compressed
from dpsyn_core.marginals.types import Measurement
from dpsyn_core.measurement.gate import Gate
from dpsyn_core.privacy.charge import table_kind
from dpsyn_core.privacy.cost import Cost
from dpsyn_core.records.join import conditional_column
from dpsyn_core.schema.domain import CodedAttribute, Domain
from dpsyn_core.synthesizers.dpsyn2018.design import Design

Codes = NDArray[np.unsignedinteger]
Map = NDArray[np.intp]


@dataclass(frozen=True, kw_only=True, slots=True)
class Working:
    """One attribute of the model: a tuple of attributes, each perhaps coarse, over their Cartesian product."""

    name: str
    members: tuple[str, ...]
    sizes: tuple[int, ...]  # of the members after their coarse maps
    maps: Mapping[str, Map]  # coarse maps of the members that have one

    @property
    def size(self) -> int:
        """Cells before compression."""
        return math.prod(self.sizes)


def working_attributes(domain: Domain, design: Design) -> list[Working]:
    """The model's attributes: groups and patterns first, then single attributes, in domain order."""
    widths = {b.attribute: b.width for b in design.bins}
    found = [(g.name, g.attributes, False) for g in design.groups]
    found += [(p.name, p.attributes, True) for p in design.patterns]
    used = {a for _, names, _ in found for a in names} | design.derived()
    found += [(n, (n,), False) for n in domain.names if n not in used]
    out = []
    for name, members, pattern in found:
        maps = {}
        for m in members:
            width = domain[m].size if pattern else widths.get(m, 1)
            if width > 1:
                maps[m] = bins_of(domain[m], width)
        sizes = tuple(int(maps[m].max()) + 1 if m in maps else domain[m].size for m in members)
        out.append(Working(name=name, members=members, sizes=sizes, maps=maps))
    return out


def bins_of(attribute: CodedAttribute, width: int) -> Map:
    """Neighbouring codes share a bin of `width`; codes that stand for missing or other keep a bin of their own."""
    plain = attribute.size - attribute.special
    bins = np.arange(plain) // width
    first = int(bins[-1]) + 1 if plain else 0
    return np.concatenate([bins, first + np.arange(attribute.special)]).astype(np.intp)


def count(counter: Counter, parts: Sequence[Working], compressed: Mapping[str, Compressed]) -> NDArray[np.int64]:
    """Exact counts over working attributes, compressed where a map is given; private."""
    names = tuple(m for w in parts for m in w.members)
    maps = {m: w.maps[m] for w in parts for m in w.members if m in w.maps}
    table = counter.marginal(names, maps).reshape([w.size for w in parts])
    for axis, w in enumerate(parts):
        if w.name in compressed:
            recode = compressed[w.name].recode()
            merged = np.zeros((compressed[w.name].size, *np.delete(table.shape, axis)), dtype=np.int64)
            np.add.at(merged, recode, np.moveaxis(table, axis, 0))
            table = np.moveaxis(merged, 0, axis)
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
    return Measurement(attributes=tuple(w.name for w in parts), values=values, sigma=got.sigma)


def members_of(
    column: NDArray[np.intp], w: Working, fine: Mapping[str, Measurement], *, rng: Generator
) -> dict[str, NDArray[np.intp]]:
    """Splits a working column into its members and refines those that were coarse.

    Inside a bin, values follow the released one-way; a bin in which nothing was released above zero is uniform.
    """
    out = {}
    rest = column
    for m, size in reversed(list(zip(w.members, w.sizes, strict=True))):
        code, rest = rest % size, rest // size
        if m in w.maps:
            inside = w.maps[m][None, :] == np.arange(size)[:, None]
            table = np.where(inside, np.clip(fine[m].values, 0, None)[None, :] + 1e-9, 0)
            code = conditional_column(code.astype(np.min_scalar_type(max(size - 1, 0))), table, rng=rng)
        out[m] = code
    return out
