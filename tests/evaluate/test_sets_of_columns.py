"""Sets of columns: drawn, counted together, and counted sparsely, against plain enumeration."""

import itertools

import numpy as np
import pytest

from dpsyn_core.evaluate import distances
from dpsyn_core.evaluate.distances import _sparse, _unrank, batches, sampled_sets
from dpsyn_core.schema.domain import Domain

DOMAIN = Domain.of({"a": 3, "b": 2, "c": 4, "d": 5, "e": 2})


@pytest.mark.parametrize("k", range(6))
def test_combinations_are_found_by_their_rank(k):
    every = list(itertools.combinations("abcde", k))
    assert [_unrank("abcde", k, i) for i in range(len(every))] == every


@pytest.mark.parametrize(("count", "all_up_to", "whole"), [(3, 10, True), (3, 9, False), (20, 9, True)])
def test_few_sets_are_all_taken_and_of_many_so_many_are_drawn(count, all_up_to, whole):
    found = sampled_sets(DOMAIN, 2, count, all_up_to=all_up_to, seed=1)
    every = DOMAIN.subsets(2)
    assert len(found) == len(set(found)) == (len(every) if whole else count)
    assert found == [s for s in every if s in found]
    assert found == sampled_sets(DOMAIN, 2, count, all_up_to=all_up_to, seed=1)


@pytest.mark.parametrize("dense", [4, 8, 14, 15, 20, 10**6])
@pytest.mark.parametrize("most", [1, 3, 4, 12, 18, 30, 10**6])
def test_sets_are_counted_together_up_to_a_limit_and_those_that_are_too_large_alone(monkeypatch, dense, most):
    most = min(most, dense)  # a set that can be laid out fits a batch
    monkeypatch.setattr(distances, "DENSE_CELLS", dense)
    monkeypatch.setattr(distances, "BATCH_CELLS", most)
    sets = [*DOMAIN.subsets(1), *DOMAIN.subsets(2)]
    found = list(batches(DOMAIN, sets))
    assert [s for batch in found for s in batch] == sets
    sizes = [[DOMAIN.cells(s) for s in batch] for batch in found]
    for batch in sizes:
        assert len(batch) == 1 or (sum(batch) <= most and max(batch) <= dense)
    for batch, following in itertools.pairwise(sizes):
        assert sum(batch) + following[0] > most or max(batch) > dense or following[0] > dense


@pytest.mark.parametrize("names", [("a",), ("a", "c"), ("b", "d", "e"), ("a", "b", "c", "d", "e")])
def test_cells_with_records_are_counted_in_both_tables(names):
    rng = np.random.default_rng(0)
    real, made = (np.stack([rng.integers(0, s, n) for s in DOMAIN.sizes]).astype(np.uint8) for n in (90, 60))
    rows = [DOMAIN.index(n) for n in names]
    cells = sorted({tuple(r) for t in (real, made) for r in t[rows].T.tolist()})
    wanted = [[sum(tuple(r) == cell for r in t[rows].T.tolist()) for cell in cells] for t in (real, made)]
    found = _sparse(DOMAIN, real, made, names)
    assert [f.tolist() for f in found] == wanted


def test_cells_beyond_64_bits_are_numbered_afresh_and_not_wrapped():
    wide = Domain.of({f"x{i}": 2**16 for i in range(6)})
    rng = np.random.default_rng(1)
    real = rng.integers(0, 2**16, (6, 50)).astype(np.uint16)
    made = real[:, :20].copy()
    made[0, :5] ^= 1
    first, second = _sparse(wide, real, made, wide.names)
    assert first.sum() == 50 and second.sum() == 20
    assert (first * second).sum() == 15 and len(first) == 55
