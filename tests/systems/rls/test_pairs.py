"""Which pairs rls measures, and at which of two resolutions."""

import numpy as np
import pytest

from dpsyn_core.estimate.marginals.types import Measurement
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.gate import Gate
from dpsyn_core.measure.measure import measure_marginals
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Cost
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.domain import CodedAttribute, Domain
from dpsyn_core.systems.rls.budget import BudgetPlan, Noise
from dpsyn_core.systems.rls.evidence import RlsEvidence
from dpsyn_core.systems.rls.pairs import choose_pairs, largest_distances, sampling_errors
from dpsyn_core.systems.rls.tuning import TUNING, PairChoice
from tests.seeded import SeededNoise

N = 40_000


def table(strength):
    """Two ordered attributes of 60 values whose halves agree more often than not, and two small ones that depend."""
    rng = np.random.default_rng(0)
    low = rng.random(N) < 0.5
    same = rng.random(N) < 0.5 + strength / 2
    x = rng.integers(0, 30, N) + 30 * low
    y = rng.integers(0, 30, N) + 30 * (low == same)
    u = rng.integers(0, 3, N)
    w = np.where(rng.random(N) < 0.8, u, rng.integers(0, 3, N))
    domain = Domain(
        tuple(CodedAttribute(name=k, size=s, ordered=s > 3) for k, s in zip("xyuw", (60, 60, 3, 3), strict=True))
    )
    return np.stack([x, y, u, w]).astype(np.uint8), domain


def chosen(strength, *, rho, pure=False, seed=0):
    codes, domain = table(strength)
    cost = Cost(epsilon=rho) if pure else Cost(rho=rho)
    gate = Gate(account=Account(cost), noise=SeededNoise(seed), unit=Unit())
    ones, scores, pairs = cost.split([0.3, 0.03, 0.6])
    counter = MemoryCounter(codes, domain)
    measured = measure_marginals(counter, domain.singletons(), ones.split([1.0] * 4), gate=gate)
    view = RlsEvidence(domain, measured, N)
    plan = BudgetPlan(
        whole=cost, total=None, one_ways=(), coarse_one_ways=(), scores=scores, pairs=pairs, resolution=64.0,
        number_resolution=64.0, mixed_resolution=64.0, noise=Noise(unit=Unit(), pure=pure), tuning=TUNING,
    )  # fmt: skip
    out = choose_pairs(counter, view, plan=plan, cost=plan.pairs, gate=gate)
    return out, {c.name: c for c in gate.account.charges}, pairs


@pytest.mark.parametrize("pure", [False, True])
def test_a_pair_with_much_noise_for_its_score_is_measured_coarsely_and_a_small_one_as_usual(pure):
    out, charges, pairs = chosen(0.6, rho=0.25 if pure else 0.003, pure=pure)
    by_pair = dict(zip(out.sets, zip(out.recodes, out.cells, strict=True), strict=True))
    recodes, cells = by_pair["x", "y"]
    assert recodes["x"].size * recodes["y"].size == cells <= 144
    assert by_pair["u", "w"][1] == 9
    first, second = charges["scores of pairs"], charges["scores of coarser pairs"]
    assert second.scale == pytest.approx(first.scale)  # noise of the second scores is that of the first
    spent, whole = (
        (second.epsilon + out.cost.epsilon, pairs.epsilon) if pure else (second.rho + out.cost.rho, pairs.rho)
    )
    assert whole * (1 - 1e-9) < spent <= whole


def test_few_pairs_of_independent_yes_no_columns_are_measured():
    """Scores whose noise is a sixth of the records: half of them are above 0, and four cells are cheap."""
    domain = Domain.of({f"a{i:02d}": 2 for i in range(18)})
    codes = np.random.default_rng(1).integers(0, 2, (18, 5_000)).astype(np.uint8)
    cost, taken = Cost(rho=1.4e-3), []
    ones, scores, pairs = cost.split([0.3, 0.1, 0.6])
    plan = BudgetPlan(
        whole=cost, total=None, one_ways=(), coarse_one_ways=(), scores=scores, pairs=pairs, resolution=64.0,
        number_resolution=64.0, mixed_resolution=64.0, noise=Noise(unit=Unit(), pure=False), tuning=TUNING,
    )  # fmt: skip
    for seed in range(8):
        gate = Gate(account=Account(cost), noise=SeededNoise(seed), unit=Unit())
        counter = MemoryCounter(codes, domain)
        measured = measure_marginals(counter, domain.singletons(), ones.split([1.0] * 18), gate=gate)
        view = RlsEvidence(domain, measured, 5_000)
        taken.append(len(choose_pairs(counter, view, plan=plan, cost=pairs, gate=gate).sets))
    assert np.mean(taken) < 43, taken


