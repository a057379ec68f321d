"""Public lists and beginnings of codes: text of many values is kept at no cost, and a code is of its record alone."""

import numpy as np
import pyarrow as pa
import pytest

from dpsyn_core.errors import SchemaError, SchemaWarning
from dpsyn_core.schema.attributes.categorical import CategoricalAttribute
from dpsyn_core.schema.code_lists import built_in, code_list, list_of, proposed, with_list
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.drafts.draft import draft, drafted
from dpsyn_core.schema.drafts.proposals import rounded


def beginnings(values=("1", "10", "101", "2"), **more):
    return CategoricalAttribute.model_validate({"name": "x", "values": values, "by_prefix": True} | more)


def test_a_cell_counts_as_the_longest_listed_value_that_it_begins_with():
    cells = pa.chunked_array([pa.array(["10115", "10999", "1", "19", "2", "299", "3", " 1012 ", "", None])])
    codes = beginnings(other=True, missing=True).encode(cells)
    assert codes.tolist() == [2, 1, 0, 0, 3, 3, 4, 2, 5, 5]
    plain = CategoricalAttribute.model_validate({"name": "x", "values": ["1", "10"], "other": True, "missing": True})
    assert plain.encode(cells).tolist() == [2, 2, 0, 2, 2, 2, 2, 2, 3, 3]


def test_the_code_of_a_record_does_not_depend_on_other_records():
    rng = np.random.default_rng(0)
    cells = [f"{x:05d}" for x in rng.integers(0, 99_999, 300)]
    attribute = beginnings(("0", "1", "12", "123", "9"), other=True)
    whole = attribute.encode(pa.chunked_array([pa.array(cells)]))
    alone = [int(attribute.encode(pa.chunked_array([pa.array([c])]))[0]) for c in cells]
    assert whole.tolist() == alone


def test_beginnings_are_text_and_a_document_keeps_them():
    with pytest.raises(ValueError, match="by_prefix is for values of text"):
        beginnings((1, 10))
    document = {"version": 1, "name": "t", "attributes": [built_in()["icd10"].attribute("dx")]}
    schema = Schema.of(document)
    assert Schema.loads(schema.dumps())["dx"].by_prefix
    assert "and what begins with them" in schema["dx"].describe()


@pytest.mark.parametrize(
    ("name", "size", "known", "unknown"),
    [
        ("iso3166", 249, ["DE", "BR", "ZW"], "XX"), ("iso3166-3", 249, ["DEU", "BRA", "ZWE"], "XXX"),
        ("iso4217", 155, ["EUR", "USD", "JPY"], "DEM"), ("icd10", 43, ["I21.4", "C50", "D48.1", "H60"], "1.5"),
        ("nace", 109, ["47.11", "01", "C10.1"], "04"), ("isco", 43, ["2512", "0110"], "0500"),
        ("digits:2", 100, ["10115", "01067"], "A1"), ("digits:3", 1000, ["10115"], "10"),
    ],
)  # fmt: skip
def test_lists_that_ship_have_what_they_name(name, size, known, unknown):
    one = code_list(name)
    assert len(one.values) == len(set(one.values)) == size
    assert one.matched(known) == 1 and one.matched([unknown]) == 0


def test_icd_chapters_part_where_the_classification_parts_them():
    one = built_in()["icd10"]
    attribute = CategoricalAttribute.model_validate(one.attribute("dx"))
    cells = pa.chunked_array([pa.array(["D48.9", "D50.0", "H59", "H60", "I10"])])
    assert [attribute.values[i] for i in attribute.encode(cells)] == ["D4", "D5", "H5", "H6", "I"]


def test_a_file_of_one_value_a_line_is_a_list_with_or_without_a_head(tmp_path):
    (tmp_path / "jobs.csv").write_text("code;word\nbaker;x\ncook;y\nbaker;z\n")
    assert code_list(str(tmp_path / "jobs.csv")).values == ("baker", "cook")
    assert list_of("Bäcker\nKoch\n".encode("cp1252"), "jobs.txt").values == ("Bäcker", "Koch")
    with pytest.raises(SchemaError, match="has no values"):
        list_of(b"\n\n", "none.txt")
    with pytest.raises(SchemaError, match="neither a file that can be read nor one of the lists iso3166"):
        code_list(str(tmp_path / "absent.txt"))


def many(n=2000):
    rng = np.random.default_rng(1)
    parts = zip(rng.choice(list("ACEI"), n), rng.integers(0, 99, n), rng.integers(0, 9, n), strict=True)
    return pa.table(
        {
            "plz": [f"{x:05d}" for x in rng.integers(1000, 99_999, n)],
            "icd_code": [f"{a}{b:02d}.{c}" for a, b, c in parts],
            "occupation": [f"job {x}" for x in rng.integers(0, 900, n)],
            "age": rng.integers(18, 90, n),
        }
    )  # fmt: skip


def test_postal_codes_and_diagnoses_are_proposed_by_their_public_beginnings():
    table = many()
    schema, _ = drafted(table, "t")
    assert not schema["plz"].coded, "a draft lists none of them"
    proposed_schema = rounded(schema, table)
    assert proposed_schema["plz"].values == built_in()["digits:2"].values
    assert proposed_schema["icd_code"].values == built_in()["icd10"].values
    assert proposed_schema["plz"].source == "data", "that they are beginnings of such codes was read from the data"
    assert not proposed_schema["occupation"].coded
    assert proposed("town", [f"{i}" for i in range(10_000, 10_040)]) is None, "the header says nothing of postal codes"
    assert proposed("plz", [f"{i}" for i in range(9_980, 10_020)]) is None, "zeros in front were lost"
    numbers = pa.table({"zip": [None, *range(10_000, 90_000, 97)], "age": range(826)})
    schema, _ = drafted(numbers, "t")
    zipped = rounded(schema, numbers)["zip"]
    assert zipped.by_prefix and zipped.missing and not zipped.other
    codes = zipped.encode(numbers["zip"])
    assert codes[0] == zipped.size - 1 and codes[1] == 10 and np.bincount(codes)[10:90].min() > 5


def test_what_is_left_out_of_a_draft_in_python_is_warned_of_with_its_remedy():
    with pytest.warns(SchemaWarning) as said:
        schema = draft(many(), "t")
    (words,) = (str(w.message) for w in said if "'occupation'" in str(w.message))
    assert "is left out: more than 200 distinct values; with_list keeps it" in words
    kept = with_list(schema, "occupation", list_of(b"job 1\njob 2\n", "jobs"))
    assert kept["occupation"].source == "public" and kept["occupation"].values == ("job 1", "job 2")
    assert with_list(schema, "plz", "digits:1")["plz"].size == 12
    with pytest.raises(SchemaError, match="no column 'jop'"):
        with_list(schema, "jop", "isco")
