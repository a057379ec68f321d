"""A limit holds although the kind and the size of each run are chosen by earlier results; its sums never raise."""

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest

from dpsyn_core.errors import LedgerError
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.conversions import gdp_delta, gdp_epsilon, gdp_mu
from dpsyn_core.privacy.ledger import limits
from dpsyn_core.privacy.ledger.entry import Entry, Spend
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.privacy.ledger.limits import epsilon_left, fits_limit
from dpsyn_core.privacy.ledger.sums import summarise
from dpsyn_core.privacy.unit import Unit

LIMIT = Budget(epsilon=4, delta=1e-9)


def entry(seq, cap, budget, *, failure=0.0, **unit):
    spend = Spend.of(cap, delta=failure)
    unit = {"neighbours": "add-remove", "max_records": 1, "individuals": ""} | unit
    return Entry(
        seq=seq, dataset="d", run_id=str(seq), method="m", purpose="p", kind=spend.kind, amount=spend.amount,
        failure=spend.delta, epsilon=budget.epsilon, delta=budget.delta, recorded="", **unit,
    )  # fmt: skip


def gaussian(seq, mu, delta=1e-9):
    budget = Budget(epsilon=max(gdp_epsilon(mu, delta), 1e-6), delta=delta)
    return replace(entry(seq, budget.gaussian(), budget), amount=mu)


def pure(seq, epsilon):
    budget = Budget(epsilon=epsilon, delta=0)
    return entry(seq, budget.pure(), budget)


def largest(fits, high):
    """Largest number that fits, by bisection; 0 when none does."""
    low = 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def pure_loss(left, epsilon):
    """E[(1 - e^(left - L))+] for randomised response of this epsilon: the worst pure mechanism."""
    p = 1 / (1 + math.exp(-epsilon))
    return p * np.maximum(0, -np.expm1(left - epsilon)) + (1 - p) * np.maximum(0, -np.expm1(left + epsilon))


def gaussian_loss(left, mu):
    """The same for Gaussian noise, below 0 as well."""
    if mu == 0:
        return np.maximum(0, -np.expm1(np.minimum(left, 0)))
    return np.array([gdp_delta(x, mu) if x > 0 else -math.expm1(x) + math.exp(x) * gdp_delta(-x, mu) for x in left])


@pytest.mark.parametrize("share", [0.03, 0.05, 0.2, 0.5, 0.9])
def test_choosing_the_kind_of_the_second_run_by_the_first_result_stays_within_delta(share):
    """The first run is Gaussian; by its loss the analyst takes whatever the limit lets through that hurts most."""
    mu = gdp_mu(share * 4, 1e-9)
    first = gaussian(1, mu)
    assert fits_limit([], first, LIMIT)
    room_pure = largest(lambda e: fits_limit([first], pure(2, max(e, 1e-6)), LIMIT), 5.0)
    room_gaussian = largest(lambda m: m == 0 or fits_limit([first], gaussian(2, m), LIMIT), 2.0)
    z = np.linspace(-12, 12, 4001)
    loss = mu * mu / 2 + mu * z  # of the first run, under its own law
    weight = np.exp(-z * z / 2) / math.sqrt(2 * math.pi) * (z[1] - z[0])
    best = np.maximum(pure_loss(4 - loss, room_pure), gaussian_loss(4 - loss, room_gaussian))
    assert float(weight @ best) <= 1e-9


def test_the_counter_example_of_two_kinds_is_refused():
    """Gaussian at .2, then pure at 3.8 or Gaussian for all that is left: 1.98 times the limit's delta, if both fit."""
    first = entry(1, Budget(epsilon=0.2, delta=1e-9).gaussian(), Budget(epsilon=0.2, delta=1e-9))
    assert not fits_limit([first], pure(2, 3.8), LIMIT)
    assert fits_limit([first], pure(2, 3.0), LIMIT)
    rest = math.sqrt(gdp_mu(4, 1e-9) ** 2 - first.amount**2)
    assert not fits_limit([first], gaussian(2, rest), LIMIT)


