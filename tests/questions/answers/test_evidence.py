"""What released tables say about functionals: each cell by itself, and tables put together by their noise."""

import math

import numpy as np
import pytest

from dpsyn_core.errors import SizeError
from dpsyn_core.estimate.marginals.coarsening import Coarsening
from dpsyn_core.estimate.marginals.types import Measurement
from dpsyn_core.questions.answers import functionals
from dpsyn_core.questions.answers.evidence import Evidence
from dpsyn_core.questions.answers.functionals import Batch, centred, count, merged_weights, reach, sampling
from dpsyn_core.schema.domain import Domain

DOMAIN = Domain.of({"a": 3, "b": 4, "c": 2, "d": 1})
HALVES = Coarsening.of([0, 0, 1, 1])
MARGINS = {"a": np.array([0.2, 0.3, 0.5]), "b": np.array([0.1, 0.3, 0.0, 0.6]), "c": np.array([0.5, 0.5])}


def table(names, seed=0, sigma=2.0, shared="", **recodes):
    shape = [recodes[n].size if n in recodes else DOMAIN[n].size for n in names]
    values = np.random.default_rng(seed).normal(20, 5, shape)
    return Measurement(attributes=names, values=values, sigma=sigma, recodes=recodes, shared=shared)


def held(*tables, **more):
    return Evidence(DOMAIN, list(tables), **({"n_public": None} | more))


def batch(names, seed=1, k=3):
    shape = [DOMAIN[n].size for n in names]
    return Batch(attributes=names, weights=np.random.default_rng(seed).normal(size=(k, *shape)))


def test_a_table_covers_attributes_whose_values_it_keeps_apart():
    one = Coarsening.of([0, 0, 0])
    tables = [table(("a", "b"), b=HALVES), table(("a", "c"), a=one), table(("b", "d"))]
    found = held(*tables)
    for names, expected in (
        (("a",), [0]), (("b",), [0, 2]), (("c",), [1]), (("d",), [2]), (("a", "c"), []), ((), [0, 1, 2]),
    ):  # fmt: skip
        assert [t.attributes for t in found.covering(names)] == [tables[i].attributes for i in expected]
        assert found.covered(names) == bool(expected)
    assert found.joint == found.tables and held(table(("a",))).joint == []


def test_the_number_of_records_is_the_public_one_or_else_the_released_or_that_of_the_records_made():
    assert held(n_public=7, made=9).total == 7.0 and held(made=9).total == 9.0
    total = Measurement(attributes=(), values=np.array(123.0), sigma=1.0)
    assert held(total, made=9).total == pytest.approx(123.0)
    scored = held(n_public=50, scores={("a", "b"): 20.0})
    assert scored.strength(("a", "b"), 0.3) == 0.4 and scored.strength(("a", "b"), 0.5) == 0.5
    assert scored.strength(("a", "c"), 0.3) == 0.3
    assert held(scores={("a", "b"): 20.0}).strength(("a", "b"), 0.3) == 20.0, "of one record at least"


def test_what_a_finer_table_says_is_the_weighted_sum_of_its_margin_with_the_noise_of_its_cells():
    given, asked = table(("a", "b", "c")), batch(("a", "b"))
    got = held(given).read(given, asked, MARGINS)
    margin = given.values.sum(axis=2)
    for k, w in enumerate(asked.weights):
        assert got.values[k] == pytest.approx((w * margin).sum())
        assert got.variance[k] == pytest.approx(4 * 2 * (w**2).sum()), "two cells of the table each"
        assert got.cells[k] == pytest.approx(2 * (w**2).sum() ** 2 / (w**4).sum())
    assert got.inside is None and got.aligned.all() and got.weights is asked.weights
    nothing = held(given).read(given, Batch(attributes=("a",), weights=np.zeros((1, 3))), MARGINS)
    assert (nothing.values.tolist(), nothing.variance.tolist(), nothing.cells.tolist()) == ([0.0], [0.0], [8.0])


