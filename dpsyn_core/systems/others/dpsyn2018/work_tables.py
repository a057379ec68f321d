"""The working tables of a run and what they share.

Attributes that hold one value wherever they are there, as synchronous dates do: one draw a record. Blind.

Working attributes: how the design's groups, patterns and bins are counted, and how their codes come back.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.estimate import Coarsening, Compressed, Measurement, Recodes, coarse_shape, conditional_column
from dpsyn_core.measure import Counter, Gate, law_of
from dpsyn_core.privacy import Cost, table_kind
from dpsyn_core.schema import CodedAttribute, Domain
from dpsyn_core.systems.others.dpsyn2018.design import Bins, Design

Column = NDArray[np.intp]


def shared_values(
    coarse: Mapping[str, Column],
    maps: Mapping[str, Column],
    one_ways: Mapping[str, NDArray[np.float64]],
    there: int,
    *,
    rng: Generator,
) -> dict[str, Column]:
    """Codes of every member: the same value in all that are there, the code of the member where it is not.

    Patterns are served from the one with most members on. Each draws from what is left of the released one-way of
    its rarest member, so that the members' one-ways come out right as far as they agree: a member that is there
    only together with another takes its values out of the other's one-way.

    Args:
        coarse: bin of every record (n,) by member.
        maps: bin of every code by member; all codes from `there` on keep separate bins.
        one_ways: released counts of every code by member; all of one length.
        there: number of codes that stand for a value.
        rng: post-processing randomness.
    """
    names = list(coarse)
    n = coarse[names[0]].size
    absent = {m: np.unique(maps[m][there:]) for m in names}
    present = np.array([~np.isin(coarse[m], absent[m]) for m in names]).reshape(len(names), n)
    out = {m: np.zeros(n, dtype=np.intp) for m in names}
    for i, m in enumerate(names):  # where it is not there, a bin is a code
        first = np.zeros(int(maps[m].max()) + 1, dtype=np.intp)
        first[maps[m][there:]] = np.arange(there, maps[m].size)
        out[m][~present[i]] = first[coarse[m][~present[i]]]
    left = {m: np.clip(one_ways[m][:there], 0, None) for m in names}
    patterns, which = np.unique(present, axis=1, return_inverse=True)
    which = which.ravel()
    for p in np.argsort(-patterns.sum(axis=0), kind="stable"):
        members = [m for i, m in enumerate(names) if patterns[i, p]]
        at = np.flatnonzero(which == p)
        if not members or not at.size:
            continue
        rarest = min(members, key=lambda m: float(np.clip(one_ways[m][:there], 0, None).sum()))
        drawn = _draw(
            [coarse[m][at] for m in members],
            [maps[m][:there] for m in members],
            left[rarest],
            np.clip(one_ways[rarest][:there], 0, None),
            rng,
        )
        taken = np.bincount(drawn, minlength=there)
        for m in members:
            left[m] = np.clip(left[m] - taken, 0, None)
            out[m][at] = drawn
    return out


def _draw(
    bins: list[Column], maps: list[Column], left: NDArray[np.float64], whole: NDArray[np.float64], rng: Generator
) -> Column:
    """One value a record inside the bins that its members hold; where they contradict, the first one's bin counts."""
    sizes = [int(m.max()) + 1 for m in maps]
    value_bins = np.ravel_multi_index(tuple(maps), sizes)
    record_bins = np.ravel_multi_index(tuple(np.minimum(b, s - 1) for b, s in zip(bins, sizes, strict=True)), sizes)
    possible, rows = np.unique(record_bins, return_inverse=True)
    inside = value_bins[None, :] == possible[:, None]
    lost = ~inside.any(axis=1)
    step = int(np.prod(sizes[1:], dtype=object))
    inside[lost] = maps[0][None, :] == (possible[lost] // step)[:, None]
    weights = np.where(inside, left[None, :], 0.0)
    empty = weights.sum(axis=1) <= 0
    weights[empty] = np.where(inside[empty], whole[None, :] + 1e-9, 0.0)
    return conditional_column(rows.ravel().astype(np.uint32), weights, rng=rng)


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
    entries = [(g.name, g.attributes, False, False) for g in design.groups]
    entries += [(p.name, p.attributes, True, p.shared) for p in design.patterns]
    used = design.grouped() | design.derived()
    entries += [(n, (n,), False, False) for n in domain.names if n not in used]
    out = []
    for name, members, pattern, shared in entries:
        maps = {}
        for m in members:
            if m in bins:
                maps[m] = bins_of(domain[m], bins[m])
            elif pattern and domain[m].size > 1:
                maps[m] = bins_of(domain[m], Bins(attribute=m, width=domain[m].size))
        maps = {m: entries for m, entries in maps.items() if entries.size < domain[m].size}
        sizes = coarse_shape(domain, members, maps)
        there = domain[members[0]].size - domain[members[0]].special if shared else None
        out.append(Working(name=name, members=members, sizes=sizes, maps=maps, there=there))
    return out


def bins_of(attribute: CodedAttribute, bins: Bins) -> Coarsening:
    """Bin of every code; codes that stand for missing or other keep separate bins unless `codes` says more."""
    if bins.codes:
        return Coarsening.of(bins.codes)
    plain = attribute.size - attribute.special
    codes = np.arange(plain)
    codes_of = np.searchsorted(bins.edges, codes, side="right") if bins.edges else codes // (bins.width or 1)
    first = int(codes_of[-1]) + 1 if plain else 0
    return Coarsening.of(np.concatenate([codes_of, first + np.arange(attribute.special)]))


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
