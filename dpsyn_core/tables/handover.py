"""Handing a table from the process that read it to the one that asked: Arrow's stream format beside a JSON file."""

from __future__ import annotations

import json
from pathlib import Path

from dpsyn_core.files import open_private, put_private
from dpsyn_core.platforms import SYSTEM
from dpsyn_core.tables.batches import Batches, of_table
from dpsyn_core.tables.notices import Notice, made
from dpsyn_core.tables.read_form import ReadForm

TABLE, READING = "table.arrow", "reading.json"
SENTENCES = ("notices", "odd")
FACTS = ("kind", "sheets", "header_hint", "headless", "drawn_from")


def leave(folder: Path, batches: Batches) -> None:
    """Writes a table that is in memory into a folder; `reading.json` comes last and says that the table is whole."""
    import pyarrow as pa

    table = batches.whole()
    with open_private(folder / TABLE) as file, pa.ipc.new_stream(file, table.schema) as stream:
        stream.write_table(table)
    rest = {name: getattr(batches, name) for name in FACTS}
    rest |= {name: [_written(sentence) for sentence in getattr(batches, name)] for name in SENTENCES}
    put_private(folder / READING, json.dumps(rest | {"form": batches.form.model_dump()}).encode("utf-8"))


def take(folder: Path) -> Batches:
    """Takes a table out of a folder, whose files may then be removed. Cells are not copied but mapped."""
    import pyarrow as pa

    rest = json.loads((folder / READING).read_text("utf-8"))
    # Windows does not let a mapped file be removed
    opened = pa.OSFile if SYSTEM == "win32" else pa.memory_map
    with opened(str(folder / TABLE), "rb") as file, pa.ipc.open_stream(file) as stream:
        table = stream.read_all()
    notices, odd = ([made(sentence) for sentence in rest.pop(name)] for name in SENTENCES)
    form, sheets = ReadForm(**rest.pop("form")), tuple(rest.pop("sheets"))
    return of_table(table, form=form, sheets=sheets, notices=tuple(notices), odd=odd, **rest)


def _written(sentence: str) -> object:
    return sentence.document() if isinstance(sentence, Notice) else sentence
