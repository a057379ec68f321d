"""Weights of an urn are whole and below 2^61."""

import pytest

from dpsyn_core.errors import BudgetError
from dpsyn_core.measure.sparse import urn_unit


def test_a_record_is_divided_as_finely_as_whole_weights_below_the_limit_allow():
    assert urn_unit(2.0**60 - 2.0**40, 1.0, 0) == 1
    assert urn_unit(2.0**59 - 2.0**40, 1.0, 0) == 2
    with pytest.raises(BudgetError, match="above 2\\^61"):
        urn_unit(2.0**61 - 2.0**40, 1.0, 0)
