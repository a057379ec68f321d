"""Alike tables: those of items of a battery, or of waves of a panel, lose noise to their mean. Post-processing only.

Whether tables are alike is read off the tables themselves: where they differ by no more than noise, their mean has a
part of it, and where they differ, each stays as it is (James and Stein 1961).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.estimate import Measurement, Recodes, at_margins
from dpsyn_core.schema import AttributeSet, Domain

Floats = NDArray[np.float64]
LAST_NUMBER, LETTER = re.compile(r"(\d+)(?=\D*$)"), re.compile(r"(?<=\d)[A-Za-z]$")
FEWEST = 3  # tables: of two, neither can be told to be the odd one
SURE = 1.0  # standard deviations of the estimated difference, that count as difference
ALIKE = 2.0  # of the variance of noise, that tables differ by at most: noise is half of it then


def form(name: str) -> str:
    """What the names of the items of a battery have in common: all but the last number, or the letter after it."""
    return LETTER.sub("?", name) if LETTER.search(name) else LAST_NUMBER.sub("#", name)


def place(name: str) -> int | None:
    """The number, or that of the letter, in which the names of the items of a battery differ."""
    letter, number = LETTER.search(name), LAST_NUMBER.search(name)
    return ord(letter[0].lower()) if letter else int(number[0]) if number else None


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
    out, best = list(tables), dict[int, float]()
    for places in _groups(tables, domain, maps):
        some = [tables[i] for i in places]
        values, sigmas = np.stack([m.values for m in some]), np.array([m.sigma for m in some])
        expected = _expected(values, sigmas, np.stack([product(m.attributes, maps(m)) for m in some]))
        part = _part(values - expected, sigmas)
        left = part + (1 - part) / len(some)
        if part > 1 - 1 / ALIKE:
            continue
        for i, m, e in zip(places, some, expected, strict=True):
            if left < best.get(i, 1.0):
                best[i] = left
                out[i] = replace(m, values=e + part * (m.values - e), sigma=m.sigma * math.sqrt(left))
    return out


def _groups(tables: Sequence[Measurement], domain: Domain, maps: Callable[[Measurement], Recodes]) -> list[list[int]]:
    """Positions of tables of pairs that may be alike; a table may be in two groups."""
    forms = {n: form(n) for n in domain.names}
    groups: dict[Hashable, list[int]] = {}
    for i, m in enumerate(tables):
        if len(m.attributes) != 2:
            continue
        coarse = maps(m)
        kinds = tuple((forms[n], coarse[n], domain[n].special) for n in m.attributes)
        groups.setdefault(kinds, []).append(i)
        first, second = (place(n) for n in m.attributes)
        if first is not None and second is not None:
            groups.setdefault((*kinds, second - first), []).append(i)
    return [places for places in groups.values() if len(places) >= FEWEST]


def _expected(values: Floats, sigmas: Floats, alone: Floats) -> Floats:
    """The mean dependence of tables (tables, rows, columns) at the margins of each. alone: of independent columns."""
    precise = sigmas**-2 / np.sum(sigmas**-2)
    mean, usual = (np.tensordot(precise, x, axes=1) for x in (values, alone))
    ratio = np.divide(np.maximum(mean, 0.0), usual, out=np.zeros_like(usual), where=usual > 0)
    return at_margins(alone * ratio, alone.sum(axis=2), alone.sum(axis=1))


def _part(differences: Floats, sigmas: Floats) -> float:
    """Of the differences of tables from their mean dependence, the part that noise does not explain, 0 to 1.

    Margins do not count: those of each table are known better from the columns alone.
    """
    centred = differences - differences.mean(axis=1, keepdims=True) - differences.mean(axis=2, keepdims=True)
    centred = (centred + differences.mean(axis=(1, 2), keepdims=True)) / sigmas[:, None, None]
    count, rows, columns = differences.shape
    free = (count - 1) * (rows - 1) * (columns - 1)
    if not free:
        return 1.0
    variance = float(np.square(centred).sum()) / free * (1 + SURE * math.sqrt(2 / free))
    return float(max(0.0, 1 - 1 / variance))
