"""Where linked tables are counted, in memory or from disk, and how many synthetic roots are made at a time.

The first depends on the size of the private tables, for both ways release the same; the second on public facts alone,
for what is made at a time changes what comes out.
"""

from __future__ import annotations

from collections.abc import Mapping

from dpsyn_core.linked.document import LinkedSchema
from dpsyn_core.runs.parts import ALLOWED
from dpsyn_core.sources.choose import half_of_machine
from dpsyn_core.tables.batches import Batches

BASE, CELL = 300 * 10**6, 50  # bytes, in any case and for each cell (`python -m benchmarks.linked_memory`)
RECORD = 300  # bytes that a synthetic record takes while it is made and written
FEWEST, MOST = 4, 256  # parts
LEAST_ROOTS = 10_000  # of a part that is made: fewer would follow tables of many cells worse


def parts_of(tables: Mapping[str, object], schema: LinkedSchema, memory: int | None) -> int | None:
    """Parts for tables that are read from where they lie and do not fit; None: they are kept in memory as a whole.

    Args:
        tables: by name; frames are in memory already.
        schema: of the tables.
        memory: bytes that the run may use; None: half of what the machine has.
    """
    limit = half_of_machine() if memory is None else memory
    found = {n: b for n, b in tables.items() if isinstance(b, Batches)}
    cells = sum(found[t.name].likely_records * (1 + len(t.coded)) for t in schema.tables if t.name in found)
    if BASE + CELL * cells <= limit or len(found) < len(tables):
        return None
    return min(max(-(-4 * CELL * cells // max(limit - BASE, 1)), FEWEST), MOST)


def roots_at_once(schema: LinkedSchema, memory: int | None) -> int:
    """How many synthetic roots are made at a time, at most, whose records may take half of what is free.

    Args:
        schema: whose limits say how many records hang on a root at most.
        memory: bytes that the run may use, which the owner named; None: 8 GB, so that a seed means the same tables on
            every machine.
    """
    of_root = 1 + sum(schema.most_of_root(link) for link in schema.links)
    free = (ALLOWED if memory is None else memory) - BASE
    return max(free // (2 * RECORD * of_root), LEAST_ROOTS)
