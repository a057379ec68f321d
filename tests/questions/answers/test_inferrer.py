"""Intervals from few tables, put together by hand: half-widths, grades, and what is learnt from tables left out."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import norm
from scipy.stats import t as student

from dpsyn_core.estimate.marginals.coarsening import Coarsening
from dpsyn_core.estimate.marginals.types import Measurement
from dpsyn_core.questions.answers.calibration import ErrorModel, dependence
from dpsyn_core.questions.answers.evidence import Evidence
from dpsyn_core.questions.answers.functionals import Batch, count, onto, reach, sampling
from dpsyn_core.questions.answers.intervals import GRADES, Inferrer, reaching
from dpsyn_core.questions.answers.quantities import WeightedCounts
from dpsyn_core.schema.domain import Domain

DOMAIN = Domain.of({"a": 3, "b": 4, "c": 2})
Z, T = norm.ppf(0.975), student.ppf(0.975, 3)
HALVES = Coarsening.of([0, 0, 1, 1])
LEARNT = {
    "of_pairs": ErrorModel(sampling=1.1, dependence=0.4, factor=1.5),
    "of_triples": ErrorModel(sampling=1.2, dependence=0.6, factor=2.0),
    "of_cells": ErrorModel(sampling=1.3, dependence=0.9, factor=1.2),
}


def records(seed, n=500):
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 3, n)
    return np.stack([a, np.where(rng.random(n) < 0.5, a, rng.integers(0, 4, n)), rng.integers(0, 2, n)]).astype(
        np.uint8
    )


def table(names, seed=9, sigma=3.0, **recodes):
    counts = count(records(0), DOMAIN, names)
    values = np.asarray(counts) if not recodes else None
    if values is None:
        values = np.stack([counts[:, :2].sum(axis=1), counts[:, 2:].sum(axis=1)], axis=1)
    noise = np.random.default_rng(seed).normal(0, sigma, values.shape)
    return Measurement(attributes=names, values=values + noise, sigma=sigma, recodes=recodes)


def inferrer(*tables, refits=4, pure=False, scores=None, learnt=True, **fits):
    evidence = Evidence(DOMAIN, list(tables), n_public=500, scores=scores, pure=pure)
    drawn = [records(k) for k in range(1, refits + 1)]
    given = {"codes": records(0), "redrawn": drawn, "totals": [510.0] * refits, "left_out": [], "pairs_alone": None}
    made = Inferrer(evidence, SimpleNamespace(**given | fits), rng=np.random.default_rng(0))
    if learnt:
        made.__dict__.update(LEARNT)
    return made


def counts(names, seed=3, k=2):
    shape = [DOMAIN[n].size for n in names]
    return WeightedCounts(attributes=names, weights=np.random.default_rng(seed).normal(size=(k, *shape)))


def spread(q, refits=4):
    return np.std([q.values(count(records(k), DOMAIN, q.attributes)) for k in range(1, refits + 1)], axis=0, ddof=1)


def half(found):
    return (found.high - found.low) / 2


def test_a_half_width_grows_by_twice_what_released_cells_say_beyond_half_of_theirs():
    ones = np.ones(5)
    apart = np.array([0.0, 0.5, -0.75, 2.0, np.nan])
    found = reaching(ones * 3, apart, ones, agreeing=0.5)
    assert found.tolist() == [3.0, 3.0, 3.5, 5.0, 3.0]


@pytest.mark.parametrize("pure", [False, True])
def test_one_column_has_the_interval_of_its_noisy_cells(pure):
    one, q = table(("a",)), counts(("a",))
    found = inferrer(one, pure=pure).infer(q)
    for k, w in enumerate(q.weights):
        cells = (w**2).sum() ** 2 / (w**4).sum()
        z = Z + (Z**3 - 3 * Z) / 24 * 3 / cells if pure else Z
        assert half(found)[k] == pytest.approx(z * 3 * math.sqrt((w**2).sum()))
        assert found.estimate[k] == pytest.approx((w * one.values).sum()) == found.released[k]
        assert found.noise[k] == pytest.approx(3 * math.sqrt((w**2).sum()))
    assert found.grades == ["exact"] * 2
    assert found.synthetic == pytest.approx(q.values(count(records(0), DOMAIN, ("a",))))


def test_a_measured_pair_has_the_spread_of_refits_or_most_of_its_noise_and_reaches_its_cells():
    for sigma, refits in ((0.01, 4), (30.0, 4)):
        two, q = table(("a", "b"), sigma=sigma), counts(("a", "b"))
        found = inferrer(two, refits=refits).infer(q)
        exact = Z * sigma * np.sqrt((q.weights**2).sum(axis=(1, 2)))
        fitted = q.values(count(records(0), DOMAIN, ("a", "b")))
        apart = abs((q.weights * two.values).sum(axis=(1, 2)) - fitted)
        least = np.maximum(T * spread(q), 0.8 * exact)
        assert half(found) == pytest.approx(least + np.minimum(2 * np.maximum(apart - 0.5 * exact, 0), apart))
        assert found.grades == ["exact"] * 2 and found.estimate == pytest.approx(fitted)
    many = inferrer(two).infer(q, truth="population", confidence=0.9)
    z, t = norm.ppf(0.95), student.ppf(0.95, 3)
    exact = z * 30.0 * np.sqrt((q.weights**2).sum(axis=(1, 2)))
    least = np.maximum(t * spread(q), 0.8 * exact)
    near = least + np.minimum(2 * np.maximum(apart - 0.5 * exact, 0), apart)
    inner = count(records(0), DOMAIN, ("a", "b"))
    middle = fitted / 500
    drawn = [((w - m) ** 2 * inner).sum() for w, m in zip(q.weights, middle, strict=True)]
    assert half(many) == pytest.approx(np.sqrt(near**2 + z**2 * np.array(drawn)))


def test_one_refit_has_the_quantile_of_one_degree_of_freedom_and_no_spread():
    found = inferrer(table(("a", "b")), refits=1).infer(counts(("a", "b")))
    assert found.grades == ["none"] * 2 and np.isnan(found.low).all()
    two = inferrer(table(("a", "b"), sigma=0.01), refits=2).infer(counts(("a", "b")))
    wide = student.ppf(0.975, 1) * spread(counts(("a", "b")), 2)
    assert (half(two) >= wide * (1 - 1e-9)).all()


def test_what_lies_inside_coarse_values_widens_an_estimated_interval():
    two, q = table(("a", "b"), b=HALVES), counts(("a", "b"))
    made = inferrer(two, scores={("a", "b"): 200.0})
    found = made.infer(q)
    fitted = count(records(0), DOMAIN, ("a", "b"))
    read = made.evidence.read(two, Batch(attributes=("a", "b"), weights=q.weights), made.margins)
    coarse = np.stack([fitted[:, :2].sum(axis=1), fitted[:, 2:].sum(axis=1)], axis=1)
    exact = Z * np.sqrt(read.variance)
    apart = abs(read.values - (read.weights * coarse).sum(axis=(1, 2)))
    near = np.maximum(T * spread(q), 0.8 * exact)
    near = near + np.minimum(2 * np.maximum(apart - 0.5 * exact, 0), apart)
    strength = max(dependence(coarse), 200.0 / 500)
    inside = 1.2**2 * (1.3 * sampling(read.inside, fitted) + 0.9 * (reach(read.inside, fitted) * strength) ** 2)
    assert half(found) == pytest.approx(np.sqrt(near**2 + Z**2 * inside))
    assert found.grades == ["estimated"] * 2


@pytest.mark.parametrize("score", [150.0, 0.4, -3.0])
def test_a_pair_that_nothing_measured_is_bounded_by_its_score(score):
    q = counts(("a", "b"))
    made = inferrer(table(("a",)), table(("b",)), scores={("a", "b"): score})
    found = made.infer(q)
    inner = onto(Batch(attributes=("a", "b"), weights=q.weights), ("a", "b"), made.margins)
    fitted = count(records(0), DOMAIN, ("a", "b"))
    strength = max(score, 0.0) / 500
    extra = 1.5**2 * (1.1 * sampling(inner, fitted) + 0.4 * (reach(inner, fitted) * strength) ** 2)
    assert half(found) == pytest.approx(1.3 * np.sqrt((T * spread(q)) ** 2 + Z**2 * extra))
    assert found.grades == ["bounded"] * 2 and np.isnan(found.released).all()
    assert inferrer(table(("a",)), table(("b",))).infer(q).grades == ["none"] * 2, "without a score nothing is known"


def test_three_columns_of_measured_pairs_are_estimated_by_their_weakest_pair():
    pairs = [table(p) for p in (("a", "b"), ("a", "c"), ("b", "c"))]
    q, made = counts(("a", "b", "c")), inferrer(*[table(p) for p in (("a", "b"), ("a", "c"), ("b", "c"))])
    found = made.infer(q)
    fitted = count(records(0), DOMAIN, ("a", "b", "c"))
    weakest = min(dependence(count(records(0), DOMAIN, t.attributes)) for t in pairs)
    assert made.weakest(("a", "b", "c")) == pytest.approx(weakest)
    inner = onto(Batch(attributes=("a", "b", "c"), weights=q.weights), ("a", "b", "c"), made.margins)
    extra = 2.0**2 * (1.2 * sampling(inner, fitted) + 0.6 * (reach(inner, fitted) * weakest) ** 2)
    assert half(found) == pytest.approx(np.sqrt((T * spread(q)) ** 2 + Z**2 * extra))
    assert found.grades == ["estimated"] * 2 and GRADES == ("exact", "estimated", "bounded", "none")


def test_runs_of_one_column_lie_evenly_inside():
    runs, q = Measurement(attributes=("b",), values=np.array([200.0, 300.0]), sigma=4.0, recodes={"b": HALVES}), None
    q = WeightedCounts(attributes=("b",), weights=np.array([[1.0, 0, 0, 0], [1.0, 1.0, 0, 0]]))
    found = inferrer(runs).infer(q)
    fitted = count(records(0), DOMAIN, ("b",))
    first = fitted[:2].sum()
    apart = abs(100.0 - fitted[0]), abs(200.0 - first)
    assert found.grades == ["estimated", "exact"]
    exact = Z * 4 * math.sqrt(0.25)
    near = exact + min(2 * max(apart[0] - 0.5 * exact, 0), apart[0])
    inside = first / 4  # half of the records of both values, times a half each
    assert half(found)[0] == pytest.approx(math.sqrt(near**2 + (Z * inside) ** 2))
    assert half(found)[1] == pytest.approx(Z * 4)


def test_what_is_left_out_teaches_by_its_score_and_triples_by_their_weakest_pair():
    rng = np.random.default_rng(1)
    many = [table(("a", "b"), seed=k) for k in range(3)]
    left = [([("a", "b")], records(5))] * 3
    made = inferrer(*many[:1], scores={("a", "b"): 100.0}, learnt=False, left_out=left)
    assert made.of_pairs.learnt == 3 * 24 and made.of_cells.learnt == 0
    none = inferrer(*many[:1], learnt=False, left_out=left)
    assert none.of_pairs.learnt == 0 and (none.of_pairs.dependence, none.of_pairs.factor) == (1.0, 1.25)
    weak = inferrer(*many[:1], scores={("a", "b"): -100.0}, learnt=False, left_out=left)
    assert weak.of_pairs.dependence == 0.3, "no reach says nothing of dependence; pairs have the least that is used"
    three = Measurement(attributes=("a", "b", "c"), values=rng.normal(20, 5, (3, 4, 2)), sigma=2.0)
    assert inferrer(three, learnt=False, pairs_alone=records(6)).of_triples.learnt == 0  # 24 probes are too few
    assert inferrer(three, learnt=False).of_triples.dependence == 1.0
