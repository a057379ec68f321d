"""PrivBasis: the covering of oracle 14, variances, the split of the budget, the itemsets found, edges."""

import itertools
import math

import numpy as np
import pytest

from dpsyn_core.errors import MethodError, SettingError
from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.systems.others import basis
from dpsyn_core.systems.others.basis import (
    SEARCHED,
    Queries,
    build_bases,
    maximal_cliques,
    mean_variance,
    merge_best,
    merge_by_twos,
    split_clique,
    superset_sums,
)
from dpsyn_core.systems.others.privbasis import PrivBasisSettings, find_itemsets
from tests.measure.counting.test_transactions import counter_of, random_baskets
from tests.seeded import SeededNoise

A, B, C, D, E, G, H = range(7)
MAXIMAL = [{A, B, C}, {B, D}, {C, E}, {A, B, G}, {G, H}]


def run(baskets, n_items, settings, *, epsilon=1.0, noise=None, **unit):
    cost = Budget(epsilon=epsilon, delta=0.0).pure()
    gate = Gate(account=Account(cost), noise=noise or SeededNoise(1), unit=Unit(**unit))
    found = find_itemsets(counter_of(baskets, n_items), PrivBasisSettings(**settings), cost=cost, gate=gate)
    return found, gate


def true_counts(baskets, n_items):
    return {
        s: sum(set(s) <= b for b in baskets)
        for k in range(1, n_items + 1)
        for s in itertools.combinations(range(n_items), k)
    }


def test_two_bases_of_the_paper_hold_all_frequent_itemsets_and_sum_few_bins():
    bases = [frozenset({A, B, C, D, E}), frozenset({A, B, G, H})]
    assert all(any(m <= b for b in bases) for m in MAXIMAL)
    abc = mean_variance(bases, [frozenset({A, B, C})])
    assert abc == pytest.approx(2**2 * 2**2)  # 2^2 bins of 2^5, noise doubled by two bases
    both = mean_variance(bases, [frozenset({A, B})])
    assert both == pytest.approx(4 / (1 / 2**3 + 1 / 2**2))  # inverse variance of 2^3 and 2^2 bins


def test_sums_over_supersets_are_the_counts_of_itemsets():
    baskets = random_baskets(200, 5, 1)
    sums = superset_sums(counter_of(baskets, 5).patterns(range(5)))
    for s, count in true_counts(baskets, 5).items():
        assert sums[sum(1 << i for i in s)] == count
    assert sums[0] == 200


def test_cliques_and_their_parts():
    pairs = [p for m in MAXIMAL for p in itertools.combinations(sorted(m), 2)]
    found = maximal_cliques(range(8), pairs)
    assert sorted(map(sorted, found)) == sorted(map(sorted, MAXIMAL))
    parts = split_clique(frozenset(range(31)), 12)
    assert max(map(len, parts)) <= 12
    assert all(any(set(p) <= q for q in parts) for p in itertools.combinations(range(31), 2))


@pytest.mark.parametrize("seed", range(3))
def test_bases_hold_every_item_and_pair_and_merging_lowered_the_variance(seed):
    rng = np.random.default_rng(seed)
    items = list(range(20))
    pairs = [p for p in itertools.combinations(items, 2) if rng.random() < 0.12]
    bases = build_bases(items, pairs, 8)
    assert max(map(len, bases)) <= 8
    queries = [frozenset([i]) for i in items] + [frozenset(p) for p in pairs]
    assert all(any(q <= b for b in bases) for q in queries)
    start = maximal_cliques(items, pairs)
    alone = [frozenset([i]) for i in items if not any(i in b for b in start)]
    assert mean_variance(bases, queries) <= mean_variance([*start, *alone], queries)


def random_graph(seed, most=12, share=0.5):
    """Items, pairs, the sets that are merged (its cliques and lone items), and the queries."""
    rng = np.random.default_rng(seed)
    items = list(range(int(rng.integers(3, most))))
    pairs = [p for p in itertools.combinations(items, 2) if rng.random() < rng.uniform(0.1, share)]
    sets = maximal_cliques(items, pairs)
    alone = [i for i in items if not any(i in s for s in sets)]
    sets += [frozenset(alone[i : i + 3]) for i in range(0, len(alone), 3)]
    return items, pairs, sets, [frozenset([i]) for i in items] + [frozenset(p) for p in pairs]


def partitions(things):
    if not things:
        yield []
        return
    first, *rest = things
    for blocks in partitions(rest):
        yield [[first], *blocks]
        for i, block in enumerate(blocks):
            yield [*blocks[:i], [first, *block], *blocks[i + 1 :]]


def least_variance(sets, queries, longest):
    """Over all ways to merge the sets, one by one."""
    ways = ([frozenset().union(*block) for block in blocks] for blocks in partitions(sets))
    return min(mean_variance(way, queries) for way in ways if max(map(len, way)) <= longest)


