"""Bins of the columns that a figure is broken down by: what they mean, what is measured, and how intervals follow."""

import numpy as np
import pytest

from dpsyn_core.errors import QuestionError
from dpsyn_core.questions.answers.requests import asked
from dpsyn_core.questions.compile import compile_question
from dpsyn_core.questions.document import Questions, plain
from dpsyn_core.questions.evaluation import evaluate
from dpsyn_core.schema.document import Schema

SCHEMA = Schema.of(
    {
        "version": 1,
        "name": "people",
        "attributes": [
            {"name": "sex", "kind": "categorical", "values": ["F", "M"]},
            {"name": "age", "kind": "numeric", "dtype": "integer", "min": 0, "max": 11, "bins": {"count": 12}},
            {"name": "pay", "kind": "numeric", "dtype": "float", "min": 0, "max": 10, "bins": {"count": 5}},
            {"name": "day", "kind": "datetime", "min": "2020-01-01", "max": "2020-12-31", "bins": {"every": "month"}},
        ],
    }
)
BINS = {"bins": {"age": {"width": 4}}}
KINDS = {
    "mean": {"by": ["age"]},
    "sum": {"by": ["age"]},
    "quantile": {"by": ["age"], "at": [0.25, 0.5]},
    "gini": {"by": ["age"]},
    "gap": {"by": ["age"], "between": {"sex": ["F", "M"]}},
    "both": {"by": ["sex", "age"]},
}


def question(kind, **more):
    document = {"name": kind, "kind": "mean" if kind == "both" else kind, "of": "pay", **KINDS[kind], **BINS, **more}
    [made] = Questions.of([document]).questions
    Questions.of([document]).checked(SCHEMA)
    return made


@pytest.fixture(scope="module")
def codes():
    rng = np.random.default_rng(3)
    return np.stack([rng.integers(0, a.size, 4000) for a in SCHEMA.domain().attributes])


def test_means_are_those_of_the_records_in_each_bin(codes):
    got = evaluate(question("mean"), codes, SCHEMA)
    middles = np.arange(5) * 2 + 1.0
    assert got.axes[0].labels == ("0 to under 4", "4 to under 8", "8 to under 12")
    assert got.values == pytest.approx([middles[codes[2][codes[1] // 4 == k]].mean() for k in range(3)])


def test_dates_are_put_into_quarters(codes):
    got = evaluate(question("mean", by=["day"], bins={"day": {"every": "quarter"}}), codes, SCHEMA)
    assert got.axes[0].labels == ("2020-Q1", "2020-Q2", "2020-Q3", "2020-Q4")
    assert got.values[1] == pytest.approx((codes[2][codes[3] // 3 == 1] * 2 + 1.0).mean())


def table_of(codes, names):
    shape = SCHEMA.domain().shape(names)
    rows = [codes[SCHEMA.domain().names.index(n)] for n in names]
    return np.bincount(np.ravel_multi_index(rows, shape), minlength=int(np.prod(shape))).reshape(shape).astype(float)


@pytest.mark.parametrize("kind", KINDS)
def test_answers_from_a_table_of_counts_are_those_of_the_records(kind, codes):
    asks = question(kind)
    wanted = asked(asks, SCHEMA, lambda names: table_of(codes, names))
    direct = evaluate(asks, codes, SCHEMA)
    assert wanted.axes == tuple(direct.axes)
    flat = np.full(int(np.prod(wanted.shape)), np.nan)
    for quantity, place in wanted.parts:
        table = table_of(codes, quantity.attributes)
        centre = quantity.values(table)
        flat[place] = quantity.interval(table, centre, np.zeros(len(centre)))[0]
    assert flat == pytest.approx(direct.values.ravel())


@pytest.mark.parametrize("kind", KINDS)
def test_influences_are_what_one_more_record_in_a_cell_changes(kind, codes):
    step = 1e-4
    for quantity, _ in asked(question(kind), SCHEMA, lambda names: table_of(codes, names)).parts:
        table = table_of(codes, quantity.attributes)
        influence, before = quantity.influence(table), quantity.values(table)
        assert influence.shape == (len(before), *table.shape)
        for cell in ((0,) * table.ndim, tuple(s - 1 for s in table.shape), tuple(s // 2 for s in table.shape)):
            more = table.copy()
            more[cell] += step
            assert influence[(slice(None), *cell)] == pytest.approx((quantity.values(more) - before) / step, abs=1e-4)
        assert (quantity.sizes(table) is None) == (kind == "sum")


def test_the_table_that_is_measured_is_as_coarse_as_the_bins():
    [need] = compile_question(question("gap"), SCHEMA)
    assert need.maps["age"].size == 3 and need.maps["sex"].size == 2
    assert "age" not in need.whole and "pay" in need.means


def test_bins_of_another_column_are_refused():
    with pytest.raises(QuestionError, match="not in its 'by'"):
        question("mean", by=["sex"])


def test_a_question_of_too_many_groups_is_answered_in_bins_before_it_is_paid():
    document = SCHEMA.document()
    document["attributes"][1] |= {"max": 99_999, "bins": {"count": 10_000}}
    document["attributes"][3] |= {"min": "1900-01-01", "bins": {"every": "day"}}
    large = Schema.of(document)
    ask = {"name": "pay", "kind": "mean", "of": "pay", "by": ["age", "day"]}
    with pytest.raises(QuestionError, match="give bins to columns of many values"):
        Questions.of([ask]).checked(large)
    Questions.of([ask | {"bins": {"age": {"width": 10_000}, "day": {"every": "year"}}}]).checked(large)


def test_a_question_without_bins_is_the_same_document_as_before():
    [made] = Questions.of([{"name": "pay", "kind": "mean", "of": "pay", "by": ["age"]}]).questions
    assert plain(made) == {"name": "pay", "kind": "mean", "of": "pay", "by": ["age"]}
    assert "bins" in plain(question("mean"))
