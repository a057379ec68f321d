"""AIM: shares of a round, whole-number scores, the memory cap, annealing, and its measurements on a chain."""

import itertools
import math

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
from dpsyn_core.systems.others.graphical.model import model_cells
from dpsyn_core.systems.registry import configure
from tests.systems.harness import PlainCounter, SeededNoise
from tests.systems.test_mst import CHAIN, chain_codes


class SpyGate(Gate):
    """Keeps the scores and sensitivities that a system hands to the gate."""

    seen: list

    def select(self, name, scores, **kwargs):
        self.seen.append((np.asarray(scores()), kwargs["sensitivity"]))
        return super().select(name, scores, **kwargs)


def measured_on(settings, *, codes=None, epsilon=1.0, noise=None, domain=None, **unit):
    task = Task(domain=domain or Domain.of(CHAIN), unit=Unit(**unit), budget=Budget(epsilon=epsilon, delta=1e-9))
    system = configure("aim", settings).calibrate(task)
    gate = SpyGate(account=Account(system.cost), noise=noise or SeededNoise(1), unit=task.unit)
    gate.seen = []
    return system, system.measure(PlainCounter(chain_codes() if codes is None else codes, task.domain), gate=gate), gate


def test_rounds_have_the_published_shares():
    system, _, gate = measured_on({})
    rounds = 16 * 4
    assert system.rounds == rounds
    rho = system.cost.rho
    ones, choice, measurement = gate.account.charges[:4], gate.account.charges[4], gate.account.charges[5]
    # sigma_0 = sqrt(T / (1.8 rho)), epsilon_0 = sqrt(0.8 rho / T)
    for charge in (*ones, measurement):
        assert charge.scale == pytest.approx(math.sqrt(rounds / (1.8 * rho)), rel=1e-9)
    assert choice.mechanism == "exponential"
    assert choice.epsilon == pytest.approx(math.sqrt(0.8 * rho / rounds), rel=1e-9)
    assert gate.account.spent == pytest.approx(rho)


def test_noise_halves_when_the_model_stays_put_and_the_last_round_spends_the_rest():
    _, _, gate = measured_on({})
    scales = [c.scale for c in gate.account.charges if c.mechanism == "gaussian"][4:]
    steps = [a / b for a, b in itertools.pairwise(scales)][:-1]
    assert set(np.round(steps, 6)) <= {1.0, 2.0}
    assert 2.0 in np.round(steps, 6)
    assert len(scales) < 60


def test_the_worst_pairs_are_measured_first():
    _, measured, _ = measured_on({"rounds": 16}, epsilon=20.0)
    chosen = [m.attributes for m in measured.measurements[4:]]
    assert set(chosen[:3]) == {("a", "b"), ("b", "c"), ("c", "d")}


@pytest.mark.parametrize(("neighbours", "theta"), [("add-remove", 1), ("add-remove", 3), ("replace", 2)])
def test_an_individual_moves_every_score_by_no_more_than_the_sensitivity(neighbours, theta):
    # the first choice reads only the one-ways, which a tape without noise makes equal enough to compare
    codes = chain_codes(300)
    if neighbours == "replace":
        other = codes.copy()
        other[:, :theta] = [[2], [0], [2], [0]]
    else:
        other = codes[:, theta:]

    class Same(SpyGate):
        def _noisy(self, exact, charge):
            return np.full(exact.shape, 100, dtype=np.int64)

    scores = []
    for table in (codes, other):
        unit = Unit(neighbours=neighbours, max_records=theta)
        task = Task(domain=Domain.of(CHAIN), unit=unit, budget=Budget(epsilon=1.0, delta=1e-9))
        system = configure("aim", {"rounds": 8}).calibrate(task)
        gate = Same(account=Account(system.cost), noise=SeededNoise(0), unit=unit)
        gate.seen = []
        system.measure(PlainCounter(table, task.domain), gate=gate)
        scores.append(gate.seen[0])
    (first, sensitivity), (second, _) = scores
    assert first.dtype.kind == "i"
    assert np.abs(first - second).max() <= sensitivity
    assert sensitivity == GRID * theta * (2 if neighbours == "replace" else 1) * max(system.weights.values())


def test_candidates_are_weighed_by_the_workload_that_they_touch():
    domain = Domain.of(CHAIN)
    task = Task(domain=domain, unit=Unit(), budget=Budget(epsilon=1.0, delta=1e-9))
    system = configure("aim", {"workload": "a+b+c, c+d"}).calibrate(task)
    assert system.weights["a", "b", "c"] == 3 + 1
    assert system.weights["c",] == 2
    assert system.weights["c", "d"] == 1 + 2
    assert ("a", "d") not in system.weights


def test_the_model_never_outgrows_its_share_of_memory():
    cells = 40  # the whole domain has 81, all pairs together need them
    settings = {"max_model_size": cells * 8 / 2**20, "rounds": 30, "degree": 2, "rare": 0}
    _, measured, _ = measured_on(settings, epsilon=50.0)
    sets = [m.attributes for m in measured.measurements]
    assert len(sets) > 8
    assert model_cells(sets, CHAIN) <= cells


def test_what_cannot_be_served_is_refused():
    wide = Domain.of({f"x{i}": 2 for i in range(120)})
    task = Task(domain=wide, unit=Unit(), budget=Budget(epsilon=1.0, delta=1e-9))
    with pytest.raises(SizeError, match="'rls'"):
        configure("aim", {"degree": 4}).calibrate(task)
    with pytest.raises(MethodError, match="delta"):
        configure("aim", {}).calibrate(Task(domain=wide, unit=Unit(), budget=Budget(epsilon=1.0, delta=0.0)))