def paper_graph():
    pairs = sorted({p for m in MAXIMAL for p in itertools.combinations(sorted(m), 2)})
    return pairs, [frozenset([i]) for i in range(7)] + [frozenset(p) for p in pairs]


def test_the_example_of_the_paper_is_covered_by_two_bases_where_the_first_rise_would_leave_five():
    pairs, queries = paper_graph()
    asked, sets = Queries(queries), [frozenset(m) for m in MAXIMAL]
    first_rise = merge_by_twos(sets, asked, 12, patience=1)
    assert (len(first_rise), mean_variance(first_rise, queries)) == (5, pytest.approx(39.444, abs=0.001))
    assert mean_variance(merge_by_twos(sets, asked, 12), queries) == pytest.approx(34.8, abs=0.05)
    bases = build_bases(range(7), pairs, 12)
    published = mean_variance([frozenset({A, B, C, D, E}), frozenset({A, B, G, H})], queries)
    assert (len(bases), mean_variance(bases, queries)) == (2, pytest.approx(published))
    assert published == pytest.approx(32.356, abs=0.001)


@pytest.mark.parametrize("longest", [4, 12])
def test_few_sets_are_merged_in_the_best_of_all_ways(longest):
    merged = 0
    for seed in range(60):
        items, pairs, sets, queries = random_graph(seed, most=9)
        if not 1 < len(sets) <= 7 or max(map(len, sets)) > longest:
            continue
        bases = build_bases(items, pairs, longest)
        assert max(map(len, bases)) <= longest
        assert mean_variance(bases, queries) == pytest.approx(least_variance(sets, queries, longest))
        merged += 1
    assert merged > 20


def test_the_search_finds_the_best_way_from_the_sets_themselves_too():
    for seed in range(40):
        _, _, sets, queries = random_graph(seed, most=8)
        if 1 < len(sets) <= 6:
            found = merge_best(sets, Queries(queries), 12, sets)
            assert mean_variance(found, queries) == pytest.approx(least_variance(sets, queries, 12))


def test_on_no_graph_are_bases_worse_than_by_merging_up_to_the_first_rise():
    better = large = 0
    for seed in range(100):
        items, pairs, sets, queries = random_graph(seed, most=18, share=0.35)
        if len(sets) in range(10, SEARCHED + 1):
            continue  # these are as fine, but take long
        before = mean_variance(merge_by_twos(sets, Queries(queries), 12, patience=1), queries)
        after = mean_variance(build_bases(items, pairs, 12), queries)
        assert after <= before * (1 + 1e-12)
        better += after < 0.99 * before
        large += len(sets) > SEARCHED
    assert better > 30
    assert large > 10


def test_the_search_ends_in_time_and_gives_no_less_than_it_was_given(monkeypatch):
    monkeypatch.setattr(basis, "SEARCH_STEPS", 3)
    for seed in range(20):
        _, _, sets, queries = random_graph(seed)
        if len(sets) > 1:
            asked = Queries(queries)
            known = merge_by_twos(sets, asked, 12)
            found = merge_best(sets, asked, 12, known)
            assert mean_variance(found, queries) <= mean_variance(known, queries)
            assert all(any(q <= b for b in found) for q in queries)


def test_epsilon_is_split_a_tenth_four_tenths_and_a_half():
    _, gate = run(random_baskets(300, 8, 0), 8, {"k": 5})
    size, *items, bins = gate.account.charges
    assert size.epsilon == pytest.approx(0.1)
    assert math.fsum(c.epsilon for c in items) == pytest.approx(0.4)
    assert bins.epsilon == pytest.approx(0.5)
    assert bins.scale == pytest.approx(2.0)  # one basis: 1 / 0.5
    assert gate.account.spent <= 1.0


@pytest.mark.slow
def test_many_items_use_pairs_and_several_bases_that_share_the_last_half():
    baskets = random_baskets(400, 30, 2)
    found, gate = run(baskets, 30, {"k": 40}, epsilon=30.0)
    names = [c.name for c in gate.account.charges]
    assert any(n.startswith("pair 1 of") for n in names)
    bins = [c for c in gate.account.charges if c.mechanism == "geometric"]
    assert len(bins) == len(found.bases) > 1
    assert all(c.scale == pytest.approx(len(bins) / 15.0) for c in bins)
    assert gate.account.spent <= 30.0
    truth = sorted(true_top(baskets, 30, 40), reverse=True)
    counts = [sum(set(s.items) <= b for b in baskets) for s in found.itemsets]
    assert sum(c >= truth[-1] for c in counts) >= 30  # three of four are among the true top


def true_top(baskets, n_items, k):
    return sorted(
        (sum(set(s) <= b for b in baskets) for m in (1, 2, 3, 4) for s in itertools.combinations(range(n_items), m)),
        reverse=True,
    )[:k]


