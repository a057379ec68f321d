"""The Questions page: suggested and own questions, their share, their expected error, and what a run is told."""

import re

import pandas as pd
import pytest

from dpsyn_core.questions.document import Questions
from dpsyn_core.schema.sample import sample_table
from tests.app_driver import at_page, words
from ui.questions import expected, kept
from ui.shared.state import workspaces
from ui.synthesize.starting import problem, spec_of

GAP = "gap of INCWAGE by SEX and CITY"


def space_of(app):
    return workspaces().find(app.session_state["owner"])


def with_gap(app):
    at_page(app, "questions")
    button = next(b for b in app.button if b.label == f"Add: {GAP}")
    button.click().run()
    assert not app.exception
    return space_of(app)


def test_one_press_declares_the_pay_gap_and_shows_how_its_error_falls(app):
    space = with_gap(app)
    assert [n.name for n in kept.lines(space)] == [GAP]
    said = words(app)
    assert "If you do not declare it: not measured" in said
    off = re.search(r"Declared: a figure is off by about ([\d.,]+) \(INCWAGE\)", said)
    wages = pd.to_numeric(sample_table().to_pandas()["INCWAGE"])
    wages = wages[wages < 999_998]
    assert off and 0 < float(off[1].replace(",", "")) < 0.5 * wages.std(), "in the unit of the column"
    assert expected.spread(space, kept.fitting(space).questions[0]) == pytest.approx(wages.std(), rel=0.1)
    assert "more noise on other pairs" in said


def test_the_slider_is_followed_at_once_and_the_usual_share_comes_back(app):
    space = with_gap(app)
    before = words(app)
    app.slider(key="questions_share").set_value(60).run()
    assert space.choices.questions_share == 0.6
    assert words(app) != before
    app.button(key="questions_share_back").click().run()
    assert space.choices.questions_share is None and not app.exception


def test_a_question_is_written_changed_and_removed_without_a_document(app):
    at_page(app, "questions")
    space = space_of(app)
    app.button(key="question_own").click().run()
    app.selectbox(key="question_1_kind").set_value("range").run()
    app.multiselect(key="question_1_range_columns").set_value(["AGE", "SEX"]).run()
    app.number_input(key="question_1_range_AGE_low").set_value(18.0).run()
    app.multiselect(key="question_1_range_SEX_values").set_value(["Male"]).run()
    app.text_input(key="question_1_name").set_value("young men").run()
    app.button(key="question_keep").click().run()
    assert not app.exception and not app.error
    [line] = kept.lines(space)
    assert line.document == {"name": "young men", "kind": "range", "where": "AGE in [18, 99] and SEX in {Male}"}
    app.button(key="question_edit_0").click().run()
    app.number_input(key="question_2_range_AGE_high").set_value(30.0).run()
    app.button(key="question_keep").click().run()
    assert kept.lines(space)[0].document["where"] == "AGE in [18, 30] and SEX in {Male}"
    app.button(key="question_remove_0").click().run()
    assert kept.lines(space) == []


@pytest.mark.slow
def test_every_kind_of_question_has_a_form_that_makes_one_which_fits(app):
    at_page(app, "questions")
    space = space_of(app)
    chosen = {
        "table": ("columns", ["CITY", "AGE"]),
        "range": ("columns", ["AGE"]),
        "regression": ("explained", ["SEX"]),
    }
    for i, kind in enumerate(("table", "mean", "sum", "quantile", "gap", "gini", "range", "predict", "regression"), 1):
        app.button(key="question_own").click().run()
        app.selectbox(key=f"question_{i}_kind").set_value(kind).run()
        if kind in chosen:
            name, columns = chosen[kind]
            app.multiselect(key=f"question_{i}_{kind}_{name}").set_value(columns).run()
        app.button(key="question_keep").click().run()
        assert not app.exception and not app.error, kind
    found = kept.lines(space)
    assert len(found) == 9 and not any(n.problem for n in found)


