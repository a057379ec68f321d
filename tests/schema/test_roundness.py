"""How round the numbers of bins are, and how long the bins, follows from public boundaries."""

import numpy as np

from dpsyn_core.schema.binning import ROUNDEST, roundness
from dpsyn_core.schema.document import Schema


def levels(**declared):
    attribute = {"name": "x", "kind": "numeric", **declared}
    schema = Schema.of({"version": 1, "name": "t", "attributes": [attribute]})
    (coded,) = schema.domain().attributes
    return np.frombuffer(coded.round, dtype=np.uint8), schema["x"].middles()


def test_tens_are_rounder_than_fives_and_these_than_others():
    found, value = levels(min=1, max=99, dtype="integer")
    of = dict(zip(value.tolist(), found.tolist(), strict=True))
    assert of[40] == of[90] > of[45] > of[44] == of[41]
    assert ROUNDEST not in found


def test_zero_is_roundest_wherever_it_lies():
    for low, high in ((0, 60), (-20, 40), (-50, 0)):
        found, value = levels(min=low, max=high, step=0.1)
        assert np.flatnonzero(found == ROUNDEST).tolist() == [int(np.abs(value).argmin())]


def test_a_bin_is_as_round_as_the_roundest_number_in_it():
    found = np.frombuffer(roundness(np.array([1, 7, 13, 95]), np.array([7, 13, 95, 102])), dtype=np.uint8)
    assert found[3] > found[2] > found[1] > found[0]  # 100, 50, 10, 5


def test_missing_and_special_cells_are_not_round():
    found, value = levels(min=0, max=9, dtype="integer", missing=True, special_values=[99])
    assert len(found) == 10 and len(value) == 12


def lengths(**declared):
    schema = Schema.of({"version": 1, "name": "t", "attributes": [{"name": "x", "kind": "numeric", **declared}]})
    (coded,) = schema.domain().attributes
    return np.frombuffer(coded.lengths), schema["x"].middles()


def test_equal_bins_have_no_lengths():
    for declared in ({"min": 1, "max": 99, "dtype": "integer"}, {"min": 0, "max": 1000, "bins": {"count": 7}}):
        assert not len(lengths(**declared)[0])


def test_bins_that_grow_with_their_numbers_are_about_equally_long_where_these_are_large():
    found, value = lengths(min=0, max=100_000, dtype="integer", missing=True)
    value = value[:-1]
    assert len(found) == len(value) and found.min() > 0
    of_tens, of_hundreds = (found[(value > low) & (value < 1.1 * low)].sum() for low in (500, 5_000))
    assert abs(of_tens / of_hundreds - 1) < 0.1  # as far on the scale, though the bins are ten times as long
