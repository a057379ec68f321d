"""Evening out halves the error of chance and keeps what was measured."""

import numpy as np

from dpsyn_core.estimate.records.rls.averaging import Tally, all_pairs, as_fitted, average_tables, even_records, pays
from dpsyn_core.estimate.records.rls.fit import Plan, Target, fit_records, schedule
from dpsyn_core.estimate.records.rls.gaps import gaps_of
from dpsyn_core.estimate.records.rls.start import independent_rows
from dpsyn_core.estimate.records.rls.tuning import RECORDS


def case(n=3_000):
    """Three attributes; only the first pair is measured, the third is independent of both."""
    rng = np.random.default_rng(3)
    joint = rng.dirichlet(np.ones(24)).reshape(6, 4)
    third = rng.dirichlet(np.ones(9))
    ones = [joint.sum(1) * n, joint.sum(0) * n, third * n]
    targets = [Target(attributes=(j,), maps=(np.arange(len(p)),), values=p, sigma=5.0) for j, p in enumerate(ones)]
    targets.append(Target(attributes=(0, 1), maps=(np.arange(6), np.arange(4)), values=joint * n, sigma=5.0))
    rows = independent_rows(ones, n, rng=rng)
    return rows, targets, ones, joint * n, np.outer(joint.sum(1), third) * n


def table(rows, a, b, shape):
    out = np.zeros(shape)
    np.add.at(out, (rows[:, a], rows[:, b]), 1)
    return out


def test_unmeasured_pairs_lose_half_their_chance_error_and_measured_ones_stay():
    rows, targets, ones, joint, free = case()
    pace = schedule(len(rows), 3, targets)
    rng = np.random.default_rng(0)
    fit_records(rows, targets, ones, pace=pace, rng=rng)
    before = np.abs(table(rows, 0, 2, free.shape) - free).sum()
    even_records(rows, targets, ones, pace=pace, rng=rng)
    assert np.abs(table(rows, 0, 2, free.shape) - free).sum() < 0.6 * before
    assert np.abs(table(rows, 0, 1, joint.shape) - joint).sum() < 0.03 * joint.sum()


