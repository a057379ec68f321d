"""Every way to a manifest states the same public facts: the word for a query, and what was chosen by looking."""

import ast
import dataclasses
import inspect
import json
import re
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpsyn_core import synthesize, synthesize_to
from dpsyn_core.commands.adapters.sdv import DPSynthesizer
from dpsyn_core.commands.cli import main
from dpsyn_core.evaluate.base import SAFE_LABEL
from dpsyn_core.measure.sources.memory import GatheredSource
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.looks import remember, remembered
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.privacy.manifest.statement import PublicFacts
from dpsyn_core.runs.further_marginals import release_marginals
from dpsyn_core.runs.itemsets import frequent_itemsets
from dpsyn_core.runs.jobs.folder import JOB, MANIFEST, SCHEMA
from dpsyn_core.runs.jobs.spec import JobSpec
from dpsyn_core.runs.measurement import measure
from dpsyn_core.runs.open import public_facts
from dpsyn_core.runs.settings_file import RunSettings
from dpsyn_core.runs.spec import RunSpec
from dpsyn_core.runs.verify.receipts import receipt
from dpsyn_core.runs.writer import Places
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.drafts.confirmation import confirm
from dpsyn_core.schema.linked import LinkedSchema
from dpsyn_core.tables.read import open_table
from dpsyn_core.tables.read_form import ReadForm
from ui.shared.state import Dataset, Workspace
from ui.synthesize import answers

ROOT = Path(__file__).resolve().parents[1]
BITS = ("a", "b", "c")
NAMES = ("id", *BITS)
RECORDS = [(i, i % 2, i // 2 % 2, i // 4 % 2) for i in range(300)]
BUDGET = ["--epsilon", "1", "--delta", "1e-6"]
QUERY = "SELECT * FROM people WHERE c <= (SELECT avg(c) + 1 FROM people)"
WORD = ["--sql-query", QUERY, "--query-vouched"]
FAST = ["--method", "independent"]
RULE = {"kind": "impossible", "where": "a = 1 and b = 1"}
OWNERS_WORD = "owner's word"
# what a reason of each mark says, of a single table and of linked ones
MARKS = {"drafted": "attribute 'b'", "unit": "who is one individual|keys, links", "rule": "rules? .*tried"}


def bit(name, **more):
    return {"name": name, "kind": "categorical", "values": [0, 1], **more}


def document(*marks, name="people"):
    columns = [bit(n, **({"source": "data"} if n == "b" and "drafted" in marks else {})) for n in BITS]
    unit = {"max_records": 1, "source": "data" if "unit" in marks else "public"}
    rules = {"rules": [RULE]} if "rule" in marks else {}
    return {"version": 1, "name": name, "attributes": columns, "unit": unit} | rules


def linked_document(*marks):
    inner = document(*marks, name="kids")
    del inner["unit"]
    tables = [
        {"name": "roots", "key": "id", "schema": {"version": 1, "name": "roots", "attributes": [bit("c")]}},
        {"name": "kids", "schema": inner},
    ]
    link = {"parent": "roots", "child": "kids", "key": "id", "max_children": 1}
    unit = {"source": "data" if "unit" in marks else "public"}
    return {"version": 2, "name": "people", "tables": tables, "links": [link], "unit": unit}


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))


@pytest.fixture
def base(tmp_path):
    place = tmp_path / "people.sqlite"
    with sqlite3.connect(place) as connection:
        connection.execute("CREATE TABLE people (id INTEGER, a INTEGER, b INTEGER, c INTEGER)")
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", RECORDS)
    connection.close()
    return place


def table():
    return pa.table({n: [str(r[i]) for r in RECORDS] for i, n in enumerate(NAMES)})


def csv(place, columns=NAMES):
    table().select(columns).to_pandas().to_csv(place, index=False)
    return place


def written(place, made):
    place.write_text(json.dumps(made), encoding="utf-8")
    return place


