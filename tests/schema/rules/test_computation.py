"""Columns that rules compute from others: not measured by any system, whole in every table, right in every refit."""

import json
from pathlib import Path

import numpy as np
import pytest

from dpsyn_core import synthesize, synthesize_to
from dpsyn_core.commands.cli import main
from dpsyn_core.errors import QuestionError, SchemaError
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.questions.document import Questions
from dpsyn_core.report.answers import answer_codes
from dpsyn_core.runs import parts
from dpsyn_core.runs.refits.refit import refit
from dpsyn_core.runs.tables import table_of
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.document import Schema, SchemaUnit
from dpsyn_core.schema.rules.computation import computed_columns, given_by, measured_part
from dpsyn_core.schema.rules.repair import repair
from dpsyn_core.schema.rules.rule_breaks import broken_counts
from dpsyn_core.systems import registry
from dpsyn_core.tables.read import read_table
from tests.schema.helpers import cat, date, num

COLUMNS = [
    date("in", "2020-01-01", "2020-03-31", "month"), date("out", "2020-01-01", "2020-04-30", "month"),
    num("days", 0, 30, 6), num("rent", 0, 9, 5, group="g"), num("heat", 0, 4, 5, group="g"), num("total", 0, 13, 7),
    num("kg", 40, 99, 6), num("cm", 100, 199, 5), num("bmi", 0, 99, 10, "float", step=0.1),
    cat("city", ["Lyon", "Oslo"]), cat("land", ["France", "Norway"]), cat("sex", ["f", "m"]),
]  # fmt: skip
RULES = [
    {"kind": "difference", "column": "days", "of": "out", "minus": "in"},
    {"kind": "sum", "column": "total", "parts": ["rent", "heat"]},
    {"kind": "ratio", "column": "bmi", "of": "kg", "by": ["cm", "cm"], "times": 10_000},
    {"kind": "follows", "column": "land", "of": ["city"], "map": [["Lyon", "France"], ["Oslo", "Norway"]]},
]
CODE = {"name": "code", "kind": "derived", "from": "land", "map": [["France", 1], ["Norway", 2]]}
COMPUTED = {"out", "total", "land"}


def declared(rules=RULES, columns=COLUMNS, **more):
    return Schema.of({"version": 1, "name": "t", "attributes": columns, "rules": rules, **more})


def people(schema, n=300):
    rng = np.random.default_rng(5)
    codes = np.array([rng.integers(0, a.size, n) for a in schema.coded]).astype(np.uint32)
    return repair(Codec(schema).decode(codes, rng=rng), schema.rules, schema, rng)[0]


def names(schema, measured=()):
    return {c.column for c in computed_columns(schema, measured)}


def changed(name, **fields):
    return [{**c, **fields} if c["name"] == name else c for c in COLUMNS]


def test_a_rule_computes_the_wider_end_of_a_difference_and_the_column_of_a_sum_and_a_map():
    assert names(declared()) == COMPUTED
    assert [a.name for a in measured_part(declared()).coded] == [
        "in", "days", "rent", "heat", "kg", "cm", "bmi", "city", "sex"
    ]  # fmt: skip
    assert names(declared(), {"out", "land"}) == {"total"}


@pytest.mark.parametrize(
    ("column", "columns", "rules"),
    [
        ("out", changed("days", missing=True), RULES),  # a blank length says nothing of the end
        ("total", changed("heat", special_values=[77], max=99, bins={"count": 5}), RULES),
        ("land", COLUMNS, [*RULES[:3], {**RULES[3], "map": [["Lyon", "France"]]}]),
        ("land", COLUMNS, [*RULES[:3], {"kind": "follows", "column": "land", "of": ["city"]}]),
        ("total", COLUMNS, [RULES[0], {**RULES[1], "measured": True}, *RULES[2:]]),
        ("land", [*COLUMNS, CODE], RULES),
    ],
)  # fmt: skip
def test_a_column_that_not_every_record_has_by_its_rule_is_measured(column, columns, rules):
    assert names(declared(rules, columns)) == COMPUTED - {column}


