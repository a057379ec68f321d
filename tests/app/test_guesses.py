"""Guess first: every lab asks for a number, right by other means; the board shows all guesses without names."""

import math
import re
from statistics import NormalDist

import numpy as np
import pytest

from dpsyn_core.schema.sample import sample_table
from tests.app_driver import at_page, plots, words
from ui.learn import LABS, guessing
from ui.learn.consistency import BEST, averaged
from ui.learn.numbers import guesses
from ui.learn.numbers.family import COUNTS
from ui.learn.views import EXAMPLE, own
from ui.shared.text import catalogue, written


@pytest.fixture(autouse=True)
def blank_board(monkeypatch):
    monkeypatch.setattr(guessing, "_guessed", {})


def mu(epsilon, delta):
    """The Gaussian differential privacy of (epsilon, delta), by bisection on its definition."""
    phi, low, high = NormalDist().cdf, 1e-6, 50.0
    for _ in range(200):
        m = (low + high) / 2
        spent = phi(m / 2 - epsilon / m) - math.exp(epsilon) * phi(-m / 2 - epsilon / m)
        low, high = (m, high) if spent < delta else (low, m)
    return low


def epsilon_of(m, delta):
    low, high = 0.0, 100.0
    for _ in range(200):
        e = (low + high) / 2
        low, high = (e, high) if mu(e, delta) < m else (low, e)
    return low


def test_every_lab_asks_and_has_an_answer():
    assert set(guesses.ANSWERS) == set(LABS)
    for language in ("en", "de"):
        assert {f"guess.of.{lab}" for lab in LABS} <= set(written(language))
    assert all(math.isfinite(guesses.answer(lab)) and guesses.answer(lab) > 0 for lab in LABS)


def test_answers_are_right_by_other_means():
    e = math.e
    rng, turns = np.random.default_rng(3), 200_000
    assert guesses.answer("attacker") == pytest.approx(100 * e / (1 + e), abs=1e-3)
    first, second = rng.normal(0, math.sqrt(2), turns), rng.normal(0, math.sqrt(3), turns)
    kept = np.std(0.6 * first + 0.4 * second) / np.std(first)
    assert guesses.answer("consistency") == pytest.approx(100 * (1 - kept), abs=0.5)
    assert guesses.answer("views") == 64 * 63 / (8 * 7)
    assert guesses.answer("prior") == pytest.approx(COUNTS.sum() / (math.exp(5) - 1))
    slope = (2 / (e - 1)) * math.sqrt(e) / 2  # noise of one yes/no answer that is turned with chance 1 / (1 + e)
    assert guesses.answer("asking") == pytest.approx((slope / 0.01) ** 2, rel=0.01)
    votes = np.exp(0.1 * np.array([41.0, 38, 30, 22, 9]) / 2)
    assert guesses.answer("choosing") == pytest.approx(100 * votes[0] / votes.sum())
    assert guesses.answer("variants") == pytest.approx(epsilon_of(math.sqrt(80) / 10, 1e-6), rel=1e-4)
    assert guesses.answer("years") == pytest.approx(epsilon_of(mu(1, 1e-9) * math.sqrt(10), 1e-9), rel=1e-4)
    assert guesses.answer("hidden") == pytest.approx(100 * 199 / 499)
    assert guesses.answer("sparse") == pytest.approx(100 * (1 - 0.5 * math.exp(-50 / 20)) ** 20)
    frame = sample_table().to_pandas()
    assert guesses.answer("linkage") == pytest.approx(
        100 * (frame.groupby(["CITY", "SEX", "AGE", "RACE"])["SEX"].transform("size") == 1).mean()
    )
    sigma = math.sqrt(50) / mu(1, 1e-9)
    cells = np.full(100, 100_000.0) + rng.normal(0, sigma, (2_000, 100))
    assert guesses.answer("records") == pytest.approx(
        100 * np.abs(cells - 100_000).sum(axis=1).mean() / 2 / 10_000_000, rel=0.02
    )
    k = np.arange(1, 40)
    assert guesses.answer("composition") == k[np.sqrt(k) / mu(1, 1e-9) < math.sqrt(2) * k][0]


