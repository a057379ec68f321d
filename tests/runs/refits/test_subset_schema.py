"""Narrowed schemas: every record that meets the condition keeps its place, and nothing else is left."""

from datetime import date as day
from datetime import timedelta

import numpy as np
import pyarrow as pa
import pytest

from dpsyn_core.errors import SchemaError
from dpsyn_core.runs.refits.subset_schema import narrowed, only_columns
from dpsyn_core.schema.codec import Codec
from tests.schema.helpers import cat, date, num, schema

N = 3000
RNG = np.random.default_rng(0)
BORN = [day(1950, 1, 1) + timedelta(days=int(d)) for d in RNG.integers(0, 3653, N)]
RECORDS = {
    "city": RNG.choice(["A", "B", "C, D", "else", ""], N).tolist(),
    "age": RNG.integers(0, 100, N).tolist(),
    "pay": [[None, 9999, *range(0, 401, 8)][i] for i in RNG.integers(0, 53, N)],
    "share": (RNG.integers(0, 401, N) / 400).tolist(),
    "born": [b.isoformat() for b in BORN],
}
WHOLE = schema(
    cat("city", ["A", "B", "C, D"], other=True, missing=True),
    num("age", 0, 99, [0, 10, 25, 60]),
    num("pay", 0, 400, 10, special_values=[9999], missing=True),
    num("share", 0, 1, 8, dtype="float"),
    date("born", "1950-01-01", "1959-12-31", "year"),
    rules=[{"kind": "impossible", "where": "age in [0, 15] and city = A", "source": "public"}],
    n_records=N,
)
LISTED = {"A", "B", "C, D"}


def table(keep=slice(None)):
    rows = np.arange(N)[keep]
    return pa.table({n: pa.array([v[i] for i in rows]) for n, v in RECORDS.items()})


def other(city):
    return bool(city) and city not in LISTED


CASES = {
    "city = A": lambda r: r["city"] == "A",
    "city in {B, \"C, D\"}": lambda r: r["city"] in ("B", "C, D"),
    "city != A": lambda r: r["city"] != "A",
    "city in {A, (missing)}": lambda r: r["city"] in ("A", ""),
    "age >= 25": lambda r: r["age"] >= 25,
    "age > 25": lambda r: r["age"] > 25,
    "age <= 59": lambda r: r["age"] <= 59,
    "age < 60": lambda r: r["age"] < 60,
    "age in [7, 61]": lambda r: 7 <= r["age"] <= 61,
    "age = 30": lambda r: r["age"] == 30,
    "age >= 10 and age <= 11": lambda r: r["age"] in (10, 11),
    "pay >= 41": lambda r: r["pay"] is not None and 41 <= r["pay"] < 9999,
    "pay in [80, 120]": lambda r: r["pay"] is not None and 80 <= r["pay"] <= 120,
    "share >= 0.25": lambda r: r["share"] >= 0.25,
    "share in [0.1, 0.6]": lambda r: 0.1 <= r["share"] <= 0.6,
    "born >= 1953-05-17": lambda r: r["born"] >= "1953-05-17",
    "born in [1951-01-01, 1951-12-31]": lambda r: "1951-01-01" <= r["born"] <= "1951-12-31",
    "born = 1955-02-03": lambda r: r["born"] == "1955-02-03",
    "age >= 25 and city = B and born < 1955-01-01": (
        lambda r: r["age"] >= 25 and r["city"] == "B" and r["born"] < "1955-01-01"
    ),
}  # fmt: skip


@pytest.mark.parametrize("where", CASES)
def test_records_that_meet_a_condition_keep_their_cells_and_no_cell_is_left_that_none_of_them_can_have(where):
    part = narrowed(WHOLE, where)
    rows = [dict(zip(RECORDS, values, strict=True)) for values in zip(*RECORDS.values(), strict=True)]
    keep = np.flatnonzero([CASES[where](r) for r in rows])
    whole, fine = Codec(WHOLE), Codec(part.schema)
    before = whole.encode(table(keep)).codes
    after = fine.encode(table(keep)).codes
    assert before.shape == after.shape
    for i, name in enumerate(WHOLE.domain().names):
        size = part.schema.domain().sizes[i]
        if name not in part.inside:
            assert size == WHOLE.domain().sizes[i] and np.array_equal(before[i], after[i])
            continue
        inside = part.inside[name]
        assert len(inside.origin) == len(inside.share) == size
        assert np.array_equal(inside.origin[after[i]], before[i])
        assert (inside.share > 0).all() and (inside.share <= 1).all()
    assert part.schema.n_records is None and part.schema.questions is None


