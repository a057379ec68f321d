"""Numbers of children that rules permit, against every set of children that a small root can have."""

import itertools

import numpy as np
import pytest

from dpsyn_core.estimate.marginals.types import Measurement
from dpsyn_core.runs.trees.allowed_counts import only_permitted, permitted, without_forbidden
from dpsyn_core.runs.trees.forest import shapes_of
from dpsyn_core.schema.linked import LinkedSchema

ROLES = ["Head", "Spouse", "Child", "Other"]
RULES = {
    "one head": {"where": "role = Head", "least": 1, "most": 1},
    "a spouse has a head": {"where": "role = Head", "least": 1, "given": "role = Spouse"},
    "at most one child": {"where": "role = Child", "most": 1},
    "two of some": {"where": "role in {Child, Other}", "least": 2},
    "at most two of all but heads": {"where": "role in {Spouse, Child, Other}", "most": 2},
    "no spouse": {"where": "role = Spouse", "most": 0},
}


def schema(rule):
    listed = {"name": "role", "kind": "categorical", "values": ROLES}
    home = {"name": "a", "kind": "categorical", "values": ["0", "1"]}
    link = {
        "parent": "homes", "child": "persons", "key": "home", "max_children": 4, "rules": [{"kind": "count", **rule}],
        "roles": {"column": "role", "single": ["Head", "Spouse"]},
    }  # fmt: skip
    tables = [
        {"name": "homes", "key": "id", "schema": {"version": 1, "name": "homes", "attributes": [home]}},
        {"name": "persons", "schema": {"version": 1, "name": "persons", "attributes": [listed]}},
    ]
    return LinkedSchema.of({"version": 2, "name": "t", "tables": tables, "links": [link]})


def keeps(rule, roles):
    def count(where):
        listed = where.split("{")[1].rstrip("}").split(", ") if "{" in where else [where.split(" = ")[1]]
        return sum(r in listed for r in roles)

    if "given" in rule and not count(rule["given"]):
        return True
    return rule.get("least", 0) <= count(rule["where"]) <= rule.get("most", 4)


@pytest.mark.parametrize("name", RULES)
def test_a_number_is_permitted_where_some_children_of_it_keep_the_rule(name):
    declared = schema(RULES[name])
    (shape,) = shapes_of(declared)
    got = permitted(declared, declared.links[0], shape)
    codes = np.arange(shape.size)
    head, spouse, rest = shape.has(codes, 0), shape.has(codes, 1), shape.rest(codes)
    for code in range(shape.size):
        single = ["Head"] * int(head[code]) + ["Spouse"] * int(spouse[code])
        able = any(
            keeps(RULES[name], single + list(more)) for more in itertools.product(ROLES[2:], repeat=int(rest[code]))
        )
        assert got[code] == able, (single, rest[code])
    assert got.any() and got.all() == (name == "at most one child")  # the others may have the role that is left


def test_tables_lose_the_cells_of_numbers_that_no_root_has_and_other_tables_stay():
    fits = np.array([True, False, True])
    pair = Measurement(attributes=("a", "n"), values=np.arange(1.0, 7.0).reshape(2, 3), sigma=1.0)
    other = Measurement(attributes=("a",), values=np.ones(2), sigma=1.0)
    first, second = without_forbidden([pair, other], "n", fits)
    assert first.values.tolist() == [[1, 0, 3], [4, 0, 6]] and second is other
    assert pair.values.tolist() == [[1, 2, 3], [4, 5, 6]]


def test_a_number_that_is_not_permitted_gives_way_to_the_next_ones_as_often_as_they_occur():
    fits, numbers = np.array([True, True, False, True, True]), np.arange(5)
    codes = np.repeat(np.arange(5), [10, 300, 4000, 100, 10])
    got = only_permitted(codes, fits, numbers, np.random.default_rng(1))
    changed = got[codes == 2]
    assert set(changed.tolist()) == {1, 3} and abs((changed == 1).mean() - 0.75) < 0.05
    assert (got[codes != 2] == codes[codes != 2]).all()
    assert only_permitted(codes[:310], fits, numbers, None) is not None
