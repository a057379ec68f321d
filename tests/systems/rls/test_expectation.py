"""What two fits expect of further tables: the mean of their counts, and an error that is their distance."""

import math

import numpy as np
import pytest

from dpsyn_core.measure import Margins
from dpsyn_core.schema.domain import CodedAttribute, Domain
from dpsyn_core.systems.rls.expectation import Expectation

SIZES = {"a": 2, "b": 3, "c": 4}
DOMAIN = Domain(tuple(CodedAttribute(name=n, size=s) for n, s in SIZES.items()))


def records(n, seed):
    rng = np.random.default_rng(seed)
    return np.stack([rng.integers(0, s, n) for s in SIZES.values()]).astype(np.uint8)


def expected(first, second, total):
    margins = Margins(DOMAIN, DOMAIN.subsets(2), {})
    found = Expectation(
        tables=[], fit_error=np.zeros(0), sampling_error=np.zeros(0), domain=DOMAIN, records=(first, second)
    )
    return margins, *found.of_margins(margins, total)


def count(codes, names):
    at = [DOMAIN.index(n) for n in names]
    out = np.zeros([SIZES[n] for n in names])
    np.add.at(out, tuple(codes[i] for i in at), 1)
    return out


@pytest.mark.parametrize("total", [50.0, 200.0, 1000.0])
def test_counts_are_the_mean_of_both_fits_and_the_error_is_their_distance(total):
    first, second = records(200, 1), records(200, 2)
    margins, tables, error = expected(first, second, total)
    for names, table in zip(margins.tables, tables, strict=True):
        assert table == pytest.approx((count(first, names) + count(second, names)) / 2 * total / 200)
    apart = [np.abs(count(first, s) - count(second, s)).sum() for s in margins.sets]
    assert error == pytest.approx(np.array(apart) * total / 200 * math.sqrt(0.75)) and min(apart) > 0


def test_fits_with_the_same_records_have_no_error():
    same = records(100, 3)
    _, tables, error = expected(same, same, 300.0)
    assert not error.any() and tables[0].sum() == pytest.approx(300)
