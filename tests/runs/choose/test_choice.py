"""Private choice among runs: the stated price holds for small mechanisms by brute force, and is what is recorded."""

import math

import numpy as np
import pandas as pd
import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.errors import BudgetError, MethodError
from dpsyn_core.measure.gate import Gate
from dpsyn_core.measure.sources.choice import source_of
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.privacy.noise.system import SystemNoise
from dpsyn_core.privacy.selection import selection_epsilon, selection_renyi, selection_rho
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.runs.choose.choice import Candidate, choose, distance, draw_runs, price_of, ready, scored_pairs
from dpsyn_core.runs.open import public_facts
from dpsyn_core.runs.release import in_memory
from dpsyn_core.runs.verify.contradictions import contradictions
from dpsyn_core.schema.document import Schema

ORDERS = 1 + np.geomspace(0.01, 200, 120)


def renyi(p, q, order):
    logs = order * np.log(p) + (1 - order) * np.log(q)
    return float(np.logaddexp.reduce(logs)) / (order - 1)


def zcdp(p, q):
    """The least rho with which the pair is rho-zCDP, over a fine grid of orders, both ways."""
    fine = 1 + np.geomspace(1e-3, 1e4, 3000)
    return 1.001 * max(max(renyi(p, q, a), renyi(q, p, a)) / a for a in fine)


def best_of_geometric(p, mean):
    """Exact distribution of the largest of K draws: E[F^K] = g F / (1 - (1 - g) F) with g = 1 / mean."""
    g, below = 1 / mean, np.concatenate([[0.0], np.cumsum(p)])
    below[-1] = 1.0
    return np.diff(g * below / (1 - (1 - g) * below))


@pytest.mark.parametrize("runs", [2, 3, 7, 40])
def test_the_divergence_of_the_best_run_is_below_the_bound_for_random_mechanisms(runs):
    rng, closest = np.random.default_rng(runs), 0.0
    for _ in range(60):
        n = int(rng.integers(2, 8))
        p = rng.dirichlet(np.full(n, rng.choice([0.3, 1.0, 5.0]))) * 0.99 + 0.01 / n
        q = p * np.exp(rng.uniform(-1, 1, n) * rng.choice([0.01, 0.1, 0.5, 1.5]))
        q /= q.sum()
        rho = zcdp(p, q)
        a, b = best_of_geometric(p, runs), best_of_geometric(q, runs)
        for order in ORDERS:
            bound = selection_renyi(rho, runs, order)
            found = max(renyi(a, b, order), renyi(b, a, order))
            assert found <= bound * (1 + 1e-9)
            closest = max(closest, found / bound)
        epsilon = selection_epsilon(rho, runs, 1e-3)
        assert np.maximum(a - math.exp(epsilon) * b, 0).sum() <= 1e-3
        assert np.maximum(b - math.exp(epsilon) * a, 0).sum() <= 1e-3
    assert closest > 0.1  # the test would see a bound that is a tenth as large


def test_the_best_run_costs_more_than_one_run_by_itself():
    p = np.array([0.98, 0.02])
    q = np.array([0.96, 0.04])
    a, b = best_of_geometric(p, 10), best_of_geometric(q, 10)
    assert renyi(b, a, 2) > 1.5 * zcdp(p, q)


def test_rho_and_epsilon_are_inverse_and_the_factor_grows_with_the_runs():
    for runs in (2, 5, 100):
        rho = selection_rho(1.0, 1e-9, runs)
        assert 0.999999 < selection_epsilon(rho, runs, 1e-9) <= 1.0
    factors = [price_of(Budget(epsilon=1.0, delta=1e-9), runs).factor for runs in (2, 3, 10)]
    assert 1.2 < factors[0] < factors[1] < factors[2] < 3


@pytest.mark.parametrize("runs", [0, 1, 101, True])
def test_a_mean_that_is_out_of_range_is_refused(runs):
    with pytest.raises(BudgetError, match="mean number of runs"):
        selection_rho(1.0, 1e-9, runs)


def test_the_number_of_runs_is_geometric():
    drawn = np.array([draw_runs(3) for _ in range(30_000)])
    assert drawn.min() == 1
    assert abs(drawn.mean() - 3) < 0.1
    assert abs((drawn == 1).mean() - 1 / 3) < 0.02


def facts():
    return public_facts(schema(), dataset=None, query_vouched=False, reasons=(), public_table=None)


def table(n=400):
    rng = np.random.default_rng(1)
    a = rng.integers(0, 3, n)
    return pd.DataFrame({"a": a.astype(str), "b": ((a + (rng.random(n) < 0.2)) % 3).astype(str)})


