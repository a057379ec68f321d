"""What follows from what in a synthetic table, without a public map: so that columns keep their counts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpsyn_core.schema.lookups import Codes, Lookup
from dpsyn_core.schema.ruled import (
    Bools,
    Group,
    Ready,
    RuledColumn,
    any_broken,
    broken,
    follow,
    keys_of_lookup,
    plain_in,
)  # fmt: skip
from dpsyn_core.schema.rules import AnyRule, FollowsRule, UniqueRule

SEEN = 4.0  # weight of how much more often than by chance a value goes with a key, against how well its count fits
CHANCE = 2.0  # standard deviations of that share that chance alone explains


def follow_all(rules: Sequence[Ready], columns: Group) -> None:
    """Records get, in place, what follows, where they then keep these rules and break no other one that they kept.

    What they follow from stays, so that it keeps its counts.
    """
    lookups = [r for r in rules if isinstance(r, Lookup)]
    others = [r for r in rules if not isinstance(r, Lookup)]
    at = np.flatnonzero(any_broken(lookups, columns))
    here = {n: c[at] for n, c in columns.items()}
    after = dict(here)
    for rule in lookups:
        _followed(rule, after)
    wrong = any_broken(lookups, after)
    for other in others:
        wrong |= broken(other, after) & ~broken(other, here)
    for name in {r.rule.column for r in lookups}:
        columns[name].put(at[~wrong], after[name][np.flatnonzero(~wrong)])


def _followed(rule: Lookup, group: Group) -> None:
    column = group[rule.rule.column]
    target, known = follow(rule, group)
    values = np.where(known & plain_in(rule.columns, group), target, column.values)
    group[rule.rule.column] = RuledColumn(column.attribute, values, column.state)


def ready(rules: Sequence[AnyRule], group: Group, kept: Bools) -> list[Ready]:
    """Rules that can be kept record by record: what follows without a map follows as these records let expect.

    Rules are read one after the other, each on records that follow the ones before it, so that columns which follow
    from each other do so in one way.

    kept: records to go by, where there are any.
    """
    out: list[Ready] = []
    now = dict(group)
    for rule in rules:
        if not isinstance(rule, FollowsRule):
            out += [] if isinstance(rule, UniqueRule) else [rule]
            continue
        column, of = now[rule.column], [now[n] for n in rule.of]
        if rule.map is not None:
            found = Lookup.public(rule, of[0].attribute, column.attribute)
        else:
            plain = plain_in(rule.columns, now)
            used = plain & kept if (plain & kept).any() else plain
            found = _by_counts(rule, keys_of_lookup(of)[used], column.values[used], alone=_one_to_one(rule, rules))
        _followed(found, now)
        out.append(found)
    return out


def _one_to_one(rule: FollowsRule, rules: Sequence[AnyRule]) -> bool:
    """Whether the columns that a column follows from follow from it in turn, so that no value stands for two keys."""
    held, more = {rule.column}, True
    while more:
        given = {r.column for r in rules if isinstance(r, FollowsRule) and held.issuperset(r.of)}
        more = not given <= held
        held |= given
    return held.issuperset(rule.of)


def _by_counts(rule: FollowsRule, keys: Codes, values: Codes, *, alone: bool) -> Lookup:
    """Of each key, the most frequent first, the value that goes with it more often than by chance, and has room.

    The room of a value is its count, less the counts of the keys that have it; alone: it has room for one key only.
    Where columns were made apart from each other, the commonest value would otherwise be that of every key.
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
    return Lookup(rule=rule, keys=names[chosen >= 0], targets=shown[chosen[chosen >= 0]], closed=True)
