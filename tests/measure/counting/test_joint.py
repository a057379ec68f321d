"""Tables that are counted as sums of larger ones: the same counts, fewer tables, and none above what cache holds."""

import itertools

import numpy as np
import pytest

from dpsyn_core.measure.counting import joint
from dpsyn_core.measure.counting.joint import Joint

SIZES = np.array([3, 1, 4, 2, 9, 5, 2, 60])
N = 1100


@pytest.fixture(autouse=True)
def always(monkeypatch):
    """Even few records are counted by joint tables."""
    monkeypatch.setattr(joint, "WORTH", 0)
    monkeypatch.setattr(joint, "RECORDS_A_CELL", 1)


def counted(made, codes, shapes, *, cells, at=None):
    out = [np.zeros(shape, dtype=np.int64) for shape in shapes]
    made.add_records(out, codes.shape[1])
    for part in made.parts(cells):
        held = made.zeros(part)
        for half in np.array_split(codes, 2, axis=1):
            made.count(np.ascontiguousarray(half), part, held, at)
        made.add_to(out, part, held)
    return out


def brute(codes, rows):
    out = np.zeros(tuple(SIZES[list(rows)]), dtype=np.int64)
    np.add.at(out, tuple(codes[r] for r in rows), 1 if rows else codes.shape[1])
    return out


@pytest.mark.parametrize("cells", [1, 500, 1 << 20])
@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
def test_all_sets_in_any_order_and_repeated_are_counted_right(cells, kind):
    rng = np.random.default_rng(0)
    codes = np.stack([rng.integers(0, s, N) for s in SIZES]).astype(kind)
    sets = [s for k in range(4) for s in itertools.combinations(range(len(SIZES)), k)]
    sets += [(2, 0), (6, 0, 2), (0, 2), (7, 4), (4, 4), (7, 4, 5, 2)]
    made = Joint(sets, SIZES, records=N)
    for found, rows in zip(counted(made, codes, [SIZES[list(s)] for s in sets], cells=cells), sets, strict=True):
        np.testing.assert_array_equal(found, brute(codes, rows))


def test_columns_may_stand_at_other_places_than_their_numbers():
    rng = np.random.default_rng(1)
    codes = np.stack([rng.integers(0, s, N) for s in SIZES]).astype(np.uint8)
    sets, at = [(7, 2), (2, 3), (3,)], np.zeros(len(SIZES), dtype=np.int64)
    made = Joint(sets, SIZES, records=N)
    (part,) = made.parts(1 << 20)
    rows = made.rows(part)
    assert rows == [2, 3, 7]
    at[rows] = np.arange(3)
    found = counted(made, codes[rows], [SIZES[list(s)] for s in sets], cells=1 << 20, at=at)
    assert all(np.array_equal(f, brute(codes, s)) for f, s in zip(found, sets, strict=True))


def test_many_pairs_are_the_sums_of_fewer_tables_that_stay_small():
    sizes = np.array([2 + i % 11 for i in range(100)])
    pairs = list(itertools.combinations(range(100), 2))
    made = Joint(pairs, sizes, records=10**6)
    parts = made.parts(1)
    assert len(parts) < len(pairs) / 4
    assert max(made.zeros(p).size for p in parts) <= joint.MOST_CELLS


def test_few_records_are_counted_as_they_are_asked_for(monkeypatch):
    monkeypatch.setattr(joint, "WORTH", 5_000_000)
    pairs = list(itertools.combinations(range(5), 2))
    assert len(Joint(pairs, SIZES, records=1000).parts(1)) == len(pairs)


def test_a_hundred_columns_of_one_value_each_are_counted():
    """Few records make every coarse column one value; a joint table of all of them had more axes than an array has."""
    sizes = np.append(np.ones(100, dtype=np.int64), 4)
    codes = np.zeros((101, N), dtype=np.uint8)
    codes[100] = np.arange(N) % 4
    sets = list(itertools.combinations(range(101), 2))
    made = Joint(sets, sizes, records=N)
    found = counted(made, codes, [sizes[list(s)] for s in sets], cells=1 << 20)
    assert all(t.sum() == N for t in found)
    np.testing.assert_array_equal(found[99], np.bincount(codes[100])[None, :])
