"""Lab 4: two noisy tables that share an attribute are made to agree, step by step.

Source: Hay, Rastogi, Miklau, Suciu 2010; Qardaji, Yang, Li 2014.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.consistency.lattice import overlaps
from dpsyn_core.consistency.overlap import agree, make_consistent
from dpsyn_core.marginals.types import Measurement

Floats = NDArray[np.float64]


SETS = (("A", "B"), ("A", "C"))


# a worked example, and one with a negative cell, which the last step removes
EXAMPLES = {
    "worked": (np.array([[10.0, 5], [7, 8]]), np.array([[6.0, 4, 2], [9, 5, 8]])),
    "negative": (np.array([[10.0, -3], [7, 8]]), np.array([[6.0, 4, -4], [9, 5, 8]])),
}


STEPS = ("noisy", "total", "shared", "whole")


def tables(example: str, step: str) -> list[Floats]:
    """Both tables after a step: as measured; after the totals agree; after A agrees; non-negative as well."""
    values = [v.copy() for v in EXAMPLES[example]]
    if step == "whole":
        measured = [Measurement(attributes=s, values=v, sigma=1.0) for s, v in zip(SETS, values, strict=True)]
        return [m.values for m in make_consistent(measured)]
    lattice = overlaps(SETS)
    wanted = {"noisy": [], "total": [o for o in lattice if not o[0]], "shared": list(lattice)}[step]
    agree(values, SETS, [1.0, 1.0], wanted)
    return values
