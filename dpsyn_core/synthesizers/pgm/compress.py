"""Rare codes measured as one: from released one-way marginals to the codes of a model, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.marginals.types import Measurement
from dpsyn_core.schema.domain import Domain
from dpsyn_core.synthesizers.pgm.fit import Target
from dpsyn_core.synthesizers.pgm.model import draw_within

Recodes = dict[str, NDArray[np.intp]]


def rare_codes(ones: Sequence[Measurement], deviations: float) -> Recodes:
    """Maps codes below so many deviations of their noise to one last code; attributes without two such are left out.

    Source: the support rule of McKenna's 2018 entry (three deviations). Reads released counts only.
    """
    out: Recodes = {}
    for m in ones:
        kept = m.values >= deviations * m.sigma
        if (~kept).sum() < 2:
            continue
        recode = np.full(m.values.size, int(kept.sum()), dtype=np.intp)
        recode[kept] = np.arange(int(kept.sum()))
        out[m.attributes[0]] = recode
    return out


def coarse_sizes(domain: Domain, recodes: Recodes) -> dict[str, int]:
    """Sizes after the maps, in domain order."""
    return {a.name: int(recodes[a.name].max()) + 1 if a.name in recodes else a.size for a in domain.attributes}


def target(m: Measurement, recodes: Recodes) -> Target:
    """A measurement as something to fit; one-ways at full resolution are summed into the coarse codes.

    Sums keep their variance: k cells of variance s^2 give k s^2.
    """
    values: NDArray[np.float64] = m.values
    variances: NDArray[np.float64] = np.full(m.values.shape, m.sigma**2)
    if len(m.attributes) == 1 and m.attributes[0] in recodes and m.attributes[0] not in m.recodes:
        recode = recodes[m.attributes[0]]
        values = np.asarray(np.bincount(recode, weights=values), dtype=np.float64)
        variances = np.asarray(np.bincount(recode, weights=variances), dtype=np.float64)
    return Target(attributes=m.attributes, values=values, variances=variances)


def decode(
    codes: NDArray[np.intp],
    ones: Mapping[str, NDArray[np.float64]],
    domain: Domain,
    recodes: Recodes,
    *,
    rng: Generator,
) -> NDArray[np.unsignedinteger]:
    """Coarse codes back to codes: a rare one is drawn among its members by their released counts, or evenly."""
    out = np.zeros(codes.shape, dtype=np.min_scalar_type(max(domain.sizes) - 1))
    for i, a in enumerate(domain.attributes):
        if a.name not in recodes:
            out[i] = codes[i]
            continue
        recode = recodes[a.name]
        table = np.zeros((int(recode.max()) + 1, a.size))
        table[recode, np.arange(a.size)] = np.clip(ones[a.name], 0, None)
        empty = table.sum(axis=1) <= 0
        table[recode[empty[recode]], np.flatnonzero(empty[recode])] = 1.0
        out[i] = draw_within(table, codes[i], rng=rng)
    return out
