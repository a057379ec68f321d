"""Schema document, version 2: what is read, written and refused."""

import copy
import json

import pytest

from dpsyn_core import data
from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.document import Schema, TableSchema
from dpsyn_core.schema.linked import LinkedSchema


@pytest.fixture
def document():
    return json.loads(data.linked_paths("households")[1].read_text(encoding="utf-8"))


def test_a_schema_reads_back_as_it_was_written(document, tmp_path):
    schema = LinkedSchema.of(document)
    schema.dump(tmp_path / "s.json")
    assert LinkedSchema.load(tmp_path / "s.json") == schema
    assert Schema.load(tmp_path / "s.json") == schema
    assert schema.root_key == "household_id"


def test_one_table_is_a_tree_without_links(document):
    one, tree = Schema.load(data.paths("sample")[1]), Schema.of(document)
    assert (len(one.tables), one.links, one.root.columns) == (1, (), one)
    assert one.outputs == (one.name,) and one.alone("nobody asks for more") is one
    assert [link.child for link in tree.links] == ["persons"] and tree.attributes == ()
    with pytest.raises(SchemaError, match="describes 2 linked tables, and this takes one"):
        tree.alone("this takes one")


def test_each_version_is_refused_in_place_of_the_other(document):
    with pytest.raises(SchemaError, match="version 1, which describes one table"):
        LinkedSchema.loads(data.paths("sample")[1].read_bytes())
    with pytest.raises(SchemaError, match="version"):
        TableSchema.of(document)


def _link(document, **fields):
    document["links"][0].update(fields)


def _circle(document):
    """Two children, each the parent of the other."""
    document["tables"][1]["key"] = "person_id"
    document["tables"].append(copy.deepcopy(document["tables"][1]) | {"name": "visits", "key": "visit_id"})
    document["links"] = [
        {"parent": "visits", "child": "persons", "key": "visit_id", "max_children": 3},
        {"parent": "persons", "child": "visits", "key": "person_id", "max_children": 3},
    ]


def _table(document, place, **fields):
    document["tables"][place]["schema"].update(fields)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: _link(d, child="households"), "go round in a circle"),
        (lambda d: d["links"].append(dict(d["links"][0])), "has two parents"),
        (lambda d: _link(d, parent="people"), "names the table 'people'"),
        (lambda d: d["tables"].append(d["tables"][1] | {"name": "pets"}), "hangs on no other"),
        (lambda d: _link(d, max_children=0), "max_children"),
        (lambda d: _link(d, key="age"), "is a key, and keys never leave"),
        (lambda d: d["tables"][0].pop("key"), "has children and no key"),
        (lambda d: d["tables"][1].pop("schema"), "has no schema"),
        (lambda d: _link(d, roles={"column": "age", "single": ["1"]}), "no categorical column"),
        (lambda d: _link(d, roles={"column": "role", "single": ["Boss"]}), "no value 'Boss'"),
        (lambda d: _link(d, order="sex"), "has roles and an order"),
        (lambda d: _link(d, roles=None, order="sex"), "has no order; declare it ordered"),
        (lambda d: _link(d, roles=None, order="age", distinct=True), "at most 10 can be distinct"),
        (lambda d: _link(d, roles=None, distinct=True), "has no order"),
        (lambda d: _table(d, 1, n_records=5), "declares n_records"),
        (lambda d: _table(d, 1, unit={"identifier": "x", "max_records": 2}), "unit of its own"),
        (lambda d: d["tables"][1].update(name="../x"), "names a file"),
        (lambda d: d.update(unit={"neighbours": "some"}), "neighbours"),
        (_circle, "go round in a circle: persons > visits > persons"),
    ],
)
def test_what_does_not_fit_is_one_sentence(document, change, said):
    change(document)
    with pytest.raises(SchemaError, match=said) as error:
        LinkedSchema.of(document)
    assert "\n" not in str(error.value)


def test_what_was_read_from_the_data_is_a_reason(document):
    document["unit"]["source"] = "data"
    document["tables"][1]["schema"]["attributes"][1]["source"] = "data"
    reasons = LinkedSchema.of(document).reasons
    assert len(reasons) == 2 and "table 'persons'" in reasons[1]


@pytest.mark.parametrize("name", ["../../x", "/etc/x", "a\\b", ".x", "a\0b"])
def test_tables_of_one_file_have_no_name_that_leads_out_of_the_folder(name):
    from tests.outside_documents import PANEL

    with pytest.raises(SchemaError, match="names a file"):
        LinkedSchema.of(PANEL | {"name": name})


@pytest.mark.parametrize("field", ["name", "key"])
def test_names_of_tables_and_keys_have_a_letter_at_least(document, field):
    for name, fits in (("h", True), ("", False), ("h" * 200, True)):
        changed = copy.deepcopy(document)
        table = changed["tables"][0]
        before, table[field] = table[field], name
        text = json.dumps(changed).replace(json.dumps(before), json.dumps(name)) if field == "name" else None
        given = json.loads(text) if text else changed
        if fits:
            assert getattr(LinkedSchema.of(given).tables[0], field) == name
        else:
            with pytest.raises(SchemaError):
                LinkedSchema.of(given)
