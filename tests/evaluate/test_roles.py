"""Which column a model is to learn where nobody named one."""

import pytest

from dpsyn_core.evaluate.comparison import _target
from dpsyn_core.schema.domain import CodedAttribute, Domain


@pytest.mark.parametrize(("sizes", "target"), [
    ({"a": 2, "b": 2, "c": 9}, "b"), ({"a": 2, "b": 1, "c": 9}, "a"), ({"a": 10, "b": 11, "c": 3}, "c"),
    ({"a": 10, "b": 11}, "a"), ({"a": 11, "b": 12}, "b"), ({"a": 1}, None), ({}, None), ({"a": (3, 1), "b": 1}, "a"),
    ({"a": (2, 1), "b": 1}, None), ({"a": (11, 1), "b": 11}, "a"),
])  # fmt: skip
def test_the_last_of_two_values_is_learnt_else_of_at_most_ten_else_of_any_number(sizes, target):
    coded = [(n, s if isinstance(s, tuple) else (s, 0)) for n, s in sizes.items()]
    domain = Domain(attributes=tuple(CodedAttribute(name=n, size=s, special=k) for n, (s, k) in coded))
    assert _target(domain) == target
