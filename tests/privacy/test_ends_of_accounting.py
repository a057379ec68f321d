"""Limits of a ledger at their very ends, against their tests written out once more, and sums of its runs."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.conversions import gdp_mu, zcdp_rho
from dpsyn_core.privacy.ledger.entry import Entry, Protected
from dpsyn_core.privacy.ledger.limits import compose_entries, epsilon_left, failing, fits_limit, lost
from dpsyn_core.privacy.ledger.sums import sum_for, summarise

LIMIT = Budget(epsilon=2.0, delta=1e-6)


def entry(kind, amount, failure=0.0, *, most=1, individuals="", neighbours="add-remove"):
    return Entry(
        seq=1, dataset="d", run_id="r", method="m", purpose="p", neighbours=neighbours, max_records=most, kind=kind,
        amount=amount, failure=failure, epsilon=1.0, delta=1e-7, recorded="", individuals=individuals,
    )  # fmt: skip


def covered(entries):
    """The tests of the docstring for single records, whose shares of delta are 1/2, 5/16, 1/8 and 1/16."""
    epsilon, delta = LIMIT.epsilon, LIMIT.delta
    mu2 = sum(e.amount**2 for e in entries if e.kind == "gaussian")
    pure = [e.amount for e in entries if e.kind in ("pure", "approximate")]
    rho = sum(e.amount for e in entries if e.kind == "zcdp")
    if sum(e.failure for e in entries) > delta / 2:
        return False
    if not mu2 and not rho and sum(pure) <= epsilon:
        return True
    if mu2 / 2 + rho + sum(e * e / 2 for e in pure) <= zcdp_rho(epsilon, delta / 8):
        return True
    if rho:
        return False
    if not pure:
        return mu2 <= gdp_mu(epsilon, delta * 5 / 16) ** 2
    return any(
        sum(pure) <= (1 - k / 8) * epsilon and mu2 <= gdp_mu(epsilon * k / 8, delta / 16 / 7) ** 2 for k in range(1, 8)
    )


@pytest.mark.parametrize("seed", range(24))
def test_a_limit_covers_what_one_of_its_tests_lets_through_to_the_last_digits(seed):
    """Runs of all kinds, made larger until the last test that lets them through does so no more."""
    rng = np.random.default_rng(seed)
    mixtures = ["pure", "gaussian", "zcdp", "gaussian pure", "zcdp pure", "approximate pure"]
    kinds, part = mixtures[seed % 6].split(), (0.02, 0.2, 1.0, 5.0)[seed // 6]
    drawn = [
        entry(kinds[i % len(kinds)], rng.uniform(0.5, 1.5) * (part if i % 2 else 1.0), rng.choice([0.0, 1e-7]))
        for i in range(int(rng.integers(2, 5)))
    ]

    def times(factor):
        return [replace(e, amount=e.amount * factor) for e in drawn]

    low, high = 1e-3, 1e2
    assert covered(times(low)) and not covered(times(high))
    for _ in range(40):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if covered(times(middle)) else (low, middle)
    for factor, fits in ((low * (1 - 1e-7), True), (high * (1 + 1e-7), False)):
        assert fits_limit(times(factor)[:-1], times(factor)[-1], LIMIT) == fits
    failures = [replace(e, failure=f) for e, f in zip(times(low / 2), (2e-7, 3e-7, 0.0, 0.0), strict=False)]
    assert fits_limit(failures[:-1], failures[-1], LIMIT) and not failing(failures[:-1], failures[-1], LIMIT)
    more = [replace(failures[0], failure=2.01e-7), *failures[1:]]
    assert not fits_limit(more[:-1], more[-1], LIMIT) and failing(more[:-1], more[-1], LIMIT)


def test_a_first_run_may_be_as_large_as_the_limit():
    one = entry("gaussian", gdp_mu(LIMIT.epsilon, LIMIT.delta) * (1 - 1e-9))
    assert fits_limit([], one, LIMIT) and not fits_limit([], replace(one, amount=one.amount * 1.0001), LIMIT)
    assert failing([], replace(one, failure=0.9e-6), LIMIT) is False


@pytest.mark.parametrize("part", [0.5, 0.3, 0.9])
def test_two_runs_that_share_what_a_test_allows_fit_to_the_last_rounding(part):
    """Calibrated costs hold back twice what sums may lose to rounding, which is therefore allowed, and no more."""
    epsilon, delta = LIMIT.epsilon, LIMIT.delta
    rho, mu = zcdp_rho(epsilon, delta / 8), gdp_mu(epsilon, delta * 5 / 16)
    parts = {"gaussian": [mu * math.sqrt(p) for p in (part, 1 - part)], "zcdp": [rho * part, rho * (1 - part)]}
    for kind, amounts in parts.items():
        for more, fits in ((1 + 4e-13, True), (1 + 3e-12, False)):
            first, second = (entry(kind, amount * more) for amount in amounts)
            assert fits_limit([first], second, LIMIT) == fits


@pytest.mark.parametrize("kind", ["gaussian", "pure"])
def test_what_is_left_is_nearly_all_that_fits(kind):
    before = [entry(kind, 0.2 if kind == "gaussian" else 0.7)]
    left = epsilon_left(before, entry("gaussian", 0.1), LIMIT)
    for part, fits in ((1.0, True), (1.01, False)):
        more = replace(before[0], kind="gaussian", amount=gdp_mu(left * part, LIMIT.delta))
        assert fits_limit(before, more, LIMIT) == fits
    pure = Budget(epsilon=2.0, delta=0.0)
    left = epsilon_left([entry("pure", 0.7)], entry("pure", 0.1), pure)
    assert left == pytest.approx(1.3, rel=1e-8) and left < 1.3
    assert epsilon_left([entry("pure", 2.5)], entry("pure", 0.1), pure) == 0.0


def test_runs_add_up_by_kind_for_each_of_whom_they_protect():
    runs = [entry("gaussian", 0.3), entry("gaussian", 0.4, 1e-8), entry("pure", 0.5), entry("zcdp", 0.1)]
    whole = compose_entries(runs, Protected())
    assert (whole.mu2, whole.pure, whole.rho, whole.delta) == (pytest.approx(0.25), (0.5,), 0.1, 1e-8)
    # two records of runs for single ones: a Gaussian mu and an epsilon double, a failure has its run's pair alone
    both = compose_entries([runs[0], runs[2]], Protected(records=2))
    assert (both.mu2, both.pure) == (pytest.approx(0.36), (1.0,))
    assert compose_entries([runs[1]], Protected(records=2)).pairs == compose_entries(
        [replace(runs[1], kind="approximate", amount=1.0, failure=1e-7)], Protected(records=2)
    ).pairs  # fmt: skip


def test_nobody_loses_a_bound_by_a_new_run():
    named, other = entry("pure", 0.1, individuals="who"), entry("pure", 0.1, individuals="else")
    assert lost([named], replace(named, amount=0.2)) is None and lost([], other) is None
    assert lost([named], other) == Protected(identifier="who")
    assert not fits_limit([named], other, LIMIT) and epsilon_left([named], other, LIMIT) == 0.0


@pytest.mark.parametrize("limit", [None, LIMIT])
def test_a_data_set_without_runs_has_cost_nothing_and_all_of_its_limit_is_left(limit):
    found = summarise("d", [], limit=limit)
    assert (found.runs, found.mu, found.rho, found.epsilon, found.sums) == (0, 0.0, 0.0, 0.0, ())
    ends = (None, None) if limit is None else (2.0, 1e-6)
    assert (found.limit_epsilon, found.limit_delta, found.epsilon_left) == (*ends, ends[0])
    assert found.delta == (0.0 if limit is None else 1e-6)
    assert sum_for([], Protected(), limit=limit).epsilon_left == ends[0]


def test_a_summary_has_the_largest_sum_of_all_whom_a_run_protects():
    runs = [entry("pure", 0.3), entry("pure", 0.2, most=3), entry("pure", 0.1)]
    found = summarise("d", runs, limit=LIMIT)
    assert [(s.who, s.epsilon) for s in found.sums] == [
        ("single records", pytest.approx(0.6)), ("any 3 records together", pytest.approx(0.3 * 3 + 0.2 + 0.1 * 3)),
    ]  # fmt: skip
    assert (found.runs, found.max_records, found.neighbours) == (3, 3, "add-remove")
    assert (found.epsilon, found.mu) == (pytest.approx(1.4), None)
    assert (found.limit_epsilon, found.limit_delta) == (2.0, 1e-6)
    assert found.epsilon_left == epsilon_left(runs, runs[-1], LIMIT)
    assert found.rho == pytest.approx((0.81 + 0.04 + 0.09) / 2) == pytest.approx(found.sums[1].rho)
    assert summarise("d", runs, limit=None).delta == 1e-7 and summarise("d", runs, limit=LIMIT, delta=0.5).delta == 0.5
    lost_one = [entry("pure", 0.1, individuals="who"), entry("pure", 0.1, individuals="else")]
    other = summarise("d", lost_one, limit=LIMIT)
    assert (other.epsilon, other.epsilon_left) == (None, 0.0) and other.sums[0].unbounded == (1,)
    swapped = summarise("d", [entry("pure", 0.3), entry("pure", 0.2, neighbours="replace")], limit=None)
    assert (swapped.neighbours, swapped.epsilon) == ("replace", pytest.approx(0.8))
