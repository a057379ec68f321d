"""A run with a public table: what is refused before anything is spent, and what its manifest says."""

import hashlib
import json

import pyarrow as pa
import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.errors import MethodError, SchemaError, TableError
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.runs.public_table import check_apart, read_public
from dpsyn_core.runs.spec import RunSpec
from dpsyn_core.runs.synthesis import synthesize
from dpsyn_core.schema.document import Schema
from dpsyn_core.tables.read import read_table
from dpsyn_core.tables.write import write_table


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The bundled sample cut in two: this year's private table, and last year's, which is published."""
    out = tmp_path_factory.mktemp("public")
    assert main(["sample", str(out)]) == 0
    whole = read_table(out / "sample.csv")
    write_table(whole.slice(0, 3000), out / "this.csv")
    write_table(whole.slice(3000, 3000), out / "last.csv")
    return out


@pytest.fixture(scope="module")
def schema(folder):
    return Schema.load(folder / "sample.schema.json")


def command(folder, *more, public="last.csv", method=()):
    return [
        "synth", str(folder / "this.csv"), "--schema", str(folder / "sample.schema.json"), "--epsilon", "1", "--delta",
        "1e-9", "--out", str(folder / "made.csv"), "--manifest", str(folder / "made.json"), "--quiet",
        "--public-table", str(folder / public), *method, *more,
    ]  # fmt: skip


def test_the_manifest_names_the_public_table_and_verifies(folder, schema, capsys):
    assert main(command(folder)) == 0
    assert "public by your word alone" in capsys.readouterr().err
    manifest = Manifest.load(folder / "made.json")
    used = manifest.public_table
    assert used is not None
    assert used.name == "last.csv"
    assert used.sha256 == hashlib.sha256((folder / "last.csv").read_bytes()).hexdigest()
    assert used.n_records == 3000
    assert used.columns == schema.domain().names
    assert any(c.name == "scores of pairs against the public table" for c in manifest.charges)
    assert "nothing here protects its records" in manifest.certificate()
    schema_file = str(folder / "sample.schema.json")
    assert (
        main(["verify", str(folder / "made.csv"), "--manifest", str(folder / "made.json"), "--schema", schema_file])
        == 0
    )


def test_a_manifest_without_a_public_table_does_not_mention_one(folder):
    release = synthesize(
        read_table(folder / "this.csv"), folder / "sample.schema.json", epsilon=1.0, delta=1e-9, rng=0,
        method="independent",
    )  # fmt: skip
    assert "public_table" not in json.loads(release.manifest.to_json())
    assert "public table" not in release.manifest.certificate()


def test_the_private_table_is_refused_as_public_under_any_name(folder, schema):
    link = folder / "renamed.csv"
    link.hardlink_to(folder / "this.csv")
    for name in ("this.csv", "renamed.csv"):
        with pytest.raises(SchemaError, match="is the private table itself"):
            check_apart(folder / name, folder / "this.csv")
    check_apart(folder / "last.csv", folder / "this.csv")
    assert main(command(folder, public="renamed.csv")) == 2


def test_a_table_that_its_manifest_calls_not_private_is_refused(folder, schema):
    other = folder / "draft.csv"
    other.write_bytes((folder / "last.csv").read_bytes())
    stamped = json.loads((folder / "made.json").read_text()) if (folder / "made.json").exists() else None
    if stamped is None:
        assert main(command(folder)) == 0
        stamped = json.loads((folder / "made.json").read_text())
    stamped |= {"private": False, "not_private_because": ["it was drafted"]}
    (folder / "draft.manifest.json").write_text(json.dumps(stamped))
    with pytest.raises(TableError, match="NOT PRIVATE"):
        read_public(other, schema)


def test_a_release_that_is_not_private_is_refused_under_the_names_that_it_is_written_with(folder, schema):
    """Its manifest stands beside it without the mark; carried elsewhere, its own name still says so."""
    schema_file, drafted = folder / "drafted.schema.json", json.loads((folder / "sample.schema.json").read_text())
    drafted["attributes"][0]["source"] = "data"
    schema_file.write_text(json.dumps(drafted))
    assert main([
        "synth", str(folder / "last.csv"), "--schema", str(schema_file), "--epsilon", "1", "--delta", "1e-9",
        "--method", "independent", "--out", str(folder / "open.csv"), "--quiet",
    ]) == 0  # fmt: skip
    marked = folder / "open.NOT-PRIVATE.csv"
    assert marked.exists() and (folder / "open.manifest.json").exists()
    carried = folder / "elsewhere"
    carried.mkdir()
    (carried / "public-1-open.NOT-PRIVATE.csv").write_bytes(marked.read_bytes())
    for place in (marked, carried / "public-1-open.NOT-PRIVATE.csv"):
        with pytest.raises(TableError, match="NOT PRIVATE"):
            read_public(place, schema)


def test_a_file_of_the_folder_that_is_the_private_table_is_refused(folder):
    parts = folder / "parts"
    parts.mkdir()
    (parts / "1.csv").write_bytes((folder / "this.csv").read_bytes())
    with pytest.raises(SchemaError, match="is the private table itself"):
        check_apart(parts / "1.csv", parts)


def test_another_column_is_refused_and_missing_ones_are_not(folder, schema):
    last = read_table(folder / "last.csv")
    write_table(last.append_column("extra", pa.array(["1"] * last.num_rows)), folder / "more.csv")
    with pytest.raises(TableError, match="column 'extra', which the schema does not describe"):
        read_public(folder / "more.csv", schema)
    names = schema.domain().names[:3]
    write_table(last.select(list(names)), folder / "fewer.csv")
    assert read_public(folder / "fewer.csv", schema).domain.names == names


def test_cells_that_the_schema_does_not_describe_are_refused(folder, schema):
    last = read_table(folder / "last.csv")
    name = schema.domain().names[0]
    i = last.column_names.index(name)
    write_table(last.set_column(i, name, pa.array(["what"] * last.num_rows)), folder / "other.csv")
    with pytest.raises(TableError, match="do not fit the schema"):
        read_public(folder / "other.csv", schema)


def test_a_public_table_without_records_is_refused(folder, schema):
    write_table(read_table(folder / "last.csv").slice(0, 0), folder / "empty.csv")
    with pytest.raises(TableError, match="no record"):
        read_public(folder / "empty.csv", schema)


def test_other_systems_and_several_tables_are_refused_before_anything_is_spent(folder, capsys):
    assert main(command(folder, method=("--method", "mst"))) == 2
    assert "cannot use a public table" in capsys.readouterr().err
    with pytest.raises(MethodError, match="ask for one table"):
        RunSpec.of(epsilon=1.0, delta=1e-9, tables=5, public_table="last.csv")
