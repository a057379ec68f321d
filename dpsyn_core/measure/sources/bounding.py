"""Contribution bounding: keeps at most `max_records` records of an individual, by a rule that looks at nobody else."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import EngineError
from dpsyn_core.loading import compiled
from dpsyn_core.schema import Codes, Encoded

KEY_WORDS = 4


def bound(encoded: Encoded, max_records: int, *, key: bytes | None = None) -> Codes:
    """Keeps at most `max_records` records of each individual.

    Each record gets a 64-bit hash of the key, its individual's identifier and its codes; of each individual, the
    records with the smallest hashes stay. What stays of an individual depends on the key and on that individual's
    records alone, not on the order of the file and not on anybody else. So two tables that differ in one
    individual differ in at most `max_records` records after bounding (twice as many when one individual is
    exchanged for another). Equal records of one individual have equal hashes; which of them stays makes no
    difference to the codes.

    Args:
        encoded: codes (n_attributes, n_records) and identifiers. Without identifiers nothing is removed: every
            record is a separate individual, or the owner vouches that nobody has more than `max_records`.
        max_records: at least 1.
        key: 32 bytes; default: drawn from the operating system, anew for every run.

    Returns:
        Codes of the kept records, in the order of the table, C-contiguous.
    """
    if max_records < 1:
        msg = f"max_records is {max_records}; it must be at least 1"
        raise EngineError(msg)
    if encoded.identifiers is None:
        return encoded.codes
    groups, hashes = _groups(encoded.identifiers), record_hashes(encoded, draw_key() if key is None else key)
    keep = kept(groups, hashes, max_records)
    if keep.all():
        return encoded.codes
    return np.ascontiguousarray(encoded.codes[:, keep])


def draw_key() -> bytes:
    """A fresh key from the operating system, for one run."""
    return os.urandom(8 * KEY_WORDS)


def kept(groups: NDArray[np.int64], hashes: NDArray[np.uint64], max_records: int) -> NDArray[np.bool_]:
    """Which records are among the `max_records` smallest hashes of their group; shape (n_records,)."""
    order = np.lexsort((hashes, groups))
    sorted_groups = groups[order]
    starts = np.flatnonzero(np.append(True, sorted_groups[1:] != sorted_groups[:-1]))
    sizes = np.diff(np.append(starts, len(order)))
    rank = np.arange(len(order)) - np.repeat(starts, sizes)
    keep = np.zeros(len(order), dtype=bool)
    keep[order[rank < max_records]] = True
    return keep


def record_hashes(encoded: Encoded, key: bytes) -> NDArray[np.uint64]:
    """A keyed 64-bit hash of each record's identifier and codes, shape (n_records,)."""
    if len(key) != 8 * KEY_WORDS:
        msg = f"the key has {len(key)} bytes; it must have {8 * KEY_WORDS}"
        raise EngineError(msg)
    words = np.frombuffer(key, dtype=np.uint64)
    out = name_hashes(encoded.identifiers, key)
    for position, column in enumerate(encoded.codes):
        _absorb(out, column, np.uint64(position), words)
    return out


def name_hashes(names: Any, key: bytes) -> NDArray[np.uint64]:
    """A keyed 64-bit hash of each record's identifier alone, shape (n_records,); all records of one have the same.

    names: pyarrow dictionary array of text, without nulls.
    """
    hashes: NDArray[np.uint64] = text_hashes(names.dictionary, key)[names.indices.to_numpy(zero_copy_only=False)]
    return hashes


def _groups(names: Any) -> NDArray[np.int64]:
    groups: NDArray[np.int64] = names.indices.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
    return groups


def text_hashes(texts: Any, key: bytes) -> NDArray[np.uint64]:
    """A keyed 64-bit hash of each text, from the buffers of the pyarrow string array (n,)."""
    import pyarrow as pa

    words = np.frombuffer(key, dtype=np.uint64)
    texts = texts.cast(pa.large_string())
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]
    chars = np.frombuffer(data, dtype=np.uint8) if data is not None else np.zeros(0, dtype=np.uint8)
    return np.asarray(_hash_bytes(ends, chars, words), dtype=np.uint64)


@compiled()
def _mix(x: np.uint64) -> np.uint64:
    """Finaliser of splitmix64 (Steele, Lea, Flood 2014): a bijection that spreads every bit."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@compiled()
def _hash_bytes(ends: NDArray[np.int64], chars: NDArray[np.uint8], words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    out = np.empty(len(ends) - 1, dtype=np.uint64)
    for i in range(len(out)):
        h = words[0] ^ np.uint64(ends[i + 1] - ends[i])
        for j in range(ends[i], ends[i + 1]):
            h = _mix(h + words[1] + np.uint64(chars[j]))
        out[i] = _mix(h ^ words[2])
    return out


@compiled()
def _absorb(out: NDArray[np.uint64], column: Any, position: np.uint64, words: NDArray[np.uint64]) -> None:
    salt = _mix(words[3] + position)
    for i in range(len(out)):
        out[i] = _mix(out[i] + salt + np.uint64(column[i]) * words[1])
