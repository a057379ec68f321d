"""Every command and option, of one table and of linked ones: it runs, or is refused with its reason, as docs say."""

import json
from pathlib import Path

import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.commands.trees import OPTIONS
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.runs.choose.tree_outlook import NOT_KNOWN
from dpsyn_core.runs.trees.release import PUBLIC_CHILDREN
from dpsyn_core.schema.document import Schema
from tests.runs.trees.small import schema_of, tables

ROOT = Path(__file__).parents[2]
BUDGET = "--epsilon 5 --delta 1e-6 --seed 1 --set effort=0.1 --quiet"
REAL = "--table roots=roots.csv --table kids=kids.csv"
ONE = f"synth kids.csv --schema one.json {BUDGET}"
TREE = f"synth {REAL} --schema tree.json {BUDGET}"
ATTACKED = "--epsilon 1 --delta 1e-6 --method independent --runs 4 --workers 0"
PUBLISHED = "--licence CC0 --url https://example.org/t --curator Office"
SPARK = "all that hangs on one root has to come together, which executors of Spark do not do"
ROWS = {  # of what: words for one table, words for linked ones, the reason why these are refused (None: they run)
    "synth": (f"{ONE} -o a.csv", f"{TREE} -o a/", None),
    "synth --settings": (
        "synth kids.csv --settings one.s.json --quiet -o b.csv",
        f"synth {REAL} --settings tree.s.json --quiet -o b/",
        None,
    ),
    "synth --method independent": (
        "synth kids.csv --schema one.json --epsilon 5 --delta 1e-6 --method independent --quiet -o c.csv",
        f"synth {REAL} --schema tree.json --epsilon 5 --delta 1e-6 --method independent --quiet -o c/",
        None,
    ),
    "synth --set": (f"{ONE} --set triples=false -o d.csv", f"{TREE} --set triples=false -o d/", None),
    "synth --tables": (f"{ONE} --tables 2 -o e.csv", f"{TREE} --tables 2 -o e/", None),
    "synth --questions": (f"{ONE} --questions one.q.json -o f.csv", f"{TREE} --questions tree.q.json -o f/", None),
    "synth --questions-share": (
        f"{ONE} --questions one.q.json --questions-share 0.3 -o g.csv",
        f"{TREE} --questions tree.q.json --questions-share 0.3 -o g/",
        None,
    ),
    "synth --measurements": (
        f"{ONE} --questions one.q.json --measurements h.json.gz -o h.csv",
        f"{TREE} --questions tree.q.json --measurements th.json.gz -o h/",
        None,
    ),
    "synth --save-release": (f"{ONE} --save-release i.dpsyn -o i.csv", f"{TREE} --save-release ti.dpsyn -o i/", None),
    "synth --engine stored": (f"{ONE} --engine stored -o j.csv", f"{TREE} --engine stored -o j/", None),
    "synth --engine spark": (None, f"{TREE} --engine spark -o k/", SPARK),
    "synth --public-table": (
        f"{ONE} --public-table public.csv -o l.csv",
        f"{TREE} --public-table roots=public.roots.csv -o l/",
        None,
    ),
    "synth --public-table of a child": (
        None,
        f"{TREE} --public-table kids=public.csv -o l/",
        PUBLIC_CHILDREN,
    ),
    "synth --save-model": (None, f"{TREE} --save-model m.safetensors -o m/", OPTIONS["save_model"]),
    "plan": (
        "plan --schema one.json --epsilon 1 --delta 1e-6",
        "plan --schema tree.json --epsilon 1 --delta 1e-6",
        None,
    ),
    "plan --save-settings": (
        "plan --schema one.json --epsilon 1 --delta 1e-6 --save-settings n.json",
        "plan --schema tree.json --epsilon 1 --delta 1e-6 --save-settings tn.json",
        None,
    ),
    "plan --outlook": (
        "plan --schema one.json --epsilon 1 --delta 1e-6 --outlook",
        "plan --schema tree.json --epsilon 1 --delta 1e-6 --outlook",
        None,
    ),
    "plan --gain": ("plan --gain 0.05 --delta 1e-6", "plan --gain 0.05 --delta 1e-6", None),
    "plan --error": (
        "plan --schema one.json --error 0.3 --of columns --delta 1e-6",
        "plan --schema tree.json --error 0.3 --of columns --delta 1e-6",
        None,
    ),
    "plan --error --of pairs": (
        "plan --schema one.json --error 0.3 --of pairs --delta 1e-6",
        "plan --schema tree.json --error 0.3 --of pairs --delta 1e-6",
        NOT_KNOWN,
    ),
    "verify": ("verify a.csv", "verify a/ --schema tree.json", None),
    "answer": (
        "answer h.csv --manifest h.manifest.json --measurements h.json.gz --quiet",
        "answer h/ --manifest h/manifest.json --measurements th.json.gz --quiet",
        None,
    ),
    "refit": ("refit i.dpsyn --quiet -o o.csv", "refit ti.dpsyn --quiet -o o/", None),
    "refit --tables": ("refit i.dpsyn --tables 2 --quiet -o p.csv", "refit ti.dpsyn --tables 2 --quiet -o p/", None),
    "refit --columns": (
        "refit i.dpsyn --columns r --quiet -o q.csv",
        "refit ti.dpsyn --columns kids.r,roots.a --quiet -o q/",
        None,
    ),
    "refit --where": (
        "refit i.dpsyn --where r=1 --quiet -o w.csv",
        "refit ti.dpsyn --where a=1 --quiet -o w/",
        None,
    ),
    "refit --rules": (
        "refit i.dpsyn --rules one.r.json --quiet -o x.csv",
        "refit ti.dpsyn --rules tree.r.json --quiet -o x/",
        None,
    ),
    "compare": (
        "compare kids.csv a.csv --schema one.json --json r.json --quiet",
        f"compare {REAL} a/ --schema tree.json --json tr.json --quiet",
        None,
    ),
    "report --json": (
        "report kids.csv a.csv --schema one.json --json s.json --quiet",
        f"report {REAL} a/ --schema tree.json --json ts.json --quiet",
        None,
    ),
    "schema check": ("schema check one.json kids.csv", f"schema check tree.json {REAL}", None),
    "schema confirm": (
        "schema confirm one.json --everything -o one.confirmed.json",
        "schema confirm tree.json kids.r --unit --rules -o tree.confirmed.json",
        None,
    ),
    "schema export": (
        "schema export one.json -o t.sdv.json --format sdv",
        "schema export tree.json --table kids -o tt.sdv.json --format sdv",
        None,
    ),
    "attack": (
        f"attack kids.csv one.json {ATTACKED} --quiet",
        f"attack {REAL} tree.json {ATTACKED} --quiet",
        None,
    ),
    "attack --manifest": (
        "attack kids.csv one.json --manifest a.manifest.json --kind linkage --runs 4 --workers 0 --quiet",
        f"attack {REAL} tree.json --manifest a/manifest.json --kind linkage --runs 4 --workers 0 --quiet",
        None,
    ),
    "attack --kind inference": (
        f"attack kids.csv one.json {ATTACKED} --kind inference --secret r --quiet",
        f"attack {REAL} tree.json {ATTACKED} --kind inference --secret kids.r --about kids --quiet",
        None,
    ),
    "marginal": (
        "marginal kids.csv --schema one.json --epsilon 1 --delta 1e-6 --attributes r,t -o u.json",
        "marginal kids.csv --schema tree.json --table kids --epsilon 1 --delta 1e-6 --attributes r,t -o tu.json",
        None,
    ),
    "itemsets": (
        "itemsets roots.csv --schema baskets.json --k 1 --epsilon 1 -o v.csv",
        "itemsets roots.csv --schema tree.json --table roots --k 1 --epsilon 1 -o tv.csv",
        None,
    ),
    "describe": (
        f"describe a.csv --schema one.json {PUBLISHED}",
        f"describe a/ --schema tree.json {PUBLISHED}",
        None,
    ),
    "explore": (
        "explore public.csv --public --schema one.json",
        "explore public.csv --public --schema tree.json --table kids",
        None,
    ),
}
PREPARED = ("synth", "synth --measurements", "synth --save-release")  # whose files other rows read


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tables, schemas, questions and settings of both, and the files that later commands read."""
    path = tmp_path_factory.mktemp("both")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(path)
        patch.setenv("DPSYN_HOME", str(path / "home"))
        tree = schema_of({})
        tree.dump("tree.json")
        kids = tree["kids"].columns.document()
        key = {"name": "root", "kind": "identifier"}
        Schema.of(kids | {"name": "kids alone", "attributes": [key, *kids["attributes"]]}).dump("one.json")
        Schema.of(tree["roots"].columns.document() | {"name": "baskets"}).dump("baskets.json")
        for name, table in tables(120, 3, 1).items():
            table.to_pandas().to_csv(f"{name}.csv", index=False)
        tables(60, 3, 2)["kids"].to_pandas().to_csv("public.csv", index=False)
        tables(60, 3, 2)["roots"].to_pandas().to_csv("public.roots.csv", index=False)
        mean = {"name": "mean of t", "kind": "mean", "of": "t"}
        rule = {"kind": "impossible", "where": "r = 1 and t = 0"}
        Path("one.r.json").write_text(json.dumps([rule]))
        Path("tree.r.json").write_text(json.dumps([{"table": "kids", **rule}]))
        Path("one.q.json").write_text(json.dumps({"version": 1, "questions": [mean]}))
        Path("tree.q.json").write_text(json.dumps([{"about": "kids", "ask": mean}]))
        for name in ("one", "tree"):
            assert (
                main(f"plan --schema {name}.json --epsilon 5 --delta 1e-6 --save-settings {name}.s.json".split()) == 0
            )
        for name in PREPARED:
            assert [main(words.split()) for words in ROWS[name][:2]] == [0, 0], name
    return path


@pytest.mark.parametrize("name", list(ROWS))
def test_each_runs_or_says_why_not_and_the_page_says_the_same(name, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("DPSYN_HOME", str(folder / "home"))
    one, tree, why = ROWS[name]
    capsys.readouterr()
    if one is not None and name not in PREPARED:
        assert main(one.split()) == 0, capsys.readouterr().err
    if name not in PREPARED:
        status, told = main(tree.split()), capsys.readouterr().err
        assert status == (0 if why is None else 2), told
        assert why is None or why in told
    page = (ROOT / "docs" / "linked.md").read_text(encoding="utf-8")
    assert f"| `{name}` | yes | {'yes' if why is None else f'no: {why}'} |" in page


def test_a_refit_with_the_seed_of_the_run_makes_its_tables_again(folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert main(["refit", "ti.dpsyn", "--seed", "1", "--quiet", "-o", "again/"]) == 0
    for name in ("roots", "kids"):
        assert Path(f"again/{name}.csv").read_bytes() == Path(f"i/{name}.csv").read_bytes()


def test_each_table_of_a_described_release_is_a_record_set_with_its_keys(folder, monkeypatch):
    monkeypatch.chdir(folder)
    for name, tree in (("described", "tree.json"), ("named", "tree.json")):
        assert main(f"{TREE} -o {name}/".split()) == 0
        manifest = "--manifest named/other.json" if name == "named" else ""
        Path("named/manifest.json").rename("named/other.json") if manifest else None
        assert main(f"describe {name}/ --schema {tree} {manifest} {PUBLISHED}".split()) == 0
    assert Path("named/other.croissant.json").exists() and Manifest.load(Path("named/other.json"))
    document = json.loads(Path("described/croissant.json").read_text())
    fields = {}
    for one in document["recordSet"]:
        fields |= {f["@id"]: f for f in one["field"]}
        with Path(f"described/{one['name']}.csv").open() as file:
            headers = file.readline().strip().split(",")
        assert sorted(f["source"]["extract"]["column"] for f in one["field"]) == sorted(headers)
    assert [one["name"] for one in document["recordSet"]] == ["roots", "kids"]
    assert fields["kids/root"]["references"]["field"]["@id"] == "roots/id" in fields
    read = pytest.importorskip("mlcroissant").Dataset("described/croissant.json")
    assert not read.metadata.issues.errors and not read.metadata.issues.warnings
    assert isinstance(next(iter(read.records("kids")))["kids/root"], int)
    assert len(document["distribution"]) == 3 and "2 synthetic tables" in document["description"]
    assert Path("described/certificate.txt").exists() and Path("described/nist-800-226.md").exists()
    Path("described/kids.csv").write_text("root,r,t\n1,0,0\n")
    assert main(f"describe described/ --schema tree.json {PUBLISHED}".split()) == 2


def test_a_public_table_of_the_root_stands_in_the_manifest_and_is_not_the_private_one(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("DPSYN_HOME", str(folder / "home"))
    assert main(f"{TREE} --public-table roots=public.roots.csv --save-release y.dpsyn -o y/".split()) == 0
    assert "public by your word alone" in capsys.readouterr().err
    used = Manifest.load(Path("y/manifest.json")).public_table
    assert (used.name, used.columns, used.n_records) == ("public.roots.csv", ("roots.a",), 60)
    assert main(["verify", "y/", "--schema", "tree.json"]) == 0
    assert main(["refit", "y.dpsyn", "--quiet", "-o", "z/"]) == 0
    for given, told in (
        ("public.roots.csv", "it is roots=FILE"),
        ("roots=public.csv", "which the schema does not describe"),
        ("roots=roots.csv", "is the private table itself"),
    ):
        assert main(f"{TREE} --public-table {given} -o y/".split()) == 2
        assert told in capsys.readouterr().err
    words = f"attack {REAL} tree.json --manifest y/manifest.json --quiet"
    assert main(words.split()) == 2 and "learnt from a public table" in capsys.readouterr().err


def test_a_release_whose_noise_is_said_to_be_less_is_refused(folder, monkeypatch):
    from dpsyn_core.estimate.marginals.released_file import packed_document, parsed_document
    from dpsyn_core.runs.trees.release_file import read_tree, unpaid

    monkeypatch.chdir(folder)
    content = Path("th.json.gz").read_bytes()
    manifest = Manifest.load(Path("h/manifest.json"))
    assert unpaid(manifest, read_tree(content, "th.json.gz")) == []
    document = parsed_document(content, "th.json.gz")
    document["views"][0]["children"]["measurements"][0]["sigma"] /= 2
    assert "less noise" in unpaid(manifest, read_tree(packed_document(document), "th.json.gz"))[0]
