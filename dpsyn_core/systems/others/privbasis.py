"""PrivBasis itself: how many items matter, which, which pairs, and the noisy tables of their basis sets."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from dpsyn_core.errors import MethodError, SettingError
from dpsyn_core.measure import Gate, TransactionCounter
from dpsyn_core.privacy import Cost
from dpsyn_core.progress import Progress, silent
from dpsyn_core.systems.others.basis import Items, build_bases, superset_sums
from dpsyn_core.systems.settings import setting

MAX_K = 1000
MAX_PAIRS = 1000  # chosen where a least frequency says how many; each is a choice of its own


class PrivBasisSettings(BaseModel):
    """Defaults are the paper's."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    k: int | None = setting(
        None,
        "Itemsets",
        "How many of the most frequent itemsets to release; empty: all that reach the frequency.",
        between=(1, MAX_K),
    )
    frequency: float | None = setting(
        None,
        "Least frequency",
        "Release the itemsets in at least this share of the transactions; empty: the k most frequent.",
        gt=0,
        le=1,
    )
    margin: float = setting(
        1.1,
        "Margin",
        "Items and pairs are chosen for this many times k itemsets, so that noise loses fewer.",
        between=(1, 3),
    )
    size_share: float = setting(0.1, "Share of the size", "Part of epsilon for how many items matter.", gt=0, lt=1)
    choice_share: float = setting(0.4, "Share of choices", "Part of epsilon for choosing items and pairs.", gt=0, lt=1)
    longest: int = setting(
        12, "Longest basis", "Items in one basis set; its table has 2 to this power bins.", between=(2, 20)
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Itemset:
    """A released itemset. items: numbers, ascending. count: noisy. deviation: standard deviation of its noise."""

    items: tuple[int, ...]
    count: float
    deviation: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Itemsets:
    """What is released: itemsets, most frequent first, the basis sets, and a noisy number of transactions."""

    itemsets: list[Itemset]
    bases: list[Items]
    total: float


def check_itemsets(settings: PrivBasisSettings, n_items: int) -> None:
    """Raises before anything is charged when there are not k itemsets, or shares leave nothing to measure."""
    if n_items < 1:
        msg = "there is no item; list the public items, one per line"
        raise MethodError(msg)
    if settings.k is None and settings.frequency is None:
        msg = "say which itemsets to release: k of the most frequent, or those of at least a frequency such as 0.1"
        raise SettingError(msg)
    if settings.k is not None and n_items < 60 and settings.k > 2**n_items - 1:
        msg = (
            f"k is {settings.k}, but {n_items} items have {2**n_items - 1} itemsets; lower k, or use the method "
            "'field-groups' to release the whole table"
        )
        raise MethodError(msg)
    if settings.size_share + settings.choice_share >= 1:
        msg = "size_share and choice_share add up to 1 or more; leave a part for the counts"
        raise SettingError(msg)


def find_itemsets(
    counter: TransactionCounter, settings: PrivBasisSettings, *, cost: Cost, gate: Gate, progress: Progress = silent
) -> Itemsets:
    """The private phase and what follows from it.

    Guarantee: epsilon-DP for the gate's unit, split by `size_share` and `choice_share`. Counts of items and pairs are
    monotone in the records, so that choices under add/remove neighbours need no factor 2. With a least frequency, the
    numbers of items and of pairs are those whose counts come nearest to that share of the number of transactions.

    Source: Li, Qardaji, Su, Cao 2012.
    """
    n_items = counter.n_items
    check_itemsets(settings, n_items)
    max_records = gate.unit.max_records
    size_cost, choice_cost, count_cost = cost.split(
        [settings.size_share, settings.choice_share, 1 - settings.size_share - settings.choice_share]
    )
    # a second choice, of how many pairs matter, can only be needed where more items than one basis holds may matter
    two = settings.frequency is not None and n_items > settings.longest
    first_cost, *pairs_cost = size_cost.split([1.0, 1.0]) if two else [size_cost]
    if settings.frequency is not None:
        size = _how_many(counter, counter.item_counts, settings.frequency, n_items, "items", gate, first_cost)
    else:
        most = math.ceil(settings.margin * (settings.k or 1))
        ranks = min(n_items, most)
        size = 1 + gate.select(
            "how many items matter",
            lambda: _rank_scores(counter, most, ranks),
            sensitivity=float(gate.unit.l1()),  # the difference of two monotone counts; of two swapped ones, twice
            cost=first_cost,
        )
        size = min(n_items, max(size, (settings.k or 1).bit_length()))  # with fewer items there are not k itemsets
    progress("choose items", 0, size)
    n_pairs = 0
    if size > settings.longest:
        n_pairs = _pairs_wanted(most, size) if settings.frequency is None else min(math.comb(size, 2), MAX_PAIRS)
    item_cost, *pair_cost = choice_cost.split([size, n_pairs] if n_pairs else [1.0])
    chosen = _peel(gate, "item", counter.item_counts, size, n_items, max_records, item_cost)
    pairs: list[tuple[int, int]] = []
    if n_pairs:
        names = list(itertools.combinations(chosen, 2))
        if settings.frequency is not None:
            n_pairs = _how_many(
                counter, lambda: counter.pair_counts(chosen), settings.frequency, n_pairs, "pairs", gate, pairs_cost[0]
            )
        picked = _peel(
            gate, "pair", lambda: counter.pair_counts(chosen), n_pairs, len(names), max_records, pair_cost[0]
        )
        pairs = [names[i] for i in picked]
        bases = build_bases(chosen, pairs, settings.longest)
    else:
        bases = [frozenset(chosen)]
    progress("count patterns", 0, len(bases))
    tables = []
    for basis, share in zip(bases, count_cost.split([1.0] * len(bases)), strict=True):
        items = sorted(basis)
        got = gate.release(
            f"patterns of {len(items)} items",
            partial(counter.patterns, items),
            kind="patterns",
            cells=1 << len(items),
            cost=share,
        )
        tables.append((items, got.values, got.sigma))
        progress("count patterns", len(tables), len(bases))
    return _combine(tables, bases, settings)


def _how_many(
    counter: TransactionCounter,
    counts: Callable[[], NDArray[np.int64]],
    frequency: float,
    most: int,
    what: str,
    gate: Gate,
    cost: Cost,
) -> int:
    """The rank whose count comes nearest to the frequency times the number of transactions.

    Both numbers are monotone in the records and move by at most max_records, so that their distance moves by no more
    under add/remove, and by twice that when one individual is exchanged.
    """

    def scores() -> NDArray[np.int64]:
        line = round(frequency * counter.n_records)
        return -np.abs(np.sort(counts())[::-1][:most] - line)

    return 1 + gate.select(f"how many {what} matter", scores, sensitivity=float(gate.unit.l1()), cost=cost)


def _rank_scores(counter: TransactionCounter, wanted: int, ranks: int) -> NDArray[np.int64]:
    """Minus the distance of the j-th item's count from that of the k-th itemset."""
    counts = np.sort(counter.item_counts())[::-1][:ranks]
    return -np.abs(counts - counter.top_count(wanted))


def _pairs_wanted(wanted: int, size: int) -> int:
    """Pairs to choose among `size` items: the itemsets to report less the single items, thinned as they become many."""
    left = max(0, wanted - size)
    return min(math.comb(size, 2), math.ceil(left / math.sqrt(max(1.0, left / size))))


def _peel(
    gate: Gate, what: str, counts: Callable[[], NDArray[np.int64]], rounds: int, n: int, max_records: int, cost: Cost
) -> list[int]:
    """The most frequent candidates, one by one, each by the exponential mechanism on the rest."""
    left, out = list(range(n)), []
    for i, share in enumerate(cost.split([1.0] * rounds)):
        if len(left) == 1:
            out.append(left.pop())
            break
        at = gate.select(
            f"{what} {i + 1} of {rounds}",
            lambda: counts()[left],
            sensitivity=float(max_records),
            cost=share,
            monotone=True,
        )
        out.append(left.pop(at))
    return out


def _combine(
    tables: Sequence[tuple[list[int], NDArray[np.int64], float]], bases: list[Items], settings: PrivBasisSettings
) -> Itemsets:
    """Counts of all itemsets inside a basis, combined by inverse variance; the k largest, or those frequent enough."""
    names = sorted({i for items, _, _ in tables for i in items})
    place = {item: i for i, item in enumerate(names)}
    words = -(-len(names) // 64)
    keys, counts, precisions = [], [], []
    for items, bins, sigma in tables:
        subsets = np.arange(bins.size, dtype=np.int64)
        key = np.zeros((bins.size, words), dtype=np.uint64)
        for bit, item in enumerate(items):
            word, shift = divmod(place[item], 64)
            key[(subsets >> bit) & 1 == 1, word] |= np.uint64(1) << np.uint64(shift)
        keys.append(key)
        counts.append(superset_sums(bins).astype(np.float64))
        precisions.append(1 / (np.exp2(len(items) - np.bitwise_count(subsets)) * sigma**2))
    unique, inverse = np.unique(np.concatenate(keys), axis=0, return_inverse=True)
    weight = np.concatenate(precisions)
    precision = np.bincount(inverse.ravel(), weights=weight)
    mean = np.bincount(inverse.ravel(), weights=weight * np.concatenate(counts)) / precision
    empty = (unique == 0).all(axis=1)
    total = float(mean[empty][0])
    order = np.argsort(-mean, kind="stable")
    order = order[~empty[order]]
    if settings.frequency is not None:
        order = order[mean[order] >= settings.frequency * max(total, 1.0)]
    order = order[: settings.k]
    itemsets = [
        Itemset(
            items=tuple(n for n in names if int(unique[i, place[n] // 64]) >> (place[n] % 64) & 1),
            count=float(mean[i]),
            deviation=float(1 / math.sqrt(precision[i])),
        )
        for i in order
    ]
    return Itemsets(itemsets=itemsets, bases=bases, total=total)
