"""What a lab says was found, checked against the lab's own numbers: at its default and at three other settings."""

import math
import re
from string import Formatter

import numpy as np
import pytest

from dpsyn_core.estimate import pair_error
from dpsyn_core.privacy import best_guess
from dpsyn_core.schema.sample import sample_table
from tests.app_driver import at_page, words
from ui.learn import LABS, composition, consistency, count, family, growing, race, records, sweeps
from ui.learn.numbers import (
    accounting,
    asking,
    bounds,
    choosing,
    counting,
    exposures,
    game,
    pairs,
    phases,
    systems,
    training,
)
from ui.learn.numbers import family as groups
from ui.learn.numbers import growing as five
from ui.privacy import noise
from ui.shared.text import catalogue


def value(text):
    """The number that a sentence prints."""
    return float(text.replace(",", "").replace("%", "").replace("\u00a0", ""))


@pytest.mark.parametrize(("kind", "eps"), [("laplace", 1.0), ("laplace", 2.0), ("laplace", 0.1), ("gaussian", 3.0)])
def test_lab_1_says_how_noise_grows_when_epsilon_is_halved(kind, eps):
    said = count.found(kind, eps)
    a = [math.exp(-e) for e in (eps, eps / 2)]
    if kind == "laplace":  # the variance of two-sided geometric noise is 2 a / (1 - a)^2
        here, half = (math.sqrt(2 * x) / (1 - x) for x in a)
    else:
        here, half = (count.spread(kind, e) for e in (eps, eps / 2))
    assert value(said["spread"]) == pytest.approx(here, rel=0.01)
    assert value(said["half"]) == pytest.approx(half, rel=0.01)
    assert value(said["times"]) == pytest.approx(half / here, abs=0.006) and 1.75 < half / here < 2.6
    assert value(said["most"]) == pytest.approx(math.exp(eps), rel=0.005)
    _, ratio = counting.log_ratio(kind, eps)
    assert (np.exp(ratio).max() <= math.exp(eps) * (1 + 1e-9)) == (kind == "laplace")
    steps = count.figure(kind, eps, 20, None).data[2]
    assert steps.line.shape == "hvh", "a ratio is drawn for whole answers, without a ramp between them"


@pytest.mark.parametrize(("alpha", "fill"), [(1.0, "half"), (0.5, "replace"), (2.0, "duplicate"), (3.0, "half")])
def test_lab_5_says_how_far_a_cell_grows(alpha, fill):
    said = growing.found(alpha, fill)
    before, after = five.PEOPLE, five.grown(alpha, growing.COPIES[fill])
    assert int(said["holds"]) == (before[1] == 1).sum() == 1 and int(said["lacks"]) == 3
    assert value(said["most"]) == min(3, alpha)
    grew = int(said["women"]) - int(said["holds"])
    assert math.floor(value(said["most"])) <= grew <= math.ceil(value(said["most"]))
    assert int(said["women"]) == (after[1] == 1).sum() and int(said["women"]) + int(said["men"]) == 5


def test_lab_34_says_how_each_way_ends():
    said, ends = sweeps.found(), {name: values[-1] for name, values in five.errors().items()}
    assert all(value(said[name]) == round(100 * end, 1) for name, end in ends.items())
    assert ends["replace"] > 0.9 * ends["mcf"] and ends["duplicate"] > 0.9 * ends["mcf"], "no cure"
    assert ends["polish"] < ends["s5"] < min(ends["mcf"], ends["replace"], ends["duplicate"])
    assert value(said["step"]) < value(said["square_root"])


@pytest.mark.parametrize("eps", race.EPSILONS)
def test_lab_9_names_the_best_and_the_worst_and_no_system_that_keeps_a_gap_it_loses(eps):
    said, place = race.found(eps), race.EPSILONS.index(eps)
    pairs = {s: systems.curve(s, "tvd-2way").middle[place] for s in systems.SYSTEMS}
    gaps = {s: systems.curve(s, "gap").middle[place] for s in ("rls", "dpsyn", "mst", "privbayes")}
    assert pairs[said["best"]] == min(pairs.values()) and pairs[said["worst"]] == max(pairs.values())
    assert value(said["pairs"]) == pytest.approx(100 * min(pairs.values()), abs=0.06)
    assert gaps[said["keeper"]] == min(gaps.values()) and gaps[said["loser"]] == max(gaps.values())
    assert value(said["lost"]) == pytest.approx(max(gaps.values()), abs=0.6)
    assert max(gaps.values()) > 0.9 * systems.pay_gap(sample_table()), "one that measures pairs loses nearly all of it"
    errors = [100 * systems.by_class(s, eps, "count")[1] for s in systems.SYSTEMS]
    assert value(said["small"]) == pytest.approx(min(errors), abs=0.06)
    assert value(said["large"]) == pytest.approx(max(errors), abs=0.06)


