"""Reads transactions: one a line, items separated by blanks or a character, against a public list of items."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import TableError
from dpsyn_core.tables.text.lines import normalised

MAX_BYTES = 2 << 30


@dataclass(frozen=True, kw_only=True, slots=True)
class Transactions:
    """Entries (transaction, item number) in file order; items that are not public are left out. Private."""

    rows: NDArray[np.int64]
    items: NDArray[np.int64]
    n_records: int


def read_items(path: Path) -> tuple[str, ...]:
    """Names of the public items, one a line. Raises TableError for none or a repeated one."""
    names = tuple(line.strip() for line in _text(path).splitlines() if line.strip())
    if not names:
        msg = f"'{path.name}' lists no item; write one item a line"
        raise TableError(msg)
    if len(set(names)) != len(names):
        repeated = next(n for i, n in enumerate(names) if n in names[:i])
        msg = f"'{path.name}' lists '{repeated}' twice; every item needs its own name"
        raise TableError(msg)
    return names


def read_transactions(path: Path, names: tuple[str, ...], *, delimiter: str | None = None) -> Transactions:
    """Reads a text file of transactions.

    LF, CR LF and CR each end a line. An empty line is an empty transaction; an item twice in a line counts once; items
    outside `names` are left out
    (which the guarantee needs: the list is public, the file is not).

    Args:
        path: UTF-8 text, one transaction a line.
        names: public items; their order numbers them.
        delimiter: what separates items; None: blanks.
    """
    import pyarrow as pa  # heavy
    import pyarrow.compute as pc

    text = _text(path)
    lines = text.split("\n")
    if not lines[-1]:  # what follows the last line end is a line if it has a byte, as in every other text
        lines.pop()
    trimmed = pc.utf8_trim_whitespace(pa.array(lines, type=pa.large_string()))
    split = pc.utf8_split_whitespace(trimmed) if delimiter is None else pc.split_pattern(trimmed, delimiter)
    lengths = np.asarray(pc.list_value_length(split).fill_null(0), dtype=np.int64)
    places = pc.index_in(pc.utf8_trim_whitespace(split.flatten()), value_set=pa.array(names, type=pa.large_string()))
    items = np.asarray(places.fill_null(-1), dtype=np.int64)
    rows = np.repeat(np.arange(len(lines), dtype=np.int64), lengths)
    return Transactions(rows=rows[items >= 0], items=items[items >= 0], n_records=len(lines))


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_BYTES:
            msg = f"'{path.name}' is larger than 2 GiB; split it, or draw a public part of it"
            raise TableError(msg)
        # a letter that is not UTF-8 makes its item one that is not public; it changes no other one
        return bytes(normalised(memoryview(path.read_bytes()))).decode("utf-8", "replace")
    except OSError as error:
        msg = f"'{path.name}' cannot be read: {error.strerror}; check the path"
        raise TableError(msg) from error
