"""Codebooks in the forms in which archives, offices and other programs write them."""

import json

import pytest

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.importers.formats import export, read_schema


def read(document, **given):
    raw = document.encode() if isinstance(document, str) else json.dumps(document).encode()
    return read_schema(raw, name="t", what="t.xml", **given)


def of(schema):
    return {a["name"]: a for a in schema.document()["attributes"]}


def ddi(*variables, files=""):
    return (
        '<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="x.xsl"?><codeBook xmlns="ddi:codebook:2_5" '
        'version="2.5"><stdyDscr><citation><titlStmt><titl>Extract</titl></titlStmt></citation></stdyDscr>'
        f"{files}<dataDscr>{''.join(variables)}</dataDscr></codeBook>"
    )


def var(name, inside="", *, form="numeric", **given):
    more = "".join(f' {k}="{v}"' for k, v in given.items())
    return f'<var name="{name}"{more}><labl>{name}</labl>{inside}<varFormat type="{form}" schema="other"/></var>'


def codes(*pairs):
    return "".join(f"<catgry><catValu>{c}</catValu><labl>{w}</labl></catgry>" for c, w in pairs)


def test_codes_of_a_fixed_width_are_the_numbers_of_the_table():
    schema = read(
        ddi(
            var("MONTH", codes(("01", "January"), ("02", "February"), ("12", "December")), intrvl="discrete"),
            var("COUNTY", codes(("0100", "Autauga"), ("0200", "Baldwin")), form="character", intrvl="discrete"),
        )
    )
    found = of(schema)
    assert found["MONTH"]["values"] == [1, 2, 12]
    assert found["MONTH"]["notes"]["labels"] == {"1": "January", "2": "February", "12": "December"}
    assert found["COUNTY"]["values"] == ["0100", "0200"]


def test_words_of_a_few_codes_of_a_number_are_no_list():
    ages = codes(("00", "Under 1"), ("90", "90 and over"), ("99", "Not known"), ("98", "Refused"))
    schema = read(ddi(var("AGE", ages, intrvl="contin"), var("SEX", codes(("1", "m"), ("2", "f")), intrvl="discrete")))
    assert of(schema)["AGE"]["kind"] == "ignored"
    assert of(schema)["SEX"]["values"] == [1, 2]
    hours = codes(("00", "N/A"), ("99", "99 hours"))  # the ends of a scale
    assert (
        of(read(ddi(var("HOURS", hours, intrvl="contin"))))["HOURS"] | {"min": 0, "max": 99, "kind": "numeric"}
        == (of(read(ddi(var("HOURS", hours, intrvl="contin"))))["HOURS"])
    )


def test_names_of_a_blank_cell_are_no_value():
    missing = '<catgry missing="Y"><catValu>Sysmiss</catValu></catgry><catgry missing="Y"><catValu>.</catValu></catgry>'
    party = of(read(ddi(var("party", codes(("1", "Left"), ("2", "Right")) + missing))))["party"]
    assert party["values"] == [1, 2]
    assert party["missing"] is True


def test_a_range_beside_statistics_of_the_records_is_the_owners_to_confirm():
    span = '<valrng><range UNITS="REAL" min="0" max="97"/></valrng>'
    schema = read(ddi(var("age", f"{span}<sumStat type='min'>0</sumStat>", dcml="0"), var("days", span, dcml="0")))
    assert of(schema)["age"]["source"] == "data"
    assert of(schema)["days"].get("source", "public") == "public"
    assert not schema.private


def test_one_data_file_of_several_is_named():
    files = "".join(
        f'<fileDscr ID="F{i}"><fileTxt><fileName>{n}.NSDstat</fileName></fileTxt></fileDscr>'
        for i, n in enumerate(("households", "persons"), 1)
    )
    document = ddi(
        var("hhid", files="F1"), var("area", codes(("1", "Urban"), ("2", "Rural")), files="F1"),
        var("hhid", files="F2"), var("sex", codes(("1", "m"), ("2", "f")), files="F2"), files=files,
    )  # fmt: skip
    with pytest.raises(SchemaError, match=r"2 tables: 'households', 'persons'; give a file .*--table NAME"):
        read(document)
    for table in ("persons", "F2"):
        schema = read(document, table=table)
        assert list(of(schema)) == ["hhid", "sex"]
        assert schema.name == "persons"
    with pytest.raises(SchemaError, match="2 tables"):
        read(document, table="dogs")


