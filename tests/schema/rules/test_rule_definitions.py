"""Every kind of rule by its definition, record by record in plain Python; and what no schema may declare."""

import datetime
import itertools

import numpy as np
import pyarrow as pa
import pytest

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.rules.columns import read_columns
from dpsyn_core.schema.rules.rule_breaks import breaking_record, broken_counts, derived_rules, rule_breaks
from tests.schema.helpers import cat, date, num, schema

DAYS = ("2019-12-30", "2020-03-02")
ATTRIBUTES = {
    "a": num("a", -5, 60, 9, missing=True, special_values=[99]), "b": num("b", -5, 60, 9, missing=True),
    "c": num("c", -90, 200, 9), "f": num("f", -2.0, 9.0, 9, "float", step=0.5),
    "g": num("g", -2.0, 90.0, 9, "float", step=0.25), "k": cat("k", ["u", "v", "w"], missing=True),
    "m": cat("m", ["x", "y"]), "from": date("from", *DAYS, "day", missing=True), "to": date("to", *DAYS, "day"),
    "born": date("born", "1950-01-01", "2020-12-31", "year"),
}  # fmt: skip


def declared(rule, *names):
    return schema(*(ATTRIBUTES[n] for n in names), rules=[rule | {"source": "public"}])


def records(n=600, seed=0):
    rng = np.random.default_rng(seed)
    some = rng.random((4, n))
    day = [datetime.date(2019, 12, 30) + datetime.timedelta(int(d)) for d in rng.integers(0, 64, 2 * n)]
    born = [datetime.date(1950, 1, 1) + datetime.timedelta(int(d)) for d in rng.integers(0, 25_900, n)]
    a = rng.integers(-5, 20, n).tolist()
    return {
        "a": [99 if s < 0.1 else None if s < 0.2 else v for v, s in zip(a, some[0], strict=True)],
        "b": [None if s < 0.1 else v for v, s in zip(rng.integers(-5, 20, n).tolist(), some[1], strict=True)],
        "c": rng.integers(-12, 30, n).tolist(),
        "f": (rng.integers(-4, 19, n) / 2).tolist(),
        "g": (rng.integers(-8, 40, n) / 4).tolist(),
        "k": [None if s < 0.1 else "uvw"[v] for v, s in zip(rng.integers(0, 3, n), some[2], strict=True)],
        "m": ["xy"[v] for v in rng.integers(0, 2, n)],
        "from": [None if s < 0.1 else d for d, s in zip(day[:n], some[3], strict=True)],
        "to": day[n:],
        "born": born,
    }


def number(v):
    return None if v in (None, 99) else v


def exact_years(later, earlier):
    """Birthdays that have passed; one of 29 February is on 1 March in common years."""
    years = later.year - earlier.year
    return years - ((later.month, later.day) < (earlier.month, earlier.day))


def both(test):
    return lambda *values: all(v is not None for v in values) and test(*values)