def one(folder, glob):
    """The one file of this form, which is not a manifest."""
    (found,) = [p for p in folder.rglob(glob) if "manifest" not in p.name and ".schema." not in p.name]
    return found


# ---- each way: from a base, a document and a folder to the place of a table and that of its manifest


def called(command, base, schema, folder, *more, out="o.csv", flags=(*BUDGET, *WORD)):
    given = [command, str(base), "--schema", str(written(folder / "s.schema.json", schema)), *flags]
    assert main([*given, "--out", f"{folder}/{out}", "--manifest", str(folder / "m.json"), *more]) == 0
    return folder / "m.json"


def by_synth(base, schema, folder):
    manifest = called("synth", base, schema, folder, *FAST, "--quiet")
    return one(folder, "o*.csv"), manifest


def by_several(base, schema, folder):
    manifest = called("synth", base, schema, folder, *FAST, "--quiet", "--tables", "2")
    return one(folder, "o-1*.csv"), manifest


def by_parts(base, schema, folder):
    manifest = called("synth", base, schema, folder, *FAST, "--quiet", out="parts/")
    return next(folder.glob("parts*")), manifest


def by_stored(base, schema, folder):
    manifest = called("synth", base, schema, folder, *FAST, "--quiet", "--engine", "stored")
    return one(folder, "o*.csv"), manifest


def chosen_settings(schema, folder):
    """The file of settings that a comparison on a public table saves."""
    public, chosen = str(csv(folder / "before.csv", BITS)), str(folder / "best.json")
    place = written(folder / "c.schema.json", schema)
    budget = ["--epsilons", "1", "--delta", "1e-6", "--repeats", "1"]
    words = [
        "compare-systems",
        public,
        "--schema",
        str(place),
        "--public",
        "--system",
        "rls",
        "--system",
        "independent",
    ]
    assert main([*words, *budget, "--save-settings", chosen, "--quiet"]) == 0
    return str(one(folder, "best*.json"))


def by_public_choice(base, schema, folder):
    manifest = called("synth", base, schema, folder, "--settings", chosen_settings(schema, folder), "--quiet")
    assert Manifest.load(manifest).public_table.candidates == ("rls", "independent")
    return one(folder, "o*.csv"), manifest


def by_public_table(base, schema, folder):
    public = ["--public-table", str(csv(folder / "before.csv", BITS))]
    manifest = called("synth", base, schema, folder, "--method", "rls", "--quiet", *public)
    return one(folder, "o*.csv"), manifest


def by_marginal(base, schema, folder):
    manifest = called("marginal", base, schema, folder, "--attributes", "a,c", "--quiet")
    return one(folder, "o*.csv"), manifest


def by_itemsets(base, schema, folder):
    manifest = called("itemsets", base, schema, folder, "--k", "2", "--quiet", flags=("--epsilon", "1", *WORD))
    return one(folder, "o*.csv"), manifest


def by_refit(base, schema, folder):
    called("synth", base, schema, folder, *FAST, "--quiet", "--save-release", str(folder / "r.dpsyn"))
    made = [str(one(folder, "r*.dpsyn")), "--out", str(folder / "again.csv"), "--manifest", str(folder / "a.json")]
    assert main(["refit", *made, "--quiet"]) == 0
    return one(folder, "again*.csv"), folder / "a.json"


def by_linked(base, schema, folder):
    place = written(folder / "l.schema.json", schema)
    named = ["--table", f"roots={base}", "--table", f"kids={base}"]
    assert main(["synth", *named, "--schema", str(place), *BUDGET, *WORD, "--out", f"{folder / 'out'}/"]) == 0
    return one(folder / "out", "kids*.csv"), folder / "out" / "manifest.json"


def by_python(base, schema, folder):
    release = synthesize(
        table(), schema, epsilon=1, delta=1e-6, rng=1, method="independent", query_vouched=True
    )  # fmt: skip
    release.write(folder / "o.csv", folder / "m.json")
    return one(folder, "o*.csv"), folder / "m.json"


