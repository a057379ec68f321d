"""Rules of links on columns of children: orders with a distance, and how many children meet conditions."""

import numpy as np
import pytest

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.rules.columns import BLANK, PLAIN, RuleColumn
from dpsyn_core.schema.rules.linked_rules import Counted, CountRule, LinkOrderRule, listed_codes
from tests.schema.helpers import cat, num, schema

SHAPE = schema(num("x", 0, 9, 10), num("y", 0, 9, 10), cat("role", ["Head", "Child"]))


def group(x, y, role=None, blank=()):
    out = {
        n: RuleColumn(SHAPE[n], np.array(v), np.full(len(v), PLAIN, dtype=np.uint8)) for n, v in (("x", x), ("y", y))
    }
    out["role"] = RuleColumn.of_codes(np.array(role or [1] * len(x)), SHAPE["role"])
    for i in blank:
        out["x"].state[i] = BLANK
    return out


@pytest.mark.parametrize("apart", [0, 2])
@pytest.mark.parametrize("strict", [False, True])
def test_an_order_with_a_distance_is_broken_below_it_alone(apart, strict):
    rule = LinkOrderRule(lower="x", upper="y", apart=apart, strict=strict)
    x, y = np.divmod(np.arange(100), 10)
    wrong = x + apart >= y if strict else x + apart > y
    assert rule.broken(group(x, y)).tolist() == wrong.tolist()
    assert rule.gap((0.5, 1.0)) == apart + strict * 1.0


def test_an_order_says_nothing_of_blank_numbers_and_of_children_outside_its_conditions():
    rule = LinkOrderRule(lower="x", upper="y", where="role = Child")
    assert rule.broken(group([5, 5, 5], [1, 1, 1], [1, 0, 1], blank=[2])).tolist() == [True, False, False]
    assert rule.columns == ("x", "y", "role") and rule.movable == ("x", "y")


@pytest.mark.parametrize(("apart", "strict", "fits"), [(9, False, True), (9, True, False), (10, False, False)])
def test_an_order_that_no_values_meet_is_refused_at_the_very_end(apart, strict, fits):
    rule = LinkOrderRule(lower="x", upper="y", apart=apart, strict=strict)
    if fits:
        rule.check(SHAPE)
    else:
        with pytest.raises(SchemaError, match="no values can meet it"):
            rule.check(SHAPE)


class Children:
    """Six children of four parents."""

    parent = np.array([0, 0, 1, 1, 1, 3])
    n_parents = 4
    own = group([1, 5, 5, 6, 2, 7], [0] * 6, [0, 1, 0, 0, 1, 1])

    def columns(self, names):
        return {n: self.own[n] for n in names}

    def per_parent(self, found):
        return np.bincount(self.parent[found], minlength=4)


@pytest.mark.parametrize(
    ("rule", "amiss"),
    [
        (CountRule(where="role = Head", least=1, most=1), [0, 1, 1, 1]),
        (CountRule(where="x >= 5", least=2), [1, 0, 2, 1]),
        (CountRule(where="x >= 5", most=1), [0, 1, 0, 0]),
        (CountRule(where="role = Head", least=2, given="role = Child"), [1, 0, 0, 2]),
    ],
)
def test_how_many_children_a_parent_has_too_many_or_too_few(rule, amiss):
    counted = rule.counted(Children())
    assert counted.amiss.tolist() == amiss
    assert rule.broken_parents(Children()).tolist() == [n > 0 for n in amiss]


def test_the_ends_of_a_count_are_allowed():
    ends = {"met": np.ones(3, dtype=bool), "least": np.full(3, 1), "most": np.full(3, 2)}
    assert Counted(number=np.array([1, 2, 2]), **ends).broken.tolist() == [False] * 3
    assert Counted(number=np.array([0, 3, 5]), **ends).amiss.tolist() == [1, 1, 3]


def test_a_count_says_something_and_its_least_is_not_above_its_most():
    for wrong in ({}, {"least": 2, "most": 1}):
        with pytest.raises(ValueError, match=r"declare one of them|make most larger"):
            CountRule(where="x >= 5", **wrong)
    assert str(CountRule(where="x >= 5", least=2, most=2)) == "exactly 2 with x >= 5"
    assert str(CountRule(where="x >= 5", least=1, most=2, given="y = 1")) == "1 to 2 with x >= 5, where one has y = 1"


def test_codes_that_meet_conditions_on_one_category_are_listed_and_none_of_two_columns():
    assert listed_codes("role = Head", "role", SHAPE["role"]).tolist() == [True, False]
    assert listed_codes("role = Head and x >= 5", "role", SHAPE["role"]) is None
    assert listed_codes(None, "role", SHAPE["role"]) is None
