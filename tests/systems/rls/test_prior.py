"""A public table: what agrees with the measurements is learnt from, and what misleads counts for nothing."""

import numpy as np
import pytest

from benchmarks import prior
from benchmarks.engine import mean_distance
from benchmarks.tables import simulated
from dpsyn_core.errors import MethodError
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.noise.system import SystemNoise
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.domain import Domain
from dpsyn_core.systems.base import Task
from dpsyn_core.systems.public_table import PublicTable
from dpsyn_core.systems.registry import configure
from dpsyn_core.systems.rls.prior import GRID, Doubt, RlsPrior, joined, trust_of

PAIRS = [(f"a{i}", f"b{i}") for i in range(40)]


def task_of(domain, public, *, epsilon=0.3):
    return Task(domain=domain, unit=Unit(), budget=Budget(epsilon=epsilon, delta=1e-9), public=public)


def made(codes, domain, public, *, seed=0, epsilon=0.3):
    task = task_of(domain, public, epsilon=epsilon)
    system = configure("rls", {}).calibrate(task)
    gate = Gate(account=Account(system.cost), noise=SystemNoise(), unit=task.unit)
    measured = system.measure(MemoryCounter(codes, domain), gate=gate)
    return system.synthesize(measured, None, rng=np.random.default_rng(seed)), gate.account.charges, system


def halves():
    """Two draws of one process, 8 attributes of some 10 values."""
    table = simulated("tree", 12_000, 8, 3)
    return table.codes[:, ::2], table.codes[:, 1::2], table.domain


def test_a_table_of_the_same_process_takes_away_a_third_of_the_error_of_pairs():
    codes, other, domain = halves()
    public = PublicTable(codes=other, domain=domain)
    without = [mean_distance(codes, made(codes, domain, None, seed=s)[0], domain) for s in range(2)]
    with_it = [mean_distance(codes, made(codes, domain, public, seed=s)[0], domain) for s in range(2)]
    assert np.mean(with_it) < 0.67 * np.mean(without)


def test_some_columns_of_a_public_table_are_enough_to_help():
    codes, other, domain = halves()
    part = domain.project(domain.names[:5])
    public = PublicTable(codes=other[:5], domain=part)
    of_part = [MemoryCounter(codes[:5], part).domain]
    without = np.mean(
        [mean_distance(codes[:5], made(codes, domain, None, seed=s)[0][:5], of_part[0]) for s in range(2)]
    )
    with_it = np.mean(
        [mean_distance(codes[:5], made(codes, domain, public, seed=s)[0][:5], of_part[0]) for s in range(2)]
    )
    assert with_it < 0.8 * without


def test_the_scores_against_the_public_table_are_charged_inside_the_budget():
    codes, other, domain = halves()
    _, charges, system = made(codes, domain, PublicTable(codes=other, domain=domain))
    assert [c.name for c in charges].count("scores of pairs against the public table") == 1
    assert sum(c.rho for c in charges) <= system.cost.rho * (1 + 1e-9)


def test_columns_of_pairs_that_a_public_table_tells_are_counted_once_more():
    codes, other, domain = halves()
    _, charges, system = made(codes, domain, PublicTable(codes=other, domain=domain))
    again = [c for c in charges if c.name == f"marginal {domain.names[0]}"]
    assert len(again) == 2 and again[1].rho < 0.2 * system.cost.rho


def test_one_ways_are_no_worse_where_a_public_table_that_drifted_tells_pairs():
    """Its pairs were not measured then, which would have told their columns: one-ways were a tenth worse."""
    private, other, domain = prior.halves("mixture-3000x8")
    public = prior.FORMS["drifted: its first and last columns"](other, np.array(domain.sizes), np.random.default_rng(1))
    errors = np.array([[prior.made(private, domain, p, 1.0, s)[0] for p in (public, None)] for s in range(16)])
    assert np.log(errors[:, 0] / errors[:, 1]).mean() < 0.02


def test_charges_without_a_public_table_know_nothing_of_one():
    codes, _, domain = halves()
    assert not any("public" in c.name for c in made(codes, domain, None)[1])


def test_other_systems_refuse_a_public_table():
    _, other, domain = halves()
    with pytest.raises(MethodError, match="cannot use a public table"):
        configure("independent", {}).calibrate(task_of(domain, PublicTable(codes=other, domain=domain)))


def doubt(truth, expected, *, sigma=20.0, seed=0):
    """A table measured with noise, whose estimate is the measurement itself."""
    spread = expected * 2 + 1e-9
    values = truth + np.random.default_rng(seed).normal(0, sigma, truth.shape)
    return Doubt(
        estimate=values, error=np.full(truth.shape, sigma**2), expected=expected, spread=spread,
        tables=((np.arange(len(values)), values, sigma),),
    )  # fmt: skip


