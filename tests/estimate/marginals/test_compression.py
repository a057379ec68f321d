"""Compression keeps frequent codes, merges rare ones, and restores them in their released shares."""

import numpy as np

from dpsyn_core.estimate.marginals.compression import (
    compress,
    compressed_domain,
    compressed_one_way,
    on_compressed,
    restore_all,
)
from dpsyn_core.estimate.marginals.types import Measurement
from dpsyn_core.schema.domain import Domain

COUNTS = np.array([50.0, 2, 900, -4, 6, 40])


def test_rare_codes_share_the_last_cell():
    c = compress(COUNTS, 30)
    assert c.rare.tolist() == [1, 3, 4]
    assert c.recode.map.tolist() == [0, 3, 1, 3, 3, 2]
    assert c.size == 4


def test_rare_codes_that_are_few_together_come_out_empty():
    assert compress(COUNTS, 30).dropped
    assert not compress(np.array([50.0, 2, 900, 9, 9, 20]), 30).dropped


def test_one_rare_code_is_kept_and_a_limit_keeps_the_most_frequent():
    assert compress(np.array([50.0, 2]), 30).size == 2
    assert compress(COUNTS, 30, limit=2).rare.tolist() == [1, 3, 4, 5]


def test_an_attribute_without_a_frequent_code_becomes_one_cell():
    c = compress(np.array([1.0, 2, 3]), 30)
    assert c.size == 1
    assert not c.dropped


def test_restored_codes_follow_the_released_counts_of_the_rare_ones():
    c = compress(np.array([500.0, 10, 30, -5]), 35)
    column = np.array([0] * 5 + [1] * 40, dtype=np.uint8)
    codes = c.restore(column, rng=np.random.default_rng(0))
    assert np.bincount(codes, minlength=4).tolist() == [5, 10, 30, 0]
    uniform = compress(np.array([500.0, -1, -1]), 35).restore(np.ones(10, np.uint8), rng=np.random.default_rng(0))
    assert np.bincount(uniform, minlength=3).tolist() == [0, 5, 5]


def test_compressed_tables_and_domain_fit_each_other():
    domain = Domain.of({"a": 6, "b": 2})
    packed = {"a": compress(COUNTS, 30), "b": compress(np.array([500.0, 400]), 30)}
    inner = compressed_domain(domain, packed)
    assert inner.sizes == (4, 2)
    one = compressed_one_way(Measurement(attributes=("a",), values=COUNTS, sigma=10.0), packed["a"])
    np.testing.assert_allclose(one.values, [50, 900, 40, 0])
    pair = Measurement(attributes=("a", "b"), values=np.ones((4, 2)), sigma=1.0, recodes={"a": packed["a"].recode})
    (ready,) = on_compressed([pair], packed)
    assert not ready.values[3].any()
    assert ready.values[:3].all()
    assert not ready.recodes
    codes = restore_all(np.array([[0, 1, 2], [1, 1, 0]], dtype=np.uint8), domain, packed, rng=np.random.default_rng(0))
    np.testing.assert_array_equal(codes, [[0, 2, 5], [1, 1, 0]])
