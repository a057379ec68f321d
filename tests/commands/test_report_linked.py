"""`dpsyn report` of linked tables, and the files that a run of them leaves where its schema was read from the data."""

import json
from pathlib import Path

import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.evaluate.base import PRIVATE_LABEL, SAFE_LABEL
from dpsyn_core.schema.linked import LinkedSchema
from tests.runs.trees.small import schema_of, tables

NAMED = "--table roots=roots.csv --table kids=kids.csv"
QUESTION = {"version": 1, "questions": [{"about": "roots", "ask": {"name": "a", "kind": "table", "of": ["a"]}}]}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    for name, table in tables(200, 3, 1).items():
        table.to_pandas().to_csv(f"{name}.csv", index=False)
    Path("q.json").write_text(json.dumps(QUESTION))


def made(*more, **unit):
    """A release in out/; returns the status."""
    schema_of({}, **unit).dump("s.json")
    run = f"synth {NAMED} --schema s.json --epsilon 2 --delta 1e-6 --seed 1 --set effort=0.1 --out out/ --quiet"
    return main([*run.split(), *more])


def report(words, capsys):
    capsys.readouterr()
    status = main(f"report {words} --schema s.json".split())
    told = capsys.readouterr()
    return status, told.out + told.err


def test_the_owner_gets_the_report_of_the_app_from_the_shell(capsys):
    assert made() == 0
    status, told = report(f"{NAMED} out --json r.json --html r.html", capsys)
    assert status == 0, told
    assert "roots > kids" in told and "for the owner" in told
    found = json.loads(Path("r.json").read_text())
    assert found["label"] == PRIVATE_LABEL and found["reads_private"]
    assert [t["name"] for t in found["tables"]] == ["roots", "kids"] and found["tables"][0]["scores"]
    assert found["keys"][0]["orphans"] == 0 and {v["metric"] for v in found["links"]} >= {"children", "parent x child"}
    page = Path("r.html").read_text()
    assert "handed out by chance" in page and "reads private data" in page
    assert [Path(n).stat().st_mode & 0o077 for n in ("r.json", "r.html")] == [0, 0]


def test_from_released_files_alone_the_report_may_be_published(capsys):
    assert made() == 0
    status, told = report("- out --json r.json --html r.html", capsys)
    assert status == 0, told
    found = json.loads(Path("r.json").read_text())
    assert found["label"] == SAFE_LABEL and not found["reads_private"] and found["links"] == []
    assert "handed out by chance" not in Path("r.html").read_text()


def test_a_report_with_what_it_cannot_take_is_refused_in_a_sentence(capsys):
    assert made() == 0
    for words, said in (
        (f"{NAMED} nowhere --json r.json", "nowhere"),
        (f"{NAMED} out out --json r.json", "stands without its name"),
        ("- out out --json r.json", "one release"),
        (f"{NAMED} - out --json r.json", "released values alone"),
        (f"{NAMED} out --json r.json --sample 5", "--sample"),
        ("out --json r.json", "--table"),
        (f"{NAMED} out --json r.json --order 4", "--order"),
        (f"{NAMED} out --json s.json", "named twice"),
        (f"{NAMED} out", "--html"),
        (f"{NAMED} out --json r.json --manifest none.json", "none.json"),
    ):
        status, told = report(words, capsys)
        assert status == 2 and said in told and "Traceback" not in told, (words, told)
    assert not Path("nowhere").exists() and not Path("r.json").exists()


def test_answers_of_a_schema_that_was_read_from_the_data_are_marked():
    assert made("--questions", "q.json", unit={"neighbours": "add-remove", "source": "data"}) == 0
    assert not Path("out/answers.json").exists()
    assert Path("out/answers.NOT-PRIVATE.json").stat().st_mode & 0o077 == 0


def test_answers_never_replace_what_a_run_reads_and_are_refused_before_it_is_charged(capsys):
    Path("out").mkdir()
    Path("q.json").rename("out/answers.json")
    assert made("--questions", "out/answers.json") == 2
    assert "named twice" in capsys.readouterr().err
    assert json.loads(Path("out/answers.json").read_text()) == QUESTION
    assert not Path("out/roots.csv").exists()


def test_a_panel_in_one_file_is_reported_as_the_file_that_it_is(capsys):
    document = json.loads(schema_of({}).dumps()) | {"one_file": True}
    document["links"][0]["key"] = "id"
    linked = LinkedSchema.of(document)
    linked.dump("s.json")
    rows = tables(200, 3, 1)
    frame = rows["kids"].to_pandas().rename(columns={"root": "id"})
    frame["a"] = frame["id"].map(dict(zip(*rows["roots"].to_pydict().values(), strict=True)))
    frame.to_csv("panel.csv", index=False)
    run = "synth panel.csv --schema s.json --epsilon 2 --delta 1e-6 --seed 1 --set effort=0.1 --out out.csv --quiet"
    assert main(run.split()) == 0
    for real, label in (("panel.csv", PRIVATE_LABEL), ("-", SAFE_LABEL)):
        status, told = report(f"{real} out.csv --json r.json --html r.html", capsys)
        assert status == 0, told
        found = json.loads(Path("r.json").read_text())
        assert found["label"] == label and found["keys"][0]["orphans"] == 0
