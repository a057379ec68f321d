"""Codebooks in and out: round trips, what is lost is said, hostile files are refused in one sentence."""

import json
from dataclasses import replace
from enum import Enum
from typing import Annotated, ClassVar, Literal

import pytest
from pydantic import BaseModel, Field

from dpsyn_core.commands.cli import main
from dpsyn_core.data import paths
from dpsyn_core.errors import SchemaError, TableError
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.importers.declared import Declaration, undeclared
from dpsyn_core.schema.importers.formats import FORMATS, export, read_codebook_bytes, read_schema
from dpsyn_core.schema.importers.models import schema_of_model
from dpsyn_core.schema.importers.parameters import import_file
from dpsyn_core.tables.declarations import DeclaredColumn

SURVEY = Declaration(
    name="survey of work",
    columns=(
        DeclaredColumn(
            name="sex", kind="integer", label="Sex", description="Sex of the respondent", values=(1, 2, 9),
            words={"1": "Male", "2": "Female & other <x>", "9": "No answer"}, codes_missing=(9,), listed=True,
            blank=True,
        ),
        DeclaredColumn(name="town", kind="text", values=("01", "Bad (Ö|x)", "a\\b"), listed=True, blank=False),
        DeclaredColumn(name="class", kind="integer", values=(1, 2, 3), listed=True, ordered=True, blank=False),
        DeclaredColumn(
            name="age", kind="integer", low=17, high=90, codes_missing=(998, 999), words={"999": "?"}, listed=False,
            blank=True,
        ),
        DeclaredColumn(name="pay", kind="float", low=0, high=5000.5, step=0.05, listed=False, blank=False),
        DeclaredColumn(name="born", kind="date", low="1900-01-01", high="2020-12-31", blank=True),
        DeclaredColumn(name="job", kind="boolean", values=(False, True), listed=True, blank=False),
        DeclaredColumn(name="pid", kind="identifier"),
        DeclaredColumn(name="note", kind="ignored"),
    ),
    identifier="pid", max_records=3,
)  # fmt: skip


def again(form, said):
    found = read_codebook_bytes(FORMATS[form].write(said), name="x", what=f"x.{form}")
    assert found is not None and found[1] == "public"
    return found[0]


@pytest.mark.parametrize(("most", "key"), [(1, ["pid"]), (3, None), (None, None)])
def test_an_identifier_is_a_primary_key_where_each_individual_has_one_record(most, key):
    document = json.loads(FORMATS["frictionless"].write(replace(SURVEY, max_records=most)))
    assert document.get("primaryKey") == key


@pytest.mark.parametrize("form", FORMATS)
def test_three_codebooks_are_written_and_read_again_equal(form):
    hospital, sample = (Schema.load(paths(n)[1]) for n in ("hospital", "sample"))
    written = {s.name: export(s, form)[0] for s in (hospital, sample)} | {"survey": FORMATS[form].write(SURVEY)}
    for name, raw in written.items():
        first = read_codebook_bytes(raw, name=name, what="first")[0]
        second = again(form, first)
        assert second == first
        assert again(form, second) == second


@pytest.mark.parametrize("form", ["ddi", "csvw", "csvw-eo", "frictionless"])
def test_a_codebook_makes_the_schema_that_it_was_written_from(form):
    from dpsyn_core.schema.importers.declared import lost, schema_of

    schema = schema_of(SURVEY)
    found = read_schema(FORMATS[form].write(SURVEY), name="survey of work", what="x")
    said = lost(schema, found)
    assert said == {
        "ddi": ["'step' of 'pay'", "'unit' of the table"],
        "csvw": ["'unit' of the table"],
    }.get(form, [])  # fmt: skip


def test_what_a_format_does_not_carry_is_said_of_every_part():
    schema = Schema.load(paths("hospital")[1])
    for form in FORMATS:
        said = " ".join(export(schema, form)[1])
        assert "'rules' of the table" in said or form == "sdv", form
    assert export(schema, "sdv")[1] == ["all values, ranges, bins and labels"]
    with pytest.raises(SchemaError, match="'spss' is no format of codebooks"):
        export(schema, "spss")


