"""TransactionCounter against Python sets, and the exact k-th itemset against enumeration."""

import itertools

import numpy as np
import pytest

from dpsyn_core.measure.counting.transactions import TableTransactions, TransactionCounter


def random_baskets(n, n_items, seed):
    rng = np.random.default_rng(seed)
    popular = rng.random(n_items) ** 2 * 0.8
    return [set(np.flatnonzero(rng.random(n_items) < popular).tolist()) for _ in range(n)]


def counter_of(baskets, n_items, *, repeat=1):
    entries = [(r, i) for r, b in enumerate(baskets) for i in b for _ in range(repeat)]
    rows, items = (
        (np.array(c, dtype=np.int64) for c in zip(*entries, strict=True)) if entries else (np.zeros(0, int),) * 2
    )
    return TransactionCounter(rows, items, n_records=len(baskets), n_items=n_items)


def test_items_pairs_and_patterns_are_counted_as_sets():
    baskets = random_baskets(130, 9, 0)
    counter = counter_of(baskets, 9, repeat=2)  # an item twice in a basket counts once
    assert counter.item_counts().tolist() == [sum(i in b for b in baskets) for i in range(9)]
    items = [7, 2, 5, 0]
    pairs = [sum({i, j} <= b for b in baskets) for i, j in itertools.combinations(items, 2)]
    assert counter.pair_counts(items).tolist() == pairs
    expected = np.zeros(16, dtype=int)
    for b in baskets:
        expected[sum(1 << p for p, i in enumerate(items) if i in b)] += 1
    assert counter.patterns(items).tolist() == expected.tolist()


def test_empty_transactions_fall_into_the_empty_pattern():
    counter = counter_of([set(), {1}, set()], 2)
    assert counter.patterns([0, 1]).tolist() == [2, 0, 1, 0]
    none = counter_of([], 2)
    assert none.patterns([0, 1]).tolist() == [0, 0, 0, 0]
    assert none.item_counts().tolist() == [0, 0]
    assert none.pair_counts([0, 1]).tolist() == [0]
    assert none.top_count(3) == 0


@pytest.mark.parametrize("seed", range(4))
def test_the_kth_itemset_against_enumeration(seed):
    baskets = random_baskets(90, 7, seed)
    counts = sorted(
        (sum(set(s) <= b for b in baskets) for k in range(1, 8) for s in itertools.combinations(range(7), k)),
        reverse=True,
    )
    counter = counter_of(baskets, 7)
    for k in (1, 2, 3, 5, 10, 20, 40, 127):
        assert counter.top_count(k) == counts[k - 1]


@pytest.mark.parametrize("sizes", [(130,), (1, 64, 65), ()])
def test_a_table_of_codes_in_blocks_gives_the_same_counter(sizes):
    baskets = random_baskets(sum(sizes), 6, 3)
    codes = np.array([[i in b for b in baskets] for i in range(6)], dtype=np.uint8).reshape(6, -1)
    table, alone = TableTransactions(6), counter_of(baskets, 6)
    for block in np.split(codes, np.cumsum(sizes)[:-1], axis=1) if sizes else []:
        table.add(block)
    items = [4, 0, 5, 1]
    assert table.n_records == alone.n_records
    assert table.item_counts().tolist() == alone.item_counts().tolist()
    assert table.pair_counts(items).tolist() == alone.pair_counts(items).tolist()
    assert table.patterns(items).tolist() == alone.patterns(items).tolist()
    assert [table.top_count(k) for k in (1, 4, 20)] == [alone.top_count(k) for k in (1, 4, 20)]


@pytest.mark.parametrize("n", [1, 2, 63, 64, 65])
def test_any_number_of_transactions_is_counted(n):
    baskets = [{0, 2} if i % 2 == 0 else {1} for i in range(n)]
    counter = counter_of(baskets, 4)
    even = (n + 1) // 2
    assert counter.item_counts().tolist() == [even, n - even, even, 0]
    assert counter.pair_counts([0, 1, 2]).tolist() == [0, even, 0]
    assert counter.top_count(1) == even and counter.top_count(3) == even
