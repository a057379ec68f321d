"""Forest: roots, children, grandchildren as codes, real or synthetic, and how many of which kind a parent has."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.schema import CodedAttribute, Codes, Link, LinkedSchema

Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, slots=True)
class Children:
    """The children of all parents by one link, as codes of the child table (see `columns_of`).

    singles: for each role that one child may have, whether a parent has it (parents,), and its codes (columns,
    parents), which mean nothing where there is none. rest: codes (columns, n) of all other children, those of one
    parent one after the other. counts: (parents,), how many of them a parent has.
    """

    singles: tuple[tuple[NDArray[np.bool_], Codes], ...]
    rest: Codes
    counts: Ints

    @property
    def of_parent(self) -> Ints:
        """The parent of each child among the rest, (n,)."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    @property
    def parents(self) -> Ints:
        """The parent of each child, those in single roles first, then the rest."""
        at = [np.flatnonzero(there) for there, _ in self.singles]
        return np.concatenate([*at, self.of_parent]).astype(np.int64)

    @property
    def codes(self) -> Codes:
        """Codes of all children (columns, n), in the order of `parents`."""
        return np.concatenate([*(codes[:, there] for there, codes in self.singles), self.rest], axis=1)

    def with_columns(self, added: Ints) -> Children:
        """The same with further columns (columns, n), of children in the order of `parents`."""
        at, singles = 0, []
        for there, codes in self.singles:
            more = np.zeros((len(added), len(there)), dtype=np.int64)
            end = at + int(there.sum())
            more[:, there] = added[:, at:end]
            singles.append((there, _below(codes, more)))
            at = end
        return replace(self, singles=tuple(singles), rest=_below(self.rest, added[:, at:]))

    @property
    def position(self) -> Ints:
        """The place of each child among the rest of its parent, from 0, (n,)."""
        return np.arange(int(self.counts.sum())) - np.repeat(np.cumsum(self.counts) - self.counts, self.counts)

    @property
    def first(self) -> NDArray[np.bool_]:
        """Which of the rest is the first of its parent, (n,)."""
        mask = np.zeros(self.rest.shape[1], dtype=bool)
        mask[(np.cumsum(self.counts) - self.counts)[self.counts > 0]] = True
        return mask


@dataclass(frozen=True, kw_only=True, slots=True)
class Forest:
    """Roots and, link by link, children.

    shapes: for each link the code of `ChildShape`, (parents,). above: for each link the place of the link whose
    children are its parents, in the order of `Children.parents`; None: they are the roots.
    """

    roots: Codes
    shapes: tuple[Ints, ...]
    children: tuple[Children, ...]
    above: tuple[int | None, ...]

    @property
    def n_roots(self) -> int:
        """Number of roots."""
        return int(self.roots.shape[1])

    def parent_codes(self, link: int) -> Codes:
        """Codes of the parents of a link (columns of `columns_of`, parents)."""
        above = self.above[link]
        return self.roots if above is None else self.children[above].codes

    def root_of(self, link: int) -> Ints:
        """The root of each parent of a link, (parents,)."""
        above = self.above[link]
        return np.arange(self.n_roots) if above is None else self.root_of(above)[self.children[above].parents]

    def with_link(self, link: int, shape: Ints, children: Children) -> Forest:
        """The same with the children of one link."""
        shapes, hanging = list(self.shapes), list(self.children)
        shapes[link], hanging[link] = shape, children
        return replace(self, shapes=tuple(shapes), children=tuple(hanging))


