"""Marginal distances against brute force, scipy, SDMetrics, and by their laws."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from sdmetrics.column_pairs import ContingencySimilarity
from sdmetrics.single_column import TVComplement

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate import distances as module
from dpsyn_core.evaluate.comparison import Comparison
from dpsyn_core.evaluate.distances import FreshSample, binomial_deviations, marginal_distances, sampled_sets
from dpsyn_core.evaluate.tvd import KWayTVD, OneWayTVD, PairwiseTVD, ThreeWayTVD
from dpsyn_core.schema.domain import CodedAttribute, Domain
from tests.evaluate.tables import SIZES, brute, draw, small, small_domain


def swapped(c):
    return Comparison(domain=c.domain, real=c.synthetic, synthetic=c.real)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_distances_equal_a_plain_loop(order):
    c = small(n=300, m=200)
    found = marginal_distances(c, c.domain.subsets(order))
    for names, tvd, l1 in zip(found.sets, found.tvd, found.l1, strict=True):
        index, shape = [c.domain.index(n) for n in names], c.domain.shape(names)
        gap = brute(c.real, index, shape) / 300 - brute(c.synthetic, index, shape) / 200
        assert tvd == pytest.approx(abs(gap).sum() / 2, abs=1e-12)
        assert l1 == pytest.approx(abs(gap).sum(), abs=1e-12)


def test_chi_square_equals_scipy_on_the_two_by_cells_table():
    c = small()
    found = marginal_distances(c, c.domain.subsets(2))
    for names, chi2, dof in zip(found.sets, found.chi2, found.dof, strict=True):
        index, shape = [c.domain.index(n) for n in names], c.domain.shape(names)
        table = np.stack([brute(c.real, index, shape).ravel(), brute(c.synthetic, index, shape).ravel()])
        want = scipy.stats.chi2_contingency(table[:, table.sum(axis=0) > 0], correction=False)
        assert chi2 == pytest.approx(want.statistic, rel=1e-9)
        assert dof == want.dof


def test_one_and_two_way_tvd_equal_sdmetrics():
    c = small()
    frames = [pd.DataFrame(codes.T, columns=list(SIZES)).astype(str) for codes in (c.real, c.synthetic)]
    one = marginal_distances(c, c.domain.singletons())
    for (name,), tvd in zip(one.sets, one.tvd, strict=True):
        assert 1 - tvd == pytest.approx(TVComplement.compute(frames[0][name], frames[1][name]), abs=1e-9)
    two = marginal_distances(c, c.domain.subsets(2))
    for names, tvd in list(zip(two.sets, two.tvd, strict=True))[:4]:
        want = ContingencySimilarity.compute(frames[0][list(names)], frames[1][list(names)])
        assert 1 - tvd == pytest.approx(want, abs=1e-9)


def test_a_table_is_at_distance_nought_from_itself_and_one_from_a_disjoint_one():
    c = small()
    same = marginal_distances(Comparison(domain=c.domain, real=c.real, synthetic=c.real), c.domain.subsets(2))
    assert same.tvd.max() == 0
    assert same.chi2.max() == 0
    domain = Domain.of({"a": 2, "b": 2})
    zeros, ones = np.zeros((2, 5), np.uint8), np.ones((2, 3), np.uint8)
    assert PairwiseTVD().compute(Comparison(domain=domain, real=zeros, synthetic=ones)).value == 1


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 2**31))
def test_tvd_is_symmetric_and_within_nought_and_one_and_grows_with_order(n, m, seed):
    c = Comparison(domain=small_domain(), real=draw(n, seed), synthetic=draw(m, seed + 1, 0.5))
    sets = [s for k in (1, 2, 3) for s in c.domain.subsets(k)]
    here, there = marginal_distances(c, sets), marginal_distances(swapped(c), sets)
    np.testing.assert_allclose(here.tvd, there.tvd, atol=1e-12)
    np.testing.assert_allclose(here.chi2, there.chi2, rtol=1e-9, atol=1e-12)
    assert here.tvd.min() >= 0
    assert here.tvd.max() <= 1
    by_set = dict(zip(here.sets, here.tvd, strict=True))
    for names in c.domain.subsets(3):
        assert all(by_set[names] >= by_set[pair] - 1e-12 for pair in itertools.combinations(names, 2))


def test_mean_absolute_deviation_equals_a_sum_over_the_binomial():
    for p in (0.5, 0.2, 0.9):
        got = binomial_deviations(np.arange(30), p)
        for k in range(30):
            x = np.arange(k + 1)
            want = (scipy.stats.binom.pmf(x, k, p) * abs(x - k * p)).sum()
            assert got[k] == pytest.approx(want, rel=1e-9, abs=1e-12)


def test_two_parts_of_the_real_table_are_as_far_apart_as_the_fresh_sample_says():
    """The two means that a fresh sample is read off follow exactly from the counts."""
    rng = np.random.default_rng(3)
    counts = np.array([1, 1, 1, 2, 3, 7, 40])
    for n, m in ((counts.sum(), counts.sum()), (counts.sum(), 20)):
        fresh = FreshSample(int(n), int(m))
        share = m / (n + m)
        for row, kept in ((0, 1.0), (1, 0.5)):
            whole = rng.binomial(counts, kept, (40_000, len(counts)))
            one = rng.binomial(whole, share)
            rest = whole - one
            apart = abs(one / (kept * n * share) - rest / (kept * n * (1 - share))).sum(axis=1)
            error = apart.std() / 200
            assert abs(fresh.deviations[row, counts].sum() - apart.mean()) < 5 * error


@pytest.mark.parametrize("law", ["uniform", "zipf", "alone", "mixed"])
@pytest.mark.parametrize(("n", "m"), [(3000, 3000), (3000, 800), (3000, 12000)])
def test_floor_is_what_other_samples_of_the_same_people_score(law, n, m):
    """Also of tables whose values are mostly rare, of which a sample of the real records would be twice as near."""
    weight = {
        "uniform": np.ones(60),
        "zipf": 1 / np.arange(1, 3001),
        "alone": np.ones(10**5),
        "mixed": np.append(np.full(10, 100.0), np.full(4000, 0.2)),
    }[law]
    rng = np.random.default_rng(5)
    domain = Domain((CodedAttribute(name="x", size=len(weight)), CodedAttribute(name="y", size=2)))
    floor, tvd = [], []
    for _ in range(4):
        tables = [
            np.stack([rng.choice(len(weight), k, p=weight / weight.sum()), np.zeros(k)]).astype(np.uint32)
            for k in (n, m)
        ]
        found = marginal_distances(Comparison(domain=domain, real=tables[0], synthetic=tables[1]), [("x",)])
        floor.append(found.floor[0])
        tvd.append(found.tvd[0])
    assert np.mean(floor) == pytest.approx(np.mean(tvd), rel=0.1)


def test_large_marginals_are_counted_sparsely_to_the_same_numbers(monkeypatch):
    c = small(n=300, m=200)
    sets = c.domain.subsets(3)
    dense = marginal_distances(c, sets)
    monkeypatch.setattr(module, "DENSE_CELLS", 1)
    sparse = marginal_distances(c, sets)
    for name in ("tvd", "chi2", "dof", "floor"):
        np.testing.assert_allclose(getattr(dense, name), getattr(sparse, name), rtol=1e-12, atol=1e-12)


def test_a_cell_product_above_two_to_the_64_does_not_overflow():
    domain = Domain.of({f"c{i}": 60_000 for i in range(6)})
    rng = np.random.default_rng(0)
    real = rng.integers(0, 60_000, (6, 50)).astype(np.uint16)
    synthetic = np.concatenate([real[:, :25], rng.integers(0, 60_000, (6, 25)).astype(np.uint16)], axis=1)
    found = marginal_distances(Comparison(domain=domain, real=real, synthetic=synthetic), [domain.names])
    assert found.tvd[0] == pytest.approx(0.5)


def test_sampled_sets_are_distinct_repeatable_and_in_domain_order():
    domain = Domain.of({f"c{i}": 2 for i in range(20)})
    sets = sampled_sets(domain, 3, 300, all_up_to=500, seed=4)
    assert len(set(sets)) == 300
    assert sets == sampled_sets(domain, 3, 300, all_up_to=500, seed=4)
    assert sets != sampled_sets(domain, 3, 300, all_up_to=500, seed=5)
    assert set(sets) <= set(domain.subsets(3))
    assert sampled_sets(domain, 2, 1, all_up_to=190, seed=4) == domain.subsets(2)
    every = sampled_sets(domain, 3, 1140, all_up_to=0, seed=1)
    assert every == domain.subsets(3)
    assert len(every) == 1140


def test_scores_carry_floor_worst_and_one_entry_a_marginal_as_json():
    c = small()
    for metric, sets in ((OneWayTVD(), 5), (PairwiseTVD(), 10), (ThreeWayTVD(), 10), (KWayTVD(order=4), 5)):
        score = json.loads(json.dumps(metric.compute(c).to_json(), allow_nan=False))
        assert 0 < score["floor"] < score["value"] < 1
        details = score["details"]
        assert len(details["marginals"]["tvd"]) == details["sets"] == sets
        assert details["max"] == details["worst"][0]["tvd"]
        assert set(details["by_attribute"]) == set(SIZES)
        assert not details["sampled"]


def test_an_order_above_the_number_of_attributes_is_refused():
    with pytest.raises(MetricError, match="no 6-way marginal of 5 attributes"):
        KWayTVD(order=6).compute(small())


@pytest.mark.parametrize(
    ("codes", "words"),
    [
        (np.zeros((5, 0), np.uint8), "no records"),
        (np.zeros((4, 3), np.uint8), "shape"),
        (np.zeros((5, 3), np.int64), "unsigned"),
        (np.full((5, 3), 9, np.uint8), "column 'sex'"),
    ],
)
def test_tables_that_do_not_fit_the_domain_are_refused(codes, words):
    with pytest.raises(MetricError, match=words):
        Comparison(domain=small_domain(), real=draw(5, 1), synthetic=codes)


def test_a_metric_that_reads_real_data_refuses_when_it_is_not_given():
    with pytest.raises(MetricError, match="reads the real table"):
        PairwiseTVD().compute(Comparison(domain=small_domain(), synthetic=draw(5, 1)))
