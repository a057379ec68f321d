"""Basis sets against whole enumeration: cliques, variances, merges two by two, and the best of all ways to merge."""

import itertools
import math

import numpy as np
import pytest

from dpsyn_core.systems.others import basis
from dpsyn_core.systems.others.basis import (
    Queries,
    build_bases,
    maximal_cliques,
    mean_variance,
    merge_best,
    merge_by_twos,
    split_clique,
    superset_sums,
)


def graph(seed, items=7, part=0.4):
    rng = np.random.default_rng(seed)
    return list(range(items)), [p for p in itertools.combinations(range(items), 2) if rng.random() < part]


@pytest.mark.parametrize("seed", range(8))
def test_cliques_are_those_of_all_subsets(seed):
    items, pairs = graph(seed, part=0.2 + seed / 10)
    edges = set(pairs)

    def whole(s):
        return all(p in edges for p in itertools.combinations(s, 2))

    every = [frozenset(s) for k in range(2, 8) for s in itertools.combinations(items, k) if whole(s)]
    sought = {c for c in every if not any(c < d for d in every)}
    found = maximal_cliques(items, pairs)
    assert set(found) == sought and len(found) == len(sought)


@pytest.mark.parametrize(("size", "longest"), [(5, 5), (5, 4), (7, 4), (9, 6), (4, 2), (5, 3)])
def test_a_split_clique_holds_every_pair_in_sets_that_are_short_enough(size, longest):
    clique = frozenset(range(10, 10 + size))
    parts = split_clique(clique, longest)
    assert parts == [clique] if size <= longest else all(len(p) <= longest for p in parts)
    for pair in itertools.combinations(clique, 2):
        assert any(set(pair) <= p for p in parts)
    if size > longest:
        blocks = math.ceil(size / (longest // 2))
        assert len(parts) == math.comb(blocks, 2) and frozenset().union(*parts) == clique


def variance(bases, queries):
    """Each basis tells a query within it with 2^(items more) bins; all of them by inverse variance."""
    means = []
    for q in queries:
        precision = sum(2.0 ** (len(q) - len(b)) for b in bases if q <= b)
        means.append(len(bases) ** 2 / precision if precision else math.inf)
    return sum(means) / len(means)


@pytest.mark.parametrize("seed", range(4))
def test_the_mean_variance_is_that_of_its_definition(seed):
    items, pairs = graph(seed)
    queries = [frozenset([i]) for i in items] + [frozenset(p) for p in pairs]
    bases = [frozenset(items[:4]), frozenset(items[3:]), *map(frozenset, pairs)]
    assert mean_variance(bases, queries) == pytest.approx(variance(bases, queries))
    assert mean_variance(bases[:2], [frozenset([0, 6])]) == math.inf
    assert mean_variance([frozenset([1, 99])], [frozenset([1])]) == 2


def by_twos(bases, queries, longest, patience):
    """The pair whose union has the least variance is merged, also for a loss, up to so many times without a gain."""
    best, least, now, idle = list(bases), variance(bases, queries), list(bases), 0
    while len(now) > 1 and idle < patience:
        ways = []
        for i, j in itertools.combinations(range(len(now)), 2):
            if len(now[i] | now[j]) <= longest:
                merged = [b for k, b in enumerate(now) if k not in (i, j)] + [now[i] | now[j]]
                ways.append((variance(merged, queries), merged))
        if not ways:
            break
        value, now = min(ways, key=lambda w: w[0])
        idle += 1
        if value < least:
            best, least, idle = now, value, 0
    return least, best


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("patience", [1, 2, 16])
@pytest.mark.parametrize("longest", [3, 5, 8])
def test_sets_are_merged_two_by_two_as_by_trying_each_pair(seed, patience, longest):
    items, pairs = graph(seed, items=8, part=0.3)
    queries = [frozenset([i]) for i in items] + [frozenset(p) for p in pairs]
    bases = maximal_cliques(items, pairs) + [frozenset([i]) for i in items if not any(i in p for p in pairs)]
    bases = [b for b in bases if len(b) <= longest]
    queries = [q for q in queries if any(q <= b for b in bases)]
    found = merge_by_twos(bases, Queries(queries), longest, patience=patience)
    assert variance(found, queries) == pytest.approx(by_twos(bases, queries, longest, patience)[0])


def partitions(sets):
    if not sets:
        yield []
        return
    first, rest = sets[0], sets[1:]
    for part in partitions(rest):
        yield [first, *part]
        for k, one in enumerate(part):
            yield [*part[:k], one | first, *part[k + 1 :]]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("longest", [4, 6])
def test_few_sets_are_merged_in_the_best_of_all_ways(seed, longest):
    items, pairs = graph(seed, items=7, part=0.3)
    queries = [frozenset([i]) for i in items] + [frozenset(p) for p in pairs]
    bases = [frozenset(c) for c in maximal_cliques(items, pairs) if len(c) <= longest]
    bases += [frozenset([i]) for i in items if not any(i in b for b in bases)]
    queries = [q for q in queries if any(q <= b for b in bases)]
    ways = [p for p in partitions(bases) if all(len(b) <= longest for b in p)]
    least = min(variance(p, queries) for p in ways)
    found = merge_best(bases, Queries(queries), longest, bases)
    assert variance(found, queries) == pytest.approx(least) and all(len(b) <= longest for b in found)
    assert frozenset().union(*found) == frozenset().union(*bases)


def test_a_search_that_may_take_no_step_keeps_what_is_known(monkeypatch):
    monkeypatch.setattr(basis, "SEARCH_STEPS", 0)
    bases = [frozenset([0, 1]), frozenset([1, 2])]
    assert merge_best(bases, Queries(bases), 3, bases) == bases


def test_bases_hold_all_items_and_pairs_and_items_in_no_pair_go_by_threes():
    found = build_bases(range(9), [(0, 1), (1, 2), (0, 2), (2, 3)], 4)
    assert all(len(b) <= 4 for b in found) and frozenset().union(*found) == frozenset(range(9))
    for pair in [(0, 1), (1, 2), (0, 2), (2, 3)]:
        assert any(set(pair) <= b for b in found)
    assert build_bases(range(3), [], 5) == [frozenset(range(3))]
    assert build_bases([], [], 5) == [] and build_bases(range(2), [(0, 1)], 2) == [frozenset([0, 1])]
    sizes = sorted(map(len, build_bases(range(5), [], 2)))
    assert sizes == [1, 2, 2]


@pytest.mark.parametrize("size", [1, 2, 5])
def test_counts_of_itemsets_are_sums_of_the_bins_that_hold_them(size):
    bins = np.arange(2**size) ** 2 + 1
    sums = superset_sums(bins)
    assert sums.tolist() == [sum(int(b) for s, b in enumerate(bins) if s & q == q) for q in range(2**size)]
    assert bins[0] == 1
