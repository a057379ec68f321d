"""Systems without noise: refused unless somebody says that nothing is promised, and stamped in every document."""

import numpy as np
import pyarrow as pa
import pytest

from dpsyn_core.errors import DPSynError, EngineError, LedgerError
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.counting.sums import Features, SumRule
from dpsyn_core.measure.unprotected import UnprotectedGate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget, Cost
from dpsyn_core.privacy.ledger.entry import UNPROTECTED
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.privacy.noise.system import SystemNoise
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.runs.open import open_run
from dpsyn_core.runs.synthesis import synthesize
from dpsyn_core.runs.verify.receipts import receipt
from dpsyn_core.schema.document import Schema
from dpsyn_core.systems import registry
from dpsyn_core.systems.dry_run import plan
from tests.commands.small import SCHEMA
from tests.systems.harness import domain_of, random_codes, task_for

NAMES = tuple(registry.UNPROTECTED)
SIZES = {"a": 3, "b": 4}


@pytest.mark.parametrize("name", NAMES)
def test_a_system_without_noise_is_offered_nowhere_and_runs_only_where_it_is_said_that_nothing_is_promised(name):
    assert name not in registry.names()
    described = registry.describe(name)
    assert described["unprotected"] and "NOT PRIVATE" in described["guarantee"]
    task = task_for(name, SIZES, 10)
    with pytest.raises(DPSynError, match="promises nothing; set not_private"):
        registry.configure(name, {}).calibrate(task)


@pytest.mark.deep
@pytest.mark.parametrize("name", NAMES)
def test_a_system_without_noise_has_nothing_to_plan(name):
    task = task_for(name, SIZES, 10)
    with pytest.raises(DPSynError, match="nothing to plan"):
        plan(name, {"not_private": True}, task)


def test_the_gate_without_noise_gives_exact_values_books_nothing_and_refuses_all_other_ways():
    codes, cost = random_codes(SIZES, 50), Cost(rho=1.0)
    domain = domain_of(SIZES)
    counter = MemoryCounter(codes, domain)
    gate = UnprotectedGate(account=Account(cost), noise=SystemNoise(), unit=Unit())
    got = gate.release("a", lambda: counter.marginal(("a",)), kind="1-way", cells=3, cost=cost)
    assert got.values.tolist() == np.bincount(codes[0], minlength=3).tolist()
    rule = SumRule(features=Features(tables={"b": np.arange(4.0)[:, None]}), clip=4.0, cells=1)
    whole = gate.release_sum("b", counter, lambda block: [block], rule=rule, cost=cost)
    # the grid leaves a share of 2^-11 of the clip norm a record
    assert whole.values == pytest.approx(codes[1].sum(), abs=0.1)
    steps = gate.release_sampled_sum("b", counter, rule=rule, rate=1.0, steps=1, cost=cost, delta=0.0)
    assert steps.step(lambda block: [block]).values == whole.values
    assert not gate.account.charges
    with pytest.raises(EngineError, match="promise"):
        gate.select("c", lambda: np.zeros(2), sensitivity=1.0, cost=cost)


def test_after_a_run_without_noise_the_ledger_bounds_nothing_and_a_limit_refuses_it(tmp_path):
    book, budget, unit = Ledger(tmp_path / "ledger.sqlite3"), Budget(epsilon=1.0, delta=1e-6), Unit()
    cost = budget.gaussian()

    def opened(**more):
        return open_run("t", cost, budget=budget, unit=unit, method="vae", ledger=book, **more)

    opened()
    assert book.summary("t").epsilon is not None
    book.set_limit("t", Budget(epsilon=5.0, delta=1e-5))
    with pytest.raises(LedgerError, match="adds no noise"):
        opened(unprotected=True)
    book.set_limit("t", None)
    opened(unprotected=True)
    assert [e.purpose for e in book.entries("t")] == ["synthesis", UNPROTECTED]
    assert book.summary("t").epsilon is None
    assert book.summary("t").sums[0].unbounded == (2,)


@pytest.mark.deep
@pytest.mark.parametrize("name", NAMES)
def test_a_run_without_noise_says_so_in_its_manifest_and_its_certificate_and_is_never_publishable(name, tmp_path):
    table = pa.table({
        "sex": ["F", "M"] * 60, "age": [str(i % 100) for i in range(120)], "pay": [str(i % 10) for i in range(120)],
        "note": ["a,b", "c", "=1+1"] * 40,
    })  # fmt: skip
    settings = {"not_private": True, "steps": 4, "hidden": 3, "sampling": 0.5}
    made = synthesize(
        table, Schema.of(SCHEMA), epsilon=1.0, delta=1e-6, rng=0, method=name, settings=settings, n_records=30,
        ledger=Ledger(tmp_path / "ledger.sqlite3"),
    )  # fmt: skip
    m = made.manifest
    assert not m.private
    assert m.not_private_because[0] == f"the method '{name}' adds no noise"
    assert "no noise was added" in m.guarantee and "epsilon" not in m.guarantee
    assert m.certificate().startswith("NOT PRIVATE")
    assert not m.charges
    made.write(tmp_path / "t.csv", tmp_path / "m.json")
    found = receipt(tmp_path / "t.NOT-PRIVATE.csv", tmp_path / "m.json")
    assert found.holds and not found.publishable
