"""Whether linked tables fit the memory that a run may use: all of them are read, counted and made in memory."""

from __future__ import annotations

from collections.abc import Mapping

from dpsyn_core.errors import SizeError
from dpsyn_core.linked.document import LinkedSchema
from dpsyn_core.sources.choose import shown

BASE, CELL = 300 * 10**6, 50  # bytes, in any case and for each cell (`python -m benchmarks.linked_memory`)


def check_memory(records: Mapping[str, int], schema: LinkedSchema, memory: int | None) -> None:
    """Refuses, before anything is read or charged, tables that need more. Raises SizeError.

    Args:
        records: of each table, about; private.
        schema: of the tables.
        memory: bytes that the run may use; None: as many as it needs.
    """
    need = BASE + CELL * sum(records[t.name] * (1 + len(t.coded)) for t in schema.tables if t.name in records)
    if memory is not None and need > memory:
        msg = (
            f"a run of these linked tables needs about {shown(need)} of memory (for the owner only), and --memory is "
            f"{shown(memory)}; linked tables are kept in memory as a whole: allow more, or draw a sample of roots with "
            "all that hangs on them"
        )
        raise SizeError(msg)
