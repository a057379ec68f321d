"""Quantities against the answers that questions have on records, and influences against small changes of a count."""

import numpy as np
import pytest

from dpsyn_core.questions.answers.functionals import Batch, count, onto, subsets
from dpsyn_core.questions.answers.requests import asked
from dpsyn_core.questions.document import Questions
from dpsyn_core.questions.evaluation import evaluate
from tests.questions.small import codes, schema

FORMS = [
    {"kind": "table", "of": ["SEX", "CITY"]},
    {"kind": "table", "of": ["PAY", "AGE", "CITY"], "bins": {"AGE": {"width": 50}}},
    {"kind": "range", "where": "AGE in [13, 61] and CITY in {A, C}"},
    {"kind": "mean", "of": "PAY", "by": ["CITY"]},
    {"kind": "mean", "of": "AGE", "by": ["SEX", "CITY"]},
    {"kind": "mean", "of": "KIDS"},
    {"kind": "sum", "of": "PAY", "by": ["SEX"]},
    {"kind": "gini", "of": "PAY", "by": ["CITY"]},
    {"kind": "gap", "of": "PAY", "by": ["CITY"], "between": {"SEX": ["Male", "Female"]}},
    {"kind": "gap", "of": "AGE", "between": {"CITY": ["C", "A"]}},
    {"kind": "quantile", "of": "AGE", "by": ["SEX"], "at": [0.25, 0.5, 0.9]},
    {"kind": "quantile", "of": "KIDS"},
    {"kind": "predict", "of": "CITY", "from": ["PAY", "SEX"]},
]


def question(form):
    return Questions.of([{"name": "q", **form}]).checked(schema()).questions[0]


def parts(form, rows):
    s = schema()
    return asked(question(form), s, lambda names: count(rows, s.domain(), names))


@pytest.mark.parametrize("form", FORMS, ids=lambda f: f"{f['kind']}-{len(f)}-{f.get('of', '')}")
def test_a_quantity_gives_what_the_question_gives_on_the_same_records(form):
    rows, s = codes(), schema()
    wanted = evaluate(question(form), rows, s)
    found = parts(form, rows)
    assert [a.labels for a in found.axes] == [a.labels for a in wanted.axes]
    flat = np.full(wanted.values.size, -1.0)
    for quantity, place in found.parts:
        table = count(rows, s.domain(), quantity.attributes)
        values = quantity.values(table)
        flat[place] = quantity.interval(table, values, np.zeros(len(values)))[0]
    assert flat == pytest.approx(wanted.values.ravel(), rel=1e-9, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("form", FORMS, ids=lambda f: f"{f['kind']}-{len(f)}-{f.get('of', '')}")
def test_an_influence_is_what_a_small_part_of_a_record_changes(form):
    rows, s = codes(3000), schema()
    rng = np.random.default_rng(1)
    for quantity, _ in parts(form, rows).parts:
        table = count(rows, s.domain(), quantity.attributes) + 1.0
        weights = quantity.batch(table).weights
        for _ in range(5):
            cell = tuple(int(rng.integers(0, k)) for k in table.shape)
            more = table.copy()
            more[cell] += 1e-4
            slope = (quantity.values(more) - quantity.values(table)) / 1e-4
            assert weights[(slice(None), *cell)] == pytest.approx(slope, rel=1e-3, abs=1e-6)


def test_the_parts_of_weights_over_all_subsets_add_up_to_them():
    rng = np.random.default_rng(0)
    names, shape = ("a", "b", "c"), (3, 4, 2)
    margins = {n: rng.dirichlet(np.ones(k)) for n, k in zip(names, shape, strict=True)}
    batch = Batch(attributes=names, weights=rng.normal(size=(2, *shape)))
    whole = np.zeros_like(batch.weights)
    for some in [(), *subsets(names, 1)]:
        part = onto(batch, some, margins)
        whole += part.reshape(2, *(k if n in some else 1 for n, k in zip(names, shape, strict=True)))
        for axis, n in enumerate(some):
            assert np.tensordot(part, margins[n], axes=([axis + 1], [0])) == pytest.approx(0)
    assert whole == pytest.approx(batch.weights)