def by_python_to_file(base, schema, folder):
    synthesize_to(
        table(), schema, out=folder / "o.csv", manifest=folder / "m.json", epsilon=1, delta=1e-6, rng=1,
        method="independent", query_vouched=True,
    )  # fmt: skip
    return one(folder, "o*.csv"), folder / "m.json"


def opened(base):
    return open_table(base, ReadForm.of(sql_query=QUERY, query_vouched=True))


def by_opened(base, schema, folder):
    release = synthesize(opened(base), schema, epsilon=1, delta=1e-6, rng=1, method="independent")
    release.write(folder / "o.csv", folder / "m.json")
    return one(folder, "o*.csv"), folder / "m.json"


def by_opened_to_file(base, schema, folder):
    synthesize_to(
        GatheredSource(opened(base)), schema, out=folder / "o.csv", manifest=folder / "m.json", epsilon=1, delta=1e-6,
        rng=1, method="independent",
    )  # fmt: skip
    return one(folder, "o*.csv"), folder / "m.json"


def by_linked_opened(base, schema, folder):
    given = {"roots": table(), "kids": opened(base)}
    synthesize(given, schema, epsilon=1, delta=1e-6, rng=1).write(folder / "o", folder / "m.json")
    return one(folder / "o", "kids*.csv"), folder / "m.json"


def by_linked_python(base, schema, folder):
    given = {"roots": table(), "kids": table()}
    synthesize(given, schema, epsilon=1, delta=1e-6, rng=1, query_vouched=True).write(folder / "o", folder / "m.json")
    return one(folder / "o", "kids*.csv"), folder / "m.json"


def by_job(base, schema, folder, **more):
    job = folder / "job"
    job.mkdir()
    spec = JobSpec(epsilon=1, delta=1e-6, method="independent", seed=1, query_vouched=True, **more)
    (job / JOB).write_text(spec.model_dump_json(), encoding="utf-8")
    written(job / SCHEMA, schema)
    for place in spec.inputs:
        pq.write_table(table(), job / place)
    subprocess.run([sys.executable, "-m", "dpsyn_core.runs.jobs.worker", str(job)], check=True, timeout=300)
    return next(job.glob("synthetic*.parquet")), job / MANIFEST


def by_linked_job(base, schema, folder):
    return by_job(base, schema, folder, linked=("roots", "kids"))


def of_page(make):
    """A release of a page, which hands out its manifest alone."""

    def by_page(base, schema, folder):
        space = Workspace("somebody", dataset=Dataset("people", "people", table(), query_vouched=True))
        manifest = make(space, Schema.of(schema))
        (folder / "m.json").write_text(manifest.to_json(), encoding="utf-8")
        return None, folder / "m.json"

    return by_page


PURE = Budget(epsilon=1.0, delta=0.0)
SINGLE = {
    "synth": by_synth, "synth, several tables": by_several, "synth, parts": by_parts, "synth, stored": by_stored,
    "synth, public table": by_public_table, "synth, chosen on a public table": by_public_choice,
    "marginal": by_marginal, "itemsets": by_itemsets, "refit": by_refit,
    "python": by_python, "python, to a file": by_python_to_file, "job": by_job,
    "python, opened": by_opened, "python, opened, to a file": by_opened_to_file,
    "page of marginals": of_page(lambda at, schema: answers._released_marginals(at, schema, ["a"], PURE).manifest),
    "page of itemsets": of_page(lambda at, schema: answers._released_itemsets(at, schema, {"k": 2}, PURE)[1]),
}  # fmt: skip
LINKED = {"synth, linked": by_linked, "python, linked": by_linked_python,
          "python, linked, opened": by_linked_opened, "job, linked": by_linked_job}  # fmt: skip
WAYS = SINGLE | LINKED


