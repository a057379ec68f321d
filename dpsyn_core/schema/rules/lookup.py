"""What follows from what in one table: a map from codes of some columns to the value of another one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.rules.base import Bools, Change, RecordRule, RuleProposal
from dpsyn_core.schema.rules.columns import Group, any_broken, part, plain_in
from dpsyn_core.schema.rules.date_parts import Part, part_of

Codes = NDArray[np.int64]
SEEN = 4.0  # weight of how much more often than by chance a value goes with a key, against how well its count fits
MOVES = 500  # of keys to other values, at most; each looks at all pairs of a key and a value
CHANCE = 4.0  # standard deviations of that share that chance alone explains


@dataclass(frozen=True, kw_only=True, slots=True)
class Lookup(RecordRule):
    """A map that records keep.

    column, of: what follows from what. keys: (m,), rising, codes of the columns in `of`, as one number, or parts of a
    date. targets: (m,), the value of each. closed: whether any other key breaks the rule; else the rule says nothing of
    it. part, on: of the date in `of`.
    """

    column: str
    of: tuple[str, ...]
    keys: Codes
    targets: NDArray[Any]
    closed: bool
    part: Part | None = None
    on: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The one that follows first."""
        return (self.column, *self.of)

    @property
    def gives(self) -> tuple[str, tuple[str, ...]]:
        """What follows from what."""
        return self.column, self.of

    def find(self, keys: Codes) -> tuple[NDArray[Any], Bools]:
        """The value that follows for each key, and whether there is one."""
        if not len(self.keys):
            return np.zeros(len(keys), dtype=self.targets.dtype), np.zeros(len(keys), dtype=bool)
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return self.targets[at], self.keys[at] == keys

    def target(self, group: Group) -> tuple[NDArray[Any], Bools]:
        """What the map or the date gives for each record, and whether it gives anything."""
        if self.part is None:
            return self.find(keys_of(self.of, group))
        date = group[self.of[0]]
        return self.find(part_of(self.part, date.values, date.attribute.unit_seconds, self.on))

    def broken(self, group: Group) -> Bools:
        """Records with another value than the one that follows."""
        target, defined = self.target(group)
        return plain_in(self.columns, group) & np.where(defined, target != group[self.column].values, self.closed)

    def filled(self, group: Group) -> Group:
        """The column with what follows."""
        column, (target, defined) = group[self.column], self.target(group)
        return {self.column: column.holding(np.where(defined & plain_in(self.columns, group), target, column.values))}

    def exchanges(self, rules: Sequence[RecordRule], columns: Group, rng: Generator) -> Iterator[RuleProposal]:
        """Records exchange what the column follows from, for all maps of the group together.

        That has more values, and so a less certain count of each: it is what changes.
        """
        lookups = [r for r in rules if isinstance(r, Lookup)]
        if lookups[0] is not self:  # one proposal for all of them
            return
        rows = np.flatnonzero(any_broken(lookups, columns))
        after = part({n: columns[n] for r in lookups for n in r.columns}, rows)
        for rule in lookups:
            finer = {*rule.of, *(n for r in lookups for n in r.columns if reached({n}, lookups).issuperset(rule.of))}
            _taken(rule, finer - {rule.column}, after, rng, every=2 if rule.column in finer else 1)
            after |= rule.filled(after)
        yield RuleProposal(rows=rows, cells=after)

    def moves(self, rules: Sequence[RecordRule], rows: Group, keepers: Group, rng: Generator) -> Iterator[Change]:
        """What the map gives; else what it follows from, of a record that the value here follows from."""
        del rules
        column, (target, defined) = rows[self.column], self.target(rows)
        yield {self.column: np.where(defined, target, column.values)}
        values = keepers[self.column].values
        order = np.argsort(values, kind="stable")
        first, last = (np.searchsorted(values[order], column.values, side=side) for side in ("left", "right"))
        if len(order):
            at = order[np.minimum((first + rng.random(len(first)) * (last - first)).astype(np.intp), len(order) - 1)]
            yield {n: keepers[n][at] for n in self.of}


def keys_of(of: Sequence[str], group: Group) -> Codes:
    """The columns that another follows from, as one number for each record."""
    columns = [group[n] for n in of]
    return joined([c.values for c in columns], [c.attribute.size for c in columns])


def joined(codes: Sequence[Codes], sizes: Sequence[int]) -> Codes:
    """The codes of several columns as one number a record, in int64. Raises SchemaError where they are too many."""
    if float(np.prod([float(s) for s in sizes])) > 2.0**62:
        msg = "the columns that it follows from have more combinations than 64 bits can number; name fewer"
        raise SchemaError(msg)
    out = np.zeros(len(codes[0]), dtype=np.int64)
    for code, size in zip(codes, sizes, strict=True):
        out = out * size + code
    return out


def reached(names: Set[str], rules: Iterable[RecordRule]) -> set[str]:
    """These columns and those that follow from them, directly or by way of others."""
    follows = [r.gives for r in rules if r.gives is not None]
    out, more = set(names), True
    while more:
        given = {column for column, of in follows if out.issuperset(of)}
        more = not given <= out
        out |= given
    return out


def commonest(keys: Codes, values: Codes) -> tuple[Codes, Codes]:
    """Keys, and of each the value that most records have, the smallest of equally many."""
    pairs, counts = np.unique(np.stack([keys, values]), axis=1, return_counts=True)
    order = np.lexsort((pairs[1], -counts, pairs[0]))
    distinct, first = np.unique(pairs[0][order], return_index=True)
    return distinct, pairs[1][order][first]