@pytest.mark.parametrize("lab", LABS)
def test_the_answer_lies_on_the_axis_of_its_question_which_does_not_begin_at_it(lab):
    axis = guesses.AXES[lab]
    assert 0.02 < axis.share(guesses.answer(lab)) <= 1
    steps = axis.steps()
    assert steps == sorted(set(steps)) and (steps[0], steps[-1]) == (axis.low, axis.high) and len(steps) <= 130


def test_a_guess_is_compared_and_the_board_shows_those_of_all(app):
    app.query_params["lab"] = "attacker"
    at_page(app, "learn")
    guessing.put("attacker", "somebody else", 90.0)
    guessing.put("attacker", "a third", 60.0)
    app.select_slider(key="guess_attacker").set_value(60.0).run()
    assert "73.1" not in words(app) and not app.get("plotly_chart"), "nothing tells the answer before the guess"
    app.button(key="guess_press_attacker").click().run()
    assert catalogue()["guess.low"].format(answer="73.1", guess="60") in words(app) and not app.exception
    assert "3 guesses; the middle one is 60." in words(app)
    own, board = plots(app)[0]["data"][1], plots(app)[0]["data"][0]
    assert (own["x"], own["y"]) == ([60.0], [1]) and board["y"] == [1, 2], "equal guesses stand above each other"
    guessing.put("attacker", "a third", 75.0)
    assert sorted(guessing.of("attacker")) == [60.0, 75.0, 90.0], "one person has one guess"


@pytest.mark.parametrize("lab", LABS)
def test_a_lab_shows_neither_its_figure_nor_its_findings_before_a_guess_or_a_press(app, lab):
    app.query_params["lab"] = lab
    at_page(app, "learn")
    figures = [*app.get("plotly_chart"), *app.get("vega_lite_chart"), *app.get("arrow_vega_lite_chart")]
    assert not app.exception and not figures and not app.expander
    opening = catalogue()[f"learn.{lab}.finds"].split("{")[0][:40]
    assert not opening or opening not in words(app)


def test_show_me_opens_a_lab_without_a_guess(app):
    app.query_params["lab"] = "count"
    at_page(app, "learn")
    app.button(key="guess_show_count").click().run()
    assert catalogue()["guess.shown"].format(answer="2.72") in words(app) and len(app.get("plotly_chart")) == 2
    assert guessing.of("count") == []


@pytest.mark.parametrize(
    ("guess", "said"), [(73.0, "hit"), (76.0, "near"), (90.0, "high"), (50.0, "low")]
)  # fmt: skip
def test_a_hit_and_a_miss_are_said_differently(app, guess, said):
    app.query_params["lab"] = "attacker"
    at_page(app, "learn")
    app.select_slider(key="guess_attacker").set_value(guess).run()
    app.button(key="guess_press_attacker").click().run()
    assert catalogue()[f"guess.{said}"].format(answer="73.1", guess=f"{guess:g}") in words(app)


def test_the_board_forgets_the_oldest():
    for i in range(guessing.MOST + 5):
        guessing.put("count", str(i), float(i))
    assert len(guessing.of("count")) == guessing.MOST and min(guessing.of("count")) == 5


def test_labs_four_six_and_seven_have_something_to_do(app):
    assert averaged(BEST) == pytest.approx(math.sqrt(1 / (1 / 2 + 1 / 3)))
    assert min(averaged(w / 100) for w in range(101)) == averaged(BEST)
    assert own("1-8; 1-4, 9-12; 5-12") == EXAMPLE
    for wrong in ("", "a", "1", "0-3", "3-13", "5-2", "1-99999999999"):
        with pytest.raises(ValueError):
            own(wrong)
    app.query_params.update({"lab": "views", "views_kind": "own", "open": "1"})
    at_page(app, "learn")
    app.text_input(key="views_own").set_value("1-6; 7-12; 1-3, 7-9").run()
    assert "of 66" in words(app) and not app.error and not app.exception
    app.text_input(key="views_own").set_value("1-13").run()
    assert app.error[0].value.startswith("Type views")
    app.session_state["lab"] = "prior"
    app.query_params["open"] = "1"
    app.run()
    app.slider(key="prior_people").set_value(100).run()
    assert "100 records in the real table" in words(app) and not app.exception
    cells = re.findall(r"<td>(.*?)</td>", next(e.proto.body for e in app.get("html") if "<table" in e.proto.body))
    assert cells[3 * 4] == "100" and not app.error  # the real number of the fifth combination
