"""Handing a table from the process that read it to the one that asked: Arrow's stream format beside a JSON file."""

from __future__ import annotations

import json
import os
from dataclasses import fields
from pathlib import Path

from dpsyn_core.files import open_private, put_private
from dpsyn_core.tables import notices
from dpsyn_core.tables.reading import Reading

TABLE, READING = "table.arrow", "reading.json"
SENTENCES = ("notices", "odd")  # of a reading


def leave(folder: Path, reading: Reading) -> None:
    """Writes a reading into a folder; `reading.json` comes last and says that the table is whole."""
    import pyarrow as pa

    with open_private(folder / TABLE) as file, pa.ipc.new_stream(file, reading.table.schema) as stream:
        stream.write_table(reading.table)
    rest = {f.name: getattr(reading, f.name) for f in fields(reading) if f.name != "table"}
    rest |= {name: [_written(sentence) for sentence in rest[name]] for name in SENTENCES}
    put_private(folder / READING, json.dumps(rest).encode("utf-8"))


def take(folder: Path) -> Reading:
    """Takes a reading out of a folder, whose files may then be removed. Cells are not copied but mapped."""
    import pyarrow as pa

    rest = json.loads((folder / READING).read_text("utf-8"))
    # Windows does not let a mapped file be removed
    opened = pa.OSFile if os.name == "nt" else pa.memory_map
    with opened(str(folder / TABLE), "rb") as file, pa.ipc.open_stream(file) as stream:
        table = stream.read_all()
    rest |= {name: tuple(notices.made(sentence) for sentence in rest[name]) for name in SENTENCES}
    return Reading(table=table, **(rest | {"sheets": tuple(rest["sheets"])}))


def _written(sentence: str) -> object:
    return sentence.document() if isinstance(sentence, notices.Notice) else sentence
