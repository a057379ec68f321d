import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.binning import RealBins, WholeBins

FAST = settings(max_examples=60, deadline=None)
RNG = np.random.default_rng


def test_equal_whole_bins_differ_in_width_by_at_most_one():
    bins = WholeBins.equal(14, 87, 10)  # 74 ages in 10 bins
    first, last = bins.bounds()
    widths = last - first + 1
    assert bins.size == 10 and widths.sum() == 74 and set(widths.tolist()) == {7, 8}
    assert (first[0], last[-1]) == (14, 87)


def test_as_many_bins_as_whole_numbers_give_one_number_a_bin():
    for count in (5, 6, 1000):
        bins = WholeBins.equal(-2, 2, count)
        assert bins.single and bins.size == 5
        assert bins.find(np.arange(-2, 3)).tolist() == [0, 1, 2, 3, 4]
        assert bins.draw(np.arange(5), RNG(0)).tolist() == [-2, -1, 0, 1, 2]


def test_values_outside_the_range_fall_into_the_end_bins():
    assert WholeBins.equal(0, 9, 5).find(np.array([-(2**62), -1, 10, 2**62])).tolist() == [0, 0, 4, 4]
    assert WholeBins.equal(0, 9, 10).find(np.array([-(2**62), -1, 10, 2**62])).tolist() == [0, 0, 9, 9]
    assert RealBins.equal(0, 1, 4).find(np.array([-np.inf, -1e-9, 1.0, 1.1, np.inf])).tolist() == [0, 0, 3, 3, 3]


def test_edges_open_on_the_right_except_the_last():
    whole = WholeBins.edged(0, 20, [0, 10, 20])
    assert whole.find(np.array([0, 9, 10, 20])).tolist() == [0, 0, 1, 1]
    assert WholeBins.edged(0, 20, [10]).find(np.array([0, 9, 10, 20])).tolist() == [0, 0, 1, 1]
    real = RealBins.edged(0, 2, [0.5, 1])
    assert real.find(np.array([0, 0.4999, 0.5, 1.0, 2.0])).tolist() == [0, 0, 1, 2, 2]


def test_fractional_edges_of_whole_numbers_start_at_the_next_whole_number():
    assert WholeBins.edged(0, 10, [2.5]).starts.tolist() == [0, 3]


def test_a_bin_without_a_whole_number_is_refused():
    with pytest.raises(SchemaError, match="no whole number"):
        WholeBins.edged(0, 10, [2.2, 2.8])


def test_bins_narrower_than_the_numbers_precision_are_refused():
    with pytest.raises(SchemaError, match="fewer bins"):
        RealBins.equal(1.0, 1.0 + 1e-15, 100)


def test_huge_whole_ranges_are_cut_exactly():
    bins = WholeBins.equal(-(2**61), 2**61, 7)
    first, last = bins.bounds()
    assert (first[1:] == last[:-1] + 1).all() and int(last[-1]) == 2**61
    assert int((last - first).max() - (last - first).min()) <= 1


@FAST
@given(st.integers(-(10**6), 10**6), st.integers(0, 10**5), st.integers(1, 500), st.integers(0, 2**32))
def test_whole_draws_come_from_their_own_bin(low, span, count, seed):
    bins = WholeBins.equal(low, low + span, count)
    codes = RNG(seed).integers(0, bins.size, 200)
    drawn = bins.draw(codes, RNG(seed))
    assert (bins.find(drawn) == codes).all()
    assert drawn.min() >= low and drawn.max() <= low + span


@FAST
@given(
    st.floats(-1e12, 1e12), st.floats(1e-6, 1e12), st.integers(1, 50), st.integers(0, 2**32),
    st.none() | st.integers(0, 15),
)  # fmt: skip
def test_real_draws_come_from_their_own_bin(low, span, count, seed, decimals):
    try:
        bins = RealBins.equal(low, low + span, count, decimals)
    except SchemaError:
        return
    codes = RNG(seed).integers(0, bins.size, 200)
    assert (bins.find(bins.draw(codes, RNG(seed))) == codes).all()


def test_whole_draws_are_uniform_over_the_bin():
    bins = WholeBins.equal(0, 29, 3)
    drawn = bins.draw(np.full(40_000, 1), RNG(1))
    counts = np.bincount(drawn - 10, minlength=10)
    # chi-square with 9 degrees of freedom exceeds 33.7 once in 10,000
    assert ((counts - 4000) ** 2 / 4000).sum() < 33.7


def test_real_draws_are_no_table_of_midpoints():
    bins = RealBins.equal(0.0, 100.0, 4)
    drawn = bins.draw(np.full(10_000, 2), RNG(2))
    assert len(np.unique(drawn)) > 5000
    assert abs(drawn.mean() - 62.5) < 4 * 25 / np.sqrt(12 * 10_000)  # four standard errors
    assert drawn.min() < 50.1 and drawn.max() > 74.9


def test_declared_decimals_are_kept():
    bins = RealBins.equal(0.0, 10.0, 3, decimals=2)
    drawn = bins.draw(RNG(0).integers(0, 3, 1000), RNG(0))
    assert np.allclose(drawn * 100, np.rint(drawn * 100), atol=1e-9)


def test_a_range_of_one_point_has_one_bin():
    assert WholeBins.equal(3, 3, 1).draw(np.zeros(4, dtype=int), RNG(0)).tolist() == [3] * 4
    assert RealBins.equal(0.5, 0.5, 1).draw(np.zeros(4, dtype=int), RNG(0)).tolist() == [0.5] * 4
