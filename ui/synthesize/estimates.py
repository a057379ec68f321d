"""What a run will take, from sizes alone: a range of seconds, and megabytes.

The figures stand on processor seconds of one thread that `python -m benchmarks.estimates` measured for every system on
tables of 2,000 to 100,000 records and 7 to 28 attributes, and on the run of 1,000,000 x 14 of the README.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from dpsyn_core.schema.document import Schema
from ui.shared.state import Workspace

START = 1.5  # seconds to start a worker and load the engine
SPREAD = 1.7  # the range goes from a forecast divided by this to the forecast times this
BASE_MB, MB_PER_MILLION, MB_PER_MILLION_CELLS = 285, 20.0, 24.0


@dataclass(frozen=True)
class Size:
    """What a forecast depends on; millions of cells of all pairs of attributes, and of the whole domain."""

    records: int
    out: int
    attributes: int
    cells: float
    domain: float = 0.0

    @property
    def values(self) -> float:
        """Millions of values to be made."""
        return self.out * self.attributes / 1e6


@dataclass(frozen=True)
class Estimate:
    """Wall time on a machine with nothing else to do, and peak memory."""

    low: float
    high: float
    megabytes: float


def _rls(s: Size) -> float:
    """Visits of proposals to measured tables; about 4.5 pairs an attribute are measured."""
    pairs = min(s.attributes * (s.attributes - 1) / 2, 4.5 * s.attributes)
    visits = s.out * (2 * s.attributes + 2 * pairs)
    proposals = max(min(32.0, max(3.0, 1.5e9 / max(1.0, visits))), min(96.0, 2.5e8 / max(1.0, visits)))
    return 0.7 + 1.0e-8 * visits * proposals


def _aim(s: Size) -> float:
    return float(0.8 + (1.5 + 0.3 * s.records / 1000) * (s.attributes / 14) ** 1.6)


def _mst(s: Size) -> float:
    return 0.9 + 0.06 * s.attributes + 0.15 * s.values


def _line(base: float, per_million: float, per_attribute: float = 0.0) -> Callable[[Size], float]:
    return lambda s: base + per_attribute * s.attributes + per_million * s.values


SECONDS: dict[str, Callable[[Size], float]] = {
    "rls": _rls,
    "dpsyn": _line(0.8, 1.4),
    "privsyn": _line(0.8, 2.0),
    "dpsyn-2018": _line(0.9, 1.7),
    "priview": _line(0.8, 0.6, 0.03),
    "mst": _mst,
    "aim": _aim,
    "privbayes": _line(0.7, 0.4, 0.01),
    "mwem": lambda s: 0.7 + 37 * s.domain,
    "independent": _line(0.75, 0.15),
    "field-groups": _line(0.75, 0.5),
    "dirichlet-multinomial": _line(0.75, 0.5),
}
PER_CELL = 0.6  # seconds for each million cells of all pairs
UNMEASURED = _line(0.8, 1.4, 0.03)  # a system that nobody has timed yet: about what the slower of the usual ones take


def forecast(method: str, size: Size) -> Estimate:
    """What a run of a system takes on a table of this size."""
    seconds = START + SECONDS.get(method, UNMEASURED)(size) + PER_CELL * size.cells
    values = max(size.records, size.out) * size.attributes / 1e6
    megabytes = BASE_MB + MB_PER_MILLION * values + MB_PER_MILLION_CELLS * size.cells
    return Estimate(low=seconds / SPREAD, high=seconds * SPREAD, megabytes=round(megabytes, -1))


def estimated(space: Workspace, method: str) -> Estimate | None:
    """An estimate; None in safe mode when the number of records is private."""
    from ui.privacy.guarantee import records

    n = records(space)
    if space.schema is None or n is None:
        return None
    return forecast(method, size_of(n, space.schema, space.choices.n_records))


def size_of(n: int, schema: Schema, out: int | None = None) -> Size:
    """The size of a run on n records; out: records to write when that is another number."""
    sizes = schema.domain().sizes
    cells = (sum(sizes) ** 2 - sum(s * s for s in sizes)) / 2e6
    return Size(records=n, out=out or n, attributes=len(sizes), cells=cells, domain=math.prod(sizes) / 1e6)
