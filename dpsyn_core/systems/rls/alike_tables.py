"""Alike tables: those of items of a battery, or of waves of a panel, lose noise to their mean. Post-processing only.

Whether tables are alike is read off the tables themselves: where they differ by no more than noise, their mean has a
part of it, and where they differ, each stays as it is (James and Stein 1961).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.estimate import Measurement, Recodes, at_margins
from dpsyn_core.schema import AttributeSet, Domain

Floats = NDArray[np.float64]
LAST_NUMBER, LETTER = re.compile(r"(\d+)(?=\D*$)"), re.compile(r"(?<=\d)[A-Za-z]$")
FEWEST = 3  # tables: of two, neither can be told to be the odd one
SURE = 1.0  # standard deviations of the estimated variance, that count as difference
MOST_VALUES, MOST_CELLS = 16, 64  # in tables of more, a difference of all cells in one direction is lost in noise
OUT = 3.0  # standard deviations by which the square of one difference stands out, as that of a rare item does
MOST_OUT = 0.2  # of the tables of a group, that may stand out (convention)
ALIKE = 2.0  # of the variance of noise, that tables differ by at most: noise is half of it then


def form(name: str) -> str:
    """What the names of the items of a battery have in common: all but the last number, or the letter after it."""
    return LETTER.sub("?", name) if LETTER.search(name) else LAST_NUMBER.sub("#", name)


def place(name: str) -> int | None:
    """The number, or that of the letter, in which the names of the items of a battery differ."""
    letter, number = LETTER.search(name), LAST_NUMBER.search(name)
    return ord(letter[0].lower()) if letter else int(number[0]) if number else None


def alike_one_ways(counts: Mapping[str, Measurement], domain: Domain) -> dict[str, Measurement]:
    """Counts of single columns; those of alike columns nearer to their mean, and with less noise.

    counts: of columns one by one, by name; all of their values.
    """
    out, groups = dict(counts), dict[Hashable, list[str]]()
    for name in (n for n in domain.names if n in counts):
        if 1 < domain[name].size <= MOST_VALUES:
            groups.setdefault((form(name), domain[name].size, domain[name].special), []).append(name)
    for names in groups.values():
        out |= dict(zip(names, _alike([counts[n] for n in names], None), strict=True))
    return out


def without_noise_of_alike(
    tables: Sequence[Measurement],
    domain: Domain,
    *,
    maps: Callable[[Measurement], Recodes],
    product: Callable[[AttributeSet, Recodes], Floats],
) -> list[Measurement]:
    """The tables in their order; those of pairs that are alike nearer to their mean, and with less noise.

    Pairs may be alike whose columns have names of one form and the same coarse values: all of them, or those that are
    as far apart, as neighbouring waves are. Of the two, what leaves less noise is taken. Each pair has the mean
    dependence at its own margins.

    Args:
        tables: released.
        domain: of the records.
        maps: how coarse each column of a table is.
        product: the table that independence expects of a pair, at coarse values.
    """
    out = list(tables)
    for places in _groups(tables, domain, maps):
        some = [tables[i] for i in places]
        alone = np.stack([product(m.attributes, maps(m)) for m in some])
        for i, m in zip(places, _alike(some, alone), strict=True):
            if m.sigma < out[i].sigma:
                out[i] = m
    return out


def _groups(tables: Sequence[Measurement], domain: Domain, maps: Callable[[Measurement], Recodes]) -> list[list[int]]:
    """Positions of tables of pairs that may be alike; a table may be in two groups."""
    forms = {n: form(n) for n in domain.names}
    groups: dict[Hashable, list[int]] = {}
    for i, m in enumerate(tables):
        if len(m.attributes) != 2 or m.cells > MOST_CELLS or not forms.keys() >= {*m.attributes}:
            continue
        coarse = maps(m)
        kinds = tuple((forms[n], coarse[n], domain[n].special) for n in m.attributes)
        groups.setdefault(kinds, []).append(i)
        first, second = (place(n) for n in m.attributes)
        if first is not None and second is not None:
            groups.setdefault((*kinds, second - first), []).append(i)
    return [places for places in groups.values() if len(places) >= FEWEST]


def _alike(tables: Sequence[Measurement], alone: Floats | None) -> list[Measurement]:
    """The tables, nearer to their mean; as they are where they differ, and those that stand out of the others.

    alone: (tables, rows, columns) of independent columns, for pairs.
    """
    values, sigmas = np.stack([m.values for m in tables]), np.array([m.sigma for m in tables])
    free, kept = math.prod(n - 1 for n in values.shape[1:]), np.arange(len(tables))
    while free and len(kept) >= max(FEWEST, (1 - MOST_OUT) * len(tables)):
        mean = _mean(values[kept], sigmas[kept], None if alone is None else alone[kept])
        squares = _squares(values[kept] - mean, sigmas[kept]) / free
        within = squares <= 1 + OUT * math.sqrt(2 / free)
        if within.all():
            every = free * (len(kept) - 1)
            variance = float(squares.sum()) * free / every * (1 + SURE * math.sqrt(2 / every))
            return _nearer(tables, kept, mean, max(0.0, 1 - 1 / variance) if variance > 0 else 0.0)
        kept = kept[within]
    return list(tables)


def _nearer(tables: Sequence[Measurement], kept: NDArray[np.intp], mean: Floats, part: float) -> list[Measurement]:
    """Tables of which those that are kept retain a part of their difference, and else have the noise of the mean."""
    out, left = list(tables), part + (1 - part) / len(kept)
    if part <= 1 - 1 / ALIKE:
        for i, e in zip(kept, mean, strict=True):
            m = tables[i]
            out[i] = replace(m, values=e + part * (m.values - e), sigma=m.sigma * math.sqrt(left))
    return out


def _mean(values: Floats, sigmas: Floats, alone: Floats | None) -> Floats:
    """What is expected of each table: the mean, or for pairs its dependence at the margins of each."""
    mean = np.average(values, axis=0, weights=sigmas**-2)
    if alone is None:
        return np.broadcast_to(mean, values.shape)
    usual = np.average(alone, axis=0, weights=sigmas**-2)
    ratio = np.divide(np.maximum(mean, 0.0), usual, out=np.zeros_like(usual), where=usual > 0)
    return at_margins(alone * ratio, alone.sum(axis=2), alone.sum(axis=1))


def _squares(differences: Floats, sigmas: Floats) -> Floats:
    """Of each table the sum of its squared differences from the mean, in variances of noise; float64 (tables,).

    Margins do not count, nor totals: those of each table are known better from others.
    """
    centred = differences / sigmas.reshape(-1, *[1] * (differences.ndim - 1))
    for axis in range(1, differences.ndim):
        centred = centred - centred.mean(axis=axis, keepdims=True)
    return np.asarray(np.square(centred).reshape(len(centred), -1).sum(axis=1))