@pytest.mark.parametrize("way", list(WAYS))
def test_each_way_states_the_word_for_a_query_and_for_each_rule_and_nothing_is_safe_to_publish(way, tmp_path, base):
    schema = (document if way in SINGLE else linked_document)()
    holder = schema if way in SINGLE else schema["tables"][1]["schema"]
    holder["rules"] = [RULE | {"source": "proposed"}]
    place, stated = WAYS[way](base, schema, tmp_path)
    manifest = Manifest.load(stated)
    kept = () if "itemsets" in way else ((f"impossible: {RULE['where']}", "proposed and agreed"),)
    assert tuple((r.rule, r.vouched) for r in manifest.rules if r.vouched != "bought") == kept
    assert manifest.query == OWNERS_WORD and manifest.private
    assert f"query                {OWNERS_WORD}" in manifest.certificate()
    if place is not None:
        found = receipt(place, stated)
        assert found.holds and not found.publishable
        assert "safe to publish" not in found.sentence.replace("not called safe to publish", "")


@pytest.mark.parametrize("learnt", ["records", "settings"])
def test_what_learnt_from_a_public_table_may_be_published_and_says_on_whose_word(learnt, tmp_path, base, capsys):
    if learnt == "records":
        more = ["--method", "rls", "--public-table", str(csv(tmp_path / "before.csv", BITS))]
    else:
        more = ["--settings", chosen_settings(document(), tmp_path)]
    plain = [*BUDGET, "--sql-table", "people"]
    manifest = called("synth", base, document(), tmp_path, *more, "--quiet", flags=plain)
    made = one(tmp_path, "o*.csv")
    found = receipt(made, manifest)
    assert found.publishable and found.public_table
    assert found.sentence.endswith("and safe to publish; that the public table is public is the owner's word")
    assert main(["verify", str(made), "--manifest", str(manifest), "--publishable"]) == 0
    told = ["report", "-", str(made), "--schema", str(tmp_path / "s.schema.json"), "--manifest", str(manifest)]
    assert main([*told, "--json", str(tmp_path / "r.json"), "--html", str(tmp_path / "r.html"), "--quiet"]) == 0
    label = json.loads((tmp_path / "r.json").read_text())["label"]
    assert label == f"{SAFE_LABEL}; that the public table is public is the owner's word"
    page = (tmp_path / "r.html").read_text()
    assert label in page.replace("&#39;", "'") and "public is the owner" in capsys.readouterr().out


def test_what_rests_on_the_word_for_a_query_says_why_it_is_not_called_safe_to_publish(tmp_path, base):
    found = receipt(*by_synth(base, document(), tmp_path))
    assert found.sentence.endswith("on which its promise rests, so that it is not called safe to publish")
    assert not found.public_table


@pytest.mark.parametrize("way", list(WAYS))
def test_each_way_to_a_manifest_states_what_was_chosen_by_looking(way, tmp_path, base, capsys):
    marks = list(MARKS)
    schema = (document if way in SINGLE else linked_document)(*marks)
    place = written(tmp_path / "tried.json", schema)
    given = [str(csv(tmp_path / "people.csv"))] if way in SINGLE else [
        "--table", f"roots={csv(tmp_path / 'r.csv')}", "--table", f"kids={csv(tmp_path / 'k.csv')}",
    ]  # fmt: skip
    assert main(["schema", "check", str(place), *given]) == 0
    assert "rule" not in marks or "75 of 300 records break it" in capsys.readouterr().out
    made, stated = WAYS[way](base, schema, tmp_path)
    manifest = Manifest.load(stated)
    assert not manifest.private and manifest.query == OWNERS_WORD
    for mark in marks:
        assert sum(bool(re.search(MARKS[mark], why)) for why in manifest.not_private_because) == 1, mark
    assert len(manifest.not_private_because) == len(marks)
    if made is not None:
        assert "job" in way or "NOT-PRIVATE" in made.name
        found = receipt(made, stated)
        assert not found.publishable and found.sentence.startswith("NOT PRIVATE")


