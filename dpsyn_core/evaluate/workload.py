"""Workloads of range queries and sets of bits.

Answers 512 queries in one pass over the records: a bit a query, counted by carry-save adders.

Range queries: conditions, queries, seeded random workloads, and counting thousands of them in one pass.

Range queries: a seeded random workload, answered by both tables.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate.base import Metric, Score, register
from dpsyn_core.evaluate.comparison import Codes, Comparison, Floats
from dpsyn_core.loading import compiled
from dpsyn_core.schema import CodedAttribute, Domain

PLANES = 11  # binary digits of a counter: a pass may add at most 2,047
FLUSH = 2040  # records a pass, a multiple of 8 below that


def count_blocks(columns: Sequence[NDArray[Any]], tables: Sequence[NDArray[np.uint64]], n: int) -> NDArray[np.int64]:
    """Counts, for each of the 64 * words queries, the records whose table rows all have its bit.

    Args:
        columns: integer codes (n,) each, at least one.
        tables: uint64 (values, words) each, the same number of words in all; row v belongs to code v.
        n: number of records.
    """
    starts = np.concatenate([[0], np.cumsum([t.shape[0] for t in tables])])
    table = np.ascontiguousarray(np.concatenate(tables))
    counts = np.zeros(64 * table.shape[1], dtype=np.int64)
    rows = np.empty((FLUSH, len(columns)), dtype=np.int32)
    for begin in range(0, n, FLUSH):
        end = min(n, begin + FLUSH)
        for k, column in enumerate(columns):
            rows[: end - begin, k] = column[begin:end]
            rows[: end - begin, k] += starts[k]
        _count(rows, end - begin, table, counts)
    return counts


@compiled(nogil=True)
def _count(rows: NDArray[np.int32], m: int, table: NDArray[np.uint64], counts: NDArray[np.int64]) -> None:
    """Adds the set bits of the conjunctions of m records to the counts; eight records share one carry chain.

    Source: Harley and Seal's population count (Warren 2012, Hacker's Delight, 2nd ed., section 5-1), per bit.
    """
    words = table.shape[1]
    p = np.zeros((PLANES, words), dtype=np.uint64)
    a = np.zeros((8, words), dtype=np.uint64)
    for g in range(0, m, 8):
        for i in range(8):
            if g + i < m:
                for w in range(words):
                    a[i, w] = table[rows[g + i, 0], w]
                for k in range(1, rows.shape[1]):
                    row = rows[g + i, k]
                    for w in range(words):
                        a[i, w] &= table[row, w]
            else:
                for w in range(words):
                    a[i, w] = 0
        for w in range(words):
            ones, twos, fours = p[0, w], p[1, w], p[2, w]
            u = ones ^ a[0, w]
            t0 = (ones & a[0, w]) | (u & a[1, w])
            ones = u ^ a[1, w]
            u = ones ^ a[2, w]
            t1 = (ones & a[2, w]) | (u & a[3, w])
            ones = u ^ a[3, w]
            u = twos ^ t0
            f0 = (twos & t0) | (u & t1)
            twos = u ^ t1
            u = ones ^ a[4, w]
            t0 = (ones & a[4, w]) | (u & a[5, w])
            ones = u ^ a[5, w]
            u = ones ^ a[6, w]
            t1 = (ones & a[6, w]) | (u & a[7, w])
            ones = u ^ a[7, w]
            u = twos ^ t0
            f1 = (twos & t0) | (u & t1)
            twos = u ^ t1
            u = fours ^ f0
            carry = (fours & f0) | (u & f1)
            fours = u ^ f1
            p[0, w], p[1, w], p[2, w] = ones, twos, fours
            for j in range(3, PLANES):
                over = p[j, w] & carry
                p[j, w] ^= carry
                carry = over
    for j in range(PLANES):
        for w in range(words):
            x = p[j, w]
            for b in range(64):
                counts[64 * w + b] += np.int64((x >> np.uint64(b)) & np.uint64(1)) << j


BLOCK = 512  # queries answered in one pass over the records: their bits stay in registers and the first cache


@dataclass(frozen=True, kw_only=True, slots=True)
class Filter:
    """A record passes when its code is one of `codes`, or its number lies in [low, high]."""

    attribute: str
    codes: tuple[int, ...] | None = None
    low: float = -math.inf
    high: float = math.inf

    def text(self, words: Sequence[str] = ()) -> str:
        """As it is written in the query language."""
        name = _written(self.attribute, plain=not set(self.attribute) & set('"=<>!'))
        if self.codes is None:
            return f"{name} in [{self.low:g}, {self.high:g}]"
        shown = [words[c] if words else str(c) for c in self.codes]
        return f"{name} in {{{', '.join(_written(w) for w in shown)}}}"


@dataclass(frozen=True, slots=True)
class CountQuery:
    """Records that pass all conditions; none: all records."""

    conditions: tuple[Filter, ...]

    def text(self, comparison: Comparison) -> str:
        """As it is written in the query language."""
        return " and ".join(c.text(comparison.words(c.attribute)) for c in self.conditions) or "all records"


WORDS = ("in", "not", "between")  # that mean something between names and values


def _written(word: str, *, plain: bool = True) -> str:
    """A name or value as the query language reads it back: in double quotes where that is needed."""
    clear = not set(word) & set(',{}[]"') and not {*WORDS, "and"} & set(word.split())
    return word if plain and word and word == word.strip() and clear else '"' + word.replace('"', '""') + '"'


def random_workload(domain: Domain, count: int, *, seed: int, most: int = 3) -> list[CountQuery]:
    """Seeded random queries from the domain alone: 1 to `most` attributes each.

    An ordered attribute gets a random interval of its codes, another a random proper subset of its values.
    """
    usable = _usable(domain)
    rng = np.random.default_rng(seed)
    queries = []
    for _ in range(count):
        width = int(rng.integers(1, min(most, len(usable)) + 1))
        picked = [usable[i] for i in np.sort(rng.choice(len(usable), width, replace=False))]
        queries.append(CountQuery(tuple(random_condition(a, rng) for a in picked)))
    return queries


def chance_workload(domain: Domain, count: int, *, seed: int, keep: float) -> list[CountQuery]:
    """Seeded random queries from the domain alone: each attribute is asked for with probability `keep`.

    A query asks for at least one attribute; attributes of a single value are left out.
    """
    usable = _usable(domain)
    rng = np.random.default_rng(seed)
    queries = []
    for _ in range(count):
        picked = np.flatnonzero(rng.random(len(usable)) < keep)
        if not len(picked):
            picked = rng.integers(0, len(usable), 1)
        queries.append(CountQuery(tuple(random_condition(usable[i], rng) for i in picked)))
    return queries


def random_condition(a: CodedAttribute, rng: Generator) -> Filter:
    """A random interval of an ordered attribute's codes, a random proper subset of another one's values."""
    plain = a.size - a.special
    if a.ordered and plain >= 2:
        low, high = np.sort(rng.integers(0, plain, 2))
        return Filter(attribute=a.name, codes=tuple(range(int(low), int(high) + 1)))
    size = int(rng.integers(1, a.size))
    return Filter(attribute=a.name, codes=tuple(np.sort(rng.choice(a.size, size, replace=False)).tolist()))


def _usable(domain: Domain) -> list[CodedAttribute]:
    """Attributes that can be asked for."""
    usable = [a for a in domain.attributes if a.size >= 2]
    if not usable:
        msg = "every attribute has a single value, so there is no range to ask for"
        raise MetricError(msg)
    return usable


def count_queries(c: Comparison, queries: Sequence[CountQuery]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Real and synthetic counts of each query, int64 of shape (len(queries),). The real ones are private."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        real = pool.submit(count_records, c.domain, c.truth, c.real_values, queries)
        synthetic = pool.submit(count_records, c.domain, c.synthetic, c.synthetic_values, queries)
        return real.result(), synthetic.result()


def count_records(
    domain: Domain, codes: Codes, values: Mapping[str, Floats], queries: Sequence[CountQuery]
) -> NDArray[np.int64]:
    """Counts the records that pass each query.

    Args:
        domain: the attributes.
        codes: unsigned (n_attributes, n_records).
        values: numbers by attribute for interval conditions; where there are none the codes of an ordered
            attribute are the numbers.
        queries: any number of them.
    """
    order = sorted(range(len(queries)), key=lambda i: [c.attribute for c in queries[i].conditions])
    out = np.zeros(len(queries), dtype=np.int64)
    for start in range(0, len(order), BLOCK):
        chosen = order[start : start + BLOCK]
        columns, tables = _tables(domain, codes, values, [queries[i] for i in chosen])
        n = codes.shape[1]
        out[chosen] = count_blocks(columns, tables, n)[: len(chosen)] if columns else n
    return out


def _tables(
    domain: Domain, codes: Codes, values: Mapping[str, Floats], queries: Sequence[CountQuery]
) -> tuple[list[NDArray[Any]], list[NDArray[np.uint64]]]:
    """One column and one table an attribute in use: row v of the table has a bit for each query that v passes."""
    columns: list[NDArray[Any]] = []
    tables: list[NDArray[np.uint64]] = []
    asked: dict[tuple[str, bool], list[tuple[int, Filter]]] = {}
    for q, query in enumerate(queries):
        for condition in query.conditions:
            asked.setdefault((condition.attribute, condition.codes is None), []).append((q, condition))
    words = (len(queries) + 63) // 64
    for (name, interval), conditions in asked.items():
        if interval:
            column, passes = _intervals(domain, codes, values, name, [c for _, c in conditions])
        else:
            column = codes[domain.index(name)]
            passes = np.zeros((domain[name].size, len(conditions)), dtype=bool)
            for k, (_, c) in enumerate(conditions):
                passes[list(c.codes or ()), k] = True
        bits = np.ones((passes.shape[0], words * 64), dtype=bool)
        for k, (q, _) in enumerate(conditions):
            bits[:, q] &= passes[:, k]
        columns.append(column)
        tables.append(np.packbits(bits, axis=1, bitorder="little").view(np.uint64))
    return columns, tables


def _intervals(
    domain: Domain, codes: Codes, values: Mapping[str, Floats], name: str, conditions: Sequence[Filter]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Numbers the gaps and ends of all intervals, so that closed intervals on floats become sets of codes.

    A number between end i and end i + 1 gets 2 i + 2, one equal to end i gets 2 i + 1. NaN is sorted above every
    end, infinity too, so it gets the last code, which no interval holds.
    """
    a = domain[name]
    if name in values:
        numbers = values[name]
    elif a.ordered:
        numbers = codes[domain.index(name)].astype(np.float64)
        numbers[numbers >= a.size - a.special] = np.nan
    else:
        msg = f"attribute '{name}' has no order, so it has no interval; ask for it as {name} in {{value, ...}}"
        raise MetricError(msg)
    ends = np.unique([e for c in conditions for e in (c.low, c.high)])
    code = np.searchsorted(ends, numbers, side="left") + np.searchsorted(ends, numbers, side="right")
    passes = np.zeros((2 * len(ends) + 1, len(conditions)), dtype=bool)
    for k, c in enumerate(conditions):
        passes[2 * np.searchsorted(ends, c.low) + 1 : 2 * np.searchsorted(ends, c.high) + 2, k] = True
    return code, passes


