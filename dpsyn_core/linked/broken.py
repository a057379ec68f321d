"""Which children and parents break the rules of a link. Of real tables, for their owner only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.linked.joined import Kin
from dpsyn_core.linked.rules import AnyLinkRule, CountRule, LinkOrderRule, named
from dpsyn_core.schema.conditions import clauses
from dpsyn_core.schema.meant import Meant
from dpsyn_core.schema.ruled import PLAIN, Bools, Group, broken
from dpsyn_core.schema.rules import AnyRule

Ints = NDArray[np.int64]


def meets(where: str | None, group: Group, n: int) -> Bools:
    """Which children meet all conditions; None: all of them."""
    out = np.ones(n, dtype=bool)
    for clause in () if where is None else clauses(where):
        column = group[clause.attribute]
        out &= column.meets(Meant.of(column.attribute, clause))
    return out


def broken_of(rule: AnyRule | AnyLinkRule, group: Group, n: int) -> Bools:
    """Which children (n,) break a rule on one child; it says nothing of one whose number or sibling is missing."""
    if not isinstance(rule, LinkOrderRule):
        return broken(rule, group)  # type: ignore[arg-type]
    low, high = group[rule.lower], group[rule.upper]
    plain = (low.state == PLAIN) & (high.state == PLAIN)
    gap = float(rule.apart)
    wrong = low.values + gap >= high.values if rule.strict else low.values + gap > high.values
    out: Bools = plain & wrong & meets(rule.where, group, n)
    return out


@dataclass(frozen=True, kw_only=True, slots=True)
class Counted:
    """A rule of numbers, parent by parent. number: children that meet it; least, most: (parents,), what is allowed."""

    met: Bools
    number: Ints
    least: Ints
    most: Ints

    @property
    def broken(self) -> Bools:
        """Which parents break it."""
        out: Bools = (self.number < self.least) | (self.number > self.most)
        return out


def counted(rule: CountRule, kin: Kin) -> Counted:
    """How many children of each parent meet a rule of numbers."""
    n = len(kin.parent)
    met = meets(rule.where, kin.columns(named(rule.where)), n)
    about = np.ones(kin.n_parents, dtype=bool)
    if rule.given is not None:
        about = kin.per_parent(meets(rule.given, kin.columns(named(rule.given)), n)) > 0
    most = n if rule.most is None else rule.most
    return Counted(
        met=met, number=kin.per_parent(met), least=np.where(about, rule.least, 0),
        most=np.where(about, most, n),
    )  # fmt: skip


def breaking(rules: Sequence[AnyLinkRule], kin: Kin) -> list[tuple[AnyLinkRule, Bools]]:
    """Of each rule the parents that break it, by themselves or by one of their children, (parents,)."""
    out: list[tuple[AnyLinkRule, Bools]] = []
    for rule in rules:
        if isinstance(rule, CountRule):
            out.append((rule, counted(rule, kin).broken))
        else:
            out.append((rule, kin.per_parent(broken_of(rule, kin.columns(rule.columns), len(kin.parent))) > 0))
    return out
