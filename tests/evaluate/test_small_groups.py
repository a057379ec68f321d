"""How far each group of a column is off, by a plain loop over its records; and which groups are shown."""

import math

import numpy as np
import pytest

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate.comparison import Comparison
from dpsyn_core.evaluate.relations import groups
from dpsyn_core.evaluate.small_groups import FEWEST, MOST, group_errors
from dpsyn_core.schema.domain import CodedAttribute, Domain
from tests.evaluate.tables import small


def test_a_group_is_off_by_the_mean_distance_of_the_other_columns_within_it():
    c = small(n=900, m=700)
    found = {g.value: g for g in group_errors(c, "city")}
    real, made, _ = groups(c, None, None)
    i, words = c.domain.index("city"), c.words("city")
    for code, word in enumerate(words):
        of_real, of_made = (rows[:, codes[i] == code] for rows, codes in ((real, c.truth), (made, c.synthetic)))
        n, m = of_real.shape[1], of_made.shape[1]
        error, floor = [], []
        for j in range(len(c.domain)):
            if j == i:
                continue
            shares = [[(rows[j] == v).mean() for v in range(int(max(real.max(), made.max())) + 1)]
                      for rows in (of_real, of_made)]  # fmt: skip
            error.append(sum(abs(p - q) for p, q in zip(*shares, strict=True)) / 2)
            fresh = n * c.m / c.n
            floor.append(min(1, sum(math.sqrt(2 / math.pi * p * (1 - p) / fresh) for p in shares[0]) / 2))
        g = found[word]
        assert (g.error, g.floor) == (pytest.approx(np.mean(error)), pytest.approx(np.mean(floor)))
        assert (g.real, g.synthetic) == (n, pytest.approx(m * 900 / 700))
    assert [g.real for g in found.values()] == sorted((g.real for g in found.values()), reverse=True)
    assert group_errors(c, "city") is group_errors(c, "city"), "once a comparison"
    assert "GroupError" not in repr(c), "what was computed of private records is not shown with the tables"


def compared(counts, lost=()):
    """Groups of so many records, with another column of two values; some are lacking in the synthetic table."""
    domain = Domain((CodedAttribute(name="g", size=len(counts)), CodedAttribute(name="x", size=2)))
    g = np.repeat(np.arange(len(counts)), counts)
    real = np.stack([g, np.arange(len(g)) % 2]).astype(np.uint16)
    return Comparison(domain=domain, real=real, synthetic=real[:, ~np.isin(g, lost)])


def test_groups_of_five_records_are_shown_and_smaller_ones_are_not():
    found = group_errors(compared([FEWEST, FEWEST - 1, 40, 9], lost=[3]), "g")
    assert FEWEST == 5 and [g.real for g in found] == [40, 9, 5]
    assert [g.error for g in found] == [pytest.approx(0.0), 1.0, pytest.approx(0.0)] and found[1].synthetic == 0
    with pytest.raises(MetricError, match="no group of 'g' has 5 records"):
        group_errors(compared([4, 3]), "g")


@pytest.mark.parametrize("count", [MOST, MOST + 1, MOST + 50])
def test_of_more_than_two_hundred_groups_the_largest_and_the_smallest_are_shown(count):
    sizes = [5 + k for k in range(count)]
    found = [g.real for g in group_errors(compared(sizes), "g")]
    whole = sizes[::-1]
    assert MOST == 200 and found == (whole if count == 200 else whole[:100] + whole[-100:])
