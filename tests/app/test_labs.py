"""The labs: their numbers against published examples, and every lab through AppTest."""

import itertools
import math

import numpy as np
import pytest

from tests.app_driver import at_page, words
from ui.learn import LABS, attacker, composition, growing, race, views
from ui.learn.numbers import choosing, counting, family
from ui.learn.numbers import growing as five
from ui.learn.prior import walk_table
from ui.shared.text import catalogue


def test_laplace_answers_never_speak_louder_than_epsilon():
    for eps in (0.1, 1.0, 5.0):
        z, p = counting.law("laplace", eps)
        assert p.sum() == pytest.approx(1, abs=1e-4)
        _, ratio = counting.log_ratio("laplace", eps)
        assert np.abs(ratio).max() <= eps * (1 + 1e-9)
        assert len(z) == len(ratio)


def test_gaussian_answers_break_epsilon_with_a_chance_below_delta_only():
    _, p = counting.law("gaussian", 1.0)
    _, ratio = counting.log_ratio("gaussian", 1.0)
    broken = p[ratio > 1.0].sum()
    assert broken > 0
    excess = (p[ratio > 1.0] * (1 - np.exp(1.0 - ratio[ratio > 1.0]))).sum()
    assert excess <= counting.DELTA


def test_the_four_crossings_of_the_published_figure():
    got = [(round(k, 2), first) for _, _, k, first in composition.paper_crossings()]
    assert got == [(18.43, 19), (27.64, 28), (18.92, 19), (28.13, 29)]


def test_chosen_rules_are_the_only_curves():
    document = composition.only(
        composition.noise.curves(1.0, 1e-9, "add-remove", 1), ["laplace_basic", "gaussian_exact"]
    )
    assert set(document["curves"]) == {"laplace_basic", "gaussian_exact"}
    assert list(document["crossings"]) == ["laplace_basic:gaussian_exact"]


def test_the_worked_example_of_consistency_goes_through_its_published_values():
    total = choosing.tables("worked", "total")
    assert [round(float(v.sum()), 9) for v in total] == [31.6, 31.6]
    one, two = choosing.tables("worked", "shared")
    np.testing.assert_allclose(one, [[9.4, 4.4], [8.4, 9.4]], atol=1e-9)
    np.testing.assert_allclose(two, [[6.6, 4.6, 2.6], [7.6, 3.6, 6.6]], atol=1e-9)


def test_the_last_step_leaves_no_negative_cell():
    assert min(v.min() for v in choosing.tables("negative", "shared")) < 0
    assert min(v.min() for v in choosing.tables("negative", "whole")) >= 0


def test_five_people_grow_as_published():
    after = five.grown(2.0, 0.5)
    assert (after[1] == 1).sum() == 3
    ages = sorted(after[2, after[1] == 1].tolist())
    assert ages[0] in (0, 1) and ages[1:] == [2, 2]
    assert five.PEOPLE[2].tolist() == [0, 1, 1, 0, 2]  # teenager, adult, adult, teenager, elderly, as published


def test_four_rates_fall_from_one_and_the_square_root_falls_least():
    rates = five.rates()
    assert list(rates) == ["step", "exponential", "linear", "square-root"]
    assert all(r[0] == 1.0 and len(r) == five.RATED for r in rates.values())
    assert rates["square-root"][-1] > rates["linear"][-1] > rates["exponential"][-1]


def test_gradual_updates_beat_min_cost_flow_and_single_cell_moves_beat_both():
    curve = five.errors()
    assert curve["s5"][-1] < curve["mcf"][-1]
    assert curve["polish"][-1] < curve["s5"][-1]


def test_published_designs_cover_every_pair():
    example = views.covered(*views.design("example", 0))
    assert (example[~np.eye(12, dtype=bool)] >= 1).all()
    lines, points = views.design("plane", 0)
    assert (len(lines), points) == (72, 64)
    assert (views.covered(lines, points)[~np.eye(64, dtype=bool)] == 1).all()


@pytest.mark.parametrize("size", [3, 6, 12])
def test_greedy_designs_cover_every_pair(size):
    table = views.covered(*views.design("greedy", size))
    assert (table[~np.eye(12, dtype=bool)] >= 1).all()


def test_the_walk_to_a_synthetic_table_has_three_steps_and_the_published_table():
    made = family.walk(family.COUNTS, 994, 5.0, np.random.default_rng(0))
    assert made.counts == pytest.approx(family.COUNTS + 6.742953, abs=5e-7)
    assert made.shares.sum() == pytest.approx(1) and made.drawn.sum() == 994
    table = walk_table(made, "y")
    assert table["original (y)"].tolist() == [816, 109, 7, 39, 6, 17]
    assert table["published draw"].tolist() == [776, 118, 6, 53, 22, 19]
    assert table["race"].tolist()[0] == "White" and table["3. y*"].tolist() == made.drawn.tolist()
    assert [len(walk_table(made, s).columns) for s in family.STEPS] == [3, 4, 6]
    mean, deviation = family.moments(family.COUNTS, 994, 5.0)
    assert np.abs((family.PUBLISHED - mean) / deviation).max() < 2.2  # the published draw is an ordinary one


def test_race_counts_ask_for_the_published_prior():
    assert family.least_alpha(994, 5.0) == pytest.approx(6.742953, abs=5e-7)
    mean, deviation = family.moments(family.COUNTS, 994, 5.0)
    np.testing.assert_allclose(mean, [790.565, 111.216, 13.206, 43.954, 12.245, 22.814], atol=1e-3)
    np.testing.assert_allclose(deviation, [17.804, 13.910, 5.052, 9.072, 4.867, 6.608], atol=1e-3)
    assert family.synthetic(family.COUNTS, 994, 5.0).sum() == 994


