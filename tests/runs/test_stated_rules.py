"""The rules that a release keeps stand in its manifest, each with who vouches for it, and agree with the schema."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.errors import InputError
from dpsyn_core.estimate.marginals.types import Follower, ReleasedTables, Together
from dpsyn_core.privacy.looks import remember
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.privacy.manifest.statement import StatedRule
from dpsyn_core.runs.stated_rules import bought_rules, stated_rules
from dpsyn_core.runs.synthesis import synthesize
from dpsyn_core.runs.verify.contradictions import contradictions
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.linked import LinkedSchema
from tests.runs.trees.small import SCHEMAS, tables

NUMBERS = [
    {"name": n, "kind": "numeric", "dtype": "integer", "min": 0, "max": 9, "bins": {"count": 5}, "source": "public"}
    for n in "abc"
]
RULES = [
    {"kind": "order", "lower": "a", "upper": "b", "source": "public"},
    {"kind": "order", "lower": "b", "upper": "c", "source": "proposed"},
    {"kind": "impossible", "where": "a in [8, 9] and c in [8, 9]"},
]
DOCUMENT = {"version": 1, "name": "t", "attributes": NUMBERS, "rules": RULES}
STATED = [
    ("a <= b", "owner's word"),
    ("b <= c", "proposed and agreed"),
    ("impossible: a in [8, 9] and c in [8, 9]", "not said"),
]


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


def records(n=200):
    return pa.table({name: [i * k % 10 for i in range(n)] for name, k in (("a", 1), ("b", 3), ("c", 7))})


def made(document, **more):
    given = {"epsilon": 5.0, "delta": 1e-6, "rng": 0, "method": "independent"}
    return synthesize(records(), Schema.of(document), **given | more)


def written(folder, document):
    """A release by the command, with its marginals: the status of `verify` with all that is at hand is to be 0."""
    records().to_pandas().to_csv(folder / "t.csv", index=False)
    Schema.of(document).dump(folder / "s.json")
    run = ["synth", "t.csv", "--schema", "s.json", "--epsilon", "5", "--delta", "1e-6", "--quiet"]
    out = ["--out", "o.csv", "--manifest", "m.json", "--measurements", "m.json.gz"]
    assert main([*run, "--method", "independent", *out]) == 0


def verified(capsys, change, *given):
    """Status and sentence of `dpsyn verify` with the schema after a change of the manifest."""
    document = json.loads(Path("m.json").read_text("utf-8"))
    change(document)
    Path("edited.json").write_text(json.dumps(document), encoding="utf-8")
    capsys.readouterr()
    status = main(["verify", "o.csv", "--manifest", "edited.json", "--schema", "s.json", *given])
    said = capsys.readouterr()
    return status, (said.out + said.err).strip()


def test_a_run_states_each_rule_in_the_sentence_of_reports_with_who_vouches_for_it(tmp_path):
    manifest = made(DOCUMENT).manifest
    assert [(r.rule, r.vouched) for r in manifest.rules] == STATED
    assert [r.rule for r in manifest.rules] == [str(r) for r in Schema.of(DOCUMENT).rules]
    assert manifest.private
    manifest.dump(tmp_path / "m.json")
    assert Manifest.load(tmp_path / "m.json").rules == manifest.rules
    assert json.loads((tmp_path / "m.json").read_text())["rules"][0] == {"rule": "a <= b", "vouched": "owner's word"}


def test_a_schema_without_rules_says_that_there_are_none():
    plain = {k: v for k, v in DOCUMENT.items() if k != "rules"}
    manifest = made(plain).manifest
    assert manifest.rules == () and json.loads(manifest.to_json())["rules"] == []
    assert "Rules" not in manifest.certificate()


def test_nobody_vouches_for_a_rule_that_was_chosen_by_looking():
    tried = DOCUMENT | {"rules": [RULES[0] | {"source": "data"}]}
    manifest = made(tried).manifest
    assert [r.vouched for r in manifest.rules] == ["nobody"] and not manifest.private


def test_a_proposed_rule_that_was_agreed_to_is_public_also_after_a_trial():
    remember("t", "rules")
    assert made(DOCUMENT | {"rules": RULES[:2]}).manifest.private
    assert not made(DOCUMENT).manifest.private, "the third does not say where it comes from"


def test_linked_tables_state_the_rules_of_each_table_and_of_each_link():
    schema = next(s for s in SCHEMAS.values() if any(link.rules for link in s.links))
    document = schema.document()
    document["links"][0]["rules"][0]["source"] = "proposed"
    schema = LinkedSchema.of(document)
    release = synthesize(tables(300, 4, 1), schema, epsilon=5.0, delta=1e-6, rng=1, settings={"effort": 0.2})
    link, found = schema.links[0], release.manifest.rules
    assert found == stated_rules(schema) and len(found) == len(schema.rules)
    assert found[0] == StatedRule(table=link.child, rule=str(link.rules[0]), vouched="proposed and agreed")
    assert f"  {link.child}: {link.rules[0]}" in release.manifest.certificate()
    assert not contradictions(release.manifest, schema=schema)
    other = release.manifest.model_copy(update={"rules": found[1:]})
    (fault,) = contradictions(other, schema=schema)
    assert f"the rule '{link.rules[0]}'" in fault and "the manifest does not state it" in fault


def test_inner_rules_of_linked_tables_come_with_the_name_of_their_table():
    inner = {k: v for k, v in DOCUMENT.items() if k != "version"} | {"version": 1, "name": "kids", "rules": RULES[:1]}
    roots = {"version": 1, "name": "roots", "attributes": [NUMBERS[0] | {"name": "x"}]}
    schema = LinkedSchema.of({
        "version": 2, "name": "both", "unit": {"source": "public"},
        "tables": [{"name": "roots", "key": "id", "schema": roots}, {"name": "kids", "schema": inner}],
        "links": [{"parent": "roots", "child": "kids", "key": "root", "max_children": 2}],
    })  # fmt: skip
    assert stated_rules(schema) == (StatedRule(table="kids", rule="a <= b", vouched="owner's word"),)


def test_verify_compares_the_stated_rules_with_the_schema(tmp_path, capsys):
    written(tmp_path, DOCUMENT)
    assert verified(capsys, lambda m: None, "--measurements", "m.json.gz")[0] == 0
    status, said = verified(capsys, lambda m: m["rules"].pop(1))
    assert status == 2 and said.count("\n") == 0
    assert "the schema has the rule 'b <= c' (proposed and agreed), and the manifest does not state it" in said
    status, said = verified(capsys, lambda m: m["rules"][2].update(vouched="owner's word"))
    assert status == 2
    assert "states the rule 'impossible: a in [8, 9] and c in [8, 9]' (owner's word), and its schema does not" in said
    status, said = verified(capsys, lambda m: m["rules"].append({"rule": "c <= a", "vouched": "bought"}))
    assert status == 2 and "states that 'c <= a' was bought, and no charge paid for it" in said
    assert verified(capsys, lambda m: m["rules"][0].update(vouched="everybody"))[0] == 2


def test_manifests_of_versions_before_the_field_are_read(tmp_path, capsys):
    written(tmp_path, DOCUMENT)
    assert verified(capsys, lambda m: m.pop("rules"))[0] == 0
    old = Manifest.load(tmp_path / "edited.json")
    assert old.rules is None and "rules" not in json.loads(old.to_json()) and "Rules" not in old.certificate()


COLUMNS = ("x", "district", "school", "y", "region")
LISTED = {"version": 1, "name": "schools", "attributes": [
    {"name": n, "kind": "categorical", "values": [f"{n[0]}{i}" for i in range(k)], "source": "public"}
    for n, k in zip(COLUMNS, (4, 12, 40, 3, 3), strict=True)]}  # fmt: skip


def test_what_columns_follow_from_was_bought_and_is_stated_as_it_was_released():
    out = ReleasedTables()
    out.followers = (
        Follower(name="region", of="district", exceptions=0.0),
        Follower(name="district", of="school", exceptions=0.0123),
    )
    out.together = (Together(codes={"x": (0,), "y": (0, 2)}),)
    assert [(r.rule, r.vouched) for r in bought_rules(out, Schema.of(LISTED))] == [
        ("region follows from district", "bought"),
        ("district follows from school, but for 1.23% of the records", "bought"),
        ("in the same records alone: x is x0; y is y0 or y2", "bought"),
    ]


def test_a_run_states_what_it_bought_and_the_marginals_must_say_the_same(tmp_path):
    """40 schools of 100 to 300 records at epsilon 5: a school in the wrong district is beyond 7 deviations."""
    from dpsyn_core.estimate.marginals.released_file import load_released, pack_measurements
    from tests.systems.rls.test_hierarchies import table

    codes = table()
    given = {n: [f"{n[0]}{c}" for c in column] for n, column in zip(COLUMNS, np.asarray(codes), strict=True)}
    schema = Schema.of(LISTED)
    release = synthesize(pa.table(given), schema, epsilon=5.0, delta=1e-9, rng=0)
    bought = [r.rule for r in release.manifest.rules]
    assert {"district follows from school", "region follows from district"} <= {r.partition(",")[0] for r in bought}
    assert {r.vouched for r in release.manifest.rules} == {"bought"}
    (tmp_path / "m.json.gz").write_bytes(pack_measurements(release.marginals, schema=schema))
    stored = load_released(tmp_path / "m.json.gz", schema)
    assert not contradictions(release.manifest, schema=schema, measurements=stored)
    less = release.manifest.model_copy(update={"rules": release.manifest.rules[1:]})
    (fault,) = contradictions(less, schema=schema, measurements=stored)
    assert bought[0] in fault and "bought" in fault


def test_headers_propose_and_a_person_agrees(tmp_path, capsys):
    stay = [{"name": n, "kind": "datetime", "min": "2020-01-01", "max": "2020-12-31", "bins": {"every": "month"},
             "source": "public"} for n in ("admitted", "discharged")]  # fmt: skip
    Schema.of({"version": 1, "name": "stays", "attributes": stay}).dump(tmp_path / "s.json")
    assert main(["schema", "propose-rules", "s.json", "--add", "1", "--out", "r.json"]) == 0
    ruled = Schema.load(tmp_path / "r.json")
    assert [r.source for r in ruled.rules] == ["proposed"] and ruled.private
    assert [r.vouched for r in stated_rules(ruled)] == ["proposed and agreed"]
    assert main(["schema", "confirm", "r.json", "--rules", "-o", "c.json"]) == 0
    assert [r.source for r in Schema.load(tmp_path / "c.json").rules] == ["proposed"], "it was agreed to already"


def test_who_vouches_is_one_of_few_words():
    with pytest.raises(ValueError, match="vouched"):
        StatedRule(rule="a <= b", vouched="everybody")
    with pytest.raises(InputError):
        Manifest.parse(made(DOCUMENT).manifest.to_json().replace("not said", "x").encode(), "m.json")