def test_a_coarse_table_says_averages_and_what_is_inside_its_values_stays_open():
    given = table(("a", "b"), b=HALVES)
    asked = batch(("a", "b"))
    asked.weights[1][:, 1], asked.weights[1][:, 3] = asked.weights[1][:, 0], asked.weights[1][:, 2]
    got = held(given).read(given, asked, MARGINS)
    assert got.aligned.tolist() == [False, True, False]
    for k, w in enumerate(asked.weights):
        low = (0.1 * w[:, 0] + 0.3 * w[:, 1]) / 0.4
        coarse = np.stack([low, w[:, 3]], axis=1)  # the third value has no mass, so that the fourth is the average
        assert got.weights[k] == pytest.approx(coarse, abs=1e-9)
        assert got.inside[k] == pytest.approx(w - coarse[:, [0, 0, 1, 1]], abs=1e-9)
        assert got.values[k] == pytest.approx((coarse * given.values).sum())
        assert got.variance[k] == pytest.approx(4 * (coarse**2).sum())
    averaged, left = merged_weights(asked.weights, [None, HALVES], [MARGINS["a"], np.zeros(4)])
    assert averaged[..., 0] == pytest.approx(asked.weights[..., :2].mean(axis=-1))
    assert left == pytest.approx(asked.weights - averaged[..., [0, 0, 1, 1]])


def test_tables_are_put_together_by_the_inverse_of_their_noise():
    tables = [table(("a", "b"), 1, sigma=2.0), table(("a", "c"), 2, sigma=5.0), table(("b", "c"), 3)]
    asked = batch(("a",))
    mean, variance, cells = held(*tables).known(asked, MARGINS)
    reads = [held(t).read(t, asked, MARGINS) for t in tables[:2]]
    for k in range(3):
        weights = [1 / r.variance[k] for r in reads]
        assert variance[k] == pytest.approx(1 / sum(weights))
        assert mean[k] == pytest.approx(sum(w * r.values[k] for w, r in zip(weights, reads, strict=True)) * variance[k])
        assert cells[k] == pytest.approx(max(r.cells[k] for r in reads))
    none = held(tables[2]).known(asked, MARGINS)
    assert np.isnan(none[0]).all() and np.isinf(none[1]).all() and none[2].tolist() == [1.0] * 3
    total = Batch(attributes=(), weights=np.array([1.0, 0.5]))
    assert [x.tolist() for x in held(*tables, n_public=80).known(total, {})] == [[80.0, 40.0], [0.0, 0.0], [1.0, 1.0]]
    assert held(*tables).known(total, {})[0][0] != 80.0


def test_of_tables_that_share_their_noise_the_one_with_the_least_is_read():
    first, second = table(("a", "b"), 1, shared="x"), table(("a", "c"), 2, shared="x")
    asked = batch(("a",))
    mean, variance, cells = held(first, second).known(asked, MARGINS)
    finer = held(second).read(second, asked, MARGINS)  # two cells each, where the other has four
    assert mean == pytest.approx(finer.values) and variance == pytest.approx(finer.variance)
    assert cells == pytest.approx(finer.cells)


def test_counts_and_what_moves_them_are_those_of_the_records(monkeypatch):
    codes = np.array([[0, 1, 2, 2], [3, 3, 0, 0], [1, 0, 1, 1], [0, 0, 0, 0]], dtype=np.uint8)
    got = count(codes, DOMAIN, ("a", "c"))
    assert got.tolist() == [[0, 1], [1, 0], [0, 2]] and count(codes, DOMAIN, ()).tolist() == 4.0
    weights = np.array([[[1.0, -2.0], [0.5, 0.0], [-1.0, 3.0]]])
    assert Batch(attributes=("a", "c"), weights=weights).of(got).tolist() == [4.5]
    signed = got - 0.0
    signed[0, 0] = -5.0
    assert sampling(weights, signed).tolist() == [4.0 + 0.25 + 18.0] and reach(weights, signed).tolist() == [8.5 / 2]
    shifted = centred(weights, got)
    assert (shifted * got).sum() == pytest.approx(0.0) and (weights - shifted) == pytest.approx(4.5 / 4)
    assert centred(weights, np.zeros((3, 2))) is not weights and (centred(weights, np.zeros((3, 2))) == weights).all()
    monkeypatch.setattr(functionals, "MOST_CELLS", 6)
    assert count(codes, DOMAIN, ("a", "c")).size == 6
    with pytest.raises(SizeError, match="8 cells, above the cap of 6"):
        count(codes, DOMAIN, ("b", "c"))
    assert math.prod(count(codes, DOMAIN, ("b",)).shape) == 4
