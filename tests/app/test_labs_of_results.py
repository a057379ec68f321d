"""Labs whose numbers come from runs made beforehand, from repeated studies, and from a game."""

import math
from statistics import NormalDist

import numpy as np
import pytest

from dpsyn_core.schema.sample import sample_table
from ui.learn import membership as membership_lab
from ui.learn import race, spending
from ui.learn.numbers import family, game, systems
from ui.learn.numbers.systems import pay_gap


def test_studies_cover_the_truth_as_often_as_they_say_only_when_they_count_the_noise():
    noise = family.sigma(0.5, 1e-6)
    found = family.studies(500, 0.10, noise, times=4_000, seed=0)
    margin = 5 * math.sqrt(0.05 * 0.95 / 4_000)
    assert found.covers(found.honest).mean() == pytest.approx(0.95, abs=margin + 0.005)
    naive = found.covers(found.naive).mean()
    assert naive == pytest.approx(family.expected_coverage(500, 0.10, noise), abs=0.03)
    assert naive < 0.90
    law = NormalDist(0.10 / math.sqrt(sum(family.variances(500, 0.10, noise))))
    power = 1 - law.cdf(family.Z) + law.cdf(-family.Z)  # leaves out zero, by the normal approximation
    assert found.finds(found.honest).mean() == pytest.approx(power, abs=0.03)


def test_without_an_effect_the_honest_interval_claims_one_in_twenty_times():
    found = family.studies(1_000, 0.0, family.sigma(1.0, 1e-6), times=4_000, seed=1)
    assert found.finds(found.honest).mean() == pytest.approx(0.05, abs=0.02)


def test_the_curves_of_systems_are_read_off_the_runs():
    line = systems.curve("rls", "tvd-2way")
    assert list(line.epsilons) == list(systems.EPSILONS)
    assert (np.diff(line.middle) < 0).all() and (line.low <= line.middle).all() and (line.middle <= line.high).all()
    at = systems.epsilon_for("rls", "tvd-2way", systems.fresh("tvd-2way"))
    assert at is not None and 1.0 < at < 10.0
    assert systems.epsilon_for("independent", "tvd-2way", systems.fresh("tvd-2way")) is None
    assert systems.epsilon_for("rls", "tvd-2way", 0.9) == 0.1


def test_the_groups_of_the_runs_are_those_of_the_sample_and_small_ones_are_worse_off():
    people = sample_table().select(["CITY", "RACE"]).to_pandas()
    counted = (people["RACE"] + ", " + people["CITY"]).value_counts().to_dict()
    names, sizes = systems.groups()
    assert dict(zip(names, sizes.astype(int).tolist(), strict=True)) == counted
    for name in systems.SYSTEMS:
        errors = systems.by_class(name, 1.0, "count")
        assert errors[1] > 5 * errors[-1]


def test_shadow_attacks_stay_below_the_limit_and_win_against_exact_counts():
    for system in ("rls", "independent"):
        for eps in game.EPSILONS:
            found = game.shadow(system, eps)
            spread = 5 * np.sqrt(0.25 / found.runs)
            limit = game.limit(np.minimum(found.alarms + spread, 1), eps, 1e-9)
            assert (found.found <= limit + spread).all()
            assert found.alarms[-1] == found.found[-1] == 1.0
    assert game.shadow("exact", 10.0).right > game.shadow("rls", 1.0).right
    assert len(game.person()) == 6


@pytest.mark.parametrize("eps", game.EPSILONS)
def test_live_attacks_stay_below_the_limit(eps):
    found = game.drawn(eps, 3)
    assert (np.diff(found.alarms) >= 0).all() and (np.diff(found.found) >= 0).all()
    spread = 5 * np.sqrt(0.25 / found.runs)  # of either share, by the runs that it is counted over
    assert (found.found <= game.limit(np.minimum(found.alarms + spread, 1), eps, 0.0) + spread).all()


def test_a_coin_is_what_an_attack_without_a_person_to_find_amounts_to(monkeypatch):
    same = game.RocPoints(alarms=np.array([0.0, 1.0]), found=np.array([0.0, 1.0]), right=0.5, runs=200)
    assert same.margin == pytest.approx(1.96 * math.sqrt(0.25 / 400))
    assert len(membership_lab.figure(same, "exact", 1.0).data) == 3  # no limit where nothing is promised


def test_the_points_to_expect_are_those_of_many_games():
    rng = np.random.default_rng(20)
    for number, eps in ((2, 0.05), (7, 0.2)):
        truth, points = game.truths()[number], game.QUESTIONS[number].points
        noise = rng.laplace(0, 1 / eps, 100_000)
        won = points * np.maximum(0, 1 - np.abs(noise) / (game.TOLERANCE * truth))
        assert game.expected_points(number, eps) == pytest.approx(won.mean(), rel=0.02)


def test_no_plan_in_hundredths_expects_more_than_the_best():
    best = game.best_expected()
    rng = np.random.default_rng(0)
    for _ in range(200):
        parts = rng.multinomial(100, rng.dirichlet(np.ones(len(game.QUESTIONS)))) / 100
        assert sum(game.expected_points(i, float(e)) for i, e in enumerate(parts)) <= best + 1e-9
    assert sum(e for _, e in game.best_plan()) == pytest.approx(game.LIMIT)


def test_the_same_word_and_plan_give_the_same_answers_and_a_code_tells_them():
    plan = [(0, 0.02), (9, 0.5), (4, 0.3)]
    one, two = game.play("Otter", plan), game.play(" otter ", plan)
    assert [a.noisy for a in one] == [a.noisy for a in two] != [a.noisy for a in game.play("heron", plan)]
    text = game.code("otter", plan)
    assert [a.noisy for a in game.read_code("OTTER", text.lower())] == [a.noisy for a in one]
    with pytest.raises(ValueError, match="class word"):
        game.read_code("heron", text)
    with pytest.raises(ValueError, match="characters"):
        game.read_code("otter", "0189!")


@pytest.mark.parametrize("plan", [[(0, 0.6), (1, 0.5)], [(0, 0.1), (0, 0.1)], [(99, 0.1)], [(0, 0.0)]])
def test_a_plan_that_breaks_the_rules_is_refused(plan):
    with pytest.raises(ValueError):
        game.play("otter", plan)


@pytest.mark.parametrize("text", ["", "0x2-0x2", "5", "axb", "0x101", "0x-5", "1x2x3"])
def test_a_broken_plan_in_a_link_starts_a_new_game(text):
    assert spending.read(text) == []
    assert spending.read("0x2-9x50") == [(0, 0.02), (9, 0.5)]
    assert spending.written([(0, 0.02), (9, 0.5)]) == "0x2-9x50"


def test_lab_9_and_the_runs_beforehand_measure_one_pay_gap():
    assert race.pay_gap is pay_gap
    assert pay_gap(sample_table()) > 100
