"""The time between a parent's and a child's date, where a rule of the link says that they lie close together."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from benchmarks.linked_tables import Shaped, linked, listed
from dpsyn_core.errors import SchemaError
from dpsyn_core.runs.synthesis import synthesize
from dpsyn_core.runs.trees import synthesis
from dpsyn_core.runs.trees.stages import stages_of
from dpsyn_core.schema.linked import LinkedSchema
from dpsyn_core.schema.rules.linked_spans import later, span_codes, spans_of
from tests.runs.trees.small import check_made_of_released_values, check_one_root_alone, most_moved

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
    made = synthesize(shaped.tables, shaped.schema, epsilon=3.0, delta=1e-9, rng=1).arrows
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
        ({}, {"missing": True}, 1),
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


def test_a_time_between_is_measured_where_the_date_of_the_parent_can_be_blank():
    shaped = parcels(missing=True)
    orders = shaped.tables["orders"].to_pandas()
    never = np.random.default_rng(2).random(len(orders)) < 0.2
    orders["ordered"] = orders["ordered"].where(~never)
    tables = {**shaped.tables, "orders": pa.Table.from_pandas(orders, preserve_index=False)}
    made = synthesize(tables, shaped.schema, epsilon=3.0, delta=1e-9, rng=1).arrows
    days, _ = days_between(made)
    assert 0.15 < days.isna().mean() < 0.25
    assert days.min() >= 0 and days.dropna().between(0, 12).mean() > 0.95


def test_a_blank_date_of_the_parent_has_a_code_of_its_own():
    for blank in (False, True):
        schema = parcels(10, missing=True, blank=blank).schema
        (one,) = spans_of(schema, schema.links[0])
        codes, last = span_codes(one.span), one.span.size - 1
        unknown = one.span.minus.binning.size
        assert codes.shape == (one.span.minus.size, one.span.of.size)
        assert (codes[unknown] == last).all() and codes[0, 0] == 0
        assert later(one.span, np.array([unknown, 3]), np.array([last, last])).tolist() == [
            -1, one.span.of.binning.size if blank else -1
        ]  # fmt: skip


def timed():
    """Orders and parcels with times of day, in bins of an hour."""
    times = [
        {"name": n, "kind": "datetime", "min": "2024-01-01T00:00:00", "max": last}
        for n, last in (("opened", "2024-01-31T23:59:59"), ("sent", "2024-02-09T23:59:59"))
    ]
    rule = {"kind": "order", "lower": "orders.opened", "upper": "sent", "close": True}
    return linked(
        "parcels", {"orders": ("order", times[:1]), "lines": (None, times[1:])},
        [{"parent": "orders", "child": "lines", "key": "order", "max_children": 3, "rules": [rule]}],
    )  # fmt: skip


def test_the_time_between_times_of_day_is_measured_as_well_as_their_bins_tell():
    schema = timed()
    (one,) = spans_of(schema, schema.links[0])
    hours = one.span.binning.starts
    assert hours[:4].tolist() == [0, 3600, 7200, 10800], "what no two bins lie apart is no value of it"
    rng = np.random.default_rng(1)
    opened = rng.integers(0, 31 * 86_400, 2_000)
    of = np.repeat(np.arange(2_000), 1 + rng.integers(0, 3, 2_000))
    sent = opened[of] + rng.integers(3_600, 4 * 86_400, len(of))
    stamp = [(np.datetime64("2024-01-01T00:00:00") + x).astype(str) for x in (opened, sent)]
    tables = {"orders": pa.table({"order": np.arange(2_000), "opened": stamp[0]}),
              "lines": pa.table({"order": of, "sent": stamp[1]})}  # fmt: skip
    made = synthesize(tables, schema, epsilon=3.0, delta=1e-9, rng=1).arrows
    both = made["lines"].to_pandas().astype(str).merge(made["orders"].to_pandas().astype(str), on="order")
    days = (pd.to_datetime(both["sent"], format="ISO8601") - pd.to_datetime(both["opened"], format="ISO8601")).dt.days
    assert days.min() >= 0 and (days <= 4).mean() > 0.95


PLAIN = {"kind": "order", "lower": "orders.seen", "upper": "shipped", "close": True}


@pytest.mark.parametrize(
    ("rule", "more", "said"),
    [
        ({"where": "kind = 1"}, {}, "'close' is about all children, and the rule about those with kind = 1"),
        (
            {},
            {"bins": {"every": "month"}},
            "a bin of 'orders.seen' holds up to 31 days, and the time between is measured",
        ),
        ({}, {"bins": {"count": 100}}, "holds up to 11 days"),
        (
            {"lower": "shipped", "upper": "orders.seen"},
            {},
            "the rule names 'shipped' and 'orders.seen'; leave 'close' out",
        ),
    ],
)
def test_close_dates_whose_time_between_is_not_measured_are_refused_when_the_schema_is_read(rule, more, said):
    schema = parcels(10, rule=PLAIN, placed="seen").schema
    assert spans_of(schema, schema.links[0])
    with pytest.raises(SchemaError, match=said) as refused:
        parcels(10, rule=PLAIN | rule, placed="seen", **more)
    assert "rule 1 of the link" in str(refused.value) and "close" in str(refused.value).split(": ", 1)[1]


@pytest.mark.parametrize(
    ("table", "inside", "across", "said"),
    [
        (
            0,
            ("seen", "paid"),
            ("orders.paid", "shipped"),
            "'orders.paid' is computed from 'seen' and not measured itself",
        ),
        (1, ("shipped", "came"), ("orders.seen", "came"), "'came' is computed from 'shipped' and not measured itself"),
    ],
)
def test_close_dates_that_a_table_computes_are_refused(table, inside, across, said):
    document = parcels(10, rule=PLAIN, placed="seen").schema.document()
    columns = document["tables"][table]["schema"]
    columns["attributes"].append(dated(inside[1], "2025-12-31"))
    LinkedSchema.of(document)
    columns["rules"] = [{"kind": "order", "lower": inside[0], "upper": inside[1], "close": True}]
    LinkedSchema.of(document)
    document["links"][0]["rules"] = [{"kind": "order", "lower": across[0], "upper": across[1], "close": True}]
    with pytest.raises(SchemaError, match=said):
        LinkedSchema.of(document)


def test_dates_in_too_many_bins_are_refused():
    document = parcels(10, rule=PLAIN, placed="seen").schema.document()
    for table, name in ((0, "seen"), (1, "shipped")):
        attribute = next(a for a in document["tables"][table]["schema"]["attributes"] if a["name"] == name)
        attribute.update(min="2000-01-01", bins={"every": "day"})
    with pytest.raises(
        SchemaError, match="has 9,132 bins and 'shipped' 9,163, and the time between is measured for up"
    ):
        LinkedSchema.of(document)


def test_dates_that_headers_alone_call_close_are_not_refused():
    for more in ({"bins": {"every": "month"}}, {"rule": {"kind": "order", "lower": "orders.ordered", "upper": "shipped",
                                                         "where": "kind = 1"}}):  # fmt: skip
        schema = parcels(10, **more).schema
        assert not spans_of(schema, schema.links[0])


@pytest.mark.parametrize("blank", [True, False])
def test_a_time_between_two_dates_starts_as_blank_only_where_the_later_date_may_be_blank(monkeypatch, blank):
    """Of three times the third has been released, and blanks."""
    span = SimpleNamespace(missing=True, of=SimpleNamespace(missing=blank))
    stage = SimpleNamespace(view=SimpleNamespace(columns=[SimpleNamespace(of=(0, 1), span=span)]))
    evidence = SimpleNamespace(probabilities=[np.array([0.0, 0.0, 0.3, 0.7])])
    starts = []

    def later(span, minus, drawn):
        starts.extend(drawn.tolist())
        return np.full(len(drawn), 5)

    monkeypatch.setattr(synthesis, "later", later)
    monkeypatch.setattr(synthesis, "_telling", lambda stage, evidence, place: (None, None))
    rows = np.zeros((200, 2), dtype=np.uint16)
    synthesis._start_by_difference(rows, stage, 0, evidence, np.random.default_rng(0))
    assert set(starts) == ({2, 3} if blank else {2})
    assert (rows[:, 1] == 5).all() and not rows[:, 0].any()