def test_the_header_is_the_title_as_csvw_wants_it():
    columns = [
        {"name": "grade", "titles": {"en": "Grade", "de": "Stufe"}, "datatype": {"base": "string", "format": "A|B|C"}},
        {"name": "pay", "titles": ["Pay floor", "pay"], "datatype": {"base": "integer", "minimum": 0, "maximum": "9"}},
        {"name": "start", "datatype": {"base": "date", "format": "dd/MM/yyyy", "minimum": "01/02/2010",
                                       "maximum": "31/12/2020"}},
        {"name": "holder", "virtual": True},
    ]  # fmt: skip
    document = {"@context": "http://www.w3.org/ns/csvw", "url": "s.csv", "tableSchema": {"columns": columns}}
    found = of(read(document))
    assert list(found) == ["Grade", "Pay floor", "start"]
    assert found["Grade"]["values"] == ["A", "B", "C"]
    assert (found["start"]["min"], found["start"]["max"]) == ("2010-02-01", "2020-12-31")
    draft = Schema.of(
        {"version": 1, "name": "d", "attributes": [{"name": n, "kind": "ignored"} for n in ("Stufe", "pay")]
         + [{"name": "start", "kind": "categorical", "values": ["x"]}]}
    )  # fmt: skip
    kinds = {n: a["kind"] for n, a in of(read(document, onto=draft)).items()}
    assert kinds == {"Stufe": "categorical", "pay": "numeric", "start": "datetime"}


def test_what_we_write_as_csvw_names_the_headers_of_the_file():
    schema = Schema.of(
        {"version": 1, "name": "d", "attributes": [
            {"name": "hours per week", "kind": "numeric", "dtype": "integer", "min": 0, "max": 9, "label": "Hours"},
            {"name": "_sex", "kind": "categorical", "values": ["m", "f"]}]}
    )  # fmt: skip
    raw, left = export(schema, "csvw")
    columns = json.loads(raw)["tableSchema"]["columns"]
    assert [c["name"] for c in columns] == ["hours%20per%20week", "%5Fsex"]
    assert [c["titles"] for c in columns] == [["hours per week", "Hours"], "_sex"]
    assert left == []
    assert of(read_schema(raw, name="d", what="d"))["hours per week"]["label"] == "Hours"


def test_frictionless_as_others_write_it():
    fields = [
        {"name": "member", "type": "boolean", "trueValues": ["J"], "falseValues": ["N"]},
        {"name": "joined", "type": "date", "format": "%d.%m.%Y",
         "constraints": {"minimum": "01.01.2000", "maximum": "31.12.2024"}},
        {"name": "code", "type": "string", "constraints": {"pattern": "^(A|B)$"}},
        {"name": "pay", "type": "number", "constraints": {"exclusiveMinimum": 0, "maximum": "250"}},
    ]  # fmt: skip
    found = of(read({"resources": [{"name": "r", "path": "r.csv", "schema": {"fields": fields}}]}))
    assert found["member"]["values"] == ["N", "J"]
    assert (found["joined"]["min"], found["joined"]["max"]) == ("2000-01-01", "2024-12-31")
    assert found["joined"]["formats"] == ["%d.%m.%Y"]
    assert found["code"]["values"] == ["A", "B"]
    assert (found["pay"]["min"], found["pay"]["max"]) == (0, 250)


@pytest.mark.parametrize("tables", [[{"name": "t", "fields": []}], {"t": {"fields": {"a": {"type": "categorical"}}}}])
def test_metadata_of_sdv_before_its_version_1_says_what_to_do(tables):
    with pytest.raises(SchemaError, match=r"before SDV 1.0; convert it there \(SingleTableMetadata.upgrade_metadata\)"):
        read({"tables": tables})
