"""Columns of a child's parent, root and siblings, against loops over the children."""

from types import SimpleNamespace

import numpy as np
import pytest

from dpsyn_core.runs.trees.joined_columns import Kin, roots_of, taken
from dpsyn_core.schema.rules.columns import BLANK, PLAIN, RuleColumn
from tests.schema.helpers import cat, num, schema

SHAPE = schema(num("x", 0, 99, 100), cat("role", ["Head", "Spouse", "Child"]))
PARENT = np.array([0, 0, 0, 1, 3, 3])
ROLES = [0, 2, 1, 2, 1, 2]


def numbers(values):
    return RuleColumn(SHAPE["x"], np.array(values), np.full(len(values), PLAIN, dtype=np.uint8))


def kin():
    roles = RuleColumn.of_codes(np.array(ROLES), SHAPE["role"])
    link = SimpleNamespace(parent="homes", order="x", roles=SimpleNamespace(column="role", single=["Head", "Spouse"]))
    above = {"x": numbers([10, 11, 12, 13])}
    roots = roots_of({"x": numbers([70, 71])}, "towns", np.array([1, 0, 0, 1]))
    return Kin(link, PARENT, 4, {"x": numbers([1, 2, 3, 4, 5, 6]), "role": roles}, above, roots)


def cells(column):
    return [int(v) if s == PLAIN else None for v, s in zip(column.values, column.state, strict=True)]


def by_hand(name):
    values = [1, 2, 3, 4, 5, 6]
    if name == "homes.x":
        return [10 + p for p in PARENT]
    if name == "towns.x":
        return [[71, 70, 70, 71][p] for p in PARENT]
    out = []
    for i, p in enumerate(PARENT):
        if name == "before.x":
            out.append(values[i - 1] if i and PARENT[i - 1] == p else None)
        else:
            role = {"Head.x": 0, "Spouse.x": 1}[name]
            same = [j for j in range(6) if PARENT[j] == p and ROLES[j] == role and j != i]
            out.append(values[same[0]] if same else None)
    return out


@pytest.mark.parametrize("name", ["homes.x", "towns.x", "before.x", "Head.x", "Spouse.x"])
def test_a_joined_column_is_what_a_loop_over_children_finds_and_of_some_children_the_same(name):
    assert cells(kin().column(name)) == by_hand(name)
    for rows in ([5, 0, 2], [], [3]):
        assert cells(kin().column(name, np.array(rows, dtype=np.intp))) == [by_hand(name)[i] for i in rows]


def test_own_columns_of_all_children_are_the_very_ones_and_of_some_a_copy():
    k = kin()
    assert k.column("x") is k.own["x"]
    some = k.columns(["x", "homes.x"], np.array([1, 4]))
    some["x"].values[:] = 0
    assert cells(k.own["x"]) == [1, 2, 3, 4, 5, 6] and cells(some["homes.x"]) == [10, 13]


def test_children_are_counted_by_parent_also_where_one_has_none():
    assert kin().per_parent(np.array([True, False, True, True, False, False])).tolist() == [2, 1, 0, 0]


def test_a_cell_without_a_place_is_blank_and_none_is_made_of_an_empty_column():
    got = taken(numbers([4, 5]), np.array([1, -1, 0]))
    assert cells(got) == [5, None, 4] and got.values[1] == -1
    empty = taken(numbers([]), np.array([-1, -1]))
    assert empty.state.tolist() == [BLANK, BLANK]
