"""Which columns rules compare, and lists of whole numbers that become ranges for them."""

import pytest

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.rules.comparable import check_comparable, check_number, with_ranges
from tests.schema.helpers import cat, date, num, schema

SPAN = ("2020-01-01", "2021-01-01")


def columns(*attributes):
    found = schema(*attributes)
    return [found[a["name"]] for a in attributes]


@pytest.mark.parametrize(
    ("values", "ranged"),
    [
        ([3, 1, 2], (1, 3)),
        ([7], (7, 7)),
        ([1, 2, 4], None),
        (["a", "b"], None),
        ([True, False], None),
        ([1, "2"], None),
    ],
)
def test_whole_numbers_without_gaps_that_a_rule_computes_with_are_a_range(values, ranged):
    listed = {"name": "x", "kind": "categorical", "values": values, "ordered": True, "missing": True}
    other = {"name": "y", "kind": "categorical", "values": [1, 2]}
    document = {"attributes": [listed, other], "rules": [{"kind": "sum", "column": "z", "parts": ["x", "z"]}]}
    first, second = with_ranges(document)["attributes"]
    assert second == other
    if ranged is None:
        assert first == listed
    else:
        low, high = ranged
        assert first == {
            "name": "x", "kind": "numeric", "dtype": "integer", "min": low, "max": high, "missing": True
        }  # fmt: skip


def test_lists_stay_where_rules_do_not_compute_with_them_or_other_values_may_come():
    listed = {"name": "x", "kind": "categorical", "values": [1, 2, 3]}
    for more, kind in (({}, "impossible"), ({"other": True}, "order")):
        document = {"attributes": [listed | more], "rules": [{"kind": kind, "lower": "x", "upper": "y"}]}
        assert with_ranges(document)["attributes"] == [listed | more]


def test_numbers_are_compared_with_numbers_and_days_with_days():
    x, y, d, e, c = columns(num("x", 0, 9, 9), num("y", 0, 9, 9), date("d", *SPAN, "day"), date("e", *SPAN, "day"),
                            cat("c", ["a"]))  # fmt: skip
    check_comparable(x, y)
    check_comparable(d, e)
    check_number(x)
    for first, second in ((x, d), (d, x)):
        with pytest.raises(SchemaError, match="cannot be compared"):
            check_comparable(first, second)
    for first, second in ((x, c), (c, x)):
        with pytest.raises(SchemaError, match="'c' is categorical"):
            check_comparable(first, second)
    for wrong in (c, d):
        with pytest.raises(SchemaError, match="holds no numbers"):
            check_number(wrong)
