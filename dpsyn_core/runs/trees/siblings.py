"""Where children without an order start: any two of one parent are as alike as released tables of siblings say.

A number or ordered category follows a Gaussian copula with one effect a parent, any column an urn, in which a child
takes the value of a random earlier sibling or a fresh draw (Blackwell and MacQueen 1973). In both, any two children
of a parent depend on each other alike, however many there are: as far as they stand apart in no order, they must.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.estimate import Measurement
from dpsyn_core.runs.trees.forest import Children
from dpsyn_core.runs.trees.stages import difference_codes
from dpsyn_core.schema import CodedAttribute
from dpsyn_core.systems import RlsEvidence

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
ALIKE = 0.35  # strength of the strongest column from which on siblings start alike; at .25 nothing is gained by it
STRENGTHS = np.linspace(0, 0.95, 20)  # that are tried: correlations, or chances of an earlier sibling's value
SURE = 9.0  # by which a strength must explain released tables better than none: three standard deviations
NODES = 32  # of the integral over the effect of a parent
LARGEST = 512  # values of a column up to which tables of two siblings are tried
GROUPS = 16  # of parents, of which such a table is the mean


@dataclass(frozen=True, kw_only=True, slots=True)
class Given:
    """What a column follows of the parent: chances (groups, its size) of its values, and the group of each parent."""

    chances: Floats
    group: Ints

    @property
    def shares(self) -> Floats:
        """How often each group occurs, (groups,)."""
        counts = np.bincount(self.group, minlength=len(self.chances)).astype(np.float64)
        return counts / max(float(counts.sum()), 1.0)

    def most(self, count: int) -> Given:
        """The same with the most frequent groups alone."""
        kept = np.argsort(-self.shares, kind="stable")[:count]
        place = np.full(len(self.chances), -1, dtype=np.int64)
        place[kept] = np.arange(len(kept))
        group = place[self.group]
        return Given(chances=self.chances[kept], group=group[group >= 0])


@dataclass(frozen=True, kw_only=True, slots=True)
class Likeness:
    """How alike any two siblings are in a column. strength: 0 to 1. given: what it follows of the parent besides."""

    given: Given
    strength: float
    draw: Callable[[Given, float, Children, Generator], Ints]

    def column(self, children: Children, rng: Generator) -> Ints:
        """Codes of all children."""
        return self.draw(self.given, self.strength, children, rng)


def likeness(name: str, given: Given, siblings: RlsEvidence, children: Children) -> Likeness | None:
    """The dependence of siblings in a column, from released tables; None where no table has it twice.

    Args:
        name: of the column in the view of siblings.
        given: what it follows of the parent; siblings are alike for that, too.
        siblings: what was released of consecutive ones.
        children: how many each parent has.
    """
    before, attribute = f"{name} before", siblings.domain[name]
    gap = next((n for n in siblings.domain.names if n == f"{name} - {before}"), None)
    of_both = {before, name}
    tables = [m for m in siblings.joint if set(m.attributes) == of_both or m.attributes == (gap,)]
    tables += [] if gap is None else siblings.value_by_value(gap)
    several = children.counts > 1
    if not tables or attribute.size > LARGEST or not several.any():
        return None
    some = Given(chances=given.chances, group=given.group[several]).most(GROUPS)
    kinds = [(_urn, _from_urn)] + [(_copula, _from_copula)] * attribute.ordered
    fits = [
        (_misfit(table(some, s), tables, attribute, siblings.total), s, draw)
        for table, draw in kinds
        for s in STRENGTHS
    ]
    none = fits[0][0] - SURE
    best, strength, draw = min(fits, key=lambda one: one[0])
    if best > none:
        strength, draw = 0.0, _from_urn
    return Likeness(given=given, strength=float(strength), draw=draw)


def _misfit(table: Floats, tables: Sequence[Measurement], attribute: CodedAttribute, total: float) -> float:
    """Squared distance of released tables from those of this one, in standard deviations of their noise."""
    out = 0.0
    for m in tables:
        if len(m.attributes) == 1:
            codes = difference_codes(attribute, attribute)
            if m.recodes:
                codes = m.recodes[m.attributes[0]].map[codes]
            expected: Floats = np.bincount(codes.ravel(), table.ravel(), m.values.size).astype(np.float64)
        else:
            expected = table
            for axis, n in enumerate(m.attributes):
                if n in m.recodes:
                    expected = _summed(expected, m.recodes[n].map, m.values.shape[axis], axis)
        out += float(np.square((m.values - total * expected.reshape(m.values.shape)) / m.sigma).sum())
    return out


def _summed(table: Floats, places: NDArray[np.intp], size: int, axis: int) -> Floats:
    out = np.zeros((size, table.shape[1 - axis]))
    np.add.at(out, places, np.moveaxis(table, axis, 0))
    return np.moveaxis(out, 0, axis)


def _ends(chances: Floats) -> Floats:
    """Upper ends of the values on the scale of a standard normal, (groups, size - 1)."""
    from scipy.special import ndtri  # scipy is heavy

    ends: Floats = ndtri(np.clip(np.cumsum(chances, axis=1)[:, :-1], 1e-12, 1 - 1e-12))
    return ends


def _copula(given: Given, correlation: float) -> Floats:
    """Chances of the values of two siblings, for all groups together, by a Gaussian copula."""
    from scipy.special import ndtr

    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    upto = ndtr((_ends(given.chances)[:, :, None] - np.sqrt(correlation) * nodes) / np.sqrt(1 - correlation))
    each = np.diff(upto, axis=1, prepend=0.0, append=1.0)  # (groups, size, nodes)
    each = np.moveaxis(each, 1, 0).reshape(each.shape[1], -1)
    out: Floats = (each * np.outer(given.shares, weights / weights.sum()).ravel()) @ each.T
    return out


def _from_copula(given: Given, correlation: float, children: Children, rng: Generator) -> Ints:
    effect = rng.normal(size=len(children.counts))[children.of_parent]
    level: Floats = np.sqrt(correlation) * effect + np.sqrt(1 - correlation) * rng.normal(size=len(effect))
    return _above(_ends(given.chances), level, given.group[children.of_parent])


def _above(ends: Floats, level: Floats, group: Ints) -> Ints:
    """How many ends of its group each level is above."""
    out = np.zeros(len(level), dtype=np.int64)
    order = np.argsort(group, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(group[order])) + 1) if len(order) else ():
        out[rows] = np.searchsorted(ends[group[rows[0]]], level[rows])
    return out


def _urn(given: Given, chance: float) -> Floats:
    """Chances of the values of two siblings, for all groups together, of which one is the other with this chance."""
    mean = given.shares @ given.chances
    return np.asarray(chance * np.diag(mean) + (1 - chance) * (given.chances * given.shares[:, None]).T @ given.chances)


def _from_urn(given: Given, chance: float, children: Children, rng: Generator) -> Ints:
    """Of j earlier siblings one is taken with the chance j / (j + t), t = 1 / chance - 1: alike for any two."""
    upto = np.cumsum(given.chances, axis=1)[:, :-1]
    level: Floats = rng.random(len(children.of_parent))
    out = _above(upto, level, given.group[children.of_parent])
    if chance <= 0:
        return out
    turn, more = children.position, 1 / chance - 1
    order = np.argsort(turn, kind="stable")
    ends = np.cumsum(np.bincount(turn)) if len(turn) else np.zeros(0, dtype=np.int64)
    for j in range(1, len(ends)):
        now = order[ends[j - 1] : ends[j]]
        taken = now[rng.random(len(now)) < j / (j + more)]
        out[taken] = out[taken - rng.integers(1, j + 1, len(taken))]
    return out
