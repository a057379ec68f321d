"""The report from released values alone: expected errors, residuals, and that the real table is never read."""

import dataclasses
import math

import numpy as np
import pytest

from dpsyn_core.errors import MetricError
from dpsyn_core.estimate.marginals.coarsening import Coarsening
from dpsyn_core.estimate.marginals.types import Measurement
from dpsyn_core.evaluate.base import compute, names
from dpsyn_core.evaluate.comparison import Comparison
from dpsyn_core.evaluate.noise_error import expected_tvd, interval
from dpsyn_core.evaluate.released_fit import MeasuredFit, estimated_total, row_name
from tests.evaluate.tables import brute, draw, small_domain


def measured(codes, sigma, seed, coarse=False):
    """All pairs with Gaussian noise; age coarsely when asked."""
    domain, rng = small_domain(), np.random.default_rng(seed)
    recode = np.arange(12) // 3
    out = []
    for pair in domain.subsets(2):
        index, shape = [domain.index(n) for n in pair], domain.shape(pair)
        table = brute(codes, index, shape).astype(float)
        recodes = {}
        if coarse and "age" in pair:
            table, recodes = table.reshape(4, 3, -1).sum(axis=1), {"age": Coarsening.of(recode)}
        out.append(Measurement(attributes=pair, values=table + rng.normal(0, sigma, table.shape), sigma=sigma,
                               recodes=recodes))  # fmt: skip
    return out


def test_expected_tvd_and_interval_are_what_noise_does():
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 7, (2000, 50))
    tvd = abs(noise).sum(axis=1) / (2 * 1000)
    assert expected_tvd(50, 7, 1000) == pytest.approx(tvd.mean(), abs=5 * tvd.std() / math.sqrt(2000))
    assert (abs(noise) <= interval(7)).mean() == pytest.approx(0.95, abs=5 * math.sqrt(0.05 * 0.95 / 1e5))
    assert expected_tvd(10**9, 50, 10) == 1


@pytest.mark.parametrize("bad", [(0, 1, 1), (1, -1, 1), (1, 1, 0), (1, float("nan"), 1), (1, 1, float("inf"))])
def test_expected_tvd_refuses_what_has_no_error(bad):
    with pytest.raises(MetricError, match="cells >= 1"):
        expected_tvd(*bad)


@pytest.mark.parametrize("coarse", [False, True])
def test_the_true_table_fits_its_measurements_to_chi_square_one(coarse):
    codes = draw(800, 1)
    c = Comparison(domain=small_domain(), synthetic=codes, measurements=measured(codes, 4.0, 0, coarse))
    score = MeasuredFit().compute(c)
    cells = score.details["cells"]
    # the total is estimated, which moves the residuals little; chi-square a cell has deviation sqrt(2 / cells)
    assert score.value == pytest.approx(1, abs=5 * math.sqrt(2 / cells))
    assert score.details["n_estimate"] == pytest.approx(800, abs=5 * 4.0 * math.sqrt(cells))
    for row in score.details["marginals"]:
        assert row["tvd"] == pytest.approx(row["expected_tvd"], rel=0.6)
        assert abs(row["z"]) < 5


def test_negative_released_counts_are_taken_as_they_are():
    m = Measurement(attributes=("sex",), values=np.array([-6.0, 14.0]), sigma=2.0)
    codes = np.zeros((5, 4), np.uint8)
    codes[1] = [0, 1, 1, 1]
    [row] = (
        MeasuredFit().compute(Comparison(domain=small_domain(), synthetic=codes, measurements=[m])).details["marginals"]
    )
    assert row["chi2"] == pytest.approx(((-6 - 2) ** 2 + (14 - 6) ** 2) / 4)  # the total is estimated as 8
    assert row["tvd"] == pytest.approx((8 + 8) / (2 * 8))


def test_a_poor_table_does_not_fit():
    codes = draw(800, 1)
    c = Comparison(domain=small_domain(), synthetic=draw(500, 2, blur=0.8), measurements=measured(codes, 4.0, 0))
    assert MeasuredFit().compute(c).value > 2


def test_totals_weigh_by_inverse_variance():
    a = Measurement(attributes=("sex",), values=np.array([60.0, 40.0]), sigma=1.0)
    b = Measurement(attributes=("job",), values=np.array([50.0, 50, 50, 50]), sigma=1.0)
    assert estimated_total([a, b]) == pytest.approx((100 / 2 + 200 / 4) / (1 / 2 + 1 / 4))
    assert estimated_total([dataclasses.replace(a, values=-a.values)]) == 1


def test_safe_metrics_run_without_the_real_table_and_private_ones_say_so():
    codes = draw(100, 1)
    c = Comparison(domain=small_domain(), synthetic=codes, measurements=measured(codes, 4.0, 0))
    assert names(private=False) == ["measured-fit"]
    outcomes = compute(c)
    assert not isinstance(outcomes.pop("measured-fit"), MetricError)
    for name, outcome in outcomes.items():
        assert isinstance(outcome, MetricError), name


def test_without_measurements_there_is_nothing_to_fit():
    with pytest.raises(MetricError, match="no released marginal"):
        MeasuredFit().compute(Comparison(domain=small_domain(), synthetic=draw(9, 1)))


def test_measurements_of_another_schema_are_refused():
    wrong = Measurement(attributes=("sex",), values=np.zeros(3), sigma=1.0)
    with pytest.raises(MetricError, match="released marginal of sex"):
        MeasuredFit().compute(Comparison(domain=small_domain(), synthetic=draw(9, 1), measurements=[wrong]))


def test_marginals_of_the_same_columns_are_told_apart_in_a_list():
    codes = draw(800, 1)
    taken = [*measured(codes, 4.0, 0), *measured(codes, 4.0, 1, coarse=True), *measured(codes, 4.0, 2)]
    rows = (
        MeasuredFit()
        .compute(Comparison(domain=small_domain(), synthetic=codes, measurements=taken))
        .details["marginals"]
    )
    named = [row_name(r) for r in rows]
    assert len(set(named)) == len(named)
    assert any("age in 4 groups" in n for n in named) and any(n.endswith(", measurement 2") for n in named)