@pytest.mark.parametrize(
    ("kind", "eps", "people"), [("laplace", 0.5, 5), ("laplace", 1.0, 5), ("laplace", 2.0, 12), ("gaussian", 1.0, 5)]
)
def test_lab_15_tells_the_bound_from_the_best_attack(kind, eps, people):
    said = family.found(kind, eps, people)
    assert value(said["whole"]) >= people * eps * 0.999
    assert (value(said["whole"]) > people * eps * 1.001) == (kind == "gaussian")
    if kind == "laplace":
        assert said["bound"] == family.near(best_guess(people * eps))
    one, wide = (family.promised(kind, eps, people, unit) for unit in (1, people))
    assert value(said["noise"]) == pytest.approx(one.noise, rel=0.005)
    assert value(said["wide"]) == pytest.approx(wide.noise, rel=0.005) and wide.noise > one.noise
    assert one.guess < groups.bound(eps, people)


@pytest.mark.parametrize(
    ("many", "cells", "eps"), [(10_000, 100, 1.0), (10_000_000, 1_000, 10.0), (1_000, 10, 0.5), (100_000, 100, 0.1)]
)
def test_lab_27_says_from_which_size_on_noise_is_less_than_chance(many, cells, eps):
    said = records.found(many, cells, eps)
    cross = value(said["cross"])

    def less(n):
        return (
            accounting.noise_error([n], cells, records.TABLES, eps, records.DELTA)[0]
            < accounting.sample_error([n], cells)[0]
        )

    assert less(1.1 * cross) and not less(0.9 * cross)
    here, more = (accounting.epsilon_for(0.02, n, cells, records.TABLES, records.DELTA) for n in (many, 10 * many))
    assert more <= here / 10 * 1.001 and value(said["more"]) == pytest.approx(more, rel=0.01)
    assert max(records.RECORDS) == 10_000_000 == records.AXIS[-1], "the question asks about ten million"


@pytest.mark.parametrize(("eps", "right"), [(0.1, 52), (1.0, 73), (3.0, 95), (10.0, 100)])
def test_lab_2_counts_the_best_attack(eps, right):
    assert round(100 * best_guess(eps)) == right


@pytest.mark.parametrize(("order", "best"), [(2, 6), (3, 10)])
def test_lab_6_names_the_best_sizes_of_views_and_8_is_near_both(order, best):
    noise = {size: pair_error(size, order) for size in range(3, 13)}
    assert abs(min(noise, key=noise.get) - best) <= 1
    assert noise[8] < 1.1 * min(noise.values())


@pytest.mark.parametrize("eps", [0.1, 1.0, 3.0, 10.0])
def test_lab_12_gives_the_number_of_people_with_whom_both_ways_are_equal(eps):
    assert asking.local_error(500**2 / 2, eps) == pytest.approx(asking.central_error(500, eps), rel=1e-9)


@pytest.mark.parametrize(("people", "eps"), [(300, 0.1), (300, 1.0), (1_000, 0.1), (100, 3.0)])
def test_lab_13_moves_the_best_bound_with_epsilon_and_people(people, eps):
    here = counting.best_bound(counting.incomes(people), eps)
    assert counting.best_bound(counting.incomes(people), 2 * eps) > here
    assert counting.best_bound(counting.incomes(4 * people), eps) > here


@pytest.mark.parametrize("metric", systems.METRICS[:3])
def test_lab_14_says_that_a_system_without_pairs_gains_nothing_and_the_others_do(metric):
    line = systems.curve("independent", "tvd-2way").middle
    assert line[-1] > 0.95 * line[2]
    default = systems.curve("rls", metric).middle
    assert list(default) == sorted(default, reverse=True) and default[0] / default[1] > 1.5


@pytest.mark.parametrize("eps", [0.1, 0.5, 1.0, 5.0])
def test_lab_16_gives_the_odds_of_a_lead_of_three_votes(eps):
    chances = choosing.exponential(choosing.VOTES, eps, 1.0)
    assert chances[0] / chances[1] == pytest.approx(math.exp(eps * 3 / 2))


