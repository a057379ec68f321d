"""Rules that never break: schemas, rules and tables at random, and every registered system."""

import numpy as np
import pyarrow as pa
import pytest

from dpsyn_core import synthesize, synthesize_to
from dpsyn_core.errors import SchemaError
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.runs import parts
from dpsyn_core.runs.tables import table_of
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.document import Schema, SchemaUnit
from dpsyn_core.schema.rules.repair import check_rules, repair
from dpsyn_core.schema.rules.rule_breaks import broken_counts
from dpsyn_core.systems import registry
from dpsyn_core.tables.read import read_table
from tests.schema.helpers import cat, date, num

PEOPLE = [
    {"name": "age", "kind": "numeric", "dtype": "integer", "min": 0, "max": 100, "bins": {"count": 20}},
    cat("marital", ["single", "married", "widowed"]),
    {"name": "in", "kind": "datetime", "min": "2020-01-01", "max": "2020-12-31", "missing": True},
    {"name": "out", "kind": "datetime", "min": "2020-01-01", "max": "2021-01-31", "formats": ["%d/%m/%Y"]},
    num("days", 0, 30, 31),
    {"name": "code", "kind": "derived", "from": "marital", "map": [["single", 0], ["married", 1], ["widowed", 2]]},
]  # fmt: skip
RULES = [
    {"kind": "order", "lower": "in", "upper": "out"},
    {"kind": "difference", "column": "days", "of": "out", "minus": "in"},
    {"kind": "impossible", "where": "age in [0, 15] and marital in {married, widowed}"},
    {"kind": "impossible", "where": "days in [20, 30] and age in [90, 100]"},
]


def declared(rules, attributes=PEOPLE):
    return Schema.of({"version": 1, "name": "t", "attributes": attributes, "rules": rules})


def drawn(schema, n, rng):
    """A table of records drawn from the domain, without regard to rules."""
    codes = np.array([rng.integers(0, a.size, n) for a in schema.coded]).astype(np.uint32)
    return Codec(schema).decode(codes, rng=rng, listed=bool(rng.integers(2)))


def check_repaired(table, made, schema):
    assert not sum(count for _, count in broken_counts(made, schema))
    assert made.schema == table.schema
    for a in schema.coded:  # every cell is read as one of the domain, and not clamped into it
        if a.kind != "categorical":
            from dpsyn_core.schema.misfit import misfits

            assert not misfits(schema, made.select([a.name])), a.name


def random_schema(rng):
    n, kinds = int(rng.integers(2, 5)), ["%d/%m/%Y", "%Y-%m-%d"]
    attributes = []
    for i in range(n):
        low = int(rng.integers(-20, 20))
        attributes.append(
            num(f"i{i}", low, low + int(rng.integers(1, 80)), int(rng.integers(1, 9)), missing=bool(i % 2))
        )
        first = np.datetime64("2020-01-01") + int(rng.integers(0, 50))
        last = first + int(rng.integers(1, 90))
        how = {"formats": [kinds[i % 2]]} if rng.integers(2) else {}
        attributes.append(date(f"d{i}", str(first), str(last), 5, **how))
        attributes.append(cat(f"c{i}", list("abcd")[: int(rng.integers(2, 5))], other=bool(i % 2)))
        attributes.append(num(f"f{i}", -2.5, float(rng.integers(1, 9)), 4, "float", step=[0.05, 0.5][i % 2]))
    rules = []
    for _ in range(int(rng.integers(1, 7))):
        kind, (a, b) = rng.integers(5), rng.choice(n, 2, replace=False)
        letter = "idf"[rng.integers(3)]
        if kind == 0:
            rules.append({"kind": "order", "lower": f"{letter}{a}", "upper": f"{letter}{b}", "strict": bool(a % 2)})
        elif kind == 1:
            rules.append({"kind": "difference", "column": f"i{a}", "of": f"d{a}", "minus": f"d{b}"})
        elif kind == 2 and n > 2:
            c = next(i for i in range(n) if i not in (a, b))
            rules.append({"kind": "sum", "column": f"i{c}", "parts": [f"i{a}", f"i{b}"]})
        else:
            rules.append({"kind": "impossible", "where": f"c{a} in {{a, b}} and i{b} in [-5, {int(rng.integers(60))}]"})
    return declared(rules, attributes)


