"""Attribute sets as people write them: text, lists of text, lists of lists; refusals name the setting."""

import pytest

from dpsyn_core.errors import SettingError
from dpsyn_core.schema.domain import CodedAttribute, Domain
from dpsyn_core.systems.registry import configure
from dpsyn_core.systems.settings import known_sets, parse_sets, partition

DOMAIN = Domain.of({"a": 2, "b": 2, "c": 2, "d": 2})


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("a+b, c", (("a", "b"), ("c",))),
        (["a+b", "c"], (("a", "b"), ("c",))),
        (("a+b", "c"), (("a", "b"), ("c",))),
        ([["a", "b"], ["c"]], (("a", "b"), ("c",))),
        ("", ()),
        (" a + b ,, ", (("a", "b"),)),
        ((), ()),
    ],
)
def test_sets_are_read_from_text_and_lists(written, meant):
    assert configure("field-groups", {"groups": written}).groups == meant


@pytest.mark.parametrize("wrong", [3, [[1]], {"a": 1}])
def test_anything_else_is_refused_by_the_name_of_the_setting(wrong):
    with pytest.raises(SettingError, match="'groups"):
        configure("field-groups", {"groups": wrong})


@pytest.mark.parametrize("wrong", [10**4000, "9" * 4000])
def test_a_refusal_does_not_repeat_a_long_value(wrong):
    with pytest.raises(SettingError, match="'effort'") as refused:
        configure("rls", {"effort": wrong})
    assert len(str(refused.value)) < 300


def test_sets_come_in_domain_order_and_unknown_names_are_refused():
    assert known_sets((("c", "a"),), DOMAIN, setting="x") == [("a", "c")]
    with pytest.raises(SettingError, match="'x' names 'z'"):
        known_sets((("z",),), DOMAIN, setting="x")


def test_a_partition_takes_the_setting_else_the_schema_and_leaves_nobody_out():
    assert partition((("d", "b"),), DOMAIN, setting="x") == [("a",), ("b", "d"), ("c",)]
    grouped = Domain(tuple(CodedAttribute(name=n, size=2, group=g) for n, g in zip("abcd", "xyx\0", strict=True)))
    assert partition((), grouped, setting="x") == [("a", "c"), ("b",), ("d",)]
    with pytest.raises(SettingError, match="'b' into two"):
        partition((("a", "b"), ("b",)), DOMAIN, setting="x")
    assert parse_sets(None) is None
