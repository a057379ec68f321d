"""Links to labs: they carry every control, in any language, and may show one lab alone."""

from pathlib import Path

import pytest

import ui.learn
from tests.app_driver import at_page, words
from ui.learn import LABS
from ui.shared.text import catalogue


def at_lab(app, **link):
    """The Learn page as somebody sees it who opens a link."""
    for name, value in link.items():
        app.query_params[name] = value
    app.query_params["open"] = "1"
    at_page(app, "learn")
    return app


def test_a_link_opens_a_lab_as_it_was_left(app):
    at_lab(app, lab="choosing", choosing_epsilon="2", choosing_way="first", choosing_assumed="1")
    assert app.select_slider(key="choosing_epsilon").value == 2.0
    assert app.radio(key="choosing_way").value == "first"
    assert app.radio(key="choosing_assumed").value == 1


def test_moving_a_control_changes_the_link_and_another_lab_takes_it_out_again(app):
    at_lab(app, lab="count")
    app.number_input(key="count_count").set_value(33).run()
    assert app.query_params["count_count"] == "33"
    app.session_state["lab"] = "composition"
    app.query_params["open"] = "1"
    app.run()
    assert "count_count" not in app.query_params
    assert app.query_params["composition_delta"] == "1e-9"
    assert app.query_params["composition_rules"] == "laplace_basic.gaussian_zcdp.gaussian_exact"


@pytest.mark.parametrize("value", ["", "0.3", "nan", "1e999", "<script>", "-1"])
def test_a_value_that_no_control_has_gives_the_default(app, value):
    at_lab(app, lab="count", count_epsilon=value, count_count=value, count_mechanism=value)
    assert not app.exception
    assert app.select_slider(key="count_epsilon").value == 1.0
    assert app.number_input(key="count_count").value == 20
    assert app.radio(key="count_mechanism").value == "laplace"


def test_a_link_of_a_lecturer_shows_one_lab_alone(app):
    at_lab(app, lab="leak", pin="1")
    assert "learn_shelf" not in {b.key for b in app.button}
    assert catalogue()["learn.leak.question"] in words(app)
    at_lab(app, lab="leak", pin="1", leak_holders="7")
    assert "learn_shelf" not in {b.key for b in app.button}, "it holds while the tab is open"


def test_no_lab_lets_streamlit_write_words_into_the_link():
    for lab in LABS:
        text = (Path(ui.learn.__file__).parent / f"{lab}.py").read_text("utf-8")
        assert "bind=" not in text, lab
