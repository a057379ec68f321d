"""What each part of a design gets of the budget, as steps of a plan. Public facts alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dpsyn_core.privacy.cost import Cost
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.domain import AttributeSet, Domain
from dpsyn_core.synthesizers.dpsyn2018.lifting import Listed
from dpsyn_core.synthesizers.dpsyn2018.views import part_of
from dpsyn_core.synthesizers.dpsyn2018.working import Working
from dpsyn_core.synthesizers.steps import Step, noise_of, share_of


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
            own = [i for i, p in enumerate(at) if p == part]
            inside = () if part is None else self._attributes(self.parts[part])
            if not own:
                out.append(Step(kind="listed", parts=(0, 0), share=(0.0, 0.0), inside=inside))
                continue
            noises = [noise_of(costs[i], self.unit) for i in own]
            share = sum(share_of(costs[i], self.whole) for i in own)
            most = max(math.prod(w.size for w in listed[i].parts) for i in own)
            out.append(
                Step(
                    kind="listed", parts=(len(own), len(own)), share=(share, share), sigma=(min(noises), max(noises)),
                    cells=(1, most), inside=inside,
                )
            )  # fmt: skip
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
        found = {m for n in part for m in self.working[n].members}
        return tuple(n for n in self.domain.names if n in found)

    def _cells(self, names: AttributeSet) -> int:
        return math.prod(self.working[n].size for n in names)