def test_the_derivation_of_the_slides_comes_to_epsilon_on_the_published_counts():
    """Equations (8) to (13) for 994 people in six groups at epsilon 5, one of the smallest group counted elsewhere."""
    d = family.derivation(family.COUNTS, family.PUBLISHED, 5.0, left=4, joined=0)
    assert d.alpha == pytest.approx(6.742953, abs=5e-7) and d.epsilon == pytest.approx(5.0)
    assert d.by_gamma == pytest.approx(d.by_four) and abs(d.by_four) <= 5
    assert math.log(d.largest) == pytest.approx(5.0) and d.least * d.largest == pytest.approx(1.0)
    alone = np.array([0, 0, 0, 0, 994, 0])  # all draws fall where nobody but the one person is
    worst = family.derivation(np.array([816, 109, 7, 39, 1, 22]), alone, 5.0, left=4, joined=0)
    assert worst.by_gamma == pytest.approx(5.0) and worst.by_four == pytest.approx(5.0)


def test_chances_of_all_draws_add_up_to_one_and_no_neighbour_passes_epsilon():
    eps, counts = 0.7, np.array([2, 1, 0])
    alpha = family.least_alpha(3, eps)
    draws = [np.array([a, b, 3 - a - b]) for a in range(4) for b in range(4 - a)]
    assert sum(math.exp(family.log_chance(d, counts, alpha)) for d in draws) == pytest.approx(1)
    for d, (left, joined) in itertools.product(draws, [(0, 1), (0, 2), (1, 0), (1, 2)]):
        found = family.derivation(counts, d, eps, left=left, joined=joined)
        assert found.by_gamma == pytest.approx(found.by_four, abs=1e-12) and abs(found.by_gamma) <= eps + 1e-12


def test_a_bought_list_keeps_the_promise_at_every_count():
    eps, delta = 1.0, 1e-3
    for n in range(1, 40):
        a, b = counting.chance_shown(n - 1, eps, delta), counting.chance_shown(n, eps, delta)
        assert b <= np.exp(eps) * a + delta + 1e-12
        assert 1 - a <= np.exp(eps) * (1 - b) + delta + 1e-12
    assert counting.chance_shown(0, eps, delta) == 0


def test_the_engine_lists_a_value_as_often_as_the_lab_says():
    rng = np.random.default_rng(5)
    eps, delta, holders, turns = 1.0, 1e-3, 8, 40_000
    k = counting.reach_for(1 / eps, 1, delta)
    p = -np.expm1(-eps)
    noise = rng.geometric(p, turns * 2) - rng.geometric(p, turns * 2)
    noise = noise[np.abs(noise) <= k][:turns]
    seen = (holders + noise > k).mean()
    chance = counting.chance_shown(holders, eps, delta)
    assert abs(seen - chance) < 5 * np.sqrt(chance * (1 - chance) / turns)


def test_the_race_measures_what_it_says():
    got = race.run("independent", 5.0, 1)
    assert 0 < got["pairs"] < got["triples"] < 1
    gap, rare, floor = race.truth()
    assert gap > 100
    assert rare > 0
    assert 0 < floor < 0.05


def test_every_lab_has_all_its_words():
    for lab in LABS:
        for entry in ("name", "question", "finds", "q1", "a1", "q2", "a2", "source"):
            assert catalogue()[f"learn.{lab}.{entry}"]


def test_rounding_makes_no_attacker_certain():
    assert attacker.near(1 - 5e-5) == "over 99.9%" and attacker.near(4.5e-6) == "under 0.1%"
    assert attacker.near(0.7311) == "73.1%" and attacker.near(1.0) == "100.0%"


def test_an_attackers_figure_is_drawn_for_pure_dp_too():
    assert len(attacker.figure(1.0, 0.0, 0.1).data) == 5


def controls(app, lab):
    """Widgets that belong to a lab, by the first part of their keys."""
    kinds = ("radio", "select_slider", "slider", "number_input", "toggle", "button_group", "segmented_control", "pills")
    found = {e.proto.id for kind in (*kinds, "button", "selectbox", "multiselect") for e in app.get(kind)}
    return {i for i in found if f"-{lab}_" in i}


@pytest.mark.parametrize("lab", LABS)
def test_every_lab_opens_with_its_question_controls_a_figure_and_answers(app, lab):
    app.query_params.update({"lab": lab, "open": "1"})
    at_page(app, "learn")
    if lab == "race":  # with runs of its own beside those made beforehand
        app.session_state["race_runners"] = ["independent"]
        app.button(key="race_start").click().run(timeout=300)
    assert not app.exception
    assert not app.error
    text = words(app)
    assert catalogue()[f"learn.{lab}.question"] in text
    folded = [e.label for e in app.expander]
    assert folded == [catalogue()[f"learn.{lab}.q{i}"] for i in (1, 2)]
    assert catalogue()[f"learn.{lab}.source"][:40] in text
    most = 5 if lab == "training" else 4  # clip norm, noise, samples and steps belong together there
    assert 2 <= len(controls(app, lab)) <= most, "two or three controls, and perhaps a button"
    figures = [*app.get("plotly_chart"), *app.get("vega_lite_chart"), *app.get("arrow_vega_lite_chart")]
    assert figures
    for figure in figures:
        assert len(figure.proto.alt) > 40, "a figure says what it shows to those who cannot see it"


def test_the_growing_table_says_who_was_replaced_and_who_was_copied_from_whom():
    table = growing.people_table(five.PEOPLE, five.grown(2.0, 0.5))
    assert sorted(set(table["what happened"]) - {""}) == ["copied from v5", "one cell replaced"]
    assert "→" in " ".join(table["gender"])
