"""Exceptions to what follows are counted as they are defined, and one individual moves them by as much as is stated."""

import itertools

import numpy as np
import pytest

from dpsyn_core.estimate.marginals.coarsening import Coarsening
from dpsyn_core.measure import select
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.gate import Gate
from dpsyn_core.measure.select import exceptions_noise, score_exceptions
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Cost
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.domain import Domain

DOMAIN = Domain.of({"a": 3, "b": 2, "c": 4})
SETS = [("a", "b"), ("a", "c"), ("a", "c"), ("a", "b", "c"), ("a", "b", "c")]
OF = ["a", "a", "c", "b", None]


class NoNoise:
    def gaussian(self, sigma, size):
        return np.zeros(size, dtype=np.int64)

    geometric = gaussian


def scored(codes, unit, recodes=None, cost=None):
    cost = cost or Cost(rho=1.0)
    gate = Gate(account=Account(cost), noise=NoNoise(), unit=unit)
    scores, sigma = score_exceptions(MemoryCounter(codes, DOMAIN), SETS, OF, [recodes or {}] * 5, cost=cost, gate=gate)
    return scores, sigma, gate.account.charges[0]


def by_hand(codes, names, of, sizes=DOMAIN.sizes):
    """Records whose other columns are not the commonest among those with the same value of one column.

    Without one: records that have neither the first value of all columns nor the last one of all.
    """
    columns, last = dict(zip("abc", codes, strict=True)), dict(zip("abc", np.array(sizes) - 1, strict=True))
    if of is None:
        all_first = np.all([columns[n] == 0 for n in names], axis=0)
        return int((~all_first & ~np.all([columns[n] == last[n] for n in names], axis=0)).sum())
    rest = list(zip(*(columns[n] for n in names if n != of), strict=True))
    out = 0
    for value in set(columns[of]):
        beside = [r for r, v in zip(rest, columns[of], strict=True) if v == value]
        out += len(beside) - max(beside.count(r) for r in set(beside))
    return out


def test_a_score_is_the_number_of_records_that_differ_from_most(monkeypatch):
    codes = np.stack([np.random.default_rng(0).integers(0, s, 60) for s in DOMAIN.sizes]).astype(np.uint8)
    wanted = [by_hand(codes, names, of) for names, of in zip(SETS, OF, strict=True)]
    assert scored(codes, Unit())[0].tolist() == wanted
    monkeypatch.setattr(select, "BATCH", 13)  # tables are counted in parts
    assert scored(codes, Unit())[0].tolist() == wanted
    merged = codes.copy()
    merged[2] = codes[2] // 2
    coarse = scored(codes, Unit(), {"c": Coarsening.of([0, 0, 1, 1])})[0]
    assert coarse.tolist() == [by_hand(merged, names, of, (3, 2, 2)) for names, of in zip(SETS, OF, strict=True)]


def test_what_follows_has_no_exceptions():
    follows = np.array([1, 0, 1])
    a = np.random.default_rng(1).integers(0, 3, 50)
    codes = np.stack([a, follows[a], 2 * follows[a]]).astype(np.uint8)
    assert scored(codes, Unit())[0].tolist()[:2] == [0.0, 0.0]


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("theta", [1, 3])
def test_an_individual_moves_the_scores_by_no_more_than_declared_and_the_worst_one_by_as_much(neighbours, theta):
    """By exhaustion: everybody who may join, or come in the place of anybody else, beside tables of two kinds."""
    rng = np.random.default_rng(0)
    unit = Unit(neighbours=neighbours, max_records=theta)
    people = [
        np.repeat(np.array(v, np.uint8)[:, None], theta, axis=1) for v in itertools.product(*map(range, (3, 2, 4)))
    ]
    spread = np.stack([rng.integers(0, s, 20) for s in DOMAIN.sizes]).astype(np.uint8)
    alike = np.zeros((3, 20), dtype=np.uint8)  # every score of this one rises with somebody who differs in one column
    worst = worst_one = 0.0
    for base in (spread, alike):
        tables = {i: scored(np.hstack([base, p]), unit) for i, p in enumerate(people)}
        others = [scored(base, unit)[0]] if neighbours == "add-remove" else [s for s, _, _ in tables.values()]
        for scores, sigma, charge in tables.values():
            for other in others:
                moved = np.abs(scores - other)
                assert moved.max() <= theta
                assert np.linalg.norm(moved) <= charge.sensitivity
                worst, worst_one = max(worst, np.linalg.norm(moved)), max(worst_one, moved.max())
    assert worst_one == theta
    assert worst > 0.7 * charge.sensitivity  # the bound is not loose by design
    assert sigma == pytest.approx(charge.scale)


@pytest.mark.parametrize("cost", [Cost(rho=0.3), Cost(epsilon=0.3)])
def test_the_noise_is_known_before_it_is_paid_for(cost):
    unit = Unit(neighbours="replace", max_records=2)
    _, sigma, _ = scored(np.zeros((3, 5), dtype=np.uint8), unit, cost=cost)
    assert sigma == pytest.approx(exceptions_noise(len(SETS), cost, unit), rel=1e-3)