CASES = [
    ({"kind": "order", "lower": "a", "upper": "b"}, "ab", both(lambda a, b: a > b)),
    ({"kind": "order", "lower": "a", "upper": "b", "strict": True}, "ab", both(lambda a, b: a >= b)),
    ({"kind": "order", "lower": "from", "upper": "to"}, ("from", "to"), both(lambda a, b: a > b)),
    ({"kind": "sum", "column": "c", "parts": ["a", "b"]}, "cab", both(lambda c, a, b: c != a + b)),
    ({"kind": "sum", "column": "g", "parts": ["f", "c"]}, "gfc", both(lambda g, f, c: abs(g - f - c) >= 0.125)),
    ({"kind": "difference", "column": "c", "of": "a", "minus": "b"}, "cab", both(lambda c, a, b: c != a - b)),
    ({"kind": "difference", "column": "c", "of": "to", "minus": "from"}, ("c", "to", "from"),
     both(lambda c, t, f: c != (t - f).days)),
    ({"kind": "difference", "column": "c", "of": "to", "minus": "from", "unit": "weeks"}, ("c", "to", "from"),
     both(lambda c, t, f: abs(7 * c - (t - f).days) >= 7 * (1 - 1e-9))),
    ({"kind": "difference", "column": "c", "of": "to", "minus": "born", "unit": "completed-years"}, ("c", "to", "born"),
     both(lambda c, t, b: c != exact_years(t, b))),
    ({"kind": "ratio", "column": "f", "of": "c", "by": ["b"]}, "fcb",
     both(lambda f, c, b: b != 0 and abs(f - c / b) >= 0.5 * (1 + 1e-9))),
    ({"kind": "ratio", "column": "f", "of": "c", "by": ["b", "b"], "times": 10}, "fcb",
     both(lambda f, c, b: b != 0 and abs(f - 10 * c / b / b) >= 0.5 * (1 + 1e-9))),
    ({"kind": "impossible", "where": "k = u and a in [0, 5]"}, "ka",
     lambda k, a: k == "u" and a is not None and 0 <= a <= 5),
    ({"kind": "blank", "column": "b", "where": "m = x"}, "bm", lambda b, m: m == "x" and b is not None),
    ({"kind": "blank", "column": "b", "where": "m = x", "only": True}, "bm", lambda b, m: (m == "x") != (b is None)),
    ({"kind": "blank", "column": "k", "where": "m = x", "value": "w"}, "km", lambda k, m: m == "x" and k != "w"),
    ({"kind": "follows", "column": "m", "of": ["k"], "map": [["u", "x"], ["v", "y"]]}, "mk",
     lambda m, k: {"u": "x", "v": "y"}.get(k, m) != m),
]  # fmt: skip


def plain(name, value):
    return number(value) if name in "abcfg" else value


@pytest.mark.parametrize(("rule", "names", "breaks"), CASES, ids=lambda x: str(x)[:60] if isinstance(x, dict) else "")
def test_a_rule_is_broken_by_the_records_that_its_words_say(rule, names, breaks):
    made, drawn = declared(rule, *names), records()
    names = list(names)
    table = pa.table({n: pa.array(drawn[n]) for n in names})
    values = [[plain(n, v) for v in drawn[n]] for n in names]
    expected = [bool(breaks(*row)) for row in zip(*values, strict=True)]
    (own,) = made.rules
    group = read_columns(table, made, own.columns, comma=False)
    assert own.broken(group).tolist() == expected
    assert broken_counts(table, made) == [(own, sum(expected))]
    (found,) = rule_breaks(made, table.slice(0, 200), table)
    assert (found.real_records, found.synthetic_records) == (sum(expected), sum(expected[:200]))
    assert (found.real, found.synthetic) == (sum(expected) / 600, sum(expected[:200]) / 200)
    assert rule_breaks(made, table)[0].real is None
    record = breaking_record(own, made)
    filled = [plain(n, record.get(n)) for n in names]
    assert record and breaks(*filled)


@pytest.mark.parametrize("seed", range(4))
def test_sums_that_hold_keep_their_rule_and_those_a_step_off_do_not(seed):
    rng = np.random.default_rng(seed)
    f, c = rng.integers(0, 9, 200) / 2, rng.integers(0, 30, 200).astype(float)
    made = declared({"kind": "sum", "column": "g", "parts": ["f", "c"]}, *"gfc")
    for off, broken in ((0.0, 0), (0.1, 0), (0.125, 200), (-0.125, 200), (0.25, 200)):
        table = pa.table({"g": f + c + off, "f": f, "c": c.astype(int)})
        group = read_columns(table, made, ("g", "f", "c"), comma=False)
        assert abs(float((group["g"].values - f - c)[0]) - off) < 1e-9
        assert int(made.rules[0].broken(group).sum()) == broken