def test_what_is_computed_from_itself_is_measured_and_chains_are_computed_in_order():
    columns = [num(n, 0, 9, 10) for n in "abcd"]
    round_about = [
        {"kind": "sum", "column": "c", "parts": ["a", "b"]}, {"kind": "sum", "column": "a", "parts": ["c", "d"]}
    ]  # fmt: skip
    assert names(declared(round_about, columns)) == {"c"}
    chain = [{"kind": "sum", "column": "d", "parts": ["c", "a"]}, {"kind": "sum", "column": "c", "parts": ["a", "b"]}]
    assert [c.column for c in computed_columns(declared(chain, columns))] == ["c", "d"]


def test_the_sum_that_a_ratio_divides_is_measured_by_the_default_system():
    columns = [num(n, 1, 9, 9) for n in ("a", "b", "pieces")] + [num("all", 2, 18, 17), num("rate", 0, 18, 19)]
    rules = [
        {"kind": "ratio", "column": "rate", "of": "all", "by": ["pieces"]},
        {"kind": "sum", "column": "all", "parts": ["a", "b"]},
    ]
    schema = declared(rules, columns)
    assert names(schema) == {"all"} and given_by((), schema) == ()
    assert set(given_by(registry.config_class("rls").measures, schema)) == {"rate", "all", "pieces"}


def test_a_schema_keeps_its_text_where_nothing_is_said_of_measuring():
    assert "measured" not in json.dumps(declared().document()["rules"])
    said = declared([{**RULES[1], "measured": True}])
    assert Schema.loads(said.dumps()) == said and said.document()["rules"][0]["measured"] is True


def test_computed_values_agree_with_their_rules_before_any_repair():
    schema = declared([r for r in RULES if r["kind"] != "ratio"])
    rng, part = np.random.default_rng(2), measured_part(schema)
    codes = np.array([rng.integers(0, a.size, 2000) for a in part.coded]).astype(np.uint32)
    changes = []
    made = table_of(
        codes, schema, columns=schema.output_names, rng=rng, repaired=changes, measured=part.domain().names
    )  # fmt: skip
    assert tuple(made.column_names) == schema.output_names
    assert not sum(n for _, n in broken_counts(made, schema))
    assert changes[0][0] < 600  # ends after the last day, of 6000 computed cells


def test_an_age_leaves_part_of_a_year_open_which_is_drawn():
    columns = [
        date("born", "1950-01-01", "2010-12-31", "year"), date("seen", "2020-01-01", "2020-12-31", "month"),
        num("age", 9, 70, 8),
    ]  # fmt: skip
    schema = declared(
        [{"kind": "difference", "column": "age", "of": "seen", "minus": "born", "unit": "years"}], columns
    )
    assert names(schema) == {"born"}
    codes = np.array([np.random.default_rng(1).integers(0, a.size, 3000) for a in measured_part(schema).coded])
    made = table_of(
        codes.astype(np.uint32), schema, columns=schema.output_names, rng=np.random.default_rng(1),
        measured=measured_part(schema).domain().names,
    )  # fmt: skip
    days = (
        (np.array(made["seen"].to_pylist()) - np.array(made["born"].to_pylist())).astype("timedelta64[D]").astype(int)
    )
    assert 0.45 < np.mean(days / 365.2425 - np.array(made["age"].to_pylist())) < 0.55


SHALLOW = [n for n in registry.names() if not registry.config_class(n).trains]
SHORT = {"mwem": {"rounds": 2, "replays": 2}}  # settings of a run that would take a minute


@pytest.mark.parametrize("method", SHALLOW)
def test_no_system_measures_a_computed_column_and_every_table_has_it(method, tmp_path):
    promise = registry.config_class(method).guarantee
    unit = SchemaUnit(neighbours="add-remove" if "add-remove" in promise.neighbours else "replace")
    schema = declared().model_copy(update={"n_records": 300, "unit": unit})
    made = synthesize(
        people(schema), schema, epsilon=1.0, delta=0.0 if promise.pure else 1e-6, rng=1, method=method,
        settings=SHORT.get(method), ledger=Ledger(tmp_path / "l.db"),
    )  # fmt: skip
    assert tuple(made.arrow.column_names) == schema.output_names
    assert not sum(n for _, n in broken_counts(made.arrow, schema))
    assert made.codes.shape[0] == len(schema.coded)
    held = {n for m in made.marginals for n in m.attributes}
    given = {"ratio": set(), "sum": {"total"}, "difference": {"out"}}
    without = COMPUTED - {n for kind in registry.config_class(method).measures for n in given[kind]}
    assert not held & without
    charged = {n for c in made.manifest.charges for n in c.name.removeprefix("marginal ").split(" x ")}
    assert not charged & without and (method != "mst" or "bmi" in charged)


