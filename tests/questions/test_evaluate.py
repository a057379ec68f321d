"""Answers of questions on codes, against pandas and brute force."""

import numpy as np
import pandas as pd
import pytest

from dpsyn_core.evaluate.income import Incomes, group_statistics
from dpsyn_core.questions.document import Questions
from dpsyn_core.questions.evaluation import evaluate
from dpsyn_core.questions.meaning import coarse_of, numbers_of, spans
from dpsyn_core.questions.regress import design, fit_logistic
from dpsyn_core.schema.document import Schema
from tests.questions.small import codes, schema


def one(document):
    [question] = Questions.of([{"name": "q"} | document]).checked(schema()).questions
    return question


def frame(table):
    s = schema()
    made = pd.DataFrame({a.name: table[i] for i, a in enumerate(s.coded)})
    made["pay"] = numbers_of(s["PAY"])[table[3]]
    return made


def test_means_sums_and_gaps_are_those_of_pandas_and_leave_special_cells_out():
    table, f = codes(), frame(codes())
    mean = evaluate(one({"kind": "mean", "of": "PAY", "by": ["CITY", "SEX"]}), table, schema())
    assert mean.values.shape == (3, 3)
    expected = f.groupby(["CITY", "SEX"]).pay.mean().unstack().to_numpy()
    assert mean.values == pytest.approx(expected)
    total = evaluate(one({"kind": "sum", "of": "PAY"}), table, schema())
    assert float(total.values) == pytest.approx(f.pay.sum()) and total.scales
    gap = evaluate(
        one({"kind": "gap", "of": "PAY", "by": ["CITY"], "between": {"SEX": ["Female", "Male"]}}), table, schema()
    )
    assert gap.values == pytest.approx(expected[:, 1] - expected[:, 0])
    assert [a.labels for a in gap.axes] == [("A", "B", "C")]


def test_weights_count_a_record_so_often():
    table = codes(60)
    times = np.random.default_rng(1).integers(0, 4, 60)
    for document in (
        {"kind": "mean", "of": "PAY", "by": ["CITY"]},
        {"kind": "quantile", "of": "PAY", "at": [0.3, 0.5]},
        {"kind": "gini", "of": "PAY"},
        {"kind": "range", "where": "AGE in [18, 40]"},
        {"kind": "table", "of": ["CITY", "SEX"]},
        {"kind": "predict", "of": "SEX"},
        {"kind": "regression", "of": "PAY", "on": ["AGE", "CITY"]},
        {"kind": "regression", "of": "SEX", "on": ["AGE"], "model": "logistic"},
    ):
        a = evaluate(one(document), table, schema(), weights=times.astype(float))
        b = evaluate(one(document), np.repeat(table, times, axis=1), schema())
        assert a.values == pytest.approx(b.values, nan_ok=True), document


def test_exact_numbers_are_used_where_they_are_given():
    table = codes(50)
    x = np.random.default_rng(3).integers(0, 1000, 50).astype(float)
    real = np.where(np.isnan(numbers_of(schema()["PAY"])[table[3]]), np.nan, x)
    values = {"PAY": x}
    mean = evaluate(one({"kind": "mean", "of": "PAY"}), table, schema(), values=values)
    assert float(mean.values) == pytest.approx(np.nanmean(real))
    median = evaluate(one({"kind": "quantile", "of": "PAY"}), table, schema(), values=values)
    assert float(median.values[0]) == pytest.approx(np.nanmedian(real))
    within = evaluate(one({"kind": "range", "where": "PAY in [100, 300]"}), table, schema(), values=values)
    assert float(within.values) == np.sum((real >= 100) & (real <= 300))


def test_gini_is_the_trapezoid_index_of_the_report():
    table = codes(300)
    f = frame(table).dropna()
    expected = group_statistics(
        Incomes(group=f.CITY.to_numpy(), side=np.zeros(len(f), int), income=f.pay.to_numpy())
    ).gini
    got = evaluate(one({"kind": "gini", "of": "PAY", "by": ["CITY"]}), table, schema())
    assert got.values == pytest.approx(expected)


def test_a_quantile_of_bins_lies_inside_the_bin_where_it_is_reached():
    table = np.zeros((6, 10), dtype=np.uint8)
    table[2] = [0] * 4 + [1] * 6  # ages 0-4 and 5-9
    got = evaluate(one({"kind": "quantile", "of": "AGE", "at": [0.2, 0.7]}), table, schema())
    assert got.values == pytest.approx([2.0, 7.0])


