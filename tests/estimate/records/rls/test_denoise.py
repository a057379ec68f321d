"""Shrinkage removes noise and keeps signal; projections are what they claim."""

from dataclasses import replace

import numpy as np
import pytest

from dpsyn_core.estimate.records.rls.denoise import (
    _elsewhere,
    shrink_interactions,
    shrink_one_way,
    shrink_ordered,
    shrink_pair,
    shrink_pairs,
    shrink_unordered,
    simplex,
    with_total,
)
from dpsyn_core.estimate.records.rls.tuning import RECORDS

RNG = np.random.default_rng


def test_simplex_is_the_nearest_point():
    assert np.allclose(simplex(np.array([-1.5, -2.5, 2, 1, 10]), 9.0), [0, 0, 0.5, 0, 8.5])  # oracle O5
    assert np.allclose(simplex(np.array([3.0, 1.0]), 0.0), 0)
    assert np.allclose(simplex(np.array([30.0, 2.0]), 1e-16), 0)  # a difference of two equal sums
    assert np.allclose(simplex(np.array([-5.0, -5.0]), 4.0), [2, 2])


@pytest.mark.parametrize("shape", ["flat", "steps", "smooth", "spike"])
def test_ordered_shrinkage_takes_two_fifths_off_the_error_of_smooth_counts_and_keeps_spikes(shape):
    x = np.arange(90)
    truth = {
        "flat": np.full(90, 500.0),
        "steps": np.where(x < 40, 900.0, 200.0),
        "smooth": 1000 * np.exp(-0.5 * ((x - 40) / 15) ** 2),
        "spike": np.where(x == 0, 40_000.0, 30.0),
    }[shape]
    noisy = truth + RNG(1).normal(0, 100, 90)
    error = np.abs(shrink_ordered(noisy, 100.0) - truth).sum()
    assert error < 0.6 * np.abs(noisy - truth).sum()


def test_ordered_shrinkage_leaves_strong_counts_alone():
    truth = RNG(2).uniform(1e4, 1e5, 77)
    noisy = truth + RNG(3).normal(0, 10, 77)
    assert np.abs(shrink_ordered(noisy, 10.0) - noisy).max() < 1


def test_unordered_shrinkage_halves_the_error_of_rare_values_and_keeps_frequent_ones():
    truth = np.concatenate([[44_000, 1_000, 500], np.full(40, 60.0)])
    noisy = truth + RNG(1).normal(0, 100, 43)
    clean = shrink_unordered(noisy, 100.0)
    assert np.abs(clean - truth).sum() < 0.5 * np.abs(noisy - truth).sum()
    assert abs(clean[0] - noisy[0]) < 0.05 * noisy[0]


def test_a_clean_one_way_is_non_negative_has_the_total_and_leaves_special_values_out_of_the_smoothing():
    values = np.concatenate([np.full(30, 100.0), [5_000.0]])
    noisy = values + RNG(1).normal(0, 20, 31)
    clean = shrink_one_way(noisy, 20.0, ordered=True, special=1, total=8_000.0)
    assert clean.min() >= 0
    assert clean.sum() == pytest.approx(8_000)
    assert clean[30] == pytest.approx(5_000, abs=80)
    assert clean[29] == pytest.approx(100, abs=25)


@pytest.mark.parametrize("size", [1, 2, 7, 8, 9, 64, 65])
def test_one_ways_of_any_size_and_all_negative_ones_pass(size):
    for ordered in (False, True):
        clean = shrink_one_way(np.full(size, -5.0), 3.0, ordered=ordered, special=0, total=10.0)
        assert np.allclose(clean, 10 / size)


def interaction(values, expected, sigma):
    return shrink_interactions(values[None], expected[None], np.array([sigma]), RECORDS.shrinkage)[0]