def test_a_codebook_without_ranges_adds_its_words_and_its_key_to_another_schema():
    base = Schema.of(
        {
            "version": 1, "name": "t",
            "attributes": [
                {"name": "age", "kind": "numeric", "min": 0, "max": 9}, {"name": "pid", "kind": "ignored"},
                {"name": "sex", "kind": "categorical", "values": ["f", "m"]},
            ],
        }
    )  # fmt: skip
    raw = json.dumps(
        {
            "METADATA_SPEC_VERSION": "V1",
            "tables": {
                "t": {"primary_key": "pid", "columns": {"pid": {"sdtype": "id"}, "age": {"sdtype": "numerical"}}}
            },
        }
    ).encode()
    with pytest.raises(SchemaError, match="--onto"):
        read_schema(raw, name="t", what="m.json")
    found = read_schema(raw, name="t", what="m.json", onto=base)
    assert found.unit.identifier == "pid" and found["age"] == base["age"] and found["sex"] == base["sex"]
    stranger = raw.replace(b'"age"', b'"agee"')
    with pytest.raises(SchemaError, match="describes 'agee', which the schema does not have"):
        read_schema(stranger, name="t", what="m.json", onto=base)


def test_columns_without_range_or_values_are_left_out_and_named():
    raw = b'{"fields": [{"name": "a", "constraints": {"enum": ["x"]}}, {"name": "pay", "type": "number"}]}'
    found = read_schema(raw, name="t", what="t.json")
    assert found["pay"].kind == "ignored" and "'pay'" in undeclared(found)[0]


def read_from_data(schema, unit):
    document = schema.document()
    document["attributes"] = [a | {"source": "data"} for a in document["attributes"]]
    return Schema.of(document | {"unit": unit})


@pytest.mark.parametrize("form", ["ddi", "csvw", "csvw-eo", "frictionless", "sdv"])
def test_a_draft_that_travels_through_a_codebook_stays_a_draft(form, tmp_path):

    draft = read_from_data(Schema.load(paths("sample")[1]), {"max_records": 3, "source": "data"})
    draft.dump(tmp_path / "s.json")
    out = tmp_path / f"x{FORMATS[form].ending}"
    assert main(["schema", "export", str(tmp_path / "s.json"), "-o", str(out)]) == 0
    assert out.stat().st_mode & 0o777 == 0o600
    found = import_file(out, onto=draft)
    assert found.reasons == draft.reasons
    if form != "sdv":
        alone = import_file(out)  # not every format holds max_records, by which the first sentence differs
        assert alone.unit_from_data and set(alone.reasons[1:]) == set(draft.reasons[1:])


def test_a_document_that_gives_a_part_of_the_unit_does_not_make_the_other_part_public():
    base = Schema.load(paths("sample")[1])
    key = base.coded[0].name
    for source, says in (("data", True), ("public", False)):
        schema = Schema.of(base.document() | {"unit": {"max_records": 7, "source": source}})
        sdv = {"METADATA_SPEC_VERSION": "V1", "tables": {"t": {"primary_key": key, "columns": {key: {"sdtype": "id"}}}}}
        found = read_schema(json.dumps(sdv).encode(), name="t", what="t", onto=schema)
        assert found.unit.max_records == 7 and found.unit_from_data is says


BILLION = b'<!DOCTYPE a [<!ENTITY a "aa"><!ENTITY b "&a;&a;&a;">]><codeBook><var name="&b;"/></codeBook>'
OUTSIDE = b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><codeBook><var name="&x;"/></codeBook>'
DECIMALS = (
    b'<codeBook><dataDscr><var name="a" dcml="%s" intrvl="contin"><valrng><range min="0" max="1"/></valrng></var>'
    b"</dataDscr></codeBook>"
)
MODEL = {"type": "object", "$defs": {"A": {"$ref": "#/$defs/A"}}}
CSVW = {"@context": "http://www.w3.org/ns/csvw", "url": "t.csv", "tableSchema": {"columns": [{"name": "a"}]}}


