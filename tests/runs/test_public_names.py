"""What an engineer reaches from `dpsyn_core` alone: from a frame to a written release."""

import pandas as pd
import pytest

import dpsyn_core
from dpsyn_core.errors import SchemaError


def test_a_frame_goes_to_a_written_release_through_the_public_names_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    people = pd.DataFrame({"sex": ["F", "M"] * 50, "age": list(range(20, 70)) * 2})
    drafted = dpsyn_core.draft_schema(people, "people")
    known = dpsyn_core.confirm_schema(drafted, ["sex", "age"])
    assert not drafted.private and known.private
    release = dpsyn_core.synthesize(people, known, epsilon=1.0, delta=1e-6, rng=1, method="independent")
    assert list(release.table.columns) == ["sex", "age"]
    release.write(tmp_path / "o.csv")
    assert (tmp_path / "o.csv").is_file() and (tmp_path / "o.manifest.json").is_file()


def test_a_schema_is_drafted_from_a_file_too(tmp_path):
    pd.DataFrame({"sex": ["F", "M"] * 50}).to_csv(tmp_path / "t.csv", index=False)
    assert dpsyn_core.draft_schema(tmp_path / "t.csv", "t").attributes[0].values == ("F", "M")


SCHEMA = {
    "version": 1,
    "name": "people",
    "attributes": [{"name": "sex", "kind": "categorical", "values": ["F", "M"]}],
}


def test_a_schema_may_be_its_document(tmp_path, monkeypatch):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    people = pd.DataFrame({"sex": ["F", "M"] * 50})
    given = {"epsilon": 1.0, "delta": 1e-6, "rng": 1}
    assert set(dpsyn_core.synthesize(people, SCHEMA, **given).table.sex) == {"F", "M"}
    dpsyn_core.synthesize_to(people, SCHEMA, out=tmp_path / "o.csv", manifest=tmp_path / "o.json", **given)
    assert (tmp_path / "o.csv").is_file()
    tables = [{"name": "homes", "key": "home", "schema": SCHEMA}, {"name": "people", "schema": SCHEMA}]
    links = [{"parent": "homes", "child": "people", "key": "home", "max_children": 2}]
    homes = people.assign(home=range(100))
    linked = {"version": 2, "name": "homes", "unit": {"source": "public"}, "tables": tables, "links": links}
    made = dpsyn_core.synthesize({"homes": homes, "people": homes}, linked, **given)
    assert set(made.tables) == {"homes", "people"}


@pytest.mark.parametrize("given", [None, 3, pd.DataFrame({"sex": ["F"]})], ids=["nothing", "number", "frame"])
def test_what_is_no_schema_is_refused_in_one_sentence(given):
    with pytest.raises(SchemaError, match=r"the schema is a .*; give the path of its file"):
        dpsyn_core.synthesize(pd.DataFrame({"sex": ["F"]}), given, epsilon=1.0, delta=1e-6, rng=1)
