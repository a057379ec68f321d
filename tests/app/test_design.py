"""The design of dpsyn-2018 as lines: there and back without loss, wrong lines named, taken over from the page."""

import pytest

from dpsyn_core.data import WORKED, worked_design
from dpsyn_core.errors import SettingError
from dpsyn_core.schema.domain import Domain
from dpsyn_core.schema.sample import coded_design, coded_schema, sample_schema
from dpsyn_core.systems.others.dpsyn2018.design import Design
from tests.app_driver import at_page, dialog, words
from ui.shared.state import workspaces
from ui.synthesize.design import design_of, rows_of

DOMAIN = sample_schema().domain()
CODES = Domain.of({"AGE": 5, "SEX": 2, "RACE": 3, "EMPSTAT": 4})


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
    dialog(app, "design")
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
    dialog(at_page(app, "schema"), "design")
    app.button(key="design_use").click().run()
    assert not app.exception
    assert "the Synthesize page now has dpsyn-2018 with it" in app.success[0].value
    at_page(app, "synthesize")
    assert app.selectbox(key="method").value == "dpsyn-2018"
    assert space.choices.settings["dpsyn-2018"]["design"]["marginals"][0]["sets"] == [["AGE", "SEX"]]


@pytest.mark.parametrize("name", WORKED)
def test_worked_designs_are_lines_and_back(name):
    shipped = Design.model_validate(worked_design(name))
    assert bool(shipped.hierarchies) == ("follows" in {r["part"] for r in rows_of(shipped)})
    assert design_of(rows_of(shipped), shipped, sample_schema(name).domain()) == shipped


def test_lines_hold_from_an_epsilon_on_and_empty_parts_stay():
    rows = [
        line("marginal", "AGE, EMPSTAT"), line("marginal", "RACE"), line("one-ways", "RACE, EMPSTAT") | {"since": 1.0},
        line("marginal", "AGE, RACE", "2") | {"since": 1}, line("follows", "SEX", "EMPSTAT: 0, 1, 0, 1"),
    ]  # fmt: skip
    before = Design.model_validate({"budgets": [{"epsilon": 3, "groups": []}]})
    made = design_of(rows, before, CODES)
    assert made.at(0.5).sets_for(0.5)[0].attributes == ("AGE", "EMPSTAT")
    assert made.at(1.5).sets_for(1.5)[0].attributes == ("AGE", "RACE")
    assert made.at(1.5).one_ways == ("RACE", "EMPSTAT") and made.at(0.5).one_ways is None
    assert made.hierarchies[0].codes == (0, 1, 0, 1)
    assert made.budgets[-1].groups == ()


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        (line("follows", "SEX", "EMPSTAT"), "Box: 0, 0, 1, 1"),
        (line("follows", "SEX, AGE", "EMPSTAT: 0"), "write one column"),
        (line("marginal", "AGE, SEX") | {"since": -2}, "a number of at least 0"),
    ],
)
def test_a_line_with_a_wrong_map_or_epsilon_is_named(row, sentence):
    with pytest.raises(SettingError, match=sentence):
        design_of([row], Design(), DOMAIN)


def test_a_worked_example_is_two_presses_away(app):
    at_page(app, "synthesize")
    app.selectbox(key="method").set_value("dpsyn-2018").run()
    dialog(app, "design")
    app.button(key="design_example_firecalls").click().run()
    assert not app.exception
    space = workspaces().find(app.session_state["owner"])
    assert space.dataset.sample and len(space.schema.attributes) == 32
    assert space.choices.method == "dpsyn-2018"
    assert space.choices.settings["dpsyn-2018"]["design"] == worked_design("firecalls")