@pytest.mark.parametrize(
    "raw, words",
    [
        (BILLION, "declares a document type or entities"),
        (OUTSIDE, "declares a document type or entities"),
        (b"<codeBook>&x;</codeBook>", "is no XML that can be read"),
        (b"<codeBook><var name='a'>", "is no XML that can be read"),
        (b"<a>" * 100 + b"</a>" * 100, "elements inside each other"),
        (DECIMALS % "²".encode(), "has a dcml of 'a'"),
        (DECIMALS % (b"9" * 5000), "has a dcml of 'a'"),
        (b"<html><body/></html>", "is no DDI-Codebook"),
        (CSVW | {"@context": "http://evil.example/ns"}, "names a context other than"),
        (CSVW | {"@context": ["http://www.w3.org/ns/csvw", {"@base": "http://evil.example"}]}, "names a base"),
        (CSVW | {"url": "https://evil.example/t.csv"}, "names a url that lies elsewhere"),
        (CSVW | {"tableSchema": "schema.json"}, "names a tableSchema that lies elsewhere"),
        (CSVW | {"tables": [CSVW, CSVW | {"url": "u.csv"}]}, "describes 2 tables: 't.csv', 'u.csv'; give"),
        ({"name": "t", "schema": "https://evil.example/s.json", "path": "t.csv"}, "nothing is fetched"),
        (MODEL | {"properties": {"a": {"$ref": "http://evil.example"}}}, "nothing is fetched"),
        (MODEL | {"properties": {"a": {"$ref": "#/$defs/A"}}}, "write it out"),
        (MODEL | {"properties": {"a": {"anyOf": None}}}, "declares values or a range of no column"),
    ],
)  # fmt: skip
def test_hostile_codebooks_are_refused_in_one_sentence(raw, words):
    with pytest.raises(SchemaError, match=words) as refused:
        read_schema(raw if isinstance(raw, bytes) else json.dumps(raw).encode(), name="t", what="t")
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 250


def test_json_that_is_too_deep_or_unknown_is_refused_by_the_command_s_importer(tmp_path):
    path = tmp_path / "deep.json"
    path.write_bytes(b'{"a":' * 200_000)
    with pytest.raises(SchemaError, match="is neither JSON nor XML"):
        import_file(path)
    path.write_bytes(b"\x80\x04\x95pickled")
    with pytest.raises(TableError, match="a Python pickle, which is never opened"):
        import_file(path)


def test_statistics_of_the_records_in_an_archive_s_codebook_are_not_read():
    raw = (
        b'<codeBook xmlns="ddi:codebook:2_5"><dataDscr><var name="age"><sumStat type="min">17</sumStat>'
        b'<sumStat type="max">93</sumStat><varFormat type="numeric"/></var><var name="sex"><catgry><catValu>1</catValu>'
        b'<labl>M</labl><catStat type="freq">12</catStat></catgry><catgry><catValu>2</catValu></catgry></var>'
        b"</dataDscr></codeBook>"
    )
    found = read_schema(raw, name="t", what="t.xml")
    assert found["age"].kind == "ignored" and found["sex"].values == (1, 2)
    assert "12" not in found.dumps() and "93" not in found.dumps()


class Town(Enum):
    oslo, rome = "Oslo", "Rome"


class Person(BaseModel):
    age: Annotated[int, Field(ge=0, lt=120)]
    pay: Annotated[float, Field(ge=0, le=9.5, multiple_of=0.5)] | None = None
    town: Town
    sex: Literal["f", "m"] = Field(title="Sex at birth")
    job: bool
    note: str = ""


def test_a_pydantic_model_becomes_a_schema():
    found = schema_of_model(Person)
    assert found.name == "Person" and [a.kind for a in found.attributes][-1] == "ignored"
    assert (found["age"].min, found["age"].max, found["age"].missing) == (0, 119, False)
    assert found["pay"].step == 0.5 and found["pay"].missing
    assert found["town"].values == ("Oslo", "Rome") and found["sex"].label == "Sex at birth"
    assert found["job"].values == (False, True)


def test_a_pandera_schema_becomes_a_schema_by_the_checks_that_it_names():
    class Check:
        def __init__(self, name, **statistics):
            self.name, self.statistics = name, statistics

    class Column:
        def __init__(self, dtype, *checks, nullable=False):
            self.dtype, self.checks, self.nullable, self.title, self.description = dtype, checks, nullable, None, "d"

    class Frame:
        name = "people"
        columns: ClassVar = {
            "age": Column("int64", Check("greater_than", min_value=0), Check("less_than_or_equal_to", max_value=99)),
            "town": Column("str", Check("isin", allowed_values=["Oslo", "Rome"]), nullable=True),
            "own": Column("float64", Check("<lambda>")),
        }

    found = schema_of_model(Frame())
    assert (found["age"].min, found["age"].max) == (1, 99) and found["town"].missing
    assert found["own"].kind == "ignored"
    with pytest.raises(SchemaError, match="no model of a table"):
        schema_of_model(3)


