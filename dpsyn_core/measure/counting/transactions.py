"""TransactionCounter: exact counts of items, pairs and whole patterns in sets of items. All of it is private."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Index = NDArray[np.int64]


class TransactionCounter:
    """Holds transactions as sets of item numbers, by item."""

    def __init__(self, rows: Index, items: Index, *, n_records: int, n_items: int) -> None:
        """Takes (transaction, item) entries in any order; an item twice in a transaction counts once.

        Args:
            rows: transaction of each entry, 0..n_records-1.
            items: item of each entry, 0..n_items-1.
            n_records: transactions, empty ones included.
            n_items: public items.
        """
        self.n_records, self.n_items = n_records, n_items
        entries = np.unique(items.astype(np.int64) * max(1, n_records) + rows)
        self._rows = entries % max(1, n_records)
        self._ends = np.searchsorted(entries, np.arange(n_items + 1, dtype=np.int64) * max(1, n_records))

    def _holders(self, item: int) -> Index:
        return self._rows[self._ends[item] : self._ends[item + 1]]

    def item_counts(self) -> Index:
        """Transactions that hold each item, int64 (n_items,)."""
        return np.diff(self._ends).astype(np.int64)

    def pair_counts(self, items: Sequence[int]) -> Index:
        """Transactions that hold both of every two of the items, in the order of itertools.combinations."""
        bits = self._bits(items)
        out = [np.bitwise_count(bits[i] & bits[i + 1 :]).sum(axis=1, dtype=np.int64) for i in range(len(items))]
        return np.concatenate(out) if out else np.zeros(0, dtype=np.int64)

    def patterns(self, items: Sequence[int]) -> Index:
        """Transactions by which of the items they hold, int64 (2^len,): bit i of the index stands for items[i]."""
        bits = np.zeros(self.n_records, dtype=np.int64)
        for position, item in enumerate(items):
            bits[self._holders(item)] |= 1 << position
        return np.bincount(bits, minlength=1 << len(items)).astype(np.int64)

    def top_count(self, k: int) -> int:
        """Count of the k-th most frequent itemset; 0 when there are fewer that occur.

        Every such set consists of the k most frequent items, so a best-first search over those finds it: a set is
        taken up when no open one is more frequent, and its extensions are at most as frequent.
        """
        counts = self.item_counts()
        order = np.argsort(-counts, kind="stable")[:k]
        order = order[counts[order] > 0]
        bits = self._bits(order.tolist())
        least = sorted(counts[order].tolist(), reverse=True)[:k]
        heapq.heapify(least)  # the k largest counts known so far
        # negative count, serial number (so that bits are never compared), position of the last item, who holds all
        open_ = [(-int(counts[item]), i, i, bits[i]) for i, item in enumerate(order)]
        heapq.heapify(open_)
        serial, taken = len(open_), 0
        while open_:
            negative, _, last, supported = heapq.heappop(open_)
            taken += 1
            if taken == k:
                return -negative
            both = supported & bits[last + 1 :]
            sizes = np.bitwise_count(both).sum(axis=1, dtype=np.int64)
            floor = least[0] if len(least) == k else 1
            for j in np.flatnonzero(sizes >= max(1, floor)).tolist():
                size = int(sizes[j])
                if len(least) < k:
                    heapq.heappush(least, size)
                else:
                    heapq.heappushpop(least, size)
                heapq.heappush(open_, (-size, serial, last + 1 + j, both[j].copy()))
                serial += 1
        return 0

    def _bits(self, items: Sequence[int]) -> NDArray[np.uint64]:
        """One row of bits an item, padded to whole words."""
        words = -(-self.n_records // 64)
        out = np.zeros((len(items), words), dtype=np.uint64)
        for i, item in enumerate(items):
            flags = np.zeros(words * 64, dtype=np.uint8)
            flags[self._holders(item)] = 1
            out[i] = np.packbits(flags, bitorder="little").view(np.uint64)
        return out


class TableTransactions(TransactionCounter):
    """The same for tables of zeros and ones, one bit for each item and record, which come block by block."""

    def __init__(self, n_items: int) -> None:
        """Starts without records."""
        self.n_records, self.n_items = 0, n_items
        self._blocks: list[tuple[NDArray[np.uint64], int]] = []  # bits (items, words), and records

    @classmethod
    def of_codes(cls, codes: NDArray[np.unsignedinteger]) -> TableTransactions:
        """From a 0/1 table of shape (items, records); any code above 0 is presence."""
        counter = cls(codes.shape[0])
        counter.add(codes)
        return counter

    def add(self, codes: NDArray[np.unsignedinteger]) -> None:
        """Adds records, (items, records); any code above 0 is presence."""
        n = codes.shape[1]
        packed = np.packbits(codes > 0, axis=1, bitorder="little")
        bits = np.zeros((self.n_items, -(-n // 64) * 8), dtype=np.uint8)
        bits[:, : packed.shape[1]] = packed
        self._blocks.append((bits.view(np.uint64), n))
        self.n_records += n

    def item_counts(self) -> Index:
        """Transactions that hold each item, int64 (n_items,)."""
        out = np.zeros(self.n_items, dtype=np.int64)
        for bits, _ in self._blocks:
            out += np.bitwise_count(bits).sum(axis=1, dtype=np.int64)
        return out

    def pair_counts(self, items: Sequence[int]) -> Index:
        """Transactions that hold both of every two of the items, in the order of itertools.combinations."""
        out = np.zeros(len(items) * (len(items) - 1) // 2, dtype=np.int64)
        for bits, _ in self._blocks:
            few = bits[list(items)]
            both = [np.bitwise_count(few[i] & few[i + 1 :]).sum(axis=1, dtype=np.int64) for i in range(len(items))]
            out += np.concatenate(both) if both else 0
        return out

    def patterns(self, items: Sequence[int]) -> Index:
        """Transactions by which of the items they hold, int64 (2^len,): bit i of the index stands for items[i]."""
        out = np.zeros(1 << len(items), dtype=np.int64)
        for bits, n in self._blocks:
            pattern = np.zeros(n, dtype=np.int64)
            for position, item in enumerate(items):
                pattern |= (
                    np.unpackbits(bits[item].view(np.uint8), count=n, bitorder="little").astype(np.int64) << position
                )
            out += np.bincount(pattern, minlength=1 << len(items))
        return out

    def _bits(self, items: Sequence[int]) -> NDArray[np.uint64]:
        """One row of bits an item; each block is padded to whole words."""
        if not self._blocks:
            return np.zeros((len(items), 0), dtype=np.uint64)
        return np.concatenate([bits[list(items)] for bits, _ in self._blocks], axis=1)
