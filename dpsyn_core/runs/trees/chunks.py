"""Synthetic linked tables in parts: how many roots at a time, and how the parts become a whole.

Whether real tables are counted in memory or from disk depends on their size, for both ways release the same; how many
roots are synthesized at a time depends on public facts alone, for it changes the result. Each part lies on disk, and
the whole is read from there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from dpsyn_core.errors import SettingError
from dpsyn_core.measure import full, half_of_machine
from dpsyn_core.runs.parts import ALLOWED
from dpsyn_core.schema import LinkedSchema
from dpsyn_core.scratch import scratch
from dpsyn_core.tables import Batches

BASE, CELL = 300 * 10**6, 50  # bytes, in any case and for each cell (`python -m benchmarks.linked_memory`)
RECORD = 300  # bytes that a synthetic record takes while it is made and written
FEWEST, MOST = 4, 256  # parts
LEAST_ROOTS = 10_000  # of a part that is made: fewer would follow tables of many cells worse
Tables = dict[str, Any]


def parts_of(
    tables: Mapping[str, object], schema: LinkedSchema, memory: int | None, engine: str | None = None
) -> int | None:
    """Parts for tables that are read from where they lie and do not fit; None: they are kept in memory as a whole.

    Args:
        tables: by name; frames are in memory already.
        schema: of the tables.
        memory: bytes that the run may use; None: half of what the machine has.
        engine: 'memory' or 'stored', where the owner says which; None: by the size of the tables.

    Raises:
        SettingError: they are to be counted from disk, and are in memory already, or another engine is named.
    """
    if engine not in (None, "memory", "stored"):
        msg = (
            f"the engine is '{engine}', and linked tables are counted in memory or from disk: all that hangs on one "
            "root has to come together, which executors of Spark do not do; use 'memory' or 'stored'"
        )
        raise SettingError(msg)
    if engine == "memory":
        return None
    limit = half_of_machine() if memory is None else memory
    batches = {n: b for n, b in tables.items() if isinstance(b, Batches)}
    cells = sum(batches[t.name].likely_records * (1 + len(t.coded)) for t in schema.tables if t.name in batches)
    if engine == "stored" and len(batches) < len(tables):
        msg = "tables that are in memory already are counted there; name files, or leave the engine out"
        raise SettingError(msg)
    if (BASE + CELL * cells <= limit and engine is None) or len(batches) < len(tables):
        return None
    return min(max(-(-4 * CELL * cells // max(limit - BASE, 1)), FEWEST), MOST)


def roots_at_once(schema: LinkedSchema, memory: int | None) -> int:
    """How many roots are synthesized at a time, at most, so that their records take half of the free memory.

    Args:
        schema: whose limits say how many records hang on a root at most.
        memory: bytes that the run may use, which the owner named; None: 8 GB, so that a seed means the same tables on
            every machine.
    """
    of_root = 1 + sum(schema.most_of_root(link) for link in schema.links)
    free = (ALLOWED if memory is None else memory) - BASE
    return max(free // (2 * RECORD * of_root), LEAST_ROOTS)


def put_together(parts: Iterable[Tables], schema: LinkedSchema) -> Tables:
    """Tables whose keys count on from part to part; a single part is handed through.

    Several lie in files of the scratch folder and are mapped: the system keeps in memory what is read of them. The
    files lose their names at once, and their room is free once the tables are gone.

    Args:
        parts: tables by name (pyarrow), keys counting from 1 in each.
        schema: whose tables they are.

    Raises:
        SizeError: the scratch folder is full.
    """
    import pyarrow as pa

    waiting = iter(parts)
    first, second = next(waiting), next(waiting, None)
    if second is None:
        return first
    pieces: dict[str, list[Any]] = {name: [] for name in first}
    sizes = dict.fromkeys((t.name for t in schema.tables), 0)
    with scratch() as room:
        for number, tables in enumerate(chain([first, second], waiting)):
            moved, sizes = _counting_on(tables, schema, sizes)
            for place, (name, table) in enumerate(moved.items()):
                pieces[name].append(_mapped(table, room.folder / f"{number}-{place}.arrow"))
    return {name: pa.concat_tables(tables) for name, tables in pieces.items()}


def _counting_on(tables: Tables, schema: LinkedSchema, sizes: dict[str, int]) -> tuple[Tables, dict[str, int]]:
    """The tables with keys that follow so many of each table before, and how many there are then."""
    import pyarrow.compute as pc

    out, then = dict(tables), dict(sizes)
    for declared in schema.tables:
        name = schema.name if schema.one_file else declared.name
        if schema.one_file and declared is not schema.root:
            continue
        keys = {declared.key: sizes[declared.name]} if declared.key is not None else {}
        keys |= {link.key: sizes[link.parent] for link in schema.links if link.child == declared.name}
        for key, before in keys.items():
            at = out[name].column_names.index(key)
            out[name] = out[name].set_column(at, key, pc.add(out[name].column(at), before))
        last = pc.max(tables[name].column(str(declared.key))).as_py() if schema.one_file else tables[name].num_rows
        then[declared.name] += last or 0
    return out, then


def _mapped(table: Any, path: Path) -> Any:
    """The table as it lies in this file, which is written first."""
    import pyarrow as pa

    whole = table.combine_chunks()
    try:
        with pa.ipc.new_file(str(path), whole.schema) as file:
            file.write_table(whole)
    except OSError as error:
        raise full(error) from error
    return pa.ipc.open_file(pa.memory_map(str(path))).read_all()