def test_shrinking_an_interaction_removes_pure_noise_and_keeps_a_strong_interaction():
    rng = RNG(4)
    expected = np.outer(rng.dirichlet(np.ones(12)), rng.dirichlet(np.ones(15))) * 50_000
    signal = 400 * np.outer(np.sign(np.arange(12) - 5.5), np.sign(np.arange(15) - 7))
    signal -= signal.mean(1, keepdims=True)
    noise = rng.normal(0, 50, expected.shape)
    only_noise = interaction(expected + noise, expected, 50.0)
    assert np.abs(only_noise - expected).sum() < 0.5 * np.abs(noise).sum()
    both = interaction(expected + signal + noise, expected, 50.0)
    assert np.abs(both - expected - signal).sum() < 0.75 * np.abs(noise).sum()


def test_shrinking_an_interaction_leaves_margins_as_measured():
    rng = RNG(5)
    values, expected = rng.normal(10, 5, (4, 6)), np.full((4, 6), 10.0)
    shrunk = interaction(values, expected, 5.0)
    assert np.allclose(shrunk.sum(0), values.sum(0))
    assert np.allclose(shrunk.sum(1), values.sum(1))


def test_a_narrow_band_loses_more_of_its_noise_to_the_mean_of_both_estimators():
    rng = RNG(6)
    ones = np.full(24, 1 / 24)
    truth = np.diag(np.full(24, 400.0))
    noisy = truth + rng.normal(0, 20, truth.shape)
    expected = np.outer(ones, ones) * truth.sum()
    both, one = shrink_pair(noisy, expected, 20.0), interaction(noisy, expected, 20.0)
    assert np.abs(both - truth).sum() < 0.8 * np.abs(one - truth).sum()


@pytest.mark.parametrize("shape", [(2, 2), (2, 3), (3, 2)])
def test_tables_of_yes_no_attributes_say_together_whether_they_depend(shape):
    """Noise of 20: where no table depends nearly nothing stays of it; among those that depend little is taken away."""
    rng, cells = RNG(11), (-1.0) ** np.add.outer(*map(np.arange, shape))
    expected = np.full((60, *shape), 500.0)
    found = {}
    for strength in (0.0, 120.0):
        truth = expected + strength * (cells - cells.mean(0) - cells.mean(1)[:, None] + cells.mean())
        noise = rng.normal(0, 20, truth.shape)
        noise -= noise.mean(1, keepdims=True) + noise.mean(2, keepdims=True) - noise.mean((1, 2), keepdims=True)
        clean = shrink_pairs(truth + noise, expected, np.full(60, 20.0))
        found[strength] = np.abs(clean - truth).sum() / np.abs(noise).sum()
    assert found[0.0] < 0.2
    assert found[120.0] < 1.1


def _panel(stay: float) -> np.ndarray:
    """Counts of six states in two waves: this part stays, the others go to any state."""
    shares = np.array([0.4, 0.25, 0.15, 0.1, 0.06, 0.04])
    return 6000 * shares[:, None] * (stay * np.eye(6) + (1 - stay) * shares)


@pytest.mark.parametrize(("stay", "most", "least"), [(0.9, 0.9, 0.0), (0.1, 1.001, 0.999)])
def test_an_attribute_that_the_other_nearly_decides_keeps_what_was_measured(stay, most, least):
    """Against the mean of both estimators: nearer where records stay in their state, the same where few do."""
    truth = np.repeat(_panel(stay)[None], 20, axis=0)
    noisy, sigmas = truth + RNG(12).normal(0, 60, truth.shape), np.full(20, 60.0)
    expected = truth.sum(2, keepdims=True) * truth.sum(1, keepdims=True) / 6000
    never = replace(RECORDS.shrinkage, strong=(1e6, 1e7))
    tables = [shrink_pairs(noisy, expected, sigmas, tuning=t) for t in (RECORDS.shrinkage, never)]
    found, before = (np.abs(np.maximum(t, 0) - truth).sum() for t in tables)
    assert least <= found / before <= most


