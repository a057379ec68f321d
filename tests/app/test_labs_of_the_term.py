"""Labs 10 to 20: their numbers against closed forms, brute force and simulations."""

import math
from itertools import product

import numpy as np
import pytest

from dpsyn_core.privacy.conversions import gdp_delta
from ui.learn.numbers import asking, choosing, counting, family, training


def test_exact_sums_give_every_secret_away_and_wide_noise_gives_none():
    asked = asking.survey(64, 1)
    assert asking.attack(asked, 0.0).all()
    asked = asking.survey(64, 4)
    got = np.mean([asking.attack(asked, 500.0, s).mean() for s in range(40)])
    assert abs(got - 0.5) < 5 * 0.5 / math.sqrt(40 * 64)


def test_the_expected_share_of_a_reconstruction_is_what_attacks_reach():
    asked = asking.survey(64, 4)
    for noise in (2.0, 5.0):
        got = [asking.attack(asked, noise, s).mean() for s in range(200)]
        assert np.mean(got) == pytest.approx(asking.expected_share(asked, noise), abs=0.012)


def test_the_figure_of_reconstruction_names_its_lines_in_the_legend_where_no_words_can_meet():
    from ui.learn.reconstruction import figure

    asked = asking.survey(64, 4)
    drawn = figure(asked, 1.0, asking.attack(asked, 1.0), 67.6)
    assert not drawn.layout.annotations
    assert {"noise: square root of people", "noise for epsilon 1"} <= {line.name for line in drawn.data}


def test_the_cliff_of_reconstruction_lies_at_a_multiple_of_the_root_of_the_people():
    # spread^2 is 4 / (answers - people) for large groups, so that 95 % are read up to sqrt(3 n) / (4 x 1.645)
    for people in (64, 256):
        cliff = asking.noise_for_share(asking.survey(people, 4), 0.95)
        assert cliff == pytest.approx(math.sqrt(3 * people) / (4 * 1.644854), rel=0.05)


def test_the_noise_of_a_private_survey_has_the_delta_that_is_stated():
    sigma = asking.private_noise(256, 1.0, 1e-6)
    assert gdp_delta(1.0, math.sqrt(256) / sigma) == pytest.approx(1e-6, rel=1e-6)


@pytest.mark.parametrize("local", [True, False])
def test_surveys_scatter_as_the_formulas_say(local):
    eps, people, share = 0.5, 400, 0.25
    got = asking.surveys(people, share, eps, local=local, times=20_000, seed=1)
    error = asking.local_error(people, eps) if local else asking.central_error(people, eps)
    assert got.mean() == pytest.approx(share, abs=6 * error / math.sqrt(20_000))
    assert got.std() == pytest.approx(error, rel=0.03)


def test_randomised_response_with_half_the_square_of_the_people_equals_noise_on_the_count():
    for eps in (0.1, 1.0, 5.0):
        assert asking.local_error(asking.equal_people(70), eps) == pytest.approx(asking.central_error(70, eps))
        need = asking.people_for(0.01, eps, local=True)
        assert asking.local_error(need, eps) <= 0.01 < asking.local_error(need - 1, eps)


def test_the_best_bound_is_the_best_of_all_bounds_and_moves_with_epsilon():
    values = counting.incomes(1000)
    best = [counting.best_bound(values, eps) for eps in (0.1, 1.0, 10.0)]
    assert best == sorted(best)
    grid = np.geomspace(50, 30_000, 400)
    for eps, at in zip((0.1, 1.0, 10.0), best, strict=True):
        assert counting.error(values, at, eps) <= min(counting.error(values, b, eps) for b in grid) * (1 + 1e-6)
    low, wide, both = counting.curves(values, 1.0)
    for i in (0, 100, 240):
        bound = counting.BOUNDS[i]
        assert low[i] == pytest.approx(counting.bias(values, bound), abs=1e-9)
        assert both[i] == pytest.approx(counting.error(values, bound, 1.0))
        assert wide[i] == pytest.approx(math.sqrt(2) * bound / 1000)


def test_repeated_private_means_are_off_by_bias_and_noise():
    values = counting.incomes(300)
    noise = np.random.default_rng(3).laplace(0, 800.0 / (0.5 * len(values)), 40_000)
    got = np.minimum(values, 800.0).mean() + noise
    error = counting.error(values, 800.0, 0.5)
    assert math.sqrt(np.mean((got - values.mean()) ** 2)) == pytest.approx(error, rel=0.02)


def test_a_group_is_told_apart_as_often_as_the_two_laws_allow():
    a = math.exp(-0.4)
    z = np.arange(-400, 401)
    law = (1 - a) / (1 + a) * a ** np.abs(z)
    for shift in range(1, 9):
        distance = 0.5 * np.abs(law[shift:] - law[:-shift]).sum() + 0.5 * (law[:shift].sum() + law[-shift:].sum())
        assert family.shifted(a, shift) == pytest.approx(0.5 + distance / 2, abs=1e-12)
        assert family.shifted(a, shift) <= family.bound(0.4, shift) + 1e-12


