"""Records on disk: blocks of any length hold what was written, and are counted as records in memory are."""

import io
import itertools

import numpy as np
import pytest

from dpsyn_core.errors import SizeError, TableError
from dpsyn_core.estimate.marginals.coarsening import Coarsening
from dpsyn_core.measure.counting import stored
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.counting.stored import Store, StoredCounter, full
from dpsyn_core.measure.counting.sums import Features, SumRule
from dpsyn_core.schema.domain import Domain

SIZES = {"a": 3, "b": 256, "c": 257, "d": 1, "e": 70_000}
DOMAIN = Domain.of(SIZES)
CODES = np.stack([np.random.default_rng(i).integers(0, s, 1_000) for i, s in enumerate(SIZES.values())]).astype("u4")


@pytest.fixture(params=[1, 170, 600, 601])
def store(request, tmp_path, monkeypatch):
    """The records in blocks of at most so many, written in three parts of which one is empty."""
    monkeypatch.setattr(stored, "FEWEST", request.param)
    monkeypatch.setattr(stored, "MOST", request.param)
    with open(tmp_path / "codes", "w+b") as file:  # noqa: PTH123
        made = Store(file, DOMAIN)
        for part in np.split(CODES, [400, 400], axis=1):
            made.append(part)
        made.finish()
        made.length = request.param
        made.bytes = file.tell()
        yield made


def test_every_block_holds_the_records_that_were_written_in_the_narrowest_type(store):
    assert store.n_records == 1_000 and store.record_bytes == 1 + 1 + 2 + 1 + 4
    assert store.bytes == 1_000 * 9
    assert store.blocks == -(-400 // store.length) - (-600 // store.length)
    for rows, kind in (([0, 1, 3], "u1"), ([2, 0], "u2"), ([4, 2, 1], "u4"), ([], "u1")):
        parts = list(store.parts(rows))
        assert len(parts) == store.blocks
        assert all(p.dtype == kind and p.flags.c_contiguous and p.shape[1] <= store.length for p in parts)
        np.testing.assert_array_equal(np.concatenate(parts, axis=1), CODES[rows])


def test_counts_on_disk_are_those_in_memory(store):
    if store.length == 1:
        return  # a thousand blocks of one record are read above
    counter, memory = StoredCounter(store), MemoryCounter(CODES, DOMAIN)
    sets = [(), ("a",), ("c",), ("b", "a"), ("a", "c", "d"), ("d", "b"), ("c", "a", "b")]
    coarse = {"e": Coarsening.of(np.arange(70_000) // 17_000), "b": Coarsening.of(np.arange(256) % 3)}
    for asked, maps in ((sets, {}), ([*sets, ("e", "a"), ("e", "b", "c")], coarse)):
        for found, known in zip(counter.marginals(asked, maps), memory.marginals(asked, maps), strict=True):
            assert found.dtype == known.dtype and np.array_equal(found, known)
    for names in (("e",), ("e", "b"), ("a", "e"), ("b", "a", "c")):
        for maps in ({}, coarse):
            for found, known in zip(counter.occupied(names, maps), memory.occupied(names, maps), strict=True):
                assert found.dtype == known.dtype and np.array_equal(found, known)
    np.testing.assert_array_equal(np.concatenate(list(counter.blocks(["c", "a"])), axis=1), CODES[[2, 0]])


@pytest.mark.parametrize(("cells", "threads"), [(1 << 24, 1), (1 << 24, 2), (300, 2), (1, 2)])
def test_counts_do_not_depend_on_how_many_cells_and_threads_count_at_a_time(store, monkeypatch, cells, threads):
    if store.length == 1:
        return
    monkeypatch.setattr(stored, "PART_CELLS", cells)
    monkeypatch.setattr(stored, "THREADS", threads)
    sets = [s for k in range(4) for s in itertools.combinations("abd", k)]
    for found, known in zip(
        StoredCounter(store).marginals(sets), MemoryCounter(CODES, DOMAIN).marginals(sets), strict=True
    ):
        assert np.array_equal(found, known)


@pytest.mark.parametrize("by", [None, "a"])
@pytest.mark.parametrize("drawn", [False, True])
def test_sums_of_vectors_on_disk_are_those_in_memory(store, by, drawn):
    if store.length == 1:
        return
    chosen = np.random.default_rng(9).random(1_000) < 0.3
    asked = []

    def sample(records):
        asked.append(records)
        return chosen

    tables = {"b": np.arange(256.0)[:, None], "a": np.eye(3)}
    rule = SumRule(features=Features(tables=tables), clip=300.0, cells=4, by=by)
    maps = [lambda block, i=i: [block + i] for i in range(1 if by is None else 3)]
    counters = StoredCounter(store), MemoryCounter(CODES, DOMAIN)
    found = [c.vector_sum(rule, maps, sample if drawn else None) for c in counters]
    assert np.array_equal(*found) and found[0].any()
    assert set(asked) == ({1_000} if drawn else set())


@pytest.mark.parametrize(
    ("attributes", "records"), [(1, 1 << 18), (63, 1 << 18), (128, 1 << 17), (4096, 1 << 12), (5000, 1 << 12)]
)
def test_a_block_holds_16_million_codes_and_neither_very_few_nor_very_many_records(attributes, records):
    assert Store(io.BytesIO(), Domain.of({f"a{i}": 2 for i in range(attributes)}))._most == records


def test_a_table_above_the_cap_is_refused_and_one_at_it_is_not(store):
    assert StoredCounter(store, max_cells=3 * 256).marginal(("a", "b")).sum() == 1_000
    with pytest.raises(SizeError, match="768 cells"):
        StoredCounter(store, max_cells=3 * 256 - 1).marginal(("a", "b"))


def test_more_records_than_the_kernels_count_are_refused(store, monkeypatch):
    monkeypatch.setattr(stored, "MAX_RECORDS", 1_000)
    assert StoredCounter(store).marginal(()) == 1_000
    monkeypatch.setattr(stored, "MAX_RECORDS", 999)
    with pytest.raises(SizeError, match="draw a sample"):
        StoredCounter(store)


def test_codes_that_do_not_fit_and_files_that_were_cut_off_are_refused(store):
    with pytest.raises(TableError, match="'d'"):
        store.append(np.ones((5, 1), dtype=np.uint8))
    store._file.truncate(store.bytes - 1)
    with pytest.raises(SizeError, match="shorter than what was written"):
        store.read(store.blocks - 1, [4])


def test_the_sentence_of_a_full_disk_gives_its_reason_where_there_is_one():
    assert "(No space left on device)" in str(full(OSError(28, "No space left on device")))
    assert "(no reason given)" in str(full(OSError()))
