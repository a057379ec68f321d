"""Marginals that name a member of a group alone, brought onto the group, so that records can follow them. Blind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.estimate import Coarsening, Compressed, Measurement, coarsen, probabilities, product
from dpsyn_core.systems.others.dpsyn2018.work_tables import Working

SWEEPS = 30  # corrections settle well before; each is one pass over the table


@dataclass(frozen=True, kw_only=True, slots=True)
class Listed:
    """A listed set, resolved.

    parts: what is counted, in the order of the working attributes and of the members in them. whole: the working
    attributes that they belong to. members: for each of those the members that are named alone, or none when the
    attribute is named as a whole.
    """

    parts: tuple[Working, ...]
    whole: tuple[str, ...]
    members: tuple[tuple[str, ...], ...]
    weight: float

    @property
    def lifted(self) -> bool:
        """Whether a member of a group is named alone."""
        return any(self.members)

    def lifted_cells(self, working: Mapping[str, Working]) -> int:
        """Cells of the table onto which this set is brought, before compression."""
        return int(np.prod([working[n].size for n in self.whole], dtype=object))


def resolve(names: Sequence[str], weight: float, working: Mapping[str, Working]) -> Listed:
    """Finds the working attributes that the names of a set stand for; the design has been checked."""
    whole, members, parts = [], [], []
    for w in working.values():
        alone = tuple(m for m in w.members if m in names) if w.name not in names else ()
        if w.name not in names and not alone:
            continue
        whole.append(w.name)
        members.append(alone)
        parts += [w.alone(m) for m in alone] or [w]
    return Listed(parts=tuple(parts), whole=tuple(whole), members=tuple(members), weight=weight)


def lift(
    measured: Sequence[tuple[Measurement, Listed]],
    working: Mapping[str, Working],
    one_ways: Mapping[str, NDArray[np.float64]],
    compressed: Mapping[str, Compressed],
) -> list[Measurement]:
    """One table a set of working attributes, which agrees with all that was measured of their members.

    The start spreads every cell over the codes of the group by the one-way of the group; further tables over the
    same attributes correct it in turn, each by what it disagrees, spread in the same shares. All of it is linear in
    the measurements, so that negative cells stay unbiased. Where nothing else was measured that is independence of
    the group's other members given the named one.

    Args:
        measured: measurements over members with the sets they come from; other attributes are compressed there.
        working: the working attributes.
        one_ways: released counts of working attributes, before compression; uniform where there is none.
        compressed: how working attributes are counted in the other tables.
    """
    by_axes: dict[tuple[tuple[str, bool], ...], list[tuple[Measurement, Listed]]] = {}
    for m, s in measured:
        key = tuple((n, bool(alone)) for n, alone in zip(s.whole, s.members, strict=True))
        by_axes.setdefault(key, []).append((m, s))
    out = []
    for key, tables in by_axes.items():
        whole = [n for n, _ in key]
        prior = product([_shares(n, alone, working, one_ways, compressed) for n, alone in key], 1.0)
        goals = [_goal(m, s, working, prior.shape) for m, s in tables]
        table = float(np.mean([g.sum() for g, _ in goals])) * prior
        for _ in range(SWEEPS if len(goals) > 1 else 1):
            for goal, maps in goals:
                table = table + _spread(goal - _summed(table, whole, maps), prior, whole, maps)
        recodes = {n: compressed[n].recode for n, alone in key if alone and n in compressed}
        table = coarsen(table, whole, recodes)
        spread = float(np.mean([m.sigma * np.sqrt(m.values.size) for m, _ in tables]))
        out.append(Measurement(attributes=tuple(whole), values=table, sigma=spread / np.sqrt(table.size)))
    return out


def _shares(
    name: str,
    alone: bool,
    working: Mapping[str, Working],
    one_ways: Mapping[str, NDArray[np.float64]],
    compressed: Mapping[str, Compressed],
) -> NDArray[np.float64]:
    """Released shares of an attribute's codes, or of its compressed cells where it is named as a whole."""
    values = one_ways.get(name, np.ones(working[name].size))
    if not alone and name in compressed:
        values = compressed[name].recode.sum(values)
    return probabilities(probabilities(values) + 1e-9)


def _goal(
    m: Measurement, s: Listed, working: Mapping[str, Working], shape: Sequence[int]
) -> tuple[NDArray[np.float64], list[Coarsening]]:
    """A measurement with one axis a working attribute, and how every axis of the whole table leads to it."""
    maps = [
        working[n].onto(alone) if alone else Coarsening.identity(size)
        for n, alone, size in zip(s.whole, s.members, shape, strict=True)
    ]
    return m.values.reshape([listed.size for listed in maps]), maps


def _summed(table: NDArray[np.float64], whole: Sequence[str], maps: Sequence[Coarsening]) -> NDArray[np.float64]:
    return coarsen(table, whole, dict(zip(whole, maps, strict=True)))


def _spread(
    values: NDArray[np.float64], prior: NDArray[np.float64], whole: Sequence[str], maps: Sequence[Coarsening]
) -> NDArray[np.float64]:
    """Every coarse cell over its fine cells, in the shares of the prior."""
    sums = _summed(prior, whole, maps)
    ratio = np.divide(values, sums, out=np.zeros_like(values), where=sums > 0)
    return np.asarray(prior * ratio[np.ix_(*(r.map for r in maps))])
