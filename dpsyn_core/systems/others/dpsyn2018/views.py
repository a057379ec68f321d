"""Which sets are measured where a design lists none: drawn from all attributes, or all small ones inside its parts."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np

from dpsyn_core.errors import SizeError
from dpsyn_core.schema import AttributeSet

ORDERS = (2, 3)  # attributes of a set inside a part; all one-ways are measured before
MOST_SETS = 20_000  # inside all parts together: each is a release of its own, and a table that records follow


def drawn(
    raw: Mapping[str, int], sizes: Mapping[str, int], *, count: int, width: int, cells: int, most_raw: int, seed: int
) -> list[AttributeSet]:
    """Different random sets, at most `count`: an attribute that would bring its set above a cap is left out of it.

    Args:
        raw: values of every attribute before compression, in order; at most `most_raw` together in a set.
        sizes: values after it; at most `cells` together.
        count: sets to draw; small domains have fewer.
        width: attributes that are drawn for a set.
        cells: cap.
        most_raw: cap.
        seed: public.
    """
    names = list(raw)
    rng = np.random.default_rng(seed)
    views: dict[AttributeSet, None] = {}
    for _ in range(10 * count):
        product, product_raw, chosen = 1, 1, []
        for i in rng.permutation(len(names))[:width]:
            name = names[i]
            if product * sizes[name] <= cells and product_raw * raw[name] <= most_raw:
                product, product_raw = product * sizes[name], product_raw * raw[name]
                chosen.append(name)
        if chosen:
            views[tuple(n for n in names if n in chosen)] = None
        if len(views) == count:
            break
    return list(views)


def part_of(names: Sequence[str], parts: Sequence[Sequence[str]]) -> int | None:
    """The first part that holds all these attributes; None where they lie in no part."""
    return next((i for i, p in enumerate(parts) if set(names) <= set(p)), None)


def inside(
    parts: Sequence[Sequence[str]],
    raw: Mapping[str, int],
    sizes: Mapping[str, int],
    *,
    cells: int,
    most_raw: int,
    alone: Sequence[str] = (),
) -> list[list[AttributeSet]]:
    """For each part all pairs and triples under the caps, each set once: in the first part that holds it.

    Where the parts hold more than MOST_SETS pairs and triples, pairs alone.

    Args:
        parts: together they hold every attribute.
        raw: as for `drawn`.
        sizes: as for `drawn`.
        cells: cap.
        most_raw: cap.
        alone: attributes that have no one-way yet; they get one here.
    """
    orders = ORDERS if held(parts, ORDERS) <= MOST_SETS else ORDERS[:1]
    seen: set[AttributeSet] = set()
    out = []
    for part in parts:
        names = [n for n in raw if n in part]
        listed: list[AttributeSet] = [(n,) for n in names if n in alone]
        for order in orders:
            listed += [
                s
                for s in itertools.combinations(names, order)
                if math.prod(sizes[n] for n in s) <= cells and math.prod(raw[n] for n in s) <= most_raw
            ]
        out.append([s for s in listed if s not in seen])
        seen.update(listed)
    return out


def held(parts: Sequence[Sequence[str]], orders: Sequence[int]) -> int:
    """How many sets of these orders the parts hold, at most."""
    return sum(math.comb(len(p), order) for p in parts for order in orders)


def check_parts(parts: Sequence[Sequence[str]]) -> None:
    """Raises SizeError for parts that hold more pairs than can be measured."""
    pairs = held(parts, ORDERS[:1])
    if pairs > MOST_SETS:
        msg = (
            f"design: the parts hold {pairs} pairs, above the cap of {MOST_SETS}; make smaller parts, or list the "
            "marginals to measure"
        )
        raise SizeError(msg)
