"""Joined columns: those of a child beside its parent's and its siblings', by the names that rules and questions use."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.schema import BEFORE, BLANK, Bools, Group, Link, Rows, RuleColumn
from dpsyn_core.tables import locate

Ints = NDArray[np.int64]


def own_columns_of(table: Any, attributes: Iterable[Any], *, comma: bool = False) -> Group:
    """Columns of a pyarrow table of these attributes, by their names."""
    listed = list(attributes)
    at = locate(table.column_names, [a.name for a in listed])
    return {a.name: RuleColumn.read(table.column(i), a, comma=comma) for a, i in zip(listed, at, strict=True)}


def taken(column: RuleColumn, rows: Ints) -> RuleColumn:
    """Cells of these records; blank where a place is -1."""
    lacking = rows < 0
    if not len(column.values):
        values = np.zeros(len(rows), dtype=column.values.dtype)
        return RuleColumn(column.attribute, values, np.full(len(rows), BLANK, dtype=np.uint8))
    out = column[np.where(lacking, 0, rows)]
    out.state[lacking] = BLANK
    out.values[lacking] = 0 if column.attribute.dated else -1  # no code of a category
    return out


def roots_of(columns: Group, root: str, of_parent: Ints) -> Group:
    """Columns of the root of each parent, by the names that rules of grandchildren use."""
    return {f"{root}.{name}": taken(column, of_parent) for name, column in columns.items()}


class Kin:
    """Of each child of a link its parent, the siblings in single roles, and the sibling before it, by their places.

    Args:
        link: of a schema.
        parent: place of the parent of each child, (n,); those of one parent stand together, in their order.
        n_parents: how many parents there are.
        own: columns of the children.
        parents: columns of the parents.
        roots: of grandchildren, columns of the root of each parent, by their names in rules: table.column.
    """

    def __init__(
        self, link: Link, parent: Ints, n_parents: int, own: Group, parents: Group, roots: Group | None = None
    ) -> None:
        """Keeps columns and places."""
        self.link, self.parent, self.own, self.parents = link, parent, own, parents
        self.roots = roots or {}
        self.n_parents = n_parents
        n = len(parent)
        self.places: dict[str, Ints] = {}
        here = np.arange(n)
        if link.roles is not None:
            role = own[link.roles.column]
            for value in link.roles.single:
                mine = np.flatnonzero(role.holds(value))
                of_root = np.full(n_parents, -1, dtype=np.int64)
                of_root[parent[mine]] = mine
                root = of_root[parent]
                self.places[value] = np.where(root == here, -1, root)  # nobody is a relative of itself
        if link.order is not None:
            first = np.append(True, parent[1:] != parent[:-1])[:n]
            self.places[BEFORE] = np.where(first, -1, here - 1)

    def column(self, name: str, rows: Rows | None = None) -> RuleColumn:
        """One column by its name in rules, one cell a child; of these children, as a copy, or of all."""
        if name in self.own:
            return self.own[name] if rows is None else self.own[name][rows]
        parent = self.parent if rows is None else self.parent[rows]
        if name in self.roots:
            return taken(self.roots[name], parent)
        prefix, _, rest = name.partition(".")
        while prefix not in self.places and prefix != self.link.parent and "." in rest:  # a name may hold a dot itself
            more, _, rest = rest.partition(".")
            prefix = f"{prefix}.{more}"
        if prefix == self.link.parent:
            return taken(self.parents[rest], parent)
        return taken(self.own[rest], self.places[prefix] if rows is None else self.places[prefix][rows])

    def columns(self, names: Iterable[str], rows: Rows | None = None) -> Group:
        """Several."""
        return {n: self.column(n, rows) for n in dict.fromkeys(names)}

    def per_parent(self, met: Bools) -> Ints:
        """How many children of each parent these are, (parents,)."""
        return np.bincount(self.parent[met], minlength=self.n_parents).astype(np.int64)
