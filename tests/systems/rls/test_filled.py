"""When a number that was counted bin by bin has few records in its noise, and which of its records count."""

from types import SimpleNamespace

import numpy as np
import pytest

from dpsyn_core.schema.domain import CodedAttribute
from dpsyn_core.systems.rls.evidence import RlsEvidence


def column(size, special=2, number=True):
    return CodedAttribute(name="x", size=size, ordered=True, special=special, number=number)


@pytest.mark.parametrize(
    ("counts", "filled"),
    [
        ([10, 20, 30, 5, 0], 95),  # the special values are none
        ([50, 20, 30, 0, 0], 100),  # a half is no majority
        ([51, 20, 29, 0, 0], 49),  # most have one value
        ([60, 20, 10, 4, 6], 30),
        ([-3, -2, -1, 0, 0], 100),
    ],
)
def test_records_that_have_a_number_are_all_but_special_ones_and_those_of_one_value_of_most(counts, filled):
    assert RlsEvidence._filled(SimpleNamespace(total=100.0), column(5), np.array(counts, dtype=float)) == filled
    none = RlsEvidence._filled(SimpleNamespace(total=100.0), column(2), np.array([40.0, 60.0]))
    assert none == 0.0


@pytest.mark.parametrize(
    ("size", "number", "filled", "sigma", "few"),
    [
        (12, True, 39.0, 1.0, True), (12, True, 40.0, 1.0, False), (11, True, 39.0, 1.0, False),
        (12, False, 39.0, 1.0, False), (12, True, 49.0, 2.0, True),
        (12, True, 50.0, 2.0, False),  # of half of the records and more, half as much noise is asked for
        (12, True, 20.0, 4.9, True), (12, True, 20.0, 5.0, False),  # all records are lost in such noise
    ],
)  # fmt: skip
def test_few_records_of_a_number_are_those_below_so_many_deviations(size, number, filled, sigma, few):
    tuning = SimpleNamespace(resolution=SimpleNamespace(fine_from=10, few_blocks_below=40, blocks_below=20))
    made = SimpleNamespace(tuning=tuning, total=100.0, _filled=lambda a, v: filled)
    measured = SimpleNamespace(values=np.zeros(size), sigma=sigma)
    assert RlsEvidence._rarely_counted(made, column(size, number=number), measured) == few
