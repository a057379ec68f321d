"""Changes few cells of synthetic children, so that no root breaks a rule of its links. Post-processing.

Children that break an order exchange cells with others. A child that still breaks a rule takes another value of its
columns, or all cells that rules of its table tie together, of a child with a similar parent; its parent, its order
and a role that one child has stay. Where children of a parent meet conditions too often or too seldom, some take cells
of others. A root that a bounded number of rounds leaves broken is replaced by a whole one that keeps all rules and has
about as many children: of these tables, or, where there is none, of tables drawn from the public schema alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.runs.trees.joined_columns import Kin, own_columns_of, roots_of
from dpsyn_core.runs.trees.rule_breaks import breaking
from dpsyn_core.schema import (
    MOST_RULES,
    PLAIN,
    AnyLinkRule,
    Bools,
    CountRule,
    Group,
    Link,
    LinkedSchema,
    LinkOrderRule,
    Rows,
    Rule,
    RuleColumn,
    RuleProposal,
    accept,
    any_broken,
    faults,
    met,
    named,
    part,
    plain_in,
    rewritten,
    spans_of,
    swap,
)

Ints = NDArray[np.int64]
ROUNDS = 8  # through all rules of a link, before whole roots are replaced
PARTNERS = 6  # that a child is offered for each change, one after the other
EXCHANGES = 24  # partners that a child is offered to exchange cells with; cheap, and the column keeps its counts


class Mender:
    """Children of one link on their way to keep all rules."""

    def __init__(
        self, schema: LinkedSchema, link: Link, parent: Ints, n_parents: int, own: Group, above: tuple[Group, Group]
    ) -> None:
        """See `Kin`; columns in `own` are changed in place. above: columns of parents and roots."""
        child = schema[link.child]
        self.link, self.kin = link, Kin(link, parent, n_parents, own, *above)
        self.n = len(parent)
        self.inside: tuple[Rule, ...] = () if child.columns is None else child.columns.rules
        self.each = [r for r in link.rules if not r.counts]
        self.numbers = [r for r in link.rules if isinstance(r, CountRule)]
        self.close = {(s.minus, child.coded[s.own].name) for s in spans_of(schema, link)}
        self.fixed = np.zeros(self.n, dtype=bool)  # whose role stands
        role = None if link.roles is None else link.roles.column
        if link.roles is not None and role is not None:
            for value in link.roles.single:
                self.fixed |= own[role].holds(value)
        self.role, self.standing = role, {link.order} - {None}

    def wrong(self) -> Bools:
        """Which children break a rule on one child, of the link or of their table, (n,)."""
        return any_broken((*self.each, *self.inside), self._named(None))

    def broken_parents(self) -> Bools:
        """Which parents break a rule, by themselves or by one of their children."""
        out = self.kin.per_parent(self.wrong()) > 0
        for _, broken in breaking(self.numbers, self.kin):
            out |= broken
        return out

    def mend(self, rng: Generator) -> None:
        """Rounds through the rules, whose proposals are accepted as in one table; some may stay broken."""
        for _ in range(ROUNDS):
            if not self.broken_parents().any():
                return
            for rule in self.link.rules:
                for proposal in self._proposals(rule, rng):
                    accept(proposal, self.kin.own, self.faults)

    def faults(self, rows: Rows) -> NDArray[np.int64]:
        """How many rules these children break, and by how many children their parents have too many or too few.

        A rule of the table counts more than all of the link: changes are proposed for these alone.
        """
        group, heavy = self._named(rows), MOST_RULES * (1 + self.link.max_children)
        out = faults(self.each, group) + heavy * faults([r for r in self.inside if not r.table_wide], group)
        for rule in self.inside:
            if rule.table_wide:
                out += heavy * rule.broken(self.kin.own)[rows]
        for rule in self.numbers:
            out += rule.counted(self.kin).amiss[self.kin.parent[rows]]
        return out

    def _named(self, rows: Rows | None) -> Group:
        """Own columns of these children, and what rules of the link name besides; None: of all."""
        return self.kin.columns((*self.kin.own, *(n for r in self.each for n in r.columns)), rows)

    def _proposals(self, rule: AnyLinkRule, rng: Generator) -> Iterator[RuleProposal]:
        """Changes for a rule, the mildest first, each made of what the ones before it have left.

        Siblings that only break it by such a change wait for the next round, which begins with the mildest again.
        """
        if isinstance(rule, CountRule):
            yield from self._handed_over(rule, rng)
            return
        first = rule.broken(self.kin.columns(rule.columns))
        if isinstance(rule, LinkOrderRule):
            yield from self._exchanges(rule, first, rng)
        for names, cells in self._tries(rule, np.flatnonzero(~self.wrong()), rng):
            left = np.flatnonzero(first & rule.broken(self.kin.columns(rule.columns)))
            if not len(left):
                return
            given = dict(zip(names, cells(left), strict=True))
            inside = [c.allows(c.values) | (c.state != PLAIN) for c in given.values()]
            able = np.flatnonzero(np.logical_and.reduce(inside))
            yield RuleProposal(rows=left[able], cells=part(given, able))

    def _exchanges(self, rule: LinkOrderRule, first: Bools, rng: Generator) -> Iterator[RuleProposal]:
        """Children that break an order exchange cells with others, so that the column keeps its counts.

        Values that are only moved away from what they break would all be later ones.
        """
        mine = [n for n in (rule.lower, rule.upper) if n in self.kin.own and n not in self.standing]
        if len(mine) != 1 or (rule.lower, rule.upper) in self.close:  # the time between would be another's
            return
        group = self.kin.columns(rule.columns)
        about = plain_in((rule.lower, rule.upper), group) & met(rule.where, group)
        others = np.flatnonzero(about & ~self.wrong())
        for turn in range(EXCHANGES):
            left = np.flatnonzero(first & rule.broken(group))
            if not min(len(left), len(others)):
                return
            yield swap(self.kin.own, self._tied(rule), *rule.partners(mine[0], turn, left, others, group, rng))
            group = self.kin.columns(rule.columns)

    def _movable(self, name: str, at: Ints) -> Bools:
        if name not in self.kin.own or name in self.standing:
            return np.zeros(len(at), dtype=bool)
        return ~self.fixed[at] if name == self.role else np.ones(len(at), dtype=bool)

    def _tries(self, rule: AnyLinkRule, fine: Ints, rng: Generator) -> Any:
        """Changes of child columns, in the order in which they are tried: their names, and cells for some children."""
        columns = self.kin.own
        yield from self._together(rule, fine, rng)
        if isinstance(rule, LinkOrderRule):
            ends = [(rule.lower, rule.upper, False), (rule.upper, rule.lower, True)]
            ends = [e for e in ends if e[0] in columns and e[0] not in self.standing]
            group = self.kin.columns(rule.columns)
            plain = fine[(group[rule.lower].state[fine] == PLAIN) & (group[rule.upper].state[fine] == PLAIN)]
            about = plain[met(rule.where, group)[plain]]
            for name, other, up in ends:
                for _ in range(PARTNERS if len(about) else 0):
                    yield (
                        [name],
                        lambda at, name=name, other=other, up=up: [
                            self._as_far(name, other, at, about[rng.integers(0, len(about), len(at))], up)
                        ],
                    )
            steps = (columns[n].step for n, _, _ in ends)
            gap = rule.gap((max(steps, default=0.0), 0.0))
            for name, other, up in ends:
                yield [name], lambda at, name=name, other=other, up=up: [self._at(name, other, at, gap, up)]
        for name in rule.columns:
            if name not in columns or name in self.standing:
                continue
            for _ in range(PARTNERS if len(fine) else 0):
                yield [name], lambda at, name=name: [columns[name][self._donors(name, at, fine, rng)]]

    def _together(self, rule: AnyLinkRule, fine: Ints, rng: Generator) -> Any:
        """All cells that rules of the table tie together, of a child whose parent or sibling is like this one's.

        Where one cell follows from another, or stands in order with it, a change of a single one would not do.
        """
        columns, names = self.kin.own, self._tied(rule)
        if not len(fine) or len(names) <= sum(n in names for n in rule.columns):
            return
        order = np.lexsort(
            (
                *(self.kin.column(n).values for n in rule.columns if n not in columns),
                np.zeros(self.n) if self.role is None else columns[self.role].values,
            )
        )
        rank = np.empty(self.n, dtype=np.int64)
        rank[order] = np.arange(self.n)
        ranked = fine[np.argsort(rank[fine])]
        wide = max(PARTNERS, len(fine) // 100)

        def cells(at: Ints) -> list[RuleColumn]:
            near = np.searchsorted(rank[ranked], rank[at]) + rng.integers(-wide, wide + 1, len(at))
            donors = ranked[np.clip(near, 0, len(ranked) - 1)]
            return [columns[n][donors] for n in names]

        for _ in range(PARTNERS):
            yield names, cells

    def _tied(self, rule: AnyLinkRule) -> list[str]:
        """Own columns of a rule, and those that rules of the table tie to them; not those that stand."""
        tied = set(rule.columns)
        for _ in self.inside:
            tied |= {n for r in self.inside if tied & set(r.columns) for n in r.columns}
        return [n for n in self.kin.own if n in tied and n not in self.standing and n != self.role]

    def _donors(self, name: str, at: Ints, fine: Ints, rng: Generator) -> Ints:
        """Children that keep all rules, one for each; itself where its cell stands."""
        some = fine
        if name == self.role:  # a role that one child has is not handed out
            some = fine[~self.fixed[fine]]
        drawn = some[rng.integers(0, len(some), len(at))] if len(some) else at
        return np.where(self._movable(name, at), drawn, at)

    def _as_far(self, name: str, other: str, at: Ints, partners: Ints, up: bool) -> RuleColumn:
        """As far from the other value as it is in another child."""
        mine, theirs = self.kin.own[name], self.kin.column(other)
        return self._next(mine, theirs.values[at] + (mine.values[partners] - theirs.values[partners]), up=up)

    def _at(self, name: str, other: str, at: Ints, gap: float, up: bool) -> RuleColumn:
        """Next to the other value."""
        return self._next(self.kin.own[name], self.kin.column(other).values[at] + (gap if up else -gap), up=up)

    def _next(self, column: RuleColumn, target: NDArray[Any], *, up: bool) -> RuleColumn:
        """The value of the column's grid next to each target, upwards or downwards."""
        values = column.nearest(target, up=up).astype(column.values.dtype)
        return RuleColumn(column.attribute, values, np.full(len(target), PLAIN, dtype=np.uint8))

    def _handed_over(self, rule: CountRule, rng: Generator) -> Iterator[RuleProposal]:
        """One child of each parent that has too few or too many takes cells of others."""
        names = [n for n in named(rule.where) if n in self.kin.own and n not in self.standing]
        for up in (True, False) * (PARTNERS if names else 0):
            counts = rule.counted(self.kin)
            short = counts.number < counts.least if up else counts.number > counts.most
            free = ~self.fixed if self.role in names else np.ones(self.n, dtype=bool)
            meets = counts.met if up else ~counts.met
            at = np.flatnonzero(free & ~meets & short[self.kin.parent])
            pool = np.flatnonzero(free & meets & ~self.wrong()) if len(at) else at
            if len(pool):
                at = at[_one_of_each(self.kin.parent[at], rng)]
                donors = pool[rng.integers(0, len(pool), len(at))]
                yield RuleProposal(rows=at, cells={n: self.kin.own[n][donors] for n in names})


