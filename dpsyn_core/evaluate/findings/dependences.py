"""What follows from what in the real table, and how often the synthetic one has it otherwise.

A column is a function of another one where a map that is learnt from half of the real records holds in at least 99 % of
the other half: a city has one country. A filter is a column whose values decide whether another one is blank, or zero.
Combinations are pairs of values that no real record has.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations as pairs_of

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.evaluate.comparison import Comparison
from dpsyn_core.evaluate.findings.cells import ExactCells, Whole
from dpsyn_core.evaluate.findings.finding import Example, Finding, beyond_chance

HOLDS = 0.99  # share of the records of which a dependence holds
BETTER = 0.1  # of the errors of always saying the commonest value that a map may have
MOST_VALUES = 5000  # of a column that decides
MOST_PAIRS = 3000  # pairs of columns that are looked at, the first in the order of the schema
FILTER = 200  # values of a column that may be a filter
SOME = 0.01  # of the records at least are decided by a filter
FEW_OF_A_VALUE = 20  # records of a value that show that it is a filter
ABOUT = 0.7  # of the breaks of the most broken dependence that another one has, which is then named if it is plainer
SHOWN = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Consequence:
    """What may follow: a column, or whether its cells are blank, or zero. real, synthetic: -1 where undefined."""

    column: str
    about: str
    real: Whole
    synthetic: Whole
    size: int


def dependences(c: Comparison) -> list[Finding]:
    """Functions and filters that are broken, once for what follows, the most broken first."""
    cells = ExactCells.of(c)
    every: dict[tuple[str, str], list[Finding]] = {}
    for found in (*_functions(c, cells), *_filters(c, cells)):
        every.setdefault((found.columns[1], str(found.what.get("about", ""))), []).append(found)
    best = [_plainest(c, cells, same) for same in every.values()]
    filters = {f.columns[::-1]: f.weight for f in best if f.key != "function"}  # which say the same the other way round
    best = [f for f in best if f.key != "function" or filters.get(f.columns, 0.0) < ABOUT * f.weight]
    return sorted(best, key=lambda f: -f.weight)


def _plainest(c: Comparison, cells: ExactCells, same: list[Finding]) -> Finding:
    """Of findings on what follows, the one of the fewest values among those that are broken about as often."""
    most = max(f.weight for f in same)
    return min((f for f in same if f.weight >= ABOUT * most), key=lambda f: _distinct(c, cells, f.columns[0]))


def followed(c: Comparison) -> list[tuple[str, str]]:
    """Pairs of a column and one that is a function of it."""
    return [pair for pair, _ in _maps(c, ExactCells.of(c))]


def functional(c: Comparison) -> set[frozenset[str]]:
    """Pairs of columns of which one is a function of the other."""
    return {frozenset(pair) for pair in followed(c)}


def _maps(c: Comparison, cells: ExactCells) -> list[tuple[tuple[str, str], NDArray[np.int64]]]:
    """Pairs (source, what follows) with the value that follows from each source value, or -1; once a comparison."""
    if "maps" not in c.scores:
        c.scores["maps"] = list(_sought(c, cells))
    maps: list[tuple[tuple[str, str], NDArray[np.int64]]] = c.scores["maps"]
    return maps


def _sought(c: Comparison, cells: ExactCells) -> Iterator[tuple[tuple[str, str], NDArray[np.int64]]]:
    learn, check = cells.halves
    if len(check) < 2 * FEW_OF_A_VALUE:
        return
    known = [n for n in c.domain.names if 2 <= _distinct(c, cells, n) <= min(MOST_VALUES, c.n // 4)]
    for a, b in list(pairs_of(known, 2))[:MOST_PAIRS]:
        (x, _, k), (y, _, w) = cells.column(a), cells.column(b)
        table = _pair_counts(x[learn], y[learn], w)
        for names, one, other, size, source in (((a, b), x, y, k, 0), ((b, a), y, x, w, 1)):
            if _pure(*table, source) and _holds(one, other, learn, check, size):
                yield names, _map(one, other, size)


def _distinct(c: Comparison, cells: ExactCells, name: str) -> int:
    real = cells.column(name)[0]
    return int(np.count_nonzero(np.bincount(real[real >= 0], minlength=1)))


def _pair_counts(x: Whole, y: Whole, width: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Values of x, values of y and records of each combination that occurs, without blank cells."""
    both = (x >= 0) & (y >= 0)
    cells, counts = np.unique(x[both].astype(np.int64) * width + y[both], return_counts=True)
    return cells // width, cells % width, counts