@pytest.mark.parametrize(("people", "eps"), [(200, 0.2), (200, 1.0), (1_000, 0.1), (5_000, 0.5)])
def test_lab_17_says_that_an_interval_which_forgets_the_noise_misses_more_often(people, eps):
    assert groups.expected_coverage(people, 0.1, groups.sigma(eps, 1e-6)) < 0.95


@pytest.mark.parametrize("system", [s for s in game.SYSTEMS if s != "exact"])
def test_lab_11_stays_below_the_limit(system):
    for eps in game.EPSILONS:
        found = game.drawn(eps, 0) if system == "histogram" else game.shadow(system, eps)
        assert found.right <= best_guess(eps, 1e-9) + found.margin


@pytest.mark.parametrize("n", [1_000, 10_000, 100_000, 1_000_000])
def test_lab_30_says_that_practice_is_closer_than_the_version_of_the_theorem(n):
    eps = 1.0
    ratio = bounds.largest("theorem", n, eps, 8) / bounds.largest("practical", n, eps, 8)
    assert ratio > 1 and bounds.allowed(n, eps, 8) > bounds.largest("theorem", n, eps, 8)


@pytest.mark.parametrize(("noise", "batch"), [(1.5, 60), (1.0, 60), (2.0, 200), (5.0, 20)])
def test_lab_19_says_that_steps_cost_about_their_root_and_a_finer_accountant_says_less(noise, batch):
    few, many = training.spent(noise, batch, 100), training.spent(noise, batch, 400)
    assert 1.2 < many[1] / few[1] < 3.2 and min(few) == few[1] and many[1] < many[0]
    assert training.spent(noise, 3 * batch, 100)[1] > few[1], "larger samples cost more"


@pytest.mark.parametrize("years", [1, 5, 10, 20])
def test_lab_24_says_that_composition_is_kinder_than_addition(years):
    added, exact = accounting.yearly(1.0, 1e-9, years)
    assert exact[-1] <= added[-1] + 1e-9 and (years == 1 or exact[-1] < added[-1])


@pytest.mark.parametrize("eps", [5.0, 1.0, 3.0, 8.0])
def test_lab_7_pulls_small_groups_up_and_doubles_a_group_of_six_at_epsilon_5(eps):
    mean, _ = groups.moments(groups.COUNTS, 994, eps)
    small = int(np.argmin(groups.COUNTS))
    assert mean[small] > groups.COUNTS[small] and mean[0] < groups.COUNTS[0]
    if eps == 5.0:
        assert mean[small] / groups.COUNTS[small] == pytest.approx(2, abs=0.1)


@pytest.mark.parametrize(("eps", "delta"), [(1.0, 1e-9), (0.1, 1e-9), (3.0, 1e-6), (0.01, 1e-12)])
def test_lab_3_says_that_gaussian_noise_wins_from_about_twenty_questions(eps, delta):
    document = noise.curves(eps, delta, "add-remove", 1)
    assert 10 < document["crossings"]["laplace_basic:gaussian_zcdp"] < 40
    many = [noise.value_at(noise.curves(eps, delta, "add-remove", 1, (k,)), "gaussian_exact") for k in (100, 400)]
    assert many[1] / many[0] == pytest.approx(2, rel=0.01), "with the square root of k"
    said = re.findall(r"\d+\.\d\d", catalogue()["learn.composition.finds"])
    assert [value(x) for x in said] == [round(k, 2) for _, _, k, _ in composition.paper_crossings()]


@pytest.mark.parametrize("weight", [consistency.BEST, 0.4, 0.5, 0.7])
def test_lab_4_says_that_a_weighted_mean_beats_either_answer(weight):
    either = consistency.averaged(1.0), consistency.averaged(0.0)
    assert consistency.averaged(consistency.BEST) <= consistency.averaged(weight) < min(either) * 1.0001


