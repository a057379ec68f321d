"""Tables of declared questions: which, with what weight, and what of the budget each gets."""

import math
from types import SimpleNamespace

import pytest

from dpsyn_core.errors import SizeError
from dpsyn_core.privacy.budget import Cost
from dpsyn_core.schema.domain import CodedAttribute, Domain
from dpsyn_core.systems.question_sets import MOST_CELLS, QuestionTables, asked_of, held, times, with_extra

DOMAIN = Domain(tuple(CodedAttribute(name=n, size=s) for n, s in (("a", 2), ("b", 8), ("c", 27))))
BOTH = [Cost(rho=1.0), Cost(epsilon=1.0)]


def need(*names, weight=1.0):
    return SimpleNamespace(attributes=names, weight=weight)


def task(*needs, domain=DOMAIN):
    return SimpleNamespace(workload=SimpleNamespace(needs=needs, share=0.3), domain=domain)


def spent(cost):
    return cost.epsilon if cost.pure else cost.rho


def test_each_set_comes_once_with_the_weights_of_all_questions_about_it():
    got = asked_of(task(need("a", "b"), need("c", weight=2.0), need("a", "b", weight=0.5)), "mst")
    assert (got.sets, got.weights, got.share) == ((("a", "b"), ("c",)), (1.5, 2.0), 0.3)
    assert asked_of(task(need("a", "b"), need("c")), "mst", fewest=2).sets == (("a", "b"),)
    assert asked_of(SimpleNamespace(workload=None), "mst") == QuestionTables()


@pytest.mark.parametrize("over", [0, 1])
def test_a_table_may_have_as_many_cells_as_the_cap_and_no_more(over):
    domain = Domain((CodedAttribute(name="a", size=MOST_CELLS + over),))
    if over:
        with pytest.raises(SizeError, match="above the cap"):
            asked_of(task(need("a"), domain=domain), "mst")
    else:
        assert asked_of(task(need("a"), domain=domain), "mst").sets == (("a",),)


@pytest.mark.parametrize("cost", BOTH)
def test_a_cost_is_divided_by_the_power_of_cells_that_makes_the_weighted_error_least(cost):
    got = [spent(c) for c in QuestionTables(sets=(("a",), ("b",), ("c",)), weights=(1.0, 1.0, 1.0)).costs(cost, DOMAIN)]
    power = 1 / 2 if cost.pure else 2 / 3
    whole = sum(s**power for s in (2, 8, 27))
    assert got == pytest.approx([s**power / whole for s in (2, 8, 27)])
    error = [lambda p: 1 / p, lambda p: 1 / math.sqrt(p)][not cost.pure]
    least = sum(s * error(p) for s, p in zip((2, 8, 27), got, strict=True))
    for more in (-0.02, 0.02):
        other = [got[0] + more, got[1] - more, got[2]]
        assert sum(s * error(p) for s, p in zip((2, 8, 27), other, strict=True)) > least


@pytest.mark.parametrize("cost", BOTH)
def test_other_tables_get_what_the_share_leaves_and_all_where_nothing_is_asked(cost):
    asked = QuestionTables(sets=(("a",),), weights=(1.0,), share=0.3)
    rest, part = asked.beside(cost, 2)
    assert (spent(rest), spent(part)) == (pytest.approx(0.7), pytest.approx(0.3))
    assert asked.beside(cost, 0) == (None, cost)
    assert QuestionTables(sets=(("a",),), weights=(1.0,), share=1.0).beside(cost, 2) == (None, cost)
    assert QuestionTables().beside(cost, 2) == (cost, None)


@pytest.mark.parametrize("cost", BOTH)
def test_the_smallest_table_that_holds_a_set_gets_what_the_set_is_worth(cost):
    sets = [("a", "b", "c"), ("a", "b"), ("b", "a")]
    asked = QuestionTables(sets=(("b",), ("c",), ("a",)), weights=(1.0, 1.0, 1.0))
    half, quarter, eighth = (Cost(rho=cost.rho * x, epsilon=cost.epsilon * x) for x in (0.5, 0.25, 0.125))
    got = with_extra(sets, [cost] * 3, asked, [half, quarter, eighth])
    assert [spent(c) for c in got] == [1.25, 1.625, 1.0]
    assert held(("b", "a"), [("a", "b")]) and not held(("a", "c"), [("a", "b"), ("b", "c")])


def test_a_share_of_rounds_is_at_least_one_and_all_of_them_for_a_share_of_one_alone():
    assert [times(s, 10) for s in (0.0, 0.04, 0.14, 0.15, 0.94, 0.99, 1.0, 2.0)] == [1, 1, 1, 2, 9, 9, 10, 10]
    assert [times(s, 1) for s in (0.0, 0.9, 1.0)] == [1, 1, 1]
