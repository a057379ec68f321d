"""What a run will take, from sizes alone: seconds and megabytes on one core, from measured rates."""

from __future__ import annotations

from dataclasses import dataclass

from ui.state import Workspace

START = 2.0  # seconds to start a worker and load the engine
# measured on the bundled sample and on 1,000,000 x 14: seconds per million cells of all pairs, per million
# record-attributes of counting, and per million record-attributes of making records
RATES = {"dpsyn": (0.6, 0.4, 14.0), "rls": (0.4, 0.4, 6.0), "independent": (0.0, 0.1, 0.2)}
OTHER = (1.0, 1.0, 25.0)
BASE_MB = 260


@dataclass(frozen=True)
class Estimate:
    """Wall time and peak memory."""

    seconds: float
    megabytes: float


def estimated(space: Workspace, method: str) -> Estimate | None:
    """An estimate; None in safe mode when the number of records is private."""
    from ui.guarantee import records

    n = records(space)
    if space.schema is None or n is None:
        return None
    domain = space.schema.domain()
    sizes = domain.sizes
    total = sum(sizes)
    pairs = (total * total - sum(s * s for s in sizes)) / 2e6
    out = space.choices.n_records or n
    d = len(sizes)
    per_cell, count, make = RATES.get(method, OTHER)
    seconds = START + per_cell * pairs + count * n * d * d / 2e6 / 20 + make * out * d / 1e6
    megabytes = BASE_MB + 24 * pairs + (n + 3 * out) * d * 8 / 1e6
    return Estimate(max(1.0, round(seconds)), round(megabytes, -1))