def test_a_view_among_linked_tables_is_refused_with_a_remedy_that_is_taken(tmp_path, base, capsys):
    with sqlite3.connect(base) as connection:
        connection.execute(f"CREATE VIEW kids AS {QUERY}")
        connection.execute("CREATE VIEW roots AS SELECT DISTINCT * FROM people")
    connection.close()
    place = written(tmp_path / "l.schema.json", linked_document())
    given = ["--table", f"roots={base}", "--table", f"kids={base}", "--schema", str(place), *BUDGET]
    assert main(["synth", *given, "--out", f"{tmp_path / 'out'}/"]) == 2
    said = capsys.readouterr().err
    assert "table 'roots'" in said and "of several tables the command takes no word" in said
    assert "or give your word" not in said and "query_vouched=True" in said
    tables = {n: open_table(base, ReadForm.of(sql_table=n, query_vouched=True)) for n in ("roots", "kids")}
    made = synthesize(tables, linked_document(), epsilon=1, delta=1e-6, rng=1)
    assert made.manifest.query == OWNERS_WORD


def test_a_rule_that_was_tried_is_stamped_until_a_person_says_that_it_is_public(tmp_path, base):
    for source, private in ((None, True), ("public", True), ("data", False)):
        folder = tmp_path / f"before-{source}"
        folder.mkdir()
        rule = RULE if source is None else RULE | {"source": source}
        assert Manifest.load(by_synth(base, document() | {"rules": [rule]}, folder)[1]).private == private
    place = written(tmp_path / "s.json", document("rule"))
    assert main(["schema", "check", str(place), str(base), "--sql-table", "people"]) == 0
    for source, private in ((None, False), ("public", True), ("data", False)):
        folder = tmp_path / f"after-{source}"
        folder.mkdir()
        rule = RULE if source is None else RULE | {"source": source}
        assert Manifest.load(by_synth(base, document() | {"rules": [rule]}, folder)[1]).private == private


@pytest.mark.parametrize("command", ["check", "report", "compare"])
def test_whatever_counts_the_records_that_break_a_rule_writes_the_look_down_before(
    command, tmp_path, base, monkeypatch
):
    schema = written(tmp_path / "s.json", document("rule"))
    real = str(csv(tmp_path / "people.csv"))
    calls = {
        "check": ["schema", "check", str(schema), real],
        "report": ["report", real, real, "--schema", str(schema), "--json", str(tmp_path / "r.json"), "--quiet"],
        "compare": ["compare", real, real, "--schema", str(schema)],
    }
    assert main(calls[command]) == 0 and remembered("people", "rules")
    alone = written(tmp_path / "plain.json", document(name="others"))
    assert main(["schema", "check", str(alone), real]) == 0 and not remembered("others", "rules")
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "file" / "below"))
    assert main(calls[command]) == 2, "what cannot be written down is not shown"


@pytest.mark.parametrize("command", ["report", "compare"])
def test_a_report_and_a_comparison_of_linked_tables_write_the_look_down_too_but_not_without_the_real_ones(
    command, tmp_path, base, monkeypatch
):
    by_linked(base, linked_document("rule"), tmp_path)
    named = ["--table", f"roots={csv(tmp_path / 'r.csv')}", "--table", f"kids={csv(tmp_path / 'k.csv')}"]
    made = [str(tmp_path / "out"), "--schema", str(tmp_path / "l.schema.json"), "--json", str(tmp_path / "r.json")]
    assert command != "report" or main([command, "-", *made, "--quiet"]) == 0
    assert not remembered("people", "rules")
    assert main([command, *named, *made, "--quiet"]) == 0 and remembered("people", "rules")
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "file" / "below"))
    assert main([command, *named, *made, "--quiet"]) == 2, "what cannot be written down is not shown"


def test_a_rule_that_was_tried_undoes_the_promise_of_a_refit_that_adds_it(tmp_path, base):
    called("synth", base, document(), tmp_path, *FAST, "--quiet", "--save-release", str(tmp_path / "r.dpsyn"))
    remember("people", "rules")
    for source, private in ((None, False), ("public", True), ("data", False)):
        rules = written(tmp_path / "rules.json", [RULE if source is None else RULE | {"source": source}])
        made = ["--rules", str(rules), "--out", str(tmp_path / f"{source}.csv"), "--quiet"]
        assert main(["refit", str(tmp_path / "r.dpsyn"), *made]) == 0
        name = f"{source}.csv" if private else f"{source}.NOT-PRIVATE.csv"
        found = receipt(tmp_path / name, tmp_path / f"{source}.manifest.json")
        assert found.holds and found.manifest.private == private and not found.manifest.promise_faults()


