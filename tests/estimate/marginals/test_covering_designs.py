"""Covering designs against oracles O11 and O12 and their bounds."""

import itertools

import numpy as np
import pytest

from dpsyn_core.errors import SizeError
from dpsyn_core.estimate.marginals.covering_designs import (
    ORDERS,
    affine_plane,
    field_tables,
    greedy_cover,
    pair_error,
    plane_cover,
    projective_plane,
    schonheim,
    uncovered,
    views,
)
from dpsyn_core.schema.domain import Domain


def test_oracle_o11():
    assert [round(pair_error(k), 4) for k in (5, 6, 7, 8)] == [0.2828, 0.2667, 0.2694, 0.2857]
    assert [round(pair_error(k, 3), 4) for k in (8, 9, 10, 11)] == [0.0476, 0.0449, 0.0444, 0.0457]
    assert min(range(2, 20), key=pair_error) == 6
    assert min(range(3, 20), key=lambda k: pair_error(k, 3)) == 10


def test_oracle_o12_three_blocks_cover_all_pairs_of_twelve():
    example = [tuple(range(8)), (0, 1, 2, 3, 8, 9, 10, 11), tuple(range(4, 12))]
    assert uncovered(example, 12, 2) == 0
    assert uncovered(example[:2], 12, 2) == 16
    assert schonheim(12, 8, 2) == 3
    for design in (plane_cover(12, 8), greedy_cover([2] * 12, 2, 8, 256)):
        assert len(design) == 3
        assert uncovered(design, 12, 2) == 0
    meets = {frozenset(a) & frozenset(b) for a, b in itertools.combinations(plane_cover(12, 8), 2)}
    assert {len(m) for m in meets} == {4}
    assert set().union(*meets) == set(range(12))


def test_oracle_o12_the_plane_of_order_eight_covers_every_pair_of_64_exactly_once():
    lines = affine_plane(8)
    pairs = [p for line in lines for p in itertools.combinations(line, 2)]
    assert len(lines) == 72
    assert len(pairs) == len(set(pairs)) == 2016
    assert len(plane_cover(64, 8)) == 72 == schonheim(64, 8, 2)


@pytest.mark.parametrize("q", ORDERS)
def test_every_table_is_a_field(q):
    add, multiply = field_tables(q)
    x = np.arange(q)
    assert (add == add.T).all()
    assert (multiply == multiply.T).all()
    assert (add[0] == x).all()
    assert (multiply[1] == x).all()
    assert not multiply[0].any()
    for table, members in ((add, x), (multiply[1:, 1:], x[1:])):
        assert (np.sort(table, axis=1) == members).all()
    a, b, c = np.meshgrid(x, x, x, indexing="ij")
    assert (multiply[a, add[b, c]] == add[multiply[a, b], multiply[a, c]]).all()


@pytest.mark.parametrize("q", [1, 2, 3, 4, 5])
def test_two_points_of_a_projective_plane_share_exactly_one_line(q):
    lines = projective_plane(q)
    pairs = [p for line in lines for p in itertools.combinations(sorted(line), 2)]
    assert len(lines) == q * q + q + 1
    assert len(pairs) == len(set(pairs)) == len(lines) * (len(lines) - 1) // 2


@pytest.mark.parametrize(("v", "k", "t"), [(5, 3, 2), (9, 8, 2), (20, 8, 2), (32, 8, 2), (12, 6, 3), (4, 8, 3)])
def test_greedy_designs_cover_everything_within_their_block_size(v, k, t):
    design = greedy_cover([2] * v, t, k, 2**k)
    assert uncovered(design, v, t) == 0
    assert all(len(block) <= k for block in design)
    assert v <= t or len(design) >= schonheim(v, k, t)


@pytest.mark.parametrize("v", [9, 13, 25, 32, 49, 60, 64])
def test_planes_cover_everything_within_their_block_size(v):
    design = plane_cover(v, 8)
    assert uncovered(design, v, 2) == 0
    assert all(len(block) <= 8 for block in design)


def test_a_plane_is_used_where_it_needs_fewer_views():
    domain = Domain.of({f"a{i}": 2 for i in range(64)})
    assert len(views(domain, t=2, k=8, max_cells=256)) == 72
    assert plane_cover(1000, 8) is None


def test_categorical_views_stay_under_the_cell_cap_unless_a_pair_alone_is_above_it():
    sizes = {f"a{i}": s for i, s in enumerate([2, 3, 50, 40, 2, 5, 4, 2])}
    domain = Domain.of(sizes)
    found = views(domain, t=2, k=8, max_cells=256)
    covered = {p for v in found for p in itertools.combinations(v, 2)}
    assert covered == set(domain.subsets(2))
    assert [v for v in found if domain.cells(v) > 256] == [("a2", "a3")]


@pytest.mark.parametrize("v", [0, 1, 2])
def test_hardly_any_attributes_need_one_view_at_most(v):
    domain = Domain.of({f"a{i}": 3 for i in range(v)})
    assert views(domain, t=2, k=8, max_cells=256) == ([domain.names] if v else [])


def test_too_many_triples_are_refused_with_a_remedy():
    with pytest.raises(SizeError, match="'privsyn'"):
        greedy_cover([2] * 300, 3, 8, 256)
