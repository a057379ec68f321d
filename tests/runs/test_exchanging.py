"""Exchanges between records: rules come to hold, and every column keeps its counts."""

import numpy as np

from dpsyn_core.runs.exchanging import exchange_conditions, exchange_orders, exchange_sums
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.ruled import PLAIN, RuledColumn, broken
from tests.schema.helpers import num


def columns(schema, **values):
    found = {}
    for name, v in values.items():
        found[name] = RuledColumn(schema[name], np.array(v, dtype=np.int64), np.full(len(v), PLAIN, dtype=np.uint8))
    return found


def declared(rules, wide=1, **ends):
    attributes = [num(n, 0, most, (most + 1) // wide) for n, most in ends.items()]
    return Schema.of({"version": 1, "name": "t", "attributes": attributes, "rules": rules})


def counts(group):
    return {n: np.sort(c.values).tolist() for n, c in group.items()}


def test_an_order_is_kept_by_exchanging_cells_and_no_count_changes():
    schema = declared([{"kind": "order", "lower": "low", "upper": "high"}], low=50, high=99, free=9)
    rng = np.random.default_rng(1)
    group = columns(
        schema, low=rng.integers(0, 51, 4000), high=rng.integers(0, 100, 4000), free=rng.integers(0, 10, 4000)
    )
    before, wrong = counts(group), broken(schema.rules[0], group).sum()
    exchange_orders(schema.rules, group, rng)
    assert counts(group) == before
    assert broken(schema.rules[0], group).sum() < 0.2 * wrong


def test_parts_that_were_drawn_apart_are_arranged_to_their_measured_sum():
    schema = declared([{"kind": "sum", "column": "all", "parts": ["a", "b"]}], wide=5, a=49, b=49, all=99)
    rng = np.random.default_rng(2)
    alike = rng.integers(0, 50, 5000)
    group = columns(schema, a=rng.permutation(alike), b=rng.permutation(alike), all=2 * rng.permutation(alike))

    def bins():
        return {n: np.bincount(schema[n].binning.find(c.values)).tolist() for n, c in group.items()}

    before = bins()
    exchange_sums(schema.rules, group)
    assert bins() == before
    assert broken(schema.rules[0], group).mean() < 0.5
    assert np.corrcoef(group["a"].values, group["b"].values)[0, 1] > 0.3, "their sum is wider than that of parts apart"


def test_impossible_conditions_are_kept_by_exchanging_cells():
    schema = declared([{"kind": "impossible", "where": "a in [0, 9] and b in [0, 9]"}], a=50, b=50)
    rng = np.random.default_rng(3)
    group = columns(schema, a=rng.integers(0, 51, 3000), b=rng.integers(0, 51, 3000))
    before = counts(group)
    exchange_conditions(schema.rules, group, rng)
    assert counts(group) == before and not broken(schema.rules[0], group).any()


def test_an_exchange_keeps_the_other_rules_of_both_records():
    rules = [{"kind": "order", "lower": "a", "upper": "b"}, {"kind": "order", "lower": "b", "upper": "c"}]
    schema = declared(rules, a=30, b=40, c=60)
    rng = np.random.default_rng(4)
    group = columns(
        schema, a=rng.integers(0, 31, 3000), b=rng.integers(0, 41, 3000), c=rng.integers(0, 61, 3000)
    )  # fmt: skip
    fine = [~broken(r, group) for r in schema.rules]
    exchange_orders(schema.rules, group, rng)
    for rule, was in zip(schema.rules, fine, strict=True):
        assert (~broken(rule, group)).sum() >= was.sum()
    kept = fine[0] & fine[1]
    assert not any((broken(r, group) & kept).any() for r in schema.rules)