def _pure(x: NDArray[np.int64], y: NDArray[np.int64], counts: NDArray[np.int64], source: int) -> bool:
    """Whether one decides the other in nearly all records, better than its commonest value does."""
    one, other = (x, y) if source == 0 else (y, x)
    if not len(one):
        return False
    largest, size = np.zeros(one.max() + 1, np.int64), np.bincount(one, counts)
    np.maximum.at(largest, one, counts)
    whole = counts.sum()
    again = size >= 2
    commonest = np.bincount(other, counts).max() / whole
    repeated = size[again].sum()
    return bool(
        repeated >= whole / 2
        and largest[again].sum() >= HOLDS * repeated
        and 1 - largest[again].sum() / repeated <= BETTER * (1 - commonest)
    )


def _map(x: Whole, y: Whole, size: int) -> NDArray[np.int64]:
    """The commonest value of y for each of x; -1 for values that do not occur."""
    width = int(y.max(initial=0)) + 1
    one, other, counts = _pair_counts(x, y, width)
    order = np.lexsort((-counts, one))
    keys, first = np.unique(one[order], return_index=True)
    out = np.full(size, -1, dtype=np.int64)
    out[keys] = other[order][first]
    return out


def _holds(x: Whole, y: Whole, learn: NDArray[np.intp], check: NDArray[np.intp], size: int) -> bool:
    """Whether a map from one half holds in the other, where it says anything, which is for half of the records."""
    follows = _map(x[learn], y[learn], size)
    there = check[(x[check] >= 0) & (y[check] >= 0)]
    if len(there) < FEW_OF_A_VALUE:
        return False
    codes = follows[x[there]]
    valid = codes >= 0
    if valid.mean() < 0.5:
        return False
    wrong = float((codes[valid] != y[there][valid]).mean())
    commonest = np.bincount(y[there]).max() / len(there)
    return wrong <= 1 - HOLDS and wrong <= BETTER * (1 - commonest)


def _functions(c: Comparison, cells: ExactCells) -> Iterator[Finding]:
    for (a, b), follows in _maps(c, cells):
        (x, x_made, _), (y, y_made, w) = cells.column(a), cells.column(b)
        every, real = (_otherwise(follows, *side) for side in ((x_made, y_made), (x, y)))
        known = (np.bincount(y + 1, minlength=w + 1) > 0)[y_made + 1] | cells.measured(b)
        broken = every & known  # new values are found by themselves
        share, fresh = float(broken.mean()), float(real.mean())
        if beyond_chance(share, fresh, c.n, c.m):
            yield Finding(
                key="function",
                weight=share - fresh,
                columns=(a, b),
                real=fresh,
                synthetic=float(every.mean()),
                fresh=fresh,
                what={"records": int(every.sum())},
                examples=_examples(cells, (a, b), (x_made, y_made), broken),
                remedy="rule",
            )


def _otherwise(follows: NDArray[np.int64], x: Whole, y: Whole) -> NDArray[np.bool_]:
    """Records whose value is another one than the one that follows, where one follows."""
    codes = np.where(x >= 0, follows[np.maximum(x, 0)], -1)
    return np.asarray((codes >= 0) & (y >= 0) & (codes != y))


def _examples(
    cells: ExactCells, names: tuple[str, str], made: tuple[Whole, Whole], broken: NDArray[np.bool_]
) -> list[Example]:
    """The commonest combinations of values among the broken records."""
    rows = np.flatnonzero(broken)
    width = int(max(made[1].max(initial=0), 0)) + 2
    found, counts = np.unique((made[0][rows].astype(np.int64) + 1) * width + made[1][rows] + 1, return_counts=True)
    out = []
    for k in np.argsort(-counts, kind="stable")[:SHOWN]:
        values = divmod(int(found[k]), width)
        out.append(tuple(cells.shown(n, v - 1) for n, v in zip(names, values, strict=True)))
    return out


def _consequences(c: Comparison, cells: ExactCells) -> Iterator[Consequence]:
    for name in c.domain.names:
        x, y, _ = cells.column(name)
        blank = float((x < 0).mean())
        if SOME <= blank <= 1 - SOME:
            yield Consequence(
                column=name, about="blank", real=(x < 0).astype(np.int32), synthetic=(y < 0).astype(np.int32), size=2
            )
        if name in c.real_values and name in c.synthetic_values:
            sides = cells.floats(name)
            zero = [np.where(np.isnan(v), -1, v == 0).astype(np.int32) for v in sides]
            if SOME <= float((zero[0] == 1).mean()) <= 1 - SOME and len(np.unique(x)) > 2:
                yield Consequence(column=name, about="zero", real=zero[0], synthetic=zero[1], size=2)


