"""Chances of heaped values and their records, against the same in plain loops and by integrating numerically."""

import math

import numpy as np
import pytest
from scipy.integrate import quad

from dpsyn_core.estimate.records.rls.oneway import heaps as module
from dpsyn_core.estimate.records.rls.oneway.heaps import expected_heaps, heaped_counts, heaps, in_heavy_runs, set_apart
from dpsyn_core.estimate.records.rls.oneway.shape import Sums


def beside(place, others, first, width):
    """The mean count of a value in the runs next to a place, and its noise."""
    below = [o for o in others if o < place] or others[:1]
    above = [o for o in others if o > place] or others[-1:]
    runs = {int(first.recode[below[-1]]), int(first.recode[above[0]])}
    values = sum(width[r] for r in runs)
    return sum(first.values[r] for r in runs) / values, math.sqrt(len(runs)) * first.sigma / values


def normal(x):
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def in_loops(tables, chance, total):
    """Of every value how likely it is heaped, and its records beyond its neighbours, if it is."""
    ranked, first = len(chance), tables[0]
    width = np.bincount(first.recode)
    after, records = [0.0] * ranked, [0.0] * ranked
    others = [i for i in range(ranked) if width[first.recode[i]] > 1 or chance[i] == 0]
    for i in range(ranked) if others else ():
        counted = [(t.values[t.recode[i]], t.sigma) for t in tables if np.sum(t.recode == t.recode[i]) == 1]
        in_run = width[first.recode[i]] > 1
        if not counted or not (in_run or chance[i] > 0):
            continue
        sure = sum(1 / s**2 for _, s in counted)
        count, noise = sum(v / s**2 for v, s in counted) / sure, 1 / math.sqrt(sure)
        if in_run:
            rest = width[first.recode[i]] - 1
            level = (first.values[first.recode[i]] - count) / rest
            noise = math.hypot(noise * (1 + 1 / rest), first.sigma / rest)
        else:
            level, of_level = beside(i, others, first, width)
            noise = math.hypot(noise, of_level)
        more = count - max(level, 0.0)
        before = chance[i] if chance[i] > 0 else 0.2 / ranked

        def seen(x, more=more, noise=noise):
            return normal((x - more) / noise) / noise

        spots = [min(max(more, 0.0), total)]
        mass = quad(seen, 0, total, points=spots, limit=200)[0]
        mean = quad(lambda x, seen=seen: x * seen(x), 0, total, points=spots, limit=200)[0] / mass
        odds = before / (1 - before) * (mass / total) / (normal(more / noise) / noise)
        after[i] = odds / (1 + odds)
        if more / noise <= (2.5 if chance[i] >= 0.2 else 3.5):
            after[i] = min(after[i], 0.5)
        records[i] = min(max(mean, 0.0), total)
    return after, records


def tables_of(seed, chance, runs, *, sigma, later):
    """Noisy counts in runs with what may be heaped apart, and of some values alone in a second table."""
    rng = np.random.default_rng(seed)
    ranked = len(chance)
    truth = rng.uniform(0, 6, ranked)
    for i in (0, 7, 13, ranked - 1):
        truth[i] += rng.uniform(0, 9) * sigma
    out = [set_apart(runs, chance > 0)]
    if later:
        again = np.zeros(ranked, dtype=bool)
        again[[3, 7, 8]] = True
        out.append(set_apart(runs, again))
    noises = (sigma, sigma / 2)
    return [
        Sums(r, np.bincount(r, truth) + rng.normal(0, s, r.max() + 1), s) for r, s in zip(out, noises, strict=False)
    ]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("later", [False, True])
def test_chances_and_records_are_those_of_plain_loops(seed, later):
    runs = np.arange(24) // 4
    chance = np.zeros(24)
    chance[[0, 23]], chance[[7, 13]] = 0.05, 0.25
    chance[0] = (0.2, 0.05)[seed % 2]
    tables = tables_of(seed, chance, runs, sigma=10.0, later=later)
    after, records = heaps(tables, chance, 400.0)
    chances, more = in_loops(tables, chance, 400.0)
    assert np.allclose(after, chances, rtol=1e-5, atol=1e-9)
    assert np.allclose(records, more, rtol=1e-5, atol=1e-5)
    kept = np.where(np.array(chances) > 0.5, more, 0.0)
    assert np.allclose(heaped_counts(tables, chance, 400.0), kept * min(1, 400 / max(kept.sum(), 1e-9)), atol=1e-4)


def test_no_more_records_are_heaped_than_there_are():
    runs, chance = np.arange(24) // 4, np.zeros(24)
    chance[[0, 23]] = 0.2
    recode = set_apart(runs, chance > 0)
    found = heaped_counts([Sums(recode, np.array([161.0, 4, 4, 4, 4, 4, 4, 81]), 2.0)], chance, 200.0)
    assert found.sum() == pytest.approx(200) and found[0] == pytest.approx(2 * found[23], rel=0.01)


def test_nothing_is_heaped_where_no_value_is_left_beside_or_none_may_be():
    chance, each = np.full(3, 0.2), np.arange(3)
    assert not np.any(heaps([Sums(each, np.array([90.0, 1, 1]), 1.0)], chance, 92.0))
    assert not np.any(heaps([Sums(each, np.array([90.0, 1, 1]), 1.0)], np.zeros(3), 92.0))


@pytest.mark.parametrize(("deviations", "before", "believed"), [
    (2.45, 0.2, False), (2.9, 0.2, True), (3.4, 0.19, False), (4.0, 0.19, True)
])  # fmt: skip
def test_a_heap_is_believed_from_so_many_deviations(deviations, before, believed):
    """Where nothing is beside, noise is that of the value and of its two neighbours' mean."""
    chance = np.array([0.0, 0, before, 0, 0])
    table = Sums(np.arange(5), np.array([0.0, 0, deviations * math.sqrt(1.5), 0, 0]), 1.0)
    assert (heaps([table], chance, 20.0)[0][2] > module.HALF) == believed


def test_chances_before_counting_are_by_kind_of_value():
    level = [0, 3, 255, 1, 3, 0, 1, 0, 0, 2, 0, 0]
    found = expected_heaps(12, bytes(level))
    # the fourth roundest value has level 2: rounder are three, of which one is 0
    assert found.tolist() == pytest.approx([0.05, 0.5 / 3, 0.2, 0, 0.5 / 3, *[0] * 6, 0.05])
    runs = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3])
    found = expected_heaps(12, bytes(level), runs)
    assert found.tolist() == pytest.approx([0.05, 0, 0.2, 0, 0.25, *[0] * 6, 0.05])
    assert expected_heaps(1, bytes([255])).tolist() == [0.2]
    assert expected_heaps(4, bytes([0, 255, 0, 0])).tolist() == [0.05, 0.2, 0, 0.05]


def test_short_runs_with_more_than_six_deviations_are_heavy():
    sizes = [16, 17, 16, 3]
    recode = np.repeat(np.arange(5), [*sizes, 1])  # the last holds what has no place in order
    first = Sums(recode, np.array([12.1, 90.0, 12.0, 13.0, 12.5]), 2.0)
    assert in_heavy_runs(first).tolist() == np.repeat([True, False, False, True, True], [*sizes, 1]).tolist()
