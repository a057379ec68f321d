"""Sampling: records drawn from a table that is read in batches, where all of it would not fit in memory."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator

from dpsyn_core.errors import TableError
from dpsyn_core.progress import Progress, silent
from dpsyn_core.tables import canonical
from dpsyn_core.tables.batches import Batches
from dpsyn_core.tables.places import place_batches
from dpsyn_core.tables.read import MAX_FILE, read
from dpsyn_core.tables.text_batches import TextForm

SMALL = 64 << 20  # bytes of a file that is read into memory without asking how large its table is


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """Records of a table. table: pyarrow. records: how many the table has that they were drawn from."""

    table: Any
    records: int

    @property
    def of(self) -> int | None:
        """How many records the whole table has; None where this is the whole table."""
        return None if self.table.num_rows == self.records else self.records


def sampled(batches: Batches, most: int, *, rng: Generator, progress: Progress = silent) -> Sample:
    """`most` records of a table, every set of so many equally likely, in their order; all of a table with fewer.

    The table is read once. Memory holds about twice what is drawn, and a batch.
    """
    parts: list[Any] = []
    keys: list[Any] = []
    below, seen, held = np.inf, 0, 0
    likely = max(1, batches.likely_records)
    for table in batches.read():
        progress("reading", min(seen, likely), likely)
        seen += table.num_rows
        own = rng.random(table.num_rows)  # the records with the smallest numbers are drawn
        taken = np.flatnonzero(own < below)
        if len(taken):
            parts.append(table if len(taken) == table.num_rows else table.take(taken))
            keys.append(own[taken])
            held += len(taken)
        if held > 2 * most:
            parts, keys, below = _smallest(parts, keys, most)
            held = most
    if held > most:
        parts, keys, _ = _smallest(parts, keys, most)
    progress("reading", likely, likely)
    return Sample(table=_joined(parts, batches.columns), records=seen)


def read_or_sample(
    place: str | os.PathLike[str],
    most: int,
    form: TextForm,
    *,
    sheet: str | None = None,
    header_row: int = 1,
    rng: Generator,
    progress: Progress = silent,
) -> tuple[Sample, tuple[str, ...], tuple[str, ...]]:
    """What lies at a place: all of it where it has at most so many records, else so many drawn from it.

    Args:
        place: a file, a folder or a pattern of files.
        most: records.
        form: what is declared about delimited files.
        sheet: of an Excel file.
        header_row: line of the headers; below the first, a file is read whole.
        rng: draws.
        progress: told the share that is read.

    Returns:
        The records; what was assumed; and what could not be read, which is for the owner only.

    Raises:
        TableError: as `place_batches` and `read`.
    """
    path = Path(place)
    small = header_row != 1 or (path.is_file() and path.stat().st_size <= SMALL)
    batches = None if small else place_batches(place, form, sheet=sheet)
    if batches is None or (path.is_file() and path.stat().st_size <= MAX_FILE and batches.likely_records <= most):
        got = read(
            path, delimiter=form.delimiter, encoding=form.encoding, decimal=form.decimal, sheet=sheet,
            multiline=form.multiline, strict=form.strict, header_row=header_row, header=form.header,
        )  # fmt: skip
        return drawn(got.table, most, rng=rng), got.notices, got.odd
    return sampled(batches, most, rng=rng, progress=progress), batches.notices, tuple(batches.odd)


def drawn(table: Any, most: int, *, rng: Generator) -> Sample:
    """As `sampled`, of a table in memory."""
    if table.num_rows <= most:
        return Sample(table=table, records=table.num_rows)
    chosen = np.sort(rng.choice(table.num_rows, most, replace=False, shuffle=False))
    return Sample(table=table.take(chosen), records=table.num_rows)


def _smallest(parts: list[Any], keys: list[Any], most: int) -> tuple[list[Any], list[Any], float]:
    """The records with the `most` smallest keys, and the largest of these keys."""
    every = np.concatenate(keys)
    chosen = np.zeros(len(every), dtype=bool)
    chosen[np.argpartition(every, most - 1)[:most]] = True
    left, kept, start = [], [], 0
    for part, own in zip(parts, keys, strict=True):
        at = np.flatnonzero(chosen[start : start + len(own)])
        start += len(own)
        if len(at):
            left.append(part.take(at))
            kept.append(own[at])
    return left, kept, float(every[chosen].max())


def _joined(parts: Sequence[Any], columns: Sequence[str]) -> Any:
    """Parts as one table; a column that has several types in them (files of a folder may differ) as text."""
    import pyarrow as pa

    if not parts:
        return pa.table({name: pa.array([], pa.string()) for name in columns})
    if any(part.schema.metadata != parts[0].schema.metadata for part in parts):
        msg = (
            "the files have different decimal marks, so that their records cannot stand in one table; name fewer files"
        )
        raise TableError(msg)
    kinds = [[part.schema.field(i).type for part in parts] for i in range(len(columns))]
    mixed = [i for i, some in enumerate(kinds) if any(kind != some[0] for kind in some)]
    texts = []
    for part in parts:
        out = part
        for i in mixed:
            out = out.set_column(i, columns[i], _as_text(out.column(i)))
        texts.append(out)
    whole = pa.concat_tables(texts)
    return whole.unify_dictionaries().replace_schema_metadata(parts[0].schema.metadata)


def _as_text(column: Any) -> Any:
    import pyarrow as pa
    import pyarrow.types as t

    plain = column.cast(column.type.value_type) if t.is_dictionary(column.type) else column
    chunks = [canonical.to_text(chunk).cast(pa.large_string()) for chunk in plain.chunks]
    return pa.chunked_array(chunks, pa.large_string())