def test_an_expectation_that_is_borne_out_replaces_most_of_the_noise():
    truth = np.linspace(2, 30, 60)
    drawn = np.random.default_rng(1).poisson(truth).astype(float)
    one = doubt(truth, drawn)
    ((values, kept),) = joined([one])
    assert np.abs(values - truth).mean() < 0.4 * np.abs(one.estimate - truth).mean()
    assert kept < 0.6


def test_an_expectation_that_misleads_changes_nothing():
    truth = np.linspace(2, 3000, 60)
    one = doubt(truth, truth[::-1].copy())
    ((values, kept),) = joined([one])
    assert np.array_equal(values, one.estimate)
    assert kept == pytest.approx(1.0)


def test_one_value_that_is_new_does_not_spoil_the_others():
    truth = np.full(80, 40.0)
    expected = truth.copy()
    truth[5] = 2500.0
    one = doubt(truth, expected)
    ((values, _),) = joined([one])
    assert abs(values[5] - truth[5]) < 100


def scores(part, *, sigma=0.0, seed=0):
    """Distances of 40 pairs that have this part of the dependence of a public table, and sampling error."""
    rng = np.random.default_rng(seed)
    apart, rest = rng.uniform(300, 2000, 40), 100.0
    alone = np.sqrt((part * apart) ** 2 + rest**2) + rng.normal(0, sigma, 40)
    public = np.sqrt(((1 - part) * apart) ** 2 + rest**2) + rng.normal(0, sigma, 40)
    return trust_of(PAIRS, alone, public, apart, np.full(40, rest), (max(sigma, 1e-6), max(sigma, 1e-6)))


@pytest.mark.parametrize("part", [0.5, 0.8, 1.0])
def test_the_part_of_a_dependence_that_is_there_is_found(part):
    found = scores(part)
    assert len(found) == 40
    assert np.allclose([t.part for t in found.values()], part, atol=0.02)
    assert np.allclose([t.left for t in found.values()], 100.0, rtol=0.25)


def test_noisy_scores_of_many_pairs_are_trusted_together():
    found = scores(1.0, sigma=600.0)
    assert len(found) >= 30
    assert np.mean([t.part for t in found.values()]) > 0.8


def test_dependence_that_is_not_there_is_not_used():
    assert not scores(0.0)
    assert len(scores(0.0, sigma=600.0)) < 8


def test_cells_without_a_public_record_are_expected_to_hold_some():
    codes = np.array([[0, 0, 0, 1, 1, 2]], dtype=np.uint8)
    shares = RlsPrior(PublicTable(codes=codes, domain=Domain.of({"a": 5}))).shares(("a",), {})
    assert shares.sum() == pytest.approx(1.0)
    assert (shares > 0).all()
    assert shares[3] == shares[4] < shares[2] < shares[0]


def test_the_grid_holds_the_case_of_two_draws_of_one_process():
    assert (GRID[0] == [1.0, 0.0]).all()


def relabelled(codes, domain):
    rng = np.random.default_rng(4)
    return np.stack([rng.permutation(s)[c] for s, c in zip(domain.sizes, codes, strict=True)]).astype(codes.dtype)


@pytest.mark.parametrize(
    "wrong",
    [relabelled, lambda codes, _: codes[:, :1], lambda codes, _: np.zeros_like(codes),
     lambda codes, _: np.tile(codes[:, :1], 20 * codes.shape[1])],
    ids=["values permuted", "one record", "constant", "one record many times"],
)  # fmt: skip
def test_nothing_is_spent_on_a_public_table_whose_one_ways_are_others(wrong):
    codes, other, domain = halves()
    public = PublicTable(codes=np.ascontiguousarray(wrong(other, domain)), domain=domain)
    with_it, without = (made(codes, domain, p)[1] for p in (public, None))
    assert "scores of pairs against the public table" not in {c.name for c in with_it}
    assert [c.name for c in with_it][:3] == [c.name for c in without][:3]


def test_columns_that_contradict_a_public_table_are_left_out_and_the_others_learn():
    codes, other, domain = halves()
    mixed = other.copy()
    mixed[0] = (domain.sizes[0] - 1 - other[0]).astype(other.dtype)
    system = configure("rls", {}).calibrate(task_of(domain, PublicTable(codes=mixed, domain=domain)))
    gate = Gate(account=Account(system.cost), noise=SystemNoise(), unit=Unit())
    kept = system.view(system.measure(MemoryCounter(codes, domain), gate=gate)).prior
    assert kept is not None
    assert kept.names == set(domain.names[1:])
