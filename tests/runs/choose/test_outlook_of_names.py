"""A plan without a table: names of columns are read, what they do not say is guessed, and errors fall with records."""

import json

import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.errors import SchemaError
from dpsyn_core.runs.choose.columns import PlannedColumn, changed, columns_of, guess, schema_of
from dpsyn_core.runs.choose.outlook import outlook, table_error, table_steps
from dpsyn_core.runs.price import plan
from dpsyn_core.runs.spec import RunSpec

NAMES = "person_id, age, sex=2, income=number:30, born=date:80, notes, town=50"
RUN = ["plan", "--epsilon", "1", "--delta", "1e-9"]


def test_what_is_said_counts_and_the_rest_is_guessed():
    found = {c.name: c for c in columns_of(NAMES)}
    assert found["sex"] == PlannedColumn(name="sex", kind="category", values=2)
    assert (found["income"].kind, found["income"].values) == ("number", 30)
    assert (found["born"].kind, found["born"].values) == ("date", 80)
    assert found["person_id"].kind == found["notes"].kind == "skip"
    assert found["age"].guessed and found["age"].kind == "number" and not found["town"].guessed


@pytest.mark.parametrize(
    "line", ["age,sex,town", "age;sex;town", "age\tsex\ttown", "age\nsex\ntown", '"age","sex",town']
)
def test_a_line_of_headers_is_read_whatever_separates_them(line):
    assert [c.name for c in columns_of(line)] == ["age", "sex", "town"]


def test_a_name_in_quotation_marks_may_hold_a_comma():
    assert [c.name for c in columns_of('"pay, net";sex')] == ["pay, net", "sex"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no column"),
        ("age,age", "'age' stands twice"),
        ("sex=1", "has 1 values"),
        ("sex=many", "is no column of a plan"),
        ("sex=3:4", "is no column of a plan"),
        ("notes=skip", "every column is left out"),
        (",".join(f"c{i}" for i in range(2001)), "at most 2000"),
    ],
)
def test_what_cannot_be_planned_is_refused_in_a_sentence(text, said):
    with pytest.raises(SchemaError, match=said):
        columns_of(text)


@pytest.mark.parametrize(
    ("name", "kind", "values"),
    [
        ("Geschlecht", "category", 3),
        ("dateOfBirth", "date", 60),
        ("isActive", "category", 2),
        ("colour", "category", 10),
    ],
)
def test_guesses_read_the_words_of_a_name(name, kind, values):
    assert guess(name) == PlannedColumn(name=name, kind=kind, values=values, guessed=True)


def test_the_schema_has_the_sizes_that_were_said():
    schema = schema_of(columns_of(NAMES))
    assert {a.name: a.size for a in schema.domain().attributes} == {
        "age": 20, "sex": 2, "income": 30, "born": 80, "town": 50
    }  # fmt: skip


def test_another_kind_brings_its_usual_number_of_values():
    column = guess("colour")
    assert changed(column, kind="date", values=10).values == 60
    assert changed(column, kind="date", values=12).values == 12
    assert changed(column, kind="category", values=10) is column


def test_errors_fall_with_records_and_with_epsilon_and_are_those_of_the_plan():
    spec, schema = RunSpec.of(epsilon=1.0, delta=1e-9, method="dpsyn"), schema_of(columns_of("a=4,b=5,c=6"))
    found = outlook(spec, schema, epsilons=(0.1, 1.0), sizes=(1_000, 100_000))
    assert [(o.epsilon, o.n_records) for o in found] == [(0.1, 1000), (0.1, 100_000), (1.0, 1000), (1.0, 100_000)]
    assert found[0].pairs > found[1].pairs > found[3].pairs and found[0].pairs > found[2].pairs
    made = plan(spec, schema, n_records=100_000)
    [step] = [s for s in table_steps(made) if s.kind == "2-way"]
    low, high = table_error(made, step, 100_000)
    assert found[3].pairs == pytest.approx((low * high) ** 0.5)


def test_a_system_without_pairs_says_so():
    spec, schema = RunSpec.of(epsilon=1.0, delta=1e-9, method="independent"), schema_of(columns_of("a=4,b=5"))
    [only] = outlook(spec, schema, epsilons=(1.0,), sizes=(1000,))
    assert only.pairs is None and 0 < only.columns < 1


def test_the_command_plans_from_names_and_says_what_it_guessed(capsys):
    assert main([*RUN, "--columns", NAMES, "--outlook"]) == 0
    said = capsys.readouterr().out
    assert "guessed from the names: person_id=skip, age=number:20, notes=skip" in said
    assert "single columns" in said and "100,000 records" in said
    assert main([*RUN, "--columns", NAMES, "--outlook", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert len(document["outlook"]) == 20 and document["outlook"][0]["epsilon"] == 0.1


def test_names_and_a_schema_exclude_each_other(capsys):
    assert main([*RUN, "--columns", NAMES, "--schema", "s.json"]) == 2
    assert "--columns and --schema exclude each other" in capsys.readouterr().err
    assert main(["plan", "--columns", NAMES, "--epsilon", "1"]) == 2
    assert "--delta is missing" in capsys.readouterr().err
