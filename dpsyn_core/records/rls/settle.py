"""Gives numbers the fine values that their one-ways tell, inside what tables of several attributes hold apart. Blind.

A fit weighs each single value of a number by its noise. A thin tail of hundreds of values then costs nothing wherever
its records are put, and proposals put some into each. All that tables of several attributes say of a number is in
which coarse value it lies; inside, the one-way knows better.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.records.rls.fit import Target
from dpsyn_core.records.rls.place import told_apart

Floats = NDArray[np.float64]


def settle_values(
    rows: NDArray[np.uint16],
    targets: Sequence[Target],
    one_ways: Sequence[Floats],
    places: Sequence[tuple[int, int]],
    *,
    rng: Generator,
) -> None:
    """Replaces the values of numbers inside their coarse values by those of the one-ways; `rows` is changed in place.

    Records keep their order inside a coarse value, and no table of several attributes changes.

    Args:
        rows: uint16 (n_records, n_attributes), fitted codes.
        targets: the tables that they were fitted to.
        one_ways: for each attribute float64 (its size,), counts.
        places: of each number its position in a record, and how many values in order it has.
        rng: for what rounding decides.
    """
    for place, ranked in places:
        cells = told_apart(targets, place, ranked)
        count = int(cells.max()) + 1
        held = np.maximum(one_ways[place][:ranked], 0.0)
        if count == ranked or not held.any():
            continue
        mass = np.bincount(cells, weights=held, minlength=count)
        codes = rows[:, place]
        some = np.append(mass[cells] > 0, np.zeros(len(one_ways[place]) - ranked, dtype=bool))
        inside = np.flatnonzero(some[codes])
        order = inside[
            np.argsort(codes[inside], kind="stable")
        ]  # records come in no order, so ties are as good as random
        of_cell = cells[codes[order]]
        records = np.bincount(of_cell, minlength=count)
        number = np.arange(len(order)) - (np.cumsum(records) - records)[of_cell]
        upto = np.cumsum(mass) - mass
        wanted = upto[of_cell] + mass[of_cell] * ((number + rng.random(count)[of_cell]) / records[of_cell])
        found = np.searchsorted(np.cumsum(held), wanted, side="right")
        first, last = (
            np.searchsorted(cells, np.arange(count)),
            np.searchsorted(cells, np.arange(count), side="right") - 1,
        )
        rows[order, place] = np.clip(found, first[of_cell], last[of_cell])
