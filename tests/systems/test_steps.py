"""Steps of a forecast: shares, noise and the gains of an ordinary table, against their formulas."""

import math

import numpy as np
import pytest

from dpsyn_core.privacy.budget import Cost
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.systems.steps import USUAL, WEAK_STRONG, Step, _step, even, noise_of, share_of, usual_gains


def test_a_step_holds_its_own_kind_and_chosen_tables_any_number_of_columns():
    kinds = ("total", "1-way", "2-way", "scores", "chosen")
    for kind in ("2-way", "chosen", "listed", "scores"):
        step = Step(kind=kind, parts=(1, 1), share=(1.0, 1.0))
        expected = {kind} | ({"1-way", "2-way"} if kind in ("chosen", "listed") else set())
        assert {k for k in kinds if step.holds(k)} == expected & set(kinds)
        assert (step.sigma, step.cells, step.likely, step.about, step.inside) == (None, (1, 1), None, False, ())
    inside = Step(kind="2-way", parts=(1, 1), share=(1.0, 1.0), inside=("a", "b"))
    assert inside.reaches("ab") and inside.reaches("a") and not inside.reaches("bc") and step.reaches("xyz")


@pytest.mark.parametrize("unit", [Unit(), Unit(neighbours="replace", max_records=3)])
@pytest.mark.parametrize("whole", [Cost(rho=2.0), Cost(epsilon=2.0)])
def test_tables_share_a_cost_evenly(unit, whole):
    part = whole.scaled(0.25)
    assert share_of(part, whole) == 0.25
    norm = unit.l1() if whole.pure else unit.l2()
    alone = norm / 0.5 if whole.pure else norm / math.sqrt(2 * 0.5)
    assert noise_of(part, unit) == pytest.approx(alone)
    power = 1.0 if whole.pure else 0.5
    for parts, fewest in (((1, 9), 1), ((4, 9), 4), ((0, 9), 1)):
        step = even("2-way", part, whole, unit, parts=parts, cells=iter([6, 2, 40]))
        assert step.share == (0.25 if parts[0] else 0.0, 0.25)
        assert step.sigma == (pytest.approx(alone * fewest**power), pytest.approx(alone * 9**power))
        assert (step.kind, step.parts, step.cells) == ("2-way", parts, (2, 40))


@pytest.mark.parametrize("count", [1, 2, 3, 7, 10, 64, 91, 1000])
def test_multiples_of_a_step_visit_every_position(count):
    step = _step(count)
    assert step >= 1 and math.gcd(step, count) == 1
    assert step == next(s for s in range(max(1, round(0.618 * count)), 2 * count + 2) if math.gcd(s, count) == 1)
    assert len({k * step % count for k in range(count)}) == count


@pytest.mark.parametrize("pairs", [1, 5, 45, 1000])
def test_gains_of_an_ordinary_table_are_exponential_quantiles_with_noise(pairs):
    at = (np.arange(pairs) + 0.5) / pairs
    plain = usual_gains(pairs, 2000.0, 0.0, 0.15)
    assert sorted(plain) == pytest.approx(sorted(-np.log(at) * 0.15 * 2000))
    noise = usual_gains(pairs, 2000.0, 30.0, 0.15) - plain
    assert sorted(noise) == pytest.approx(sorted(30 * np.log(at / (1 - at)) / 1.702), abs=1e-9)
    step = _step(pairs)
    for k in range(pairs):
        i, j = k * step % pairs, k * step * step % pairs
        assert plain[k] == pytest.approx(-math.log(at[i]) * 300)
        assert noise[k] == pytest.approx(30 * math.log(at[j] / (1 - at[j])) / 1.702, abs=1e-9)
    assert usual_gains(0, 2000.0, 30.0, 0.15).size == 0
    assert WEAK_STRONG == (USUAL / 2, USUAL * 2) == (0.075, 0.3)