def test_confirming_a_whole_draft_confirms_its_rules():
    schema = Schema.of(document("drafted", "unit") | {"rules": [RULE | {"source": "data"}]})
    assert not schema.private and confirm(schema, everything=True).private
    assert not confirm(schema, ["b"], unit=True).private, "the rule was not named"


def test_old_documents_keep_their_text_and_digest():
    schema = Schema.of(document("rule"))
    assert schema.document()["rules"] == [RULE] and "source" not in schema.dumps().split('"rules"')[1]
    assert LinkedSchema.of(linked_document("rule")).document()["tables"][1]["schema"]["rules"] == [RULE]


# ---- files of what is not private


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("mark", list(MARKS))
def test_files_of_settings_and_schemas_are_the_owners_alone_while_a_run_would_be_stamped(mark, tmp_path):
    made = document(mark)
    if mark == "rule":
        made["rules"] = [RULE | {"source": "data"}]
    place = written(tmp_path / "s.json", made)
    assert main(["plan", "--schema", str(place), *BUDGET, "--save-settings", str(tmp_path / "run.json")]) == 0
    kept = tmp_path / "run.NOT-PRIVATE.json"
    assert mode(kept) == 0o600 and not (tmp_path / "run.json").exists()
    assert RunSettings.load(kept).file_name == "settings.NOT-PRIVATE.json"
    Schema.of(made).dump(tmp_path / "again.json")
    assert mode(tmp_path / "again.json") == 0o600
    written(tmp_path / "s.json", document())
    assert main(["plan", "--schema", str(place), *BUDGET, "--save-settings", str(tmp_path / "run.json")]) == 0
    assert mode(tmp_path / "run.json") == 0o644


@pytest.mark.parametrize("mark", [*MARKS, None])
def test_what_holds_the_schema_of_a_run_that_is_stamped_is_the_owners_alone(mark, tmp_path, base):
    remember("people", "rules")
    kept = ["--save-release", str(tmp_path / "r.dpsyn"), "--measurements", str(tmp_path / "m.json.gz")]
    called("synth", base, document(mark), tmp_path, *FAST, "--quiet", *kept)
    for glob in ("r*.dpsyn", "m*.json.gz"):
        file = one(tmp_path, glob)
        assert mode(file) == (0o644 if mark is None else 0o600) and ("NOT-PRIVATE" in file.name) == (mark is not None)


def test_the_release_of_an_adapter_without_a_promise_is_the_owners_alone_and_its_name_says_so(tmp_path):
    metadata = {"columns": {n: {"sdtype": "categorical"} for n in BITS}, "METADATA_SPEC_VERSION": "SINGLE_TABLE_V1"}
    made = DPSynthesizer(metadata, method="independent")
    with pytest.warns(UserWarning, match="NOT PRIVATE"):
        made.fit(pd.DataFrame({n: [str(r[i + 1]) for r in RECORDS] for i, n in enumerate(BITS)}))
    place = made.save(tmp_path / "r.dpsyn")
    assert place == tmp_path / "r.NOT-PRIVATE.dpsyn" and mode(place) == 0o600
    assert not (tmp_path / "r.dpsyn").exists()
    good = DPSynthesizer(schema=document(), method="independent")
    good.fit(table().to_pandas())
    assert mode(good.save(tmp_path / "r.dpsyn")) == 0o644


# ---- no way is left out

