"""Too near: real records that a synthetic table holds again, or all but, more often than a fresh sample would.

Three signs, each against what a fresh sample of the same people has: records that occur once in the real table and are
met again (a fresh sample meets 1 - exp(-2 m N2 / (n N1)) of them on average, N1 and N2 being the combinations of values
that occur once and twice; Good 1953, Biometrika 40); records that lie much nearer to a real one than that lies to its
neighbour among real records; records that stand at the same place in both files, and equal numbers of each combination
of values.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.evaluate.comparison import Comparison
from dpsyn_core.evaluate.findings.cells import ExactCells, Whole
from dpsyn_core.evaluate.findings.finding import ALARM, Finding, beyond_chance

SURE = 5.0  # standard errors of a fresh sample
LEAST = 0.01  # share of the records beyond those of a fresh sample
NEAR = 0.25  # of the distance of a real record to its own neighbour: nearer is much nearer
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
    signs = [_met_again(c, *keys), _same_numbers(c, *keys), _same_places(*keys), _neighbours(c, cells, keys[1])]
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
    if met - expected <= SURE * error or share - fresh < LEAST:
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


def _neighbours(c: Comparison, cells: ExactCells, made: NDArray[np.uint64]) -> Finding | None:
    """Records that lie at a small part of the distance at which real ones lie from each other."""
    order = np.random.default_rng(1).permutation(c.n)
    half = c.n // 2
    among = order[: min(AMONG, half)]
    others = order[half : half + ASKED]
    different = np.unique(made, return_index=True)[1]  # a record that is written many times says as much as once
    asked = np.random.default_rng(2).permutation(different)[:ASKED]
    points = _points(c, cells, (among, others, asked))
    ratios = []
    for those in points[1:]:
        far, which = _nearest(those, points[0])
        apart, _ = _nearest([p[which] for p in points[0]], points[0], same=True)
        counted = apart > 0
        ratios.append(far[counted] / apart[counted])
    if not all(len(r) for r in ratios):
        return None
    usual = float(np.quantile(ratios[0], RARELY))  # nearer than this lie few of a fresh sample
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
    """Three groups of records, [numbers scaled by the real spread, other cells] of each, float32 (records, columns)."""
    numbers: list[list[NDArray[np.float32]]] = [[], [], []]
    others: list[list[NDArray[np.float32]]] = [[], [], []]
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
) -> tuple[NDArray[np.float32], NDArray[np.intp]]:
    """Distance to the nearest record, and which it is. same: a record that is equal to the asked one is passed over.

    The distance is the sum over columns of the difference of numbers, 1 at most, and of 1 where other cells differ.
    """
    best = np.full(len(asked[0]), np.inf, np.float32)
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
    if same:
        best[np.isinf(best)] = 0
    return best, which
