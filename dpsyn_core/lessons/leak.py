"""Lab 8: why a list of values read from the data breaks the guarantee, and what buying it costs.

Source: Desfontaines, Voss, Gipson, Mandayam 2022.
"""

from __future__ import annotations

import numpy as np

from dpsyn_core.measurement.partitions import reach_for


def chance_shown(count: int, eps: float, delta: float) -> float:
    """Chance that partition selection lists a value which `count` individuals hold, for truncated geometric noise.

    The noise lies in -k..k, P(x) = c a^|x|; the value is listed when count + noise > k (engine: partitions).
    """
    scale = 1 / eps
    k = reach_for(scale, 1, delta)
    x = np.arange(-k, k + 1)
    p = np.exp(-np.abs(x) / scale)
    p /= p.sum()
    return float(p[count + x > k].sum())


def enough(eps: float, delta: float, chance: float = 0.99) -> int:
    """How many individuals must share a value for it to be listed with this chance."""
    count = 1
    while chance_shown(count, eps, delta) < chance:
        count += max(1, count // 50)
    return count
