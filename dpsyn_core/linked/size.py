"""Where linked tables are counted, in memory or from disk, and in how many parts: by size and memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dpsyn_core.linked.document import LinkedSchema
from dpsyn_core.sources.choose import half_of_machine
from dpsyn_core.tables.batches import Batches

BASE, CELL = 300 * 10**6, 50  # bytes, in any case and for each cell (`python -m benchmarks.linked_memory`)
RECORD = 300  # bytes that a synthetic record takes while it is made and written
FEWEST, MOST = 4, 256  # parts
LEAST_ROOTS = 10_000  # of a part that is made: fewer would follow tables of many cells worse


@dataclass(frozen=True, kw_only=True, slots=True)
class Parts:
    """Into how many parts real roots are divided, and how many synthetic roots are made at a time, at most."""

    read: int
    made: int


def parts_of(tables: Mapping[str, object], schema: LinkedSchema, memory: int | None) -> Parts | None:
    """Parts for tables that are read from where they lie and do not fit; None: they are kept in memory as a whole.

    Args:
        tables: by name; frames are in memory already.
        schema: of the tables.
        memory: bytes that the run may use; None: half of what the machine has.
    """
    limit = half_of_machine() if memory is None else memory
    found = {n: b for n, b in tables.items() if isinstance(b, Batches)}
    cells = sum(found[t.name].likely_records * (1 + len(t.coded)) for t in schema.tables if t.name in found)
    need = BASE + CELL * cells
    if need <= limit or len(found) < len(tables):
        return None
    free = max(limit - BASE, 1)
    most = 1 + sum(schema.most_of_root(link) for link in schema.links)
    return Parts(
        read=min(max(-(-4 * CELL * cells // free), FEWEST), MOST), made=max(free // (2 * RECORD * most), LEAST_ROOTS)
    )
