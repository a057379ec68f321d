"""The Plan page: names of columns become a plan and forecasts, guesses are corrected, what cannot be is a sentence."""

import json

from dpsyn_core.data import paths
from tests.app_driver import at_page, keys, plots, words


def planned(app, text):
    at_page(app, "plan")
    app.text_area(key="plan_names").set_value(text)
    app.run()
    assert not app.exception
    return app


def test_the_page_begins_with_the_plan_of_an_example(app):
    at_page(app, "plan")
    assert "An example, until you write your own." in words(app) and not app.exception
    assert len(plots(app)) == 2
    planned(app, "age, sex, income, town")
    assert "An example" not in words(app)


def test_names_alone_give_a_plan_and_two_grids_of_errors(app):
    planned(app, "age, sex, income, town")
    said = words(app)
    assert "where the budget goes" in said.lower() and "single columns" in said
    first, second = (p["data"][0] for p in plots(app))
    assert first["y"] == ["0.1", "0.3", "1", "3", "10"] and first["x"][0] == "1,000"
    assert second["text"][0][0] != second["text"][4][3]
    assert "plan_csv" in keys(app.get("download_button"))


def test_a_correction_in_the_table_changes_the_forecast(app):
    planned(app, "age, sex, town")
    before = [p["data"][0]["text"] for p in plots(app)]
    app.session_state[app.dataframe[0].key] = {
        "edited_rows": {2: {"values": 5000}}, "added_rows": [], "deleted_rows": []
    }  # fmt: skip
    app.run()
    assert not app.exception
    assert [p["data"][0]["text"] for p in plots(app)] != before


def test_another_budget_and_size_are_part_of_the_grid(app):
    planned(app, "age, sex, town")
    app.text_input(key="plan_epsilon").set_value("0.5")
    app.number_input(key="plan_n").set_value(2500)
    app.run()
    grid = plots(app)[0]["data"][0]
    assert "0.5" in grid["y"] and "2,500" in grid["x"]


def test_a_schema_file_takes_the_place_of_names(app):
    at_page(app, "plan")
    raw = paths("sample")[1].read_bytes()
    app.file_uploader(key="plan_schema").set_value(("schema.json", raw, "application/json")).run()
    assert not app.exception and len(plots(app)) == 2
    assert not app.text_area


def test_what_cannot_be_planned_is_said_in_a_sentence(app):
    planned(app, "sex=many")
    assert any("is no column of a plan" in e.value for e in app.error)
    planned(app, "age, age")
    assert any("stands twice" in e.value for e in app.error)
    app.text_area(key="plan_names").set_value("age, sex")
    app.text_input(key="plan_epsilon").set_value("0").run()
    assert "above 0" in words(app) and not app.exception
    app.file_uploader(key="plan_schema").set_value(("s.json", json.dumps({"version": 1}).encode(), "application/json"))
    app.run()
    assert app.error and not app.exception


def test_a_system_that_refuses_says_why(app):
    planned(app, "age, sex")
    app.selectbox(key="plan_method").set_value("dirichlet-multinomial").run()
    assert not app.exception
    assert "does not protect add-remove neighbours" in words(app) and not plots(app)


def test_a_system_that_measures_no_pairs_is_not_said_to_want_more_records(app):
    planned(app, "age, sex, income, town")
    assert "measures single columns only" not in words(app)
    app.selectbox(key="plan_method").set_value("independent").run()
    said = words(app)
    assert "measures single columns only: relations between columns are lost" in said and "few for pairs" not in said
