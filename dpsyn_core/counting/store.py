"""Store: codes on disk, block by block and column by column inside a block, each in the narrowest unsigned type."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.counting.memory import check_codes
from dpsyn_core.errors import SizeError
from dpsyn_core.schema.domain import Domain

BLOCK_VALUES = 16 << 20  # codes of a block: 16 MB where attributes have at most 256 values
FEWEST, MOST = 1 << 12, 1 << 18  # records of a block


class Store:
    """Coded records in one private file, written once and read as often as asked. Private."""

    def __init__(self, file: BinaryIO, domain: Domain) -> None:
        """Starts empty.

        Args:
            file: open for reading and writing, in a private folder; whoever opened it closes it.
            domain: the attributes, in the order of the rows of the codes.
        """
        self.domain = domain
        self.n_records = 0
        self._file = file
        self._types = [np.min_scalar_type(size - 1) for size in domain.sizes]
        self._most = max(FEWEST, min(MOST, BLOCK_VALUES // max(1, len(domain))))
        self._blocks: list[tuple[int, int]] = []  # where a block starts in the file, and its records
        self._end = 0
        self._lock = threading.Lock()

    @property
    def record_bytes(self) -> int:
        """Bytes of one record on disk."""
        return sum(t.itemsize for t in self._types)

    @property
    def blocks(self) -> int:
        """How many blocks there are."""
        return len(self._blocks)

    def append(self, codes: NDArray[np.unsignedinteger]) -> None:
        """Writes records, (n_attributes, n_records).

        Raises:
            TableError: a code does not fit the domain; names the attribute, never the value.
            SizeError: the disk is full, or the file cannot be written.
        """
        check_codes(codes, self.domain)
        for start in range(0, codes.shape[1], self._most):
            part = codes[:, start : start + self._most]
            try:
                for row, kind in zip(part, self._types, strict=True):
                    self._file.write(np.ascontiguousarray(row, dtype=kind).data)
            except OSError as error:
                raise full(error) from error
            self._blocks.append((self._end, part.shape[1]))
            self._end += part.shape[1] * self.record_bytes
            self.n_records += part.shape[1]

    def finish(self) -> None:
        """Hands what was written to the system; nothing is appended after it. Raises SizeError as `append`."""
        try:
            self._file.flush()
        except OSError as error:
            raise full(error) from error

    def read(self, block: int, rows: Sequence[int]) -> NDArray[np.unsignedinteger]:
        """Some rows of a block, (rows, records), C-contiguous, in the narrowest type that holds all of them.

        Safe to call from several threads.
        """
        start, n = self._blocks[block]
        kind = max((self._types[r] for r in rows), key=lambda t: t.itemsize, default=np.dtype(np.uint8))
        out = np.empty((len(rows), n), dtype=kind)
        begins = np.cumsum([0, *(t.itemsize * n for t in self._types)])
        for i, row in enumerate(rows):
            data = self._read_at(start + int(begins[row]), self._types[row].itemsize * n)
            out[i] = np.frombuffer(data, dtype=self._types[row])
        return out

    def parts(self, rows: Sequence[int]) -> Iterator[NDArray[np.unsignedinteger]]:
        """These rows of every block, one block after the other; see `read`."""
        return (self.read(block, rows) for block in range(self.blocks))

    def _read_at(self, start: int, size: int) -> bytes:
        """Bytes of the file. Read, not mapped: pages of a map would count as this process's memory."""
        if hasattr(os, "pread"):
            data = os.pread(self._file.fileno(), size, start)
        else:
            with self._lock:
                self._file.seek(start)
                data = self._file.read(size)
        if len(data) != size:
            msg = "the private file of codes is shorter than what was written to it; is the disk full or damaged?"
            raise SizeError(msg)
        return data


def full(error: OSError) -> SizeError:
    """The sentence for a file of the scratch folder that cannot be written."""
    return SizeError(
        f"the scratch folder cannot be written ({error.strerror or 'no reason given'}); free disk space, "
        "or name a folder with room in the variable DPSYN_SCRATCH"
    )
