"""Bought ranges: wide enough where the noise hides a side, with a word on how sure they are; what a price finds."""

import numpy as np
import pyarrow as pa
import pytest

from dpsyn_core.errors import BudgetError
from dpsyn_core.measure.discovery import Wanted, cap_of, category_count
from dpsyn_core.measure.forecast import least_epsilon, people_needed
from dpsyn_core.measure.gate import Gate
from dpsyn_core.measure.quantiles import buy_range
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget, Cost
from dpsyn_core.privacy.composition import compose
from dpsyn_core.privacy.noise.system import SystemNoise
from dpsyn_core.privacy.unit import Unit
from tests.measure.test_discover import buy

TINY = Budget(epsilon=0.1, delta=1e-9)


def scores(n=2700, seed=1):
    """Like the column statusquo of the survey `Chile`: a pile near -1.3, the rest spread up to 2."""
    rng = np.random.default_rng(seed)
    low, rest = rng.normal(-1.2, 0.12, n // 3), rng.normal(0.5, 0.7, n - n // 3)
    return np.clip(np.concatenate([low, rest]), -1.8, 2.05).round(5)


def spans(budget, runs=12):
    values = scores()
    table = pa.table({"status": [str(v) for v in values], "other": [str(v) for v in values]})
    wanted = [Wanted(name="status", kind="float"), Wanted(name="other", kind="float")]
    out = []
    for _ in range(runs):
        try:
            found, _gate = buy(table, wanted, budget)
        except BudgetError:
            continue
        for name, (about, most) in found.outside.items():
            a = found.schema[name]
            out.append((float(((values < a.min) | (values > a.max)).sum()), about, most))
    return np.array(out)


def test_a_range_that_leaves_many_records_out_is_widened_or_says_so():
    got = spans(TINY)
    assert len(got) >= 4, "this budget finds something most of the time"
    out, _, most = got.T
    assert (out <= most).mean() >= 0.75, "at most so many lie outside, with 95 % confidence"
    silent = (out > 900) & (most < 900)
    assert not silent.any(), "no range loses a third of the records without a word"


def test_at_a_usual_budget_a_range_holds_nearly_every_record_and_says_that_few_are_outside():
    got = spans(Budget(epsilon=2.0, delta=1e-9), runs=4)
    assert (got[:, 0] <= 40).all(), "the 28 records above 2 are as many as the noise"
    assert (got[:, 2] < 300).all()


def test_blank_cells_are_no_records_outside():
    gate = Gate(account=Account(Cost(rho=9.0)), noise=SystemNoise(), unit=Unit())
    total = gate.release("n", lambda: np.array(1000), kind="total", cells=1, cost=Cost(rho=1.0))
    got = buy_range(np.full(500, 40), "x", whole=True, gate=gate, cost=Cost(rho=5.0), blanks=500, total=total)
    assert got[:2] == (32, 63)
    assert got.most < 30


def test_what_was_found_is_kept_when_another_column_fails():
    table = pa.table({"age": ["40"] * 900, "name": [str(i) + "x" for i in range(900)]})
    wanted = [Wanted(name="age", kind="integer"), Wanted(name="name", kind="categorical")]
    found, gate = buy(table, wanted, Budget(epsilon=1.0, delta=1e-6))
    assert [a.name for a in found.schema.attributes] == ["age"]
    assert "shared by enough individuals" in found.failed["name"]
    assert len(found.schema.bought) == len(gate.account.charges), "what was spent in vain is listed too"
    with pytest.raises(BudgetError, match="shared by enough"):
        buy(table, wanted[1:], Budget(epsilon=1.0, delta=1e-6))


@pytest.mark.parametrize("unit", [Unit(), Unit(neighbours="replace", max_records=3, identifier="who")])
@pytest.mark.parametrize("kind", ["integer", "float", "categorical", "date"])
def test_a_price_says_how_many_people_a_value_needs(kind, unit):
    wanted = [Wanted(name="x", kind=kind)]
    at = [people_needed(wanted, unit, Budget(epsilon=e, delta=1e-9))["x"] for e in (0.1, 1.0, 10.0)]
    assert at[0] > 4 * at[1] > 8 * at[2] > 0
    least = least_epsilon(wanted, unit, 1e-9, 10 * at[1])
    assert 0.5 < least < 1.1, "a tenth of the records are then as many as a value needs at epsilon 1"
    assert least_epsilon(wanted, unit, 1e-9, 1) is None


def test_as_many_people_as_a_price_needs_are_found():
    wanted, budget = [Wanted(name="x", kind="categorical")], Budget(epsilon=1.0, delta=1e-6)
    n = people_needed(wanted, Unit(), budget)["x"]
    hits = 0
    for _ in range(10):
        found, _gate = buy(pa.table({"x": ["oslo"] * n + ["rome"] * (4 * n)}), wanted, budget)
        hits += "oslo" in found.schema["x"].values
    assert hits >= 8


def test_categories_are_bought_in_the_currency_that_lists_those_of_fewer_people():
    budget = Budget(epsilon=1.0, delta=1e-9)
    few = [Wanted(name="job", kind="categorical")]
    many = [Wanted(name=f"c{i}", kind="categorical") for i in range(10)]
    panel = Unit(max_records=20, identifier="who")
    needed = {}
    for what, wanted, unit in (("few", few, Unit()), ("many", many, Unit()), ("panel", few, panel)):
        cost, failure = cap_of(wanted, budget, unit)
        assert failure == budget.delta / 2
        other = budget.gaussian(spare_delta=failure) if cost.pure else budget.pure()
        needed[what] = people_needed(wanted, unit, budget)[wanted[0].name]
        assert needed[what] < category_count(wanted, other, unit, failure)
        assert cost.pure == (what == "few")
    # 274 and 546 with geometric noise; a Gaussian tail falls faster, and many categories move it by a square root
    assert needed == {"few": 28, "many": 166, "panel": 237}


def test_bought_categories_of_many_columns_cost_no_more_than_their_budget():
    budget = Budget(epsilon=1.0, delta=1e-9)
    wanted = [Wanted(name=f"c{i}", kind="categorical") for i in range(10)]
    table = pa.table({w.name: ["oslo"] * 400 + ["rome"] * 30 for w in wanted})
    found, _gate = buy(table, wanted, budget)
    assert {c.mechanism for c in found.charges} == {"gaussian", "partition-selection"}
    assert compose(found.charges).epsilon(budget.delta) <= budget.epsilon
    assert all(a.values == ("oslo",) for a in found.schema.attributes), "30 people are far below the threshold"
