"""Which children and parents break the rules of a link, and how many roots. Of real tables, for their owner only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpsyn_core.runs.trees.joined_columns import Kin, own_columns_of, roots_of
from dpsyn_core.runs.trees.keys import distinct_keys, places_of_keys
from dpsyn_core.schema import Bools, Group, Link, LinkedSchema, Rule
from dpsyn_core.tables import has_decimal_comma


def breaking(rules: Sequence[Rule], kin: Kin) -> list[tuple[Rule, Bools]]:
    """Of each rule the parents that break it, by themselves or by one of their children, (parents,)."""
    return [(rule, rule.broken_parents(kin)) for rule in rules]


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
                LinkRuleBreaks(
                    link=f"{link.parent} > {link.child}", rule=str(rule), parents=int(broken.sum()), of=kin.n_parents
                )
                for rule, broken in breaking(link.rules, kin)
            ]
    return out


def _kin(schema: LinkedSchema, link: Link, tables: Mapping[str, Any]) -> Kin:
    """Children by their parents, in the order that the link declares."""
    parents, children = tables[link.parent], tables[link.child]
    key = str(schema[link.parent].key)
    once, first = distinct_keys(parents, key)
    parent = places_of_keys(children, link.key, once)
    group = own_columns_of(children, schema[link.child].coded, comma=has_decimal_comma(children))
    above = own_columns_of(parents, schema[link.parent].coded, comma=has_decimal_comma(parents))
    roots: Group = {}
    upper = schema.above(link)
    if upper is not None:
        root, of = tables[schema.root.name], schema.links[upper].key
        names, rows = distinct_keys(root, schema.root_key)
        place = places_of_keys(parents, of, names)[first]
        columns = own_columns_of(root, schema.root.coded, comma=has_decimal_comma(root))
        roots = roots_of({n: c[rows] for n, c in columns.items()}, schema.root.name, place)
    by = [parent] if link.order is None else [group[link.order].values, parent]
    order = np.lexsort(by)
    order = order[parent[order] >= 0]
    return Kin(
        link,
        parent[order],
        len(first),
        {n: c[order] for n, c in group.items()},
        {n: c[first] for n, c in above.items()},
        roots,
    )