def wide_schema(rng):
    """Columns of all kinds, and rules of all kinds upon them that share columns."""
    attributes = [
        cat("city", list("abcdefgh"), missing=bool(rng.integers(2))), cat("land", ["X", "Y", "Z"], other=True),
        cat("yes", ["no", "yes"]), num("due", 0, 40, 5, missing=True, special_values=[99]),
        {**date("in", "2020-01-01T00:00:00", "2020-01-09T23:59:59", 9)},
        {**date("out", "2020-01-01T00:00:00", "2020-01-20T23:59:59", 9)},
        num("stay", 0, int(rng.integers(3, 400)), 4), num("kg", 30, 150, 8, "float", step=0.5),
        num("cm", 100, 210, 9, missing=True), num("bmi", 8, 60, 10, "float", step=0.1),
        num("net", 0, 50, 6, "float", step=0.01), num("tax", -1, 9, 6, "float", step=0.05),
        num("gross", 0, 55, 6, "float", step=0.01), date("born", "1950-01-01", "2019-12-31", "year"),
        date("seen", "2020-01-01", "2021-12-31", "month"), num("age", 0, 70, 7),
        num("year", 1950, 2019, 7), cat("dow", ["Mo", "Di", "Mi", "Do", "Fr", "Sa", "So"], missing=True),
        num("hour", 0, 23, 5, "float"), cat("quarter", ["Q1", "Q2", "Q3", "Q4", "none"]),
        num("months", 0, 850, 9, missing=True), num("turning", 0, 70, 8, special_values=[-9]),
    ]  # fmt: skip
    lands = "XXYYZ"[: int(rng.integers(1, 6))]
    public = {"map": [*zip("abcdefgh", lands, strict=False)]} if rng.integers(2) else {}
    only, unit = bool(rng.integers(2)), ["minutes", "hours", "days"][rng.integers(3)]
    rules = [
        {"kind": "follows", "column": "land", "of": ["city"], **public},
        {"kind": "follows", "column": "yes", "of": ["city", "land"]},
        {"kind": "follows", "column": "age", "of": ["yes"], "map": [["no", 7], ["yes", 60]]},
        {"kind": "blank", "column": "due", "where": "yes = no", "only": bool(rng.integers(2))},
        {"kind": "blank", "column": "due", "where": "city in {c, d} and yes = yes", "value": 99, "only": only},
        {"kind": "blank", "column": "cm", "where": "kg in [100, 150]"},
        {"kind": "difference", "column": "stay", "of": "out", "minus": "in", "unit": unit},
        {"kind": "difference", "column": "age", "of": "seen", "minus": "born", "unit": "years"},
        {"kind": "ratio", "column": "bmi", "of": "kg", "by": ["cm", "cm"], "times": 10_000},
        {"kind": "sum", "column": "gross", "parts": ["net", "tax"]},
        {"kind": "order", "lower": "in", "upper": "out", "strict": True},
        {"kind": "order", "lower": "tax", "upper": "net"},
        {"kind": "impossible", "where": "age in [0, 17] and land = X"},
        {"kind": "follows", "column": "year", "of": ["born"], "part": "year", "measured": bool(rng.integers(2))},
        {"kind": "follows", "column": "dow", "of": ["seen"], "part": "weekday"},
        {"kind": "follows", "column": "quarter", "of": ["seen"], "part": "quarter"},
        {"kind": "follows", "column": "hour", "of": ["in"], "part": "hour"},
        {"kind": "impossible", "where": "hour in [20, 23] and dow in {Sa, So}"},
        {"kind": "unique", "together": ["city", "stay"]},
        {"kind": "unique", "together": ["age", "yes", "gross"]},
        {"kind": "difference", "column": "age", "of": "seen", "minus": "born", "unit": "completed-years"},
        {"kind": "difference", "column": "months", "of": "in", "minus": "out", "unit": "completed-months"},
        {"kind": "difference", "column": "months", "of": "seen", "minus": "born", "unit": "completed-months"},
        {"kind": "follows", "column": "turning", "of": ["born"], "part": "completed-years", "on": "2020-02-29"},
        {"kind": "order", "lower": "turning", "upper": "age"},
    ]  # fmt: skip
    kept = rng.random(len(rules)) < rng.choice([0.2, 0.5])
    return declared([r for r, k in zip(rules, kept, strict=True) if k], attributes)


