"""The user's questions in a report: figures with intervals, the real answer beside them for the owner alone."""

from dataclasses import replace

import numpy as np
import pytest

from dpsyn_core.evaluate.loader import compare_tables
from dpsyn_core.questions.answer import Answer, Axis
from dpsyn_core.questions.answers.answers import Answered
from dpsyn_core.questions.document import Questions
from dpsyn_core.report import questions as asked
from dpsyn_core.report.document import ScoredTable, report_document
from dpsyn_core.report.html import html_report
from dpsyn_core.report.questions import AskedAnswer
from dpsyn_core.schema.sample import sample_schema, sample_table

[GAP, COUNT] = Questions.of(
    [
        {"name": "pay gap", "kind": "gap", "of": "INCWAGE", "by": ["CITY"], "between": {"SEX": ["Male", "Female"]}},
        {"name": "young <men>", "kind": "range", "where": "AGE in [18, 30] and SEX = Male"},
    ]
).questions
CITIES = ("Ashford", "Bellmere", "Carrow", "Dunmore")


def answered(question, values, half, grades):
    values, half = np.array(values, dtype=float), np.array(half, dtype=float)
    axes = (Axis(name="CITY", labels=CITIES),) if values.ndim else ()
    return Answered(
        question=question, axes=axes, unit="gap of INCWAGE", estimate=values, low=values - half, high=values + half,
        synthetic=values, released=values, noise=half, grades=grades, truth="table", confidence=0.95, sentence="So.",
    )  # fmt: skip


@pytest.fixture
def gaps():
    given = answered(GAP, [100, 400, 300, 250], [30, 40, 50, np.nan], ("exact", "exact", "estimated", "none"))
    real = Answer(
        question=GAP, axes=given.axes, values=np.array([120.0, 380.0, 310.0, 90.0]), unit="INCWAGE", scales=False
    )
    return AskedAnswer(answered=given, real=real)


def test_groups_stand_in_the_order_of_their_figures_with_the_interval_of_each(gaps):
    real, supported, unsupported = asked.figure(gaps).data
    assert supported["y"] == ["Bellmere", "Carrow", "Ashford"] and list(supported["error_x"]["array"]) == [40, 50, 30]
    assert unsupported["y"] == ["Dunmore"] and "error_x" not in unsupported
    assert unsupported["marker"]["opacity"] < 1 and "not supported" in unsupported["name"]
    assert list(real["x"]) == [380, 310, 90, 120]


def test_the_difference_and_the_agreement_of_ranks_need_the_real_answer(gaps):
    assert gaps.difference == pytest.approx((20 + 20 + 10 + 160) / 4)
    assert gaps.rank_agreement == pytest.approx(0.8)
    assert gaps.half_width == 40
    alone = AskedAnswer(answered=gaps.answered)
    assert (alone.difference, alone.rank_agreement, asked.beside(alone)) == (None, None, "")
    assert "real" not in asked.rows(alone)[0] and asked.rows(gaps)[0][-1] == "real"


def test_the_one_quantile_that_was_asked_for_stands_in_no_label(gaps):
    half = Axis(name="quantile", labels=("0.5",))
    given = replace(gaps.answered, axes=(*gaps.answered.axes, half), estimate=gaps.answered.estimate[:, None])
    assert AskedAnswer(answered=given).labels == list(CITIES)


def test_a_question_of_a_single_figure_is_a_sentence():
    one = AskedAnswer(answered=answered(COUNT, 120.0, 9.0, ("exact",)))
    assert asked.figure(one) is None
    assert asked.rows(one)[1] == [["120", "111 to 129", "exact", "120"]]


def test_a_report_opens_with_the_questions_and_wears_the_owners_label_only_with_the_real_answer(gaps):
    table = sample_table().slice(0, 200)
    compared = compare_tables(sample_schema(), table)
    one = AskedAnswer(answered=answered(COUNT, 120.0, 9.0, ("exact",)))
    for found, private in ((AskedAnswer(answered=gaps.answered), False), (gaps, True)):
        scored = ScoredTable(name="t", comparison=compared, scores={}, asked=[found, one])
        page = html_report("sample", [scored])
        assert page.index("Your questions") < page.index("What was released")
        assert "young &lt;men&gt;" in page and "young <men>" not in page
        assert ("Estimates and real figures differ" in page) == private
        entry = report_document("sample", [scored])["tables"][0]["asked"][0]
        assert ("real" in entry) == private and entry["question"] == "pay gap"


@pytest.mark.parametrize(
    ("value", "text"), [(None, "–"), (float("nan"), "–"), (0.0, "0"), (1234.5, "1,234"), (-2.5, "-2.5")]
)
def test_a_figure_that_there_is_not_is_a_dash(value, text):
    assert asked.shown(value) == text
