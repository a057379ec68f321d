"""What each part of a design gets of the budget, as steps of a plan. Public facts alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from dpsyn_core.privacy.cost import Cost
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.domain import AttributeSet, Domain
from dpsyn_core.synthesizers.dpsyn2018.lifting import Listed
from dpsyn_core.synthesizers.dpsyn2018.views import part_of
from dpsyn_core.synthesizers.dpsyn2018.working import Working
from dpsyn_core.synthesizers.steps import Step, noise_of, share_of

Parts = Sequence[Sequence[str]]


def attributes_of(part: Sequence[str], working: Mapping[str, Working], domain: Domain) -> tuple[str, ...]:
    """The attributes of the schema that a part holds, in the order of the domain."""
    found = {m for n in part for m in working[n].members}
    return tuple(n for n in domain.names if n in found)


def listed_steps(
    listed: Sequence[Listed], parts: Parts, rest: Cost, *, whole: Cost, unit: Unit, working: Mapping[str, Working],
    domain: Domain,
) -> list[Step]:  # fmt: skip
    """What is listed, exactly: one step, or one for every part of several attributes, also where it gets nothing."""
    costs = rest.split([s.weight for s in listed])
    at = [part_of(s.whole, parts) for s in listed]
    out = []
    several = {i for i, p in enumerate(parts) if len(p) > 1}
    for part in sorted({*at, *several}, key=lambda p: -1 if p is None else p):
        own = [i for i, p in enumerate(at) if p == part]
        inside = () if part is None else attributes_of(parts[part], working, domain)
        if not own:
            out.append(Step(kind="listed", parts=(0, 0), share=(0.0, 0.0), inside=inside))
            continue
        noises = [noise_of(costs[i], unit) for i in own]
        share = sum(share_of(costs[i], whole) for i in own)
        out.append(
            Step(
                kind="listed", parts=(len(own), len(own)), share=(share, share), sigma=(min(noises), max(noises)),
                cells=(1, max(math.prod(w.size for w in listed[i].parts) for i in own)),
                inside=inside,
            )
        )  # fmt: skip
    return out


def inside_steps(
    sure: Sequence[Sequence[AttributeSet]], tried: Sequence[Sequence[AttributeSet]], parts: Parts, rest: Cost, *,
    cap: int, whole: Cost, unit: Unit, working: Mapping[str, Working], domain: Domain,
) -> list[Step]:  # fmt: skip
    """A step for every part of several attributes. How many sets fit depends on which values are rare: all are bounds.

    Args:
        sure: sets of each part that fit in any case.
        tried: sets of each part that may fit.
        parts: of the design.
        rest: what all sets cost together, evenly.
        cap: cells of a set.
        whole: the cost of the run.
        unit: whom it protects.
        working: the working attributes.
        domain: of the schema.
    """
    fewest = [len(sets) for sets in sure]
    # where nothing else fits, every attribute is measured once more
    most = [len(sets) if any(fewest) else max(len(sets), len(p)) for sets, p in zip(tried, parts, strict=True)]
    share = share_of(rest, whole)
    high, low = (noise_of(rest.scaled(1 / max(n, 1)), unit) for n in (sum(most), sum(fewest)))
    return [
        Step(
            kind="chosen",
            parts=(few, many),
            share=(share * few / max(few + sum(most) - many, 1), share * many / max(many + sum(fewest) - few, 1)),
            sigma=(low, high),
            cells=(1, max([working[n].size for n in part] + [min(cap, _cells(s, working)) for s in sets])),
            inside=attributes_of(part, working, domain),
        )
        for part, sets, few, many in zip(parts, tried, fewest, most, strict=True)
        if many
    ]


def _cells(names: AttributeSet, working: Mapping[str, Working]) -> int:
    return math.prod(working[n].size for n in names)
