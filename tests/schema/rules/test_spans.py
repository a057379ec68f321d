"""The time between two close dates: when it is measured, its codes, its blanks, and what tables come out."""

import json

import numpy as np
import pyarrow as pa
import pytest

from dpsyn_core import synthesize
from dpsyn_core.commands.cli import main
from dpsyn_core.errors import SchemaError
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.rules.computation import computed_columns, measured_part
from dpsyn_core.schema.rules.spans import SpanAttribute, with_spans
from dpsyn_core.schema.rules.usual_rules import propose_rules
from dpsyn_core.schema.rules.zeros import KnownZeros
from tests.schema.helpers import cat, date, num

IN, OUT = date("admitted", "2020-01-01", "2023-12-31", "day"), date("discharged", "2020-01-01", "2024-03-31", "day")
ORDER = {"kind": "order", "lower": "admitted", "upper": "discharged"}
SPAN = "discharged - admitted"
DAY = np.timedelta64(1, "D")


def declared(*attributes, rules=(ORDER,), **more):
    return Schema.of({"version": 1, "name": "t", "attributes": list(attributes), "rules": list(rules), **more})


def names(schema, measured=()):
    return list(measured_part(schema, measured).domain().names)


def stays(n=4000, seed=3, blank=0.0):
    """Stays of a few days, by ward; admitted on any day of four years."""
    rng = np.random.default_rng(seed)
    start = np.datetime64("2020-01-01") + rng.integers(0, 1461, n)
    ward = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    end = start + np.floor(rng.gamma(1.2, np.array([2, 4, 9])[ward])).astype(int)
    gone = rng.random(n) < blank
    return pa.table({
        "admitted": pa.array(start), "discharged": pa.array(end, mask=gone), "ward": np.array(["A", "B", "C"])[ward],
        "age": rng.integers(0, 90, n),
    })  # fmt: skip


def lengths(table):
    days = [table.column(n).to_numpy(zero_copy_only=False).astype("datetime64[D]") for n in ("discharged", "admitted")]
    return (days[0] - days[1]) / DAY, np.asarray(table.column("ward").to_pylist())


def test_close_dates_are_named_so_or_declared():
    assert names(declared(IN, OUT)) == ["admitted", SPAN]
    assert names(declared(IN, OUT, rules=[ORDER | {"close": False}])) == ["admitted", "discharged"]
    hired, left = date("hired", "2000-01-01", "2023-12-31", "day"), date("left", "2000-01-01", "2023-12-31", "day")
    order = {"kind": "order", "lower": "hired", "upper": "left"}
    assert names(declared(hired, left, rules=[order])) == ["hired", "left"], "work lasts years"
    assert names(declared(hired, left, rules=[order | {"close": True}])) == ["hired", "left - hired"]
    begin, end = (date(n, "2020-01-01T00:00:00", "2020-01-31T23:59:59", 100) for n in ("start_time", "end_time"))
    order = {"kind": "order", "lower": "start_time", "upper": "end_time"}
    assert names(declared(begin, end, rules=[order])) == ["start_time", "end_time - start_time"], "of a session"
    German = [date(n, "2020-01-01", "2020-12-31", "day") for n in ("Aufnahmedatum", "Entlassungsdatum")]
    order = {"kind": "order", "lower": "Aufnahmedatum", "upper": "Entlassungsdatum"}
    assert "Entlassungsdatum - Aufnahmedatum" in names(declared(*German, rules=[order]))


@pytest.mark.parametrize(("out", "back"), [("loaned", "returned"), ("ausgeliehen", "faellig")])
def test_a_loan_is_proposed_to_end_after_it_begins(out, back):
    columns = [date(name, "2024-01-01", "2024-12-31", "day") for name in (out, back)]
    made = Schema.of({"version": 1, "name": "t", "attributes": columns})
    assert [(rule.lower, rule.upper) for rule in propose_rules(made)] == [(out, back)]


def test_the_wider_of_both_dates_is_computed():
    assert [c.column for c in computed_columns(declared(IN, OUT))] == ["discharged"]
    wide = date("admitted", "1990-01-01", "2023-12-31", "day")
    assert [c.column for c in computed_columns(declared(wide, OUT))] == ["admitted"]
    said = str(computed_columns(declared(IN, OUT))[0])
    assert (
        said == f"'discharged' is not measured: the time between is ('{SPAN}', in days), and gives it with 'admitted'"
    )