@pytest.mark.parametrize(("eps", "delta"), [(1.0, 1e-6), (0.5, 1e-6), (3.0, 1e-9), (1.0, 1e-3)])
def test_lab_8_says_that_a_bought_list_leaves_out_rare_values(eps, delta):
    assert counting.chance_shown(0, eps, delta) == 0, "nobody is there: never listed"
    assert counting.chance_shown(1, eps, delta) <= delta * (1 + 1e-9)
    assert counting.chance_shown(counting.enough(eps, delta), eps, delta) >= 0.99
    assert counting.chance_shown(counting.enough(eps, delta) // 3, eps, delta) < 0.5, "a rare value is left out"


@pytest.mark.parametrize(("people", "answers"), [(32, 4), (64, 4), (128, 4), (64, 8)])
def test_lab_10_says_that_noise_which_stops_least_squares_grows_with_the_root_and_dp_asks_for_more(people, answers):
    asked, larger = (asking.survey(n, answers) for n in (people, 4 * people))
    assert asking.expected_share(asked, 0.0) == 1.0
    stops = [asking.noise_for_share(a, 0.75) for a in (asked, larger)]
    assert stops[1] / stops[0] == pytest.approx(2, rel=0.1), "with the square root of the people"
    assert asking.private_noise(people * answers, 1.0, 1e-6) > 3 * stops[0]


@pytest.mark.parametrize("eps", race.EPSILONS[:4])
def test_lab_18_says_that_small_groups_are_hit_hardest_also_by_a_small_sample(eps):
    for system in ("rls", systems.FRESH):
        errors = systems.by_class(system, eps, "count")
        assert min(errors[0], errors[1]) > 5 * errors[-1]
    rare = systems.by_class("rls", eps, "count")
    assert rare[1] > 0.9 * systems.by_class(systems.FRESH, eps, "count")[1], "protection adds to it"


@pytest.mark.parametrize("spent", [0.01, 0.02, 0.1, 0.3])
def test_lab_20_says_that_large_groups_need_hardly_any_budget(spent):
    women, oldest = 0, len(game.QUESTIONS) - 1
    share = [game.expected_points(i, spent) / game.QUESTIONS[i].points for i in (women, oldest)]
    assert share[0] > 2 * share[1] and (spent < 0.1 or share[0] > 0.95)
    a = math.exp(-0.01)
    assert math.sqrt(2 * a) / (1 - a) == pytest.approx(141, abs=1) and game.truths()[women] > 9_000
    plan = dict(game.best_plan())
    small = sum(e for i, e in plan.items() if game.truths()[i] < 1_500)
    assert small > 0.7 * game.LIMIT and plan[women] <= 0.05


@pytest.mark.parametrize(("known", "band"), [(("CITY", "SEX", "AGE"), 1), (asking.KNOWN[:4], 1), (asking.KNOWN, 5),
                                             (asking.KNOWN[:4], 10)])  # fmt: skip
def test_lab_21_says_that_harmless_columns_identify_and_coarser_values_help(known, band):
    found = asking.linked(known, band)
    assert found.below(5) > asking.linked(known[:2], band).below(5)
    assert found.below(5) >= asking.linked(known, 20).below(5)
    assert found.told(2) > 0, "a group may share the secret"


@pytest.mark.parametrize(("gap", "eps"), [(50.0, 1.0), (20.0, 1.0), (50.0, 0.5), (100.0, 0.3)])
def test_lab_22_says_that_silence_costs_little_and_the_chance_falls_slowly(gap, eps):
    watch = [bounds.found_by_sparse(days, gap, eps) for days in (1, 10, 100)]
    each = [bounds.found_by_each(days, gap, eps) for days in (1, 10, 100)]
    assert watch == sorted(watch, reverse=True) and each == sorted(each, reverse=True)
    assert watch[0] - watch[2] < each[0] - each[2] and watch[2] > each[2]


@pytest.mark.parametrize(("sigma", "times"), [(10.0, 20), (5.0, 1), (20.0, 100), (50.0, 500)])
def test_lab_23_says_that_only_the_last_step_loses(sigma, times):
    one, all_of = accounting.variants(sigma, 1, 1e-6), accounting.variants(sigma, times, 1e-6)
    assert all_of.rho == pytest.approx(times * one.rho) and all_of.mu**2 == pytest.approx(times * one.mu**2)
    assert all_of.exact <= all_of.tight <= all_of.standard and all_of.exact <= all_of.each * (1 + 1e-9)


@pytest.mark.parametrize(
    ("people", "ill", "eps"), [(500, 0.4, 1.0), (100, 0.2, 1.0), (2_000, 0.6, 0.5), (50, 0.4, 3.0)]
)
def test_lab_25_says_that_the_study_harms_ann_with_her_or_without_her(people, ill, eps):
    with_ann, without, spread = bounds.conclusion(people, ill, eps)
    assert abs(with_ann - without) <= 1 / (people - 1) + 1e-12 and abs(with_ann - without) < 2 * spread + 1 / people
    assert without > 0.05, "what was learnt is about smokers"


@pytest.mark.parametrize("width", [7, 2, 14, 30])
def test_lab_26_says_that_no_pair_keeps_a_logic_and_a_rule_always_does(width):
    assert bounds.synthetic("pairs", width).backwards.any() and bounds.synthetic("pairs", width).wrong_length.any()
    rule = bounds.synthetic("rule", width)
    assert not rule.backwards.any() and not rule.wrong_length.any()


@pytest.mark.parametrize("eps", [1.0, 0.3, 3.0, 10.0])
def test_lab_28_says_what_a_pair_and_rare_values_cost(eps):
    alone = pairs.pairs(0.0)
    few, many = alone.noise(eps, 5), alone.noise(eps, 50)
    assert (many >= few).all() and many.sum() > few.sum()
    little, much = pairs.pairs(0.03), pairs.pairs(0.1)
    assert little.cells.sum() < alone.cells.sum() and much.cells.sum() < little.cells.sum()
    assert 0 < little.lost.mean() < much.lost.mean()
    error = [p.errors(eps, p.best(eps)).mean() for p in (alone, little, much)]
    assert (error[2] < error[0]) == (eps < 3) and (error[1] < error[0]) == (eps < 10), "it pays while noise is large"


@pytest.mark.parametrize("eps", [math.inf, 1.0, 3.0, 10.0])
def test_lab_29_says_how_each_way_picks_a_member_of_the_family(eps):
    made, real = pairs.rebuilt("sample", eps), pairs.truth("sample")
    zeros = {rule: int((table < 1).sum()) for rule, table in made.items()}
    assert zeros["linear-program"] > zeros["maximum-entropy"], "a corner: many cells are 0"
    assert pairs.off("sample", eps, "maximum-entropy") == min(pairs.off("sample", eps, r) for r in pairs.RULES)
    nearly_empty = real < 1
    assert made["least-norm"][nearly_empty].sum() >= made["maximum-entropy"][nearly_empty].sum()


@pytest.mark.parametrize(("columns", "records", "eps"), [(45, 1_000_000, 1.0), (10, 10_000, 1.0), (100, 100_000, 0.1),
                                                         (500, 1_000_000, 3.0)])  # fmt: skip
def test_lab_31_says_that_the_worked_case_is_far_below_and_single_columns_bite(columns, records, eps):
    worked = bounds.errors(*bounds.WORKED_OUT, eps)
    assert 55 < math.log10(worked["rebuild"] / worked["published"]) < 65
    found = bounds.errors(1, columns, records, eps)
    assert found["fingerprint"] < found["noise"] < 20 * found["fingerprint"], "noise on a few is not far above it"


@pytest.mark.parametrize(("share", "eps"), [(0.2, 1.0), (0.1, 1.0), (0.4, 3.0), (0.2, 3.0)])
def test_lab_32_says_that_one_phase_gets_worse_with_the_numbers_of_a_record(share, eps):
    one = [phases.scores("one", d, eps, share, 2) for d in (5, 100)]
    assert one[1] < one[0] and phases.scores("two", 100, eps, share, 2) > one[1]


@pytest.mark.parametrize("eps", [1.0, 0.5, 3.0, 8.0])
def test_lab_33_says_how_many_imaginary_cases_every_district_needs(eps):
    m = int(exposures.CASES.sum())
    for prior in exposures.PRIORS:
        assert exposures.model(prior, eps).shapes.min() == pytest.approx(m / math.expm1(eps), rel=1e-6)
    for prior in exposures.PRIORS:  # at small epsilon either prior is all that is left, whatever the cases are
        shapes = exposures.model(prior, 0.1).shapes.sum()
        assert m / (m + shapes) < 0.1


@pytest.mark.parametrize("lab", LABS)
def test_every_place_in_the_closing_sentences_of_a_lab_is_filled(app, lab):
    app.query_params.update({"lab": lab, "open": "1"})
    at_page(app, "learn")
    assert not app.exception
    finds = catalogue()[f"learn.{lab}.finds"]
    places = [name for _, name, _, _ in Formatter().parse(finds) if name]
    pattern = ".+?".join(re.escape(part) for part in re.split(r"\{[^}]*\}", finds))
    text = words(app).replace("&#x27;", "'").replace("&amp;", "&")
    assert re.search(pattern, text), places
