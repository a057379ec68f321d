"""AIM: shares of a round, whole-number scores, the memory cap, annealing, and its measurements on a chain."""

import itertools
import math
from types import SimpleNamespace

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
from dpsyn_core.systems.others import aim
from dpsyn_core.systems.others.aim import _rounds, _with_questions
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


def test_weights_with_questions_share_the_workload_in_whole_numbers_of_at_least_one():
    own = {("a",): 2, ("b",): 1, ("a", "b"): 3, ("b", "c"): 2}
    asked = SimpleNamespace(sets=[("b", "c"), ("c",)], weights=[3.0, 1.0], share=0.7)
    touched = {r: 3 * len({"b", "c"} & set(r)) + len({"c"} & set(r)) for r in own}
    mixed = {r: 0.7 * touched[r] / sum(touched.values()) + 0.3 * own[r] / sum(own.values()) for r in own}
    assert _with_questions(own, asked) == {r: max(1, round(100 * m / max(mixed.values()))) for r, m in mixed.items()}
    asked.share = 1.0
    found = _with_questions(own, asked)
    assert found["b", "c"] == 100 and found["a",] == 1
    asked.share = 0.0
    assert _with_questions(own, asked) == {r: max(1, round(100 * w / 3)) for r, w in own.items()}


def paths(left, size, growth):
    """Of all ways to grow or not after each round: the fewest rounds, and what one round takes at most."""
    if left <= 1e-9:
        return {(0, 0.0)}
    if left < 2 * size:
        return {(1, left)}
    further = {p for g in {1.0, growth} for p in paths(left - size, size * g, growth)}
    return {(count + 1, max(largest, size)) for count, largest in further}


@pytest.mark.parametrize("rounds", [1, 2, 3, 5, 8, 11, 12])
@pytest.mark.parametrize("growth", [1.0, 4.0])
def test_how_few_rounds_there_can_be_and_what_one_takes_at_most_holds_for_every_way(rounds, growth):
    every = paths(1.0, 1 / rounds, growth)
    fewest, largest = _rounds(1.0, 1 / rounds, growth)
    assert fewest == min(count for count, _ in every)
    assert max(size for _, size in every) <= largest + 1e-9
    if growth == 1:
        assert rounds - 1 <= fewest <= rounds, "what rounding leaves of two rounds may be one"


@pytest.mark.parametrize("cells", [1, 9, 15, 27, 10**6])
def test_errors_are_counted_in_as_few_readings_as_their_cells_allow(monkeypatch, cells):
    monkeypatch.setattr(aim, "BATCH", cells)
    domain, asked = Domain.of(CHAIN), []

    class Heard(PlainCounter):
        def marginals(self, sets, recodes=None):
            asked.append([math.prod(domain.shape(s)) for s in sets])
            return [self.marginal(s) for s in sets]

    sets = [*domain.subsets(1), *domain.subsets(2)]
    counter = Heard(chain_codes(200), domain)
    grids = [np.full(domain.shape(s), 40) for s in sets]
    errors = aim._Run._errors(SimpleNamespace(recodes={}), counter, sets, grids)
    assert errors.tolist() == [int(np.abs(GRID * counter.marginal(s) - 40).sum()) for s in sets]
    assert all(len(a) == 1 or sum(a) <= cells for a in asked)
    assert all(sum(a) + b[0] > cells for a, b in itertools.pairwise(asked))