def test_nothing_is_added_where_a_question_names_the_date_or_a_rule_knows_the_time():
    assert names(declared(IN, OUT), {"discharged"}) == ["admitted", "discharged"]
    days = num("days", 0, 90, 91)
    difference = {"kind": "difference", "column": "days", "of": "discharged", "minus": "admitted"}
    assert names(declared(IN, OUT, days, rules=[ORDER, difference])) == ["admitted", "days"]
    blank = IN | {"missing": True}
    assert names(declared(blank, OUT)) == ["admitted", "discharged"]
    taken = num(SPAN, 0, 5, 6)
    assert names(declared(IN, OUT, taken)) == ["admitted", "discharged", SPAN]


def test_close_is_about_dates():
    with pytest.raises(SchemaError, match="'close' is about two dates, and 'a' holds numbers"):
        declared(
            num("a", 0, 5, 6), num("b", 0, 5, 6), rules=[{"kind": "order", "lower": "a", "upper": "b", "close": True}]
        )


def test_codes_are_those_of_the_days_between_and_of_each_record_alone():
    schema = declared(IN, OUT | {"missing": True})
    span = with_spans(schema)[SPAN]
    assert isinstance(span, SpanAttribute) and span.missing and (span.min, span.max) == (0, 73_050)
    start = np.array(["2020-01-01", "2021-05-05", "2020-01-01", "2022-01-01", "1950-01-01"], dtype="datetime64[D]")
    end = np.array(["2020-01-01", "2021-05-08", "2023-12-31", "2021-01-01", "2020-01-02"], dtype="datetime64[D]")
    table = pa.table({"admitted": start, "discharged": pa.array(end, mask=np.array([False] * 5))})
    part = measured_part(schema)
    codes = Codec(part).encode(table, individuals=False).codes[1]
    first, last = span.binning.bounds()
    days = [0, 3, 1460, 0, 1]  # what ends before it begins has a length of 0; a date outside its range is clamped
    assert [int(c) for c in codes[[0, 1, 3, 4]]] == [0, 3, 0, 1]
    assert first[codes[2]] <= days[2] <= last[codes[2]]
    for i in range(5):
        assert Codec(part).encode(table.slice(i, 1), individuals=False).codes[1].tolist() == [int(codes[i])]
    both = {a.name: a for a in schema.coded}
    found = [both[n].binning.find(v.astype(int)) for n, v in (("discharged", end), ("admitted", start))]
    assert span.of_codes(*found).tolist() == codes.tolist()


def test_a_record_without_a_date_is_blank_or_left_out():
    table = pa.table({"admitted": ["2020-01-01", None, "2020-01-02"], "discharged": ["2020-01-04", "2020-01-04", "x"]})
    found = Codec(measured_part(declared(IN, OUT | {"missing": True}))).encode(table, individuals=False)
    assert found.codes[1].tolist() == [3, with_spans(declared(IN, OUT | {"missing": True}))[SPAN].size - 1]
    assert Codec(measured_part(declared(IN, OUT))).encode(table, individuals=False).codes[1].tolist() == [3]


def test_times_beyond_the_ranges_are_known_to_be_empty():
    whole = with_spans(declared(IN, OUT))
    zeros = KnownZeros(whole.rules, {a.name: a for a in whole.coded}).cells((SPAN,))
    first, _ = whole[SPAN].binning.bounds()
    assert zeros is not None and zeros[first > 1551].all() and not zeros[first <= 1000].any()


@pytest.mark.parametrize("method", ["rls", "independent", "mst"])
def test_stays_keep_their_lengths_and_end_after_they_begin(tmp_path, method):
    schema = declared(IN, OUT, cat("ward", ["A", "B", "C"]), num("age", 0, 89, 9))
    got = synthesize(
        stays(), schema, epsilon=3, delta=1e-9, rng=1, method=method, ledger=Ledger(tmp_path / "l"), dataset=method
    ).arrow
    assert got.column_names == ["admitted", "discharged", "ward", "age"]
    days, ward = lengths(got)
    real, _ = lengths(stays())
    assert days.min() >= 0 and abs(np.median(days) - np.median(real)) < 6, "made apart, the median is that of weeks"
    if method == "rls":
        means = [days[ward == w].mean() for w in "ABC"]
        assert means[0] + 2 < means[2], "1.9 and 10.3; made apart, all are alike"


