"""Exchanges between records: rules come to hold, and every column keeps its counts."""

import numpy as np

from dpsyn_core.runs.exchanging import exchange_blanks, exchange_conditions, exchange_orders, exchange_sums
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.ruled import BLANK, PLAIN, RuledColumn, any_broken, broken
from tests.schema.helpers import cat, num


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


def test_exchanges_for_one_order_leave_fewer_records_that_break_another():
    rules = [{"kind": "order", "lower": "a", "upper": "b"}, {"kind": "order", "lower": "b", "upper": "c"}]
    schema = declared(rules, a=30, b=40, c=60)
    rng = np.random.default_rng(4)
    group = columns(schema, **{n: rng.integers(0, most, 3000) for n, most in (("a", 31), ("b", 41), ("c", 61))})
    before, wrong = counts(group), any_broken(schema.rules, group).sum()
    exchange_orders(schema.rules, group, rng)
    assert counts(group) == before and any_broken(schema.rules, group).sum() < 0.2 * wrong


def test_cells_that_should_be_blank_change_places_with_blank_ones():
    schema = Schema.of(
        {
            "version": 1, "name": "t",
            "attributes": [cat("pregnant", ["no", "yes"]), num("weeks", 1, 40, 40, missing=True)],
            "rules": [{"kind": "blank", "column": "weeks", "where": "pregnant = no", "only": True}],
        }
    )  # fmt: skip
    rng = np.random.default_rng(5)
    state = np.where(rng.random(4000) < 0.5, PLAIN, BLANK).astype(np.uint8)
    group = {
        "pregnant": RuledColumn.of_codes(rng.integers(0, 2, 4000), schema["pregnant"]),
        "weeks": RuledColumn(schema["weeks"], rng.integers(1, 41, 4000), state),
    }
    before = np.sort(group["weeks"].values[state == PLAIN]).tolist()
    exchange_blanks(schema.rules, group, rng)
    assert np.sort(group["weeks"].values[group["weeks"].state == PLAIN]).tolist() == before
    assert broken(schema.rules[0], group).mean() < 0.03, "only what one side has more of than the other"
