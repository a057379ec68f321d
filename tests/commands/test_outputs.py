"""The short way through the commands: files that need no name get one, and odd headers come back from our own CSV."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dpsyn_core import __version__
from dpsyn_core.commands.cli import main
from dpsyn_core.privacy.ledger.ledger import Ledger
from tests.commands.small import SCHEMA, write_table

ROOT = Path(__file__).resolve().parents[2]
ODD = "=SUM(A1)"  # a header that a spreadsheet would run


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    write_table(tmp_path / "t.csv")
    (tmp_path / "s.json").write_text(json.dumps(SCHEMA))
    return tmp_path


def dpsyn(words):
    return main(words.split())


def synth(*more):
    run = "--schema s.json --epsilon 1 --delta 1e-6 --method independent --quiet"
    return main(["synth", "t.csv", *run.split(), *more])


@pytest.mark.parametrize(("out", "manifest"), [("o.csv", "o.manifest.json"), ("parts/", "parts.manifest.json")])
def test_a_manifest_lies_beside_its_table_and_verify_finds_it_there(folder, out, manifest, capsys):
    assert synth("-o", out) == 0
    assert (folder / manifest).is_file()
    assert main(["verify", out.rstrip("/")]) == 0
    assert "of this manifest" in capsys.readouterr().out


def test_a_table_that_is_not_private_has_the_same_manifest_beside_it(folder):
    drafted = SCHEMA | {"attributes": [a | {"source": "data"} for a in SCHEMA["attributes"]]}
    (folder / "s.json").write_text(json.dumps(drafted))
    assert synth("-o", "o.csv") == 0
    assert (folder / "o.NOT-PRIVATE.csv").is_file() and (folder / "o.manifest.json").is_file()


@pytest.mark.parametrize("more", [["-o", "o.csv"], ["-o", "p.csv", "--measurements", "o.csv.gz"], ["-o", "q/"]])
def test_a_name_that_says_not_private_is_checked_before_anything_is_spent(folder, capsys, more):
    drafted = SCHEMA | {"attributes": [a | {"source": "data"} for a in SCHEMA["attributes"]]}
    (folder / "s.json").write_text(json.dumps(drafted))
    for taken in ("o.NOT-PRIVATE.csv", "o.NOT-PRIVATE.csv.gz", "q.NOT-PRIVATE"):
        (folder / taken / "inside").mkdir(parents=True)
    assert synth(*more) == 2
    assert "NOT-PRIVATE" in capsys.readouterr().err
    assert not Ledger().entries("small")


def test_the_private_table_is_never_overwritten_by_a_name_that_says_not_private(folder, capsys):
    drafted = SCHEMA | {"attributes": [a | {"source": "data"} for a in SCHEMA["attributes"]]}
    (folder / "s.json").write_text(json.dumps(drafted))
    (folder / "t.csv").rename(folder / "t.NOT-PRIVATE.csv")
    before = (folder / "t.NOT-PRIVATE.csv").read_bytes()
    run = "t.NOT-PRIVATE.csv --schema s.json --epsilon 1 --delta 1e-6 --quiet"
    for words in (f"synth {run} --method independent -o t.csv", f"marginal {run} --attributes a -o t.csv"):
        assert dpsyn(words) == 2
        assert "named twice" in capsys.readouterr().err
    assert (folder / "t.NOT-PRIVATE.csv").read_bytes() == before
    assert not Ledger().entries("small")


def test_a_name_that_says_not_private_already_is_kept(folder):
    drafted = SCHEMA | {"attributes": [a | {"source": "data"} for a in SCHEMA["attributes"]]}
    (folder / "s.json").write_text(json.dumps(drafted))
    assert synth("-o", "o.NOT-PRIVATE.csv") == 0
    assert sorted(p.name for p in folder.glob("o*")) == ["o.NOT-PRIVATE.csv", "o.manifest.json"]


def test_an_output_that_would_fall_on_the_manifest_beside_it_is_refused_before_anything_is_spent(folder, capsys):
    assert synth("-o", "o.csv", "--measurements", "o.manifest.json") == 2
    assert "named twice" in capsys.readouterr().err
    assert not (folder / "o.csv").exists()


def test_a_report_needs_one_file_and_a_comparison_none(folder, capsys):
    assert synth("-o", "o.csv") == 0
    assert dpsyn("report t.csv o.csv --schema s.json --quiet --html r.html --metrics tvd-1way") == 0
    assert (folder / "r.html").is_file() and not list(folder.glob("r*.json"))
    assert dpsyn("report t.csv o.csv --schema s.json --quiet") == 2
    assert "give --html R.html, --json R.json, or both" in capsys.readouterr().err
    assert dpsyn("compare t.csv o.csv --schema s.json") == 0
    assert "this comparison reads private data" in capsys.readouterr().out
    assert dpsyn("compare t.csv o.csv --schema s.json --quiet") == 2


def test_a_header_that_a_spreadsheet_would_run_is_found_again_in_the_table_we_wrote(folder):
    renamed = [a | {"name": ODD} if a["name"] == "sex" else a for a in SCHEMA["attributes"]]
    (folder / "s.json").write_text(json.dumps(SCHEMA | {"attributes": renamed}))
    (folder / "t.csv").write_text((folder / "t.csv").read_text().replace("sex", ODD, 1))
    assert synth("-o", "o.csv", "--measurements", "x.json.gz") == 0
    assert (folder / "o.csv").read_text().startswith(f"'{ODD},age")
    assert dpsyn("compare t.csv o.csv --schema s.json") == 0
    questions = {"version": 1, "questions": [{"name": "how many", "kind": "table", "of": [ODD]}]}
    (folder / "q.json").write_text(json.dumps(questions))
    answers = "answer o.csv --manifest o.manifest.json --measurements x.json.gz --questions q.json --quiet"
    assert dpsyn(answers) == 0


def test_one_run_on_the_ledger_is_one_run(folder, capsys):
    assert synth("-o", "o.csv") == 0
    capsys.readouterr()
    assert main(["ledger"]) == 0
    assert "people: 1 run\n" in capsys.readouterr().out


def test_the_module_is_the_command(folder):
    words = [sys.executable, "-m", "dpsyn_core", "--version"]
    done = subprocess.run(words, capture_output=True, text=True, check=True, env=os.environ | {"PYTHONPATH": str(ROOT)})
    assert done.stdout.split() == ["dpsyn", __version__]


@pytest.mark.parametrize(
    ("left_out", "example"), [("schema", "table.schema.json"), ("epsilon", "1"), ("delta", "1e-9")]
)
def test_what_a_run_cannot_do_without_is_named_with_an_example(folder, left_out, example, capsys):
    given = {"schema": "s.json", "epsilon": "1", "delta": "1e-6"}
    flags = [word for name, value in given.items() if name != left_out for word in (f"--{name}", value)]
    assert main(["synth", "t.csv", *flags, "-o", "o.csv"]) == 2
    assert f"--{left_out} is missing; give it, for example --{left_out} {example}, or" in capsys.readouterr().err
