"""Questions through a whole run: the same for Python, the command, the plan and the manifest."""

import json

import numpy as np
import pytest

from dpsyn_core import synthesize
from dpsyn_core.commands.cli import main
from dpsyn_core.errors import MethodError, QuestionError
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.questions.document import Questions
from dpsyn_core.schema.sample import sample_schema, sample_table

GAP = {
    "version": 1,
    "questions": [
        {"name": "gaps", "kind": "gap", "of": "INCWAGE", "by": ["CITY"], "between": {"SEX": ["Male", "Female"]}}
    ],
}  # fmt: skip
BUDGET = {"epsilon": 1.0, "delta": 1e-9, "rng": 1}


def few():
    return sample_table().slice(0, 400)


def test_the_manifest_says_what_was_asked_and_which_charges_paid_for_it(tmp_path):
    quick = {"effort": 0.1, "even": False}
    release = synthesize(few(), sample_schema(), **BUDGET, settings=quick, questions=GAP, questions_share=0.3)
    told = release.manifest.questions
    assert told.share == 0.3 and Questions.of(told.document).digest == told.sha256
    asked = [c for c in release.manifest.charges if c.kind == "question"]
    assert [c.name for c in asked] == ["marginal CITY x SEX x INCWAGE"]
    pairs_would = sum(c.rho for c in release.manifest.charges if c.kind not in ("total", "1-way", "scores"))
    assert asked[0].rho == pytest.approx(0.3 * pairs_would, rel=0.05)
    release.manifest.dump(tmp_path / "m.json")
    assert Manifest.load(tmp_path / "m.json") == release.manifest
    assert "questions            1 (" in release.manifest.certificate()
    other = told.model_copy(update={"document": Questions.of([]).document()})
    assert "hash" in release.manifest.model_copy(update={"questions": other}).faults()[0]
    assert any(set(m.attributes) == {"CITY", "SEX", "INCWAGE"} for m in release.marginals)


def test_without_questions_nothing_is_said_and_nothing_is_charged_for_them():
    release = synthesize(few(), sample_schema(), **BUDGET, method="independent")
    assert release.manifest.questions is None


def test_questions_of_the_schema_are_taken_and_others_take_their_place():
    schema = sample_schema().model_copy(update={"questions": GAP["questions"]})
    release = synthesize(few(), schema, **BUDGET, method="dpsyn", settings={"update.sweeps": 1})
    assert release.manifest.questions.document == Questions.of(GAP).document()
    with pytest.raises(MethodError, match="takes no questions"):
        synthesize(few(), schema, **BUDGET, method="independent")
    assert synthesize(few(), schema, **BUDGET, method="independent", questions=[]).manifest.questions is None
    assert synthesize(few(), schema, **BUDGET, method="independent", questions_share=0).manifest.questions is None


def test_wrong_questions_are_refused_before_anything_is_charged(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite3")
    for wrong, share in (([{"name": "x", "kind": "mean", "of": "NOPE"}], None), (GAP, 1.5)):
        with pytest.raises(QuestionError):
            synthesize(few(), sample_schema(), **BUDGET, questions=wrong, questions_share=share, ledger=ledger)
    assert ledger.entries("census1940") == []


def test_the_command_takes_questions_and_plans_with_them(tmp_path, capsys):
    (tmp_path / "q.json").write_text(json.dumps(GAP))
    main(["sample", str(tmp_path)])
    schema, questions = str(tmp_path / "sample.schema.json"), str(tmp_path / "q.json")
    budget = ["--schema", schema, "--epsilon", "1", "--delta", "1e-9", "--questions", questions]
    capsys.readouterr()
    assert main(["plan", *budget, "--questions-share", "0.5", "--n-records", "20000", "--json"]) == 0
    steps = {s["kind"]: s for s in json.loads(capsys.readouterr().out)["steps"]}
    assert steps["question"]["share"][0] == pytest.approx(steps["chosen"]["share"][1], rel=1e-6)
    assert main(["plan", *budget]) == 0
    assert "tables that your questions need" in capsys.readouterr().out
    assert main(["plan", *budget, "--method", "independent"]) == 2
    assert "takes no questions" in capsys.readouterr().err
    table = tmp_path / "few.csv"
    lines = (tmp_path / "sample.csv").read_text().splitlines(keepends=True)[:300]
    table.write_text("".join(lines))
    out, manifest = tmp_path / "s.csv", tmp_path / "m.json"
    arguments = [str(table), *budget, "--method", "priview", "--out", str(out), "--manifest", str(manifest), "--quiet"]
    assert main(["synth", *arguments, "--set", "update.sweeps=1"]) == 0
    assert json.loads(manifest.read_text())["questions"]["document"] == Questions.of(GAP).document()
    assert main(["synth", *arguments, "--questions-share", "2"]) == 2
    assert "between 0 and 1" in capsys.readouterr().err
    assert np.array(out.read_text().splitlines()).size > 100
