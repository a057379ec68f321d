"""Which columns are scored for following from others, and what is done with their scores, against plain loops."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest

from dpsyn_core.estimate import Measurement
from dpsyn_core.privacy.budget import Cost
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.domain import Domain
from dpsyn_core.systems.rls import followers as module
from dpsyn_core.systems.rls.budget import Noise
from dpsyn_core.systems.rls.followers import LikelyFollower, candidates, measure_followers
from dpsyn_core.systems.rls.tuning import FollowerChoice

T = FollowerChoice()
NOISE = Noise(unit=Unit(), pure=False)


def view(counts, *, sigma=1.0, marks=(), tuning=T):
    domain = Domain.of({f"c{i}": len(c) for i, c in enumerate(counts)})
    agreements = SimpleNamespace(marks=lambda pair: True if pair in marks else None)
    return SimpleNamespace(
        domain=domain, tuning=SimpleNamespace(followers=tuning), total=float(sum(counts[0])), agreements=agreements,
        one_ways=[np.array(c, float) for c in counts], counted=[sigma * (1 + i) for i in range(len(counts))],
    )  # fmt: skip


def entropy(counts):
    total = sum(counts)
    return -sum(c / total * math.log(c / total) for c in counts if c > 0)


def may_hold(fine, coarse, noise):
    if max(coarse) < max(fine) - noise:
        return False
    large = [c for c in fine if c > noise / 2]
    if len(large) > 12:
        return True
    slack, away = sum(fine) - sum(large), noise * math.sqrt(max(len(large) / 2, 1))
    sums = [sum(s) for k in range(len(large) + 1) for s in itertools.combinations(large, k)]
    return all(any(c - away - slack <= s <= c + away for s in sums) for c in coarse if c > noise)


def sought(given):
    """By the definitions: what follows is less varied, holds whole values, and would else have many exceptions."""
    counts = [np.maximum(c, 0) for c in given.one_ways]
    out = []
    for i, j in itertools.permutations(range(len(counts)), 2):
        if (-entropy(counts[i]), i) > (-entropy(counts[j]), j):
            continue
        fine, coarse = counts[i], counts[j]
        if len(coarse) < 2 or len(fine) * len(coarse) > T.most_cells:
            continue
        p = max(coarse) / sum(coarse)
        spread = math.sqrt(2 * math.log(len(coarse)) * p * (1 - p))
        alone = sum(f - min(f, f * p + spread * math.sqrt(f)) for f in fine)
        noise = T.away * math.hypot(given.counted[i], given.counted[j])
        if alone > T.least * max(given.total, 1) and may_hold(fine, coarse, noise):
            out.append((f"c{j}", f"c{i}", alone))
    return sorted(out, key=lambda c: -c[2])


TOWNS = [300.0, 250, 200, 120, 80, 50]
COUNTRIES = [550.0, 320, 130]


@pytest.mark.parametrize("counts", [
    [TOWNS, COUNTRIES], [COUNTRIES, TOWNS], [TOWNS, [500.0, 350, 150], COUNTRIES], [TOWNS, [551.5, 320, 128.5]],
    [TOWNS, [990.0, 10]], [[1000.0], TOWNS, COUNTRIES], [[40.0] * 25, [525.0, 475]],
    [[-5.0, 505, 300, 200], [500.0, 500]], [TOWNS, [1000.0]], [[100.0] * 10, [610.0, 390]], [TOWNS, [200.0] * 5],
])  # fmt: skip
@pytest.mark.parametrize("sigma", [0.2, 1.0, 8.0])
def test_candidates_are_those_of_the_definitions(counts, sigma):
    given = view(counts, sigma=sigma)
    found = candidates(given)
    assert [(c.name, c.of) for c in found] == [s[:2] for s in sought(given)]
    assert [c.alone for c in found] == pytest.approx([s[2] for s in sought(given)])


def test_columns_that_stand_together_are_no_candidates_and_tables_have_a_limit():
    assert [(c.name, c.of) for c in candidates(view([TOWNS, COUNTRIES]))] == [("c1", "c0")]
    assert candidates(view([TOWNS, COUNTRIES], marks=[("c0", "c1")])) == []
    assert candidates(view([TOWNS, COUNTRIES], tuning=FollowerChoice(most_cells=17))) == []
    assert len(candidates(view([TOWNS, COUNTRIES], tuning=FollowerChoice(most_cells=18)))) == 1


@pytest.fixture
def scripted(monkeypatch):
    """Scores that are given, and what was asked and paid for."""
    seen = SimpleNamespace(scores=[], sigma=1.0, asked=[], measured=[], likely=None)

    def scored(counter, sets, of, recodes, *, cost, gate):
        seen.asked.append((list(sets), list(of), cost.rho))
        return np.array(seen.scores.pop(0), float), seen.sigma

    def measured(counter, sets, costs, *, gate):
        seen.measured = list(zip(sets, [c.rho for c in costs], strict=True))
        return [Measurement(attributes=s, values=np.zeros((1, 1)), sigma=1.0) for s in sets]

    monkeypatch.setattr(module, "score_exceptions", scored)
    monkeypatch.setattr(module, "measure_marginals", measured)
    monkeypatch.setattr(module, "candidates", lambda view: list(seen.likely))
    return seen


def run(scripted, likely, *scores, rho=20.0, sigma=1.0, counts=(TOWNS, COUNTRIES, [700.0, 300])):
    scripted.likely = [LikelyFollower(name=n, of=o, alone=a) for n, o, a in likely]
    scripted.scores, scripted.sigma, scripted.asked, scripted.measured = list(scores), sigma, [], []
    given = view(list(counts))
    tables, found, left = measure_followers(None, given, cost=Cost(rho=rho), noise=NOISE, gate=None)
    assert len(tables) == len(found)
    return given, found, left.rho


ONE = [("c1", "c0", 400.0)]


def of_score(count, rho):
    return math.sqrt(count) / math.sqrt(2 * rho)


def test_nothing_is_spent_where_no_pair_is_likely_or_clear(scripted):
    assert run(scripted, [])[2] == 20 and not scripted.asked
    edge = T.clear * of_score(1, 20 * T.score)
    assert run(scripted, [("c1", "c0", edge * (1 - 1e-9))])[2] == 20 and not scripted.asked
    run(scripted, [("c1", "c0", edge * (1 + 1e-9))], [999.0])
    assert len(scripted.asked) == 1


def test_as_many_pairs_are_scored_as_their_noise_allows(scripted):
    two = T.clear * of_score(2, 20 * T.score)
    likely = [("c1", "c0", 400.0), ("c2", "c0", two * (1 - 1e-9))]
    run(scripted, likely, [999.0])
    assert scripted.asked[0][:2] == ([("c0", "c1")], ["c0"])
    run(scripted, [likely[0], ("c2", "c0", two * (1 + 1e-9))], [999.0, 999.0])
    assert scripted.asked[0][:2] == ([("c0", "c1"), ("c0", "c2")], ["c0", "c0"])


@pytest.mark.parametrize("alone", [60.0, 400.0])
def test_first_scores_cost_what_they_need_and_second_ones_all(scripted, alone):
    most = 20 * T.score
    needed = 2 * T.clear * of_score(1, most) / alone
    first = most * min(1, needed**2)
    *_, left = run(scripted, [("c1", "c0", alone)], [999.0])
    assert [a[2] for a in scripted.asked] == pytest.approx([first]) and left == pytest.approx(20 - first)
    *_, left = run(scripted, [("c1", "c0", alone)], [0.0], [999.0])
    assert [a[2] for a in scripted.asked] == pytest.approx([first, most]) and left == pytest.approx(20 - first - most)


@pytest.mark.parametrize(("alone", "edge"), [(400.0, 0.03 * 1000 + 3), (100.0, 0.3 * 100 - 3), (60.0, 0.3 * 60 - 3)])
@pytest.mark.parametrize("beside", [-1e-6, 1e-6])
def test_a_pair_is_near_up_to_three_hundredths_of_the_records_and_three_tenths_of_what_chance_has(
    scripted, alone, edge, beside
):
    run(scripted, [("c1", "c0", alone)], [edge + beside], [999.0], sigma=1.5)
    assert len(scripted.asked) == (2 if beside < 0 else 1)


def limits(left):
    """Exceptions that a table of 18 cells may hide: with two deviations of the score, and without."""
    usual = 1 / math.sqrt(2 * left / 6)
    return 0.4 * 18 * usual, 0.5 * 0.4 * 18 * usual


@pytest.mark.parametrize("rho", [20.0, 4.0])
@pytest.mark.parametrize("sigma", [0.01, 1.0])
@pytest.mark.parametrize("beside", [-1e-6, 1e-6])
def test_a_column_follows_where_a_table_would_be_off_by_more(scripted, rho, sigma, beside):
    *_, left = run(scripted, ONE, [0.0], [999.0], rho=rho, sigma=sigma)
    with_doubt, alone = limits(left)
    edge = min(with_doubt - 2 * sigma, alone, 30 + 2 * sigma)
    _, found, rest = run(scripted, ONE, [0.0], [edge + beside], rho=rho, sigma=sigma)
    assert (len(found), rest < left) == ((1, True) if beside < 0 else (0, False))
    if found:
        shown = edge + beside > 3 * sigma
        assert found[0].exceptions == pytest.approx((edge + beside) / 1000 if shown else 0.0)


def wrong(given, name, of, rho):
    counts, size = given.one_ways[given.domain.index(of)], given.domain[name].size
    sigma = 1 / math.sqrt(2 * rho)
    chances = [min(1.0, (size - 1) * 0.5 * math.erfc(c / (2 * sigma))) for c in counts]
    return sum(c * x for c, x in zip(counts, chances, strict=True)) / given.total


@pytest.mark.parametrize("rho", [20.0, 0.05, 0.004])
@pytest.mark.parametrize("counts", [(TOWNS, COUNTRIES, [700.0, 300]), ([8.0] * 125, [600.0, 400], [50.0] * 20)])
def test_a_table_gets_the_part_that_loses_least(scripted, rho, counts):
    likely = [("c1", "c0", 1e6)]
    given, found, left = run(scripted, likely, [0.0], [0.0], rho=rho, sigma=1e-9, counts=counts)
    paid = rho - sum(a[2] for a in scripted.asked)
    lost = [(wrong(given, "c1", "c0", paid * p) * (1 + 0.2 * 2) + p * 0.03 * 3 * 2 / 4, p) for p in T.parts]
    part = min(lost)[1]
    part *= min(1, 0.5 / part)
    if wrong(given, "c1", "c0", paid * part) <= 0.8:
        assert [f.of for f in found] == ["c0"]
        assert scripted.measured == [(("c0", "c1"), pytest.approx(paid * part))] and left == pytest.approx(
            paid * (1 - part)
        )
    else:
        assert not found and left == pytest.approx(paid)


def test_chains_follow_from_the_least_varied_and_have_the_exceptions_of_their_root(scripted):
    likely = [("c1", "c0", 4e4), ("c2", "c0", 3e4), ("c2", "c1", 2e4)]
    _, found, _ = run(scripted, likely, [0.0] * 3, [0.0, 1.0, 0.5], sigma=0.3, rho=0.5)
    assert [(f.name, f.of, f.exceptions) for f in found] == [("c1", "c0", 0.0), ("c2", "c1", 0.001)]
    _, found, _ = run(scripted, likely[:1] + likely[2:], [0.0] * 2, [0.0, 1.5], sigma=0.3, rho=0.5)
    assert [(f.name, f.of, f.exceptions) for f in found] == [("c1", "c0", 0.0), ("c2", "c1", 0.0015)]


@pytest.mark.parametrize("beside", [-1e-6, 1e-6])
def test_a_column_follows_from_no_other_one_that_is_surely_worse_than_the_best(scripted, beside):
    likely = [("c2", "c0", 3e4), ("c2", "c1", 2e4)]
    _, found, _ = run(scripted, likely, [0.0] * 2, [0.1, 0.7 + beside], sigma=0.3, rho=0.5)
    assert [f.of for f in found] == ["c1" if beside < 0 else "c0"]