@pytest.mark.parametrize(
    ("where", "name", "shares"),
    [
        ("age in [7, 61]", "age", [3 / 10, 1, 1, 2 / 40]),
        ("age = 30", "age", [1 / 35]),
        ("age >= 25", "age", [1, 1]),
        ("age < 60", "age", [1, 1, 1]),
        ("age > 9", "age", [1, 1, 1]),
        ("age in [12, 25]", "age", [13 / 15, 1 / 35]),
        ("age in [10, 60]", "age", [1, 1, 1 / 40]),
        ("share in [0.1, 0.6]", "share", [0.2, 1, 1, 1, 0.8]),
        ("born in [1950-12-30, 1952-01-01]", "born", [2 / 365, 1, 1 / 366]),
        ("city != A", "city", [1, 1, 1, 1]),
        ('city in {A, "C, D"}', "city", [1, 1]),
    ],
)
def test_a_cut_cell_is_left_by_the_part_of_its_values_that_meet_the_condition(where, name, shares):
    assert narrowed(WHOLE, where).inside[name].share == pytest.approx(np.array(shares))


@pytest.mark.parametrize(
    ("where", "ends"),
    [
        *(("age >= 25", (25, 99)), ("age > 25", (26, 99)), ("age < 60", (0, 59)), ("age <= 60", (0, 60))),
        *(("age in [-5, 400]", (0, 99)), ("age >= 30.5", (31, 99)), ("age = 99", (99, 99)), ("age = 0", (0, 0))),
    ],
)
def test_the_range_ends_where_the_condition_does(where, ends):
    found = narrowed(WHOLE, where).schema["age"]
    assert (found.min, found.max) == ends


@pytest.mark.parametrize(
    ("where", "other", "missing", "values"),
    [
        ("city != A", True, True, ("B", "C, D")),
        ("city in {A, (missing)}", False, True, ("A",)),
        ("city in {A, (other)}", True, False, ("A",)),
        ("city = B", False, False, ("B",)),
    ],
)
def test_blank_and_other_cells_stay_only_where_they_meet_the_condition(where, other, missing, values):
    found = narrowed(WHOLE, where).schema["city"]
    assert (found.other, found.missing, found.values) == (other, missing, values)


@pytest.mark.parametrize("where", ["city = (missing)", "pay = (missing)", "pay = 9999", "pay in {9999, (missing)}"])
def test_where_only_blank_or_special_cells_are_left_a_rule_keeps_the_others_out(where):
    part = narrowed(WHOLE, where)
    name = where.split()[0]
    inside = part.inside[name]
    size = WHOLE.domain()[name].size
    labels = WHOLE[name].labels()
    met = [label in where for label in labels]
    assert inside.origin.tolist() == list(range(size)) and inside.share.tolist() == [float(m) for m in met]
    assert len(part.schema.rules) == len(WHOLE.rules) + 1
    assert part.schema[name] == WHOLE[name]


@pytest.mark.parametrize(
    ("where", "words"),
    [
        *(
            ("age > 99", "no cell of 'age'"),
            ("age >= 30 and age < 30", "no cell of 'age'"),
            ("nobody = 1", "no column"),
        ),
        *(
            ("pay >= 80 and pay = (missing)", "no cell of 'pay'"),
            ("age != 30", "one interval"),
            ("age in {3, 5}", "one"),
        ),
        *(("pay in {80, (missing)}", "some of {9999, "), ("city = A and city = B", "no cell of 'city'")),
    ],
)
def test_a_condition_that_leaves_nothing_or_no_interval_is_refused(where, words):
    with pytest.raises(SchemaError, match=words):
        narrowed(WHOLE, where)


def test_some_columns_keep_their_rules_and_lose_those_that_name_another():
    assert len(only_columns(WHOLE, ["city", "age"]).rules) == 1
    kept = only_columns(WHOLE, ["born", "age"])
    assert kept.rules == () and [a.name for a in kept.attributes] == ["age", "born"] and kept.n_records == N
    for wrong in (["age", "nobody"], []):
        with pytest.raises(SchemaError, match="is no column of the release"):
            only_columns(WHOLE, wrong)