@pytest.mark.parametrize("seed", range(190))  # from 150 on wide schemas, which take seconds each
def test_no_rule_is_broken_whatever_schema_rules_and_table(seed):
    rng = np.random.default_rng(seed)
    try:
        schema = random_schema(rng) if seed < 150 else wide_schema(rng)
        check_rules(schema)
    except SchemaError as error:  # said before anything is charged
        assert "no values can meet it" in str(error) or "no record was found" in str(error)
        return
    table = drawn(schema, int(rng.choice([1, 7, 400])), rng)
    made, found = repair(table, schema.rules, schema, rng)
    check_repaired(table, made, schema)
    bare = schema.model_copy(update={"rules": ()})
    before = [b for rule in schema.rules for b in [broken_counts(table, bare.model_copy(update={"rules": (rule,)}))]]
    assert (found.cells + found.left_out > 0) == any(count for listed in before for _, count in listed)
    if found.left_out:
        assert made.num_rows == table.num_rows - found.left_out and any(r.kind == "unique" for r in schema.rules)
        return
    changed = sum(
        x != y
        for name in table.column_names
        for x, y in zip(table[name].to_pylist(), made[name].to_pylist(), strict=True)
    )
    assert changed == found.cells


def test_columns_of_no_broken_rule_stay_bit_for_bit():
    schema, rng = declared(RULES[:2]), np.random.default_rng(3)
    table = drawn(schema, 3000, rng)
    made, found = repair(table, schema.rules, schema, rng)
    check_repaired(table, made, schema)
    assert found.records and not made.equals(table)
    for name in ("age", "marital", "code"):
        assert table[name].equals(made[name])


def test_impossible_records_exchange_a_cell_so_that_columns_keep_their_counts():
    schema, rng = declared(RULES[2:3]), np.random.default_rng(3)
    table = drawn(schema, 3000, rng)
    made, found = repair(table, schema.rules, schema, rng)
    check_repaired(table, made, schema)
    assert found.records > 100
    before, after = (Codec(schema).encode(t, individuals=False).codes for t in (table, made))
    for i in (0, 1):  # ages in their bins, and marital
        moved = np.bincount(before[i], minlength=20) - np.bincount(after[i], minlength=20)
        assert np.abs(moved).sum() <= 0.05 * found.records  # without: 0.9 of them
    code = {"single": 0, "married": 1, "widowed": 2}
    assert [code[m] for m in made["marital"].to_pylist()] == made["code"].to_pylist()


@pytest.mark.parametrize("seed", range(4))
def test_a_blank_is_filled_though_every_record_that_needs_it_breaks_another_rule_too(seed):
    day = {"kind": "datetime", "min": "2022-01-01", "max": "2022-12-31", "bins": {"every": "month"}}
    attributes = [
        cat("pregnant", ["no", "yes"]), {"name": "due", **day, "missing": True}, {"name": "start", **day},
        {"name": "end", **day}, num("days", 0, 60, 20, missing=True),
    ]  # fmt: skip
    rules = [
        {"kind": "blank", "column": "due", "where": "pregnant = no", "only": True},
        {"kind": "order", "lower": "start", "upper": "due"},
        {"kind": "difference", "column": "days", "of": "end", "minus": "start"},
    ]
    schema, rng = declared(rules, attributes), np.random.default_rng(seed)
    codes = np.array([rng.integers(0, a.size - a.special, 3000) for a in schema.coded])
    codes[0] = rng.random(3000) < 0.05
    codes[1] = np.where(rng.random(3000) < 0.05, codes[1], schema["due"].size - 1)  # without regard to who is pregnant
    table = Codec(schema).decode(codes.astype(np.uint32), rng=rng)
    made, _ = repair(table, schema.rules, schema, rng)
    check_repaired(table, made, schema)
    before, after = (t["pregnant"].to_pylist().count("yes") for t in (table, made))
    assert (
        after >= 0.6 * before
    )  # cells of records that keep all rules leave a twentieth: hardly one of those is pregnant


