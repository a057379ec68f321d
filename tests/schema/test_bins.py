"""Bins, their middles, their draws and how round they are, against whole enumeration and exact fractions."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema import binning
from dpsyn_core.schema.binning import RealBins, WholeBins, lengths, roundness

WHOLE = [
    WholeBins.equal(3, 29, 6), WholeBins.equal(-7, 30, 5, step=4), WholeBins.edged(-5, 40, [0, 2, 7.5, 12, 40], step=5),
    WholeBins(np.array([0, 4, 10]), 15, only=np.array([0, 3, 4, 11, 12, 15])), WholeBins.equal(4, 9, 6),
    WholeBins.edged(0, 9, [1, 2, 3], step=3),
]  # fmt: skip


def members(bins):
    """The integers of each bin, and those of them that can be drawn."""
    ends = [*bins.starts[1:].tolist(), bins.last + 1]
    every = [list(range(a, b)) for a, b in zip(bins.starts.tolist(), ends, strict=True)]
    only = None if bins.only is None else set(bins.only.tolist())
    return every, [[x for x in b if (x in only if only else x % bins.step == 0)] for b in every]


@pytest.mark.parametrize("bins", WHOLE)
def test_whole_bins_hold_draw_and_average_their_integers(bins):
    every, drawable = members(bins)
    assert bins.size == len(every)
    assert bins.single == all(len(b) == 1 for b in every)
    for i, held in enumerate(every):
        assert bins.find(np.array(held)).tolist() == [i] * len(held)
    assert bins.find(np.array([bins.starts[0] - 5, bins.last + 5])).tolist() == [0, bins.size - 1]
    assert [list(x) for x in zip(*(e.tolist() for e in bins.bounds()), strict=True)] == [[b[0], b[-1]] for b in every]
    means = [np.mean(d or b) for d, b in zip(drawable, every, strict=True)]
    assert bins.middles().tolist() == pytest.approx(means)
    assert bins.alone().tolist() == [len(d) == 1 for d in drawable]
    which = np.repeat(np.arange(bins.size), 400)
    drawn = bins.draw(which, np.random.default_rng(1))
    for i, (d, b) in enumerate(zip(drawable, every, strict=True)):
        assert set(drawn[which == i].tolist()) == set(d or b[:1])


@pytest.mark.parametrize(("low", "high", "count"), [(0, 9, 3), (-4, 6, 4), (5, 5, 9), (1, 3, 3), (-(2**61), 2**61, 7)])
def test_equal_whole_bins_begin_at_even_shares(low, high, count):
    n = high - low + 1
    k = min(count, n)
    bins = WholeBins.equal(low, high, count)
    assert bins.starts.tolist() == [low + i * n // k for i in range(k)] and bins.last == high and bins.step == 1


@pytest.mark.parametrize(("edges", "starts"), [
    ([0, 5, 10], [0, 5]), ([5, 10], [0, 5]), ([10], [0]), ([], [0]), ([0, 10], [0]), ([-3, 4, 12], [0, 4]),
    ([9, 10], [0, 9]), ([0.5, 9.5], [0, 1, 10]),
])  # fmt: skip
def test_edges_of_whole_bins_open_at_the_next_integer_and_close_at_the_maximum(edges, starts):
    assert WholeBins.edged(0, 10, edges).starts.tolist() == starts


def test_ranges_and_numbers_of_bins_have_limits():
    end = 2**62
    assert WholeBins.equal(-end, end, 2).size == 2
    for low, high in ((-end - 1, 0), (0, end + 1)):
        with pytest.raises(SchemaError, match=r"goes beyond 2\^62"):
            WholeBins.equal(low, high, 2)
    for kind, high in ((WholeBins, 10**8), (RealBins, 1e8)):
        with pytest.raises(SchemaError, match="10000001 bins are above the cap of 10000000"):
            kind.equal(0, high, 10_000_001)
    with pytest.raises(SchemaError, match="holds no whole number"):
        WholeBins.edged(0, 9, [2.2, 2.6])
    with pytest.raises(SchemaError, match="narrower than the numbers' precision"):
        RealBins.equal(1.0, 1.0 + 2**-52, 2)
    assert RealBins.equal(3.0, 3.0, 1).size == 1


def test_fine_bins_begin_where_they_are_told():
    starts = [Fraction(0), Fraction(1, 2), Fraction(3, 2), Fraction(3)]
    assert WholeBins.fine(0, 9, starts).starts.tolist() == [0, 1, 2, 3]
    assert RealBins.fine(0.0, 4.0, starts, None).edges.tolist() == [0, 0.5, 1.5, 3, 4]
    half = Fraction(1, 2)
    assert RealBins.fine(0.0, 3.0, starts, half).edges.tolist() == [0, 0.5, 1.5, 3, 3.25]
    assert RealBins.fine(0.0, 3.0, starts, None).edges.tolist() == [0, 0.5, 1.5, 3]
    assert RealBins.fine(0.0, 4.0, starts, half).edges.tolist() == [0, 0.5, 1.5, 3, 4]
    assert RealBins.fine(0.5 - 1e-8, 4.0, starts, half).edges.tolist() == [0.5 - 1e-8, 1.5, 3, 4]
    assert RealBins.fine(3.0, 3.0, [Fraction(3)], half).edges.tolist() == [3, 3]


REAL = [
    RealBins.equal(0, 1, 4, decimals=1), RealBins.edged(-1, 2, [-1, 0.05, 0.35, 2.5], step=Fraction(1, 10)),
    RealBins.equal(0, 3, 3, decimals=0), RealBins.edged(0, 1, [0.31, 0.39, 0.5], step=Fraction(1, 5)),
]  # fmt: skip


@pytest.mark.parametrize("bins", REAL)
def test_real_bins_hold_and_draw_the_multiples_of_their_grid(bins):
    grid = bins.step or Fraction(1, 10**bins.decimals)
    edges = [Fraction(str(e)) for e in bins.edges.tolist()]
    nudge = Fraction(1, 10**6) * bins.step if bins.step else 0
    multiples = [k * grid for k in range(math.ceil(edges[0] / grid), math.floor(edges[-1] / grid) + 1)]
    held = [[m for m in multiples if a <= m < b] for a, b in pairwise(edges)]
    held[-1] += [m for m in multiples if m == edges[-1]]
    assert bins._points()[1].tolist() == [len(h) for h in held]
    if bins.step:
        means = [sum(h) / len(h) if h else (a + b) / 2 for h, a, b in zip(held, edges[:-1], edges[1:], strict=True)]
        assert bins.alone().tolist() == [len(h) == 1 for h in held]
    else:
        means = [(a + b) / 2 for a, b in pairwise(edges)]
        assert not bins.alone().any()
    assert bins.middles().tolist() == pytest.approx([float(m) for m in means])
    which = np.repeat(np.arange(bins.size), 400)
    drawn = bins.draw(which, np.random.default_rng(1))
    for i, h in enumerate(held):
        found = set(drawn[which == i].tolist())
        assert found == ({m.numerator / m.denominator for m in h} if h else {bins.edges[i]}) or not h
        assert set(bins.find(np.array(sorted(found))).tolist()) == {i}
    for i, e in enumerate(edges[1:-1]):
        near = [float(e - 2 * nudge) - (0 if nudge else 1e-9), float(e - nudge / 2), float(e)]
        assert bins.find(np.array(near)).tolist() == [i, i + 1, i + 1]
    assert bins.find(np.array([-99.0, 99.0])).tolist() == [0, bins.size - 1]


@pytest.mark.parametrize(("edges", "digits"), [
    ([0, 1, 2], 4), ([0, 0.1, 2], 5), ([0, 0.05, 2], 6), ([0, 2e6], 0), ([0, 5e3], 1), ([1e12, 1e12 + 1], 2),
    ([0, 0], 0), ([0, 1e-320], 300), ([1e15, 1e15 + 1], 0), ([-1e13, 0.001], 0), ([-20, -10], 3),
])  # fmt: skip
def test_drawn_numbers_have_ten_thousand_steps_in_the_narrowest_bin_and_fifteen_digits(edges, digits):
    assert RealBins(np.array(edges, dtype=float)).grid_digits() == digits
    assert RealBins(np.array(edges, dtype=float), 2).grid_digits() == 2


def round_by_definition(low, end):
    width = Fraction(end[-1]) - Fraction(low[0])
    power = math.floor(math.log10(width))
    units = [Fraction(10) ** (power - k // 2) / (2 if k % 2 else 1) for k in range(8)]
    out = []
    for a, b in zip(low, end, strict=True):
        level = next((8 - k for k, u in enumerate(units) if math.ceil(Fraction(a) / u) * u < b), 0)
        out.append(255 if a <= 0 < b else level)
    return bytes(out)


@pytest.mark.parametrize(("low", "end"), [
    (range(100), range(1, 101)), (range(-30, 1200, 7), range(-23, 1207, 7)), (range(1, 10), range(2, 11)),
    ([Fraction(k, 8) for k in range(1, 90)], [Fraction(k + 1, 8) for k in range(1, 90)]), ([5], [6]),
])  # fmt: skip
def test_round_are_the_multiples_of_powers_of_ten_and_of_their_halves(low, end):
    found = roundness(np.array([float(x) for x in low]), np.array([float(x) for x in end]))
    assert found == round_by_definition(list(low), list(end))


def test_nothing_is_round_without_a_width_and_all_is_alike_far_below_it():
    assert roundness(np.array([3.0]), np.array([3.0])) == b"\0"
    assert roundness(np.array([0.0]), np.array([np.inf])) == b"\0"
    far = roundness(np.array([0.0, 1e6 + 1]), np.array([1e6, 1e6 + 2]))
    assert far[1] == 0 and binning.LEVELS == 8


@pytest.mark.parametrize(("edges", "even"), [
    ([0, 1, 2, 3], True), ([0, 1, 3, 4], True), ([0, 1, 3.01, 4], False), ([0, 2, 4, 4.5], True), ([0, 1], True),
    ([0, 0, 3], True), ([-10, -9, 0, 5, 100], False),
])  # fmt: skip
def test_lengths_are_told_where_a_bin_is_more_than_twice_as_long_as_the_shortest(edges, even):
    low, end = np.array(edges[:-1], float), np.array(edges[1:], float)
    found = np.frombuffer(lengths(low, end))
    if even:
        assert not len(found)
    else:
        shortest = min(end[:-1] - low[:-1])
        assert found.tolist() == pytest.approx(
            [math.asinh(b / shortest) - math.asinh(a / shortest) for a, b in zip(low, end, strict=True)]
        )