def test_a_model_is_written_as_a_formula_and_a_faulty_one_is_refused(app):
    at_page(app, "questions")
    space = space_of(app)
    app.button(key="question_own").click().run()
    app.selectbox(key="question_1_kind").set_value("regression").run()
    app.toggle(key="question_1_regression_as_formula").set_value(True).run()
    app.text_input(key="question_1_regression_formula").set_value("INCWAGE ~ AGE +").run()
    app.button(key="question_keep").click().run()
    assert "cannot be read" in app.error[0].value
    app.text_input(key="question_1_regression_formula").set_value("INCWAGE ~ SEX*AGE + square(AGE)").run()
    app.button(key="question_keep").click().run()
    (line,) = kept.lines(space)
    assert line.document["formula"] == "INCWAGE ~ SEX*AGE + square(AGE)" and not line.problem
    assert "SEX*AGE" in line.document["name"]


def test_one_column_is_never_offered_for_two_places_of_a_gap(app):
    at_page(app, "questions")
    app.button(key="question_own").click().run()
    app.selectbox(key="question_1_kind").set_value("gap").run()
    of = app.selectbox(key="question_1_gap_number").value
    assert of not in app.selectbox(key="question_1_gap_between").options
    assert app.selectbox(key="question_1_gap_between").value == "SEX"
    assert not {of, "SEX"} & set(app.multiselect(key="question_1_gap_by").options)


def test_a_question_without_its_columns_is_refused_in_a_sentence(app):
    at_page(app, "questions")
    app.button(key="question_own").click().run()
    app.selectbox(key="question_1_kind").set_value("table").run()
    app.button(key="question_keep").click().run()
    assert app.error and not app.exception
    assert kept.lines(space_of(app)) == []


def test_a_change_of_the_schema_keeps_a_question_for_mending_and_leaves_it_out_of_the_run(app):
    space = with_gap(app)
    document = space.schema.document()
    document["attributes"] = [a for a in document["attributes"] if a["name"] != "CITY"]
    space.schema = type(space.schema).of(document)
    app.run()
    assert "Not asked until it is mended" in words(app) and "CITY" in words(app)
    assert len(kept.lines(space)) == 1 and len(kept.fitting(space)) == 0
    app.switch_page("pages/synthesize.py").run()
    assert "do not fit the schema and are left out" in words(app)
    assert problem(space) == ""


def test_a_run_is_told_the_questions_and_a_system_that_cannot_take_them_says_so(app):
    space = with_gap(app)
    app.switch_page("pages/synthesize.py").run()
    assert "This run measures what your question needs" in words(app)
    assert spec_of(space).questions["questions"][0]["name"] == GAP
    app.selectbox(key="method").set_value("independent").run()
    assert "independent takes no questions" in words(app)
    assert problem(space) == "" and spec_of(space).questions_share == 0.0


def test_questions_come_from_a_schema_file_and_go_into_one(app):
    at_page(app, "questions")
    space = space_of(app)
    asked = Questions.of([{"name": "people by city", "kind": "table", "of": ["CITY"]}])
    space.schema = space.schema.model_copy(update={"questions": asked.document()})
    app.run()
    assert "people by city" in words(app)
    assert space.schema.questions is None, "they are kept in one place"
    assert kept.in_schema(space, space.schema).questions == asked.document()


def test_a_file_of_questions_is_taken_and_one_that_is_none_refused_in_a_sentence(app):
    at_page(app, "questions")
    asked = Questions.of([{"name": "people by town", "kind": "table", "of": ["TOWN"]}])
    app.file_uploader(key="questions_upload").set_value(("questions.json", asked.dumps().encode(), "application/json"))
    app.run()
    assert "Not asked until it is mended" in words(app), "a question about a column that is not there is kept"
    app.file_uploader(key="questions_upload").set_value(("q.json", b"{]", "application/json")).run()
    assert app.error and not app.exception


def test_in_safe_mode_an_expected_error_is_a_share_and_reads_nothing(app):
    with_gap(app)
    app.toggle(key="safe").set_value(True).run()
    assert re.search(r"Declared: a figure is off by about [\d.]+.% of the spread of INCWAGE", words(app))


def test_the_share_and_the_noise_of_other_pairs_do_not_contradict_each_other(app):
    space = with_gap(app)
    app.slider(key="questions_share").set_value(50).run()
    assert "fewer of them may be counted, too" in words(app)
    space.choices.method = "aim"  # chooses what it measures: its noise does not follow from the share
    app.run()
    said = words(app)
    assert not app.exception and "0% more noise" not in said.replace("\n", " ") and "counts them more rarely" in said
