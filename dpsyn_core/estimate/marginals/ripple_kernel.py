"""The compiled ripple: negative cells are emptied, and their deficit is spread over the neighbouring cells."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.loading import compiled


@compiled()
def ripple_flat(
    values: NDArray[np.float64], sizes: NDArray[np.int64], strides: NDArray[np.int64], threshold: float, steps: int
) -> int:
    """Empties cells below -threshold in place, in the order of a queue; returns how many of the steps are left.

    Args:
        values: float64 (cells,), changed; its sum is kept.
        sizes: int64 (k,).
        strides: int64 (k,).
        threshold: a cell below minus this is emptied.
        steps: how many cells may be emptied.
    """
    cells = values.size
    neighbours = 0
    for s in sizes:
        neighbours += s - 1
    queue = np.empty(cells, dtype=np.int64)
    waiting = np.zeros(cells, dtype=np.bool_)
    head, length = 0, 0
    for c in range(cells):
        if values[c] < -threshold:
            queue[length] = c
            length += 1
            waiting[c] = True
    while length > 0 and steps > 0 and neighbours > 0:
        c = queue[head]
        head = (head + 1) % cells
        length -= 1
        waiting[c] = False
        steps -= 1
        share = values[c] / neighbours
        values[c] = 0.0
        for j in range(sizes.size):
            code = c // strides[j] % sizes[j]
            for v in range(sizes[j]):
                if v == code:
                    continue
                other = c + (v - code) * strides[j]
                values[other] += share
                if values[other] < -threshold and not waiting[other]:
                    queue[(head + length) % cells] = other
                    length += 1
                    waiting[other] = True
    return steps
