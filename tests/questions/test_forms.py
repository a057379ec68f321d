"""Fields of questions at the very ends of their limits, and how an error names its question."""

import pytest

from dpsyn_core.errors import QuestionError
from dpsyn_core.questions.document import MOST, MOST_ACROSS, Questions

TABLE = {"kind": "table", "of": ["a"]}
GAP = {"kind": "gap", "of": "x", "between": {"s": ["m", "f"]}}
QUANTILE = {"kind": "quantile", "of": "x"}
RANGE = {"kind": "range", "where": "a"}
MODEL = {"kind": "regression", "formula": "y~x"}
PREDICT = {"kind": "predict", "of": "y"}


@pytest.mark.parametrize(
    ("form", "changes", "fits"),
    [
        (TABLE, {"name": "n" * 200}, True), (TABLE, {"name": "n" * 201}, False), (TABLE, {"name": ""}, False),
        (TABLE, {"weight": 1000}, True), (TABLE, {"weight": 1000.1}, False), (TABLE, {"weight": 0}, False),
        (TABLE, {"weight": 1e-9}, True), (TABLE, {"of": []}, False), (TABLE, {"of": ["a" * 500]}, True),
        (TABLE, {"of": ["a" * 501]}, False), (TABLE, {"of": [""]}, False), (TABLE, {"of": list("abcd")}, True),
        (TABLE, {"of": list("abcde")}, False), (TABLE, {"bins": {"a": {"width": 1e-9}}}, True),
        (TABLE, {"bins": {"a": {"width": 0}}}, False), (TABLE, {"bins": {"a": {"count": 1}}}, True),
        (TABLE, {"bins": {"a": {"count": 0}}}, False), (TABLE, {"bins": {"a": {"count": 100_000}}}, True),
        (TABLE, {"bins": {"a": {"count": 100_001}}}, False), (TABLE, {"bins": {"a": {"edges": [1]}}}, True),
        (TABLE, {"bins": {"a": {"edges": []}}}, False), (TABLE, {"bins": {"a": {"edges": list(range(1000))}}}, True),
        (TABLE, {"bins": {"a": {"edges": list(range(1001))}}}, False),
        (TABLE, {"bins": {"a": {"groups": [[str(i)] for i in range(1000)]}}}, True),
        (TABLE, {"bins": {"a": {"groups": [[str(i)] for i in range(1001)]}}}, False),
        (TABLE, {"bins": {"a": {"groups": []}}}, False),
        (GAP, {}, True), (GAP, {"between": {}}, False), (GAP, {"between": {"s": ["m", "f"], "t": ["a", "b"]}}, False),
        (GAP, {"by": ["a"]}, True), (GAP, {"by": ["a", "b"]}, False),
        (QUANTILE, {"at": [1e-9, 1 - 1e-9]}, True), (QUANTILE, {"at": [0]}, False), (QUANTILE, {"at": [1]}, False),
        (QUANTILE, {"at": []}, False), (QUANTILE, {"at": [k / 40 for k in range(1, 21)]}, True),
        (QUANTILE, {"at": [k / 40 for k in range(1, 22)]}, False), (QUANTILE, {"by": ["a"]}, True),
        (QUANTILE, {"by": ["a", "b"]}, True), (QUANTILE, {"by": ["a", "b", "c"]}, False),
        (RANGE, {"where": "w" * 10_000}, True), (RANGE, {"where": "w" * 10_001}, False), (RANGE, {"where": ""}, False),
        (MODEL, {}, True), (MODEL, {"formula": ""}, False), (MODEL, {"formula": "y ~ " + "x" * 4997}, False),
        (PREDICT, {}, True), (PREDICT, {"from": []}, False), (PREDICT, {"from": ["x"]}, True),
        ({"kind": "regression", "of": "y", "on": [f"x{i}" for i in range(20)]}, {}, True),
        ({"kind": "regression", "of": "y", "on": [f"x{i}" for i in range(21)]}, {}, False),
        ({"kind": "regression", "of": "y" * 501, "on": ["x"]}, {}, False),
    ],
)  # fmt: skip
def test_a_question_fits_up_to_the_ends_of_its_limits(form, changes, fits):
    document = [{"name": "q"} | form | changes]
    if fits:
        assert Questions.of(document).version == 1 and len(Questions.of(document).questions) == 1
    else:
        with pytest.raises(QuestionError):
            Questions.of(document)


def test_a_document_has_five_hundred_questions_at_most():
    def many(count):
        return [{"name": str(i), **TABLE} for i in range(count)]

    assert len(Questions.of(many(MOST)).questions) == MOST == 500 and MOST_ACROSS == 100
    with pytest.raises(QuestionError, match="has 501 entries, and at most 500"):
        Questions.of(many(MOST + 1))


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ([{"name": "a" * 100, **TABLE, "weight": -1}], f"question '{'a' * 80}': weight is -1 and"),
        ([{"name": "ok", **TABLE}, {"name": "b", **TABLE, "of": []}], "question 'b': of must not be empty"),
        ([{"name": "ok", **TABLE}, {**TABLE}], "question 2: name is required"),
        ([{"name": 7, **TABLE}], "question 1: name"),
        ([{"name": "b", **TABLE, "bins": {"a": {"width": 0}}}], "question 'b': bins.a.width is 0 and"),
        ([{"name": "b", **TABLE, "bins": {"a": 3}}], "question 'b': bins.a"),
        ([{"name": "b", **TABLE, "odd": 3}], "question 'b': odd is no field of this kind"),
        ({"version": 1, "across": [{"ask": {"name": "c", **TABLE, "weight": -1}}]}, "question 'c': "),
        ({"version": 1, "across": [{"ask": 3}]}, "question 1: "),
        ({"version": 2}, "version is 2 and"),
    ],
)
def test_an_error_names_the_question_and_the_path_of_its_field(document, said):
    with pytest.raises(QuestionError) as error:
        Questions.of(document)
    assert said in str(error.value)
