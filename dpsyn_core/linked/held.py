"""Synthetic linked tables that are made in parts: each part lies on disk, and the whole is read from there."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any

from dpsyn_core.counting.stored import full
from dpsyn_core.linked.document import LinkedSchema
from dpsyn_core.scratch import scratch

Tables = dict[str, Any]


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
    held: dict[str, list[Any]] = {name: [] for name in first}
    sizes = dict.fromkeys((t.name for t in schema.tables), 0)
    with scratch() as room:
        for number, tables in enumerate(chain([first, second], waiting)):
            moved, sizes = _counting_on(tables, schema, sizes)
            for place, (name, table) in enumerate(moved.items()):
                held[name].append(_mapped(table, room.folder / f"{number}-{place}.arrow"))
    return {name: pa.concat_tables(tables) for name, tables in held.items()}


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