COMMANDS = {  # that write a manifest
    "synth": "synth", "marginal": "marginal", "itemsets": "itemsets", "refit": "refit",
    "draw": "repeats the manifest of the run whose model it draws from (tests/deep)",
    "key": "signs a manifest as it stands",
}  # fmt: skip
MODULES = {  # that make, write or hand out a manifest, outside the commands
    "dpsyn_core/commands/adapters/sdv.py",
    "dpsyn_core/runs/jobs/folder.py",
    "dpsyn_core/runs/jobs/linked.py",
    "dpsyn_core/runs/trees/release.py",
    "dpsyn_core/privacy/manifest/manifest.py",
    "dpsyn_core/runs/refits/refit.py",
    "dpsyn_core/runs/measurement.py",
    "dpsyn_core/runs/open.py",
    "dpsyn_core/runs/parts.py",
    "dpsyn_core/runs/release.py",
    "dpsyn_core/runs/release_file.py",
    "dpsyn_core/runs/writer.py",
    "dpsyn_core/runs/further_marginals.py",
    "dpsyn_core/runs/itemsets.py",
    "ui/data/project_files.py",
    "ui/export/files.py",
    "ui/synthesize/answers.py",
}
MAKES = re.compile(r"Manifest\.build\(|\brun\.manifest\(|measured\.manifest\(|write_release\(|\.to_json\(\)(?!\w)")
SIGNS = re.compile(r"write_release\(|\.dump\(args\.manifest\)")


def sources(*folders):
    return {p.relative_to(ROOT).as_posix(): p.read_text("utf-8") for f in folders for p in (ROOT / f).rglob("*.py")}


def test_every_command_and_module_that_makes_a_manifest_is_listed_here():
    found = sources("dpsyn_core", "ui", "pages")
    folder = (ROOT / "dpsyn_core" / "commands").glob("*.py")
    commands = {p.stem for p in folder if SIGNS.search(p.read_text("utf-8"))}
    assert commands == set(COMMANDS)
    assert {name for name in commands if COMMANDS[name] == name} <= {way.partition(",")[0] for way in WAYS}
    others = {p for p, text in found.items() if Path(p).parent.name != "commands" and MAKES.search(text)}
    assert others - {"dpsyn_core/report/document.py"} == MODULES  # that one writes scores as JSON


def test_facts_are_made_in_one_place_and_none_of_them_has_a_default():
    makers = {p for p, text in sources("dpsyn_core", "ui", "pages").items() if re.search(r"\bPublicFacts\(", text)}
    assert makers == {"dpsyn_core/runs/open.py", "dpsyn_core/runs/itemsets.py"}
    assert all(f.default is dataclasses.MISSING for f in dataclasses.fields(PublicFacts))
    needed = [
        (Manifest.build, "facts"), (measure, "facts"), (release_marginals, "facts"),
        (frequent_itemsets, "query_vouched"), (RunSpec.facts, "query_vouched"),
        (Places.of, "private"), *((public_facts, n) for n in list(inspect.signature(public_facts).parameters)[1:]),
    ]  # fmt: skip
    for function, name in needed:
        assert inspect.signature(function).parameters[name].default is inspect.Parameter.empty, (function, name)
    assert JobSpec.model_fields["query_vouched"].is_required()


WITHOUT_A_WORD = {  # modules that call a public function, whose word for a query is optional, without one
    "dpsyn_core/commands/synth.py": "linked tables as they were opened, which say it themselves",
    "dpsyn_core/commands/adapters/sdv.py": "frames of pandas",
    "dpsyn_core/runs/choose/comparison.py": "tables that are declared public",
    "dpsyn_core/runs/jobs/worker.py": "the simulated sample",
    "ui/learn/race.py": "simulated people",
}


def test_nothing_inside_calls_a_public_function_without_a_word_on_the_query():
    found = set()
    for path, text in sources("dpsyn_core", "ui", "pages").items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                named = node.func.id in ("synthesize", "TreeSource", "synthesize_to")
                if named and not {"query_vouched", "vouched"} & {k.arg for k in node.keywords}:
                    found.add(path)
    assert found == set(WITHOUT_A_WORD)