def test_open_stays_are_blank_and_no_others(tmp_path):
    state = {"kind": "blank", "column": "discharged", "where": "state = open", "only": True}
    schema = declared(IN, OUT | {"missing": True}, cat("state", ["open", "closed"]), rules=[ORDER, state])
    table = stays(blank=0.2)
    open_ = np.where(np.asarray(table.column("discharged").is_null()), "open", "closed")
    got = synthesize(
        table.append_column("state", pa.array(open_)), schema, epsilon=3, delta=1e-9, rng=1,
        ledger=Ledger(tmp_path / "l"),
    ).arrow  # fmt: skip
    blank = np.asarray(got.column("discharged").is_null())
    assert blank.any() and (blank == (np.asarray(got.column("state").to_pylist()) == "open")).all()
    closed = got.filter(pa.array(~blank)).append_column("ward", pa.array(["A"] * int((~blank).sum())))
    assert lengths(closed)[0].min() >= 0 and np.median(lengths(closed)[0]) < 8


def test_three_dates_in_a_row_are_one_date_and_two_times():
    order, ship, come = (date(n, "2022-01-01", "2022-12-31", "day") for n in ("ordered", "shipped", "delivered"))
    pairs = [("ordered", "shipped"), ("shipped", "delivered"), ("ordered", "delivered")]
    rules = [{"kind": "order", "lower": low, "upper": high} for low, high in pairs]
    assert names(declared(order, ship, come, rules=rules)) == ["ordered", "shipped - ordered", "delivered - shipped"]


def test_released_files_know_it_and_refits_and_answers_use_it(tmp_path, capsys):
    schema, table = tmp_path / "s.json", tmp_path / "t.csv"
    declared(IN, OUT, cat("ward", ["A", "B", "C"]), num("age", 0, 89, 9)).dump(schema)
    import pyarrow.csv

    pyarrow.csv.write_csv(stays(), table)
    out, release, tables = (str(tmp_path / n) for n in ("o.csv", "r.dpsyn", "m.json.gz"))
    run = ["synth", str(table), "--schema", str(schema), "--epsilon", "1", "--delta", "1e-9", "--out", out]
    assert main([*run, "--save-release", release, "--measurements", tables]) == 0
    assert f"('{SPAN}', in days), and gives it with 'admitted'" in capsys.readouterr().err
    again = ["refit", release, "--out", str(tmp_path / "f.csv")]
    assert main([*again, "--where", "admitted in [2021-01-01, 2021-12-31]"]) == 0
    got = pyarrow.csv.read_csv(tmp_path / "f.csv")
    assert lengths(got)[0].min() >= 0 and np.median(lengths(got)[0]) < 8
    assert main([*again[:-1], str(tmp_path / "g.csv"), "--where", "discharged in [2021-01-01, 2021-12-31]"]) == 2
    assert (
        "'discharged' was not measured: it is computed from admitted; name conditions on these"
        in capsys.readouterr().err
    )
    assert main([*again[:-1], str(tmp_path / "h.csv"), "--columns", "admitted,discharged,ward"]) == 0
    assert np.median(lengths(pyarrow.csv.read_csv(tmp_path / "h.csv"))[0]) < 8
    assert main([*again[:-1], str(tmp_path / "i.csv"), "--columns", "discharged,ward"]) == 2
    questions = tmp_path / "q.json"
    questions.write_text(
        json.dumps({"version": 1, "questions": [{"name": "q", "kind": "mean", "of": "age", "by": ["ward"]}]})
    )
    manifest = str(tmp_path / "o.manifest.json")
    asked = ["answer", out, "--manifest", manifest, "--measurements", tables, "--questions", str(questions)]
    assert main(asked) == 0 and "[" in capsys.readouterr().out
    page = ["report", "-", out, "--schema", str(schema), "--manifest", manifest, "--measurements", tables]
    assert main([*page, "--html", str(tmp_path / "p.html")]) == 0
    assert main(["verify", out, "--schema", str(schema), "--measurements", tables]) == 0
    price = ["--epsilon", "1", "--delta", "1e-9", "--dataset", "other", "-o", str(tmp_path / "m.csv")]
    assert main(["marginal", str(table), "--schema", str(schema), "--attributes", "ward,discharged", *price]) == 0


def test_an_attack_measures_what_a_run_does(tmp_path):
    import pyarrow.csv

    declared(IN, OUT, cat("ward", ["A", "B", "C"]), num("age", 0, 89, 9)).dump(tmp_path / "s.json")
    pyarrow.csv.write_csv(stays(400), tmp_path / "t.csv")
    attack = ["attack", str(tmp_path / "t.csv"), str(tmp_path / "s.json"), "--epsilon", "1", "--delta", "1e-9"]
    assert main([*attack, "--runs", "4", "--records", "200", "--canaries", "10"]) == 0