def test_a_household_as_the_unit_is_protected_like_one_person():
    one, whole = family.laplace(0.5, 1), family.laplace(0.5, 5, unit=5)
    assert whole.epsilon == pytest.approx(one.epsilon)
    assert whole.guess <= one.guess
    assert family.gaussian(1.0, 1e-9, 5, unit=5).guess == pytest.approx(family.gaussian(1.0, 1e-9, 1).guess)
    assert family.gaussian(1.0, 1e-9, 1).epsilon == pytest.approx(1.0, rel=1e-6)
    assert family.gaussian(1.0, 1e-9, 5).epsilon > 5, "at the same delta a group's exact epsilon passes k epsilon"
    for people in (2, 5):
        assert family.exact_delta(0.5, 1e-9, people) < family.simple_delta(0.5, 1e-9, people)


def test_the_exponential_mechanism_keeps_its_promise_for_every_vote_and_a_wrong_sensitivity_breaks_it():
    rng = np.random.default_rng(16)
    tables = [rng.integers(0, 12, 4).astype(float) for _ in range(200)]

    def worst(assumed, scores):
        """Ln of the largest ratio that one person can cause, over all whom they favour."""
        before = choosing.exponential(scores, 0.5, assumed)
        movers = [m for m in range(len(scores)) if m != int(np.argmax(scores))]
        after = [choosing.exponential(choosing.moved(scores, m, 1.0), 0.5, assumed) for m in movers]
        return max(float(np.abs(choosing.log_ratio(a, before)).max()) for a in after)

    right = max(worst(1.0, scores) for scores in tables)
    wrong = max(worst(0.5, scores) for scores in tables)
    assert right <= 0.5 + 1e-12 < wrong
    assert wrong <= choosing.largest_promise(0.5, 0.5) + 1e-12
    far = np.array([100.0, 0, 0, 0])
    assert worst(1.0, far) == pytest.approx(0.5, abs=1e-9)


def test_the_sparse_vector_keeps_its_promise_and_loses_it_without_noise_on_the_mark():
    base = np.full(6, choosing.MARK + 6)
    worst = {True: 0.0, False: 0.0}
    for change in product((0.0, 1.0), repeat=6):
        for noisy in (True, False):
            one, other = (
                choosing.above_mark(s, choosing.MARK, 1.0, 1.0, noisy_mark=noisy) for s in (base, base + change)
            )
            worst[noisy] = max(worst[noisy], float(np.abs(choosing.log_ratio(one, other)).max()))
    assert worst[True] <= 1.0 + 1e-3
    assert 1.0 < worst[False] <= choosing.largest_promise(1.0, 1.0, days=6) + 1e-9


def test_the_sparse_vector_stops_as_often_as_a_simulation():
    rng = np.random.default_rng(1)
    turns = 40_000
    mark = choosing.MARK + rng.laplace(0, 2 / 0.7, (turns, 1))
    passed = choosing.WAITING + rng.laplace(0, 4 / 0.7, (turns, len(choosing.WAITING))) > mark
    first = np.where(passed.any(axis=1), passed.argmax(axis=1), len(choosing.WAITING))
    seen = np.bincount(first, minlength=len(choosing.WAITING) + 1) / turns
    got = choosing.above_mark(choosing.WAITING, choosing.MARK, 0.7, 1.0)
    assert got.sum() == pytest.approx(1)
    assert np.abs(seen - got).max() < 5 * 0.5 / math.sqrt(turns)


def test_the_stated_lead_chooses_the_winner_as_often_as_it_says():
    for eps in (0.2, 2.0):
        lead = choosing.margin(eps, 1.0, 5)
        assert choosing.exponential(np.array([lead, 0, 0, 0, 0]), eps, 1.0)[0] == pytest.approx(0.95)


def test_clipped_gradients_are_never_longer_than_the_clip_norm_and_short_ones_stay():
    own = training.gradients(np.ones(training.COLUMNS + 1), training.people().x, training.people().y)
    cut = training.shortened(own, 1.0)
    before, after = np.linalg.norm(own, axis=1), np.linalg.norm(cut, axis=1)
    assert after.max() <= 1 + 1e-12
    assert np.array_equal(cut[before <= 1], own[before <= 1])
    assert np.allclose(after[before > 1], 1)


def test_a_training_without_clipping_and_noise_is_plain_descent_on_samples():
    run = training.trained(None, 0.0, training.PEOPLE, 3)  # everybody is in every sample
    group, weights = training.people(), np.zeros(training.COLUMNS + 1)
    for _ in range(3):
        weights -= training.LEARNING * training.gradients(weights, group.x, group.y).mean(axis=0)
    assert np.allclose(run.weights, weights)
    step = np.full(weights.size, 1e-6)
    slope = training.gradients(weights, group.x, group.y).mean(axis=0)
    change = training.loss(weights + step, group) - training.loss(weights, group)
    assert change == pytest.approx(step @ slope, rel=1e-3)


def test_too_low_a_clip_norm_is_slow_and_too_high_a_one_is_noisy():
    end = {clip: training.trained(clip, 1.5, 60, 200, 1).losses[-1] for clip in training.CLIPS}
    assert end[1.0] < end[0.1] and end[1.0] < end[10.0]


def test_the_kept_epsilons_are_those_of_the_engine_and_the_finer_accountant_says_less():
    renyi, exact = training.epsilons(1.5, 60)
    place = training.STEPS.index(100)
    assert training.spent(1.5, 60, 100) == pytest.approx((renyi[place], exact[place]), rel=1e-3)
    for noise in training.NOISES:
        for batch in training.BATCHES:
            a, b = training.epsilons(noise, batch)
            assert (b <= a * (1 + 1e-3)).all() and (np.diff(a) > 0).all() and (np.diff(b) > 0).all()
