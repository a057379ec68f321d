"""Differences of a number between categories, against general solvers and plain loops."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import root
from scipy.stats import norm

from dpsyn_core.estimate.records.rls.fit import Target
from dpsyn_core.estimate.records.rls.gaps import (
    coarse_scores,
    gaps_of,
    place_by_category,
    steepness,
    tilted,
    with_gaps,
)
from dpsyn_core.estimate.records.rls.placement import Number


def mean_scores(share):
    """Of the cells of a column, each by an integral over its part of the normal law."""
    edges = norm.ppf(np.clip(np.append(0, np.cumsum(share)), 1e-9, 1 - 1e-9))
    cells = zip(edges, edges[1:], share, strict=False)
    return np.array([quad(lambda x: x * norm.pdf(x), a, b)[0] / s if s else 0.0 for a, b, s in cells])


def by_solver(clean, scores, goal):
    """Columns tilted exponentially in the score, each to its sum of scores, by a general solver."""
    out = np.array(clean, float)
    for c in range(clean.shape[1]):
        mass = clean[:, c].sum()

        def off(t, c=c, mass=mass):
            w = clean[:, c] * np.exp(scores * t[0])
            return scores @ w / w.sum() * mass - goal[c]

        w = clean[:, c] * np.exp(scores * root(off, [0.0]).x[0])
        out[:, c] = w / w.sum() * mass
    return out


RNG = np.random.default_rng(1)
CLEAN = RNG.uniform(5, 60, (6, 3))
SCORES = mean_scores(np.array([0.1, 0.2, 0.3, 0.2, 0.15, 0.05]))


def test_coarse_values_have_the_mean_scores_of_their_records():
    counts, recode = np.array([10.0, 0, 30, 40, 20]), np.array([0, 0, 1, 1, 2])
    fine = mean_scores(counts / 100)
    sought = [fine[0], (30 * fine[2] + 40 * fine[3]) / 70, fine[4]]
    scores, kept = coarse_scores(counts, recode)
    assert np.allclose(scores, sought, atol=1e-6)
    assert kept == pytest.approx(np.array([10, 70, 20]) @ np.square(sought) / (counts @ fine**2), rel=1e-6)
    assert coarse_scores(np.array([0.0, 5.0, 0.0]), np.array([0, 0, 1]))[0].tolist()[1] == 0
    assert coarse_scores(np.zeros(3), np.arange(3))[1] == 1.0
    assert coarse_scores(np.array([0.0, 5.0]), np.arange(2))[1] == pytest.approx(1.0)


def test_columns_are_tilted_to_their_sums_of_scores():
    goal = SCORES @ CLEAN + [30.0, -25.0, 4.0]
    found = tilted(CLEAN, SCORES, goal)
    assert np.allclose(found, by_solver(CLEAN, SCORES, goal), rtol=1e-4)
    assert np.allclose(found.sum(axis=0), CLEAN.sum(axis=0))


def test_no_column_is_tilted_by_more_than_three_and_a_step_is_one_at_most():
    goal = np.full(3, 1e9)
    sought = CLEAN * np.exp(3 * SCORES)[:, None]
    assert np.allclose(tilted(CLEAN, SCORES, goal), sought * CLEAN.sum(0) / sought.sum(0))
    sought = CLEAN * np.exp(-3 * SCORES)[:, None]
    assert np.allclose(tilted(CLEAN, SCORES, -goal), sought * CLEAN.sum(0) / sought.sum(0))
    one = np.zeros((6, 3))
    one[2] = 7.0  # without a spread nothing can be tilted
    assert tilted(one, SCORES, goal).tolist() == one.tolist()


def test_a_scale_of_counts_changes_nothing_but_the_scale():
    """Down to thousandths of a record, with an empty column and cells whose noisy counts are below 0."""
    clean, noisy = np.column_stack([CLEAN, np.zeros(6)]), np.column_stack([CLEAN[::-1] - 15, np.full(6, -4.0)])
    whole, small = (with_gaps(clean * s, noisy * s, SCORES, 0.9, 6.0 * s) for s in (1.0, 1e-5))
    assert np.allclose(small * 1e5, whole) and np.isfinite(whole).all() and (whole[:, 3] == 0).all()
    assert np.abs(whole - clean).max() > 1
    assert np.allclose(steepness(clean * 1e-5, SCORES), steepness(clean, SCORES), atol=1e-6)
    assert np.allclose(gaps_of(clean * 1e-2, clean[::-1] * 1e-5) * 1e2, gaps_of(clean, clean[::-1]))
    counts, recode = np.array([10.0, 0, 30, 40, 20]), np.array([0, 0, 1, 1, 2])
    for part, again in zip(coarse_scores(counts, recode), coarse_scores(counts * 1e-5, recode), strict=True):
        assert np.allclose(part, again)


@pytest.mark.parametrize("sigma", [1.0, 6.0, 30.0])
@pytest.mark.parametrize("kept", [1.0, 0.8])
def test_sums_are_drawn_towards_the_noisy_ones_by_what_is_beyond_noise(sigma, kept):
    noisy = CLEAN + RNG.normal(0, 1, CLEAN.shape) + 12 * np.outer(SCORES, [1, -1, 0.3])
    columns, current, shown = CLEAN.sum(0), SCORES @ CLEAN, SCORES @ noisy
    noise = sigma**2 * sum(SCORES**2)
    goal = []
    for c in range(3):
        spread = columns[c] ** 2 * max(sum(shown**2) - 3 * noise, 0) / sum(columns**2)
        part = math.sqrt(spread / (spread + noise))
        goal.append(current[c] + part * (shown[c] / kept - current[c]))
    found = with_gaps(CLEAN, noisy, SCORES, kept, sigma)
    assert np.allclose(found, by_solver(CLEAN, SCORES, np.array(goal)), rtol=1e-3)


def test_tables_of_one_row_one_column_or_no_records_stay():
    assert with_gaps(np.array([[-1.0, 4.0]]), np.ones((1, 2)), np.ones(1), 1.0, 1.0).tolist() == [[0, 4]]
    assert with_gaps(np.ones((2, 1)), np.array([[9.0], [0]]), np.array([-1.0, 1]), 1.0, 0.1).tolist() == [[1], [1]]
    assert with_gaps(np.zeros((2, 2)), np.eye(2), np.array([-1.0, 1]), 1.0, 0.1).tolist() == [[0, 0], [0, 0]]
    two = with_gaps(np.full((2, 2), 30.0), np.array([[50.0, 10], [10, 50]]), np.array([-0.8, 0.8]), 1.0, 0.1)
    assert np.allclose(two, [[50, 10], [10, 50]], atol=0.1)


def test_an_average_table_gets_the_mean_scores_of_fitted_counts():
    fitted = RNG.uniform(5, 60, (6, 3))
    scores = mean_scores(CLEAN.sum(1) / CLEAN.sum())
    goal = scores @ fitted / fitted.sum(0) * CLEAN.sum(0)
    assert np.allclose(gaps_of(CLEAN, fitted), by_solver(CLEAN, scores, goal), rtol=1e-3)
    fitted[:, 1] = 0
    goal[1] = 0
    assert np.allclose(gaps_of(CLEAN, fitted), by_solver(CLEAN, scores, goal), rtol=1e-3)


def slopes(values, scores):
    """By a general solver: shares of rows in a column are rows * exp(a s + b s^2), with its mean and mean square."""
    rows, out = values.sum(1), np.zeros(values.shape)
    facts = np.stack([scores, scores**2])
    facts = facts - (facts @ rows / rows.sum())[:, None]
    for c in range(values.shape[1]):
        if values[:, c].sum() == 0:
            continue
        goal = facts @ values[:, c] / values[:, c].sum()

        def off(t, goal=goal):
            p = rows * np.exp(t @ facts)
            return facts @ p / p.sum() - goal

        a, b = root(off, [0.0, 0.0]).x
        out[:, c] = a + 2 * b * scores
    return np.clip(out, -3, 3)


def test_steepness_is_that_of_a_general_solver():
    values = np.column_stack([CLEAN, np.zeros(6)])
    found = steepness(values, SCORES)
    assert np.allclose(found, slopes(values, SCORES), atol=1e-3)
    assert np.abs(found).max() > 0.1
    far = np.array([[90.0, 0], [5, 5], [0, 90]])
    scores = mean_scores(far.sum(1) / far.sum())
    assert np.abs(steepness(far, scores)).max() == 3.0


def test_records_get_fine_values_in_the_order_of_scores_moved_by_their_categories():
    """A number of twelve values in boxes of four, and one without a number; two categories tell where it is high."""
    rng = np.random.default_rng(4)
    n, fine = 400, np.arange(12) // 4
    number = rng.integers(0, 13, n)
    first = (rng.random(n) < np.where(number > 5, 0.8, 0.3)).astype(int)
    second = np.where(rng.random(n) < 0.7, first, rng.integers(0, 3, n))
    rows = np.column_stack([number, first, second]).astype(np.uint16)
    box = np.append(fine, 3)

    def table(other, size, turned):
        counts = np.zeros((4, size))
        np.add.at(counts, (box[number], other), 1.0)
        maps = (box, np.arange(size))
        place = 1 if size == 2 else 2
        if turned:
            return Target(attributes=(place, 0), maps=maps[::-1], values=counts.T, sigma=1.0)
        return Target(attributes=(0, place), maps=maps, values=counts, sigma=1.0)

    tables = [table(first, 2, turned=False), table(second, 3, turned=True)]
    ones = [np.bincount(number, minlength=13).astype(float), np.ones(2), np.ones(3)]
    numbers = [Number(place=0, ranked=12)]
    found = rows.copy()
    place_by_category(found, tables, ones, numbers, rng=np.random.default_rng(9))

    inside = np.flatnonzero(number < 12)
    fine_scores, counts = mean_scores(ones[0][:12] / len(inside)), ones[0][:12]
    scores = (counts * fine_scores).reshape(3, 4).sum(axis=1) / counts.reshape(3, 4).sum(axis=1)
    goals = [slopes(t, scores) for t in (tables[0].values[:3], tables[1].values.T[:3])]
    codes = [rows[inside, 1], rows[inside, 2]]
    where = fine[number[inside]]
    effects, shift = [np.zeros(g.shape) for g in goals], np.zeros(len(inside))
    for _ in range(4):
        for k, goal in enumerate(goals):
            for b in range(3):
                for v in range(goal.shape[1]):
                    mine = (where == b) & (codes[k] == v)
                    without = shift[mine] - effects[k][b, v]
                    new = goal[b, v] - (without.mean() if mine.any() else 0.0)
                    shift[mine] = without + new
                    effects[k][b, v] = new
    column = number[inside]
    lots = np.random.default_rng(9).random(len(inside))
    order = sorted(range(len(inside)), key=lambda i: (column[i], lots[i]))
    score = np.empty(len(inside))
    score[order] = norm.ppf((np.arange(len(inside)) + 0.5) / len(inside))
    sought = rows.copy()
    for b in range(3):
        mine = np.flatnonzero(where == b)
        moved = score[mine] + shift[mine] * score[mine].var()
        sought[inside[mine[np.argsort(moved)]], 0] = np.sort(column[mine])
    assert (found == sought).all()
    assert (found != rows).any()
    assert np.corrcoef(found[inside, 0], found[inside, 1])[0, 1] > np.corrcoef(column, first[inside])[0, 1]


@pytest.mark.parametrize("case", ["no table", "two numbers", "three attributes", "each value", "no number"])
def test_values_stay_where_nothing_tells_them_apart(case):
    rng = np.random.default_rng(2)
    rows = rng.integers(0, 6, (60, 3)).astype(np.uint16)
    halves, each = np.arange(6) // 3, np.arange(6)
    values = np.array([[20.0, 1], [1, 20]])
    table = Target(attributes=(0, 1), maps=(halves, halves), values=values, sigma=1.0)
    tables, numbers = [table], [Number(place=0, ranked=6)]
    if case == "no table":
        tables = []
    elif case == "two numbers":
        numbers.append(Number(place=1, ranked=6))
    elif case == "three attributes":
        tables = [Target(attributes=(0, 1, 2), maps=(halves,) * 3, values=np.ones((2, 2, 2)), sigma=1.0)]
    elif case == "each value":
        tables = [Target(attributes=(0, 1), maps=(each, halves), values=np.tile(values, (3, 1)), sigma=1.0)]
    else:
        numbers, rows[:, 0] = [Number(place=0, ranked=5)], 5
    found = rows.copy()
    place_by_category(found, tables, [np.full(6, 10.0)] * 3, numbers, rng=np.random.default_rng(0))
    assert (found == rows).all()