def _filters(c: Comparison, cells: ExactCells) -> Iterator[Finding]:
    """Values of a column among whose records another one is nearly always, or nearly never, blank or zero."""
    learn, check = cells.halves
    sources = [n for n in c.domain.names if _distinct(c, cells, n) <= FILTER]
    for t in _consequences(c, cells):
        for name in sources:
            if name == t.column:
                continue
            x, x_made, size = cells.column(name)
            table = _table(x[learn], t.real[learn], size)
            sure = _sure(table)
            if not (sure >= 0).any():
                continue
            again = _table(x[check], t.real[check], size)
            if _wrong(again, sure) > (1 - HOLDS) * max(1, again[sure >= 0].sum()):
                continue
            share = table.sum(axis=0) / max(1, table.sum())
            decided = table.sum(axis=1)[sure >= 0] @ (1 - share[sure[sure >= 0]])
            if decided < max(FEW_OF_A_VALUE, SOME * len(learn)):
                continue
            rule, rule_real = sure[x_made], sure[x]
            broken = (rule >= 0) & (t.synthetic >= 0) & (rule != t.synthetic)
            real = float(((rule_real >= 0) & (t.real >= 0) & (rule_real != t.real)).mean())
            found = float(broken.mean())
            if beyond_chance(found, real, c.n, c.m):
                pair = (name, t.column)
                yield Finding(
                    key=f"filter_{t.about}",
                    weight=found - real,
                    columns=pair,
                    real=real,
                    synthetic=found,
                    fresh=real,
                    what={"about": t.about, "records": int(broken.sum())},
                    examples=_examples(cells, pair, (x_made, cells.column(t.column)[1]), broken),
                    remedy="rule",
                )


def _table(x: Whole, y: Whole, size: int) -> NDArray[np.int64]:
    """Records by value of x, blank ones last, and side of y."""
    kept = y >= 0
    at = np.where(x[kept] < 0, size, x[kept]).astype(np.int64) * 2 + y[kept]
    return np.bincount(at, minlength=2 * (size + 1)).reshape(size + 1, 2)


def _sure(table: NDArray[np.int64]) -> NDArray[np.int64]:
    """The side that each value decides on, -1 for none; the last entry is that of blank cells, as index -1 has it."""
    size = table.sum(axis=1)
    side = table.argmax(axis=1)
    return np.where((size >= FEW_OF_A_VALUE) & (table.max(axis=1) >= HOLDS * size), side, -1)


def _wrong(table: NDArray[np.int64], sure: NDArray[np.int64]) -> int:
    some = np.flatnonzero(sure >= 0)
    return int(table[some, 1 - sure[some]].sum())


def combinations(c: Comparison) -> list[Finding]:
    """Records with a pair of values that no real record has, against those of a fresh sample of as many people.

    A record of the real table whose pair no other record has is one that the others would not have shown.
    """
    names = [a.name for a in c.domain.attributes if not a.number and a.name not in c.real_dates and a.size > 1]
    cells, whole = ExactCells.of(c), functional(c)
    new, alone = np.zeros(c.m, bool), np.zeros(c.n, bool)
    worst: tuple[float, tuple[str, str], NDArray[np.bool_]] | None = None
    for a, b in list(pairs_of(names, 2))[:MOST_PAIRS]:
        if frozenset((a, b)) in whole:
            continue
        (x, x_made, k), (y, y_made, w) = cells.column(a), cells.column(b)
        if (k + 1) * (w + 1) > 4_000_000:
            continue
        keys = [(p.astype(np.int64) + 1) * (w + 1) + q + 1 for p, q in ((x, y), (x_made, y_made))]
        count = np.bincount(keys[0], minlength=(k + 1) * (w + 1))
        values = np.bincount(x + 1, minlength=k + 1) > 0, np.bincount(y + 1, minlength=w + 1) > 0
        seen = values[0][x_made + 1] & values[1][y_made + 1]  # new values are found by themselves
        lone, made = count[keys[0]] == 1, (count[keys[1]] == 0) & seen
        alone |= lone
        new |= made
        excess = float(made.mean() - lone.mean())
        if worst is None or excess > worst[0]:
            worst = excess, (a, b), made
    share, fresh = float(new.mean()), float(alone.mean())
    if worst is None or not beyond_chance(share, fresh, c.n, c.m) or share - fresh < SOME:
        return []
    pair = worst[1]
    return [
        Finding(
            key="combinations",
            weight=share - fresh,
            columns=pair,
            real=0.0,
            synthetic=share,
            fresh=fresh,
            what={"records": int(new.sum())},
            examples=_examples(cells, pair, (cells.column(pair[0])[1], cells.column(pair[1])[1]), worst[2]),
            remedy="impossible",
        )
    ]