def test_with_much_budget_every_table_that_tells_something_has_the_usual_resolution():
    out, charges, pairs = chosen(0.9, rho=5.0)
    by_pair = dict(zip(out.sets, out.cells, strict=True))
    assert by_pair["x", "y"] > 1_000
    assert "scores of coarser pairs" not in charges
    assert out.cost == pairs


def test_pairs_without_dependence_are_not_scored_again():
    _, charges, _ = chosen(0.0, rho=0.003)
    assert "scores of coarser pairs" not in charges


def test_pairs_of_numbers_are_measured_at_fewer_values_than_pairs_with_a_category():
    rng = np.random.default_rng(5)
    x = rng.integers(0, 200, N)
    codes = np.stack([x, np.clip(x + rng.integers(-3, 4, N), 0, 199), x // 40]).astype(np.uint8)
    attributes = [CodedAttribute(name=n, size=200, ordered=True, number=True) for n in "ab"]
    domain = Domain((*attributes, CodedAttribute(name="c", size=5)))
    cost = Cost(rho=50.0)
    ones, scores, pairs = cost.split([0.2, 0.1, 0.7])
    gate = Gate(account=Account(cost), noise=SeededNoise(5), unit=Unit())
    counter = MemoryCounter(codes, domain)
    measured = measure_marginals(counter, domain.singletons(), ones.split([1.0] * 3), gate=gate)
    plan = BudgetPlan(
        whole=cost, total=None, one_ways=(), coarse_one_ways=(), scores=scores, pairs=pairs, resolution=64.0,
        number_resolution=8.0, mixed_resolution=20.0, noise=Noise(unit=Unit(), pure=False), tuning=TUNING,
    )  # fmt: skip
    out = choose_pairs(counter, RlsEvidence(domain, measured, N), plan=plan, cost=plan.pairs, gate=gate)
    shapes = {s: [r[n].size for n in s] for s, r in zip(out.sets, out.recodes, strict=True)}
    assert max(shapes["a", "b"]) <= 8
    assert 12 < shapes["a", "c"][0] <= 20


def test_parts_of_a_total_are_measured_together_because_the_total_would_tie_them_to_each_other():
    rng = np.random.default_rng(6)
    a, b = rng.integers(0, 60, N), rng.integers(0, 60, N)
    codes = np.stack([a, b, a + b]).astype(np.uint8)
    sizes = {"a": 60, "b": 60, "s": 119}
    domain = Domain(tuple(CodedAttribute(name=n, size=k, ordered=True, number=True) for n, k in sizes.items()))
    cost = Cost(rho=0.2)
    ones, scores, pairs = cost.split([0.2, 0.1, 0.7])
    gate = Gate(account=Account(cost), noise=SeededNoise(5), unit=Unit())
    counter = MemoryCounter(codes, domain)
    measured = measure_marginals(counter, domain.singletons(), ones.split([1.0] * 3), gate=gate)
    plan = BudgetPlan(
        whole=cost, total=None, one_ways=(), coarse_one_ways=(), scores=scores, pairs=pairs, resolution=64.0,
        number_resolution=8.0, mixed_resolution=20.0, noise=Noise(unit=Unit(), pure=False), tuning=TUNING,
    )  # fmt: skip
    out = choose_pairs(counter, RlsEvidence(domain, measured, N), plan=plan, cost=plan.pairs, gate=gate)
    assert set(out.sets) == {("a", "b"), ("a", "s"), ("b", "s")}
    assert out.scores["a", "b"] < 0.2 * out.scores["a", "s"]


def test_a_pair_with_one_coarse_value_on_a_side_is_never_measured():
    """All records but a few hold one of many values of `a`, and the others are too few for a coarse value."""
    rng = np.random.default_rng(3)
    codes = np.stack([np.zeros(N), rng.integers(0, 20, N)]).astype(np.uint8)
    codes[0, :3] = 1, 4, 7
    domain = Domain.of({"a": 8, "b": 20})
    cost = Cost(rho=0.02)
    ones, scores, pairs = cost.split([0.2, 0.1, 0.7])
    gate = Gate(account=Account(cost), noise=SeededNoise(5), unit=Unit())
    counter = MemoryCounter(codes, domain)
    measured = measure_marginals(counter, domain.singletons(), ones.split([1.0] * 2), gate=gate)
    plan = BudgetPlan(
        whole=cost, total=None, one_ways=(), coarse_one_ways=(), scores=scores, pairs=pairs, resolution=64.0,
        number_resolution=8.0, mixed_resolution=20.0, noise=Noise(unit=Unit(), pure=False), tuning=TUNING,
    )  # fmt: skip
    view = RlsEvidence(domain, measured, N)
    assert view.recode("a", 64.0).size == 1
    gate = Gate(account=Account(cost), noise=SeededNoise(5, shift=10**6), unit=Unit())  # noise makes the score large
    out = choose_pairs(counter, view, plan=plan, cost=plan.pairs, gate=gate)
    assert out.sets == []


def test_of_more_pairs_than_a_fit_can_take_the_dependent_ones_are_measured(monkeypatch):
    free, _, _ = chosen(0.9, rho=5.0)
    assert len(free.sets) > 2
    monkeypatch.setattr(PairChoice, "most", lambda self, attributes, total: 2)
    limited, _, _ = chosen(0.9, rho=5.0)
    assert set(limited.sets) == set(sorted(free.sets, key=free.scores.__getitem__)[-2:])


def test_the_limit_of_pairs_falls_with_records_and_leaves_ordinary_tables_alone():
    most = TUNING.pairs.most
    assert most(14, 1e9) >= 91
    assert most(98, 662_000) >= 98 * 97 / 2
    assert most(500, 1e6) == 28_000
    assert most(500, 1e8) == 2_250


def test_fine_values_of_short_numbers_are_handed_out_as_well_as_long_as_they_have_an_order():
    def number(name, size, special=0):
        return CodedAttribute(name=name, size=size, ordered=True, number=True, special=special)

    domain = Domain(
        (number("age", 90, 1), number("goals", 21), number("flag", 3, 1), CodedAttribute(name="u", size=30))
    )
    ones = [Measurement(attributes=(a.name,), values=np.full(a.size, 100.0), sigma=1.0) for a in domain.attributes]
    view = RlsEvidence(domain, ones, N)
    assert [(n.place, n.ranked) for n in view.valued] == [(0, 89), (1, 21)]
    assert [n.place for n in view.places] == [0]


def planned(codes, domain, *, rho, hopeless=False, seed=0):
    """The pairs that are chosen, with usual shares."""
    cost = Cost(rho=rho)
    gate = Gate(account=Account(cost), noise=SeededNoise(seed), unit=Unit())
    ones, scores, pairs = cost.split([0.3, 0.1, 0.6])
    counter, d = MemoryCounter(codes, domain), len(domain)
    measured = measure_marginals(counter, domain.singletons(), ones.split([1.0] * d), gate=gate)
    plan = BudgetPlan(
        whole=cost, total=None, one_ways=(), coarse_one_ways=(), scores=scores, pairs=pairs, resolution=64.0,
        number_resolution=8.0, mixed_resolution=20.0, hopeless=hopeless, noise=Noise(unit=Unit(), pure=False),
        tuning=TUNING,
    )  # fmt: skip
    view = RlsEvidence(domain, measured, codes.shape[1])
    return choose_pairs(counter, view, plan=plan, cost=plan.pairs, gate=gate)


def test_what_depends_on_a_rare_class_is_measured_and_what_does_not_is_not():
    """A class of .5 % of 20,000 records lies in four of 24 hours; its table would add more error than it takes away."""
    rng, n = np.random.default_rng(1), 20_000
    rare = np.arange(n) < 100
    hour = np.where(rare, rng.integers(1, 5, n), rng.integers(5, 24, n))
    codes = np.stack([hour, ~rare, rng.integers(0, 24, n), rng.integers(0, 9, n)]).astype(np.uint8)
    domain = Domain.of({"hour": 24, "class": 2, "minute": 24, "place": 9})
    for seed in range(5):
        out = planned(codes, domain, rho=0.008, seed=seed)
        assert ("hour", "class") in out.sets
        assert ("hour", "minute") not in out.sets
    assert out.recodes[out.sets.index(("hour", "class"))]["class"].size == 2


def schools(spread, seed=0):
    """6,000 pupils of 60 schools, and their marks, whose means differ by this standard deviation."""
    rng, n = np.random.default_rng(seed), 6_000
    school = rng.integers(0, 60, n)
    mark = np.clip(rng.normal(0, spread, 60)[school] + rng.normal(25, 8, n), 0, 49).astype(np.uint8)
    number = CodedAttribute(name="mark", size=50, ordered=True, number=True)
    domain = Domain((CodedAttribute(name="school", size=60), number, CodedAttribute(name="sex", size=2)))
    return np.stack([school, mark, rng.integers(0, 2, n)]).astype(np.uint8), domain


@pytest.mark.parametrize("spread", [0.0, 4.0])
def test_groups_are_told_apart_where_their_means_differ_and_only_there(spread):
    tables = [planned(*schools(spread, seed), rho=0.008, seed=seed) for seed in range(4)]
    whole = [
        maps["school"].size == 60 and maps["mark"].size <= 5
        for out in tables
        for pair, maps in zip(out.sets, out.recodes, strict=True)
        if pair == ("school", "mark")
    ]
    assert sum(whole) == (4 if spread else 0)
    assert all(len(out.sets) == len(out.cells) == len(out.weights) == len(out.doubtful) for out in tables)


def star(of_class, n=8_000):
    """Ten columns of four values that follow the first one; or a class, of which the first one says little as well."""
    rng = np.random.default_rng(4)
    source = rng.integers(0, 4, n)
    columns = [source, *(np.where(rng.random(n) < 0.7, source, rng.integers(0, 4, n)) for _ in range(9))]
    if of_class:
        columns[0] = np.where(rng.random(n) < 0.4, source, rng.integers(0, 4, n))
    return np.stack(columns).astype(np.uint8), Domain.of({f"a{i}": 4 for i in range(10)})


def test_pairs_that_follow_from_one_column_wait_for_its_pairs_and_those_of_a_class_do_not():
    of_tree, of_class = (planned(*star(which), rho=0.03) for which in (False, True))
    waiting = {s for s, w in zip(of_tree.sets, of_tree.doubtful, strict=True) if w}
    assert len(waiting) > 20 and not any("a0" in s for s in waiting)
    assert not of_class.doubtful.any()


def test_where_scores_are_noise_the_one_pair_that_stands_out_is_measured_and_no_other():
    """400 records, eight columns of five values; the noise of a score is .27 of the records."""
    rng, n = np.random.default_rng(2), 400
    codes = rng.integers(0, 5, (8, n)).astype(np.uint8)
    codes[3] = np.where(rng.random(n) < 0.9, codes[1], codes[3])
    domain = Domain.of({f"a{i}": 5 for i in range(8)})
    found, others = zip(*(one_and_others(codes, domain, hopeless=True, seed=s) for s in range(12)), strict=True)
    assert sum(found) >= 10
    _, without = zip(*(one_and_others(codes, domain, hopeless=False, seed=s) for s in range(12)), strict=True)
    assert sum(others) <= 8 < sum(without)


def one_and_others(codes, domain, *, hopeless, seed):
    sets = planned(codes, domain, rho=0.0118, hopeless=hopeless, seed=seed).sets
    return ("a1", "a3") in sets, len(set(sets) - {("a1", "a3")})


@pytest.mark.parametrize("shares", [(0.995, 0.005), (0.5, 0.3, 0.2), (0.9, 0.05, 0.03, 0.02)])
def test_a_score_of_independent_columns_is_what_sampling_explains_given_their_margins(shares):
    """200 tables whose rows are dealt out at random: the mean is known to 1 % or so."""
    rng, n = np.random.default_rng(3), 4_000
    first = np.repeat(np.arange(len(shares)), np.rint(np.array(shares) * n).astype(int))
    second = np.sort(rng.choice(6, len(first), p=[0.4, 0.3, 0.15, 0.1, 0.04, 0.01]))
    expected = np.outer(np.bincount(first), np.bincount(second, minlength=6)) / len(first)
    found = []
    for _ in range(200):
        cells = first * 6 + rng.permutation(second)
        found.append(np.abs(np.bincount(cells, minlength=expected.size) - expected.ravel()).sum())
    assert sampling_errors([expected])[0] == pytest.approx(np.mean(found), rel=0.1)


def test_a_column_that_follows_another_is_as_far_from_independence_as_margins_allow():
    counts = np.array([50.0, 30, 15, 5])
    alone = np.outer(counts, counts) / 100
    assert np.abs(np.diag(counts) - alone).sum() == pytest.approx(largest_distances([alone])[0])
    rare = np.outer([97.0, 3], counts) / 100
    assert largest_distances([rare, rare.T]) == pytest.approx([4 * 97 * 3 / 100] * 2)
