"""How a run divides its budget: what the Privacy page shows is what the run charges."""

import pytest

from dpsyn_core.errors import BudgetError
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.runs.synthesis import synthesize
from dpsyn_core.runs.trees.division import check_drawable, costs_of, steps_of
from dpsyn_core.runs.trees.measurement import SHARES
from tests.runs.trees.small import SCHEMAS, tables


def division(schema, budget):
    """The steps of a run without questions."""
    cost = budget.gaussian() if budget.delta else budget.pure()
    costs = costs_of(schema, cost, SHARES)
    check_drawable(schema, costs)
    return steps_of(schema, cost, costs, [])


@pytest.mark.parametrize("name", list(SCHEMAS))
@pytest.mark.parametrize("delta", [0.0, 1e-9])
def test_the_steps_share_the_whole_budget(name, delta):
    steps = division(SCHEMAS[name], Budget(epsilon=1, delta=delta))
    assert sum(s.share for s in steps) == pytest.approx(1)
    assert steps[0].what == "root" and all(s.noise > 0 for s in steps)
    roles = [s.role for s in steps if s.what == "role"]
    declared = SCHEMAS[name].links[0].roles
    assert roles == ([] if declared is None else list(declared.single))


def test_a_step_has_the_share_that_its_charges_add_up_to(tmp_path):
    schema = SCHEMAS["roles"]
    ledger = Ledger(tmp_path / "ledger.sqlite3")
    made = synthesize(tables(400, 3, seed=1), schema, epsilon=3, delta=1e-9, rng=1, ledger=ledger)
    budget = Budget(epsilon=3, delta=1e-9)
    charges = made.manifest.charges
    first = next(i for i, c in enumerate(charges) if "kids[0]" in c.name)
    whole, (root, *_) = budget.gaussian().rho, division(schema, budget)
    assert sum(c.rho for c in charges[:first]) == pytest.approx(root.share * whole, rel=1e-6)
    assert sum(c.rho for c in charges) == pytest.approx(whole, rel=1e-6)


def test_exchanged_roots_cost_more_noise():
    one = SCHEMAS["roles"]
    other = one.model_copy(update={"unit": one.unit.model_copy(update={"neighbours": "replace"})})
    budget = Budget(epsilon=1, delta=1e-9)
    for a, b in zip(division(one, budget), division(other, budget), strict=True):
        assert b.noise == pytest.approx(2**0.5 * a.noise) and b.share == a.share


def test_a_budget_whose_noise_cannot_be_drawn_is_refused():
    with pytest.raises(BudgetError):
        division(SCHEMAS["many"], Budget(epsilon=1e-15, delta=1e-9))