def test_a_rule_draws_nothing_where_none_is_broken():
    schema = declared([{"kind": "impossible", "where": "age = 7 and marital = widowed"}])
    codes = np.zeros((len(schema.coded), 50), dtype=np.uint32)
    rng, other = np.random.default_rng(1), np.random.default_rng(1)
    plain = schema.model_copy(update={"rules": ()})
    names = schema.output_names
    assert table_of(codes, schema, columns=names, rng=rng).equals(table_of(codes, plain, columns=names, rng=other))
    assert rng.integers(2**60) == other.integers(2**60)


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ([{"kind": "order", "lower": "x", "upper": "out"}], "'x' is no column"),
        ([{"kind": "order", "lower": "age", "upper": "out"}], "cannot be compared"),
        ([{"kind": "order", "lower": "marital", "upper": "out"}], "compares numbers or dates"),
        ([{"kind": "order", "lower": "age", "upper": "age"}], "twice"),
        ([{"kind": "sum", "column": "age", "parts": ["days", "in"]}], "no numbers"),
        ([{"kind": "impossible", "where": "marital = divorced"}], "no value of 'marital'"),
        ([{"kind": "impossible", "where": "marital in {single, married, widowed}"}], "no record would be left"),
        ([{"kind": "impossible", "where": "age under 5"}], "cannot be read"),
        ([{"kind": "impossible", "where": "in in [spring, 2020-05-01]"}], "no date"),
        (
            [{"kind": "never", "where": "age = 5"}],
            "known are impossible, blank, follows, difference, sum, ratio, order, unique",
        ),
        ([{"kind": "order", "lower": "age"}], r"rules\[0\].upper is required"),
    ],
)
def test_a_wrong_rule_is_refused_in_one_sentence(rules, said):
    with pytest.raises(SchemaError, match=said):
        declared(rules)


def test_an_order_that_no_values_meet_is_refused():
    ends = [num("a", 5, 9, 5), num("b", 0, 5, 6)]
    declared([{"kind": "order", "lower": "a", "upper": "b"}], ends)
    with pytest.raises(SchemaError, match="no values can meet it"):
        declared([{"kind": "order", "lower": "a", "upper": "b", "strict": True}], ends)


def test_rules_that_contradict_each_other_are_refused_before_anything_is_charged(tmp_path):
    ends = [num("a", 0, 9, 10), num("b", 0, 9, 10)]
    both = [{"kind": "order", "lower": x, "upper": y, "strict": True} for x, y in ("ab", "ba")]
    schema, ledger = declared(both, ends), Ledger(tmp_path / "ledger.db")
    with pytest.raises(SchemaError, match="contradict"):
        synthesize(pa.table({"a": [1], "b": [2]}), schema, epsilon=1, delta=1e-6, rng=0, ledger=ledger)
    assert not (tmp_path / "ledger.db").exists()


