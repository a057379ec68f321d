"""Released tables as they would be found if what was found were true: their noise drawn again, and taken off again."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.records.rls.shape import Sums
from dpsyn_core.synthesizers.rls.view import RlsEvidence

Floats = NDArray[np.float64]


def one_way_again(view: RlsEvidence, place: int, rng: Generator) -> Floats:
    """A one-way, by its counts alone."""
    a, found = view.attributes[place], view.one_ways[place]

    def drawn(values: Floats, sigma: float) -> Floats:
        return values + rng.normal(0.0, sigma, len(values))

    measured = [replace(m, values=drawn(found, m.sigma)) for m in view.value_by_value(a.name)]
    sums = [
        Sums(s.recode, drawn(np.bincount(s.recode, found, len(s.values)).astype(np.float64), s.sigma), s.sigma)
        for s in view.coarse[a.name]
    ]
    return view.counts(a, measured[0] if measured else None, sums)


def pairs_again(view: RlsEvidence, tables: Sequence[Floats], rng: Generator) -> list[Floats]:
    """Measured tables, in the order of `joint`."""
    again = copy(view)
    again.prior = None
    again.joint = [
        replace(m, values=t + rng.normal(0.0, m.sigma, t.shape)) for m, t in zip(view.joint, tables, strict=True)
    ]
    return [t.values for t in again.targets(max(round(view.total), 1))[len(view.domain) :]]
