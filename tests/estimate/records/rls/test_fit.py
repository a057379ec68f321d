"""Record least squares: the kernel keeps its books, falls, and repeats; starts and proposals have the right counts."""

import numpy as np
import pytest

from dpsyn_core.estimate.records.rls.fit import (
    Course,
    Pace,
    Plan,
    Target,
    Walk,
    cooling,
    fit_records,
    proposals_by,
    schedule,
)
from dpsyn_core.estimate.records.rls.start import independent_rows, whole_counts


def pair_target(rng, sizes, coarse=False, sigma=1.0):
    maps = (np.arange(sizes[0]) // 2 if coarse else np.arange(sizes[0]), np.arange(sizes[1]))
    shape = tuple(int(m.max()) + 1 for m in maps)
    return Target(attributes=(0, 1), maps=maps, values=rng.normal(20, 10, shape), sigma=sigma)


def brute_loss(rows, targets):
    total = 0.0
    for t in targets:
        counts = np.zeros(t.values.shape)
        np.add.at(counts, tuple(m[rows[:, j]] for j, m in zip(t.attributes, t.maps, strict=True)), 1)
        total += ((counts - t.values) ** 2).sum() / t.sigma**2
    return total


def setup(seed=3, n=200):
    rng = np.random.default_rng(seed)
    sizes = (6, 4, 3)
    rows = np.stack([rng.integers(0, s, n) for s in sizes], axis=1).astype(np.uint16)
    cube = Target(
        attributes=(0, 1, 2),
        maps=tuple(np.arange(s) // 2 for s in sizes),
        values=rng.normal(9, 5, (3, 2, 2)),
        sigma=2.0,
    )
    targets = [pair_target(rng, sizes, coarse=True), cube, pair_target(rng, sizes, sigma=0.5)]
    return rows, targets, [np.ones(s) for s in sizes]


@pytest.mark.parametrize("temperatures", [[0.0], [2.0, 0.1, 0.0]])
def test_the_reported_loss_is_the_brute_force_loss_before_and_after(temperatures):
    rows, targets, p = setup()
    before = brute_loss(rows, targets)
    fitted = fit_records(
        rows, targets, p, pace=Pace(temperatures=tuple(temperatures), repeats=2), rng=np.random.default_rng(1)
    )
    assert fitted.history[0] == pytest.approx(before, rel=1e-5)
    assert fitted.history[-1] == pytest.approx(brute_loss(fitted.rows, targets), rel=1e-3)


def test_at_temperature_zero_the_loss_never_rises():
    rows, targets, p = setup()
    fitted = fit_records(
        rows, targets, p, pace=Pace(temperatures=tuple([0.0] * 6), repeats=1), rng=np.random.default_rng(1)
    )
    assert all(b <= a for a, b in zip(fitted.history, fitted.history[1:], strict=False))
    assert fitted.history[-1] < 0.8 * fitted.history[0]


def test_a_hot_sweep_raises_what_a_cold_one_does_not():
    rows, targets, p = setup()
    cold = fit_records(
        rows, targets, p, pace=Pace(temperatures=tuple([0.0] * 9), repeats=4), rng=np.random.default_rng(1)
    ).history[-1]
    hot = fit_records(
        rows, targets, p, pace=Pace(temperatures=(1000.0,), repeats=4), rng=np.random.default_rng(1)
    ).history[-1]
    assert hot > 1.5 * cold


def test_a_table_that_can_be_matched_is_matched_exactly():
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 3, (60, 3)).astype(np.uint16)
    targets = []
    for a, b in ((0, 1), (1, 2)):
        counts = np.zeros((3, 3))
        np.add.at(counts, (truth[:, a], truth[:, b]), 1)
        targets.append(Target(attributes=(a, b), maps=(np.arange(3),) * 2, values=counts, sigma=1.0))
    start = rng.integers(0, 3, (60, 3)).astype(np.uint16)
    fitted = fit_records(
        start, targets, [np.ones(3)] * 3, pace=Pace(temperatures=tuple(cooling(30)), repeats=10), rng=rng
    )
    assert brute_loss(fitted.rows, targets) == 0


def test_the_same_generator_gives_the_same_records_and_another_gives_others():
    runs = []
    for seed in (1, 1, 2):
        rows, targets, p = setup()
        runs.append(
            fit_records(
                rows, targets, p, pace=Pace(temperatures=tuple(cooling(4)), repeats=1), rng=np.random.default_rng(seed)
            ).rows
        )
    assert np.array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])


