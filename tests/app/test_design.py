"""The design of dpsyn-2018 as lines: there and back without loss, wrong lines named, taken over from the page."""

import pytest

from dpsyn_core.errors import SettingError
from dpsyn_core.schema.sample import coded_design, coded_schema, sample_schema
from dpsyn_core.systems.dpsyn2018.design import Design
from tests.app_driver import at_page, words
from ui.shared.state import workspaces
from ui.synthesize.design import design_of, rows_of

DOMAIN = sample_schema().domain()


def line(part, columns, detail=""):
    return {"part": part, "columns": columns, "detail": detail}


def test_lines_and_back_is_the_design_itself():
    shipped = Design.model_validate(coded_design())
    again = design_of(rows_of(shipped), shipped, coded_schema().domain())
    assert again == shipped


def test_every_kind_of_line_is_read():
    rows = [
        line("group", "SEX, RACE", "who"), line("pattern", "WKSWORK, HRSWORK", "work"), line("bins", "AGE", "width 4"),
        line("nearly follows", "EMPSTAT", "CLASSWKR"), line("marginal", "who, AGE", "3"),
        line("unmeasured", "OWNERSHP"), line("marginal", ""),
    ]  # fmt: skip
    made = design_of(rows, Design(), DOMAIN)
    assert made.groups[0].attributes == ("SEX", "RACE")
    assert made.patterns[0].name == "work"
    assert made.bins[0].width == 4
    assert made.functional[0].source == "CLASSWKR"
    assert made.marginals[0].sets[0].weight == 3
    assert made.unmeasured == ("OWNERSHP",)


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        (line("bins", "AGE", "narrow"), "width 5"),
        (line("bins", "AGE, SEX", "edges 3"), "one column"),
        (line("marginal", "AGE, SEX", "much"), "a number above 0"),
        (line("marginal", "AGE, NOSUCH"), "NOSUCH"),
        (line("group", "AGE, NOSUCH"), "NOSUCH"),
    ],
)
def test_a_line_that_does_not_fit_is_named(row, sentence):
    with pytest.raises(SettingError, match=sentence):
        design_of([row], Design(), DOMAIN)


def test_the_page_shows_the_lines_of_the_design_in_force(app):
    at_page(app, "synthesize")
    space = workspaces().find(app.session_state["owner"])
    space.choices.settings["dpsyn-2018"] = {"design": {"marginals": [{"epsilon": 0, "sets": [["AGE", "SEX"]]}]}}
    app.selectbox(key="method").set_value("dpsyn-2018").run()
    assert not app.exception
    assert "It is public knowledge and belongs to that system alone" in words(app)
    app.button(key="design_use").click().run()
    assert not app.exception
    assert space.choices.settings["dpsyn-2018"]["design"]["marginals"][0]["sets"] == [["AGE", "SEX"]]


def test_the_design_is_edited_on_the_schema_page_and_chooses_its_system(app):
    at_page(app, "synthesize")
    space = workspaces().find(app.session_state["owner"])
    space.choices.settings["dpsyn-2018"] = {"design": {"marginals": [{"epsilon": 0, "sets": [["AGE", "SEX"]]}]}}
    app.selectbox(key="method").set_value("independent").run()
    at_page(app, "schema")
    app.button(key="design_use").click().run()
    assert not app.exception
    assert "the Synthesize page now has dpsyn-2018 with it" in app.success[0].value
    at_page(app, "synthesize")
    assert app.selectbox(key="method").value == "dpsyn-2018"
    assert space.choices.settings["dpsyn-2018"]["design"]["marginals"][0]["sets"] == [["AGE", "SEX"]]
