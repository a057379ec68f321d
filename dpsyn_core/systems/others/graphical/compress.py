"""Rare codes measured as one: from released one-way marginals to the codes of a model, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.errors import TableError
from dpsyn_core.estimate import (
    Coarsening,
    Measurement,
    Recodes,
    coarse_shape,
    estimate_total,
    hand_out,
    scores_in_bins,
    shrink_one_way,
)
from dpsyn_core.schema import CodedAttribute, Domain
from dpsyn_core.systems.few_values import FewValuesConfig, many
from dpsyn_core.systems.others.graphical.fit import NoisyMarginal
from dpsyn_core.systems.others.graphical.model import draw_within


def rare_codes(ones: Sequence[Measurement], deviations: float, domain: Domain) -> dict[str, Coarsening]:
    """Maps codes below so many deviations of their noise to one last code; attributes without two such are left out.

    Neighbouring bins of a number of many bins are merged instead, until each holds its part of the records and so
    many deviations. Source: the support rule of McKenna's 2018 entry (three deviations). Reads released counts only.
    """
    out: dict[str, Coarsening] = {}
    total = estimate_total(ones)
    for m in ones:
        attribute = domain[m.attributes[0]]
        if many(attribute) and deviations > 0:
            counts = _cleaned(m, attribute, total)
            least = max(float(counts.sum()) / FewValuesConfig.number_values, deviations * m.sigma)
            out[attribute.name] = Coarsening.by_mass(counts, attribute, least=least)
            continue
        recode = Coarsening.rare(m.values >= deviations * m.sigma)
        if not recode.is_identity:
            out[attribute.name] = recode
    return out


def restored_codes(released: Sequence[Measurement], rare: float, domain: Domain) -> Recodes:
    """As `rare_codes`, from all tables of a release: the one-ways, in the order of the domain, and then the others.

    Raises TableError where the others were counted by other codes: no run released them so.
    """
    ones, others = released[: len(domain)], released[len(domain) :]
    if [m.attributes for m in ones] == domain.singletons() and not any(m.recodes for m in ones):
        recodes = rare_codes(ones, rare, domain)
        if all(dict(m.recodes) == {n: recodes[n] for n in m.attributes if n in recodes} for m in others):
            return recodes
    msg = "the tables were not counted as their one-ways and the settings say; use the file that the run wrote"
    raise TableError(msg)


def _cleaned(one: Measurement, attribute: CodedAttribute, total: float) -> NDArray[np.float64]:
    """Released counts of a number without most of their noise."""
    return shrink_one_way(one.values, one.sigma, ordered=True, special=attribute.special, total=total)


def coarse_sizes(domain: Domain, recodes: Recodes) -> dict[str, int]:
    """Sizes after the maps, in domain order."""
    return dict(zip(domain.names, coarse_shape(domain, domain.names, recodes), strict=True))


def target(m: Measurement, recodes: Recodes) -> NoisyMarginal:
    """A measurement as something to fit; one-ways at full resolution are summed into the coarse codes.

    Sums keep their variance: k cells of variance s^2 give k s^2.
    """
    values: NDArray[np.float64] = m.values
    variances: NDArray[np.float64] = np.full(m.values.shape, m.sigma**2)
    if len(m.attributes) == 1 and m.attributes[0] in recodes and m.attributes[0] not in m.recodes:
        recode = recodes[m.attributes[0]]
        values, variances = recode.sum(values), recode.sum(variances)
    return NoisyMarginal(attributes=m.attributes, values=values, variances=variances)


def decode(
    codes: NDArray[np.intp], ones: Mapping[str, Measurement], domain: Domain, recodes: Recodes, *, rng: Generator
) -> NDArray[np.unsignedinteger]:
    """Coarse codes back to codes: a merged one is drawn among its members by their released counts, or evenly.

    Bins of a number are handed out in the order that dependent numbers suggest.
    """
    sizes = coarse_sizes(domain, recodes)
    shape = [replace(a, size=sizes[a.name], number=a.number and many(a)) for a in domain.attributes]
    total = estimate_total([ones[a.name] for a in domain.attributes])
    scores = scores_in_bins(codes, Domain(tuple(shape)), rng=rng)
    out = np.zeros(codes.shape, dtype=np.min_scalar_type(max(domain.sizes) - 1))
    for i, a in enumerate(domain.attributes):
        if a.name not in recodes:
            out[i] = codes[i]
            continue
        recode, one = recodes[a.name], ones[a.name]
        table = np.zeros((recode.size, a.size))
        table[recode.map, np.arange(a.size)] = np.clip(_cleaned(one, a, total) if many(a) else one.values, 0, None)
        empty = table.sum(axis=1) <= 0
        table[recode.map[empty[recode.map]], np.flatnonzero(empty[recode.map])] = 1.0
        out[i] = draw_within(table, codes[i], rng=rng)
        if a.name in scores:
            hand_out(out[i], codes[i], scores[a.name])
    return out
