"""Frequent itemsets: the commonest combinations of two and three values in both tables."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate.base import Metric, Score, register
from dpsyn_core.evaluate.comparison import Codes, Comparison
from dpsyn_core.evaluate.distances import DENSE_CELLS, batches
from dpsyn_core.evaluate.workload import CountQuery, Filter, count_records
from dpsyn_core.measure import Counter
from dpsyn_core.schema import Domain

Itemset = tuple[tuple[int, int], ...]  # (position of the attribute, code), positions rising


@register(54)
@dataclass(frozen=True, kw_only=True)
class FrequentItemsets(Metric):
    """The `top` most frequent combinations of 2 and 3 values of different attributes, ties included."""

    name = "itemsets"
    title = "Frequent combinations of values"
    question = "Are the commonest combinations of values in the synthetic table the commonest in the real one?"
    goal = "high"
    minimum = 0.0
    maximum = 1.0
    unit = "recall"
    top: int = 100

    def compute(self, comparison: Comparison) -> Score:
        """Share of the real top combinations that are top combinations of the synthetic table too."""
        c = comparison
        if len(c.domain) < 2:
            msg = "a combination of values needs two attributes; the schema has one"
            raise MetricError(msg)
        real = frequent(c.real_counter, c.truth, c.domain, self.top)
        synthetic = frequent(c.synthetic_counter, c.synthetic, c.domain, self.top)
        both = real.keys() & synthetic.keys()
        recall, precision = len(both) / max(1, len(real)), len(both) / max(1, len(synthetic))
        missed = sorted(real.keys() - both, key=lambda s: -real[s])[:10]
        return Score(
            metric=self.name,
            value=recall,
            sentence=f"{len(both)} of the {len(real)} commonest combinations of values are among the synthetic "
            f"table's {len(synthetic)} commonest.",
            details={
                "real": len(real),
                "synthetic": len(synthetic),
                "both": len(both),
                "precision": precision,
                "missed": [{"itemset": _text(s, c), "real": real[s] / c.n} for s in missed],
            },
        )


def frequent(counter: Counter, codes: Codes, domain: Domain, top: int) -> dict[Itemset, int]:
    """Counts of the `top` most frequent itemsets of 2 and 3 values, ties at the last place included.

    The last place among the pairs bounds the search for triples from below, and every pair inside a frequent triple
    is at least as frequent (Agrawal and Srikant 1994).
    """
    pairs = _frequent_pairs(counter, codes, domain, top)
    least = min(sorted(pairs.values(), reverse=True)[:top], default=1)
    neighbours: dict[tuple[int, int], set[tuple[int, int]]] = {}
    for a, b in pairs:
        neighbours.setdefault(a, set()).add(b)
    candidates: list[Itemset] = [
        (a, b, c)
        for a, after in neighbours.items()
        for b, c in itertools.combinations(sorted(after), 2)
        if (b, c) in pairs
    ]
    names = domain.names
    queries = [CountQuery(tuple(Filter(attribute=names[i], codes=(v,)) for i, v in s)) for s in candidates]
    counts = count_records(domain, codes, {}, queries).tolist()
    sets: dict[Itemset, int] = dict(pairs)
    sets |= {s: n for s, n in zip(candidates, counts, strict=True) if n >= least}
    last = min(sorted(sets.values(), reverse=True)[:top], default=1)
    return {s: n for s, n in sets.items() if n >= last}


def _frequent_pairs(counter: Counter, codes: Codes, domain: Domain, top: int) -> dict[Itemset, int]:
    """The `top` most frequent pairs of values, ties at the last place included."""
    pairs: dict[Itemset, int] = {}
    least = 1
    position = {n: i for i, n in enumerate(domain.names)}
    for batch in batches(domain, domain.subsets(2)):
        if domain.cells(batch[0]) > DENSE_CELLS:
            a, b = (codes[position[n]].astype(np.int64) for n in batch[0])
            size = domain[batch[0][1]].size
            cell, count = np.unique(a * size + b, return_counts=True)
            tables = [(cell // size, cell % size, count)]
        else:
            tables = []
            for table in counter.marginals(batch):
                i, j = np.nonzero(table >= least)
                tables.append((i, j, table[i, j]))
        for names, (i, j, count) in zip(batch, tables, strict=True):
            some = np.argsort(-count, kind="stable")
            cut = count[some[min(top, len(some)) - 1]] if len(some) else 0
            a, b = (position[n] for n in names)
            for k in some[: np.count_nonzero(count >= cut)]:
                if count[k] >= least:
                    pairs[(a, int(i[k])), (b, int(j[k]))] = int(count[k])
        if len(pairs) > top:
            least = max(least, sorted(pairs.values(), reverse=True)[top - 1])
            pairs = {s: n for s, n in pairs.items() if n >= least}
    return pairs


def _text(itemset: Itemset, c: Comparison) -> str:
    names = c.domain.names
    return " and ".join(f"{names[i]} = {c.words(names[i])[v]}" for i, v in itemset)
