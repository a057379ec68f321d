"""Shards: parts of the records, and shares of tables that add up."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dpsyn_core.estimate.records.shards import MOST, shard_share, shards_of


@given(st.integers(0, 10**10), st.integers(0, 2000))
def test_shards_follow_each_other_and_are_about_equal(n, attributes):
    shards = shards_of(n, attributes) if n < 10**7 or attributes < 20 else shards_of(n // 1000, attributes)
    n = shards[0].whole
    assert shards[0].start == 0
    assert all(a.start + a.n_records == b.start for a, b in pairwise(shards))
    assert shards[-1].start + shards[-1].n_records == n
    sizes = {s.n_records for s in shards}
    assert max(sizes) - min(sizes) <= 1
    assert max(sizes) <= MOST


@given(st.lists(st.floats(-10, 1e6), min_size=1, max_size=20), st.integers(1, 5 * MOST), st.integers(0, 99))
def test_shares_are_whole_numbers_that_add_up_to_the_table_rounded(values, n, seed):
    table = np.array(values)
    phases = np.random.default_rng(seed).random(table.shape)
    shares = [shard_share(table, s, phases) for s in shards_of(n, 3)]
    assert all((s == np.rint(s)).all() for s in shares)
    assert (np.abs(np.sum(shares, axis=0) - table) < 1).all()


def test_a_rare_cell_is_one_record_in_some_shards_and_not_nothing_in_all():
    shards = shards_of(100 * MOST, 1)
    table = np.full(200, 30.0)
    phases = np.random.default_rng(0).random(table.shape)
    shares = np.stack([shard_share(table, s, phases) for s in shards])
    assert set(np.unique(shares)) == {0.0, 1.0}
    assert (shares.sum(axis=0) == 30).all()
