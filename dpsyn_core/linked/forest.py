"""Forest: roots with their children as codes, real or synthetic, and how many children of which kind a root has."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.linked.document import Link, LinkedSchema
from dpsyn_core.schema.codec import Codes
from dpsyn_core.schema.domain import CodedAttribute

Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, slots=True)
class Children:
    """The children of all roots by one link, as codes of the child table.

    singles: for each role that one child may have, whether a root has it (roots,), and its codes (attributes, roots),
    which mean nothing where there is none. rest: codes (attributes, n) of all other children, those of one root one
    after the other. counts: (roots,), how many of them a root has.
    """

    singles: tuple[tuple[NDArray[np.bool_], Codes], ...]
    rest: Codes
    counts: Ints

    @property
    def of_root(self) -> Ints:
        """The root of each child among the rest, (n,)."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    @property
    def position(self) -> Ints:
        """The place of each child among the rest of its root, from 0, (n,)."""
        return np.arange(int(self.counts.sum())) - np.repeat(np.cumsum(self.counts) - self.counts, self.counts)

    @property
    def first(self) -> NDArray[np.bool_]:
        """Which of the rest is the first of its root, (n,)."""
        found = np.zeros(self.rest.shape[1], dtype=bool)
        found[(np.cumsum(self.counts) - self.counts)[self.counts > 0]] = True
        return found


@dataclass(frozen=True, kw_only=True, slots=True)
class Forest:
    """Roots and, link by link, their children. shapes: for each link the code of `ChildShape`, (roots,)."""

    roots: Codes
    shapes: tuple[Ints, ...]
    children: tuple[Children, ...]

    @property
    def n_roots(self) -> int:
        """Number of roots."""
        return int(self.roots.shape[1])


class ChildShape:
    """How many children of which kind a root may have by one link: one more attribute of the root.

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
        """As an attribute of the root: numbers of children are in order, other shapes are not."""
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
        """The code of each root, (roots,)."""
        if self.distinct and self.order is not None:
            bits = np.int64(1) << children.rest[self.order].astype(np.int64)
            return np.bincount(children.of_root, weights=bits, minlength=len(children.counts)).astype(np.int64)
        number = {kind: code for code, kind in enumerate(self.kinds)}
        most = self.link.max_children + 1
        table = np.zeros((1 << len(self.single)) * most, dtype=np.int64)
        for (has, rest), code in number.items():
            table[_bits(has) * most + rest] = code
        mask = np.zeros(len(children.counts), dtype=np.int64)
        for bit, (there, _) in enumerate(children.singles):
            mask += there.astype(np.int64) << bit
        found: Ints = table[mask * most + children.counts]
        return found

    def has(self, codes: Ints, single: int) -> NDArray[np.bool_]:
        """Whether roots of these codes have the single role of this place."""
        table = np.array([has[single] for has, _ in self.kinds])
        found: NDArray[np.bool_] = table[codes]
        return found

    def rest(self, codes: Ints) -> Ints:
        """How many other children roots of these codes have."""
        if self.distinct:
            return np.bitwise_count(codes).astype(np.int64)
        table = np.array([rest for _, rest in self.kinds], dtype=np.int64)
        found: Ints = table[codes]
        return found

    @property
    def numbers(self) -> Ints:
        """How many children roots of each code have, (size,)."""
        codes = np.arange(self.size)
        return self.rest(codes) + sum((self.has(codes, i) for i in range(len(self.single))), np.int64(0))

    def orders(self, codes: Ints) -> Ints:
        """The order of each child of roots of these codes, root after root, where no two share one."""
        bits = (codes[:, None] >> np.arange(self.distinct)) & 1
        found: Ints = np.nonzero(bits)[1]
        return found


def _bits(has: tuple[bool, ...]) -> int:
    return sum(int(there) << bit for bit, there in enumerate(has))


def shapes_of(schema: LinkedSchema) -> tuple[ChildShape, ...]:
    """The shapes of all links, in their order."""
    return tuple(ChildShape(schema, link) for link in schema.links)
