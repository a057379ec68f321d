"""Exchanges between records: rules come to hold, and every column keeps its counts."""

import numpy as np
import pyarrow as pa

from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.rules.columns import PLAIN, RuleColumn, any_broken, read_columns
from dpsyn_core.schema.rules.repair import accept_inside, record_rules, repair
from tests.schema.helpers import cat, date, num


def columns(schema, **values):
    found = {}
    for name, v in values.items():
        found[name] = RuleColumn(schema[name], np.array(v, dtype=np.int64), np.full(len(v), PLAIN, dtype=np.uint8))
    return found


def declared(rules, wide=1, **ends):
    attributes = [num(n, 0, most, (most + 1) // wide) for n, most in ends.items()]
    return Schema.of({"version": 1, "name": "t", "attributes": attributes, "rules": rules})


def exchange(rules, group, rng):
    for rule in rules:
        for proposal in rule.exchanges(rules, group, rng):
            accept_inside(proposal, rules, group, rng)


def counts(group):
    return {n: np.sort(c.values).tolist() for n, c in group.items()}


def test_an_order_is_kept_by_exchanging_cells_and_no_count_changes():
    schema = declared([{"kind": "order", "lower": "low", "upper": "high"}], low=50, high=99, free=9)
    rng = np.random.default_rng(1)
    group = columns(
        schema, low=rng.integers(0, 51, 4000), high=rng.integers(0, 100, 4000), free=rng.integers(0, 10, 4000)
    )
    before, wrong = counts(group), schema.rules[0].broken(group).sum()
    exchange(schema.rules, group, rng)
    assert counts(group) == before
    assert schema.rules[0].broken(group).sum() < 0.2 * wrong


def test_parts_that_were_drawn_apart_are_arranged_to_their_measured_sum():
    schema = declared([{"kind": "sum", "column": "all", "parts": ["a", "b"]}], wide=5, a=49, b=49, all=99)
    rng = np.random.default_rng(2)
    alike = rng.integers(0, 50, 5000)
    group = columns(schema, a=rng.permutation(alike), b=rng.permutation(alike), all=2 * rng.permutation(alike))

    def bins():
        return {n: np.bincount(schema[n].binning.find(c.values)).tolist() for n, c in group.items()}

    before = bins()
    exchange(schema.rules, group, rng)
    assert bins() == before
    assert schema.rules[0].broken(group).mean() < 0.5
    assert np.corrcoef(group["a"].values, group["b"].values)[0, 1] > 0.3, "their sum is wider than that of parts apart"


def test_impossible_conditions_are_kept_by_exchanging_cells():
    schema = declared([{"kind": "impossible", "where": "a in [0, 9] and b in [0, 9]"}], a=50, b=50)
    rng = np.random.default_rng(3)
    group = columns(schema, a=rng.integers(0, 51, 3000), b=rng.integers(0, 51, 3000))
    before = counts(group)
    exchange(schema.rules, group, rng)
    assert counts(group) == before and not schema.rules[0].broken(group).any()


def test_exchanges_for_one_order_leave_fewer_records_that_break_another():
    rules = [{"kind": "order", "lower": "a", "upper": "b"}, {"kind": "order", "lower": "b", "upper": "c"}]
    schema = declared(rules, a=30, b=40, c=60)
    rng = np.random.default_rng(4)
    group = columns(schema, **{n: rng.integers(0, most, 3000) for n, most in (("a", 31), ("b", 41), ("c", 61))})
    before, wrong = counts(group), any_broken(schema.rules, group).sum()
    exchange(schema.rules, group, rng)
    assert counts(group) == before and any_broken(schema.rules, group).sum() < 0.2 * wrong


def test_a_ratio_of_a_sum_is_arranged_with_it_so_that_all_columns_keep_their_counts():
    attributes = [
        num("net", 0, 900, 30, "float", step=0.01), num("tax", 0, 180, 30, "float", step=0.01),
        num("total", 0, 1080, 36, "float", step=0.01), num("pieces", 1, 60, 20),
        num("rate", 0, 40, 40, "float", step=0.01),
    ]  # fmt: skip
    rules = [
        {"kind": "sum", "column": "total", "parts": ["net", "tax"]},
        {"kind": "ratio", "column": "rate", "of": "total", "by": ["pieces"]},
    ]
    schema = Schema.of({"version": 1, "name": "t", "attributes": attributes, "rules": rules})
    rng = np.random.default_rng(6)
    pieces = rng.integers(1, 61, 5000)
    net = np.clip(np.round(pieces * rng.uniform(2, 14, 5000), 2), 0, 900)
    tax = np.round(net * rng.choice([0.07, 0.19], 5000), 2)
    true = {"net": net, "tax": tax, "total": net + tax, "pieces": pieces, "rate": np.round((net + tax) / pieces, 2)}
    state = np.full(5000, PLAIN, dtype=np.uint8)
    group = {n: RuleColumn(schema[n], rng.permutation(v), state.copy()) for n, v in true.items()}

    def bins():
        return {n: np.bincount(schema[n].binning.find(c.values)).tolist() for n, c in group.items()}

    before = bins()
    exchange(schema.rules, group, rng)
    assert bins() == before
    assert any_broken(schema.rules, group).mean() < 0.15


def test_what_follows_without_a_map_is_chosen_so_that_columns_keep_their_counts():
    names = {"code": 20, "label": 20, "kind": 4}
    attributes = [cat(n, [f"{n}{i}" for i in range(size)]) for n, size in names.items()]
    rules = [
        {"kind": "follows", "column": "label", "of": ["code"]}, {"kind": "follows", "column": "code", "of": ["label"]},
        {"kind": "follows", "column": "kind", "of": ["code"]}, {"kind": "follows", "column": "kind", "of": ["label"]},
    ]  # fmt: skip
    schema = Schema.of({"version": 1, "name": "t", "attributes": attributes, "rules": rules})
    rng = np.random.default_rng(7)
    code = rng.choice(20, 6000, p=1 / np.arange(1, 21) / (1 / np.arange(1, 21)).sum())
    true = {"code": code, "label": rng.permutation(20)[code], "kind": code % 4}
    table = pa.table({n: pa.array([f"{n}{i}" for i in rng.permutation(v)]) for n, v in true.items()})  # made apart
    made, _ = repair(table, schema.rules, schema, rng)
    assert not any_broken(schema.rules, read_columns(made, schema, [*names])).any()
    before, after = (Codec(schema).encode(t, individuals=False).codes for t in (table, made))
    for i, (n, size) in enumerate(names.items()):
        moved = np.bincount(before[i], minlength=size) - np.bincount(after[i], minlength=size)
        assert np.abs(moved).sum() / 12_000 < 0.05, n


def test_what_follows_without_a_map_is_what_records_that_agree_say():
    attributes = [cat("city", [f"c{i}" for i in range(12)]), cat("country", ["x", "y", "z"])]
    schema = Schema.of(
        {
            "version": 1, "name": "t", "attributes": attributes,
            "rules": [{"kind": "follows", "column": "country", "of": ["city"]}],
        }
    )  # fmt: skip
    rng = np.random.default_rng(8)
    city = rng.integers(0, 12, 4000)
    country = np.where(rng.random(4000) < 0.2, rng.integers(0, 3, 4000), city % 2)  # a fifth by chance, and few in z
    group = {n: RuleColumn.of_codes(v, schema[n]) for n, v in (("city", city), ("country", country))}
    (found,) = record_rules(schema.rules, group, np.ones(4000, dtype=bool))
    assert found.targets.tolist() == [i % 2 for i in range(12)]


def test_a_blank_that_goes_with_one_value_of_a_number_keeps_its_counts():
    """No discount, no reason: 0 lies in a bin with other discounts, of which few are exactly 0 when they are drawn."""
    attributes = [
        num("base", 0, 100, 10, "float", step=0.01), num("discount", -40, 0, 8, "float", step=0.01),
        num("pay", 0, 100, 10, "float", step=0.01), cat("reason", ["a", "b"], missing=True),
    ]  # fmt: skip
    rules = [
        {"kind": "blank", "column": "reason", "where": "discount = 0", "only": True},
        {"kind": "sum", "column": "pay", "parts": ["base", "discount"]},
    ]
    schema = Schema.of({"version": 1, "name": "t", "attributes": attributes, "rules": rules})
    rng = np.random.default_rng(8)
    base, none = rng.integers(4, 10, 3000), rng.random(3000) < 0.3
    discount = np.where(none | (rng.random(3000) < 0.2), 7, rng.integers(2, 7, 3000))
    codes = np.array([base, discount, np.maximum(base - (7 - discount) // 2, 0), np.where(none, 2, base % 2)])
    table = Codec(schema).decode(codes.astype(np.uint32), rng=rng)
    made, _ = repair(table, schema.rules, schema, rng)
    assert not any_broken(schema.rules, read_columns(made, schema, [a.name for a in schema.attributes])).any()
    assert made["reason"].null_count >= 0.9 * table["reason"].null_count


def test_a_date_that_others_follow_stays_where_an_age_is_mended():
    """A claim that moves leaves its report behind: days between them became years."""
    rules = [
        {"kind": "difference", "column": "age", "of": "claim", "minus": "born", "unit": "completed-years"},
        {"kind": "order", "lower": "claim", "upper": "reported"},
    ]
    dates = (date("born", "1940-01-01", "1999-12-31", "year"), date("claim", "2018-01-01", "2023-12-31", "day"),
             date("reported", "2018-01-01", "2024-12-31", "day"))  # fmt: skip
    schema = Schema.of({"version": 1, "name": "t", "rules": rules, "attributes": [*dates, num("age", 18, 90, 73)]})
    rng = np.random.default_rng(2)
    claim = 17_532 + rng.integers(0, 2000, 3000)
    born = rng.integers(-10_500, 10_500, 3000)
    age = rng.permutation((claim - born) // 366)
    group = columns(schema, born=born, claim=claim, reported=claim + 3, age=age)
    wrong = schema.rules[0].broken(group).sum()
    exchange(schema.rules, group, rng)
    assert (group["reported"].values - group["claim"].values == 3).all()
    assert schema.rules[0].broken(group).sum() < 0.2 * wrong
