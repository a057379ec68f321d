"""Cells exchanged after a repair, so that pairs of columns come back to what they were before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.schema.rules.base import Bools, RecordRule, Rows
from dpsyn_core.schema.rules.bin_moves import moved_inside
from dpsyn_core.schema.rules.columns import BLANK, PLAIN, Group, RuleColumn, any_broken

VALUES = 40  # of a column in its pairs, at most; each then has about as many records
PARTNERS = 4  # that a record is offered for each column in a round
ROUNDS = 6  # at most
ENDING = 0.02  # exchanges of a round, as part of the records that were changed, below which it is the last
TOGETHER = 32  # exchanges that are weighed at a time, for each 20,000 records
MARGIN = 1  # an exchange pays where it lowers the squares of a table by more than twice this: not for single records
FEWEST = 0.1  # part of the records changed, below which pairs hardly moved, so that only time would be spent
MOST = 0.4  # part of the records changed, up to which pairs of the rules' own columns are worth bringing back
CELLS = 1 << 21  # of pairs that are read for the offers of one column in a round, at most: a bound on the time


def bring_back(
    rules: Sequence[RecordRule], before: Mapping[str, RuleColumn], columns: Group, others: Group, rng: Generator
) -> None:
    """Records that a repair has changed exchange single cells with others, in place.

    Only where both then keep all rules, numbers moved inside their bins, and where pairs of columns, those with the
    `others` too, come nearer to the pairs before the repair: these were fitted to what was measured. Every column keeps
    its counts.

    Args:
        rules: of a group; all records keep them, and keep them afterwards.
        before: the columns of the group, before the repair.
        columns: these, repaired.
        others: further columns of the same records, which stay.
        rng: for the partners that are offered.
    """
    changed = [(c.state != before[n].state) | (c.values != before[n].values) for n, c in columns.items()]
    if np.logical_or.reduce(changed).mean() < FEWEST:
        return
    pairs = _Pairs(before, columns, others)
    names = list(columns)
    moves = [[i] for i in range(len(names))] if pairs.touched.mean() <= MOST else []
    moves.append([*range(len(names))])  # all at once, which breaks no rule
    for _ in range(ROUNDS):
        swaps = 0
        for moved in moves:
            first, second = pairs.offers(moved, rng)
            if not len(first):
                continue
            places, partners = np.concatenate([first, second]), np.concatenate([second, first])
            after = {n: c[partners if i in moved else places] for i, (n, c) in enumerate(columns.items())}
            if len(moved) < len(names):
                after = moved_inside(rules, after, rng)
            fits = ~any_broken(rules, after)
            able = np.flatnonzero(fits[: len(first)] & fits[len(first) :])
            done = able[pairs.walk(moved, first[able], second[able])]
            both = np.concatenate([done, done + len(first)])
            for n, c in columns.items():
                c.put(places[both], after[n][both])
            swaps += len(done)
        if swaps < ENDING * pairs.touched.sum():
            return


class _Pairs:
    """By how many records each pair of values of two columns differs from what it was; those that move come first."""

    def __init__(self, before: Mapping[str, RuleColumn], columns: Group, others: Group) -> None:
        coded = [_coarse(before[n], c) for n, c in columns.items()] + [_coarse(c, c) for c in others.values()]
        self.codes = np.stack([after for _, after in coded])  # (columns, records)
        self.touched: Bools = np.logical_or.reduce([old != new for old, new in coded])
        sizes = self.codes.max(axis=1, initial=0).astype(np.int64) + 1
        for i, (old, _) in enumerate(coded):
            sizes[i] = max(sizes[i], int(old.max(initial=0)) + 1)
        self.start = np.zeros((len(columns), len(coded)), dtype=np.int64)
        self.stride = np.zeros((len(coded), len(coded)), dtype=np.int64)
        tables = [np.zeros(1)]  # of a column with itself: no cell changes
        for a in range(len(columns)):
            for b in range(a + 1, len(coded)):
                self.start[a, b] = sum(t.size for t in tables)
                if b < len(columns):
                    self.start[b, a] = self.start[a, b]
                self.stride[a, b], self.stride[b, a] = sizes[b], 1  # of a's code, and of b's, in their table
                new, old = (
                    np.bincount(coded[a][k] * sizes[b] + coded[b][k], minlength=sizes[a] * sizes[b]) for k in (1, 0)
                )
                tables.append((new - old).astype(np.float64))
        self.gone = np.concatenate(tables)

    def offers(self, moved: Sequence[int], rng: Generator) -> tuple[Rows, Rows]:
        """Records that were changed, and others with which an exchange of their cells in these columns would pay."""
        n, touched = len(self.touched), np.flatnonzero(self.touched)
        most = max(1, CELLS // len(self.codes) // len(moved))
        first = np.tile(rng.permutation(touched), PARTNERS)[:most]
        second = rng.integers(0, n, len(first))
        pays = self._gain(moved, first, second)[0] > 0
        return first[pays], second[pays]

    def walk(self, moved: Sequence[int], first: Rows, second: Rows) -> Bools:
        """Goes through exchanges in their order, makes those that still pay, each record once, and says which."""
        done, used = np.zeros(len(first), dtype=bool), np.zeros(len(self.touched), dtype=bool)
        together = TOGETHER * max(1, len(used) // 20_000)
        for start in range(0, len(first), together):
            at = np.arange(start, min(start + together, len(first)))
            gain, cells, apart = self._gain(moved, first[at], second[at])
            kept = ~used[first[at]] & ~used[second[at]] & (gain > 0)
            both = np.where(kept, [first[at], second[at]], -1 - np.arange(2 * len(at)).reshape(2, -1))
            once = np.zeros(both.size, dtype=bool)
            once[np.unique(both, return_index=True)[1]] = True
            kept &= once.reshape(2, -1).all(axis=0)
            for sign, changed in zip((-1, -1, 1, 1), cells, strict=True):
                np.add.at(self.gone, changed[..., kept][apart[..., kept]], sign)
            i, j, rows = first[at[kept]], second[at[kept]], np.asarray(moved)[:, None]
            self.codes[rows, i], self.codes[rows, j] = self.codes[rows, j], self.codes[rows, i]
            used[i] = used[j] = self.touched[i] = self.touched[j] = True
            done[at[kept]] = True
        return done

    def _gain(self, moved: Sequence[int], first: Rows, second: Rows) -> tuple[NDArray[Any], NDArray[Any], Bools]:
        """By how much exchanges lower the squares of all differences, halved; the cells that lose and gain a record."""
        i, j = self.codes[:, first], self.codes[:, second]
        apart = (i != j) & (i[moved] != j[moved])[:, None]
        apart[:, moved] = False  # (moved columns, columns, exchanges)
        stride, their, start = (t[..., None] for t in (self.stride[moved], self.stride.T[moved], self.start[moved]))
        mine, theirs = (c[moved][:, None] * stride for c in (i, j))
        cells = start + np.stack([mine + i * their, theirs + j * their, mine + j * their, theirs + i * their])
        here = self.gone[cells]
        gain = np.where(apart, here[0] + here[1] - here[2] - here[3] - 2 - MARGIN, 0.0).sum(axis=(0, 1))
        return gain, cells, apart


def _coarse(before: RuleColumn, after: RuleColumn) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Codes of a column before and after the repair, at most about `VALUES`: bins, or several with as many records."""
    binned = []
    for column in (before, after):
        binning = getattr(column.attribute, "binning", None)
        codes = column.values if binning is None else binning.find(column.values)
        binned.append(np.where(column.state == PLAIN, codes, np.where(column.state == BLANK, -1, -2)))
    values = np.unique(np.concatenate(binned))
    first, second = (np.searchsorted(values, b) for b in binned)
    if len(values) > VALUES:
        cuts = np.unique(np.quantile(first, np.linspace(0, 1, VALUES + 1)[1:-1], method="lower"))
        first, second = (np.searchsorted(cuts, codes) for codes in (first, second))
    return first, second