QUANTILES = (0.5, 0.75, 0.9, 0.95, 0.99)
WORST = 10
SANITY = 0.001  # relative errors are taken over at least this share of the records, as is usual in the field


def fresh_error(real: NDArray[np.int64] | int, n: int, m: int) -> NDArray[np.float64]:
    """Mean error of the share that another sample of the same people, of m records, gives for each of these counts.

    Both tables are samples, so that their variances add up; the mean absolute error of a normal law.
    """
    share = np.asarray(real) / n
    return np.asarray(np.sqrt(2 / math.pi * share * (1 - share) * (1 / n + 1 / m)))


@register(30)
@dataclass(frozen=True, kw_only=True)
class RangeQueries(Metric):
    """`count` queries on 1 to `most` attributes each, a function of the domain and the seed alone."""

    name = "range-queries"
    title = "Random range queries"
    question = "If somebody counts the records in a random range, how far off is the synthetic answer?"
    goal = "low"
    minimum = 0.0
    maximum = 1.0
    unit = "share of records"
    count: int = 1000
    most: int = 3
    seed: int = 0

    def compute(self, comparison: Comparison) -> Score:
        """Mean absolute error of a frequency, and the noise floor that a fresh sample would have."""
        c = comparison
        queries = random_workload(c.domain, self.count, seed=self.seed, most=self.most)
        real, synthetic = count_queries(c, queries)
        error = synthetic / c.m - real / c.n
        size = abs(error)
        relative = size / np.maximum(real / c.n, SANITY)
        floor = fresh_error(real, c.n, c.m)
        worst = np.argsort(-size, kind="stable")[:WORST]
        mean = float(size.mean())
        return Score(
            metric=self.name,
            value=mean,
            floor=float(floor.mean()),
            sentence=f"A random range query is off by {mean:.2%} of the records on average "
            f"(half of them by less than {np.median(size):.2%}); a fresh sample would be off by {floor.mean():.2%}.",
            details={
                "queries": len(queries),
                "seed": self.seed,
                "quantiles": {f"{q:g}": float(np.quantile(size, q)) for q in QUANTILES},
                "max": size.max(),
                "relative_mean": relative.mean(),
                "relative_median": float(np.median(relative)),
                "frequencies": {"real": real / c.n, "synthetic": synthetic / c.m},
                "worst": [
                    {
                        "query": queries[i].text(c),
                        "real": int(real[i]),
                        "synthetic": int(synthetic[i]),
                        "error": error[i],
                        "relative": relative[i],
                    }
                    for i in worst
                ],
            },
        )
