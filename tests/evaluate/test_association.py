"""Associations against scipy, scikit-learn, pandas and SDMetrics; itemsets against a plain loop; pMSE by its laws."""

import dataclasses
import itertools
import json
import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from sdmetrics.column_pairs import CorrelationSimilarity
from sklearn.metrics import mutual_info_score

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate import associations as contingency
from dpsyn_core.evaluate import itemsets
from dpsyn_core.evaluate.associations import CramersV, MutualInformation, associations
from dpsyn_core.evaluate.comparison import Comparison
from dpsyn_core.evaluate.correlations import CorrelationMatrix, Spearman, correlation_matrix
from dpsyn_core.evaluate.itemsets import FrequentItemsets, frequent
from dpsyn_core.evaluate.learning import Propensity
from dpsyn_core.schema.domain import CodedAttribute, Domain
from tests.evaluate.tables import SIZES, draw, small

METRICS = (CramersV(), MutualInformation(), Spearman(), CorrelationMatrix(), FrequentItemsets(), Propensity())


def test_cramers_v_and_mutual_information_equal_scipy_and_scikit_learn():
    c = small()
    found = associations(c)
    for k, (a, b) in enumerate(found.pairs):
        i, j = c.domain.index(a), c.domain.index(b)
        for which, codes in enumerate((c.real, c.synthetic)):
            table = pd.crosstab(codes[i], codes[j]).to_numpy()
            want = scipy.stats.contingency.association(table, method="cramer", correction=False)
            assert found.cramers_v[which, k] == pytest.approx(want, abs=1e-9)
            assert found.mutual_information[which, k] == pytest.approx(mutual_info_score(codes[i], codes[j]), abs=1e-9)


def test_spearman_equals_scipy_and_leaves_out_missing_values():
    domain = Domain((
        CodedAttribute(name="x", size=7, ordered=True, special=1),
        CodedAttribute(name="y", size=6, ordered=True, special=2),
        CodedAttribute(name="z", size=3),
    ))  # fmt: skip
    rng = np.random.default_rng(0)
    codes = np.stack([rng.integers(0, 7, 500), rng.integers(0, 6, 500), rng.integers(0, 3, 500)]).astype(np.uint8)
    codes[1, :250] = np.minimum(codes[0, :250], 5)
    c = Comparison(domain=domain, real=codes, synthetic=codes[:, 100:])
    found = associations(c)
    for which, t in enumerate((c.real, c.synthetic)):
        keep = (t[0] < 6) & (t[1] < 4)
        want = scipy.stats.spearmanr(t[0, keep], t[1, keep]).statistic
        assert found.spearman[which, 0] == pytest.approx(want)
    assert np.isnan(found.spearman[0, 1:]).all()
    score = Spearman().compute(c)
    assert score.details["attributes"] == [["x", "y"]]


def test_large_pairs_are_counted_sparsely_to_the_same_numbers(monkeypatch):
    c = small(n=300, m=200)
    want, top = associations(c), frequent(c.real_counter, c.real, c.domain, 20)
    for module in (contingency, itemsets):
        monkeypatch.setattr(module, "DENSE_CELLS", 1)
    monkeypatch.setattr("dpsyn_core.evaluate.distances.DENSE_CELLS", 1)
    got = associations(dataclasses.replace(c))
    np.testing.assert_allclose(got.cramers_v, want.cramers_v)
    np.testing.assert_allclose(got.mutual_information, want.mutual_information)
    assert frequent(c.real_counter, c.real, c.domain, 20) == top


def test_correlation_matrix_equals_pandas_pairwise_complete():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4, 300)) * np.array([[1], [1e6], [1e-6], [1]]) + np.array([[0], [1e9], [0], [5]])
    x[3] += x[0]
    x[0, :40] = np.nan
    x[2, 30:90] = np.nan
    want = pd.DataFrame(x.T).corr().to_numpy()
    np.testing.assert_allclose(correlation_matrix(list(x)), want, atol=1e-5)


def test_a_constant_column_is_correlated_and_associated_with_nothing():
    got = correlation_matrix([np.full(5, 3.0), np.arange(5.0), np.array([np.nan] * 5)])
    np.testing.assert_array_equal(got, np.eye(3))
    c = small(n=200, m=200)
    real = c.real.copy()
    real[0] = 4
    c = dataclasses.replace(c, real=real)
    found = associations(c)
    at = [k for k, p in enumerate(found.pairs) if "age" in p]
    assert (found.cramers_v[0, at] == 0).all()
    assert (found.mutual_information[0, at] == 0).all()
    assert (found.spearman[0, at][~np.isnan(found.spearman[0, at])] == 0).all()
    for metric in METRICS:
        json.dumps(metric.compute(c).to_json(), allow_nan=False)


