import gzip
import json
from pathlib import Path

import pytest

from dpsyn_core.errors import OutputError, SchemaError, TableError
from dpsyn_core.estimate.marginals.released_file import parsed_document
from dpsyn_core.schema.document import Schema, json_schema
from dpsyn_core.schema.drafts.confirmation import confirm
from tests.schema.helpers import cat, date, num, schema

# the exact shape of the specification, extras left out
ADULT = {
    "version": 1,
    "name": "adult",
    "unit": {"neighbours": "add-remove", "identifier": None, "max_records": 1},
    "n_records": None,
    "attributes": [
        {"name": "sex", "kind": "categorical", "values": ["F", "M"], "ordered": False, "other": False, "missing": True},
        {"name": "age", "kind": "numeric", "dtype": "integer", "min": 17, "max": 90, "bins": {"count": 74},
         "missing": False},
        {"name": "gain", "kind": "numeric", "dtype": "float", "min": 0, "max": 9.5, "bins": {"edges": [0, 1, 5, 9.5]}},
        {"name": "born", "kind": "datetime", "min": "1900-01-01", "max": "1999-12-31", "bins": {"every": "year"}},
        {"name": "seen", "kind": "datetime", "min": "1900-01-01", "max": "1999-12-31", "bins": {"count": 7}},
        {"name": "id", "kind": "identifier"},
        {"name": "note", "kind": "ignored", "source": "public"},
    ],
}  # fmt: skip


def changed(path, value):
    document = json.loads(json.dumps(ADULT))
    here = document
    for part in path[:-1]:
        here = here[part]
    if value is KeyError:
        del here[path[-1]]
    else:
        here[path[-1]] = value
    return document


def test_the_specified_document_is_read_and_gives_its_domain():
    s = Schema.of(ADULT)
    assert s.domain().names == ("sex", "age", "gain", "born", "seen")
    assert s.domain().sizes == (3, 74, 3, 100, 7)
    assert [a.special for a in s.domain().attributes] == [1, 0, 0, 0, 0]
    assert [a.ordered for a in s.domain().attributes] == [False, True, True, True, True]
    assert s.private and s.from_data == ()


def test_json_round_trip_gives_an_equal_schema(tmp_path):
    s = Schema.of(ADULT)
    assert Schema.loads(s.dumps()) == s
    s.dump(tmp_path / "s.json")
    assert Schema.load(tmp_path / "s.json") == s
    assert [p.name for p in tmp_path.iterdir()] == ["s.json"]


def test_fields_given_are_fields_written():
    written = Schema.of(ADULT).document()
    for given, out in zip(ADULT["attributes"], written["attributes"], strict=True):
        assert given.items() <= out.items()
        assert out["source"] == "public"
    assert set(written) == set(ADULT)


def test_schemas_are_frozen():
    with pytest.raises(ValueError, match="frozen"):
        Schema.of(ADULT).name = "other"


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (["version"], 2, ["version", "1"]),
        (["version"], KeyError, ["version is required"]),
        (["extra"], 1, ["extra", "no known field"]),
        (["name"], "", ["name", "empty"]),
        (["unit", "neighbours"], "both", ["unit.neighbours", "add-remove", "replace"]),
        (["unit", "max_records"], 0, ["unit.max_records"]),
        (["unit", "max_records"], True, ["unit.max_records", "whole number"]),
        (["unit", "identifier"], "sex", ["sex", "identifier"]),
        (["n_records"], -1, ["n_records"]),
        (["attributes"], [], ["attributes", "empty"]),
        (["attributes"], [{"name": "id", "kind": "identifier"}], ["no attribute is left"]),
        (["attributes", 0, "kind"], "enum", ["attributes[0]", "('sex')", "kind", "categorical"]),
        (["attributes", 0, "kind"], KeyError, ["attributes[0]", "kind"]),
        (["attributes", 0, "name"], "age", ["'age'", "twice"]),
        (["attributes", 0, "values"], [], ["attributes[0].values", "('sex')", "empty"]),
        (["attributes", 0, "values"], [None], ["values[0]", "text, a number, true or false"]),
        (["attributes", 0, "values"], [1, "1"], ["'1'", "twice"]),
        (["attributes", 0, "values"], [1, 1.0], ["'1'", "twice"]),
        (["attributes", 0, "values"], ["x" * 5000] * 2, ["xxx", "twice"]),
        (["attributes", 0, "x" * 5000], 1, ["xxx", "no known field"]),
        (["attributes", 0, "values"], ["", "M"], ["missing", "''"]),
        (["attributes", 1, "dtype"], "text", ["attributes[1].dtype", "integer"]),
        (["attributes", 1, "min"], "17", ["attributes[1].min", "('age')", "number"]),
        (["attributes", 1, "min"], 91, ["min 91", "max 90"]),
        (["attributes", 1, "min"], 1.5, ["whole"]),
        (["attributes", 1, "max"], 2**63, ["2^62"]),
        (["attributes", 1, "max"], 10**400, ["attributes[1].max"]),
        (["attributes", 1, "bins"], 7, ["attributes[1].bins", "count"]),
        (["attributes", 1, "bins"], {"count": 0}, ["attributes[1].bins.count"]),
        (["attributes", 1, "bins"], {"count": 10**9}, ["attributes[1].bins.count"]),
        (["attributes", 1, "bins"], {"edges": [30, 20]}, ["attributes[1].bins", "rise"]),
        (["attributes", 1, "bins"], {"edges": [17, 17.2, 17.4]}, ["no whole number"]),
        (["attributes", 1, "bins"], {"edges": [1, 20]}, ["between min"]),
        (["attributes", 1, "special_values"], [5, 5], ["special_values"]),
        (["attributes", 2, "max"], float("inf"), ["attributes[2].max"]),
        (["attributes", 2, "bins"], {"count": 3, "edges": [1]}, ["attributes[2].bins.count"]),
        (["attributes", 3, "min"], "01/02/1900", ["2020-01-31"]),
        (["attributes", 3, "min"], "1900-02-30", ["2020-01-31"]),
        (["attributes", 3, "max"], "1899-01-01", ["after max"]),
        (["attributes", 3, "bins"], {"every": "week"}, ["attributes[3].bins.every", "month"]),
        (["attributes", 3, "formats"], ["%q"], ["%q", "%Y"]),
        (["attributes", 3, "formats"], ["%d.%m."], ["year"]),
        (["attributes", 3], date("t", "2020-01-01T00:00", "2020-01-02T00:00", 3, formats=["%d.%m.%Y"]), ["no hour"]),
    ],
)
def test_each_mistake_is_one_sentence_that_names_the_field(path, value, words):
    with pytest.raises(SchemaError) as error:
        Schema.of(changed(path, value))
    text = str(error.value)
    assert "\n" not in text and len(text) < 400
    for word in words:
        assert word in text


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "3", '{"version": 1', "\ufeff{", "[" * 100_000])
def test_what_is_no_schema_document_is_refused_in_one_sentence(text):
    with pytest.raises(SchemaError):
        Schema.loads(text)


