"""What follows from what in a synthetic table, without a public map: so that columns keep their counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set

import numpy as np
from numpy.random import Generator

from dpsyn_core.schema.rules.columns import (
    Bools,
    Group,
    Ready,
    RuleColumn,
    any_broken,
    broken,
    follow,
    keys_of_lookup,
    plain_in,
)  # fmt: skip
from dpsyn_core.schema.rules.lookup import Codes, Lookup
from dpsyn_core.schema.rules.registry import AnyRule, FollowsRule, UniqueRule

SEEN = 4.0  # weight of how much more often than by chance a value goes with a key, against how well its count fits
MOVES = 500  # of keys to other values, at most; each looks at all pairs of a key and a value
CHANCE = 4.0  # standard deviations of that share that chance alone explains


def follow_all(rules: Sequence[Ready], columns: Group, rng: Generator) -> None:
    """Records come to keep what follows, in place, where they then break no other rule that they kept.

    What a column follows from has more values, and so a less certain count of each: it is what changes.
    """
    lookups = [r for r in rules if isinstance(r, Lookup)]
    at = np.flatnonzero(any_broken(lookups, columns))
    here, after = ({n: c[at] for n, c in columns.items()} for _ in range(2))
    for rule in lookups:
        of, column = rule.rule.of, rule.rule.column
        finer = {*of, *(n for r in lookups for n in r.columns if _reached({n}, lookups).issuperset(of))}
        _taken(rule, finer - {column}, after, rng, every=2 if column in finer else 1)
        _followed(rule, after)
    wrong = any_broken(lookups, after)
    for other in rules:
        if not isinstance(other, Lookup):
            wrong |= broken(other, after) & ~broken(other, here)
    for name in {n for r in lookups for n in r.columns}:
        columns[name].put(at[~wrong], after[name][np.flatnonzero(~wrong)])


def _taken(rule: Lookup, names: Set[str], group: Group, rng: Generator, *, every: int) -> None:
    """Broken records exchange these columns, from which another follows; of those left, some take them from kept ones.

    every: which of them; 2 is half, where columns follow from each other, so that both bear what does not fit.
    """
    wrong, value = np.flatnonzero(broken(rule, group)), group[rule.rule.column].values
    target, known = follow(rule, group)
    first, second = rng.permutation(wrong), rng.permutation(wrong)
    mine, theirs = _numbered(value[first]), _numbered(np.where(known, target, -1)[second])
    _, i, j = np.intersect1d(mine, theirs, assume_unique=True, return_indices=True)
    places, givers = (np.concatenate([rows[at], np.delete(rows, at)]) for rows, at in ((first, i), (second, j)))
    for name in names:
        group[name].put(places, group[name][givers])
    left, right = places[len(i) :: every], np.flatnonzero(~broken(rule, group) & plain_in(rule.columns, group))
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


def _followed(rule: Lookup, group: Group) -> None:
    column = group[rule.rule.column]
    target, known = follow(rule, group)
    values = np.where(known & plain_in(rule.columns, group), target, column.values)
    group[rule.rule.column] = RuleColumn(column.attribute, values, column.state)


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
        if rule.public:
            found = Lookup.public(rule, of[0].attribute, column.attribute)
        else:
            plain = plain_in(rule.columns, now)
            used = plain & kept if (plain & kept).any() else plain
            found = _by_counts(
                rule,
                keys_of_lookup(of)[used],
                column.values[used],
                alone=_reached({rule.column}, rules).issuperset(rule.of),
            )
        _followed(found, now)
        out.append(found)
    return out


def _reached(names: Set[str], rules: Iterable[AnyRule | Ready]) -> set[str]:
    """These columns and those that follow from them, directly or by way of others."""
    follows = [r.rule if isinstance(r, Lookup) else r for r in rules]
    held, more = set(names), True
    while more:
        given = {r.column for r in follows if isinstance(r, FollowsRule) and held.issuperset(r.of)}
        more = not given <= held
        held |= given
    return held


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
    _fewer_moved(chosen, size, pairs, counts, room, alone=alone)
    return Lookup(rule=rule, keys=names[chosen >= 0], targets=shown[chosen[chosen >= 0]], closed=True)


def _fewer_moved(chosen: Codes, size: Codes, pairs: Codes, counts: Codes, room: Codes, *, alone: bool) -> None:
    """Keys take another value, or exchange theirs, in place, while fewer records then have to change.

    A record changes where its key has another value than its own, and where the count of a value is not that of its
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
        wanted = keys * len(room) + values
        at = np.minimum(np.searchsorted(pairs, wanted), len(pairs) - 1)
        return np.where(pairs[at] == wanted, counts[at], 0)

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
