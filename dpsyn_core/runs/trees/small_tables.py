"""Which of linked tables have next to no records: so few that they may be noise alone."""

from __future__ import annotations

import math

from dpsyn_core.privacy import Manifest


def nearly_empty_tables(found: Manifest) -> dict[str, tuple[int, float]]:
    """Tables whose released records are within their noise, with these records and the noise.

    Args:
        found: manifest of a run; of one with a single table there is none.
    """
    sizes = found.settings.get("records", {}) if found.hanging else {}
    children = {h.table for h in found.hanging}
    noise = {n: noise_of_children(found, n) if n in children else 4 * found.noise_of_records(n) for n in sizes}
    return {n: (size, noise[n]) for n, size in sizes.items() if size < noise[n] < math.inf}


def noise_of_children(found: Manifest, table: str) -> float:
    """Records that noise alone may make of a table that hangs on another: of the parents with 1, 2 .. of them.

    The root mean square of the numbers of children up to the most of a parent is this most over the root of 3.
    """
    most, variance = {h.table: h.max_children for h in found.hanging}, 0.0
    for c in found.charges:
        if c.sigma and c.name.endswith(f".{table}: number"):
            parent = c.name.removeprefix("marginal ").removesuffix(f".{table}: number").partition("[")[0]
            each = c.sigma * c.records / c.sensitivity * most[table] / most.get(parent, 1)
            variance += c.cells * each**2 / 3
    return math.sqrt(variance)