def test_tables_of_noise_alone_are_not_taken_for_strong():
    expected = np.repeat(_panel(0.0)[None, :, :2], 200, axis=0)
    noisy, sigmas = expected + RNG(13).normal(0, 400, expected.shape), np.full(200, 400.0)
    never = replace(RECORDS.shrinkage, strong=(1e6, 1e7))
    tables = [shrink_pairs(noisy, expected, sigmas, tuning=t) for t in (RECORDS.shrinkage, never)]
    assert np.mean(np.abs(tables[0] - tables[1]).max(axis=(1, 2)) > 1e-6) < 0.1


def test_a_table_with_one_row_is_left_as_measured():
    values = np.array([[3.0, -1.0, 5.0]])
    assert np.array_equal(shrink_pair(values, values, 5.0), values)


def test_many_values_are_shrunk_on_a_grid_as_they_would_be_one_by_one():
    rng = RNG(7)
    values = rng.normal(0, 3, 4000) + np.where(rng.random(4000) < 0.1, 8, 0)
    limit = RECORDS.shrinkage.counted_on_grid
    few = shrink_unordered(values[:limit], 3.0)
    alone = shrink_unordered(np.tile(values[:limit], 3), 3.0)[:limit]
    assert np.abs(few - alone).max() < 0.05 * 3.0


def test_a_deficit_is_made_up_where_there_is_something():
    made = with_total(np.array([0.0, 3.0, 1.0, -0.5]), 8.0)
    assert made == pytest.approx([0, 6, 2, 0])
    assert with_total(np.array([0.0, 3.0, 1.0]), 2.0) == pytest.approx(simplex(np.array([0.0, 3.0, 1.0]), 2.0))


def test_a_long_empty_tail_gets_no_records():
    rng = RNG(8)
    counts = np.concatenate([np.full(40, 200.0), np.zeros(160)])
    made = shrink_one_way(counts + rng.normal(0, 10, 200), 10.0, ordered=True, special=0, total=8000.0)
    assert made[50:].sum() == 0
    assert made.sum() == pytest.approx(8000)


@pytest.mark.parametrize("spike", [1e3, 1e5, 1e7, 1e9])
def test_spikes_stay_however_far_they_stand_above_the_noise(spike):
    counts = np.zeros(100)
    counts[[0, 40, 99]] = spike, spike / 10, spike / 100
    assert shrink_ordered(counts, 1.0) == pytest.approx(counts, rel=1e-3, abs=spike * 2e-5 + 1)


@pytest.mark.parametrize("seed", range(12))
def test_a_number_whose_noise_sums_below_zero_does_not_go_to_its_missing_cell(seed):
    """890 records in 822 bins under noise of 12.7 a bin: their sum is off by 363, the ten that are missing by 12.7."""
    rng = RNG(seed)
    truth = np.append(rng.multinomial(890, np.full(822, 1 / 822)), 10)
    noise = rng.normal(0, 12.7, 823)
    noise[:-1] -= noise[:-1].mean() + 1.5  # the unlucky half of all runs, made certain
    clean = shrink_one_way(truth + noise, 12.7, ordered=True, special=1, total=900.0)
    assert clean.sum() == pytest.approx(900) and clean.min() >= 0
    assert clean[-1] < 150


def test_a_number_that_is_missing_in_every_record_stays_missing():
    values = np.append(RNG(3).normal(0, 12.7, 822), 905.0)
    clean = shrink_one_way(values, 12.7, ordered=True, special=1, total=900.0)
    assert clean[-1] > 850


@pytest.mark.parametrize("seed", range(3))
def test_a_long_tail_that_no_stretch_shows_keeps_its_records(seed):
    """Half of 600 records lie in 20 bins, half in 600: what the total leaves for these is theirs."""
    truth = np.concatenate([np.full(20, 15.0), np.full(600, 0.5)])
    clean = shrink_one_way(truth + RNG(seed).normal(0, 5, 620), 5.0, ordered=True, special=0, total=600.0)
    assert clean.min() >= 0 and clean.sum() == pytest.approx(600)
    assert 0.3 < clean[20:].sum() / 600 < 0.7