def test_precise_targets_are_approached_from_more_heat():
    def first(sigma):
        target = Target(attributes=(0, 1), maps=(np.arange(2),) * 2, values=np.ones((2, 2)), sigma=sigma)
        return schedule(100, 2, [target]).temperatures[0]

    assert first(100.0) == pytest.approx(3.0)
    assert first(10.0) == pytest.approx(9.0)
    assert first(0.1) == pytest.approx(50.0)


def test_heavier_tables_are_matched_more_closely():
    rng = np.random.default_rng(2)
    one, other = np.array([80.0, 20.0]), np.array([20.0, 80.0])  # they contradict each other
    targets = [Target(attributes=(0,), maps=(np.arange(2),), values=v, sigma=s) for v, s in ((one, 1.0), (other, 3.0))]
    rows = rng.integers(0, 2, (100, 1)).astype(np.uint16)
    fitted = fit_records(rows, targets, [np.ones(2)], pace=Pace(temperatures=tuple([0.0] * 20), repeats=2), rng=rng)
    assert (fitted.rows == 0).sum() == 74  # (80 * 9 + 20) / 10


def test_progress_hears_every_sweep_and_the_loss():
    rows, targets, p = setup()
    heard = []
    fit_records(
        rows, targets, p, pace=Pace(temperatures=(0.0, 0.0), repeats=1), rng=np.random.default_rng(1),
        progress=lambda *a: heard.append(a),
    )  # fmt: skip
    assert [h[1:3] for h in heard] == [(1, 2), (2, 2)]
    assert heard[1][3] <= heard[0][3]


def test_an_attribute_of_one_value_and_a_table_of_no_records_pass():
    rng = np.random.default_rng(1)
    target = Target(attributes=(0,), maps=(np.zeros(1, int),), values=np.array([3.0]), sigma=1.0)
    for n in (0, 5):
        rows = np.zeros((n, 1), dtype=np.uint16)
        assert fit_records(
            rows, [target], [np.ones(1)], pace=Pace(temperatures=(1.0, 0.0), repeats=1), rng=rng
        ).rows.shape == (
            n,
            1,
        )


def test_alias_tables_give_back_their_probabilities():
    rng = np.random.default_rng(4)
    for p in (rng.dirichlet(np.ones(37)), np.array([1.0]), np.array([0.0, 3.0, 1.0])):
        made = proposals_by([p])
        s = len(p)
        mass = made.keep / s
        np.add.at(mass, made.other, (1 - made.keep) / s)
        assert np.allclose(mass, 0.9 * p / p.sum() + 0.1 * (p > 0) / (p > 0).sum(), atol=1e-6)


def test_a_warm_walk_keeps_rare_values_as_rare_as_their_probabilities_say():
    p = np.array([0.98] + [1e-4] * 200)
    nothing = Target(attributes=(0,), maps=(np.zeros(201, np.intp),), values=np.array([20_000.0]), sigma=1.0)
    rows = np.zeros((20_000, 1), np.uint16)
    pace = Pace(temperatures=(1.0,) * 40, repeats=2)
    fitted = fit_records(rows, [nothing], [p], pace=pace, rng=np.random.default_rng(5))
    assert np.count_nonzero(fitted.rows) == pytest.approx(400, abs=100)  # five standard deviations, of a fixed seed


def test_whole_counts_add_up_and_are_off_by_less_than_one():
    rng = np.random.default_rng(0)
    for weights in (rng.dirichlet(np.ones(50)), np.zeros(4), np.array([0.0, 1.0])):
        counts = whole_counts(weights, 997, rng=rng)
        share = weights / weights.sum() if weights.sum() else np.full(len(weights), 1 / len(weights))
        assert counts.sum() == 997
        assert np.abs(counts - 997 * share).max() < 1 + 1e-6


def test_the_start_has_the_one_ways_and_no_dependence():
    rng = np.random.default_rng(0)
    ones = [np.array([700.0, 300.0]), np.array([500.0, 250.0, 250.0])]
    rows = independent_rows(ones, 20_000, rng=rng)
    assert np.array_equal(np.bincount(rows[:, 0]), [14_000, 6_000])
    table = np.zeros((2, 3))
    np.add.at(table, (rows[:, 0], rows[:, 1]), 1)
    expected = np.outer([14_000, 6_000], [0.5, 0.25, 0.25])
    assert ((table - expected) ** 2 / expected).sum() < 30  # chi-square with 2 degrees: 1e-6 tail at 27.6


