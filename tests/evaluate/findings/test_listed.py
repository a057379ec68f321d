"""The order of findings, from small lists: what comes before what, and from which weights on."""

from types import SimpleNamespace

import pytest

from dpsyn_core.evaluate.findings.finding import Finding
from dpsyn_core.evaluate.findings.listed import (
    CAUSES,
    _after,
    _by_chance,
    _causes_first,
    _impossible_first,
    _rules,
    _simpler_first,
    _that_follow,
    _with_rules,
)

C = SimpleNamespace(n=1000, m=1000)


def finding(key, weight, *columns, **more):
    return Finding(key=key, weight=weight, columns=columns, **more)


def weights(listed):
    return [round(f.weight, 9) for f in listed]


def test_a_finding_that_follows_is_lighter_by_a_hundredth_than_the_heaviest_of_others():
    assert _after(finding("mean", 0.5, "a"), []).weight == 0.5
    assert _after(finding("mean", 0.5, "a"), [0.1, 0.4]).weight == pytest.approx(0.396)
    assert _after(finding("mean", 0.5, "a"), [0.8, 0.4]).weight == 0.5


@pytest.mark.parametrize(
    ("key", "columns", "other", "expected"),
    [
        ("interaction", "abc", ("mean", 0.05, "a"), 0.0495),
        ("interaction_turned", "abc", ("pair", 0.2, "ab"), 0.198),
        ("interaction", "abc", ("mean", 0.049, "a"), 0.6),  # too light to come first
        ("interaction", "abc", ("order", 0.2, "abc"), 0.6),  # of the same columns
        ("interaction", "abc", ("mean", 0.2, "d"), 0.6),
        ("explained", "a", ("pair", 0.2, "ba"), 0.198),
        ("explained", "a", ("pair", 0.01, "ba"), 0.0099),
        ("explained", "a", ("pair", 0.2, "bc"), 0.6),
        ("explained", "a", ("relations", 0.2, ""), 0.198),
        ("explained", "a", ("unrelated", 0.2, "b"), 0.198),
        ("mean", "a", ("pair", 0.2, "ba"), 0.6),
    ],
)
def test_what_is_simpler_comes_before_what_more_columns_say(key, columns, other, expected):
    listed = [finding(key, 0.6, *columns), finding(*other[:2], *other[2])]
    found = _simpler_first(listed)
    assert weights(found) == [expected, other[1]]


@pytest.mark.parametrize(
    ("rule", "other", "expected"),
    [
        (("order", 0.3, "ab"), ("mean", 0.6, "a"), 0.297),
        (("order", 0.3, "ab"), ("mean", 0.2, "a"), 0.2),
        (("order", 0.3, "ab"), ("mean", 0.6, "c"), 0.6),
        (("order", 0.3, "ab"), ("zeros", 0.6, "a"), 0.6),  # no finding of columns that a rule explains
        (("order", 0.05, "ab"), ("mean", 0.2, "a"), 0.0495),
        (("order", 0.049, "ab"), ("mean", 0.15, "a"), 0.15),
        (("order", 0.1, "ab"), ("mean", 0.4, "a"), 0.099),
        (("order", 0.1, "ab"), ("mean", 0.41, "a"), 0.41),  # not a quarter of it
        (("combinations", 0.3, "ab"), ("pair", 0.6, "ba"), 0.297),
        (("key", 0.3, "ab"), ("pair", 0.6, "ba"), 0.6),
        (("function", 0.3, "ab"), ("pair", 0.6, "bc"), 0.297),  # b follows from a, and lost its other relations
        (("function", 0.3, "ab"), ("pair", 0.6, "ac"), 0.6),
        (("filter_blank", 0.3, "ab"), ("unrelated", 0.6, "b"), 0.297),
        (("sum", 0.3, "ab"), ("pair", 0.6, "bc"), 0.6),
    ],
)
def test_records_that_cannot_be_come_before_what_moved_in_their_columns(rule, other, expected):
    listed = [finding(*rule[:2], *rule[2]), finding(*other[:2], *other[2])]
    assert weights(_impossible_first(listed)) == [rule[1], expected]


@pytest.mark.parametrize(
    ("outside", "remedy", "expected"),
    [(0.24, "rule", 0.2376), (0.23, "rule", 0.3), (0.4, "rule", 0.3), (0.24, "proposed", 0.3)],
)
def test_an_order_that_values_outside_the_real_ones_break_comes_after_these(outside, remedy, expected):
    listed = [
        finding("order", 0.3, "a", "b", remedy=remedy),
        finding("outside", outside, "a"),
        finding("mean", 0.6, "a"),
    ]
    found = _impossible_first(listed)
    assert found[0].weight == pytest.approx(expected)
    explained = outside >= 0.24 and remedy != "proposed"
    assert found[2].weight == pytest.approx(0.6 if explained else 0.297), "then it explains no mean"


