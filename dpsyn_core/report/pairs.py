"""Two-way tables of a report: real and synthetic counts of the pairs a reader may open, coarse enough to embed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.marginals.coarsening import Coarsening
from dpsyn_core.metrics.comparison import Comparison
from dpsyn_core.report.figures.labels import axis_labels, merged, rising
from dpsyn_core.schema.domain import AttributeSet, CodedAttribute

SIDE = 20  # at most so many rows and columns of an embedded table
ALL_UP_TO = 190  # all pairs of 20 attributes
WORST = 60


def embedded_pairs(domain_pairs: Sequence[AttributeSet], tvd: NDArray[np.float64]) -> list[AttributeSet]:
    """The pairs whose tables are embedded: all of a narrow table, the worst of a wide one."""
    if len(domain_pairs) <= ALL_UP_TO:
        return list(domain_pairs)
    return [domain_pairs[i] for i in np.argsort(-tvd, kind="stable")[:WORST]]


def pair_tables(comparisons: Sequence[Comparison], pairs: Sequence[AttributeSet]) -> dict[str, Any]:
    """Axis labels by attribute and, by "i|j" (positions in the domain), one flat list of counts a table, real first."""
    first = comparisons[0]
    used = first.domain.ordered_set(n for p in pairs for n in p)
    maps = {n: coarse_map(first, first.domain[n]) for n in used}
    recodes = {n: m for n, (m, _) in maps.items()}
    counters = [first.real_counter, *(c.synthetic_counter for c in comparisons)]
    counted = [c.marginals(pairs, recodes) for c in counters]
    tables = {}
    for k, (a, b) in enumerate(pairs):
        key = f"{first.domain.index(a)}|{first.domain.index(b)}"
        tables[key] = [t[k].reshape(-1).tolist() for t in counted]
    return {
        "labels": {str(first.domain.index(n)): axis_labels(labels, 24) for n, (_, labels) in maps.items()},
        "tables": tables,
        "sizes": [first.n, *(c.m for c in comparisons)],
    }


def coarse_map(c: Comparison, a: CodedAttribute) -> tuple[Coarsening, list[str]]:
    """At most SIDE coarse codes, and their labels.

    Neighbouring values of an ordered attribute, or of one whose values are rising numbers, are merged evenly; of
    another one the commonest real values stay and the rest is "all others". Missing and other cells stay as they are.
    """
    return coarse(a, c.words(a.name), lambda: c.real_counter.marginal((a.name,)))


def coarse(
    a: CodedAttribute, words: list[str], count: Callable[[], NDArray[np.integer]]
) -> tuple[Coarsening, list[str]]:
    """The same for any counts of the attribute's cells; `count` is called where the commonest values are asked for."""
    plain = a.size - a.special
    room = SIDE - a.special
    if plain <= room:
        return Coarsening.identity(a.size), words
    if a.ordered or rising(words[:plain]):
        found = Coarsening.even(a, room)
        last = np.cumsum(found.width)[:room] - 1
        labels = [merged(words[first], words[end]) for first, end in zip(found.first, last, strict=False)]
        return found, [*labels, *words[plain:]]
    kept = np.zeros(plain, dtype=bool)
    kept[np.argsort(-count()[:plain], kind="stable")[: room - 1]] = True
    codes = np.append(Coarsening.rare(kept).map, room + np.arange(a.special))
    return Coarsening.of(codes), [*(words[i] for i in np.flatnonzero(kept)), "all others", *words[plain:]]
