"""What DPSyn 2018 released, over the schema's attributes instead of the working ones. Post-processing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dpsyn_core.marginals.coarsening import Coarsening
from dpsyn_core.marginals.compression import Compressed
from dpsyn_core.marginals.types import JointAxis, JointTable, Measurement
from dpsyn_core.schema.domain import Domain
from dpsyn_core.synthesizers.dpsyn2018.working import Working


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
    packed = [w.name in compressed and not compressed[w.name].recode.is_identity for w in parts]
    if any(of_rare and len(w.members) > 1 for w, of_rare in zip(parts, packed, strict=True)):
        axes = tuple(_axis(w, compressed[w.name] if p else None, domain) for w, p in zip(parts, packed, strict=True))
        return JointTable(axes=axes, values=m.values, sigma=m.sigma, law=m.law)
    names: list[str] = []
    shape: list[int] = []
    recodes: dict[str, Coarsening] = {}
    for w, of_rare, size in zip(parts, packed, m.values.shape, strict=True):
        names += w.members
        shape += [size] if of_rare else w.sizes
        recodes.update(w.maps)
        if of_rare:
            inside, onto = w.maps.get(w.members[0]), compressed[w.name].recode
            recodes[w.members[0]] = onto if inside is None else inside.compose(onto)
    order = domain.ordered_set(names)
    values = m.values.reshape(shape).transpose([names.index(n) for n in order])
    return Measurement(attributes=order, values=values, sigma=m.sigma, law=m.law, recodes=recodes)


def _axis(w: Working, c: Compressed | None, domain: Domain) -> JointAxis:
    """The axis of a working attribute, from the codes of its members in domain order."""
    names = domain.ordered_set(w.members)
    grid = np.indices(domain.shape(names)).reshape(len(names), -1)
    coarse = [w.maps[m].map[grid[names.index(m)]] if m in w.maps else grid[names.index(m)] for m in w.members]
    cells = Coarsening(np.ravel_multi_index(tuple(coarse), w.sizes), w.size)
    return JointAxis(attributes=names, recode=cells if c is None else cells.compose(c.recode))
