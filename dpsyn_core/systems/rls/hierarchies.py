"""Columns that follow from others, as a country from a city, and how they are kept in every synthetic record.

Which columns these are was released (`Follower`), and so was a table of each with the column that it follows from. The
likeliest value for each value of the finer column is what follows. Records are fitted without the columns that follow:
their tables are read at what follows from the finer column, so that a city moves together with its country. Chains
(school, district, region) have one root. Post-processing only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.estimate import Follower, Measurement, Number, Target, Together

if TYPE_CHECKING:
    from dpsyn_core.estimate import ModelSum
    from dpsyn_core.schema import AttributeSet, Domain

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
SAME = 0.98  # of the entropy of a column, from which on one that follows from it is another name of it
FIRM = 1e-3  # records: no gain of a move makes up for a cell that is off by one
CLEAR = 5.0  # standard deviations of its noise, from which on a cell is no largest of many by chance


def entropy(counts: Floats) -> float:
    """Of the shares of counts, in nats; at least 0."""
    p = counts[counts > 0] / max(float(counts.sum()), 1e-9)
    return float(-(p * np.log(p)).sum())


class Hierarchies:
    """Which columns follow from which in a release, and by which maps. Post-processing.

    kept: positions of the columns that follow from no other one. root: for each column the position of the one that it
    follows from in the end, or the position itself. maps: for each column the value that follows for each value of that
    one.
    """

    def __init__(
        self,
        domain: Domain,
        followers: Sequence[Follower],
        tables: Mapping[AttributeSet, Measurement],
        one_ways: Sequence[Floats],
    ) -> None:
        """tables: of followers with what they follow from. one_ways: released counts, without most of their noise."""
        self.domain, self._one_ways = domain, one_ways
        self.root = list(range(len(domain)))
        self.maps: list[Codes] = [np.arange(size) for size in domain.sizes]
        self._exceptions = {domain.index(f.name): f.exceptions for f in followers}
        direct = {domain.index(f.name): domain.index(f.of) for f in followers}
        steps = {i: _what_follows(tables, domain, i, of, one_ways) for i, of in direct.items()}
        for i, of in direct.items():
            self.root[i], self.maps[i] = of, steps[i]
            while self.root[i] in direct:
                above = self.root[i]
                self.root[i], self.maps[i] = direct[above], self.maps[i][steps[above]]
        self.kept = [i for i, r in enumerate(self.root) if i == r]
        self._place = {i: k for k, i in enumerate(self.kept)}
        self._at = {n: i for i, n in enumerate(domain.names)}
        self._steps, self._tables = steps, [(f, tables[domain.ordered_set((f.name, f.of))]) for f in followers]
        varied = {i: entropy(np.maximum(one_ways[i], 0.0)) for i in {*direct, *self.root}}
        self._names = {i for i in direct if varied[i] > SAME * varied[self.root[i]]}

    def tells(self, pair: AttributeSet) -> bool:
        """Whether the table of a pair follows from a one-way: both have one root, or one duplicates a column."""
        first, second = (self._at[n] for n in pair)
        return self.root[first] == self.root[second] or bool(self._names & {first, second})

    def free(self, name: str) -> bool:
        """Whether a column follows from no other one."""
        return self._at[name] in self._place

    def of_free_outcomes(self, sums: Sequence[ModelSum]) -> list[ModelSum]:
        """Sums of models whose outcome neither follows from a column nor has one that follows from it."""
        return [s for s in sums if self.root.count(self.root[self._at[s.design.outcome]]) == 1]

    def one_way(self, name: str) -> list[Measurement]:
        """Counts of a column that the tables of its followers without exceptions show, where these are clear."""
        out = []
        for f, m in self._tables:
            if f.of == name and not f.exceptions:
                i, of = self._at[f.name], self._at[f.of]
                values = m.values if m.attributes[0] == f.of else m.values.T
                cells = values[np.arange(len(values)), self._steps[i]]
                clear = cells > CLEAR * m.sigma
                out.append(replace(m, attributes=(name,), values=np.where(clear, cells, self._one_ways[of]), shared=""))
        return out

    def in_kept(self, name: str, marks: NDArray[np.bool_]) -> tuple[int, NDArray[np.bool_]]:
        """Where a column, or the one that it follows from, stands among those that are kept, with marks of values."""
        i = self._at[name]
        return self._place[self.root[i]], marks[self.maps[i]]

    def of_kept(self, values: Sequence[Floats]) -> list[Floats]:
        """What belongs to the columns that are kept."""
        return [values[i] for i in self.kept]

    def numbers(self, numbers: Sequence[Number]) -> list[Number]:
        """Those that are kept, where they stand then."""
        return [replace(n, place=self._place[n.place]) for n in numbers if n.place in self._place]

    def narrowed(self, tables: Sequence[Target], *, counted: bool = False) -> list[Target]:
        """Tables over the columns that are kept; first the one-ways of these, then all others in their order.

        A table of two columns with one root follows from the root's, and is left out. counted: for tables that are only
        counted, all of which stay, in their order.
        """
        if len(self.kept) == len(self.root):
            return list(tables)
        order: Sequence[int] = range(len(tables))
        if not counted:
            alone = [i for i in order if len(tables[i].attributes) == 1 and tables[i].attributes[0] in self._place]
            order = [*alone[: len(self.kept)], *(i for i in order if i not in set(alone[: len(self.kept)]))]
        out = []
        for x in (tables[i] for i in order):
            roots = [self.root[i] for i in x.attributes]
            if counted or len(set(roots)) == len(roots):
                maps = tuple(m[self.maps[i]] for i, m in zip(x.attributes, x.maps, strict=True))
                out.append(replace(x, attributes=tuple(self._place[r] for r in roots), maps=maps))
        return out

    def whole(self, rows: NDArray[np.uint16], rng: Generator | None = None) -> NDArray[np.uint16]:
        """Records with all columns. rng: for exceptions; None makes none."""
        if len(self.kept) == len(self.root):
            return rows
        out = np.empty((len(rows), len(self.root)), dtype=rows.dtype)
        for i, (r, follows) in enumerate(zip(self.root, self.maps, strict=True)):
            out[:, i] = follows[rows[:, self._place[r]]]
            shares = np.maximum(self._one_ways[i], 0.0)
            if rng is not None and self._exceptions.get(i) and shares.sum() > 0:
                shares = shares / shares.sum()
                apart = np.flatnonzero(
                    rng.random(len(rows)) < self._exceptions[i] / max(1 - float(shares @ shares), 0.1)
                )
                out[apart, i] = rng.choice(len(shares), len(apart), p=shares)
        return out


def _what_follows(
    tables: Mapping[AttributeSet, Measurement], domain: Domain, name: int, of: int, one_ways: Sequence[Floats]
) -> Codes:
    """For each value of a column the likeliest value of the one that follows, by their noisy table and its margins."""
    names = domain.ordered_set((domain.names[name], domain.names[of]))
    m = tables[names]
    values = m.values if names[0] == domain.names[of] else m.values.T
    totals, share = np.maximum(one_ways[of], 1.0), np.maximum(one_ways[name], 0.0)
    usual = np.log(np.maximum(share / max(float(share.sum()), 1e-9), 1e-9))
    # all records of a value stand in one cell: the likelihood of a cell grows by count times what it shows
    return np.asarray(np.argmax(values + m.sigma**2 / totals[:, None] * usual, axis=1), dtype=np.intp)


class Agreements:
    """Values that columns have in the same records, such as "skip" behind a filter. Post-processing.

    The first column of a group decides. Records are fitted without the others first, then these get a value that
    agrees, and the fit goes on with moves alone that keep it so.
    """

    def __init__(self, hierarchies: Hierarchies, groups: Sequence[Together]) -> None:
        """hierarchies: of the same release, which says where columns stand in the records that are fitted."""
        self._hierarchies, domain = hierarchies, hierarchies.domain
        self._marks = [
            {n: np.isin(np.arange(domain[n].size), codes) for n, codes in group.codes.items()} for group in groups
        ]

    def __bool__(self) -> bool:
        return bool(self._marks)

    def filter_of(self, name: str) -> int | None:
        """The number of the first group that a column is in; None where it is in none."""
        return next((i for i, group in enumerate(self._marks) if name in group), None)

    def marks(self, pair: AttributeSet) -> tuple[NDArray[np.bool_], NDArray[np.bool_]] | None:
        """Which values of two columns stand in the same records; None where no hierarchy says so."""
        for group in self._marks:
            if pair[0] in group and pair[1] in group:
                return group[pair[0]], group[pair[1]]
        return None

    def reconcile(self, one_ways: list[Floats], sigmas: Sequence[float], total: float) -> None:
        """Gives the values of a group the same number of records in all of its columns, in place."""
        for group in self._marks:
            places = [self._hierarchies.domain.index(n) for n in group]
            marks = list(group.values())
            counts = np.array([one_ways[i][m].sum() for i, m in zip(places, marks, strict=True)])
            precise = np.array([1 / (sigmas[i] ** 2 * m.sum()) for i, m in zip(places, marks, strict=True)])
            together = float(np.clip(counts @ precise / precise.sum(), 0.0, total))
            for i, m in zip(places, marks, strict=True):
                sums = np.where(m, one_ways[i][m].sum(), one_ways[i][~m].sum())
                one_ways[i] = one_ways[i] * np.where(m, together, total - together) / np.maximum(sums, 1e-9)

    def without(self, targets: Sequence[Target]) -> list[Target]:
        """Those of several columns in which no column is decided by another one."""
        decided = {place for pairs in self._pairs() for _, (place, _) in [pairs]}
        return [t for t in targets if len(t.attributes) == 1 or decided.isdisjoint(t.attributes)]

    def deal(self, rows: NDArray[np.uint16], probabilities: Sequence[Floats], rng: Generator) -> list[Target]:
        """Lets records agree, in place; targets that hold them there."""
        firm = []
        for (first, of_first), (place, marks) in self._pairs() * len(self._marks):  # what is decided may decide others
            target, current = of_first[rows[:, first]], marks[rows[:, place]]
            for mark in (False, True):
                wrong = np.flatnonzero((target == mark) & (current != mark))
                p = np.where(marks == mark, probabilities[place], 0.0)
                p = p if p.sum() > 0 else (marks == mark).astype(np.float64)
                rows[wrong, place] = rng.choice(len(p), len(wrong), p=p / p.sum())
        for (first, of_first), (place, marks) in self._pairs():
            counts = np.bincount(of_first[rows[:, first]].astype(np.intp), minlength=2).astype(np.float64)
            maps = (of_first.astype(np.intp), marks.astype(np.intp))
            firm.append(Target(attributes=(first, place), maps=maps, values=np.diag(counts), sigma=FIRM, firm=True))
        return firm

    def _pairs(self) -> list[tuple[tuple[int, NDArray[np.bool_]], tuple[int, NDArray[np.bool_]]]]:
        """Place and marks of the column that decides, and of one that it decides, among the columns that are kept."""
        out = []
        for group in self._marks:
            first, *others = (self._hierarchies.in_kept(n, m) for n, m in group.items())
            out += [(first, other) for other in others if other[0] != first[0]]
        return out
