"""Formulas of models: what they mean, and that others are refused in a sentence."""

import numpy as np
import pytest

from dpsyn_core.errors import QuestionError
from dpsyn_core.questions.document import Questions
from dpsyn_core.questions.evaluation import evaluate
from dpsyn_core.questions.formula import Formula
from dpsyn_core.schema.document import Schema

SCHEMA = Schema.of(
    {
        "version": 1,
        "name": "patients",
        "attributes": [
            {"name": "age", "kind": "numeric", "dtype": "integer", "min": 20, "max": 59, "bins": {"count": 40}},
            {"name": "crp level", "kind": "numeric", "dtype": "integer", "min": 1, "max": 100, "bins": {"count": 100}},
            {"name": "ward", "kind": "categorical", "values": ["a", "b", "c"]},
            {"name": "treated", "kind": "categorical", "values": [0, 1]},
            {"name": "died", "kind": "categorical", "values": ["no", "yes"]},
        ],
    }
)


def question(formula, **more):
    given = {"name": "q", "kind": "regression", "formula": formula, **more}
    return Questions.of([given]).checked(SCHEMA).questions[0]


def said(formula):
    read = Formula.of(formula)
    return str(read.outcome), [":".join(map(str, term)) for term in read.terms]


@pytest.mark.parametrize(
    ("formula", "outcome", "terms"),
    [
        ("y ~ a", "y", ["a"]),
        (" y~a+b ", "y", ["a", "b"]),
        ("y ~ a*b", "y", ["a", "b", "a:b"]),
        ("y ~ b + a:b + a*b", "y", ["b", "a:b", "a"]),
        ("y ~ a*b*c", "y", ["a", "b", "c", "a:b", "a:c", "b:c", "a:b:c"]),
        ("log1p(y) ~ log( a ) + square(a) + sqrt(b)", "log1p(y)", ["log(a)", "square(a)", "sqrt(b)"]),
        ('"a ~ b" ~ "say ""x""" + log', "a ~ b", ['say "x"', "log"]),
        ("y ~ a:a", "y", ["a:a"]),
    ],
)
def test_a_formula_means_its_products_each_once_in_the_order_in_which_they_appear(formula, outcome, terms):
    assert said(formula) == (outcome, terms)


@pytest.mark.parametrize(
    "formula",
    ["", "y", "y ~", "~ a", "y ~ a +", "y ~ + a", "y ~ a b", "y ~ sin(a)", "y ~ a*b:c", "y ~ (a)", "y ~ a ~ b",
     "y ~ a - b", "y ~ a*b*c*d", 'y ~ "a', "y ~ 1a"],
)  # fmt: skip
def test_what_is_no_formula_is_refused_in_one_sentence(formula):
    with pytest.raises(QuestionError, match=r"^the formula .* cannot be read; write outcome ~ a"):
        Formula.of(formula)


def test_a_hundred_factors_are_refused_at_once():
    with pytest.raises(QuestionError, match="products of at most 3"):
        Formula.of("y ~ " + "*".join(f"a{i}" for i in range(100)))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"formula": "died ~ height", "model": "logistic"}, "'height' is no column"),
        ({"formula": "died ~ log(ward)", "model": "logistic"}, "'ward' holds no numbers"),
        ({"formula": "age ~ log(treated)"}, r"log\(treated\) has no value for some numbers of its range"),
        ({"formula": "died ~ died:age", "model": "logistic"}, "names 'died' twice"),
        ({"formula": "sqrt(died) ~ age", "model": "logistic"}, "without a function"),
        ({"formula": "died ~ age"}, "holds no numbers"),
        ({"formula": "age ~ ward", "of": "age"}, "remove 'of' and 'on'"),
        ({"of": "age"}, "needs a formula"),
    ],
)
def test_a_model_that_the_schema_does_not_have_is_refused(given, words):
    with pytest.raises(QuestionError, match=words):
        Questions.of([{"name": "q", "kind": "regression", **given}]).checked(SCHEMA)


def test_a_formula_is_all_that_stands_in_its_document():
    asked = question("died ~ age*ward", model="logistic")
    document = Questions.of([asked]).document()
    assert document["questions"] == [
        {"name": "q", "kind": "regression", "formula": "died ~ age*ward", "model": "logistic"}
    ]
    assert Questions.of(document).questions == (asked,)
    assert asked.attributes == ("died", "age", "ward")


def test_coefficients_are_those_of_least_squares_on_the_terms():
    rng = np.random.default_rng(0)
    codes = np.array([rng.integers(0, a.size - a.special, 500) for a in SCHEMA.domain().attributes], dtype=np.uint8)
    age, crp, ward, treated = codes[0] + 20.0, codes[1] + 1.0, codes[2], codes[3].astype(float)
    got = evaluate(question('log(age) ~ square("crp level") + "crp level":treated + treated*ward'), codes, SCHEMA)
    b, c = (ward == 1).astype(float), (ward == 2).astype(float)
    x = np.column_stack([np.ones(500), crp**2, crp * treated, treated, b, c, treated * b, treated * c])
    assert got.axes[0].labels == (
        "intercept", "square(crp level)", "crp level:treated", "treated", "ward = b", "ward = c", "treated:ward = b",
        "treated:ward = c",
    )  # fmt: skip
    assert got.values == pytest.approx(np.linalg.lstsq(x, np.log(age), rcond=None)[0], rel=1e-6, abs=1e-9)
