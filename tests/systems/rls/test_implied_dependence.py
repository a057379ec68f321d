"""Two independent causes of one outcome stay independent in records that follow their pairs with the outcome alone."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from dpsyn_core.estimate.records.shards import Shard
from dpsyn_core.runs.refits.tables import onto_columns
from dpsyn_core.schema.domain import CodedAttribute, Domain
from dpsyn_core.systems.rls import system as rls
from dpsyn_core.systems.rls.implied_dependence import beyond, denied_pairs
from dpsyn_core.systems.rls.tuning import TUNING
from tests.systems.rls.test_system import pair_tvd, run

N = 12_000


def bills():
    """Ward (the last one expensive), days, and a bill that follows from both; ward and days are independent."""
    rng = np.random.default_rng(4)
    ward = rng.choice(4, N, p=[0.3, 0.4, 0.2, 0.1])
    days = np.minimum(rng.geometric(0.18, N) - 1, 23)
    value = days * np.array([1.0, 1.0, 1.0, 3.2])[ward] * np.exp(rng.normal(0, 0.2, N))
    bill = np.minimum(value / 1.5, 39).astype(int)
    attributes = [CodedAttribute(name="ward", size=4)]
    attributes += [CodedAttribute(name=k, size=s, ordered=True, number=True) for k, s in (("days", 24), ("bill", 40))]
    return np.stack([ward, days, bill]).astype(np.uint8), Domain(tuple(attributes))


def stay(rows, ward):
    return float(rows[1][rows[0] == ward].mean())


def longer(rows):
    """Times longer that people stay in the expensive ward than in the others."""
    return stay(rows, 3) / float(np.mean([stay(rows, w) for w in range(3)]))


def synthetic(monkeypatch, *, kept, epsilon=0.8, seed=2):
    if not kept:
        monkeypatch.setattr(rls, "denied_pairs", lambda *_: [])
    codes, domain = bills()
    return run(codes, domain, epsilon=epsilon, seed=seed, settings={"triples": False})


def test_causes_of_one_outcome_stay_independent(monkeypatch):
    codes, _ = bills()
    rows, measured, _, _ = synthetic(monkeypatch, kept=True)
    assert {m.attributes for m in measured if len(m.attributes) == 2} == {("days", "bill"), ("ward", "bill")}
    assert longer(codes) == pytest.approx(1, abs=0.05) and longer(rows) == pytest.approx(1, abs=0.35)


def test_without_their_score_they_do_not(monkeypatch):
    assert longer(synthetic(monkeypatch, kept=False)[0]) > 1.6


def test_only_pairs_without_a_table_and_with_a_low_score_are_corrected(monkeypatch):
    rows, measured, _, system = synthetic(monkeypatch, kept=False)
    view, plan = system.view(measured), system.budget_plan(N)
    targets = view.targets(rows.shape[1])
    found = denied_pairs(rows.T.astype(np.uint16), targets, view, plan)
    assert [t.attributes for t in found] == [(0, 1)]
    assert found[0].values.sum() == pytest.approx(rows.shape[1])
    assert not denied_pairs(rows.T.astype(np.uint16), [*targets, *found], view, plan), "it has a target now"
    high = np.where([s == ("ward", "days") for s in view.scores.sets], 1e6, view.scores.values)
    view.scores = replace(view.scores, values=high)
    assert not denied_pairs(rows.T.astype(np.uint16), targets, view, plan), "its score allows it"
    view.scores = None
    assert not denied_pairs(rows.T.astype(np.uint16), targets, view, plan), "nothing was scored"


def test_a_score_that_is_low_by_chance_denies_nothing(monkeypatch):
    rows, measured, _, system = synthetic(monkeypatch, kept=False)
    careful = replace(TUNING, pairs=replace(TUNING.pairs, denied=1e9))
    system.tuning = careful
    view = system.view(measured)
    assert not denied_pairs(rows.T.astype(np.uint16), view.targets(rows.shape[1]), view, system.budget_plan(N))


def test_what_chance_explains_of_a_distance_is_taken_off_by_squares():
    assert beyond(5.0, 3.0) == 4.0 and beyond(2.0, 3.0) == 0.0 and beyond(-1.0, 0.0) == 0.0


def test_a_table_made_in_shards_keeps_them_independent_too(monkeypatch):
    _, measured, _, system = synthetic(monkeypatch, kept=False)
    monkeypatch.undo()
    sharded = system.sharded(measured, N, rng=np.random.default_rng(1))
    make = sharded.begin(lambda *_: None)
    rows = make(Shard(number=0, start=0, n_records=N, whole=N), np.random.default_rng(2), lambda *_: None)
    assert longer(rows) == pytest.approx(1, abs=0.35)


def test_scores_stay_with_tables_of_merged_values_and_with_those_of_some_columns(monkeypatch):
    _, measured, _, _ = synthetic(monkeypatch, kept=False)
    assert measured.like(measured[:2]).scores is measured.scores
    some = onto_columns(measured, ("ward", "bill"))
    assert some.scores.sets == (("ward", "bill"),) and len(some.scores.values) == 1


def test_pairs_of_a_star_whose_scores_are_noise_are_scored_against_its_tables_and_left_out(monkeypatch):
    rng = np.random.default_rng(5)
    middle, sizes = rng.integers(0, 4, 1_500), [4, *rng.integers(2, 6, 24)]
    tables = [rng.dirichlet(np.full(k, 0.5), size=4).cumsum(axis=1)[middle] for k in sizes[1:]]
    others = [
        (t < rng.random(1_500)[:, None]).sum(axis=1).clip(0, k - 1) for t, k in zip(tables, sizes[1:], strict=True)
    ]
    codes, domain = (
        np.stack([middle, *others]).astype(np.uint8),
        Domain.of({f"a{i}": int(k) for i, k in enumerate(sizes)}),
    )

    def released(seed):
        rows, measured, gate, _ = run(codes, domain, epsilon=3.0, seed=seed)
        scored = [c.name for c in gate.account.charges if c.name == "scores of pairs against a fit"]
        off = [pair_tvd(codes, rows, i, j, domain) for i, j in combinations(range(25), 2)]
        return scored, float(np.mean(off)), {m.attributes for m in measured if len(m.attributes) == 2}

    scored, off, pairs = released(3)
    assert len(scored) == 1
    assert len(pairs & {("a0", f"a{i}") for i in range(1, 25)}) > 20, "the tree is measured"
    monkeypatch.setattr("dpsyn_core.systems.rls.pairs._doubtful", lambda all_pairs, *_: np.zeros(len(all_pairs), bool))
    none, further, more = released(3)
    assert not none and len(more) > 1.5 * len(pairs) and further > 1.1 * off
