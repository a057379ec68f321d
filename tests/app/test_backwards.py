"""Epsilon backwards on the Privacy page: from an error or a risk, in one picture, and one press takes the epsilon."""

import pytest

from tests.app_driver import at_page, plots, space_of, words
from ui.questions import kept


@pytest.fixture
def opened(app):
    at_page(app, "privacy")
    app.segmented_control(key="privacy_part").set_value("backwards").run()
    assert not app.exception
    return app


def curves(app):
    return next(p for p in plots(app) if len(p["data"]) == 2 and "shapes" in p["layout"])


def test_an_error_leads_to_an_epsilon_that_one_press_takes(opened):
    app = opened
    app.number_input(key="backwards_error").set_value(3.0).run()
    button = app.button(key="backwards_take")
    epsilon = button.label.removeprefix("Take epsilon ")
    assert f"At epsilon {epsilon} and above, the expected error of single columns is at most 3.0" in words(app)
    drawn = curves(app)
    assert [s["x0"] for s in drawn["layout"]["shapes"]][-1] == float(epsilon)
    button.click().run()
    assert not app.exception
    assert app.text_input(key="epsilon").value == epsilon and space_of(app).choices.epsilon == float(epsilon)


def test_more_records_lower_the_epsilon(opened):
    app = opened
    before = float(app.button(key="backwards_take").label.removeprefix("Take epsilon "))
    app.number_input(key="backwards_n").set_value(1_000_000).run()
    assert float(app.button(key="backwards_take").label.removeprefix("Take epsilon ")) < before


def test_a_risk_leads_to_the_largest_epsilon_that_keeps_it(opened):
    app = opened
    app.segmented_control(key="backwards_way").set_value("gain").run()
    assert not app.exception
    assert app.button(key="backwards_take").label == "Take epsilon 0.2"
    assert "guesses right at most 55 times in 100" in words(app)
    assert curves(app)["layout"]["shapes"][0]["y0"] == 0.05


def test_the_private_number_of_records_plays_no_part(opened):
    """The sample has 10,000 and more; the epsilon is published, so it may rest on what was typed alone."""
    app = opened
    assert app.number_input(key="backwards_n").value == 10_000
    assert space_of(app).dataset.n_records != 10_000
    first = app.button(key="backwards_take").label
    space_of(app).dataset.table = space_of(app).dataset.table.slice(0, 500)
    app.run()
    assert app.button(key="backwards_take").label == first


def test_a_declared_question_can_be_what_the_error_is_of(opened):
    app = opened
    kept.put(space_of(app), {"name": "people by city", "kind": "table", "of": ["CITY"]})
    app.run()
    app.selectbox(key="backwards_of").set_value("people by city").run()
    assert not app.exception and "the expected error of people by city" in words(app)


def test_an_error_that_no_epsilon_reaches_is_said(opened):
    app = opened
    app.number_input(key="backwards_n").set_value(10).run()
    app.number_input(key="backwards_error").set_value(0.1).run()
    assert "No epsilon up to 100 gives single columns" in words(app) and not app.exception
    assert "backwards_take" not in [b.key for b in app.button]
