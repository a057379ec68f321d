"""Transactions: sets of items, from lines of text or from a table of zeros and ones, ready to be counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpsyn_core.errors import SettingError, SizeError
from dpsyn_core.measure.counting.base import BlockCounter
from dpsyn_core.measure.counting.transactions import TableTransactions, TransactionCounter
from dpsyn_core.measure.sources.base import Source
from dpsyn_core.measure.sources.memory import MemorySource
from dpsyn_core.privacy import Neighbours, Unit
from dpsyn_core.progress import Progress, silent
from dpsyn_core.schema import Schema
from dpsyn_core.tables import read_items, read_transactions

HELD = 3  # times that the bits of all items are in memory while the most frequent itemsets are looked for


@dataclass(frozen=True, kw_only=True, slots=True)
class ItemSource:
    """Private transactions and the public items that they are sets of.

    counter: private; holds at most `unit.max_records` transactions of an individual. items: public names, in the
    order of the counter's numbers. unit: whom a release protects.
    """

    counter: TransactionCounter
    items: tuple[str, ...]
    unit: Unit


def from_lines(
    path: Path, items: Path, *, delimiter: str | None = None, neighbours: Neighbours = "add-remove"
) -> ItemSource:
    """Transactions of a text file, one a line. A line is an individual: such files name nobody.

    Args:
        path: UTF-8 text.
        items: file of the public items, one a line.
        delimiter: what separates the items of a line; None: blanks.
        neighbours: what one neighbour changes.
    """
    names = read_items(items)
    read = read_transactions(path, names, delimiter=delimiter)
    counter = TransactionCounter(read.rows, read.items, n_records=read.n_records, n_items=len(names))
    return ItemSource(counter=counter, items=names, unit=Unit(neighbours=neighbours))


def item_rows(schema: Schema) -> list[int]:
    """Positions, in the schema's domain, of the attributes of two values. Raises SettingError when there is none."""
    rows = [i for i, a in enumerate(schema.domain().attributes) if a.size - a.special == 2]
    if not rows:
        msg = "no attribute of the schema has exactly two values; a 0/1 table is needed, or transactions with --items"
        raise SettingError(msg)
    return rows


def items_text(names: Sequence[str]) -> str:
    """The list of items as a manifest's `schema_hash` is of it."""
    return "\n".join(names)


def from_table(table: Any, schema: Schema, *, strict: bool = False) -> ItemSource:
    """Transactions of a table: attributes of two values are the items, and the second value means present.

    Args:
        table: pyarrow table, private.
        schema: public metadata.
        strict: refuse a table with cells that the schema has no place for, an exact answer for the owner only.

    Raises:
        SettingError: no attribute has exactly two values.
        TableError: the table does not fit the schema.
    """
    return from_source(MemorySource(table, strict=strict), schema)


def from_source(
    source: Source, schema: Schema, *, memory: int | None = None, progress: Progress = silent
) -> ItemSource:
    """As `from_table`, for records that are read in batches and counted where they are; see `Source`.

    Args:
        source: of the records, on this machine.
        schema: public metadata.
        memory: bytes that all copies of the bits of all transactions may take; None: any number.
        progress: receives the stages.

    Raises:
        SettingError: no attribute has exactly two values, or the records are on executors of Spark.
        SizeError: the bits do not fit the memory; an exact answer about the number of records, for the owner only.
        TableError: the table does not fit the schema.
    """
    items = item_rows(schema)
    names = [schema.domain().names[i] for i in items]
    counter = TableTransactions(len(items))
    with source.open(schema, progress=progress) as opened:
        if not isinstance(opened.counter, BlockCounter):
            msg = "itemsets are counted on this machine; leave the engine out, or use 'memory' or 'stored'"
            raise SettingError(msg)
        need = HELD * len(items) * opened.n_records // 8
        if memory is not None and need > memory:
            msg = (
                f"the bits of {len(items)} items do not fit the {memory / 1e9:.3g} GB that may be used (for the owner "
                "only); give --memory more, or a schema with fewer attributes of two values"
            )
            raise SizeError(msg)
        for codes in opened.counter.blocks(names):
            counter.add(codes == 1)
    return ItemSource(counter=counter, items=tuple(names), unit=Unit.of(schema.unit))