class ChildShape:
    """How many children of which kind a parent may have by one link: one more attribute of the parent.

    Without roles and order: their number. With roles: which of the single roles there are, and the number of the rest.
    With an order that no two share: which of its values there are.
    """

    def __init__(self, schema: LinkedSchema, link: Link) -> None:
        """Public facts alone."""
        self.link = link
        child = schema[link.child]
        self.single = () if link.roles is None else link.roles.single
        self.order = None if link.order is None else child.position(link.order)
        self.role = None if link.roles is None else child.position(link.roles.column)
        self.distinct = child.coded[self.order].size if link.distinct and self.order is not None else 0

    @cached_property
    def kinds(self) -> list[tuple[tuple[bool, ...], int]]:
        """What each code says, but for orders that no two share: the single roles there are, and the number of rest."""
        most = self.link.max_children
        return [
            (has, rest)
            for has in itertools.product((False, True), repeat=len(self.single))
            for rest in range(most - sum(has) + 1)
            if sum(has) <= most
        ]

    @property
    def size(self) -> int:
        """Number of codes."""
        return 1 << self.distinct if self.distinct else len(self.kinds)

    def attribute(self) -> CodedAttribute:
        """As an attribute of the parent: numbers of children are in order, other shapes are not."""
        return CodedAttribute(
            name=f"{self.link.child}: number", size=self.size, ordered=not (self.single or self.distinct)
        )

    def labels(self) -> list[str]:
        """One text a code, for schemas and figures."""
        if self.distinct:
            return [format(code, f"0{self.distinct}b")[::-1] for code in range(self.size)]
        names = [" + ".join([n for n, there in zip(self.single, has, strict=True) if there]) for has, _ in self.kinds]
        return [f"{name} + {rest}" if name else str(rest) for name, (_, rest) in zip(names, self.kinds, strict=True)]

    def codes(self, children: Children) -> Ints:
        """The code of each parent, (parents,)."""
        if self.distinct and self.order is not None:
            bits = np.int64(1) << children.rest[self.order].astype(np.int64)
            return np.bincount(children.of_parent, weights=bits, minlength=len(children.counts)).astype(np.int64)
        number = {kind: code for code, kind in enumerate(self.kinds)}
        most = self.link.max_children + 1
        table = np.zeros((1 << len(self.single)) * most, dtype=np.int64)
        for (has, rest), code in number.items():
            table[_bits(has) * most + rest] = code
        mask = np.zeros(len(children.counts), dtype=np.int64)
        for bit, (there, _) in enumerate(children.singles):
            mask += there.astype(np.int64) << bit
        codes: Ints = table[mask * most + children.counts]
        return codes

    def has(self, codes: Ints, single: int) -> NDArray[np.bool_]:
        """Whether parents of these codes have the single role of this place."""
        table = np.array([has[single] for has, _ in self.kinds])
        mask: NDArray[np.bool_] = table[codes]
        return mask

    def rest(self, codes: Ints) -> Ints:
        """How many other children parents of these codes have."""
        if self.distinct:
            return np.bitwise_count(codes).astype(np.int64)
        table = np.array([rest for _, rest in self.kinds], dtype=np.int64)
        counts: Ints = table[codes]
        return counts

    @property
    def numbers(self) -> Ints:
        """How many children parents of each code have, (size,)."""
        codes = np.arange(self.size)
        return self.rest(codes) + sum((self.has(codes, i) for i in range(len(self.single))), np.int64(0))

    def orders(self, codes: Ints) -> Ints:
        """The order of each child of parents of these codes, parent after parent, where no two share one."""
        bits = (codes[:, None] >> np.arange(self.distinct)) & 1
        orders: Ints = np.nonzero(bits)[1]
        return orders


def columns_of(schema: LinkedSchema, table: str) -> list[CodedAttribute]:
    """The columns of a table's codes: its attributes, and for a child table how many children each record has."""
    coded = [a.coded_attribute() for a in schema[table].coded]
    if table == schema.root.name:
        return coded
    shapes = shapes_of(schema)
    return coded + [shapes[i].attribute() for i in schema.below(table)]


def _below(codes: Codes, more: Ints) -> Codes:
    if not len(more):
        return codes
    return np.concatenate(
        [codes, more.astype(np.result_type(codes.dtype, np.min_scalar_type(int(more.max(initial=0)))))]
    )


def _bits(has: tuple[bool, ...]) -> int:
    return sum(int(there) << bit for bit, there in enumerate(has))


def shapes_of(schema: LinkedSchema) -> tuple[ChildShape, ...]:
    """The shapes of all links, in their order."""
    return tuple(ChildShape(schema, link) for link in schema.links)