@pytest.mark.parametrize(
    ("cause", "other", "expected"),
    [
        (("blank", 0.2, "a"), ("mean", 0.6, "a"), [0.60006, 0.6]),
        (("blank", 0.2, "a"), ("mean", 0.1, "a"), [0.2, 0.1]),
        (("blank", 0.2, "a"), ("mean", 0.8, "a"), [0.80008, 0.8]),
        (("blank", 0.2, "a"), ("mean", 0.81, "a"), [0.2, 0.81]),  # more than four times as heavy
        (("blank", 0.2, "a"), ("mean", 0.6, "b"), [0.2, 0.6]),
        (("blank", 0.049, "a"), ("mean", 0.1, "a"), [0.049, 0.1]),
        (("blank", 0.05, "a"), ("mean", 0.1, "a"), [0.10001, 0.1]),
        (("mean", 0.2, "a"), ("blank", 0.6, "a"), [0.2, 0.6]),
        (("zeros", 0.1, "a"), ("mean", 0.9, "a"), [0.90009, 0.9]),  # all of a mean, where the rest is as it was
        (("outside", 0.1, "a"), ("weaker", 0.9, "b", "a"), [0.90009, 0.9]),
        (("turned", 0.2, "y", "a"), ("unrelated", 0.5, "y"), [0.50005, 0.5]),
        (
            (
                "repeated",
                0.2,
            ),
            ("relations", 0.5),
            [0.50005, 0.5],
        ),
    ],
)
def test_a_cause_comes_before_what_follows_from_it(cause, other, expected):
    listed = [finding(*cause), finding(*other)]
    assert weights(_causes_first(C, listed)) == pytest.approx(expected)


def test_a_cause_that_is_said_not_to_be_one_changes_nothing():
    listed = [finding("stretch", 0.2, "a", what={"another": False}), finding("mean", 0.6, "a")]
    assert weights(_causes_first(C, listed)) == [0.2, 0.6]


def test_a_filter_that_says_of_all_blank_cells_comes_before_their_share():
    assert _by_chance(finding("blank", 0.2, "b", real=0.5), C) > _by_chance(finding("blank", 0.2, "b"), C)
    near = _by_chance(finding("blank", 0.2, "b", real=0.1), C)
    for less, first in ((near * 0.99, True), (near * 1.01, False)):
        listed = [finding("blank", 0.2, "b", real=0.1), finding("filter_blank", 0.2 - less, "a", "b")]
        found = _causes_first(C, listed)
        assert (found[1].weight > found[0].weight) == first
        if first:
            assert found[0].weight == pytest.approx(found[1].weight * 0.99)
    other = [finding("blank", 0.2, "b", real=0.1), finding("filter_blank", 0.2, "b", "a")]
    assert weights(_causes_first(C, other)) == [0.2, 0.2], "it decides another column"


def test_what_follows_is_of_the_same_columns_and_not_much_heavier():
    rest = finding("rest", 0.3, "a")
    zeros, mean = finding("zeros", 0.1, "a"), finding("mean", 0.9, "a")
    assert _that_follow(zeros, [zeros, mean]) == [mean] and _that_follow(zeros, [zeros, mean, rest]) == [rest]
    cycle = finding("cycle_hour", 0.2, "a", "t")
    before = [finding("before", 0.2, "a", "t"), finding("before", 0.2, "b", "t")]
    assert _that_follow(cycle, before) == before[:1]
    weaker = [finding("weaker", 0.9, "y", "a"), finding("weaker", 0.9, "y", "b"), finding("weaker", 0.9, "z", "b")]
    assert _that_follow(finding("outside", 0.1, "a"), weaker) == weaker[:2], "all effects on the same outcome"
    assert {key for keys in CAUSES.values() for key in keys} >= {"mean", "relations", "pair"}


def rule_count(words, real, synthetic, records=5):
    return SimpleNamespace(rule=words, real=real, synthetic=synthetic, synthetic_records=records)


def test_rules_that_records_break_are_found_and_those_that_headers_propose():
    rules = [
        rule_count("r", 0.1, 0.3),
        rule_count("s", 0.3, 0.3),
        rule_count("t", None, 0.2),
        rule_count("u", 0, 0.1, 0),
    ]
    proposed = [
        (SimpleNamespace(columns=("a", "b")), rule_count(w, real, made))
        for w, real, made in (("p", 0.01, 0.02), ("q", 0.011, 0.5), ("v", None, 0.01), ("w", None, 0.011))
    ]
    c = SimpleNamespace(rules=rules, intake=SimpleNamespace(proposed=proposed))
    found = list(_rules(c))
    assert [(f.key, f.what["rule"], round(f.weight, 9)) for f in found] == [
        ("rule", "r", 0.2), ("rule", "t", 0.2), ("proposed", "p", 0.01), ("proposed", "w", 0.011),
    ]  # fmt: skip
    assert [(f.real, f.synthetic, f.fresh, f.remedy) for f in found[:3:2]] == [
        (0.1, 0.3, 0.1, "repair"), (0.01, 0.02, 0.01, "proposed"),
    ]  # fmt: skip
    order, mean = finding("order", 0.2, "b", "a"), finding("mean", 0.3, "a", "b")
    merged = _with_rules(found, [order, mean])
    assert [f.key for f in merged] == ["order", "mean", "rule", "rule"]
    assert (merged[0].what["rule"], merged[0].remedy, merged[0].weight) == ("w", "proposed", 0.2)
    assert _with_rules(found[:3], [mean]) == [mean, *found[:3]]