def test_shares_of_delta_add_up_to_it():
    assert limits.FAILURES + limits.GAUSSIAN + limits.MIXED + limits.SPLIT == 1


@pytest.mark.parametrize("kind", ["gaussian", "zcdp", "pure"])
def test_a_first_run_may_be_as_large_as_the_limit_and_nothing_follows_it(kind):
    budget = LIMIT if kind != "pure" else Budget(epsilon=4, delta=0)
    first = entry(1, getattr(budget, kind)(), budget)
    assert fits_limit([], first, LIMIT)
    for second in (pure(2, 1e-6), gaussian(2, 1e-4)):
        assert not fits_limit([first], second, LIMIT) or kind == "pure"
    assert not fits_limit([first], pure(2, 1e-3), LIMIT)


def test_categories_are_bought_and_runs_follow_under_a_limit_of_the_same_delta():
    small = Budget(epsilon=0.5, delta=1e-9)
    bought = entry(2, small.zcdp(spare_delta=5e-10), small, failure=5e-10)
    run = entry(1, small.gaussian(), small)
    for order in ([bought, run], [run, bought]):
        assert fits_limit(order[:1], order[1], LIMIT)
    assert not fits_limit([bought, run], replace(bought, run_id="3"), LIMIT)  # failures may take half of delta


def test_a_limit_that_failures_would_pass_says_so(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite3")
    ledger.set_limit("d", LIMIT)
    small = Budget(epsilon=0.1, delta=1e-9)
    for ending in (None, "half of that delta"):
        cap = small.zcdp(spare_delta=5e-10)
        if ending is None:
            ledger.reserve("d", cap, budget=small, unit=Unit(), method="m", delta=5e-10)
            continue
        with pytest.raises(LedgerError, match=ending):
            ledger.reserve("d", cap, budget=small, unit=Unit(), method="m", delta=5e-10)


def test_what_is_left_fits_whatever_ran_before():
    pasts = ([pure(1, 1.0)], [gaussian(1, 0.1)], [gaussian(1, 0.1), pure(2, 0.7)])
    for past in pasts:
        left = epsilon_left(past, past[-1], LIMIT)
        assert left > 1
        budget = Budget(epsilon=left, delta=1e-9)
        assert fits_limit(past, entry(9, budget.gaussian(), budget), LIMIT)


def test_sums_of_very_large_epsilons_are_bounded_and_never_raise():
    """A pure run at epsilon 710 beside one with a delta once made every later sum overflow."""
    rng = np.random.default_rng(5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(60):
            runs = []
            for seq in range(1, int(rng.integers(2, 5))):
                epsilon = float(rng.choice([1e-6, 1, 709, 710, 711, 1000]))
                budget = Budget(epsilon=epsilon, delta=float(rng.choice([1e-300, 1e-9, 0.5])))
                kind = rng.choice(["gaussian", "pure", "zcdp", "approximate"])
                cap = budget if kind == "approximate" else getattr(budget, kind)()
                unit = {
                    "neighbours": str(rng.choice(["add-remove", "replace"])),
                    "max_records": int(rng.choice([1, 7, 1_000_000])), "individuals": str(rng.choice(["", "pid"])),
                }  # fmt: skip
                failure = budget.delta / 4 if kind == "pure" else 0.0
                runs.append(entry(seq, cap, budget, failure=failure, **unit))
            for limit in (None, LIMIT, Budget(epsilon=1000, delta=0.5)):
                got = summarise("d", runs, limit=limit, delta=1e-9)
                assert all(s.epsilon is None or s.epsilon >= 0 for s in got.sums)
    big = summarise("d", [pure(1, 720), gaussian(2, 0.2)], limit=None)
    assert 720 < big.epsilon < 722