def test_without_noise_the_exact_top_is_found_with_its_counts():
    baskets = random_baskets(300, 8, 5)
    truth = true_counts(baskets, 8)
    found, _ = run(baskets, 8, {"k": 12}, noise=SeededNoise(0, scale=0.0))
    best = sorted(truth.values(), reverse=True)[:12]
    assert [s.count for s in found.itemsets] == pytest.approx(best)
    assert all(truth[s.items] == pytest.approx(s.count) for s in found.itemsets)
    assert found.total == pytest.approx(300)


def test_stated_deviations_are_those_of_the_counts():
    baskets = random_baskets(300, 4, 5)
    truth = true_counts(baskets, 4)
    scaled = []
    for seed in range(300):
        found, _ = run(baskets, 4, {"k": 15}, noise=SeededNoise(seed))
        scaled += [(s.count - truth[s.items]) / s.deviation for s in found.itemsets]
    # 15 correlated values a run: the mean square of 300 runs is within 6 / sqrt(300) of one
    assert abs(np.mean(np.square(scaled)) - 1) < 0.35


def test_sensitivities_follow_the_unit():
    for unit, size, item, bins in (
        ({}, 1, 1, 1),
        ({"max_records": 3}, 3, 3, 3),
        ({"neighbours": "replace"}, 2, 1, 2),
    ):
        _, gate = run(random_baskets(100, 6, 0), 6, {"k": 4}, **unit)
        charges = gate.account.charges
        assert [c.sensitivity for c in (charges[0], charges[1], charges[-1])] == [size, item, bins]


@pytest.mark.parametrize("baskets", [[], [set()], [{0}], [set(), set()]])
def test_tables_of_next_to_nothing_are_served(baskets):
    found, _ = run(baskets, 5, {"k": 3})
    assert len(found.itemsets) == 3
    one, _ = run(baskets, 1, {"k": 1})
    assert one.itemsets[0].items == (0,)


def test_more_itemsets_than_there_are_and_shares_without_rest_are_refused():
    with pytest.raises(MethodError, match="'field-groups'"):
        run([{0}], 2, {"k": 4})
    with pytest.raises(SettingError, match="leave a part"):
        run([{0}], 2, {"k": 2, "size_share": 0.5, "choice_share": 0.5})


@pytest.mark.parametrize("frequency", [0.15, 0.3, 0.6])
def test_without_noise_all_itemsets_of_a_least_frequency_come_out_and_no_other(frequency):
    baskets = random_baskets(300, 8, 5)
    truth = {s: c for s, c in true_counts(baskets, 8).items() if c >= frequency * 300}
    found, gate = run(baskets, 8, {"frequency": frequency}, noise=SeededNoise(0, scale=0.0))
    assert {s.items: s.count for s in found.itemsets} == pytest.approx(truth)
    assert gate.account.charges[0].name == "how many items matter"
    few, _ = run(baskets, 8, {"frequency": frequency, "k": 2}, noise=SeededNoise(0, scale=0.0))
    assert [s.items for s in few.itemsets] == [s.items for s in found.itemsets[:2]]


def test_a_least_frequency_among_many_items_chooses_how_many_pairs_matter_too():
    baskets = random_baskets(400, 30, 2)
    line = 0.12
    found, gate = run(baskets, 30, {"frequency": line}, epsilon=60.0)
    charges = {c.name: c for c in gate.account.charges}
    assert charges["how many items matter"].epsilon == pytest.approx(3.0)  # half of a tenth each
    assert charges["how many pairs matter"].epsilon == pytest.approx(3.0)
    assert gate.account.spent <= 60.0
    truth = {s for m in (1, 2) for s in itertools.combinations(range(30), m) if sum(set(s) <= b for b in baskets) >= 48}
    got = {s.items for s in found.itemsets}
    assert len(truth & got) >= 0.8 * len(truth)
    counts = [sum(set(s) <= b for b in baskets) for s in got]
    assert min(counts) >= 0.6 * 48


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_neighbours_move_the_score_of_every_rank_by_at_most_its_sensitivity(neighbours):
    rng = np.random.default_rng(0)
    for _ in range(200):
        baskets = [set(np.flatnonzero(rng.random(5) < 0.4).tolist()) for _ in range(int(rng.integers(1, 12)))]
        other = [*baskets, set(range(5))] if neighbours == "add-remove" else [set(range(5)), *baskets[1:]]
        frequency = float(rng.random())
        seen = []
        for side in (baskets, other):
            counts = np.sort([sum(i in b for b in side) for i in range(5)])[::-1]
            seen.append(-np.abs(counts - round(frequency * len(side))))
        assert np.abs(seen[0] - seen[1]).max() <= Unit(neighbours=neighbours).l1()


def test_neither_k_nor_a_frequency_is_refused():
    with pytest.raises(SettingError, match="frequency"):
        run(random_baskets(10, 3, 0), 3, {})
