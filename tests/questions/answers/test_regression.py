"""Regressions: what is refused and why, and coefficients against those of the real records."""

import numpy as np
import pytest

from dpsyn_core.estimate.marginals.types import Measurement
from dpsyn_core.questions.answers.evidence import Evidence
from dpsyn_core.questions.answers.regression import fit, infer_regression
from dpsyn_core.questions.document import Questions
from dpsyn_core.schema.document import Schema

SCHEMA = Schema.of(
    {
        "version": 1,
        "name": "few",
        "attributes": [
            {"name": n, "kind": "categorical", "values": ["u", "v"] if n != "c" else ["p", "q", "r"]}
            for n in ("y", "a", "b", "c")
        ],
    }
)
DOMAIN = SCHEMA.domain()
ALL = [("y", "a"), ("y", "b"), ("y", "c"), ("a", "b"), ("a", "c"), ("b", "c")]


def records(rng, n=4000, *, never=False):
    a, b, c = rng.integers(0, 2, n), rng.integers(0, 2, n), rng.integers(0, 3, n)
    y = (rng.random(n) < 1 / (1 + np.exp(0.5 - a - 0.5 * (c == 2)))).astype(int)
    y = np.where(never & (c == 0), 0, y)  # the first value of c never has the outcome
    return np.array([y, a, b, c], dtype=np.uint8)


def ask(on, pairs, codes, redrawn, *, model="logistic", sigma=5.0, truth="table"):
    measured = [
        Measurement(attributes=DOMAIN.ordered_set(p), values=np.full(DOMAIN.shape(DOMAIN.ordered_set(p)), 100.0),
                    sigma=sigma) for p in pairs
    ]  # fmt: skip
    question = Questions.of([{"name": "q", "kind": "regression", "of": "y", "on": on, "model": model}]).questions[0]
    evidence = Evidence(DOMAIN, measured, n_public=4000)
    return question, infer_regression(question, SCHEMA, evidence, codes, redrawn, truth=truth, confidence=0.95)


@pytest.fixture(scope="module")
def tables():
    """Stand-ins for a synthetic table and ten refits: fresh samples of the same law."""
    return [records(np.random.default_rng(i)) for i in range(11)]


def test_coefficients_are_those_of_the_table_with_twice_the_spread_of_the_refits(tables):
    question, got = ask(["a", "c"], ALL, tables[0], tables[1:])
    betas = np.array([fit(question, SCHEMA, DOMAIN, t, 4000).beta for t in tables])
    assert got.terms == ("intercept", "a = v", "c = q", "c = r")
    assert got.estimate == pytest.approx(betas[0])
    half = 2.262157 * np.sqrt(2 * betas[1:].var(axis=0, ddof=1))
    assert (got.high - got.low) / 2 == pytest.approx(half, rel=1e-4)
    assert set(got.grades) == {"estimated"} and not got.warning
    assert (got.low[1] < 1 < got.high[1]) and (got.low[3] < 0.5 < got.high[3])


def test_the_population_is_known_less_well(tables):
    _, table = ask(["a", "c"], ALL, tables[0], tables[1:])
    _, people = ask(["a", "c"], ALL, tables[0], tables[1:], truth="population")
    assert (people.high - people.low > table.high - table.low).all()


@pytest.mark.parametrize(
    ("on", "pairs", "said"),
    [
        (["a", "b"], [("y", "a"), ("a", "b")], "'y' with 'b' was not measured"),
        (["a", "b", "c"], [("a", "b"), ("a", "c"), ("b", "c")], "'y' with 'a', 'b', 'c' was not measured"),
    ],
)
def test_a_pair_with_the_outcome_that_was_not_measured_is_a_refusal(tables, on, pairs, said):
    _, got = ask(on, pairs, tables[0], tables[1:])
    assert set(got.grades) == {"none"} and np.isnan(got.low).all()
    assert said in got.warning


def test_a_pair_of_predictors_that_was_not_measured_is_a_warning(tables):
    _, got = ask(["a", "b"], [("y", "a"), ("y", "b")], tables[0], tables[1:])
    assert set(got.grades) == {"bounded"}
    assert "'a' with 'b'" in got.warning


def test_terms_that_nearly_separate_the_outcomes_are_refused_with_what_is_compared_with_them():
    tables = [records(np.random.default_rng(i), never=True) for i in range(11)]
    _, got = ask(["a", "c"], ALL, tables[0], tables[1:])
    assert got.grades[0] == got.grades[2] == got.grades[3] == "none"
    assert all(w for w in got.why if w) and np.isnan(got.low[[0, 2, 3]]).all()


def test_a_term_with_fewer_records_than_the_noise_of_a_cell_tells_apart_is_refused(tables):
    _, got = ask(["a", "c"], ALL, tables[0], tables[1:], sigma=2000.0)
    assert set(got.grades) == {"none"}
    assert all("too few to stand out from noise" in w for w in got.why)


def test_too_few_refits_give_no_interval(tables):
    _, got = ask(["a"], ALL, tables[0], tables[1:3])
    assert set(got.grades) == {"none"} and "2 refits" in got.warning
