"""Opening a run: the price is on the disk before the gate exists, and every kind of run goes this one way."""

import sqlite3

import numpy as np
import pytest

from dpsyn_core.errors import EngineError, LedgerError
from dpsyn_core.measure.counting.transactions import TableTransactions
from dpsyn_core.measure.discovery import Wanted
from dpsyn_core.measure.gate import Gate
from dpsyn_core.measure.sources.transactions import ItemSource
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.runs import open as opening
from dpsyn_core.runs.further_marginals import release_marginals
from dpsyn_core.runs.itemsets import frequent_itemsets
from dpsyn_core.runs.open import open_run, public_facts
from dpsyn_core.runs.purchase import buy_schema
from dpsyn_core.runs.spec import RunSpec
from dpsyn_core.runs.synthesis import synthesize
from tests.audit.whole import crowd, rows, schema
from tests.privacy.facts import facts

BUDGET = Budget(epsilon=1.0, delta=1e-6)
UNIT = Unit(identifier="who", max_records=2)


def facts_of(declared):
    return public_facts(declared, dataset=None, query_vouched=False, reasons=(), public_table=None)


@pytest.fixture
def book(tmp_path):
    return Ledger(tmp_path / "ledger.sqlite3")


def opened(book, **changes):
    given = {"budget": BUDGET, "unit": UNIT, "method": "m", "ledger": book} | changes
    return open_run("people", BUDGET.gaussian(), **given)


def release(book):
    synthesize(
        rows(*crowd(60, 0)), schema(), epsilon=1.0, delta=1e-6, rng=0, method="independent", dataset="d", ledger=book
    )


def marginals(book):
    spec = RunSpec(epsilon=1.0, delta=1e-6, method="priview", dataset="d")
    release_marginals(rows(*crowd(60, 0)), schema(), [["city"]], spec, facts=facts_of(schema()), ledger=book)


def purchase(book):
    wanted = [Wanted(name="age", kind="integer", bins=3)]
    buy_schema(rows(*crowd(60, 0)), wanted, name="d", epsilon=50.0, delta=1e-6, ledger=book)


def itemsets(book):
    counter = TableTransactions.of_codes(np.eye(3, dtype=np.uint8))
    spec = RunSpec(epsilon=1.0, delta=0.0, method="privbasis", settings={"k": 2}, dataset="d")
    frequent_itemsets(
        ItemSource(counter=counter, items=tuple("abc"), unit=Unit()), spec, query_vouched=False, ledger=book
    )


RUNS = {"synthesis": release, "marginals": marginals, "schema": purchase, "itemsets": itemsets}


@pytest.mark.parametrize("kind", RUNS)
def test_every_kind_of_run_is_on_the_disk_before_its_gate_exists_and_once(kind, book, monkeypatch):
    seen = []

    class Late(Gate):
        def __init__(self, **kwargs):
            with sqlite3.connect(book.path) as db:  # another process would see it too
                seen.append(db.execute("SELECT count(*) FROM spends WHERE dataset = 'd'").fetchone()[0])
            super().__init__(**kwargs)

    monkeypatch.setattr(opening, "Gate", Late)
    RUNS[kind](book)
    assert seen == [1]
    assert len(book.entries("d")) == 1


@pytest.mark.parametrize("kind", RUNS)
def test_a_run_beyond_the_limit_opens_no_gate(kind, book, monkeypatch):
    book.set_limit("d", Budget(epsilon=0.5, delta=1e-6))
    monkeypatch.setattr(opening, "Gate", lambda **_: pytest.fail("a gate was opened"))
    with pytest.raises(LedgerError):
        RUNS[kind](book)
    assert book.entries("d") == []


def test_a_gate_spends_no_more_than_was_reserved(book):
    run = opened(book, failure=0.0)
    (entry,) = book.entries("people")
    assert entry.run_id == run.run_id
    assert entry.amount**2 / 2 == pytest.approx(run.gate.account.limit, rel=1e-12)  # mu on the ledger, rho in the gate
    assert run.gate.unit == UNIT
    assert (entry.individuals, entry.max_records) == ("who", 2)


def test_a_manifest_names_the_run_that_the_ledger_booked_and_what_the_run_rests_on(book):
    run = opened(book)
    run.gate.release("total", lambda: np.array(7), kind="total", cells=1, cost=BUDGET.gaussian())
    declared = facts_of(schema())
    made = run.manifest(declared, settings={"a": 1}, n_records=3, seed=5)
    assert made.run_id == book.entries("people")[0].run_id
    assert (made.identifier, made.max_records, made.dataset) == ("who", 2, "people")
    assert (made.schema_name, made.schema_hash) == ("people", declared.digest)
    assert [c.name for c in made.charges] == [c.name for c in run.charges] == ["total"]
    assert made.private
    stamped = run.manifest(facts(reasons=("seen",)), settings={}, n_records=0)
    assert not stamped.private


def test_a_manifest_is_withheld_when_the_charges_are_above_the_budget(book):
    run = opened(book)
    run.gate.release("total", lambda: np.array(7), kind="total", cells=1, cost=BUDGET.gaussian())
    run.gate.account.charges.append(run.charges[0])
    with pytest.raises(EngineError, match="not covered"):
        run.manifest(facts_of(schema()), settings={}, n_records=0)
