"""Parts of a design: measured apart, lifted, joined.

Parts of a table, synthesized separately and joined on the attributes that they share.

What each part of a design gets of the budget, as steps of a plan. Public facts alone.

What DPSyn 2018 released, over the schema's attributes instead of the working ones. Post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.estimate import Coarsening, Compressed, JointAxis, JointTable, Measurement, UpdateSettings, match_within
from dpsyn_core.privacy import Cost, Unit
from dpsyn_core.progress import Progress, silent
from dpsyn_core.schema import AttributeSet, Domain
from dpsyn_core.systems.others.dpsyn2018.lifting import Listed
from dpsyn_core.systems.others.dpsyn2018.views import part_of
from dpsyn_core.systems.others.dpsyn2018.work_tables import Working
from dpsyn_core.systems.steps import Step, noise_of, share_of


def join_parts(
    tables: Sequence[Measurement],
    domain: Domain,
    parts: Sequence[Sequence[str]],
    n: int,
    settings: UpdateSettings,
    *,
    rng: Generator,
    progress: Progress = silent,
) -> NDArray[np.unsignedinteger]:
    """Codes (n_attributes, n): each part follows the tables inside it; parts meet on the attributes they share.

    Attributes of a part that no table connects are synthesized separately and joined at random, as parts that share
    nothing. Records of two parts are put together within each combination of the shared attributes, as far as both have
    that many of it, and at random beyond that or where they share nothing. The earlier part's value is kept.

    Args:
        tables: consistent, over attributes of `domain`.
        domain: working attributes.
        parts: together they hold every attribute.
        n: number of records.
        settings: of the record updates.
        rng: post-processing randomness.
        progress: reports the updates.
    """
    from dpsyn_core.estimate import fit_to_marginals  # numba is heavy

    dtype = np.min_scalar_type(max(domain.sizes, default=1) - 1)
    codes = np.zeros((len(domain), n), dtype=dtype)
    done: list[str] = []
    for part in parts:
        sub = domain.project(part)
        inside = [m for m in tables if m.attributes and set(m.attributes) <= set(part)]
        records = fit_to_marginals(inside, sub, n, settings, rng=rng, progress=progress)
        shared = [a for a in sub.names if a in done]
        new = [a for a in sub.names if a not in done]
        if shared:
            have = _key(codes[[domain.index(a) for a in shared]])
            give = _key(records[[sub.index(a) for a in shared]])
            _, keys = np.unique(np.concatenate([have, give], axis=1), axis=1, return_inverse=True)
            records = records[:, match_within(keys[:n], keys[n:], rng=rng)]
        codes[[domain.index(a) for a in new]] = records[[sub.index(a) for a in new]]
        done += new
    return codes


def _key(rows: NDArray[np.unsignedinteger]) -> NDArray[np.int64]:
    return rows.astype(np.int64)


@dataclass(frozen=True, kw_only=True, slots=True)
class PartsBudget:
    """The sets of a design and what pays for them.

    parts: of the design; empty where it has none. rest: what all sets cost together. whole: the cost of the
    run. unit: whom it protects. working: the working attributes. domain: of the schema.
    """

    parts: Sequence[Sequence[str]]
    rest: Cost
    whole: Cost
    unit: Unit
    working: Mapping[str, Working]
    domain: Domain

    def listed(self, listed: Sequence[Listed]) -> list[Step]:
        """What is listed, exactly: one step, or one for every part of several attributes, if it gets nothing too."""
        costs = self.rest.split([s.weight for s in listed])
        at = [part_of(s.whole, self.parts) for s in listed]
        several = {i for i, p in enumerate(self.parts) if len(p) > 1}
        out = []
        for part in sorted({*at, *several}, key=lambda p: -1 if p is None else p):
            places = [i for i, p in enumerate(at) if p == part]
            inside = () if part is None else self._attributes(self.parts[part])
            if not places:
                out.append(Step(kind="listed", parts=(0, 0), share=(0.0, 0.0), inside=inside))
                continue
            noises = [noise_of(costs[i], self.unit) for i in places]
            share = sum(share_of(costs[i], self.whole) for i in places)
            most = max(math.prod(w.size for w in listed[i].parts) for i in places)
            out.append(
                Step(
                    kind="listed",
                    parts=(len(places), len(places)),
                    share=(share, share),
                    sigma=(min(noises), max(noises)),
                    cells=(1, most),
                    inside=inside,
                )
            )
        return out

    def inside(
        self, sure: Sequence[Sequence[AttributeSet]], tried: Sequence[Sequence[AttributeSet]], *, cap: int
    ) -> list[Step]:
        """A step for every part of several attributes. How many sets fit depends on which values are rare: bounds.

        Args:
            sure: sets of each part that fit in any case; all sets share the budget evenly.
            tried: sets of each part that may fit.
            cap: cells of a set.
        """
        fewest = [len(sets) for sets in sure]
        # where nothing else fits, every attribute is measured once more
        most = [len(sets) if any(fewest) else max(len(sets), len(p)) for sets, p in zip(tried, self.parts, strict=True)]
        share = share_of(self.rest, self.whole)
        high, low = (noise_of(self.rest.scaled(1 / max(n, 1)), self.unit) for n in (sum(most), sum(fewest)))
        return [
            Step(
                kind="chosen",
                parts=(few, many),
                share=(share * few / max(few + sum(most) - many, 1), share * many / max(many + sum(fewest) - few, 1)),
                sigma=(low, high),
                cells=(1, max([self._cells((n,)) for n in part] + [min(cap, self._cells(s)) for s in sets])),
                inside=self._attributes(part),
            )
            for part, sets, few, many in zip(self.parts, tried, fewest, most, strict=True)
            if many
        ]

    def _attributes(self, part: Sequence[str]) -> tuple[str, ...]:
        """The attributes of the schema that a part holds, in the order of the domain."""
        members = {m for n in part for m in self.working[n].members}
        return tuple(n for n in self.domain.names if n in members)

    def _cells(self, names: AttributeSet) -> int:
        return math.prod(self.working[n].size for n in names)


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
    sizes = dict(zip(w.members, w.sizes, strict=True))
    grid = np.indices([sizes[n] for n in names]).reshape(len(names), -1)
    cells = Coarsening(np.ravel_multi_index(tuple(grid[names.index(m)] for m in w.members), w.sizes), w.size)
    return JointAxis(attributes=names, recode=cells if c is None else cells.compose(c.recode), recodes=w.maps)
