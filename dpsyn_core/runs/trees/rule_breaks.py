"""Which children and parents break the rules of a link, and how many roots. Of real tables, for their owner only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.runs.trees.joined_columns import Kin, own_columns_of, roots_of
from dpsyn_core.runs.trees.keys import distinct_keys, places_of_keys
from dpsyn_core.schema.linked import Link, LinkedSchema
from dpsyn_core.schema.rules.columns import PLAIN, Bools, Group, broken
from dpsyn_core.schema.rules.condition import Condition
from dpsyn_core.schema.rules.linked_rules import AnyLinkRule, CountRule, LinkOrderRule, named
from dpsyn_core.schema.rules.registry import AnyRule
from dpsyn_core.tables.cells.canonical import has_decimal_comma
from dpsyn_core.tables.clauses import clauses

Ints = NDArray[np.int64]


def meets(where: str | None, group: Group, n: int) -> Bools:
    """Which children meet all conditions; None: all of them."""
    out = np.ones(n, dtype=bool)
    for clause in () if where is None else clauses(where):
        column = group[clause.attribute]
        out &= column.meets(Condition.of(column.attribute, clause))
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


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkRuleBreaks:
    """A rule of a link in words, and how many of the parents break it, by themselves or by one of their children."""

    link: str
    rule: str
    parents: int
    of: int

    def sentence(self) -> str:
        """For people."""
        return f"{self.link}: {self.parents:,} of {self.of:,} break '{self.rule}'"


def broken_roots(schema: LinkedSchema, tables: Mapping[str, Any]) -> list[LinkRuleBreaks]:
    """For each rule of each link, in their order; children without a parent do not count.

    Args:
        schema: of version 2.
        tables: pyarrow by name, real ones (then what comes out is private) or synthetic ones.

    Raises:
        TableError: a column is missing.
    """
    out: list[LinkRuleBreaks] = []
    for link in schema.links:
        if link.rules:
            kin = _kin(schema, link, tables)
            out += [
                LinkRuleBreaks(link=f"{link.parent} > {link.child}", rule=str(rule), parents=int(found.sum()),
                               of=kin.n_parents)
                for rule, found in breaking(link.rules, kin)
            ]  # fmt: skip
    return out


def _kin(schema: LinkedSchema, link: Link, tables: Mapping[str, Any]) -> Kin:
    """Children by their parents, in the order that the link declares."""
    parents, children = tables[link.parent], tables[link.child]
    key = str(schema[link.parent].key)
    once, first = distinct_keys(parents, key)
    parent = places_of_keys(children, link.key, once)
    own = own_columns_of(children, schema[link.child].coded, comma=has_decimal_comma(children))
    above = own_columns_of(parents, schema[link.parent].coded, comma=has_decimal_comma(parents))
    roots: Group = {}
    upper = schema.above(link)
    if upper is not None:
        root, of = tables[schema.root.name], schema.links[upper].key
        names, rows = distinct_keys(root, schema.root_key)
        place = places_of_keys(parents, of, names)[first]
        columns = own_columns_of(root, schema.root.coded, comma=has_decimal_comma(root))
        roots = roots_of({n: c[rows] for n, c in columns.items()}, schema.root.name, place)
    by = [parent] if link.order is None else [own[link.order].values, parent]
    order = np.lexsort(by)
    order = order[parent[order] >= 0]
    return Kin(
        link,
        parent[order],
        len(first),
        {n: c[order] for n, c in own.items()},
        {n: c[first] for n, c in above.items()},
        roots,
    )
