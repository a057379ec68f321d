"""Which numbers of children rules of links permit: excluded numbers are zeros of the root's tables. Public facts."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.estimate import Measurement
from dpsyn_core.runs.trees.forest import ChildShape
from dpsyn_core.schema import CountRule, Link, LinkedSchema, listed_codes

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


def permitted(schema: LinkedSchema, link: Link, shape: ChildShape) -> Bools:
    """Which codes of a shape (size,) keep the rules of numbers, as far as numbers and roles decide."""
    codes = np.arange(shape.size)
    out = np.ones(shape.size, dtype=bool)
    for rule in link.rules:
        if isinstance(rule, CountRule):
            low, high = _bounds(schema, link, shape, codes, rule.where)
            about = np.ones(shape.size, dtype=bool)
            if rule.given is not None:
                about = _bounds(schema, link, shape, codes, rule.given)[0] > 0
            out &= ~about | (
                (high >= rule.least) & (low <= (shape.link.max_children if rule.most is None else rule.most))
            )
    return out


def _bounds(schema: LinkedSchema, link: Link, shape: ChildShape, codes: Ints, where: str) -> tuple[Ints, Ints]:
    """How many children of roots of these codes meet conditions, at least and at most."""
    has = [shape.has(codes, i).astype(np.int64) for i in range(len(shape.single))]
    rest = shape.rest(codes)
    low, high = np.zeros(len(codes), dtype=np.int64), sum(has, rest)
    if shape.role is None or link.roles is None:
        return low, high
    attribute = schema[link.child].coded[shape.role]
    met = listed_codes(where, link.roles.column, attribute)
    if met is None:
        return low, high
    single = [attribute.keys.index(v) for v in shape.single]
    others = np.delete(met, single)
    low = sum((h for h, code in zip(has, single, strict=True) if met[code]), low)
    return low + rest * others.all(), low + rest * others.any()


def without_forbidden(measured: list[Measurement], name: str, fits: Bools) -> list[Measurement]:
    """Released tables with nothing in cells of a shape that no root has."""
    out = copy(measured)  # keeps the scores beside the tables
    out[:] = [_emptied(m, name, fits) for m in measured]
    return out


def _emptied(table: Measurement, name: str, fits: Bools) -> Measurement:
    if name not in table.attributes:
        return table
    axis = table.attributes.index(name)
    place = table.recodes[name].map if name in table.recodes else np.arange(len(fits))
    some = np.bincount(place, weights=fits, minlength=table.values.shape[axis]) > 0
    values = np.moveaxis(table.values.copy(), axis, 0)
    values[~some] = 0
    return replace(table, values=np.ascontiguousarray(np.moveaxis(values, 0, axis)))


def only_permitted(codes: Ints, fits: Bools, numbers: Ints, rng: Generator) -> Ints:
    """Codes of shapes of which those that are not permitted are exchanged: for one of as many children, or nearly.

    Args:
        codes: (roots,).
        fits: (size,), which are permitted; at least one.
        numbers: children of roots of each code.
        rng: draws among those that come next, as often as they occur.
    """
    wrong = np.flatnonzero(~fits[codes])
    if not len(wrong):
        return codes
    out = codes.copy()
    often = np.bincount(codes, minlength=len(fits)) * fits + 1e-6 * fits
    for code in np.unique(codes[wrong]):
        apart = np.where(fits, np.abs(numbers - numbers[code]), np.inf)
        chances = often * (apart == apart.min())
        mine = wrong[codes[wrong] == code]
        out[mine] = rng.choice(len(fits), size=len(mine), p=chances / chances.sum())
    return out