def test_records_are_unique_where_none_before_them_agrees():
    made = declared({"kind": "unique", "together": ["a", "k"]}, *"ak")
    drawn = records(300)
    table = pa.table({n: pa.array(drawn[n]) for n in "ak"})
    seen, expected = set(), []
    for a, k in zip(drawn["a"], drawn["k"], strict=True):
        key = (number(a), k)
        expected.append(None not in key and key in seen)
        if None not in key:
            seen.add(key)
    group = read_columns(table, made, ("a", "k"), comma=False)
    (own,) = made.rules
    assert own.broken(group).tolist() == expected and breaking_record(own, made) == {}
    assert own.combinations(made) == float("inf")
    whole = declared({"kind": "unique", "together": ["c", "m", "f"]}, *"cmf")
    assert whole.rules[0].combinations(whole) == 291 * 2 * 23
    fits = [whole.rules[0].redrawn({n: group_of(whole, n) for n in "cmf"}, turn) for turn in range(8)]
    assert fits[:4] == [("c",), ("f",), ("m",), ("c", "m", "f")] == fits[4:]


def group_of(made, name):
    drawn = records()
    return read_columns(pa.table({name: pa.array(drawn[name])}), made, (name,), comma=False)[name]


def test_a_derived_column_is_broken_where_its_map_gives_another_value():
    derived = {"name": "d", "kind": "derived", "from": "k", "map": [["u", 1], ["v", 1], ["w", 2]]}
    made = schema(ATTRIBUTES["k"], derived)
    table = pa.table({"k": ["u", "v", "w", None, "u", "w"], "d": ["1", "2", "2", "7", None, "1"]})
    assert [count for _, count in broken_counts(table, made)] == [2]
    assert str(derived_rules(made)["d"]).startswith("d follows from k")
    assert broken_counts(table.select(["k"]), made) == []


@pytest.mark.parametrize(
    ("rule", "names", "said"),
    [
        ({"kind": "order", "lower": "a", "upper": "k"}, "ak", "compares numbers or dates"),
        ({"kind": "order", "lower": "a", "upper": "to"}, ("a", "to"), "cannot be compared"),
        ({"kind": "order", "lower": "a", "upper": "b", "close": True}, "ab", "is about two dates"),
        ({"kind": "sum", "column": "c", "parts": ["a", "k"]}, "cak", "holds no numbers"),
        ({"kind": "difference", "column": "c", "of": "a", "minus": "b", "unit": "days"}, "cab", "has no unit"),
        ({"kind": "difference", "column": "k", "of": "a", "minus": "b"}, "kab", "holds no numbers"),
        ({"kind": "ratio", "column": "f", "of": "f", "by": ["b"]}, "fb", "on both sides"),
        ({"kind": "ratio", "column": "f", "of": "c", "by": ["f"]}, "fc", "on both sides"),
        ({"kind": "blank", "column": "c", "where": "m = x"}, "cm", "has no blank cells"),
        ({"kind": "blank", "column": "k", "where": "m = x", "value": "z"}, "km", "no listed or special value"),
        ({"kind": "blank", "column": "a", "where": "m = x", "value": 98}, "am", "no listed or special value"),
        ({"kind": "impossible", "where": "m = z"}, "m", "z"),
    ],
)
def test_a_rule_that_its_columns_do_not_fit_is_refused(rule, names, said):
    with pytest.raises(SchemaError, match=said):
        declared(rule, *names)


@pytest.mark.parametrize(("low", "high", "strict", "fits"), [
    (10, 10, False, True), (11, 10, False, False), (10, 10, True, False), (9, 10, True, True),
])  # fmt: skip
def test_an_order_is_declared_where_two_values_can_meet_it(low, high, strict, fits):
    columns = num("x", low, 90, 4), num("y", -90, high, 4)
    rule = {"kind": "order", "lower": "x", "upper": "y", "strict": strict, "source": "public"}
    if fits:
        assert len(schema(*columns, rules=[rule]).rules) == 1
    else:
        with pytest.raises(SchemaError, match="no values can meet it"):
            schema(*columns, rules=[rule])


def test_a_sum_is_declared_where_its_ranges_can_add_up():
    for low, high in itertools.product((-3, 3, 8, 9), repeat=2):
        if low > high:
            continue
        columns = num("t", low, high, 2), num("x", 1, 4, 2), num("y", 2, 4, 2)
        rule = {"kind": "sum", "column": "t", "parts": ["x", "y"], "source": "public"}
        if low <= 8 and high >= 3:
            assert schema(*columns, rules=[rule]).rules
        else:
            with pytest.raises(SchemaError, match="widen the range"):
                schema(*columns, rules=[rule])
