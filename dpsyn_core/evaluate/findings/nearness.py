"""Too near: real records that a synthetic table holds again, or all but, more often than a fresh sample would.

Three signs, each against what a fresh sample of the same people has: records that occur once in the real table and are
met again (a fresh sample meets 1 - exp(-2 m N2 / (n N1)) of them on average, N1 and N2 being the combinations of values
that occur once and twice; Good 1953, Biometrika 40); records that lie much nearer to a real one than that lies to its
neighbour among real records; records that stand at the same place in both files, and equal numbers of each combination
of values. Where each of some things has one record at each of some times, every table of these has the same places: its
other columns are compared place by place, against the places next to them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.evaluate.comparison import Comparison, Floats
from dpsyn_core.evaluate.findings.cells import ExactCells, Whole
from dpsyn_core.evaluate.findings.dependences import followed
from dpsyn_core.evaluate.findings.finding import ALARM, Finding, beyond_chance

SURE = 5.0  # standard errors of a fresh sample
LEAST = 0.01  # share of the records beyond those of a fresh sample
FEW, NONE, SOME = 0.001, 0.5, 10  # the same where a fresh sample meets less than NONE of them, and met ones at least
NEARER = 0.3  # of the places of a grid: courses of single things that all tables share make some as near
FULL, LINES = 0.9, 5  # of the places of a grid have a record, and lines and columns of one at least
NEAR = 0.25  # of the distance of a real record to its own neighbour: nearer is much nearer
NOT_NEAR = 0.8  # of that distance: where columns are many, all records lie about as far from each other
RARELY, MANY = 0.02, 0.08  # of a fresh sample lie nearer than usual; so many more are no chance
ASKED, AMONG = 700, 5000  # records whose neighbours are sought, and those among which they are sought
WIDE = 40  # columns of which distances are made, drawn from more
FEWEST, KINDS = 50, 10  # records and combinations of values from which on equal numbers of each are no chance
STRONG = np.uint64(0x9E3779B97F4A7C15)


def nearness(c: Comparison) -> list[Finding]:
    """One alarm, the strongest of the signs; none where the table is no nearer than a fresh sample."""
    if c.n < FEWEST or c.m < 10:
        return []
    cells = ExactCells.of(c)
    real, synth = cells.whole
    keys = record_keys(real), record_keys(synth)
    if (sides := grid(c, cells)) is not None:
        signs_of = [s for s in (_same_numbers(c, *keys), *_in_grid(c, cells, sides)) if s is not None]
        return signs_of[:1]
    signs = [_met_again(c, *keys), _same_numbers(c, *keys), _same_places(*keys), _neighbours(c, cells, keys)]
    signs_of = [s for s in signs if s is not None]
    return [max(signs_of, key=lambda f: f.weight)] if signs_of else []


def record_keys(cells: Whole) -> NDArray[np.uint64]:
    """A number of 64 bits a record, equal for equal records; others share one with chance 2^-64 a pair."""
    out = np.zeros(cells.shape[1], dtype=np.uint64)
    with np.errstate(over="ignore"):
        for row in cells:
            out = (out ^ row.astype(np.int64).astype(np.uint64)) * STRONG
            out ^= out >> np.uint64(29)
            out = out * np.uint64(0xBF58476D1CE4E5B9)
            out ^= out >> np.uint64(32)
    return out


def _met_again(c: Comparison, real: NDArray[np.uint64], made: NDArray[np.uint64]) -> Finding | None:
    kinds, count = np.unique(real, return_counts=True)
    once, twice = kinds[count == 1], int((count == 2).sum())
    if len(once) < 10:
        return None
    met = int(np.isin(once, made).sum())
    rate = 2 * twice / len(once) * c.m / c.n
    fresh = 1 - math.exp(-rate)
    expected = fresh * len(once)
    error = math.sqrt(met + 4 * twice * (c.m / c.n) ** 2 + 1)
    share = met / len(once)
    least = FEW if expected < NONE and met >= SOME else LEAST
    if met - expected <= SURE * error or share - fresh < least:
        return None
    at = np.flatnonzero(np.isin(real, once) & np.isin(real, made))
    return Finding(
        key="copies",
        weight=ALARM + share - fresh,
        synthetic=share,
        fresh=fresh,
        what={"met": met, "once": len(once), "of": float(np.isin(made, kinds).mean()), "record": int(at[0])},
        remedy="copies",
    )


def _same_numbers(c: Comparison, real: NDArray[np.uint64], made: NDArray[np.uint64]) -> Finding | None:
    if c.n != c.m:
        return None
    kinds, count = np.unique(real, return_counts=True)
    again, other = np.unique(made, return_counts=True)
    if len(kinds) < KINDS or len(kinds) != len(again) or not ((kinds == again).all() and (count == other).all()):
        return None
    return Finding(key="same", weight=ALARM + 1, synthetic=1.0, fresh=0.0, what={"n": c.n}, remedy="copies")


def _same_places(real: NDArray[np.uint64], made: NDArray[np.uint64]) -> Finding | None:
    """Equal records at equal places, against places next to them, which sorted files have in common as well."""
    size = min(len(real), len(made)) - 3
    if size < FEWEST:
        return None
    same = float((real[:size] == made[:size]).mean())
    beside = max(float((real[k : size + k] == made[:size]).mean()) for k in (1, 2, 3))
    if not beyond_chance(same, beside, size, size, sure=2 * SURE) or same - beside < 5 * LEAST:
        return None
    return Finding(key="places", weight=ALARM + same - beside, synthetic=same, fresh=beside, remedy="copies")


def grid(c: Comparison, cells: ExactCells) -> tuple[str, str] | None:
    """Two columns of which each pair of values has one real record, such as shops and days; None where none has."""
    size = {n: int(np.count_nonzero(np.bincount(cells.column(n)[0] + 1)[1:])) for n in c.domain.names}
    for a, b in combinations(c.domain.names, 2):
        if min(size[a], size[b]) < LINES or not FULL * size[a] * size[b] <= c.n <= size[a] * size[b]:
            continue
        (x, _, _), (y, _, width) = cells.column(a), cells.column(b)
        if min(x.min(), y.min()) >= 0 and len(np.unique(x.astype(np.int64) * width + y)) == c.n:
            return a, b
    return None


def _in_grid(c: Comparison, cells: ExactCells, sides: tuple[str, str]) -> Iterator[Finding | None]:
    """Equal records at equal places of a grid, then much nearer ones, in the columns that no place decides."""
    decided = {*sides, *(b for a, b in followed(c) if a in sides)}
    names = tuple(n for n in c.domain.names if n not in decided)
    if not names:
        return
    (x, x_made, _), (y, y_made, width) = (cells.column(n) for n in sides)
    places = x.astype(np.int64) * width + y, x_made.astype(np.int64) * width + y_made
    _, at, made = np.intersect1d(*places, return_indices=True)
    lines = [np.lexsort((y, x)), np.lexsort((x, y))]
    after = [np.roll(line, -1)[np.argsort(line)][at] for line in lines]  # the next one of the same thing, or time
    if len(at) < FEWEST:
        return
    rows = [c.domain.index(n) for n in names]
    real, synth = (record_keys(t[rows]) for t in cells.whole)
    same = float((real[at] == synth[made]).mean())
    beside = max(float((real[at] == real[k]).mean()) for k in after)
    if beyond_chance(same, beside, len(at), len(at), sure=2 * SURE) and same - beside >= 5 * LEAST:
        yield Finding(key="places", weight=ALARM + same - beside, synthetic=same, fresh=beside, remedy="copies")
    left = [_beside_lines(c, cells, n, (at, made), sides) for n in names if cells.measured(n)]
    if not left:
        return
    other = [np.random.default_rng(k).permutation(len(at)) for k in (6, 7)]
    pairs = [np.stack(x) for x in zip(*left, strict=True)]
    apart = _between(pairs[0], pairs[0][:, other[0]])
    near, usual = (_between(pairs[0], x) < NEAR * apart for x in (pairs[1], pairs[1][:, other[1]]))
    share, fresh = float(near[apart > 0].mean()), float(usual[apart > 0].mean())
    if beyond_chance(share, fresh, len(at), len(at), sure=SURE) and share - fresh >= NEARER:
        yield Finding(key="near_copies", weight=ALARM + min(0.9, share - fresh), synthetic=share, fresh=fresh,
                      what={"near": NEAR}, remedy="copies")  # fmt: skip


def _beside_lines(
    c: Comparison, cells: ExactCells, name: str, rows: tuple[NDArray[np.intp], NDArray[np.intp]], sides: tuple[str, str]
) -> tuple[Floats, Floats]:
    """A number of both tables at each place, less the means of its line and its column, in real deviations.

    What is left is that of single places: what shops and days have in common, every table of them has.
    """
    out = []
    lines = [np.unique(cells.column(n)[0][rows[0]], return_inverse=True)[1] for n in sides]
    for values, at in zip(cells.floats(name), rows, strict=True):
        x = values[at]
        x = np.where(np.isnan(x), np.nanmean(x) if not np.isnan(x).all() else 0.0, x)
        for line in lines:
            x = x - (np.bincount(line, x) / np.bincount(line))[line]
        out.append(x)
    spread = float(out[0].std()) or 1.0
    return out[0] / spread, out[1] / spread


def _between(some: Floats, others: Floats) -> Floats:
    """Distances of the columns of two arrays (numbers, places): the sum of differences, each 1 at most."""
    return np.asarray(np.minimum(np.abs(some - others), 1).sum(axis=0))


def _neighbours(
    c: Comparison, cells: ExactCells, keys: tuple[NDArray[np.uint64], NDArray[np.uint64]]
) -> Finding | None:
    """Records that lie at a small part of the distance at which real ones lie from each other."""
    order = np.random.default_rng(1).permutation(c.n)
    half = c.n // 2
    among = order[: min(AMONG, half)]
    among = among[np.sort(np.unique(keys[0][among], return_index=True)[1])]
    others = order[half : half + ASKED]
    different = np.unique(keys[1], return_index=True)[1]  # a record that is written many times says as much as once
    asked = np.random.default_rng(2).permutation(different)[:ASKED]
    points = _points(c, cells, (among, others, asked))
    ratios = []
    for those in points[1:]:
        far, which, second = _nearest(those, points[0])
        apart, *_ = _nearest([p[which] for p in points[0]], points[0], same=True)
        apart = np.minimum(apart, second)  # what lies in the middle of several real ones is a copy of none
        counted = apart > 0
        ratios.append(far[counted] / apart[counted])
    if not all(len(r) for r in ratios):
        return None
    usual = min(NOT_NEAR, float(np.quantile(ratios[0], RARELY)))  # nearer than this lie few of a fresh sample
    for near, least in ((NEAR, LEAST), (usual, MANY)):
        fresh, share = (float((r < near).mean()) for r in ratios)
        if beyond_chance(share, fresh, len(others), len(asked), sure=SURE) and share - fresh >= least:
            break
    else:
        return None
    return Finding(
        key="near_copies",
        weight=ALARM + min(0.9, (share - fresh) * half / len(among)),
        synthetic=share,
        fresh=fresh,
        what={"near": near},
        remedy="copies",
    )


def _points(c: Comparison, cells: ExactCells, rows: tuple[NDArray[np.intp], ...]) -> list[list[NDArray[np.float32]]]:
    """Groups of records, [numbers scaled by the real spread, other cells] of each, float32 (records, columns).

    rows: of real records in the first two groups, of synthetic ones in the third.
    """
    numbers: list[list[NDArray[np.float32]]] = [[] for _ in rows]
    others: list[list[NDArray[np.float32]]] = [[] for _ in rows]
    names = c.domain.names
    if len(names) > WIDE:
        names = tuple(names[i] for i in np.sort(np.random.default_rng(3).permutation(len(names))[:WIDE]))
    for name in names:
        if cells.measured(name):
            real, synth = cells.floats(name)
            valid = real[~np.isnan(real)]
            low, high = np.quantile(valid, (0.05, 0.95)) if len(valid) else (0.0, 0.0)
            wide = float(high - low) or float(valid.max() - valid.min() if len(valid) else 0.0) or 1.0
            middle = float(low) - wide  # blank cells lie apart from all others
            for k, at in enumerate(rows):
                x = (synth if k == 2 else real)[at]
                scaled = np.where(np.isnan(x), -1.0, (x - middle) / wide)
                numbers[k].append(np.clip(scaled, -1, 4).astype(np.float32))
        else:
            codes = cells.column(name)[:2]
            for k, at in enumerate(rows):
                others[k].append(codes[1 if k == 2 else 0][at].astype(np.float32))
    out = []
    for k, at in enumerate(rows):
        empty = np.zeros((len(at), 0), np.float32)
        out.append([np.stack(g[k], axis=1) if g[k] else empty for g in (numbers, others)])
    return out


def _nearest(
    asked: list[NDArray[np.float32]], among: list[NDArray[np.float32]], *, same: bool = False
) -> tuple[NDArray[np.float32], NDArray[np.intp], NDArray[np.float32]]:
    """Distance to the nearest record, which it is, and the distance to the second nearest.

    same: a record that is equal to the asked one is passed over.

    The distance is the sum over columns of the difference of numbers, 1 at most, and of 1 where other cells differ.
    """
    best, second = (np.full(len(asked[0]), np.inf, np.float32) for _ in range(2))
    which = np.zeros(len(asked[0]), np.intp)
    for start in range(0, len(asked[0]), 100):
        rows = slice(start, start + 100)
        far = np.zeros((len(asked[0][rows]), len(among[0])), np.float32)
        for kind in (0, 1):
            for j in range(among[kind].shape[1]):
                gap = np.abs(asked[kind][rows, j][:, None] - among[kind][None, :, j])
                far += np.minimum(gap, 1, out=gap)
        if same:
            far[far == 0] = np.inf
        at = far.argmin(axis=1)
        which[rows] = at
        best[rows] = far[np.arange(len(at)), at]
        far[np.arange(len(at)), at] = np.inf
        second[rows] = far.min(axis=1)
    if same:
        best[np.isinf(best)] = 0
    return best, which, second