def schema():
    values = ["0", "1", "2"]
    return Schema.of(
        {
            "version": 1,
            "name": "t",
            "attributes": [{"name": n, "kind": "categorical", "values": values} for n in ("a", "b")],
        }
    )


def test_a_record_moves_the_score_by_at_most_the_number_of_pairs():
    from dpsyn_core.measure.counting.memory import MemoryCounter

    domain, rng = schema().domain(), np.random.default_rng(0)
    codes = np.stack([rng.integers(0, 3, 50) for _ in domain.names]).astype(np.uint8)
    made = np.stack([rng.integers(0, 3, 47) for _ in domain.names]).astype(np.uint8)
    whole = distance(MemoryCounter(codes, domain), made, domain)
    for i in range(50):
        less = distance(MemoryCounter(np.delete(codes, i, axis=1), domain), made, domain)
        assert abs(whole - less) <= len(scored_pairs(domain))


def test_what_is_charged_is_the_stated_price_and_the_manifest_verifies(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite3")
    budget = Budget(epsilon=2.0, delta=1e-6)
    candidates = [Candidate(method="rls", settings={}), Candidate(method="mst", settings={})]
    measured = choose(source_of(table()), schema(), candidates, budget=budget, runs=3, facts=facts(), ledger=ledger)
    made = in_memory(measured)
    manifest = made.manifest
    assert [c.mechanism for c in manifest.charges] == ["private-selection"]
    assert manifest.method in {"rls", "mst"}
    assert not manifest.faults() and not manifest.promise_faults()
    assert 1.99 < manifest.recomputed_epsilon() <= 2.0
    assert "best of about 3 runs among rls, mst" in manifest.certificate()
    manifest.dump(tmp_path / "m.json")
    assert Manifest.load(tmp_path / "m.json").charges == manifest.charges
    assert 1.99 < ledger.summary("t", delta=1e-6).epsilon <= 2.0
    cheaper = manifest.charges[0].model_copy(update={"epsilon": 1.0})
    assert cheaper.wrong and not manifest.charges[0].wrong


@pytest.mark.parametrize(
    ("part", "change"),
    [("scale", 0.5), ("scale", 2.0), ("steps", 7), ("name", "best of about 3 runs among privbayes"), ("delta", 1e-5)],
)
def test_a_choice_whose_charge_was_edited_is_contradicted(tmp_path, part, change):
    budget, ledger = Budget(epsilon=2.0, delta=1e-6), Ledger(tmp_path / "ledger.sqlite3")
    measured = choose(
        source_of(table()), schema(), [Candidate(method="rls", settings={})], budget=budget, runs=3, ledger=ledger,
        facts=facts(),
    )  # fmt: skip
    manifest = in_memory(measured).manifest
    assert not contradictions(manifest, schema=schema())
    first = manifest.charges[0]
    value = first.scale * change if part == "scale" else change
    edited = manifest.model_copy(update={"charges": (first.model_copy(update={part: value}),)})
    assert contradictions(edited, schema=schema())


def test_no_run_of_a_selection_begins_before_it_is_charged():
    budget = Budget(epsilon=1.0, delta=1e-6)
    gate = Gate(account=Account(budget.pure(), delta=1e-6), noise=SystemNoise(), unit=Unit())
    with pytest.raises(Exception, match="before the selection was charged"):
        gate.run_of_selection(budget.gaussian())


def test_a_candidate_without_a_cost_in_zcdp_is_refused():
    price = price_of(Budget(epsilon=1.0, delta=1e-6), 3)
    with pytest.raises(MethodError):
        ready([Candidate(method="dirichlet", settings={})], schema(), price)


def test_the_command_says_the_price_without_reading_and_then_pays_it(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    schema().dump(tmp_path / "s.json")
    args = [
        "tune", str(tmp_path / "t.csv"), "--schema", str(tmp_path / "s.json"), "--epsilon", "2", "--delta", "1e-6",
        "--candidate", "rls", "--candidate", "independent", "-o", str(tmp_path / "o.csv"),
    ]  # fmt: skip
    assert main([*args, "--dry-run"]) == 0
    assert "times that" in capsys.readouterr().err
    table().to_csv(tmp_path / "t.csv", index=False)
    assert main(args) == 0
    assert len(pd.read_csv(tmp_path / "o.csv")) > 300
    assert main(["verify", str(tmp_path / "o.csv"), "--schema", str(tmp_path / "s.json")]) == 0