@pytest.mark.parametrize("negated", [False, True])
def test_the_one_value_that_an_impossible_interval_leaves_is_found(negated):
    money = {"dtype": "float", "step": 0.01}
    columns = [
        cat("status", ["closed"]), num("left", 0, 90_000, 40, **money), num("paid", 0, 90_000, 40, **money),
        num("amount", 500, 90_000, 40, **money), date("on", "2020-01-01", "2029-12-31", "year"),
    ]  # fmt: skip
    rules = [
        {
            "kind": "impossible",
            "where": "status = closed and left " + ("not in {0}" if negated else "in [0.01, 90000]"),
        },
        {"kind": "impossible", "where": "status = closed and on in [2020-01-02, 2029-12-31]"},
        {"kind": "sum", "column": "amount", "parts": ["paid", "left"]},
    ]
    schema, rng = declared(rules, columns), np.random.default_rng(1)
    check_rules(schema)
    table = drawn(schema, 500, rng)
    made, _ = repair(table, schema.rules, schema, rng)
    check_repaired(table, made, schema)
    assert set(made["left"].to_pylist()) == {0.0} and {str(d) for d in made["on"].to_pylist()} == {"2020-01-01"}
    assert len(set(made["amount"].to_pylist())) > 300


SMALL = [
    num("a", 0, 4, 5, group="g"), num("b", 0, 4, 5, group="g"), num("c", 0, 8, 9, group="g"),
    cat("k", ["x", "y", "z"]),
    date("s", "2020-01-01", "2020-01-04", "day", group="h"), date("e", "2020-01-01", "2020-01-04", "day", group="h"),
    cat("f", ["u", "v"]), num("t", 0, 3, 4, missing=True),
]  # fmt: skip
SMALL_RULES = [
    {"kind": "sum", "column": "c", "parts": ["a", "b"]},
    {"kind": "order", "lower": "s", "upper": "e"},
    {"kind": "impossible", "where": "k = x and a in [3, 4]"},
    {"kind": "impossible", "where": "k = y and c in [0, 2]"},
    {"kind": "follows", "column": "f", "of": ["k"], "map": [["x", "u"], ["y", "v"], ["z", "u"]]},
    {"kind": "blank", "column": "t", "where": "f = u", "only": True},
]
TABLE_WIDE = [
    {"kind": "follows", "column": "f", "of": ["k"]},
    {"kind": "unique", "together": ["a", "s", "e", "k"]},
]


def small_table(n=300):
    rng = np.random.default_rng(5)
    schema = declared(SMALL_RULES, SMALL)
    return repair(drawn(schema, n, rng), schema.rules, schema, rng)[0]


SHALLOW = [n for n in registry.names() if not registry.config_class(n).trains]


@pytest.mark.parametrize("epsilon", [0.1, 10.0])
@pytest.mark.parametrize("method", SHALLOW)
def test_no_system_breaks_a_rule(method, epsilon, tmp_path):
    promise = registry.config_class(method).guarantee
    unit = SchemaUnit(neighbours="add-remove" if "add-remove" in promise.neighbours else "replace")
    schema = declared(SMALL_RULES, SMALL).model_copy(update={"n_records": 300, "unit": unit})
    made = synthesize(
        small_table(), schema, epsilon=epsilon, delta=0.0 if promise.pure else 1e-6, rng=1, method=method,
        ledger=Ledger(tmp_path / "l.db"),
    )  # fmt: skip
    assert made.arrow.num_rows
    assert not sum(n for _, n in broken_counts(made.arrow, schema))


