import copy
import json

import numpy as np
import pyarrow as pa
import pytest

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.importers.parameters import export_parameters, import_file, import_maxima, import_parameters

# in the style of the 2020 NIST challenge
PARAMETERS = {
    "runs": [
        {"epsilon": 10.0, "delta": 3.4498908254380166e-11, "max_records": 1350000, "max_records_per_individual": 7},
        {"epsilon": 1.0, "delta": 3.4498908254380166e-11, "max_records": 1350000, "max_records_per_individual": 1},
    ],
    "schema": {
        "YEAR": {"dtype": "uint16", "kind": "categorical", "values": [2012, 2013], "codes": [1, 2]},
        "AGE": {"dtype": "uint8", "kind": "numeric", "min": 14, "max": 87, "bins": 10},
        "HHWT": {"dtype": "float", "kind": "numeric", "min": 0, "max": 1.5, "bins": [0, 0.5, 1.5]},
        "SEX": {"dtype": "str", "kind": "categorical", "values": ["FEMALE", "MALE"], "codes": [1, 2]},
        "STATE": {"dtype": "str", "kind": "categorical", "values": ["", "CT"], "codes": [0, 1]},
        "ID": {"dtype": "int", "kind": "id"},
    },
}


def test_parameters_become_a_schema():
    s = import_parameters(PARAMETERS, name="drugs")
    assert s.unit.identifier == "ID" and s.unit.max_records == 7 and s.unit.neighbours == "add-remove"
    assert s.private and s.name == "drugs"
    assert s.domain().sizes == (3, 11, 3, 3, 2)
    assert s["STATE"].values == ("", "CT") and not s["STATE"].missing
    assert s["AGE"].dtype == "integer" and s["AGE"].bins.count == 10
    assert s["HHWT"].dtype == "float" and s["HHWT"].bins.edges == (0, 0.5, 1.5)


def test_nothing_is_lost():
    s = import_parameters(copy.deepcopy(PARAMETERS))
    assert export_parameters(s) == PARAMETERS
    assert export_parameters(Schema.loads(s.dumps())) == PARAMETERS


def test_column_types_overrule():
    types = {"dtype": {"YEAR": "str", "SEX": "str", "AGE": "float64"}}
    s = import_parameters(PARAMETERS, types)
    assert s["YEAR"].values == ("2012", "2013") and s["AGE"].dtype == "float"
    assert s.notes["datatypes"] == types


def test_blank_cells_have_a_place_in_every_imported_column():
    s = import_parameters(PARAMETERS)
    blank = pa.table({n: [""] for n in s.domain().names} | {"ID": ["1"]})
    codes = Codec(s).encode(blank).codes[:, 0].tolist()
    assert codes == [2, 10, 2, 2, 0]
    back = Codec(s).decode(np.array([codes], dtype=np.uint8).T, rng=np.random.default_rng(0))
    assert back.to_pylist() == [{"YEAR": None, "AGE": None, "HHWT": None, "SEX": None, "STATE": ""}]


def test_null_among_the_values_is_the_missing_cell():
    entry = {"dtype": "str", "kind": "categorical", "values": [None, "x"]}
    s = import_parameters({"schema": {"a": entry}})
    assert s["a"].missing and s["a"].values == ("x",)
    assert export_parameters(s)["schema"]["a"] == entry


def test_files_of_every_style_are_told_apart(tmp_path):
    path = tmp_path / "drugs.json"
    path.write_text(json.dumps(PARAMETERS))
    types = tmp_path / "types.json"
    types.write_text(json.dumps({"dtype": {"AGE": "uint8"}}))
    assert import_file(path, types).name == "drugs"
    assert import_file(path, name="mine").name == "mine"
    s = import_parameters(PARAMETERS)
    s.dump(path)
    assert import_file(path) == s
    path.write_text(json.dumps({"URBAN": {"type": "enum", "maxval": 2}, "VALUEH": {"type": "enum", "maxval": 9999999}}))
    assert import_file(path).domain().sizes == (3, 1933)


def test_lists_of_maxima_become_lists_or_ranges():
    s = import_maxima({"SEX": {"type": "enum", "maxval": 2}, "VALUEH": {"type": "enum", "maxval": 9_999_999}})
    assert s["SEX"].values == (0, 1, 2)
    assert (s["VALUEH"].min, s["VALUEH"].max, s["VALUEH"].dtype) == (0, 9_999_998, "integer")
    assert s["VALUEH"].special_values == (9_999_999,)


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (["extra"], 1, "extra"),
        (["schema", "SEX", "kind"], "text", "schema.SEX|'SEX'"),
        (["schema", "AGE", "min"], None, "schema.AGE"),
        (["schema", "AGE", "bins"], "ten", "schema.AGE.bins"),
        (["schema", "AGE", "bins"], 0, "bins.count"),
        (["schema", "AGE", "kind"], "text", "schema.AGE.kind"),
        (["schema", "SEX", "values"], [], "schema.SEX.values"),
        (["schema", "SEX", "values"], ["a", "a"], "twice"),
        (["schema", "SEX"], 3, "schema.SEX"),
        (["schema"], {}, "attributes"),
    ],
)
def test_mistakes_in_an_import_are_named(path, value, words):
    document = copy.deepcopy(PARAMETERS)
    here = document
    for part in path[:-1]:
        here = here[part]
    here[path[-1]] = value
    if path == ["schema", "SEX", "kind"]:  # values make a column categorical whatever its kind is called
        assert import_parameters(document)["SEX"].kind == "categorical"
        return
    with pytest.raises(SchemaError, match=words):
        import_parameters(document)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"a": 1}', "3", '{"a": {"maxval": -1}}', '{"a": {"maxval": true}}'])
def test_files_of_no_known_style_are_refused(tmp_path, text):
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(SchemaError, match=r"x\.json"):
        import_file(path)
    with pytest.raises(SchemaError, match=r"none\.json"):
        import_file(tmp_path / "none.json")
