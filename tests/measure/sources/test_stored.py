"""Bounding in files: the records that stay are those that stay in memory, however many files there are."""

import collections
import io

import numpy as np
import pyarrow as pa
import pytest

from dpsyn_core.measure.sources import stored
from dpsyn_core.measure.sources.bounding import bound
from dpsyn_core.measure.sources.stored import bound_parts
from dpsyn_core.schema.codec import Encoded

KEY = bytes(range(32))
RNG = np.random.default_rng(0)
WHO = np.where(RNG.random(900) < 0.2, 0, RNG.integers(0, 200, 900))
CODES = np.stack([RNG.integers(0, 9, 900), RNG.integers(0, 300, 900)]).astype(np.uint16)


class Room:
    """Files in memory; says how many were asked for and which are still open."""

    def __init__(self):
        self.files, self.open = [], []

    def file(self):
        self.files.append(io.BytesIO())
        self.open.append(self.files[-1])
        return self.files[-1]

    def close(self, file):
        self.open.remove(file)


def encoded(rows):
    names = pa.array([f"n{WHO[r]}" for r in rows], pa.string()).dictionary_encode()
    return Encoded(codes=np.ascontiguousarray(CODES[:, rows]), identifiers=names)


def parts(room, theta, length, *, records=900, memory=None, rows=2):
    batches = [encoded(range(i, min(i + length, 900))) for i in range(0, 900, length)]
    batches = [Encoded(codes=b.codes[:rows], identifiers=b.identifiers) for b in batches]
    return list(bound_parts(iter(batches), theta, key=KEY, room=room, records=records, memory=memory))


@pytest.mark.parametrize("theta", [1, 2, 5, 1000])
@pytest.mark.parametrize("length", [37, 900])
def test_what_stays_in_files_is_what_stays_in_memory(theta, length):
    room = Room()
    found = parts(room, theta, length)
    whole = np.concatenate(found, axis=1)
    known = bound(encoded(range(900)), theta, key=KEY)
    assert collections.Counter(map(tuple, whole.T.tolist())) == collections.Counter(map(tuple, known.T.tolist()))
    assert len(room.files) == 4 and not room.open
    assert len(found) == 4 and all(p.dtype == np.uint16 for p in found)


def test_a_table_of_one_attribute_or_none_keeps_its_number_of_records():
    for rows in (0, 1):
        found = np.concatenate(parts(Room(), 2, 100, rows=rows), axis=1)
        assert found.shape == (rows, np.minimum(np.bincount(WHO), 2).sum())


def test_files_without_records_give_no_part():
    assert list(bound_parts(iter([]), 1, key=KEY, room=Room(), records=0)) == []
    alone = Encoded(codes=CODES[:, :1].copy(), identifiers=pa.array(["n"], pa.string()).dictionary_encode())
    [only] = bound_parts(iter([alone]), 1, key=KEY, room=Room(), records=1)
    assert only.tolist() == CODES[:, :1].tolist()


@pytest.mark.parametrize(
    ("records", "memory", "files"),
    [
        *((0, None, 4), (10**6, None, 4), (10**7, None, 7), (10**9, None, 256)),
        *((10**7, 10**12, 7), (10**7, 2**30, 14), (10**7, 500 * 10**6, 32), (10**7, 0, 119)),
    ],
)
def test_there_are_as_many_files_as_bounding_one_in_an_eighth_of_the_memory_needs(records, memory, files):
    room = Room()
    parts(room, 1, 900, records=records, memory=memory)
    assert len(room.files) == files
    assert (stored.MEMORY, stored.RECORD) == (2**28, 200)