def test_a_field_that_stands_twice_is_refused_for_readers_of_json_disagree_about_it():
    text = Schema.of(ADULT).dumps()
    with pytest.raises(SchemaError, match="has the field 'source' twice"):
        Schema.loads(text.replace('"source": "public"', '"source": "data", "source": "public"', 1))
    with pytest.raises(TableError, match="does not hold released marginals"):
        parsed_document(gzip.compress(b'{"version": 1, "version": 1}'), "m.json.gz")


def test_files_that_cannot_be_read_or_written_are_named(tmp_path):
    with pytest.raises(SchemaError, match=r"none\.json"):
        Schema.load(tmp_path / "none.json")
    with pytest.raises(SchemaError, match="cannot be read"):
        Schema.load(tmp_path)
    (tmp_path / "bad.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SchemaError, match=r"bad\.json"):
        Schema.load(tmp_path / "bad.json")
    with pytest.raises(OutputError):
        Schema.of(ADULT).dump(tmp_path / "no" / "s.json")


def test_knowledge_from_data_makes_a_schema_not_private():
    s = schema(cat("a", [1, 2], source="data"), cat("b", [1], source="bought"), cat("c", [1]))
    assert s.from_data == ("a",)
    assert not s.private


PRICE = {"name": "b", "mechanism": "geometric", "sensitivity": 1, "scale": 1, "cells": 1, "epsilon": 1}


def test_what_is_said_to_be_bought_without_a_charge_makes_a_schema_not_private():
    assert "no charge" in schema(cat("b", [1], source="bought")).reasons[0]
    assert schema(cat("b", [1], source="bought"), bought=[PRICE]).private


def test_a_kind_that_was_read_from_the_data_makes_what_was_bought_not_private_until_it_is_confirmed():
    s = schema(cat("b", [1], source="bought-unconfirmed"), bought=[PRICE])
    assert s.reasons == ("the kind or the form of attribute 'b' was read from the data",)
    assert s.from_data == ("b",) and not s.private
    assert confirm(s, everything=True).private and confirm(s, everything=True)["b"].source == "bought"


@pytest.mark.parametrize(
    ("bought", "runs", "fits"),
    [
        ({}, {}, True),
        ({"identifier": "id"}, {"identifier": "id", "max_records": 5}, True),
        ({"max_records": 3}, {"max_records": 2}, True),
        ({"max_records": 2}, {"max_records": 3}, False),
        ({}, {"identifier": "id"}, False),
        ({"identifier": "id"}, {}, False),
        ({"neighbours": "replace"}, {}, False),
        ({}, {"neighbours": "replace"}, False),
    ],
)
def test_what_was_bought_for_another_unit_makes_a_schema_not_private(bought, runs, fits):
    s = schema(
        {"name": "id", "kind": "identifier"},
        cat("b", [1], source="bought"),
        bought=[PRICE | {"unit": bought}],
        unit=runs,
    )
    assert s.private == fits
    assert fits or "another unit" in s.reasons[0]
    declared = s.model_copy(
        update={"attributes": tuple(a.model_copy(update={"source": "public"}) for a in s.attributes)}
    )
    assert declared.private
    assert Schema.loads(s.dumps()) == s


def test_labels_stand_for_cells_one_by_one():
    s = schema(
        cat("c", ["x", 1, True], other=True, missing=True),
        num("i", 0, 9, [0, 1, 5], missing=True, special_values=[99]),
        num("f", 0, 1, 2, dtype="float"),
        date("d", "2020-01-15", "2020-03-02", "month"),
    )
    assert s["c"].labels() == ["x", "1", "true", "(other)", "(missing)"]
    assert s["i"].labels() == ["0", "1-4", "5-9", "99", "(missing)"]
    assert s["f"].labels() == ["[0, 0.5)", "[0.5, 1]"]
    assert s["d"].labels() == ["2020-01", "2020-02", "2020-03"]
    assert all(len(a.labels()) == a.size for a in s.coded)
    assert s["i"].middles()[:3].tolist() == [0, 2.5, 7]


def test_a_thousand_columns_are_checked_at_once():
    assert len(schema(*(cat(f"c{i}", [0, 1]) for i in range(1000))).domain()) == 1000


def test_the_exported_json_schema_is_current():
    path = Path(__file__).resolve().parents[2] / "docs" / "schema.v1.json"
    assert json.loads(path.read_text(encoding="utf-8")) == json.loads(json.dumps(json_schema()))
