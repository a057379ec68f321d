"""The Grid page: one press on the sample, another table needs its owner's word, results in one scale and a file."""

import time

import pytest

from dpsyn_core.runs.choose.document import SystemsComparison
from dpsyn_core.runs.choose.worker import RESULT
from tests.app_driver import at_page, keys, plots, space_of, uploaded, words
from ui.shared.state import grids


def ended(app, seconds=300):
    deadline = time.monotonic() + seconds
    while any(j.live for j in grids().of(app.session_state["owner"])):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return grids().of(app.session_state["owner"])[0]


def test_one_press_on_the_sample_gives_a_map_bars_and_a_file(app):
    at_page(app, "grid")
    assert "An example on the simulated census" in words(app), "a kept one, until there is one's own"
    assert "rls (record least squares) has the smallest error" in words(app) and len(plots(app)) == 2
    app.multiselect(key="grid_methods").set_value(["independent"])
    app.multiselect(key="grid_epsilons").set_value([0.1, 10.0]).run()
    assert "6 runs" in words(app)
    app.button(key="grid_start").click().run()
    job = ended(app)
    assert job.state == "done", job.failure()
    app.run()
    assert not app.exception
    found = SystemsComparison.model_validate_json((job.folder / RESULT).read_text())
    assert len(found.runs) == 6
    drawn, bars = plots(app)
    assert drawn["data"][0]["y"] == ["independent"] and drawn["data"][0]["x"] == ["0.1", "10"]
    assert "±" in drawn["data"][0]["text"][0][0]
    assert [d["name"] for d in bars["data"]] == ["independent", "a fresh sample"]
    assert "grid_csv" in keys(app.get("download_button")) and "At epsilon 10, independent" in words(app)


def test_another_table_needs_the_word_that_it_is_public(app):
    uploaded(app)
    at_page(app, "grid")
    assert app.button(key="grid_start").disabled
    box = next(c for c in app.checkbox if c.key.startswith("grid_public_"))
    box.set_value(True).run()
    assert not app.button(key="grid_start").disabled and not app.exception


@pytest.mark.parametrize(("field", "value"), [("grid_methods", []), ("grid_epsilons", [])])
def test_an_empty_grid_has_no_button(app, field, value):
    at_page(app, "grid")
    app.multiselect(key=field).set_value(value).run()
    assert "grid_start" not in [b.key for b in app.button] and "at least one" in words(app)


def test_nothing_is_booked(app):
    from ui.privacy import ledger

    at_page(app, "grid")
    app.multiselect(key="grid_methods").set_value(["independent"])
    app.multiselect(key="grid_epsilons").set_value([1.0])
    app.number_input(key="grid_repeats").set_value(1).run()
    app.button(key="grid_start").click().run()
    assert ended(app).state == "done"
    spent = ledger.spent(space_of(app))
    assert spent is None or spent.runs == 0
