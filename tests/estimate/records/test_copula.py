"""Scores inside cells follow the copula, lie in their cells, and only reorder the values of a cell."""

import numpy as np
import pytest
from scipy.stats import norm, spearmanr

from dpsyn_core.estimate.records.copula import hand_out, mean_scores, normal_scores, scores_in_bins
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.domain import CodedAttribute, Domain


def drawn(rho, n, bins, seed=0):
    rng = np.random.default_rng(seed)
    z = rng.multivariate_normal([0, 0], [[1, rho], [rho, 1]], n)
    return z, np.minimum((norm.cdf(z) * bins).astype(np.int64), bins - 1)


def test_scores_lie_in_their_cells_and_follow_the_correlation():
    rho, bins, n = 0.95, 4, 70_000  # more records than one part holds
    _, codes = drawn(rho, n, bins)
    counts = [np.bincount(codes[:, j], minlength=bins).astype(float) for j in (0, 1)]
    matrix = np.array([[1, rho], [rho, 1]])
    scores = np.empty((2, n))
    for part, got in normal_scores([codes[:, 0], codes[:, 1]], counts, matrix, rng=np.random.default_rng(1)):
        scores[:, part] = got
    for j in (0, 1):
        edges = norm.ppf(np.concatenate([[0], np.cumsum(counts[j]) / n]))
        assert (scores[j] >= edges[codes[:, j]] - 1e-6).all()
        assert (scores[j] <= edges[codes[:, j] + 1] + 1e-6).all()
    assert np.corrcoef(scores)[0, 1] == pytest.approx(rho, abs=0.01)


def test_the_same_seed_gives_the_same_scores():
    _, codes = drawn(0.9, 5000, 5)
    domain = Domain(tuple(CodedAttribute(name=n, size=5, ordered=True, number=True) for n in "ab"))
    first, again = (scores_in_bins(codes.T.astype(np.uint8), domain, rng=np.random.default_rng(3)) for _ in range(2))
    assert set(first) == {"a", "b"}
    assert all(np.array_equal(first[k], again[k]) for k in first)


def test_categories_and_independent_numbers_are_left_to_chance():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 5, (2, 4000)).astype(np.uint8)
    numbers = Domain(tuple(CodedAttribute(name=n, size=5, ordered=True, number=True) for n in "ab"))
    assert scores_in_bins(codes, numbers, rng=rng) == {}
    both = np.stack([codes[0], codes[0]])
    listed = Domain(tuple(CodedAttribute(name=n, size=5, ordered=True) for n in "ab"))
    assert scores_in_bins(both, listed, rng=rng) == {}
    assert scores_in_bins(codes[:, :0], numbers, rng=rng) == {}


def test_fine_bins_need_no_scores():
    _, codes = drawn(0.9, 20_000, 200)
    domain = Domain(tuple(CodedAttribute(name=n, size=200, ordered=True, number=True) for n in "ab"))
    assert scores_in_bins(codes.T.astype(np.uint8), domain, rng=np.random.default_rng(0)) == {}


def test_values_inside_coarse_bins_follow_their_neighbours_when_decoded():
    z, _ = drawn(0.95, 8000, 5)
    columns = {n: np.clip(z[:, j], -4, 4) for j, n in enumerate("ab")}
    entries = [{"name": n, "kind": "numeric", "min": -4, "max": 4, "bins": {"count": 5}} for n in "ab"]
    codec = Codec(Schema.of({"version": 1, "name": "t", "attributes": entries}))
    import pyarrow as pa

    codes = codec.encode(pa.table(columns)).codes
    scores = scores_in_bins(codes, codec.domain, rng=np.random.default_rng(1))
    by_chance = codec.decode(codes, rng=np.random.default_rng(2))
    placed = codec.decode(codes, rng=np.random.default_rng(2), scores=scores)
    real, chance, better = (spearmanr(t["a"], t["b"]).statistic for t in (columns, by_chance, placed))
    assert abs(better - real) < abs(chance - real) / 2
    for n in "ab":  # the same values, handed out in another order, each in the bin that its record's code says
        assert sorted(placed[n].to_pylist()) == sorted(by_chance[n].to_pylist())
    assert np.array_equal(codec.encode(placed).codes, codes)


def test_mean_scores_are_those_of_the_normal_law():
    assert mean_scores(np.array([0.5, 0.0, 0.5])) == pytest.approx([-np.sqrt(2 / np.pi), 0, np.sqrt(2 / np.pi)])


def test_handing_out_keeps_the_values_of_every_cell():
    values, cell = np.array([5, 1, 3, 9, 7]), np.array([0, 0, 0, 1, 1])
    hand_out(values, cell, np.array([0.1, 0.9, 0.5, 2.0, 1.0]))
    assert values.tolist() == [1, 5, 3, 9, 7]


def test_a_number_that_shows_only_beside_another_one_takes_part():
    """The height follows the width nearly, and what is left of it follows the depth: a correlation of .1 in all."""
    rng = np.random.default_rng(4)
    width, depth = rng.normal(size=(2, 20_000))
    height = width + 0.1 * depth
    columns = [(width, 0.02), (depth, 0.02), (height, 0.3)]
    codes = np.stack([np.clip((c + 6) / step, 0, 12 / step - 1).astype(np.int32) for c, step in columns])
    attributes = [
        CodedAttribute(name=n, size=round(12 / step), ordered=True, number=True)
        for n, (_, step) in zip(("width", "depth", "height"), columns, strict=True)
    ]
    scores = scores_in_bins(codes, Domain(attributes=tuple(attributes)), rng=rng)
    wanted = np.corrcoef(depth, height)[0, 1]
    assert list(scores) == ["height"]
    assert np.corrcoef(depth, scores["height"])[0, 1] == pytest.approx(wanted, abs=0.015)
