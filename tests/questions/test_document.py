"""questions.json: what is read, what is written back, and what is refused in one sentence."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsyn_core.errors import DPSynError, QuestionError
from dpsyn_core.questions.document import Questions, declared, json_schema
from dpsyn_core.questions.forms import PeriodBins, WidthBins
from dpsyn_core.questions.meaning import coarse_of
from dpsyn_core.questions.suggestions import templates
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.sample import sample_schema
from tests.questions.small import schema

GAP = {
    "name": "pay gap by city",
    "kind": "gap",
    "of": "INCWAGE",
    "by": ["CITY"],
    "between": {"SEX": ["Male", "Female"]},
}
ALL = [
    {"name": "t", "kind": "table", "of": ["CITY", "SEX", "AGE"], "bins": {"AGE": {"width": 10}}},
    {"name": "m", "kind": "mean", "of": "PAY", "by": ["CITY", "SEX"], "weight": 2},
    {"name": "s", "kind": "sum", "of": "PAY"},
    {"name": "q", "kind": "quantile", "of": "PAY", "by": ["CITY"], "at": [0.25, 0.5]},
    {"name": "d", "kind": "gap", "of": "PAY", "by": ["CITY"], "between": {"SEX": ["Male", "Female"]}},
    {"name": "g", "kind": "gini", "of": "PAY", "by": ["CITY"]},
    {"name": "r", "kind": "range", "where": "AGE in [18, 30] and SEX = Male"},
    {"name": "p", "kind": "predict", "of": "SEX", "from": ["PAY", "AGE"]},
    {"name": "lin", "kind": "regression", "of": "PAY", "on": ["AGE", "SEX"]},
    {"name": "log", "kind": "regression", "of": "SEX", "on": ["AGE"], "model": "logistic", "value": "Female"},
]


def test_every_form_is_read_written_back_and_fits_its_schema():
    made = Questions.of({"version": 1, "questions": ALL}).checked(schema())
    assert Questions.loads(made.dumps()) == made
    assert [q["kind"] for q in made.document()["questions"]] == [q["kind"] for q in ALL]
    assert made.document()["questions"][7] == {"name": "p", "kind": "predict", "of": "SEX", "from": ["PAY", "AGE"]}
    assert declared(ALL, schema()) == made


def test_the_document_of_the_issue_fits_the_sample():
    made = Questions.of({"version": 1, "questions": [GAP]}).checked(sample_schema())
    assert made.questions[0].sides == ("SEX", ("Male", "Female"))


def test_the_hash_does_not_depend_on_order_of_keys_spaces_or_defaults():
    one = Questions.loads(json.dumps({"version": 1, "questions": [GAP]}))
    other = {k: GAP[k] for k in reversed(GAP)} | {"weight": 1}
    assert Questions.loads(json.dumps({"questions": [other], "version": 1}, indent=3)).digest == one.digest
    assert Questions.of([GAP | {"weight": 2}]).digest != one.digest
    assert len(one.digest) == 64


def test_questions_may_stand_in_the_schema_file_as_a_document_or_a_list():
    for given_ in (ALL, {"version": 1, "questions": ALL}):
        s = schema(questions=given_)
        assert Questions.in_schema(type(s).loads(s.dumps())) == Questions.of(ALL)
        assert len(declared(None, s)) == len(ALL)
    assert "questions" not in schema().document() and len(declared(None, schema())) == 0


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ({"kind": "mean", "of": "WAGE"}, "'WAGE' is no column of the schema; it has CITY"),
        ({"kind": "mean", "of": "ID"}, "not synthesized"),
        ({"kind": "mean", "of": "CITY"}, "'CITY' holds no numbers"),
        ({"kind": "sum", "of": "BORN"}, "'BORN' holds no numbers"),
        ({"kind": "gap", "of": "PAY", "between": {"SEX": ["Male", "Woman"]}}, "'Woman' is no value of 'SEX'"),
        ({"kind": "gap", "of": "PAY", "between": {"SEX": ["Male", "Male"]}}, "with itself"),
        ({"kind": "gap", "of": "PAY", "between": {"SEX": ["Male"]}}, "between.SEX"),
        ({"kind": "gap", "of": "PAY", "between": {}}, "between must not be empty"),
        ({"kind": "gap", "of": "PAY", "by": ["CITY", "SEX"], "between": {"KIDS": [0, 1]}}, "by"),
        ({"kind": "mean", "of": "PAY", "by": ["CITY", "SEX", "AGE"]}, "by"),
        ({"kind": "mean", "of": "PAY", "by": ["PAY"]}, "names 'PAY' twice"),
        ({"kind": "table", "of": ["CITY", "SEX", "AGE", "PAY", "KIDS"]}, "of"),
        ({"kind": "table", "of": []}, "of must not be empty"),
        ({"kind": "table", "of": ["CITY"], "bins": {"AGE": {"width": 10}}}, "not in its 'of'"),
        ({"kind": "table", "of": ["CITY"], "bins": {"CITY": {"width": 10}}}, "no order"),
        ({"kind": "table", "of": ["AGE"], "bins": {"AGE": {"width": 0}}}, "bins.AGE.width is 0"),
        ({"kind": "table", "of": ["AGE"], "bins": {"AGE": {"edges": [3, 1]}}}, "rise"),
        ({"kind": "table", "of": ["AGE"], "bins": {"AGE": 10}}, "{'width': 10}"),
        ({"kind": "table", "of": ["CITY"], "bins": {"CITY": {"groups": [["A"], ["A", "B"]]}}}, "two groups"),
        ({"kind": "quantile", "of": "PAY", "at": [1.5]}, "at.0 is 1.5"),
        ({"kind": "range", "where": "AGE"}, "cannot be read"),
        ({"kind": "range", "where": "CITY in [1, 2]"}, "no order"),
        ({"kind": "range", "where": "AGE in [30, 18]"}, "lower one first"),
        ({"kind": "range", "where": "AGE = 200"}, "'200' is no value of 'AGE'"),
        ({"kind": "predict", "of": "SEX", "from": ["SEX"]}, "twice"),
        ({"kind": "regression", "of": "CITY", "on": ["AGE"], "model": "logistic"}, "name one with 'value'"),
        ({"kind": "regression", "of": "CITY", "on": ["AGE"]}, "holds no numbers"),
        ({"kind": "regression", "of": "PAY", "on": ["AGE"], "value": 3}, "remove 'value'"),
        ({"kind": "median", "of": "PAY"}, "unknown kind; known are table, mean"),
        ({"kind": "mean", "of": "PAY", "weight": 0}, "weight is 0"),
        ({"kind": "mean", "of": "PAY", "weight": "much"}, "weight"),
        ({"kind": "mean", "of": "PAY", "colour": "red"}, "colour is no field"),
        ({"kind": "mean"}, "of is required"),
        ({"of": "PAY"}, "needs a kind"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_with_its_name_and_its_field(question, words):
    with pytest.raises(QuestionError) as refusal:
        declared([{"name": "odd one"} | question], schema())
    assert words in str(refusal.value), refusal.value
    assert "odd one" in str(refusal.value) and "\n" not in str(refusal.value)


def test_a_table_that_is_too_large_is_refused_unless_bins_make_it_small():
    wide = [{"name": n, "kind": "numeric", "dtype": "integer", "min": 0, "max": 999, "bins": {"count": 1000}}
            for n in "abc"]  # fmt: skip
    from dpsyn_core.schema.document import Schema

    s = Schema.of({"version": 1, "name": "wide", "attributes": wide})
    with pytest.raises(QuestionError, match="1000000000 cells, above the cap"):
        declared([{"name": "t", "kind": "table", "of": ["a", "b", "c"]}], s)
    declared([{"name": "t", "kind": "table", "of": ["a", "b", "c"], "bins": {n: {"width": 50} for n in "abc"}}], s)


@pytest.mark.parametrize(
    "text",
    [
        "", "[", "null", "3", '"x"', "[1]", "[[[]]]", "{}", '{"version": 2, "questions": []}', '{"questions": []}',
        '{"version": 1, "questions": {}}', '{"version": 1, "questions": [], "more": 1}', "[" * 100_000,
        '{"version": 1, "questions": [' * 60_000, '{"version": 1, "version": 1, "questions": []}',
        '[{"name": "a", "kind": "mean", "of": {"a": {"b": [[[[[]]]]]}}}]', '[{"name": "\\ud800", "kind": "x"}]',
        '[{"name": "a", "kind": "mean", "of": "x", "weight": 1e999}]',
        '[{"name": "a", "kind": "mean", "of": "x", "weight": NaN}]',
        "[" + ",".join(['{"name": "a", "kind": "mean", "of": "x"}'] * 2) + "]", b"\xff\xfe\x00",
        '[{"name": "a", "kind": ["mean"], "of": "x"}]',
        '[{"name": "a", "kind": "mean", "of": "x", "weight": ' + "9" * 5000 + "}]",
    ],
)  # fmt: skip
def test_hostile_json_is_refused_in_one_short_sentence(text):
    with pytest.raises(DPSynError) as refusal:
        Questions.loads(text)
    assert isinstance(refusal.value, QuestionError)
    assert len(str(refusal.value)) < 500 and "\n" not in str(refusal.value)


def test_a_document_above_the_caps_is_refused():
    many = [{"name": str(i), "kind": "mean", "of": "PAY"} for i in range(501)]
    with pytest.raises(QuestionError, match="500"):
        Questions.of(many)
    with pytest.raises(QuestionError, match="bytes"):
        Questions.loads(" " * 5_000_000)


def test_a_document_holds_a_hundred_questions_across_links_and_no_more():
    ask = {"kind": "mean", "of": "age"}
    across = [{"about": "persons", "ask": {"name": f"q{i}", **ask}} for i in range(101)]
    assert len(Questions.of(across[:100]).across) == 100
    with pytest.raises(QuestionError, match="100"):
        Questions.of(across)


def test_two_questions_of_one_name_are_refused():
    with pytest.raises(QuestionError, match="two questions are called 'a'"):
        Questions.of([{"name": "a", "kind": "mean", "of": "PAY"}, {"name": "a", "kind": "sum", "of": "PAY"}])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.sampled_from(["PAY", "SEX", "mean", "gap", "A"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "kind", "of", "by", "at", "where", "between", "bins", "weight", "from", "on"]),
            inner,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(JSON)
def test_whatever_is_given_is_read_or_refused(document):
    try:
        declared(Questions.of([document] if isinstance(document, dict) else document), schema())
    except QuestionError as refusal:
        assert len(str(refusal)) < 1000


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(QuestionError, match="cannot be read"):
        declared(tmp_path / "none.json", schema())
    (tmp_path / "q.json").write_text("[")
    with pytest.raises(QuestionError, match=r"q\.json: the questions are not JSON"):
        Questions.load(tmp_path / "q.json")
    Questions.of(ALL).dump(tmp_path / "q.json")
    assert declared(tmp_path / "q.json", schema()) == Questions.of(ALL)


def test_the_exported_json_schema_is_current():
    path = Path(__file__).resolve().parents[2] / "docs" / "questions.v1.json"
    assert json.loads(path.read_text(encoding="utf-8")) == json.loads(json.dumps(json_schema()))


def test_suggestions_follow_the_roles_of_columns():
    columns = [
        {"name": "price", "kind": "numeric", "dtype": "float", "min": 0, "max": 900, "bins": {"count": 30}},
        {"name": "colour", "kind": "categorical", "values": ["red", "blue", "green"]},
        {"name": "returned", "kind": "categorical", "values": [0, 1]},
        {"name": "sold", "kind": "datetime", "min": "2023-01-01", "max": "2024-12-31"},
        {"name": "brand", "kind": "categorical", "values": [f"b{i}" for i in range(60)]},
    ]
    made = Schema.of({"version": 1, "name": "shop", "attributes": columns})
    offered = {template.question.name: template.question for template in templates(made)}
    assert offered["rate of returned by colour"].of == "returned"
    assert offered["sold by month"].bins["sold"].every == "month"
    assert {"mean price by colour", "most frequent brand"} <= set(offered)


def test_a_number_that_is_no_money_and_yes_or_no_are_offered_by_short_categories():
    columns = [
        {"name": "kwh", "kind": "numeric", "dtype": "float", "min": 0, "max": 14, "bins": {"count": 30}},
        {"name": "hat ein Auto", "kind": "categorical", "values": ["nein", "ja"]},
        {"name": "tariff", "kind": "categorical", "values": ["day", "night", "both"]},
    ]
    made = Schema.of({"version": 1, "name": "meters", "attributes": columns})
    offered = {template.question.name: template.question for template in templates(made)}
    assert offered["mean kwh by tariff"].by == ("tariff",)
    assert offered["hat ein Auto x tariff"].of == ("hat ein Auto", "tariff")


def test_bins_of_dates_are_periods_and_other_bins_of_dates_are_refused_with_them():
    born = schema()["BORN"]
    recode, names = coarse_of(born, PeriodBins(every="quarter"))
    assert names[:2] == ["1900-Q1", "1901-Q1"] and recode.size == born.size
    with pytest.raises(QuestionError, match="every"):
        coarse_of(born, WidthBins(width=10))
    with pytest.raises(QuestionError, match="holds no dates"):
        coarse_of(schema()["AGE"], PeriodBins(every="month"))


def test_more_columns_than_a_table_may_have_are_refused_in_plain_words():
    asked = {"name": "big", "kind": "table", "of": list("abcdefgh"), "weight": 1}
    with pytest.raises(DPSynError, match="question 'big': of has 8 entries, and at most 4 are allowed"):
        Questions.of([asked])


def test_no_mean_of_years_postcodes_or_coordinates_is_suggested():
    def offered(**columns):
        said = [
            {"name": n, "kind": "numeric", "dtype": "integer", "bins": {"count": 30}} | c for n, c in columns.items()
        ]
        said += [{"name": "sex", "kind": "categorical", "values": ["female", "male"]}]
        made = Schema.of({"version": 1, "name": "t", "attributes": said})
        return [template.question for template in templates(made)]

    built, plz, lat = {"min": 1880, "max": 2040}, {"min": 1000, "max": 99999}, {"min": -90, "max": 90}
    found = offered(
        Baujahr=built, plz=plz, latitude=lat, nights={"min": 0, "max": 40}, bill_usd={"min": 0, "max": 9000}
    )
    assert {q.of for q in found if q.kind in ("mean", "quantile", "gap")} == {"bill_usd"}, "an amount comes first"
    found = offered(year_built=built, nights={"min": 0, "max": 40})
    assert {q.of for q in found if q.kind in ("mean", "quantile")} == {"nights"}
    assert not [q for q in offered(birth_year=built) if q.kind in ("mean", "quantile", "gap")]
    german = offered(Gehalt={"min": 0, "max": 9000}, Alter={"min": 0, "max": 99})
    assert "gini" in {q.kind for q in german if getattr(q, "of", "") == "Gehalt"}
    survey = offered(weight={"min": 0, "max": 9}, hours={"min": 0, "max": 80})
    assert next(q.of for q in survey if q.kind == "mean") == "hours", "of a survey's weights nobody asks"
