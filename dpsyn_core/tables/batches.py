"""Batches: a table that is read part by part, as often as asked, so that it never has to fit in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

RECORDS = 1 << 17  # of a batch
LEAST = 2  # bytes of a cell in a text file, with its delimiter
CELLS = 1 << 22  # of a batch: wide tables have shorter ones


def batch_records(columns: int) -> int:
    """How many records a batch of so many columns has."""
    return max(1 << 10, min(RECORDS, CELLS // max(1, columns)))


@dataclass(frozen=True, kw_only=True, slots=True)
class Batches:
    """A table in parts. A record becomes the same as where the table is read whole, whatever part it stands in.

    columns: names, in their order. read: starts from the beginning at every call; gives pyarrow tables of these
    columns, typed or text, with the metadata of `tables.read`. size: bytes where the table lies, for estimates; 0
    where that is not known. records: how many there are, where that is known before reading; private. notices:
    sentences on what was assumed, none of which depends on a record. odd: sentences on what could not be read, for the
    owner only; complete once a reading has ended.
    """

    columns: tuple[str, ...]
    read: Callable[[], Iterator[Any]]
    size: int = 0
    records: int | None = None
    notices: tuple[str, ...] = ()
    odd: list[str] = field(default_factory=list)

    @property
    def likely_records(self) -> int:
        """About how many records there are, or more; private."""
        return self.records if self.records is not None else self.size // LEAST // max(1, len(self.columns))


@dataclass(frozen=True, slots=True)
class Share:
    """One of the shares into which a file is cut, for processes that read it together: number 0..of-1."""

    number: int = 0
    of: int = 1

    def slice(self, size: int) -> slice:
        """The part of a range of this size that belongs to the share."""
        return slice(size * self.number // self.of, size * (self.number + 1) // self.of)


WHOLE = Share()


def of_frame(table: Any) -> Batches:
    """A pandas, polars or pyarrow table, which is in memory, in parts."""
    from dpsyn_core.tables.frames import to_arrow

    whole = to_arrow(table)
    step = batch_records(whole.num_columns)

    def read() -> Iterator[Any]:
        return (whole.slice(start, step) for start in range(0, whole.num_rows, step))

    return Batches(columns=tuple(whole.column_names), read=read, size=whole.nbytes, records=whole.num_rows)
