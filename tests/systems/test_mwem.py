"""MWEM: oracle 15, the shares and sensitivities of a round, both kinds and variants, and the memory cap."""

import numpy as np
import pytest

from dpsyn_core.errors import MethodError, SizeError
from dpsyn_core.measure.gate import Gate
from dpsyn_core.measure.select import GRID
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.domain import Domain
from dpsyn_core.systems.base import Task
from dpsyn_core.systems.others.mwem import Correction, corrected, marginal_of, replayed, uniform
from dpsyn_core.systems.registry import configure
from tests.systems.harness import PlainCounter, SeededNoise
from tests.systems.test_mst import CHAIN, chain_codes

DOMAIN = Domain.of(CHAIN)
N = 6000


def task_of(*, epsilon=1.0, delta=0.0, domain=DOMAIN, n=N, **unit):
    return Task(domain=domain, unit=Unit(**unit), budget=Budget(epsilon=epsilon, delta=delta), n_public=n)


def measured_on(settings, **task):
    task = task_of(**task)
    system = configure("mwem", settings).calibrate(task)
    gate = Gate(account=Account(system.cost), noise=SeededNoise(1), unit=task.unit)
    return system, system.measure(PlainCounter(chain_codes(N), DOMAIN), gate=gate), gate


def test_before_any_measurement_the_distribution_is_uniform():
    p = corrected(uniform(DOMAIN), [], N, DOMAIN)
    assert np.allclose(p, 1 / 81)


def test_one_query_replayed_converges_to_its_measurement():
    query = Correction(attributes=("a", "b"), cells=np.array([4]), values=np.array([1500.0]))
    p = replayed(uniform(DOMAIN), [query], N, DOMAIN, 2000)
    assert marginal_of(p, ("a", "b"), DOMAIN)[1, 1] * N == pytest.approx(1500, abs=0.1)
    # everything else stays even
    assert marginal_of(p, ("a", "b"), DOMAIN)[0, 0] * N == pytest.approx(4500 / 8, abs=0.1)


def test_a_correction_is_the_update_of_the_paper_and_keeps_the_number_of_records():
    query = Correction(attributes=("c",), cells=np.array([2]), values=np.array([3000.0]))
    p = uniform(DOMAIN)
    after = corrected(p, [query], N, DOMAIN)
    assert after.sum() == pytest.approx(1.0)
    grown = np.exp((3000 - 2000) / (2 * N))
    assert after[0, 0, 2, 0] / after[0, 0, 1, 0] == pytest.approx(grown)
    assert marginal_of(after, ("c",), DOMAIN)[2] == pytest.approx(grown / (grown + 2))


def test_a_marginal_is_corrected_as_all_its_cells_at_once():
    values = np.array([3000.0, 2000.0, 1000.0])
    whole = corrected(uniform(DOMAIN), [Correction(attributes=("a",), cells=np.arange(3), values=values)], N, DOMAIN)
    expected = np.exp((values - 2000) / (2 * N))
    assert np.allclose(marginal_of(whole, ("a",), DOMAIN), expected / expected.sum())


def test_pure_rounds_spend_half_on_the_choice_and_zcdp_rounds_a_tenth():
    _, _, gate = measured_on({"rounds": 5})
    charges = gate.account.charges
    assert [c.mechanism for c in charges] == ["exponential", "geometric"] * 5
    assert [c.epsilon for c in charges] == pytest.approx([0.1] * 10)
    _, _, gate = measured_on({"rounds": 5}, delta=1e-9)
    charges = gate.account.charges
    assert [c.mechanism for c in charges] == ["exponential", "gaussian"] * 5
    total = gate.account.cap.rho
    assert [c.rho for c in charges] == pytest.approx([total / 50, 9 * total / 50] * 5)


@pytest.mark.parametrize(("kind", "factor"), [("marginals", 2), ("queries", 1)])
def test_an_exchange_moves_a_marginal_twice_as_far_and_a_single_count_no_further(kind, factor):
    sensitivities = {}
    for neighbours, theta in (("add-remove", 1), ("replace", 1), ("replace", 3)):
        _, _, gate = measured_on({"rounds": 2, "kind": kind, "replays": 5}, neighbours=neighbours, max_records=theta)
        sensitivities[neighbours, theta] = [c.sensitivity for c in gate.account.charges[:2]]
    assert sensitivities["add-remove", 1] == [GRID, 1]
    assert sensitivities["replace", 1] == [factor * GRID, factor]
    assert sensitivities["replace", 3] == [3 * factor * GRID, 3 * factor]


@pytest.mark.parametrize("variant", ["practical", "basic"])
@pytest.mark.parametrize("kind", ["marginals", "queries"])
def test_every_variant_ends_closer_to_the_data_than_it_began(kind, variant):
    settings = {"kind": kind, "variant": variant, "rounds": 12}
    system, p, _ = measured_on(settings, epsilon=20.0)
    real = chain_codes(N)
    out = system.synthesize(p, N, rng=np.random.default_rng(0))

    def distance(table):
        return sum(
            np.abs(
                np.bincount(table[i] * 3 + table[i + 1], minlength=9)
                - np.bincount(real[i] * 3 + real[i + 1], minlength=9)
            ).sum()
            for i in range(3)
        )

    start = distance(np.stack(np.unravel_index(np.arange(N) % 81, (3,) * 4)))
    share = {("marginals", "practical"): 0.1, ("queries", "practical"): 0.6}.get((kind, variant), 0.98)
    assert distance(out) < share * start


def test_large_domains_and_private_numbers_of_records_are_refused():
    wide = Domain.of({f"x{i}": 100 for i in range(14)})
    with pytest.raises(SizeError, match="'mst'"):
        configure("mwem", {}).calibrate(task_of(domain=wide))
    with pytest.raises(MethodError, match="'rls'"):
        configure("mwem", {}).calibrate(task_of(n=None))


@pytest.mark.parametrize(("rounds", "share"), [(1, 0.5493), (3, 0.6212)])
def test_worked_example_the_basic_variant_averages_the_uniform_start_too(rounds, share):
    """Nine records of ten say yes. One exact correction gives e^.2 / (e^.2 + e^-.2) = .5987; with the start, .5493."""
    domain, n = Domain.of({"yes": 2}), 1000
    codes = np.repeat(np.array([0, 1], dtype=np.uint8), [900, 100])[None]
    settings = {"variant": "basic", "rounds": rounds, "degree": 1}
    system = configure("mwem", settings).calibrate(task_of(domain=domain, n=n))
    gate = Gate(account=Account(system.cost), noise=SeededNoise(0, scale=0.0), unit=Unit())
    p = [0.5]
    for _ in range(rounds):
        up = p[-1] * np.exp((0.9 - p[-1]) / 2)
        p.append(up / (up + (1 - p[-1]) * np.exp((0.1 - (1 - p[-1])) / 2)))
    assert np.mean(p) == pytest.approx(share, abs=5e-5)
    assert system.measure(PlainCounter(codes, domain), gate=gate).p[0] == pytest.approx(np.mean(p), abs=1e-12)