def test_a_question_that_names_a_computed_column_makes_it_measured(tmp_path):
    schema, ledger = declared(), Ledger(tmp_path / "l.db")
    asked = [{"name": "mean", "kind": "mean", "of": "total", "by": ["sex"]}]
    made = synthesize(
        people(schema), schema, epsilon=5.0, delta=1e-6, rng=1, questions=asked, ledger=ledger
    )  # fmt: skip
    held = {n for m in made.marginals for n in m.attributes}
    assert "total" in held and not held & {"land", "out"}
    [found] = answer_codes(made.codes, made.released, schema, made.manifest, Questions.of(asked))
    assert found.estimate.shape == (2,) and found.grade != "none"
    other = Questions.of([{"name": "north", "kind": "range", "where": "land = Norway"}])
    with pytest.raises(QuestionError, match="'land', which was not measured but computed from city; declare"):
        answer_codes(made.codes, made.released, schema, made.manifest, other)


def test_stored_parts_and_shards_have_computed_columns(tmp_path, monkeypatch):
    schema, ledger = declared(), Ledger(tmp_path / "l.db")
    monkeypatch.setattr(parts, "ALLOWED", 1)
    synthesize_to(
        people(schema), schema, out=f"{tmp_path}/parts/", manifest=tmp_path / "m.json", rng=1, epsilon=1.0, delta=1e-6,
        n_records=4000, ledger=ledger, engine="stored",
    )  # fmt: skip
    whole = read_table(tmp_path / "parts")
    assert tuple(whole.column_names) == schema.output_names and whole.num_rows == 4000
    assert not sum(n for _, n in broken_counts(whole, schema))


@pytest.fixture
def released(tmp_path, monkeypatch):
    from dpsyn_core.tables.write import write_table

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    schema = declared()
    write_table(people(schema), tmp_path / "t.csv")
    schema.dump(tmp_path / "s.json")
    words = "synth t.csv --schema s.json --epsilon 2 --delta 1e-6 --seed 5 -o a.csv --save-release R.dpsyn --quiet"
    assert main(words.split()) == 0
    return schema


def test_a_refit_of_computed_columns_is_the_table_of_the_run_and_keeps_rules_under_conditions(released, capsys):
    assert main(["verify", "a.csv", "--manifest", "a.manifest.json"]) == 0
    assert main(["refit", "R.dpsyn", "-o", "again.csv", "--seed", "5", "--quiet"]) == 0
    assert Path("again.csv").read_text() == Path("a.csv").read_text()
    for where in ("sex = f", "city = Oslo and days in [0, 9]", "kg in [60, 70]"):
        made = refit("R.dpsyn", rng=1, where=where, n_records=500)
        assert tuple(made.arrow.column_names) == released.output_names
        assert not sum(n for _, n in broken_counts(made.arrow, made.schema))
    assert set(refit("R.dpsyn", rng=1, where="city = Oslo").arrow["land"].to_pylist()) == {"Norway"}
    for method in ("mst", "dpsyn", "independent"):
        made = refit("R.dpsyn", rng=1, method=method).arrow
        assert not sum(n for _, n in broken_counts(made, released))


def test_a_refit_says_what_a_computed_column_needs(released):
    with pytest.raises(SchemaError, match="'land' was not measured: it is computed from city; name conditions on"):
        refit("R.dpsyn", rng=1, where="land = France")
    with pytest.raises(SchemaError, match="'land' follows from 'city', which is left out; keep both"):
        refit("R.dpsyn", rng=1, columns=["sex", "land"])
    rules = [{"kind": "impossible", "where": "sex = f and rent = 0"}]
    with pytest.raises(SchemaError, match="names 'rent', which is left out; keep the column, or drop the rule"):
        refit("R.dpsyn", rng=1, columns=["sex", "heat"], rules=rules)
    made = refit("R.dpsyn", rng=1, columns=["in", "days", "out", "sex"]).arrow
    assert made.column_names == ["in", "out", "days", "sex"]
    assert refit("R.dpsyn", rng=1, columns=["rent", "sex"]).arrow.column_names == ["rent", "sex"]