def _taken(rule: Lookup, names: Set[str], group: Group, rng: Generator, *, every: int) -> None:
    """Broken records exchange these columns, from which another follows; of those left, some take them from kept ones.

    every: which of them; 2 is half, where columns follow from each other, so that both bear what does not fit.
    """
    wrong, value = np.flatnonzero(rule.broken(group)), group[rule.column].values
    target, defined = rule.target(group)
    first, second = rng.permutation(wrong), rng.permutation(wrong)
    mine, theirs = _numbered(value[first]), _numbered(np.where(defined, target, -1)[second])
    _, i, j = np.intersect1d(mine, theirs, assume_unique=True, return_indices=True)
    places, givers = (np.concatenate([rows[at], np.delete(rows, at)]) for rows, at in ((first, i), (second, j)))
    for name in names:
        group[name].put(places, group[name][givers])
    left, right = places[len(i) :: every], np.flatnonzero(~rule.broken(group) & plain_in(rule.columns, group))
    right = right[np.argsort(value[right], kind="stable")]
    low, high = (np.searchsorted(value[right], value[left], side=side) for side in ("left", "right"))
    drawn = (low + rng.random(len(left)) * (high - low)).astype(np.intp)
    for name in names:
        group[name].put(left[high > low], group[name][right[drawn[high > low]]])


def _numbered(values: Codes) -> Codes:
    """Values (n,) that all differ: each with its number among its equals."""
    order = np.argsort(values, kind="stable")
    out = np.empty_like(values)
    out[order] = values[order] * len(values) + np.arange(len(values)) - np.searchsorted(values[order], values[order])
    return out


def map_by_counts(keys: Codes, values: Codes, *, alone: bool) -> tuple[Codes, Codes]:
    """A map from keys to values: most frequent keys first, each to the value most beyond chance that has room.

    The room of a value is its count, less the counts of the keys that have it; alone: it has room for one key only.
    Where columns were synthesized separately, every key would otherwise be mapped to the most frequent value.
    """
    names, key, size = np.unique(keys, return_inverse=True, return_counts=True)
    shown, value, room = np.unique(values, return_inverse=True, return_counts=True)
    base, free = room / max(len(values), 1), np.ones(len(shown), dtype=bool)
    pairs, counts = np.unique(key * len(shown) + value, return_counts=True)
    first = np.searchsorted(pairs, np.arange(len(names) + 1) * len(shown))
    chosen = np.full(len(names), -1)
    for k in np.argsort(-size, kind="stable"):
        seen = pairs[first[k] : first[k + 1]] - k * len(shown)
        share, left = counts[first[k] : first[k + 1]] / size[k], np.maximum(room[seen], 0)
        chance = CHANCE * np.sqrt(base[seen] * (1 - base[seen]) / size[k])
        fits = np.minimum(left, size[k]) / (np.maximum(left, size[k]) if alone else size[k])
        score = SEEN * np.maximum(share - base[seen] - chance, 0) + fits
        if not free[seen].any():
            seen = np.flatnonzero(free)
            score = -np.abs(room[seen] - size[k])
        if len(seen):
            best = seen[np.argmax(np.where(free[seen], score, -np.inf))]
            chosen[k] = best
            room[best] -= size[k]
            free[best] = not alone
    _fewer_moved(chosen, size, pairs, counts, room, alone=alone)
    return names[chosen >= 0], shown[chosen[chosen >= 0]]


def _fewer_moved(chosen: Codes, size: Codes, pairs: Codes, counts: Codes, room: Codes, *, alone: bool) -> None:
    """Keys take another value, or exchange theirs, in place, while fewer records then have to change.

    A record changes where the map gives its key another value, and where the count of a value is not that of its
    keys. A single key that was read wrongly would move as many records as it has.

    Args:
        chosen: (keys,), the value of each, or -1.
        size: (keys,), records of each.
        pairs: (pairs,), ascending: key times the number of values, plus a value that occurs with it.
        counts: (pairs,), records of each.
        room: (values,), what the keys leave of each count.
        alone: whether a value has one key only, so that two keys exchange theirs.
    """
    key, value = np.divmod(pairs, len(room))

    def together(keys: Codes, values: Codes) -> Codes:
        cells = keys * len(room) + values
        at = np.minimum(np.searchsorted(pairs, cells), len(pairs) - 1)
        return np.where(pairs[at] == cells, counts[at], 0)

    for _ in range(MOVES if len(pairs) else 0):
        now, more = chosen[key], size[key]
        able = (now >= 0) & (now != value)
        gain = counts - together(key, now)
        holder = np.full(len(room), -1)
        if alone:
            holder[chosen[chosen >= 0]] = np.flatnonzero(chosen >= 0)
            other = holder[value]
            able &= other >= 0
            more = more - size[other]
            gain = gain + together(other, now) - together(other, value)
        left = np.abs(room[now]) + np.abs(room[value]) - np.abs(room[now] + more) - np.abs(room[value] - more)
        gain = np.where(able, 2 * gain + left, 0)
        best = int(np.argmax(gain))
        if gain[best] <= 0:
            return
        old, new = now[best], value[best]
        if alone:
            chosen[holder[new]] = old
        chosen[key[best]] = new
        room[old] += more[best]
        room[new] -= more[best]
