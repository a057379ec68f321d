"""`dpsyn verify` and `dpsyn key`: a true, an edited, a swapped, an unsigned and a signed release."""

import json
import shutil

import pyarrow.parquet as pq
import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.evaluate.base import SAFE_LABEL, UNPROVED_LABEL
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.schema.document import Schema
from dpsyn_core.tables.write import write_table
from tests.commands.small import SCHEMA
from tests.commands.small import write_table as write_people


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Two releases of one table by the command, with their marginals."""
    place = tmp_path_factory.mktemp("made")
    write_people(place / "people.csv")
    Schema.of(SCHEMA).dump(place / "schema.json")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPSYN_HOME", str(place / "home"))
        patch.chdir(place)
        for name in "ab":
            run("synth", "people.csv", "--schema", "schema.json", "--epsilon", "1", "--delta", "1e-9", "--quiet",
                "--method", "independent", "--out", f"{name}.csv", "--manifest", f"{name}.json",
                "--measurements", f"{name}.json.gz")  # fmt: skip
    return place


@pytest.fixture
def place(made, tmp_path, monkeypatch):
    """A copy that a test may change."""
    for path in made.glob("*.*"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words):
    assert main(list(words)) == 0


def verify(*words):
    return main(["verify", *words])


def test_a_true_release_holds_in_one_sentence_without_a_ledger(place, capsys, monkeypatch):
    monkeypatch.setenv("DPSYN_HOME", str(place / "nowhere"))
    assert verify("a.csv", "--manifest", "a.json", "--measurements", "a.json.gz", "--schema", "schema.json") == 0
    said = capsys.readouterr().out
    assert said.count("\n") == 1
    assert "'a.csv' is the table of this manifest" in said
    assert "of the epsilon 1 it promises at delta 1e-09; unsigned" in said
    assert not (place / "nowhere").exists()


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "parquet", "xlsx"])
def test_a_release_holds_in_every_format_that_is_written(place, ending, capsys):
    run("synth", "people.csv", "--schema", "schema.json", "--epsilon", "1", "--delta", "1e-9", "--quiet",
        "--method", "independent", "--out", "p.parquet", "--manifest", "p.json")  # fmt: skip
    table = pq.read_table("p.parquet")
    write_table(table, place / f"copy.{ending}")
    assert verify(f"copy.{ending}", "--manifest", "p.json") == 0
    edited = table.set_column(1, "age", _changed(table.column("age")))
    write_table(edited, place / f"edited.{ending}")
    assert verify(f"edited.{ending}", "--manifest", "p.json") == 2


def _changed(column):
    import pyarrow as pa

    values = column.to_pylist()
    return pa.array([(values[0] + 1) % 100, *values[1:]], column.type)


def test_an_edited_table_is_found(place, capsys):
    lines = (place / "a.csv").read_text("utf-8").splitlines()
    lines[3], lines[4] = lines[4], lines[3]
    if lines[3] == lines[4]:
        lines[3] = lines[1]
    (place / "a.csv").write_text("\n".join(lines[:-1]) + "\n", encoding="utf-8")
    assert verify("a.csv", "--manifest", "a.json") == 2
    assert "edited after the run, or swapped" in capsys.readouterr().err


def test_swapped_tables_marginals_and_schemas_are_found(place, capsys):
    assert verify("b.csv", "--manifest", "a.json") == 2
    assert "swapped" in capsys.readouterr().err
    assert verify("people.csv", "--manifest", "a.json") == 2
    assert verify("a.csv", "--manifest", "a.json", "--measurements", "b.json.gz") == 2
    assert "does not hold the marginals" in capsys.readouterr().err
    other = Schema.of(SCHEMA | {"attributes": [*SCHEMA["attributes"][:3], {"name": "note", "kind": "ignored"}]})
    other.dump(place / "other.json")
    assert verify("a.csv", "--manifest", "a.json", "--schema", "other.json") == 2
    assert "schema is not the one" in capsys.readouterr().err


def edit(path, change):
    document = json.loads(path.read_text("utf-8"))
    change(document)
    path.write_text(json.dumps(document), encoding="utf-8")


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.update(epsilon=0.5),
        lambda m: m.update(delta=1e-12),
        lambda m: m.update(mu=m["mu"] / 2),
        lambda m: m.update(charges=m["charges"][1:]),
        lambda m: m["charges"][0].update(sigma=m["charges"][0]["sigma"] / 2),
        lambda m: m["charges"][0].update(rho=0.0),
    ],
)
def test_a_manifest_that_does_not_add_up_is_refused_wherever_it_is_read(place, change, capsys):
    edit(place / "a.json", change)
    assert verify("a.csv", "--manifest", "a.json") == 2
    assert "does not add up" in capsys.readouterr().err
    command = ["report", "-", "a.csv", "--schema", "schema.json", "--json", "r.json", "--manifest", "a.json", "--quiet"]
    assert main(command) == 2


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda m: m.update(guarantee="Nobody can ever learn anything."), "sentence of the guarantee"),
        (lambda m: m.update(digests=None), "names no digest"),
        (lambda m: m["digests"].update(content="0" * 64, files={}), "swapped"),
    ],
)
def test_other_edits_of_a_manifest_are_found_by_verify(place, change, says, capsys):
    edit(place / "a.json", change)
    assert verify("a.csv", "--manifest", "a.json") == 2
    assert says in capsys.readouterr().err


def test_a_manifest_of_an_earlier_version_still_loads(place):
    edit(place / "a.json", lambda m: [m.pop(k) for k in ("digests", "signature", "ledger_chain")])
    assert Manifest.load(place / "a.json").digests is None


def test_a_field_that_stands_twice_is_refused(place, capsys):
    text = (place / "a.json").read_text("utf-8")
    (place / "a.json").write_text(text.replace('"version": 3', '"version": 3, "epsilon": 0.1', 1), encoding="utf-8")
    assert verify("a.csv", "--manifest", "a.json") == 2
    assert "each field once" in capsys.readouterr().err


def test_a_signed_release_names_the_key_and_every_change_after_signing_is_found(place, capsys):
    run("key", "new", "owner.key")
    assert (place / "owner.key").stat().st_mode & 0o777 == 0o600
    shown = capsys.readouterr().out.strip().rsplit("key ", 1)[1]
    run("key", "show", "owner.key.pub")
    assert capsys.readouterr().out.strip() == shown
    run("key", "sign", "a.json", "--key", "owner.key", "--schema", "schema.json")
    assert verify("a.csv", "--manifest", "a.json", "--key", "owner.key.pub") == 0
    assert f"signed by the key {shown}" in capsys.readouterr().out
    signed = (place / "a.json").read_text("utf-8")
    for change in (
        lambda m: m.update(dataset="other"),
        lambda m: m.update(n_records=7),
        lambda m: m["digests"].update(files={}),
        lambda m: m["signature"].update(value="00" * 64),
        lambda m: m["signature"].update(key="00" * 32),
    ):
        (place / "a.json").write_text(signed, encoding="utf-8")
        edit(place / "a.json", change)
        assert verify("a.csv", "--manifest", "a.json") == 2
        assert "signature does not fit" in capsys.readouterr().err


def test_a_signature_can_be_asked_for(place, capsys):
    run("key", "new", "owner.key")
    assert verify("a.csv", "--manifest", "a.json", "--key", "owner.key.pub") == 2
    assert "not signed by the key" in capsys.readouterr().err
    run("key", "new", "other.key")
    run("key", "sign", "a.json", "--key", "other.key", "--schema", "schema.json", "--table", "a.csv")
    assert verify("a.csv", "--manifest", "a.json", "--key", "owner.key.pub") == 2


def test_a_run_signs_its_manifest_with_a_locked_key(place, capsys, monkeypatch):
    monkeypatch.setenv("DPSYN_HOME", str(place / "home"))
    monkeypatch.setenv("DPSYN_PASSPHRASE", "correct horse")
    run("key", "new", "owner.key", "--passphrase")
    assert b"ENCRYPTED" in (place / "owner.key").read_bytes()
    synth = ["synth", "people.csv", "--schema", "schema.json", "--epsilon", "1", "--delta", "0", "--quiet", "--method",
             "independent", "--out", "s.csv", "--manifest", "s.json", "--sign", "owner.key"]  # fmt: skip
    assert main(synth) == 0
    assert verify("s.csv", "--manifest", "s.json", "--key", "owner.key.pub") == 0
    (place / "s.csv").unlink()
    monkeypatch.setenv("DPSYN_PASSPHRASE", "wrong")
    capsys.readouterr()
    assert main(synth) == 2
    assert "passphrase is wrong" in capsys.readouterr().err
    assert not (place / "s.csv").exists()


def test_a_key_is_never_overwritten(place, capsys):
    run("key", "new", "owner.key")
    assert main(["key", "new", "owner.key"]) == 2
    assert "never overwritten" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("table", "marginals", "schema", "label"),
    [
        ("a.csv", "a.json.gz", "schema.json", SAFE_LABEL),
        ("b.csv", "a.json.gz", "schema.json", UNPROVED_LABEL),
        ("people.csv", "a.json.gz", "schema.json", UNPROVED_LABEL),
        ("a.csv", "b.json.gz", "schema.json", UNPROVED_LABEL),
    ],
)
def test_a_report_is_called_safe_only_where_the_table_is_the_manifests_own(place, table, marginals, schema, label):
    run("report", "-", table, "--schema", schema, "--json", "r.json", "--html", "r.html", "--manifest", "a.json",
        "--measurements", marginals, "--quiet")  # fmt: skip
    document = json.loads((place / "r.json").read_text("utf-8"))
    assert document["label"] == label
    page = (place / "r.html").read_text("utf-8")
    assert (SAFE_LABEL in page) == (label == SAFE_LABEL)
    assert ("differential privacy for" in page.split("<details")[0]) == (label == SAFE_LABEL)


def test_marginals_and_itemsets_have_receipts_too(place, monkeypatch):
    monkeypatch.setenv("DPSYN_HOME", str(place / "home"))
    for out in ("m.csv", "m.json"):
        run("marginal", "people.csv", "--schema", "schema.json", "--epsilon", "1", "--delta", "1e-9", "--quiet",
            "--attributes", "sex,note", "--out", out, "--manifest", "mm.json")  # fmt: skip
        assert verify(out, "--manifest", "mm.json") == 0
        (place / out).write_text((place / out).read_text("utf-8").replace("1", "2"), encoding="utf-8")
        assert verify(out, "--manifest", "mm.json") == 2


@pytest.fixture(scope="module")
def family(tmp_path_factory):
    """A folder of linked tables as `dpsyn synth --out folder/` writes it, and its schema."""
    place = tmp_path_factory.mktemp("family")
    (place / "persons.csv").write_text("home,person,age\n" + "".join(f"{i // 2},{i},{i % 9}\n" for i in range(120)))
    (place / "homes.csv").write_text("home,rooms\n" + "".join(f"{i},{i % 4}\n" for i in range(60)))

    def table(name, column, most):
        number = {"name": column, "kind": "numeric", "dtype": "integer", "min": 0, "max": most, "source": "public"}
        return {"version": 1, "name": name, "attributes": [number]}

    schema = {
        "version": 2,
        "name": "family",
        "unit": {"neighbours": "add-remove", "source": "public"},
        "tables": [
            {"name": "homes", "key": "home", "schema": table("homes", "rooms", 3)},
            {"name": "persons", "schema": table("persons", "age", 8)},
        ],
        "links": [{"parent": "homes", "child": "persons", "key": "home", "max_children": 3}],
    }
    (place / "schema.json").write_text(json.dumps(schema))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPSYN_HOME", str(place / "home"))
        patch.chdir(place)
        run("synth", "--table", "homes=homes.csv", "--table", "persons=persons.csv", "--schema", "schema.json",
            "--epsilon", "1", "--delta", "1e-9", "--quiet", "--out", "out/")  # fmt: skip
    return place


def test_a_folder_of_linked_tables_is_verified_table_by_table(family, capsys):
    assert verify(str(family / "out"), "--schema", str(family / "schema.json"), "--publishable") == 0
    said = capsys.readouterr().out.splitlines()
    assert ["homes.csv" in said[0], "persons.csv" in said[1], len(said)] == [True, True, 2]
    assert all("safe to publish" in line for line in said)


def test_a_folder_of_linked_tables_with_more_less_or_a_table_twice_is_refused(family, tmp_path, capsys):
    changes = {
        "more": lambda f: (f / "notes.txt").write_text("x"),
        "less": lambda f: (f / "homes.csv").unlink(),
        "twice": lambda f: (f / "homes.csv").write_bytes((f / "persons.csv").read_bytes()),
        "edited": lambda f: (f / "homes.csv").write_text((f / "homes.csv").read_text() + "61,1\n"),
    }
    for name, change in changes.items():
        folder = shutil.copytree(family / "out", tmp_path / name)
        change(folder)
        assert verify(str(folder)) == 2, name
        assert capsys.readouterr().err.count("\n") == 1