def test_ranges_take_their_part_of_a_bin_and_every_way_of_writing_a_value():
    table = np.zeros((6, 40), dtype=np.uint8)
    table[2] = np.repeat(np.arange(4), 10)  # 0-4, 5-9, 10-14, 15-19
    table[1, ::2] = 1

    def count(where):
        return float(evaluate(one({"kind": "range", "where": where}), table, schema()).values)

    assert count("AGE in [0, 9]") == 20
    assert count("AGE in [0, 6]") == pytest.approx(14)
    assert count("AGE = 3") == 2
    assert count("AGE in [5, 9] and SEX = Female") == 5
    assert count('"SEX" in {Male, "Female"}') == 40
    assert count("SEX = (missing)") == 0
    assert count("KIDS in [0, 1] and BORN in {1900}") == 40


def test_a_table_has_one_figure_a_coarse_cell():
    table = codes(200)
    question = one({"kind": "table", "of": ["AGE", "CITY"], "bins": {"AGE": {"edges": [18, 65]}}})
    got = evaluate(question, table, schema())
    assert got.axes[0].labels == ("under 18", "18 to under 65", "65 and more")
    assert got.values.shape == (3, 3) and got.values.sum() == 200
    recode, labels = coarse_of(schema()["CITY"], one(
        {"kind": "table", "of": ["CITY"], "bins": {"CITY": {"groups": [["A", "C"]]}}}).bins["CITY"])  # fmt: skip
    assert recode.map.tolist() == [0, 1, 0] and labels == ["A or C", "(all others)"]


def test_prediction_says_how_much_each_column_tells_of_the_target():
    table = codes(500)
    table[4] = table[0]  # KIDS now follows from CITY
    got = evaluate(one({"kind": "predict", "of": "KIDS"}), table, schema())
    told = dict(zip(got.axes[0].labels, got.values, strict=True))
    assert told["CITY"] == pytest.approx(1.0)
    assert told["AGE"] < 0.2


def test_linear_regression_is_least_squares_and_logistic_satisfies_its_equations():
    table = codes(400)
    f = frame(table)
    f = f[(f.SEX < 2) & f.pay.notna()]
    ages = numbers_of(schema()["AGE"])
    x = np.column_stack([np.ones(len(f)), ages[f.AGE], f.SEX == 1])
    expected = np.linalg.lstsq(x, f.pay.to_numpy(), rcond=None)[0]
    got = evaluate(one({"kind": "regression", "of": "PAY", "on": ["AGE", "SEX"]}), table, schema())
    assert got.axes[0].labels == ("intercept", "AGE", "SEX = Female")
    assert got.values == pytest.approx(expected)
    question = one({"kind": "regression", "of": "SEX", "on": ["PAY", "CITY"], "model": "logistic"})
    columns = {a.name: table[i] for i, a in enumerate(schema().coded)}
    made = design(
        question, columns, schema(), numbers=lambda n: numbers_of(schema()[n])[columns[n]], weights=np.ones(400)
    )
    beta, covariance = fit_logistic(made)
    p = 1 / (1 + np.exp(-made.x @ beta))
    assert made.x.T @ (made.y - p) == pytest.approx(np.zeros(4), abs=1e-5 * len(p))
    assert np.linalg.inv((made.x * (p * (1 - p))[:, None]).T @ made.x) == pytest.approx(covariance, rel=1e-4)


def test_a_logistic_model_whose_terms_separate_the_outcome_has_no_coefficients():
    table = codes(80)
    table[1] = (table[0] == 2).astype(np.uint8)
    got = evaluate(one({"kind": "regression", "of": "SEX", "on": ["CITY"], "model": "logistic"}), table, schema())
    assert np.isnan(got.values).all()


def test_terms_that_repeat_others_have_no_coefficient_of_their_own():
    table = codes(120)
    table[5] = table[2] * 2  # a date that follows from the age
    question = one({"kind": "regression", "of": "PAY", "on": ["AGE", "CITY"]})
    table[0] = 1  # a single city is left
    got = dict(evaluate(question, table, schema()).rows())
    assert np.isnan(got["CITY = C",]) and not np.isnan(got["AGE",])


def test_no_records_give_an_answer_for_every_form():
    from tests.questions.test_document import ALL

    empty = codes(0)
    for question in Questions.of(ALL).checked(schema()).questions:
        got = evaluate(question, empty, schema())
        assert all(v == 0 or np.isnan(v) for v in got.values.ravel()), question.name
        assert got.plain()["question"] == question.name


def test_the_median_of_numbers_in_steps_is_one_of_them_and_no_point_between_two():
    fine = {"name": "fine", "kind": "numeric", "dtype": "float", "min": 0, "max": 2, "step": 0.25}
    made = Schema.of({"version": 1, "name": "t", "attributes": [fine]})
    table = np.array([[0] * 7 + [2] * 3], dtype=np.uint8)
    asked = Questions.of([{"name": "m", "kind": "quantile", "of": "fine", "at": [0.5, 0.9]}]).questions[0]
    got = evaluate(asked, table, made)
    assert got.values.tolist() == [0, 0.5]
    low, high = spans(made["fine"])
    assert low.tolist() == high.tolist(), "each bin of it holds one number"
