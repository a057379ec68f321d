"""Entries of a ledger: what a run spends, and whom it still protects."""

import itertools
import math

import pytest

from dpsyn_core.errors import BudgetError
from dpsyn_core.privacy.budget import Budget, Cost
from dpsyn_core.privacy.ledger.entry import Entry, Protected, Spend, composition, protected, unbounded
from dpsyn_core.privacy.unit import Unit


@pytest.mark.parametrize(("amount", "delta", "fits"), [
    *((1.0, 0.0, True), (0.0, 0.0, False), (math.inf, 0.0, False), (math.nan, 0.0, False), (-1.0, 0.0, False)),
    *((1.0, math.nextafter(1, 0), True), (1.0, 1.0, False), (1.0, -1e-9, False), (1.0, 1.5, False)),
])  # fmt: skip
def test_a_spend_is_positive_and_its_delta_below_one(amount, delta, fits):
    if fits:
        assert Spend(kind="pure", amount=amount, delta=delta).amount == amount
    else:
        with pytest.raises(BudgetError, match="a spend needs"):
            Spend(kind="pure", amount=amount, delta=delta)


def test_a_spend_is_composed_by_its_kind():
    found = {
        Spend.of(Budget(epsilon=1.5, delta=1e-6)): {"pairs": ((1.5, 1e-6),)},
        Spend.of(Cost(epsilon=0.7), delta=1e-7): {"pure": (0.7,), "delta": 1e-7},
        Spend.of(Cost(rho=0.3, mixed=True), delta=1e-7): {"rho": 0.3, "delta": 1e-7},
        Spend.of(Cost(rho=0.32), delta=1e-7): {"mu2": pytest.approx(0.64), "delta": 1e-7},
    }
    for spend, said in found.items():
        made = composition(spend)
        for name, nothing in (("pairs", ()), ("pure", ()), ("rho", 0.0), ("mu2", 0.0), ("delta", 0.0)):
            assert getattr(made, name) == said.get(name, nothing), (spend, name)


def entry(neighbours="add-remove", most=1, individuals="", purpose="synthesis"):
    return Entry(
        seq=1, dataset="d", run_id="r", method="m", purpose=purpose, neighbours=neighbours, max_records=most,
        kind="pure", amount=1.0, failure=0.0, epsilon=1.0, delta=0.0, recorded="", individuals=individuals,
    )  # fmt: skip


def test_steps_from_whom_a_run_protects_to_whom_is_asked_about():
    both = ("add-remove", "replace")
    for mine, theirs, records, most in itertools.product(both, both, (1, 2, 5), (1, 2, 3)):
        any_records = Protected(records=records, neighbours=mine)
        run = entry(theirs, most)
        exchange = 1 if mine == theirs else 2
        hidden = theirs == "replace" and mine == "add-remove"
        assert any_records.steps(run) == (None if hidden else exchange * math.ceil(records / most))
        named = entry(theirs, most, "who")
        expected = None if theirs == "replace" else 2 * exchange * records
        assert any_records.steps(named) == expected
        who = Protected(identifier="who", neighbours=mine)
        assert who.steps(named) == (None if hidden else exchange)
        assert who.steps(run) is None and who.steps(entry(theirs, most, "other")) is None
        assert who.steps(entry(theirs, most, "who", "no promise")) is None


def test_everybody_whom_a_run_protects_is_listed_once():
    runs = [entry(), entry(most=3), entry(individuals="who", most=2), entry(most=3), entry(individuals=None, most=4)]
    assert protected(runs) == [Protected(), Protected(records=3), Protected(identifier="who")]
    assert {p.neighbours for p in protected([*runs, entry("replace")])} == {"replace"}
    assert unbounded(runs, Protected(identifier="who")) == (runs[0], runs[1], runs[3], runs[4])
    assert Protected.by(Unit(max_records=3)) == Protected(records=3)
    assert Protected.by(Unit(max_records=3, identifier="who", neighbours="replace")) == Protected(
        identifier="who", neighbours="replace"
    )
    said = [Protected().words, Protected(records=2).words, Protected(identifier="who").words]
    assert said == ["single records", "any 2 records together", "individuals named by 'who'"]
