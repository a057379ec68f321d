"""What several measurements say together, by inverse variance: of one table, and of the number of records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dpsyn_core.marginals.types import Measurement


def merged(measured: Sequence[Measurement]) -> list[Measurement]:
    """Each table once; what was measured several times, at the same coarse values, has the noise of all together."""
    groups: dict[tuple[object, ...], list[Measurement]] = {}
    for m in measured:
        key = (m.attributes, *(m.recodes.get(n) for n in m.attributes))
        groups.setdefault(key, []).append(m)
    out = []
    for same in groups.values():
        precision = sum(1 / m.sigma**2 for m in same)
        values = np.sum([m.values / m.sigma**2 for m in same], axis=0) / precision
        first = same[0]
        out.append(replace(first, values=values, sigma=float(precision**-0.5)))
    return out


def noisy_total(measured: Sequence[Measurement]) -> float:
    """The number of records by the sums of tables of at most one attribute, else of all; at least 0, without any 0."""
    used = [m for m in measured if len(m.attributes) < 2] or list(measured)
    if not used:
        return 0.0
    sums = [float(m.values.sum()) for m in used]
    return max(float(np.average(sums, weights=[1 / (m.cells * m.sigma**2) for m in used])), 0.0)
