"""Quantities against the answers that questions have on records, and influences against small changes of a count."""

import numpy as np
import pytest

from dpsyn_core.questions.answers.functionals import Batch, count, onto, subsets
from dpsyn_core.questions.answers.quantities import Explained
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
    {"kind": "predict", "of": "SEX"},
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


def first_part(form):
    quantity = parts(form, codes()).parts[0][0]
    return quantity, count(codes(), schema().domain(), quantity.attributes)


def test_a_gap_rests_on_the_smaller_side_that_has_a_number():
    form = {"kind": "gap", "of": "PAY", "by": ["CITY"], "between": {"SEX": ["Male", "Female"]}}
    quantity, table = first_part(form)
    rows = codes()
    plain = schema()["PAY"].size - schema()["PAY"].special
    has = ~np.isnan(quantity.numbers)[rows[3]]
    assert has.sum() >= (rows[3] < plain).sum()
    expected = [min(int(((rows[0] == c) & (rows[1] == s) & has).sum()) for s in (0, 1)) for c in range(3)]
    assert quantity.sizes(table).tolist() == expected
    (mean, _), *_ = parts({"kind": "mean", "of": "PAY", "by": ["CITY"]}, rows).parts
    whole = [int(((rows[0] == c) & has).sum()) for c in range(3)]
    assert mean.sizes(count(rows, schema().domain(), mean.attributes)).tolist() == whole
    (cells, _), *_ = parts({"kind": "table", "of": ["SEX", "CITY"]}, rows).parts
    assert cells.sizes(table) is None and cells.scales


def test_what_lies_below_a_quantile_is_the_part_of_each_value_under_it():
    (quantity, _), *_ = parts({"kind": "quantile", "of": "AGE", "by": ["SEX"], "at": [0.4]}, codes()).parts
    table = count(codes(), schema().domain(), quantity.attributes)
    low, high = quantity.ends
    for group, value in enumerate(quantity.quantiles(table, 0.4)):
        for k, (first, last) in enumerate(zip(low, high, strict=True)):
            inside = min(1.0, max(0.0, (value - first) / max(last - first, 1e-300)))
            expected = inside if last > first else float(first <= value)
            assert quantity.under[group, k] == pytest.approx(0.0 if np.isnan(expected) else expected)
    assert quantity.values(table) == pytest.approx([0.4] * len(quantity.under))
    estimate, below, above = quantity.interval(table, quantity.values(table), np.full(len(quantity.under), 0.1))
    assert estimate == pytest.approx(quantity.quantiles(table, 0.4))
    assert below == pytest.approx(quantity.quantiles(table, 0.3)) and above == pytest.approx(
        quantity.quantiles(table, 0.5)
    )


def test_a_share_that_is_explained_is_wider_by_what_chance_explains():
    rng = np.random.default_rng(3)
    table = rng.poisson(9, (4, 5)).astype(float)
    table[2] = 0.0  # an attribute of four values of which three occur
    quantity = Explained(attributes=("a", "b"), target=1, plain=4)
    kept = table[:, :4]
    shares = kept.sum(axis=0) / kept.sum()
    uncertain = -(shares * np.log(shares)).sum()
    given = kept / kept.sum()
    within = sum(
        -row.sum() * sum(p / row.sum() * np.log(p / row.sum()) for p in row if p) for row in given if row.sum()
    )
    assert quantity.values(table) == pytest.approx([1 - within / uncertain])
    by_chance = (3 - 1) * (4 - 1) / (2 * kept.sum() * uncertain)
    _, low, high = quantity.interval(table, np.array([0.5]), np.array([0.1]))
    assert (low, high) == (pytest.approx([0.4 - by_chance]), pytest.approx([0.6 + by_chance]))
    assert [x.tolist() for x in quantity.interval(table, np.array([0.5]), np.array([0.0]))] == [[0.5]] * 3
    few = np.zeros((4, 5))
    few[0, 0] = 0.4
    assert quantity.held(few).sum() == 0.0 and quantity.held(few * 2).sum() == pytest.approx(0.8)


def test_figures_stay_within_their_bounds():
    quantity = Explained(attributes=("a", "b"), target=1, plain=4)
    one = np.zeros((4, 5))
    one[:, 0] = 9.0  # nothing is uncertain
    _, low, high = quantity.interval(one, np.array([0.95, 0.02]), np.array([0.1, 0.1]))
    assert (low.tolist(), high.tolist()) == ([pytest.approx(0.85), 0.0], [1.0, pytest.approx(0.12)])
    estimate, low, high = quantity.interval(one, np.array([1.4, -0.3]), np.array([0.1, 0.1]))
    assert (estimate.tolist(), low.tolist(), high.tolist()) == ([1.0, 0.0], [1.0, 0.0], [1.0, 0.0])