def test_the_plan_counts_like_numpy():
    rows, targets, p = setup()
    plan = Plan([len(q) for q in p], targets)
    counts = np.split(plan.counts(rows), np.cumsum([t.values.size for t in targets])[:-1])
    for c, t in zip(counts, targets, strict=True):
        expected = np.zeros(t.values.shape, int)
        np.add.at(expected, tuple(m[rows[:, j]] for j, m in zip(t.attributes, t.maps, strict=True)), 1)
        assert np.array_equal(c.reshape(expected.shape), expected)


def test_threads_share_the_residuals_and_leave_their_sum_right():
    rows, targets, p = setup(n=300)
    walk = Walk(rows, Course(targets, p), rng=np.random.default_rng(1))
    before = walk.loss
    for temperature in (1.0, 0.0, 0.0, 0.0):
        walk.sweep(temperature, 2, shards=2)
    assert walk.loss == pytest.approx(brute_loss(rows, targets), rel=1e-3)
    assert np.allclose(walk.residuals, walk.plan.residuals(rows), atol=1e-2)
    assert walk.loss < before


def test_two_threads_give_the_same_records_every_time():
    runs = []
    for _ in range(3):
        rows, targets, p = setup(n=400)
        pace = Pace(temperatures=(0.5, 0.2, 0.0, 0.0), repeats=2, shards=2)
        runs.append(fit_records(rows, targets, p, pace=pace, rng=np.random.default_rng(7)).rows)
    assert np.array_equal(runs[0], runs[1])
    assert np.array_equal(runs[0], runs[2])


def test_the_last_two_sweeps_are_of_one_thread_unless_proposals_are_few():
    assert [Pace(temperatures=(), repeats=4, shards=2).at(left) for left in (3, 2, 1, 0)] == [2, 2, 1, 1]
    assert Pace(temperatures=(), repeats=1, shards=2).at(0) == 2


def test_the_schedule_bounds_the_work_and_cools_only_when_there_is_time():
    _, targets, _ = setup()
    small, usual, large = (schedule(n, 3, targets) for n in (1_000, 2 * 10**6, 10**8))
    assert len(small.temperatures) * small.repeats == 48
    assert len(usual.temperatures) * usual.repeats == 32
    assert small.temperatures[0] > small.temperatures[-3] > small.temperatures[-1] == 0
    assert large.temperatures == (0.0, 0.0, 0.0)
    assert large.repeats == 1
    assert schedule(2 * 10**6, 3, targets, effort=4).repeats == 16


def test_larger_tables_take_no_proposals_from_pairs():
    pair = Target(attributes=(0, 1), maps=(np.arange(2),) * 2, values=np.ones((2, 2)), sigma=9.0)
    triple = Target(attributes=(0, 1, 2), maps=(np.arange(2),) * 3, values=np.ones((2, 2, 2)), sigma=9.0)
    assert schedule(10**7, 3, [pair] + [triple] * 50) == schedule(10**7, 3, [pair])
    assert schedule(10**7, 3, [pair]) != schedule(10**7, 3, [pair] * 30)


@pytest.mark.parametrize(("attributes", "joins"), [((0,), False), ((0, 1), True), ((0, 1, 2), True)])
def test_a_table_joins_columns_where_it_has_two_and_was_measured(attributes, joins):
    given = {"attributes": attributes, "maps": (np.arange(2),) * len(attributes), "sigma": 2.0}
    values = np.zeros((2,) * len(attributes))
    assert Target(values=values, **given).joins is joins
    assert Target(values=values, firm=True, **given).joins is False


@pytest.mark.parametrize("below", [0.0, 1.5])
def test_an_empty_cell_asks_for_less_than_none_and_others_for_their_values(below):
    given = {"attributes": (0,), "maps": (np.arange(3),), "values": np.arange(3.0), "sigma": 2.0}
    assert Target(empty=np.array([True, False, True]), **given).goal(below).tolist() == [-2 * below, 1, -2 * below]
    assert Target(**given).goal(below).tolist() == [0, 1, 2]