def test_records_whose_pairs_are_all_too_large_stay_as_they_were_fitted():
    n, sizes = 300, (1100, 1000)
    rng = np.random.default_rng(2)
    ones = [np.full(size, n / size) for size in sizes]
    targets = [Target(attributes=(j,), maps=(np.arange(s),), values=ones[j], sigma=5.0) for j, s in enumerate(sizes)]
    halves = tuple((np.arange(s) >= s // 2).astype(np.intp) for s in sizes)
    targets.append(Target(attributes=(0, 1), maps=halves, values=np.array([[150.0, 0], [0, 150]]), sigma=5.0))
    rows = independent_rows(ones, n, rng=rng)
    fit_records(rows, targets, ones, pace=schedule(n, 2, targets), rng=rng)
    before = rows.copy()
    assert not all_pairs(sizes, 5.0)
    assert (even_records(rows, targets, ones, pace=schedule(n, 2, targets), rng=rng) == before).all()


def test_averages_are_closer_to_what_is_expected_than_one_fit_and_have_its_total():
    rows, targets, ones, _, free = case()
    pace = schedule(len(rows), 3, targets)
    rng = np.random.default_rng(0)
    fit_records(rows, targets, ones, pace=pace, rng=rng)
    one = table(rows, 0, 2, free.shape)
    wanted = [t for t in all_pairs([len(p) for p in ones], 1.0) if t.attributes == (0, 2)]
    (average,) = average_tables(rows, targets, ones, wanted, pace=pace, rng=rng)
    assert np.isclose(average.sum(), len(rows), rtol=1e-12)
    assert np.abs(average - free).sum() < 0.75 * np.abs(one - free).sum()


def test_the_same_generator_gives_the_same_records():
    out = []
    for _ in range(2):
        rows, targets, ones, _, _ = case(500)
        pace = schedule(len(rows), 3, targets)
        out.append(even_records(rows, targets, ones, pace=pace, rng=np.random.default_rng(5)).copy())
    assert np.array_equal(out[0], out[1])


def test_it_is_for_tables_whose_pairs_are_affordable():
    assert pays(50_000, 14)
    assert not pays(1_000_000, 14)
    assert not pays(50_000, 98)
    assert not pays(50_000, 1)
    assert [t.attributes for t in all_pairs([2, RECORDS.evening.largest_pair, 3], 1.0)] == [(0, 2)]


def test_a_tally_is_the_sum_of_the_counts_of_every_moment():
    rows, _, ones, _, _ = case(n=400)
    plan, rng = Plan([len(p) for p in ones], all_pairs([len(p) for p in ones], 1.0)), np.random.default_rng(2)
    tally, expected = Tally(plan), np.zeros(plan.goal.size, dtype=int)
    for share in (0.0, 0.3, 0.0, 1.0, 0.1):
        rows[rng.random(len(rows)) < share, 2] = rng.integers(9)
        tally.see(rows)
        expected += plan.counts(rows)
        assert np.array_equal(tally.sums(), expected)


def test_numbers_are_evened_out_with_categories_alone_and_at_coarse_values():
    coarse = np.arange(90) // 30
    found = all_pairs([90, 4, 90], 1.0, numbers={0: coarse, 2: coarse})
    assert [(t.attributes, t.values.shape) for t in found] == [((0, 1), (3, 4)), ((1, 2), (4, 3))]


def test_a_number_and_a_category_that_were_measured_together_are_not_evened_out():
    coarse = np.arange(90) // 9
    found = all_pairs([90, 4, 3], 1.0, numbers={0: coarse}, measured={(0, 1), (1, 2)})
    assert [t.attributes for t in found] == [(0, 2), (1, 2)]


def test_averages_of_a_measured_short_number_keep_its_differences_between_categories():
    """A walk pulls the groups together; here its average is taken to have lost half of the difference."""
    rng, n = np.random.default_rng(6), 4_000
    group = rng.integers(0, 2, n)
    number = rng.poisson(1 + group).clip(0, 9)
    rows = np.stack([number, group], axis=1).astype(np.uint16)
    fitted = table(rows, 0, 1, (10, 2))
    average = fitted / 2 + np.outer(fitted.sum(1), fitted.sum(0)) / n / 2

    def gap(counts):
        means = np.arange(10) @ counts / counts.sum(axis=0)
        return means[1] - means[0]

    assert gap(average) < 0.6 * gap(fitted)
    assert abs(gap(gaps_of(average, fitted)) / gap(fitted) - 1) < 0.05
    assert np.allclose(gaps_of(average, fitted).sum(axis=0), average.sum(axis=0))


def test_only_values_in_order_of_one_number_in_a_table_are_pulled_apart_again():
    """The category comes first, and the number has a special value at its end, whose counts stay."""
    rng, n = np.random.default_rng(7), 3_000
    group = rng.integers(0, 2, n)
    number = np.where(rng.random(n) < 0.2, 8, rng.poisson(1 + group).clip(0, 7))
    rows = np.stack([group, number], axis=1).astype(np.uint16)
    fitted = table(rows, 0, 1, (2, 9))
    average = fitted / 2 + np.outer(fitted.sum(1), fitted.sum(0)) / n / 2
    x = Target(attributes=(0, 1), maps=(np.arange(2), np.arange(9)), values=average, sigma=1.0)
    out = as_fitted(x, average, rows, {1: 8})
    assert np.array_equal(out[:, 8], average[:, 8])
    means = [t[:, :8] @ np.arange(8) / t[:, :8].sum(axis=1) for t in (out, fitted, average)]
    assert abs(np.diff(means[0]) - np.diff(means[1])) < 0.1 * abs(np.diff(means[2]) - np.diff(means[1]))
    assert as_fitted(x, average, rows, {0: 2, 1: 8}) is average
