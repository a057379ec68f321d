"""Fits of regressions against SciPy and NumPy on records with weights: coefficients, covariance, undetermined terms."""

import numpy as np
import pytest
from scipy.optimize import minimize

from dpsyn_core.questions.document import Questions
from dpsyn_core.questions.evaluation import evaluate
from dpsyn_core.questions.meaning import numbers_of
from dpsyn_core.questions.regress import DesignMatrix, fit_linear, fit_logistic
from tests.questions.small import codes, schema


def matrix(x, y, weights):
    return DesignMatrix(
        terms=("intercept", *(f"x{i}" for i in range(1, x.shape[1]))),
        x=x,
        y=np.asarray(y, float),
        weights=np.asarray(weights, float),
        keep=np.arange(len(y)),
    )


def drawn(seed, n=200, terms=3):
    rng = np.random.default_rng(seed)
    x = np.column_stack([np.ones(n), rng.normal(3, 2, (n, terms - 1))])
    return rng, x, rng.uniform(0.1, 3, n)


@pytest.mark.parametrize("seed", range(3))
def test_least_squares_are_those_of_numpy_with_the_textbook_covariance(seed):
    rng, x, w = drawn(seed)
    y = x @ [2.0, -1.0, 0.5] + rng.normal(0, 1.5, len(x))
    beta, covariance = fit_linear(matrix(x, y, w))
    root = np.sqrt(w)
    expected, rest, *_ = np.linalg.lstsq(x * root[:, None], y * root, rcond=None)
    assert beta == pytest.approx(expected, rel=1e-9)
    assert covariance == pytest.approx(np.linalg.inv((x * w[:, None]).T @ x) * rest / (w.sum() - 3), rel=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_logistic_fits_have_the_largest_likelihood_and_the_inverse_information_as_covariance(seed):
    rng, x, w = drawn(seed)
    y = rng.random(len(x)) < 1 / (1 + np.exp(-(x @ [0.5, -0.6, 0.3])))
    beta, covariance = fit_logistic(matrix(x, y, w))

    def loss(b):
        eta = x @ b
        return np.sum(w * (np.logaddexp(0, eta) - y * eta))

    best = minimize(loss, np.zeros(3), jac=lambda b: x.T @ (w * (1 / (1 + np.exp(-x @ b)) - y)), tol=1e-10)
    assert beta == pytest.approx(best.x, abs=1e-5)
    p = 1 / (1 + np.exp(-x @ beta))
    assert covariance == pytest.approx(np.linalg.inv((x * (w * p * (1 - p))[:, None]).T @ x), rel=1e-4)


@pytest.mark.parametrize("fit", [fit_linear, fit_logistic])
def test_a_term_that_follows_from_those_before_it_is_undetermined_and_leaves_the_others_alone(fit):
    rng, x, w = drawn(5)
    y = rng.random(len(x)) < 0.4
    more = np.column_stack([x, x[:, 1] + 2 * x[:, 2], np.zeros(len(x))])
    beta, covariance = fit(matrix(more, y, w))
    alone, narrow = fit(matrix(x, y, w))
    assert np.isnan(beta[3:]).all() and np.isnan(covariance[3:]).all() and np.isnan(covariance[:, 3:]).all()
    assert beta[:3] == pytest.approx(alone, rel=1e-6) and covariance[:3, :3] == pytest.approx(narrow, rel=1e-6)


@pytest.mark.parametrize("fit", [fit_linear, fit_logistic])
@pytest.mark.parametrize("weights", [np.zeros(6), -np.ones(6)])
def test_no_weight_determines_nothing(fit, weights):
    x = np.column_stack([np.ones(6), np.arange(6.0)])
    beta, covariance = fit(matrix(x, [0, 1, 0, 1, 1, 0], weights))
    assert np.isnan(beta).all() and np.isnan(covariance).all()
    assert beta.shape == (2,) and covariance.shape == (2, 2)


def test_records_of_negative_weight_count_as_none():
    rng, x, w = drawn(7)
    y = x @ [1.0, 2.0, 3.0] + rng.normal(size=len(x))
    signed = np.where(np.arange(len(x)) % 3 == 0, -w, w)
    kept = signed > 0
    assert fit_linear(matrix(x, y, signed))[0] == pytest.approx(fit_linear(matrix(x[kept], y[kept], w[kept]))[0])


@pytest.mark.parametrize("y", [np.zeros(40), np.ones(40), np.arange(40) >= 20])
def test_a_logistic_model_without_an_estimate_says_so_for_all_terms(y):
    """The outcome does not vary, or a term separates its values."""
    beta, covariance = fit_logistic(matrix(np.column_stack([np.ones(40), np.arange(40.0)]), y, np.ones(40)))
    assert np.isnan(beta).all() and np.isnan(covariance).all()


def test_units_of_a_column_change_its_coefficient_alone():
    rng, x, w = drawn(9)
    y = rng.random(len(x)) < 1 / (1 + np.exp(-(x @ [0.2, 0.7, -0.7])))
    scaled = x * [1, 1e6, 1e-6]
    for fit in (fit_linear, fit_logistic):
        assert fit(matrix(scaled, y, w))[0] * [1, 1e6, 1e-6] == pytest.approx(fit(matrix(x, y, w))[0], rel=1e-5)


def test_few_records_leave_one_degree_of_freedom():
    x = np.column_stack([np.ones(3), [0.0, 1.0, 2.0]])
    y = np.array([0.0, 3.0, 0.0])
    half = np.full(3, 0.5)  # 1.5 records less 2 terms
    rest = y - x @ np.linalg.lstsq(x, y, rcond=None)[0]
    expected = np.linalg.inv(x.T @ (x * half[:, None])) * (half * rest**2).sum()
    assert fit_linear(matrix(x, y, half))[1] == pytest.approx(expected)


@pytest.mark.parametrize("exact", [False, True])
def test_a_formula_is_fitted_on_the_columns_that_it_names(exact):
    """Numbers and their functions from exact values where they are given, categories against their first value."""
    table, people = codes(500), schema()
    number = {n: numbers_of(people[n])[table[people.domain().index(n)]] for n in ("AGE", "PAY")}
    if exact:
        number["AGE"] = number["AGE"] + np.random.default_rng(0).uniform(-2, 2, 500)
    sex, city = table[1], table[0]
    kept = (sex < 2) & ~np.isnan(number["PAY"])
    age = number["AGE"][kept]
    columns = {
        "intercept": np.ones(kept.sum()), "square(AGE)": age**2, "log1p(AGE)": np.log1p(age),
        "SEX = Female": sex[kept] == 1, "CITY = B": city[kept] == 1, "CITY = C": city[kept] == 2,
    }  # fmt: skip
    x = np.column_stack([*columns.values()]).astype(float)
    document = {"name": "q", "kind": "regression", "formula": "PAY ~ square(AGE) + log1p(AGE) + SEX + CITY"}
    [question] = Questions.of([document]).checked(people).questions
    answer = evaluate(question, table, people, values={"AGE": number["AGE"]} if exact else {})
    assert answer.axes[0].labels == tuple(columns)
    assert answer.values == pytest.approx(np.linalg.lstsq(x, number["PAY"][kept], rcond=None)[0], rel=1e-6)


@pytest.mark.parametrize(("value", "code"), [(None, 1), ("Male", 0), ("Female", 1)])
def test_the_odds_of_the_named_value_are_explained_and_of_the_last_one_by_default(value, code):
    table, people = codes(500), schema()
    document = {"name": "q", "kind": "regression", "of": "SEX", "on": ["CITY"], "model": "logistic"}
    [question] = Questions.of([document | ({} if value is None else {"value": value})]).checked(people).questions
    answer = evaluate(question, table, people)
    odds = [np.mean(table[1][(table[0] == city) & (table[1] < 2)] == code) for city in range(3)]
    logit = np.log(odds) - np.log1p(-np.array(odds))
    assert answer.values == pytest.approx([logit[0], logit[1] - logit[0], logit[2] - logit[0]], abs=1e-5)
    assert answer.unit == "log odds of SEX"