def _one_of_each(parent: Ints, rng: Generator) -> Ints:
    """Places of one child of each parent, drawn."""
    order = rng.permutation(len(parent))
    return order[np.unique(parent[order], return_index=True)[1]]


def mended_table(
    schema: LinkedSchema,
    link: Link,
    table: Any,
    parent: Ints,
    n_parents: int,
    above: tuple[Group, Group],
    rng: Generator,
) -> tuple[Any, Bools]:
    """A child table (pyarrow) whose children keep the rules of their link, and the parents that break one still.

    Args:
        schema: public.
        link: of it.
        table: synthetic, children of one parent together and in their order.
        parent: place of the parent of each child, (n,).
        n_parents: how many parents there are.
        above: columns of the parents, and of the roots of these (`above_of`).
        rng: for cells that are drawn again; used only where a rule is broken.
    """
    columns = schema[link.child].columns
    if columns is None or not link.rules:
        return table, np.zeros(n_parents, dtype=bool)
    out = own_columns_of(table, schema[link.child].coded)
    before = {n: c[np.arange(len(parent))] for n, c in out.items()}
    mender = Mender(schema, link, parent, n_parents, out, above)
    mender.mend(rng)
    changed = {n: c.differs(before[n]) for n, c in out.items()}
    some = {n: c for n, c in out.items() if changed[n].any()}
    return rewritten(table, some, changed, columns, rng), mender.broken_parents()


def above_of(tables: Mapping[str, Any], schema: LinkedSchema, link: Link, root_of: Ints) -> tuple[Group, Group]:
    """Columns of the parents of a link and, of grandchildren, of the roots of these; root_of: their places."""
    parents = own_columns_of(tables[link.parent], schema[link.parent].coded)
    if schema.above(link) is None:
        return parents, {}
    root = schema.root
    return parents, roots_of(own_columns_of(tables[root.name], root.coded), root.name, root_of)