@pytest.mark.parametrize("seed", range(3))
def test_a_stretch_without_records_stays_empty_beside_others(seed):
    truth = np.concatenate([np.full(20, 150.0), np.zeros(600)])
    clean = shrink_one_way(truth + RNG(seed).normal(0, 5, 620), 5.0, ordered=True, special=0, total=3000.0)
    assert clean[30:].sum() == 0


def test_rare_values_of_a_short_list_keep_some_records_and_the_far_end_of_many_bins_none():
    rng = RNG(8)
    noise = rng.normal(0, 10, 200)
    short = shrink_one_way(
        np.r_[np.full(40, 200.0), np.zeros(60)] + noise[:100], 10.0, ordered=True, special=0, total=8000.0
    )
    many = shrink_one_way(np.r_[np.full(40, 200.0), np.zeros(160)] + noise, 10.0, ordered=True, special=0, total=8000.0)
    assert 0 < short[45:].sum() < 40
    assert many[45:].sum() == 0


def test_a_sum_that_is_right_but_for_rounding_puts_nothing_where_nothing_is():
    values = np.zeros(400)
    values[:7] = np.random.default_rng(5).random(7) * 1e4
    for off in (0.0, 1e-15, -1e-15, 1e-12, 3e-11):
        found = with_total(values, float(values.sum()) * (1 - off))
        assert np.count_nonzero(found) == 7


def test_ends_of_a_short_number_without_evidence_are_no_longer_than_what_is_shown():
    """Counts of 100 values of which the first eight hold all records; a list without distances stays."""
    truth, rng = np.r_[4_000.0 / 2 ** np.arange(8), np.zeros(92)], RNG(3)
    noisy = truth + rng.normal(0, 20, 100)
    of_number, of_list = (
        shrink_one_way(noisy, 20.0, ordered=True, special=0, total=truth.sum(), number=n) for n in (True, False)
    )
    assert not of_number[20:].any()
    assert of_list[20:].any()
    assert of_number[5:16].sum() > of_list[5:16].sum()
    assert of_number.sum() == pytest.approx(truth.sum())


def test_what_is_not_listed_gets_no_records_for_standing_behind_values_of_one_frequency():
    rng = np.random.default_rng(5)
    true = np.append(np.full(60, 41.0), [0.0])
    put = [
        shrink_one_way(true + rng.normal(0, 19.0, 61), 19.0, ordered=False, special=1, total=true.sum())[-1]
        for _ in range(200)
    ]
    # a normal draw above 0 has the mean .4 of its deviation; the mean of all values, 41, stood here before
    assert np.mean(put) < 0.5 * 19.0


@pytest.mark.parametrize("seed", range(6))
def test_records_where_nothing_shows_fall_off_with_the_root_of_the_distance_from_what_shows(seed):
    rng, tuning, sigma = RNG(seed), RECORDS.shrinkage, 2.0
    shown = rng.random(40) < (0.05, 0.1, 0.3, 0.6, 0.9, 0.97)[seed]
    shown[rng.integers(40)] = True
    noisy, smooth = rng.uniform(0, 50, 40), rng.uniform(-1, 5, 40)
    kept = noisy * rng.uniform(0.9, 1.1, 40)
    noise = tuning.elsewhere * sigma * np.sqrt(shown.sum())
    for more in (noise * 0.99, noise * 1.01, noise * 20):
        total = float(noisy[shown].sum()) + more
        found = _elsewhere(kept, noisy, smooth, shown, total, sigma, tuning)
        assert found.sum() == pytest.approx(total) and (found >= 0).all()
        if more < noise or shown.all():
            assert (found[~shown] == 0).all()
            continue
        assert found[shown].sum() == pytest.approx(total - more)
        away = np.array([min(abs(i - j) for j in np.flatnonzero(shown)) for i in np.flatnonzero(~shown)])
        weights = np.maximum(smooth[~shown], 0) / np.sqrt(away)
        assert found[~shown] == pytest.approx(with_total(weights, more), abs=1e-9)
    nothing = _elsewhere(kept, noisy, smooth, np.zeros(40, dtype=bool), 77.0, sigma, tuning)
    assert nothing == pytest.approx(with_total(kept, 77.0))