def test_codebooks_as_others_write_them():
    nesstar = (
        b'<codeBook><dataDscr><var name="sex" intrvl="discrete"><valrng><range min="1" max="2"/></valrng><invalrng>'
        b'<item VALUE="9"/></invalrng><catgry><catValu>1</catValu><labl>M</labl></catgry><catgry><catValu>2</catValu>'
        b'</catgry><catgry missing="Y"><catValu>9</catValu></catgry></var><var name="mood"><valrng>'
        b'<range min="0" max="10"/></valrng><catgry><catValu>0</catValu><labl>low</labl></catgry><catgry>'
        b"<catValu>10</catValu></catgry></var></dataDscr></codeBook>"
    )
    found = read_schema(nesstar, name="t", what="t.xml")
    assert found["sex"].values == (1, 2, 9) and found["sex"].notes["missing_codes"] == [9]
    assert (found["mood"].kind, found["mood"].max) == ("numeric", 10)
    columns = [
        {"titles": {"en": "day"}, "datatype": {"base": "date", "format": "dd.MM.yyyy", "minimum": "2020-01-01",
                                               "maximum": "2020-12-31"}},
        {"name": "job", "datatype": {"base": "boolean", "format": "Y|N"}},
        {"name": "x", "virtual": True},
    ]  # fmt: skip
    found = read_schema(json.dumps(CSVW | {"tableSchema": {"columns": columns}}).encode(), name="t", what="t.json")
    assert found["day"].formats == ("%d.%m.%Y",) and found["job"].values == ("Y", "N") and len(found.attributes) == 2


def test_a_scale_with_words_for_its_ends_is_a_range_and_a_list_of_codes_a_list():
    from dpsyn_core.schema.importers.declared import attribute_of

    trust = DeclaredColumn(name="t", words={"0": "never", "10": "always", "77": "refused"}, codes_missing=(77,))
    assert attribute_of(trust) | {"kind": "numeric", "min": 0, "max": 10, "special_values": [77]} == attribute_of(trust)
    sex = DeclaredColumn(name="s", words={"1": "m", "2": "f", "9": "no answer"})  # 9 is no middle: an unmarked code
    assert attribute_of(sex)["values"] == [1, 2, 9]
    grade = attribute_of(replace(trust, words={"1": "low", "4": "middle", "8": "high"}, codes_missing=()))
    assert (grade["kind"], grade["min"], grade["max"]) == ("numeric", 1, 8)
    listed = replace(trust, listed=True)
    assert attribute_of(listed)["values"] == [0, 10, 77]


SEVERAL = [
    {
        "METADATA_SPEC_VERSION": "MULTI_TABLE_V1", "relationships": [],
        "tables": {
            "hotels": {"columns": {"open": {"sdtype": "boolean"}}},
            "guests": {"columns": {"vip": {"sdtype": "boolean"}, "nights": {"sdtype": "numerical"}}},
        },
    },
    {
        "resources": [
            {"name": "hotels", "schema": {"fields": [{"name": "open", "type": "boolean"}]}},
            {"name": "guests", "schema": {"fields": [
                {"name": "vip", "type": "boolean"}, {"name": "nights", "type": "number"}]}},
        ]
    },
    {
        "@context": "http://www.w3.org/ns/csvw",
        "tables": [
            {"url": "hotels", "tableSchema": {"columns": [{"name": "open", "datatype": "boolean"}]}},
            {"url": "guests", "tableSchema": {"columns": [
                {"name": "vip", "datatype": "boolean"}, {"name": "nights", "datatype": "number"}]}},
        ],
    },
]  # fmt: skip


@pytest.mark.parametrize("document", SEVERAL)
def test_one_of_several_tables_is_named_and_what_is_left_out_says_what_to_do(document, tmp_path, capsys):
    path, out = tmp_path / "several.json", tmp_path / "s.json"
    path.write_text(json.dumps(document))
    for named in ([], ["--table", "nope"]):
        assert main(["schema", "import", str(path), *named, "-o", str(out)]) == 2
        said = capsys.readouterr().err
        assert "describes 2 tables: 'hotels', 'guests'" in said and "--table NAME" in said
    assert main(["schema", "import", str(path), "--table", "guests", "-o", str(out)]) == 0
    said = capsys.readouterr().out
    assert "left out: 'nights'" in said and "--onto draft.json" in said
    assert [a.name for a in Schema.load(out).coded] == ["vip"]


def test_an_export_to_sdv_says_that_values_and_ranges_are_not_carried():
    schema = Schema.of({"version": 1, "name": "t", "attributes": [
        {"name": "on", "kind": "categorical", "values": [False, True]},
        {"name": "town", "kind": "categorical", "values": ["a", "b"]},
        {"name": "age", "kind": "numeric", "dtype": "integer", "min": 0, "max": 9}]})  # fmt: skip
    assert {"the values of 'town'", "the range of 'age'"} <= set(export(schema, "sdv")[1])
