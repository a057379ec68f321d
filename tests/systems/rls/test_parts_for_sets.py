"""What sets of three attributes and more get of a budget, against a second implementation, and the pace of shards."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest

from dpsyn_core.measure.select import choose_sets
from dpsyn_core.privacy.budget import Cost
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.systems.rls.budget import Noise
from dpsyn_core.systems.rls.orders import Wide, _best_parts
from dpsyn_core.systems.rls.sharding import draft_effort, shaken
from dpsyn_core.systems.rls.tuning import Tuning

COSTS = {False: Cost(rho=0.05), True: Cost(epsilon=0.4)}
TUNING = Tuning()


def l1_error(cells, cost, unit, pure):
    """Expected L1 error of one table: Laplace noise has the mean absolute value of its scale, Gaussian sqrt(2/pi)."""
    if pure:
        return cells * unit.l1() / cost
    return cells * unit.l2() / math.sqrt(2 * cost) * math.sqrt(2 / math.pi)


def expected(found, times, pair_cells, pure, attributes, total, unit):
    """The docstring of `_best_parts`, once more."""
    amount = 0.4 if pure else 0.05
    power, root = (0.5, 1.0) if pure else (2 / 3, 0.5)

    def of_all(cells, cost):
        weight = sum(c**power for c in cells)
        return sum(l1_error(c, cost * c**power / weight, unit, pure) for c in cells)

    held = TUNING.shares.held_back
    pairs = TUNING.pairs.noise_factor * of_all(pair_cells, amount) * held**root

    def tried(part, gains):
        chosen = choose_sets(
            np.array(gains) * times, np.array([w.cells for w in found]) * times,
            cost=COSTS[pure].scaled(part), sensitivity=float(unit.l1() if pure else unit.l2()),
        )  # fmt: skip
        weight = {i: (found[i].cells * times[i]) ** power for i in chosen}
        own = {i: part * w / sum(weight.values()) for i, w in weight.items()}
        won = [gains[i] - l1_error(w.cells, amount * own[i], unit, pure) if i in own else 0.0
               for i, w in enumerate(found)]  # fmt: skip
        return own, np.array(won), pairs * (1 / (1 - part * held) ** root - 1)

    usual, before, lost = {}, 0.0, 0.0
    for part, factor in zip(TUNING.triples.parts, TUNING.triples.gains, strict=True):
        own, won, loses = tried(part, [w.gain for w in found])
        if (won.sum() - before) / len(found) > factor * (loses - lost) / (attributes * (attributes - 1) / 2):
            usual, before, lost, last = own, won.sum(), loses, won
    last = last if usual else np.zeros(len(found))
    strength = times * np.array([w.known / (TUNING.orders.counts_fully * total) for w in found]) ** 2
    still = sum(s * max(x + w.known - w.gain, 0.0) for s, x, w in zip(strength, last, found, strict=True))
    more = {}
    for part in TUNING.orders.parts if any(w.known for w in found) else ():
        own, won, loses = tried(part, [w.known for w in found])
        if (strength * won).sum() - still > loses - lost:
            more, still, lost = own, (strength * won).sum(), loses
    if more:
        usual = {i: s for i, s in usual.items() if not found[i].known} | more
    return {found[i].attributes: s for i, s in usual.items()}


def test_sets_get_what_their_gain_is_worth_against_what_pairs_lose():
    """Drawn sets of many strengths: parts of all sizes come up, both for weak sets and for strong ones."""
    rng, seen = np.random.default_rng(0), set()
    for pure, theta, _ in itertools.product((False, True), (1, 2), range(40)):
        unit = Unit(max_records=theta)
        number, total = int(rng.integers(1, 5)), 5_000.0
        gains = rng.uniform(0, 2_500, number) * rng.choice([0.02, 0.3, 1.0])
        known = np.where(rng.random(number) < 0.4, gains * rng.uniform(0.3, 1.0, number), 0.0)
        found = [
            Wide(attributes=(f"a{i}", "b", "c"), shape=(2, int(rng.integers(2, 9)), 3), recodes={}, gain=g, known=k)
            for i, (g, k) in enumerate(zip(gains.tolist(), known.tolist(), strict=True))
        ]
        times = rng.choice([1.0, 3.0], number)
        cells = rng.integers(4, 60, 10).astype(float)
        plan = SimpleNamespace(tuning=TUNING, noise=Noise(unit=unit, pure=pure))
        got = _best_parts(
            found, times, plan, SimpleNamespace(cells=cells), COSTS[pure], attributes=6, total=total
        )  # fmt: skip
        wanted = expected(found, times, cells, pure, 6, total, unit)
        assert {w.attributes: s for w, s in got} == pytest.approx(wanted)
        seen.add((round(sum(wanted.values()), 6), bool(known.any())))
    assert len(seen) > 6, "parts of several sizes were compared"


def test_no_sets_get_nothing():
    plan = SimpleNamespace(tuning=TUNING, noise=Noise(unit=Unit(), pure=False))
    pairs = SimpleNamespace(cells=np.array([4.0]))
    assert _best_parts([], np.zeros(0), plan, pairs, COSTS[False], attributes=3, total=0.0) == []


@pytest.mark.parametrize(("effort", "sweeps"), [(0.1, 2), (1.0, 2), (1.2, 2), (1.3, 3), (3.0, 6)])
def test_a_shard_leaves_the_draft_warm_and_ends_at_temperature_0(effort, sweeps):
    targets = [SimpleNamespace(sigma=s) for s in (3.0, 1.0, 50.0)]
    pace = shaken(800_000, targets, effort)
    *warm, last = pace.temperatures
    assert (len(pace.temperatures), last, pace.repeats) == (sweeps, 0.0, 1)
    # forty counts for 800,000 records: the variance of a cell is the temperature times sigma squared
    assert [math.sqrt(t) * 3.0 for t in warm] == pytest.approx([40.2] * (sweeps - 1), abs=0.1)


@pytest.mark.parametrize(("shards", "part"), [(1, 1.0), (2, 0.5), (3, 0.75), (4, 1.0), (5, 1.0), (100, 1.0)])
def test_the_draft_of_few_shards_gets_a_quarter_of_the_effort_for_each(shards, part):
    assert draft_effort(3.0, shards) == 3.0 * part
