"""The time between a parent's and a child's date, where a rule of the link says that they lie close together."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from benchmarks.linked_tables import Shaped, linked, listed
from dpsyn_core.linked.release import synthesize_linked
from dpsyn_core.linked.spans import later, span_codes, spans_of
from dpsyn_core.linked.stages import stages_of
from tests.linked.small import check_made_of_released_values, check_one_root_alone, most_moved

FIRST = np.datetime64("2022-01-01")


def dated(name, last="2024-12-31", **more):
    return {"name": name, "kind": "datetime", "min": "2022-01-01", "max": last, **more}


def parcels(roots=4_000, *, rule=None, placed="ordered", blank=False, **more):
    """Orders over three years, parcels of each shipped one to three or two to ten days after."""
    rng = np.random.default_rng(1)
    day, express = rng.integers(0, 1096, roots), rng.integers(0, 2, roots)
    of = np.repeat(np.arange(roots), 1 + rng.binomial(4, 0.3, roots))
    wait = np.where(express[of] == 1, rng.integers(1, 4, len(of)), rng.integers(2, 11, len(of)))
    rule = {"kind": "order", "lower": f"orders.{placed}", "upper": "shipped"} if rule is None else rule
    schema = linked(
        "parcels",
        {"orders": ("order", [dated(placed, **more), listed("express", 2)]),
         "lines": (None, [dated("shipped", "2025-01-31", missing=blank), listed("kind", 3)])},
        [{"parent": "orders", "child": "lines", "key": "order", "max_children": 5, "rules": [rule]}],
    )  # fmt: skip
    orders = {"order": np.arange(roots), placed: (FIRST + day).astype(str), "express": express}
    lines = {"order": of, "shipped": (FIRST + (day[of] + wait)).astype(str), "kind": rng.integers(0, 3, len(of))}
    return Shaped(tables={"orders": pa.table(orders), "lines": pa.table(lines)}, schema=schema)


def days_between(tables):
    """Of each line, with whether its order is express."""
    orders, lines = (tables[n].to_pandas() for n in ("orders", "lines"))
    both = lines.astype({"order": str}).merge(orders.astype({"order": str}), on="order")
    days = (pd.to_datetime(both["shipped"]) - pd.to_datetime(both["ordered"])).dt.days
    return days, both["express"].astype(int)


def test_children_keep_the_time_since_a_date_of_their_parent():
    shaped = parcels()
    made = synthesize_linked(shaped.tables, shaped.schema, epsilon=3.0, delta=1e-9, rng=1).arrows
    days, express = days_between(made)
    assert days.min() >= 0 and days.between(0, 12).mean() > 0.95  # a fifth, where only the order is kept
    slow, fast = (days[(express == e) & (days < 50)].mean() for e in (0, 1))
    assert slow - fast > 2, "what depends on the parent stays so: six days and two"


@pytest.mark.parametrize(
    ("rule", "more", "found"),
    [
        ({}, {}, 1),
        ({"close": False}, {}, 0),
        ({}, {"placed": "seen"}, 0),
        ({"close": True}, {"placed": "seen"}, 1),
        ({}, {"bins": {"every": "month"}}, 0),
        ({}, {"missing": True}, 0),
        ({"where": "kind = 1"}, {}, 0),
    ],
)
def test_headers_or_the_rule_say_that_dates_lie_close(rule, more, found):
    placed = more.get("placed", "ordered")
    rule = {"kind": "order", "lower": f"orders.{placed}", "upper": "shipped"} | rule
    schema = parcels(10, rule=rule, **{"missing": False} | more).schema
    assert len(spans_of(schema, schema.links[0])) == found


def test_a_date_is_found_from_another_and_the_time_between():
    schema = parcels(10, missing=False).schema
    (one,) = spans_of(schema, schema.links[0])
    codes = span_codes(one.span)
    for minus, of in ((0, 0), (5, 12), (300, 450)):
        assert later(one.span, np.array([minus]), codes[minus, of][None])[0] == of
    assert later(one.span, np.array([500]), codes[0, 400][None])[0] == -1, "after the last day"
    schema = parcels(10, missing=False, blank=True).schema
    (one,) = spans_of(schema, schema.links[0])
    blank = one.span.of.binning.size
    assert one.span.missing and later(one.span, np.array([5]), np.array([one.span.size - 1]))[0] == blank


def shipped(roots, seed=0, first=0):
    """Tables of so many orders, named from `first` on."""
    made = parcels(roots, missing=False).tables
    orders, lines = (made[n].to_pandas().iloc[::-1] for n in ("orders", "lines"))
    for table in (orders, lines):
        table["order"] += first
    tables = {"orders": orders.sample(frac=1, random_state=seed), "lines": lines.sample(frac=1, random_state=seed)}
    return {n: pa.Table.from_pandas(t.astype(str), preserve_index=False) for n, t in tables.items()}


def test_a_root_moves_what_is_counted_of_times_between_by_no_more_than_charged():
    schema = parcels(10, missing=False).schema
    assert any(c.span is not None for stage in stages_of(schema) for c in stage.view.columns)
    crowd, one = shipped(30), shipped(1, first=100)
    check_one_root_alone(schema, crowd, one)
    for delta in (0.0, 1e-6):
        assert most_moved(schema, (crowd, one, one), delta) <= 1.0 + 1e-12


def test_dates_are_made_of_what_the_gate_releases_alone():
    check_made_of_released_values(parcels(10, missing=False).schema, shipped)
