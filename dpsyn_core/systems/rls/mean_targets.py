"""Targets of pairs that share a mean table: its dependence, at the counts of each. Post-processing only."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.estimate import Coarsening, MeanTable, Recodes, RecordTuning, Target, at_margins, shrink_pair
from dpsyn_core.schema import AttributeSet, Domain

Floats = NDArray[np.float64]


def symmetric(pairs: Sequence[tuple[str, str]]) -> bool:
    """Whether both columns of pairs are items of one battery, so that two cells of their mean tell the same."""
    return not {a for a, _ in pairs}.isdisjoint(b for _, b in pairs)


def turned(table: Floats, pair: tuple[str, str], domain: Domain) -> Floats:
    """A table in domain order with the first column of the pair in its rows, or the other way round."""
    return table if domain.index(pair[0]) < domain.index(pair[1]) else table.T


def mean_targets(
    means: Sequence[MeanTable],
    domain: Domain,
    *,
    tables: Mapping[AttributeSet, float],
    product: Callable[[AttributeSet, Recodes], Floats],
    scale: float,
    tuning: RecordTuning,
) -> list[Target]:
    """What mean tables say of pairs without a table: their dependence at the margins of each pair. Post-processing.

    They count as much as tables of pairs do: with the less noise that they have, they outweighed these, and another
    scale of five items had an alpha of .60 in place of .77.

    Args:
        means: released.
        domain: of the records.
        tables: noise of a cell of each table of several attributes that was released.
        product: the table that independence expects of a pair, at coarse values.
        scale: synthetic records over real ones.
        tuning: constants.
    """
    out = []
    for m in means:
        pairs = [(p, domain.ordered_set(p)) for p in m.pairs]
        expected = [turned(product(names, m.recodes), p, domain) for p, names in pairs]
        values, alone, sigma = m.values, np.mean(expected, axis=0), m.sigma
        if symmetric(m.pairs):
            values, alone, sigma = (values + values.T) / 2, (alone + alone.T) / 2, sigma / math.sqrt(2)
        clean = np.maximum(shrink_pair(values, alone, sigma, tuning=tuning.shrinkage), 0.0)
        ratio = np.divide(clean, alone, out=np.zeros_like(clean), where=alone > 0)
        for (pair, names), counts in zip(pairs, expected, strict=True):
            if names in tables:
                continue
            goal = turned(at_margins(counts * ratio, counts.sum(axis=1), counts.sum(axis=0)), pair, domain)
            out.append(
                Target(
                    attributes=tuple(domain.index(n) for n in names),
                    maps=tuple((m.recodes.get(n) or Coarsening.identity(domain[n].size)).map for n in names),
                    values=goal * scale,
                    sigma=float(np.median([*tables.values()] or [m.sigma])) * scale,
                )
            )
    return out
