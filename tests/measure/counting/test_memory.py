"""MemoryCounter against np.add.at, and its refusals."""

import itertools

import numpy as np
import pytest

from dpsyn_core.errors import SizeError, TableError
from dpsyn_core.estimate.marginals.coarsening import Coarsening
from dpsyn_core.measure.counting import memory
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.schema.domain import Domain


def brute(codes, index, shape):
    out = np.zeros(shape, dtype=np.int64)
    np.add.at(out, tuple(codes[i] for i in index), 1)
    return out


@pytest.fixture(params=[np.uint8, np.uint16, np.uint32])
def table(request):
    rng = np.random.default_rng(3)
    sizes = {"a": 3, "b": 1, "c": 7, "d": 2, "e": 200, "f": 5, "g": 4}
    codes = np.stack([rng.integers(0, s, 20_011) for s in sizes.values()]).astype(request.param)
    return codes, Domain.of(sizes)


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_every_marginal_equals_brute_force(table, k):
    codes, domain = table
    sets = domain.subsets(k)
    got = MemoryCounter(codes, domain).marginals(sets)
    for names, counts in zip(sets, got, strict=True):
        expected = brute(codes, [domain.index(n) for n in names], domain.shape(names))
        assert counts.dtype == np.int64
        np.testing.assert_array_equal(counts, expected)


def test_pairs_that_two_threads_count_are_those_that_one_counts(table, monkeypatch):
    codes, domain = table
    pairs = domain.subsets(2)
    alone = MemoryCounter(codes, domain).marginals(pairs)
    monkeypatch.setattr(memory, "ALONE", 0)
    together = MemoryCounter(codes, domain).marginals(pairs)
    assert all(np.array_equal(a, b) for a, b in zip(alone, together, strict=True))


def test_the_axes_follow_the_given_order(table):
    codes, domain = table
    counter = MemoryCounter(codes, domain)
    np.testing.assert_array_equal(counter.marginal(("c", "a")), counter.marginal(("a", "c")).T)


def test_the_empty_set_gives_the_total(table):
    codes, domain = table
    total = MemoryCounter(codes, domain).marginal(())
    assert total.shape == ()
    assert int(total) == codes.shape[1]


@pytest.mark.parametrize("names", [("e",), ("c", "e"), ("a", "e", "g"), ("a", "c")])
def test_coarse_maps_are_counted_as_if_codes_had_been_mapped_first(table, names):
    codes, domain = table
    recodes = {"e": Coarsening.of(np.arange(200) // 30), "g": Coarsening.of([1, 0, 1, 2])}
    mapped = codes.astype(np.int64)
    for n, recode in recodes.items():
        mapped[domain.index(n)] = recode.map[mapped[domain.index(n)]]
    shape = tuple(recodes[n].size if n in recodes else domain[n].size for n in names)
    got = MemoryCounter(codes, domain).marginal(names, recodes)
    np.testing.assert_array_equal(got, brute(mapped, [domain.index(n) for n in names], shape))


def test_no_records_give_zeros_everywhere():
    domain = Domain.of({"a": 3, "b": 2, "c": 2})
    counter = MemoryCounter(np.zeros((3, 0), dtype=np.uint8), domain)
    for k in range(4):
        for names in itertools.combinations(domain.names, k):
            assert counter.marginal(names).sum() == 0
            assert counter.marginal(names).shape == domain.shape(names)


def test_a_cell_product_beyond_64_bits_is_refused_and_not_wrapped():
    domain = Domain.of({f"a{i}": 2**16 for i in range(5)})
    counter = MemoryCounter(np.zeros((5, 3), dtype=np.uint16), domain)
    with pytest.raises(SizeError, match=str(2**80)):
        counter.marginal(domain.names)


def test_the_cap_is_configurable_and_inclusive():
    domain = Domain.of({"a": 3, "b": 4})
    codes = np.zeros((2, 1), dtype=np.uint8)
    assert MemoryCounter(codes, domain, max_cells=12).marginal(("a", "b")).sum() == 1
    with pytest.raises(SizeError, match="12 cells"):
        MemoryCounter(codes, domain, max_cells=11).marginal(("a", "b"))


def test_codes_outside_the_domain_are_refused_by_attribute_name():
    domain = Domain.of({"a": 3, "b": 2})
    with pytest.raises(TableError, match="'b'"):
        MemoryCounter(np.array([[0], [2]], dtype=np.uint8), domain)


@pytest.mark.parametrize("codes", [np.zeros((1, 4), np.uint8), np.zeros(2, np.uint8), np.zeros((2, 4), np.int64)])
def test_codes_of_the_wrong_shape_or_type_are_refused(codes):
    with pytest.raises(TableError):
        MemoryCounter(codes, Domain.of({"a": 3, "b": 2}))


def test_a_coarse_map_of_the_wrong_length_is_refused():
    counter = MemoryCounter(np.zeros((1, 4), np.uint8), Domain.of({"a": 3}))
    with pytest.raises(TableError, match="'a'"):
        counter.marginal(("a",), {"a": Coarsening.of([0, 1])})
