"""What DPSyn 2018 released, over the schema's attributes instead of the working ones. Post-processing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dpsyn_core.marginals.compression import Compressed
from dpsyn_core.marginals.types import JointAxis, JointTable, Measurement
from dpsyn_core.schema.domain import Domain
from dpsyn_core.synthesizers.dpsyn2018.working import Map, Working


def over_attributes(
    m: Measurement, parts: Sequence[Working], compressed: Mapping[str, Compressed], domain: Domain
) -> Measurement | JointTable:
    """A released table with its axes named by attributes of the schema.

    A joint table where the rare combinations of a group share a cell: those are no product of coarse values.

    Args:
        m: with one axis a working attribute.
        parts: these working attributes.
        compressed: how working attributes were counted; the others were counted whole.
        domain: of the schema.
    """
    packed = [w.name in compressed and bool(compressed[w.name].rare.size) for w in parts]
    if any(of_rare and len(w.members) > 1 for w, of_rare in zip(parts, packed, strict=True)):
        axes = tuple(_axis(w, compressed[w.name] if p else None, domain) for w, p in zip(parts, packed, strict=True))
        return JointTable(axes=axes, values=m.values, sigma=m.sigma, law=m.law)
    names: list[str] = []
    shape: list[int] = []
    recodes: dict[str, Map] = {}
    for w, of_rare, size in zip(parts, packed, m.values.shape, strict=True):
        names += w.members
        shape += [size] if of_rare else w.sizes
        recodes.update(w.maps)
        if of_rare:
            recodes[w.members[0]] = _packed(w, compressed[w.name], domain)
    order = domain.ordered_set(names)
    values = m.values.reshape(shape).transpose([names.index(n) for n in order])
    return Measurement(attributes=order, values=values, sigma=m.sigma, law=m.law, recodes=recodes)


def _packed(w: Working, c: Compressed, domain: Domain) -> Map:
    """Code of the attribute -> cell, for a working attribute of one member."""
    name = w.members[0]
    inside = w.maps.get(name, np.arange(domain[name].size))
    return np.asarray(c.recode()[inside], dtype=np.intp)


def _axis(w: Working, c: Compressed | None, domain: Domain) -> JointAxis:
    """The axis of a working attribute, from the codes of its members in domain order."""
    names = domain.ordered_set(w.members)
    grid = np.indices(domain.shape(names)).reshape(len(names), -1)
    coarse = [w.maps[m][grid[names.index(m)]] if m in w.maps else grid[names.index(m)] for m in w.members]
    cells = np.ravel_multi_index(tuple(coarse), w.sizes)
    return JointAxis(attributes=names, recode=np.asarray(cells if c is None else c.recode()[cells], dtype=np.intp))
