"""Bought ranges and edges without noise and with noise that is given, against their rules written out once more."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from dpsyn_core.errors import BudgetError
from dpsyn_core.measure.gate import Gate
from dpsyn_core.measure.quantiles import Span, _widened, buy_edges, buy_range, ceiling, edges_of, noise_ceiling
from dpsyn_core.measure.releases import sigma_of
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Cost
from dpsyn_core.privacy.charge import Charge
from dpsyn_core.privacy.unit import Unit

RHO = Cost(rho=0.5)


class Quiet:
    def gaussian(self, sigma, size):
        return np.zeros(size, dtype=np.int64)

    geometric = gaussian


def gate(cost=RHO):
    return Gate(account=Account(cost), noise=Quiet(), unit=Unit())


def bought(values, *, whole=True, cost=RHO, **more):
    made = gate(cost)
    return buy_range(np.asarray(values), "x", whole=whole, gate=made, cost=cost, **more), made.account.charges


@pytest.mark.parametrize(
    ("values", "whole", "ends"),
    [
        ([0] * 99, True, (0.0, 0.0)),
        ([1] * 99, True, (1.0, 1.0)),
        ([3, 5] * 99, True, (2.0, 7.0)),
        ([-3, 5] * 99, True, (-3.0, 7.0)),
        ([-9, -3] * 99, True, (-15.0, -2.0)),
        ([0.3, 5.5] * 99, False, (0.25, 8.0)),
        ([-0.3, 0.0] * 99, False, (-0.5, 0.0)),
        ([2**53, 2**55] * 99, True, (2.0**53, 2.0**56)),
        ([40] * 99 + [9] * 4, True, (32.0, 63.0)),
    ],
)
def test_a_range_spans_the_powers_of_two_that_many_records_have(values, whole, ends):
    for cost in (RHO, Cost(epsilon=1.0)):
        found, (charge,) = bought(values, whole=whole, cost=cost)
        assert found == Span(*ends, None, None)
        assert (charge.name, charge.kind, charge.cells) == ("range of x", "range", 126 if whole else 206)


def test_a_range_says_how_many_records_may_lie_outside_it():
    total = SimpleNamespace(values=np.array(130), sigma=4.0)
    found, (charge,) = bought([40] * 99 + [2**30] * 3, blanks=10, total=total)
    sigma = sigma_of(charge)
    spread = math.sqrt(4.0**2 + 2 * sigma**2)  # of the total, the blank cells and the one bucket of the range
    assert found == (32.0, 63.0, 21.0, pytest.approx(21 + 1.645 * spread))
    none, _ = bought([40] * 99, total=SimpleNamespace(values=np.array(50), sigma=0.0))
    assert none.outside == 0.0 and none.most == pytest.approx(min(1.645 * sigma * math.sqrt(2), 50.0))
    few, _ = bought([40] * 99, blanks=60, total=SimpleNamespace(values=np.array(61), sigma=9.0))
    assert few.most == 1.0 and bought([40] * 99, total=SimpleNamespace(values=np.array(-5), sigma=1.0))[0].most == 0.0
    with pytest.raises(BudgetError, match="cannot be distinguished"):
        bought([40] * 3)


def widened(counts, seen, side, held, doubt, sigma):
    """As documented: windows of four near the largest magnitude, while clearly more records lie outside."""
    seen = list(seen)
    while True:
        marked = [i for i, s in enumerate(seen) if s]
        top = max(abs(i - side) for i in marked)
        between = range(marked[0], marked[-1] + 1)
        inside = [i for i in between if abs(i - side) >= top - 6 or i == side]
        spread = math.sqrt(doubt**2 + sigma**2 * len(inside))
        outside = held - sum(counts[i] for i in inside)
        free = [
            c if top - 6 <= abs(i - side) <= top + 3 and i not in between else 0.0 for i, c in enumerate(counts)
        ]  # fmt: skip
        sums = [sum(free[i : i + 4]) for i in range(len(free) - 3)]
        best = sums.index(max(sums))
        if outside <= 2 * spread or outside <= held / 10 or sums[best] <= 2.5 * sigma * 2:
            return seen, max(outside, 0.0), spread
        for i in range(best, best + 4):
            seen[i] = seen[i] or free[i] > 0


@pytest.mark.parametrize("seed", range(40))
def test_a_range_is_widened_while_clearly_more_records_lie_elsewhere(seed):
    rng = np.random.default_rng(seed)
    side, sigma = 20, float(rng.choice([1.0, 5.0, 20.0]))
    counts = np.round(rng.normal(0, sigma, 41))
    for at in rng.integers(0, 41, 5):
        counts[at] += rng.choice([10, 60, 400])
    seen = np.zeros(41, dtype=bool)
    seen[rng.integers(0, 41, int(rng.integers(1, 3)))] = True
    held, doubt = float(counts[counts > 0].sum() * rng.uniform(0.8, 1.3)), float(rng.uniform(0, 30))
    expected = widened(counts.tolist(), seen, side, held, doubt, sigma)
    found, outside, spread = _widened(counts, seen, side, held, doubt, sigma)
    assert found.tolist() == expected[0]
    assert (outside, spread) == pytest.approx(expected[1:])


def test_what_noise_reaches_is_the_root_of_twice_the_log_odds_or_chernoffs_bound():
    noisy = Charge(name="c", mechanism="gaussian", sensitivity=1, scale=3.0, cells=9)
    assert ceiling(noisy, 40) == pytest.approx(3 * math.sqrt(2 * math.log(40_000)) + 0.5)
    assert ceiling(noisy, 40, 4) == pytest.approx(3 * math.sqrt(8 * math.log(40_000)) + 0.5)
    laplace = Charge(name="c", mechanism="geometric", sensitivity=1, scale=3.0, cells=9)
    assert ceiling(laplace, 40) == pytest.approx(3 * math.log(40_000))
    grid = [k / 20 for k in range(1, 20)]
    least = min((math.log(40_000) - 2 * math.log(1 - s * s)) / s for s in grid)
    assert ceiling(laplace, 40, 2) == pytest.approx(3 * least)
    released = SimpleNamespace(charge=laplace, values=np.zeros(40))
    assert noise_ceiling(released) == ceiling(laplace, 40) and noise_ceiling(released, 2) == ceiling(laplace, 40, 2)


def edges(levels, bins):
    """For each quantile: down the children whose running sum first reaches it, then the nearer end of the leaf."""
    total = max(0, int(sum(levels[0])))
    out = set()
    for j in range(1, bins) if total else ():
        node, rest, weight = 0, total * j / bins, 0.0
        for level in levels:
            children = [max(0, int(c)) for c in level[4 * node : 4 * node + 4]]
            child = next((c for c in range(4) if sum(children[: c + 1]) >= rest), 3)
            rest = max(0.0, rest - sum(children[:child]))
            node, weight = 4 * node + child, children[child]
        out |= {node, node + 1} if weight > total / bins else {node + (rest >= weight / 2)}
    return sorted(out)


@pytest.mark.parametrize("seed", range(30))
def test_edges_are_found_by_walking_down_the_noisy_tree(seed):
    rng = np.random.default_rng(seed)
    leaves = rng.poisson(rng.choice([0.2, 3, 40]), 4**3) + (rng.random(64) < 0.05) * 90
    levels = [leaves.reshape(4**k, -1).sum(axis=1) + rng.integers(-4, 5, 4**k) * (seed % 3) for k in (1, 2, 3)]
    for bins in (1, 2, 3, 7, 12):
        assert edges_of(levels, bins) == edges(levels, bins)


@pytest.mark.parametrize(
    ("low", "high", "whole", "levels"),
    [(0, 0, True, 1), (0, 3, True, 1), (0, 4, True, 2), (5, 20, True, 2), (5, 21, True, 3), (-50, 2000, True, 6),
     (0, 10**6, True, 6), (0.0, 1.0, False, 6), (-2.5, 7.5, False, 6)],
)  # fmt: skip
def test_edges_are_bought_in_as_few_levels_as_whole_numbers_need(low, high, whole, levels):
    rng = np.random.default_rng(levels)
    values = rng.integers(low, high + 1, 500) if whole else rng.uniform(low - 1, high + 1, 500)
    made, cost = gate(), RHO
    found = buy_edges(values, "x", low=low, high=high, bins=5, whole=whole, gate=made, cost=cost)
    charges = made.account.charges
    assert [c.cells for c in charges] == [4**k for k in range(1, levels + 1)]
    assert [c.name for c in charges] == [f"quantiles of x, level {k}" for k in range(1, levels + 1)]
    assert {c.kind for c in charges} == {"quantiles"}
    assert [c.rho for c in charges] == pytest.approx([0.5 / levels] * levels)
    width = math.ceil((high - low + 1) / 4**levels) if whole else (high - low) / 4**levels
    leaves = np.zeros(4**levels, dtype=int)
    for v in values:
        leaves[min(4**levels - 1, int((min(max(v, low), high) - low) / width))] += 1
    exact = [leaves.reshape(4**k, -1).sum(axis=1) for k in range(1, levels + 1)]
    assert found == sorted({float(low + e * width) for e in edges(exact, 5) if low < low + e * width < high})
