"""What a fit expects of triples: errors of sampling and fit, and what measuring would remove, against simulation."""

import math

import numpy as np
import pytest

from dpsyn_core.estimate.marginals.types import Measurement
from dpsyn_core.schema.domain import Domain
from dpsyn_core.systems.rls.evidence import RlsEvidence
from dpsyn_core.systems.rls.expectation import Expectation, expect, removable_errors, sampling_error

NAMES = ("a", "b", "c")
PAIRS = {("a", "b"), ("a", "c"), ("b", "c")}


def test_counts_stray_from_their_mean_like_poisson_counts():
    # the total and three one-ways take 4 of 8 directions, a pair takes one more
    assert sampling_error(np.full((2, 2, 2), 4.0), NAMES, set()) == pytest.approx(
        8 * 2 * math.exp(-4) * 4**5 / 24 * math.sqrt(4 / 8)
    )
    assert sampling_error(np.full((2, 2, 2), 0.5), NAMES, {("a", "b")}) == pytest.approx(
        8 * 2 * 0.5 * math.exp(-0.5) * math.sqrt(3 / 8)
    )
    assert sampling_error(np.zeros((2, 2, 2)), NAMES, set()) == pytest.approx(0.0, abs=1e-9)


def test_tables_whose_pairs_are_known_keep_the_sampling_error_of_their_triple_alone():
    rng = np.random.default_rng(0)
    shape, n = (3, 4, 5), 60_000
    mean = np.full(shape, n / 60)

    def without_pairs(t):  # least squares: what one-ways and pairs say is taken out
        for axis in range(3):
            t = t - t.mean(axis=axis, keepdims=True)
        return t

    simulated = np.mean([np.abs(without_pairs(rng.poisson(mean) - mean)).sum() for _ in range(200)])
    assert sampling_error(mean, NAMES, PAIRS) == pytest.approx(simulated, rel=0.03)


def known(tables, fit_error, sampling_error):
    nobody = np.zeros((0, 0), np.uint16)
    return Expectation(
        tables=tables, fit_error=np.array(fit_error), sampling_error=np.array(sampling_error), domain=Domain(()),
        records=(nobody, nobody),
    )  # fmt: skip


def test_scores_that_errors_of_sampling_and_fit_explain_win_only_the_sampling_error():
    rng = np.random.default_rng(1)
    fit, sampling = rng.uniform(20, 200, 400), rng.uniform(20, 200, 400)
    scores = np.hypot(fit, sampling) + rng.normal(0, 10, 400)
    assert removable_errors(scores, 10.0, known([], fit, sampling)) == pytest.approx(sampling)


def test_scores_far_above_count_without_the_error_of_the_fit():
    fit, sampling = np.full(100, 30.0), np.full(100, 40.0)
    scores = np.full(100, 50.0)
    scores[7] = 500.0
    got = removable_errors(scores, 10.0, known([], fit, sampling))
    assert got[7] == pytest.approx(math.sqrt(500**2 - 30**2), rel=0.02)
    assert np.delete(got, 7) == pytest.approx(np.full(99, 40.0))


@pytest.mark.parametrize("sigma", [5.0, 60.0])
def test_what_is_expected_of_independent_attributes_is_off_by_the_error_that_is_stated(sigma):
    """Measured with noise, 20,000 records: the distance to the truth is about what the bootstrap says."""
    rng = np.random.default_rng(2)
    domain, n = Domain.of(dict.fromkeys("abcd", 6)), 20_000
    truth = np.full((6, 6), n / 36)
    ones = [Measurement(attributes=(a,), values=np.full(6, n / 6), sigma=5.0) for a in "abcd"]
    pairs = [
        Measurement(attributes=(a, b), values=truth + rng.normal(0, sigma, (6, 6)), sigma=sigma)
        for a, b in ("ab", "ac", "ad", "bc", "bd", "cd")
    ]
    view = RlsEvidence(domain, [*ones, *pairs], n)
    sets = [("a", "b", "c"), ("a", "b", "d"), ("a", "c", "d"), ("b", "c", "d")]
    found = expect(view, sets, {})
    error = np.array([np.abs(t - n / 216).sum() for t in found.tables])
    assert all(t.sum() == pytest.approx(n) for t in found.tables)
    assert 0.8 < found.fit_error.mean() / error.mean() < 1.6  # two random fits differ by the root of two at most
    assert np.allclose(view.joint[0].values, pairs[0].values)  # the view that was given stays as it was