def drawn_small(rng):
    """Few values, so that systems that hold the whole domain take it; rules that share columns, of every kind."""
    columns = [
        num("a", 0, 2, 3, group="g"), num("b", 0, 2, 3, group="g"), num("c", 0, 4, int(rng.integers(2, 6)), group="g"),
        cat("k", ["x", "y", "z"], group="h"), cat("f", ["u", "v"], group="h"),
        date("s", "2020-01-01", "2020-01-03", "day"), date("e", "2020-01-01", "2020-01-04", "day"),
        num("t", 0, 3, 2, missing=bool(rng.integers(2))),
        cat("w", ["We", "Th", "Fr", "Sa", "Su", "Mo", "Tu"], group="i"),
    ]  # fmt: skip
    low, measured = int(rng.integers(5)), {"measured": bool(rng.integers(2))}
    maps = [None, [["x", "u"], ["y", "v"]], [["x", "u"], ["y", "v"], ["z", "u"]]]
    rules = [
        {"kind": "sum", "column": "c", "parts": ["a", "b"], **measured},
        {"kind": "order", "lower": "a", "upper": "b", "strict": bool(rng.integers(2))},
        {"kind": "order", "lower": "b", "upper": "c"},
        {"kind": "order", "lower": "s", "upper": "e"},
        {"kind": "difference", "column": "t", "of": "e", "minus": "s", **measured},
        {"kind": "ratio", "column": "c", "of": "a", "by": ["b"], "times": 2},
        {"kind": "impossible", "where": f"k = x and c in [{low}, 4]"},
        {"kind": "impossible", "where": f"f = u and a in [{low % 3}, 2] and s in [2020-01-02, 2020-01-03]"},
        {"kind": "follows", "column": "f", "of": ["k"], "map": maps[rng.integers(3)], **measured},
        {"kind": "blank", "column": "t", "where": "f = u", "only": bool(rng.integers(2))},
        {"kind": "follows", "column": "w", "of": ["e"], "part": "weekday", **measured},
        {"kind": "unique", "together": ["a", "b", "c", "k", "s", "e", "t"]},
    ]  # fmt: skip
    kept = rng.random(len(rules)) < rng.choice([0.3, 0.6])
    return declared([r for r, k in zip(rules, kept, strict=True) if k], columns)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("method", SHALLOW)
def test_no_system_breaks_a_rule_of_whatever_schema(method, seed, tmp_path):
    promise, rng = registry.config_class(method).guarantee, np.random.default_rng([seed, SHALLOW.index(method)])
    unit = SchemaUnit(neighbours="add-remove" if "add-remove" in promise.neighbours else "replace")
    for _ in range(100):
        try:
            schema = drawn_small(rng).model_copy(update={"n_records": 40, "unit": unit})
            check_rules(schema, 40)
            break
        except SchemaError:
            continue
    table = repair(drawn(schema, 40, rng), schema.rules, schema, rng)[0]
    made = synthesize(
        table, schema, epsilon=float(rng.choice([0.05, 1.0, 20.0])), delta=0.0 if promise.pure else 1e-6, rng=1,
        method=method, ledger=Ledger(tmp_path / "l.db"),
    ).arrow  # fmt: skip
    assert made.num_rows and tuple(made.column_names) == schema.output_names
    check_repaired(made, made, schema)


def test_stored_parts_and_several_tables_keep_the_rules(tmp_path, monkeypatch):
    schema, ledger = declared(SMALL_RULES, SMALL), Ledger(tmp_path / "l.db")
    out = tmp_path / "parts"
    monkeypatch.setattr(parts, "ALLOWED", 1)
    synthesize_to(
        small_table(), schema, out=f"{out}/", manifest=tmp_path / "m.json", rng=1, epsilon=1.0, delta=1e-6,
        n_records=5000, ledger=ledger, engine="stored",
    )  # fmt: skip
    whole = read_table(out)
    assert whole.num_rows == 5000 and not sum(n for _, n in broken_counts(whole, schema))
    several = synthesize(small_table(), schema, epsilon=1, delta=1e-6, rng=1, tables=3, ledger=ledger)
    assert [sum(n for t in c.values() for _, n in broken_counts(t, schema)) for c in several.arrow_copies] == [0, 0, 0]


@pytest.mark.parametrize("method", ["rls", "mst", "independent"])
def test_rules_on_all_records_together_hold_in_memory_and_in_parts(method, tmp_path, monkeypatch):
    schema, ledger = declared(SMALL_RULES[:2] + TABLE_WIDE, SMALL), Ledger(tmp_path / "l.db")
    monkeypatch.setattr(parts, "ALLOWED", 1)
    made = synthesize(small_table(), schema, epsilon=1, delta=1e-6, rng=1, method=method, ledger=ledger)
    assert made.manifest.n_records == made.arrow.num_rows > 50 and made.codes.shape[1] == made.arrow.num_rows
    assert not sum(n for _, n in broken_counts(made.arrow, schema))
    out = tmp_path / "parts"
    stated = synthesize_to(
        small_table(), schema, out=f"{out}/", manifest=tmp_path / "m.json", rng=1, epsilon=1.0, delta=1e-6,
        method=method, ledger=ledger, engine="stored",
    )  # fmt: skip
    whole = read_table(out)
    assert whole.num_rows == stated.n_records and not sum(n for _, n in broken_counts(whole, schema))


