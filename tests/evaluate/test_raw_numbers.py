"""Scores of exact numbers: against scipy, by hand, and blind to bins."""

import dataclasses

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate.comparison import Comparison
from dpsyn_core.evaluate.correlations import RankCorrelation, columns
from dpsyn_core.evaluate.loader import compare_tables
from dpsyn_core.evaluate.number_shapes import NumberRanges, Tails, Wasserstein, distance, expected_distance
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.domain import CodedAttribute, Domain


def comparison(real, synthetic):
    """Numbers that all fall into one of two bins, so that a metric of bins would see next to nothing."""
    names = list(real)
    domain = Domain(tuple(CodedAttribute(name=n, size=2, ordered=True) for n in names))

    def codes(table):
        return np.stack([(np.nan_to_num(x, nan=0.0) > 1e9).astype(np.uint8) for x in table.values()])

    return Comparison(
        domain=domain, real=codes(real), synthetic=codes(synthetic), real_values=real, synthetic_values=synthetic
    )


def test_the_distance_is_that_of_scipy_and_counts_in_interquartile_ranges():
    rng = np.random.default_rng(1)
    a, b = np.sort(rng.normal(0, 3, 400)), np.sort(rng.normal(1, 4, 300))
    assert distance(a, b) == pytest.approx(stats.wasserstein_distance(a, b))
    score = Wasserstein().compute(comparison({"a": a}, {"a": b}))
    low, high = np.quantile(a, [0.25, 0.75])
    assert score.value == pytest.approx(stats.wasserstein_distance(a, b) / (high - low))


def test_a_constant_moved_by_one_is_off_by_one():
    score = Wasserstein().compute(comparison({"a": np.full(5, 7.0)}, {"a": np.full(9, 8.0)}))
    assert score.value == pytest.approx(1.0)


def test_the_floor_of_the_distance_is_what_fresh_samples_score():
    rng = np.random.default_rng(2)
    real = np.sort(rng.exponential(5.0, 2000))
    seen = [distance(real, np.sort(rng.choice(real, 500))) for _ in range(300)]
    # the mean of 300 distances has a relative standard error of about 2 %
    assert expected_distance(real, 500) == pytest.approx(np.mean(seen), rel=0.08)


def test_rank_correlations_are_those_of_scipy_on_records_that_have_both_values():
    rng = np.random.default_rng(3)
    a = rng.normal(size=300)
    b, c = np.round(a + rng.normal(size=300), 1), rng.normal(size=300)
    b[:20] = np.nan
    score = RankCorrelation().compute(comparison({"a": a, "b": b}, {"a": a, "b": c}))
    there = ~np.isnan(b)
    # ranked among the records that have both, as pandas does
    real = stats.spearmanr(a[there], b[there]).statistic
    assert score.value == pytest.approx(abs(real - stats.spearmanr(a, c).statistic), abs=1e-6)
    assert score.details["max"] == score.value


def test_shuffling_inside_a_bin_is_seen():
    rng = np.random.default_rng(4)
    a = rng.normal(size=1000)
    c = comparison({"a": a, "b": a * 2}, {"a": a, "b": rng.permutation(a * 2)})
    assert RankCorrelation().compute(c).value > 0.9
    assert Wasserstein().compute(c).value == 0.0


def test_tails_count_what_lies_beyond_three_interquartile_ranges():
    real = np.concatenate([np.linspace(0, 1, 97), [50.0, 60.0, -40.0]])
    synthetic = np.concatenate([np.linspace(0, 1, 99), [50.0]])
    score = Tails().compute(comparison({"a": real}, {"a": synthetic}))
    assert score.value == pytest.approx(0.02)
    assert score.details["columns"][0]["real"] == pytest.approx(0.03)


def test_range_questions_are_answered_by_exact_values():
    real = np.arange(100.0)
    shifted = comparison({"a": real, "b": real}, {"a": real + 0.5, "b": real})
    same = comparison({"a": real, "b": real}, {"a": real, "b": real})
    assert NumberRanges().compute(same).value == 0.0
    assert 0 < NumberRanges().compute(shifted).value <= 0.01  # at most the one value at an end


@pytest.mark.parametrize("metric", [Wasserstein(), RankCorrelation(), Tails(), NumberRanges()])
def test_a_table_without_numbers_is_refused_in_a_sentence(metric):
    c = comparison({"a": np.full(3, np.nan)}, {"a": np.full(3, np.nan)})
    bare = dataclasses.replace(c, real_values={}, synthetic_values={})
    with pytest.raises(MetricError, match="number"):
        metric.compute(bare)


def test_columns_without_a_single_number_are_left_out():
    c = comparison({"a": np.full(3, np.nan), "b": np.arange(3.0)}, {"a": np.full(3, 1.0), "b": np.arange(3.0)})
    assert [x.name for x in columns(c)] == ["b"]


def test_numbers_whose_squares_have_no_float_are_taken_for_the_ends_of_their_range():
    attribute = {"name": "x", "kind": "numeric", "dtype": "float", "min": 0, "max": 10}
    schema = Schema.of({"version": 1, "name": "t", "attributes": [attribute]})
    real = pa.table({"x": ["1", "2", "1e308", "-1e308", "inf", "11"]})
    compared = compare_tables(schema, pa.table({"x": ["1", "2", "3"]}), real=real)
    assert compared.real_values["x"].tolist() == [1, 2, 10, 0, 10, 11]