def test_correlation_similarity_agrees_with_sdmetrics():
    c = small()
    frames = [
        pd.DataFrame(codes.T.astype(float), columns=list(SIZES))[["age", "pay"]] for codes in (c.real, c.synthetic)
    ]
    similarity = CorrelationSimilarity.compute(frames[0], frames[1], coefficient="Pearson")
    assert CorrelationMatrix().compute(c).value == pytest.approx(2 * (1 - similarity), abs=1e-5)
    ranked = CorrelationSimilarity.compute(frames[0], frames[1], coefficient="Spearman")
    assert Spearman().compute(c).value == pytest.approx(2 * (1 - ranked), abs=1e-9)


def test_frequent_itemsets_equal_a_plain_loop_with_ties_included():
    c = small(n=300, m=300)
    for codes, counter in ((c.real, c.real_counter), (c.synthetic, c.synthetic_counter)):
        counts = Counter(
            s for record in codes.T.tolist() for k in (2, 3) for s in itertools.combinations(enumerate(record), k)
        )
        for top in (1, 7, 40):
            last = sorted(counts.values(), reverse=True)[top - 1]
            assert frequent(counter, codes, c.domain, top) == {s: n for s, n in counts.items() if n >= last}


def test_itemset_recall_counts_what_both_tables_share():
    c = small()
    score = FrequentItemsets(top=30).compute(c)
    real = frequent(c.real_counter, c.real, c.domain, 30)
    synthetic = frequent(c.synthetic_counter, c.synthetic, c.domain, 30)
    assert score.value == len(real.keys() & synthetic.keys()) / len(real)
    assert all(" = " in m["itemset"] for m in score.details["missed"])


def test_equal_tables_score_their_best_and_blurred_ones_worse():
    c = small(n=1500, m=1500, blur=0.6)
    same = dataclasses.replace(c, synthetic=c.real)
    for metric in METRICS:
        best = metric.compute(same).value
        assert best == pytest.approx(1.0 if metric.goal == "high" else 0.0, abs=1e-6)
        value = metric.compute(c).value
        assert value < best - 0.01 if metric.goal == "high" else value > best + 0.001
        assert metric.minimum <= value <= (metric.maximum or np.inf)


@pytest.mark.slow
def test_pmse_of_a_fresh_sample_of_the_real_table_is_its_floor():
    rng = np.random.default_rng(0)
    real = draw(1000, 1)
    ratios = []
    for _ in range(60):
        c = Comparison(domain=small().domain, real=real, synthetic=real[:, rng.integers(0, 1000, 800)])
        ratios.append(Propensity().compute(c).details["ratio"])
    # the ratio is near chi-square over its 9 degrees of freedom: deviation .47, of the mean of 60 .06
    assert abs(np.mean(ratios) - 1) < 5 * 0.06
    assert Propensity().compute(small(blur=0.9)).details["ratio"] > 5


def test_association_needs_two_attributes_and_correlation_two_numbers():
    one = Comparison(domain=Domain.of({"a": 3}), real=draw(9, 1)[[2]] % 3, synthetic=draw(9, 2)[[2]] % 3)
    for metric in (CramersV(), MutualInformation(), Spearman(), CorrelationMatrix()):
        with pytest.raises(MetricError, match=r"needs two"):
            metric.compute(one)
    with pytest.raises(MetricError, match="needs two"):
        FrequentItemsets().compute(one)


def test_corrected_v_is_that_of_bergsma_and_0_where_a_column_tells_every_record_apart():
    rng = np.random.default_rng(0)
    for n, left, right in ((40, 3, 5), (300, 2, 2), (25, 12, 4), (3, 2, 2)):
        x, y = rng.integers(0, left, n), rng.integers(0, right, n)
        y[: n // 2] = x[: n // 2] % right
        table = pd.crosstab(x, y).to_numpy()
        phi = scipy.stats.chi2_contingency(table, correction=False).statistic / n
        r, c = table.shape
        phi = max(0.0, phi - (r - 1) * (c - 1) / (n - 1))
        least = min(k - (k - 1) ** 2 / (n - 1) for k in (r, c)) - 1
        rows, columns = np.nonzero(table)
        found = contingency.corrected_v((rows, columns, table[rows, columns].astype(float)))
        assert found == pytest.approx(math.sqrt(min(1.0, phi / least)) if least > 0 else 0.0)
    alone = np.arange(6)
    assert contingency.corrected_v((alone, alone % 2, np.ones(6))) == 0.0
    assert contingency.corrected_v((np.zeros(1, int), np.zeros(1, int), np.ones(1))) == 0.0
    assert contingency.corrected_v((np.zeros(2, int), np.arange(2), np.ones(2))) == 0.0