def test_more_records_than_can_differ_are_refused_before_anything_is_charged(tmp_path):
    columns = [num("a", 0, 3, 4), cat("k", ["x", "y"])]
    schema = declared([{"kind": "unique", "together": ["a", "k"]}], columns)
    table, ledger = pa.table({"a": [1, 2], "k": ["x", "y"]}), Ledger(tmp_path / "l.db")
    with pytest.raises(SchemaError, match="have 8 combinations and 9 records are asked for"):
        synthesize(table, schema, epsilon=1, delta=1e-6, rng=0, n_records=9, ledger=ledger)
    assert not (tmp_path / "l.db").exists()
    made = synthesize(table, schema, epsilon=1, delta=1e-6, rng=0, n_records=8, ledger=ledger)
    assert made.arrow.num_rows == 8


def test_what_follows_without_a_map_is_what_most_records_have():
    schema = declared([{"kind": "follows", "column": "g", "of": ["k"]}], [cat("k", ["x", "y"]), cat("g", ["u", "v"])])
    table = pa.table({"k": ["x", "x", "x", "y"], "g": ["u", "v", "u", "v"]})
    assert [n for _, n in broken_counts(table, schema)] == [1]
    made, found = repair(table, schema.rules, schema, np.random.default_rng(0))
    assert made["g"].to_pylist() == ["u", "u", "u", "v"] and found.cells == 1


def test_times_of_day_differ_in_a_declared_unit():
    span = ("2020-01-01T00:00:00", "2020-01-02T23:59:59")
    columns = [date("in", *span, 9), date("out", *span, 9), num("hours", 0, 48, 49)]
    rule = {"kind": "difference", "column": "hours", "of": "out", "minus": "in"}
    with pytest.raises(SchemaError, match="needs a unit"):
        declared([rule], columns)
    schema = declared([{**rule, "unit": "hours"}], columns)
    moments = [f"2020-01-01T{hour}:30:00" for hour in ("01", "04", "06")]
    table = pa.table({"in": [moments[0]] * 3, "out": moments, "hours": [0, 3, 7]})
    assert [n for _, n in broken_counts(table, schema)] == [1]


def test_a_schema_without_rules_keeps_its_text():
    plain = declared([])
    assert "rules" not in plain.document()
    assert Schema.loads(declared(RULES).dumps()) == declared(RULES)


def test_of_a_ratio_the_column_is_handed_out_whose_values_fit_so_that_all_columns_keep_their_counts():
    attributes = [
        num("cm", 150, 200, 10), num("kg", 30, 160, 26, "float", step=0.5), num("bmi", 10, 50, 20, "float", step=0.1)
    ]  # fmt: skip
    schema = declared([{"kind": "ratio", "column": "bmi", "of": "kg", "by": ["cm", "cm"], "times": 10_000}], attributes)
    rng = np.random.default_rng(5)
    cm, bmi = np.clip(rng.normal(175, 8, 4000), 150, 200), np.clip(rng.normal(25, 3, 4000), 12, 48)
    true = {"cm": cm.round().astype(int), "kg": (bmi * cm**2 / 10_000 * 2).round() / 2, "bmi": bmi.round(1)}
    alone = pa.table({n: pa.array(v[rng.permutation(4000)]) for n, v in true.items()})  # each column right by itself
    made, _ = repair(alone, schema.rules, schema, rng)
    check_repaired(alone, made, schema)
    before, after = (Codec(schema).encode(t, individuals=False).codes for t in (alone, made))
    for i, name in enumerate(true):
        moved = np.abs(np.bincount(before[i], minlength=30) - np.bincount(after[i], minlength=30)).sum() / 8000
        assert moved < 0.03, name
