"""`dpsyn marginal`: one spend, any marginals, labelled cells; mistakes are one sentence and cost nothing."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.commands.marginal import named
from dpsyn_core.estimate.marginals.maxent import Reconstruction
from dpsyn_core.privacy.ledger.ledger import Ledger

SCHEMA = {
    "version": 1,
    "name": "survey",
    "attributes": [
        {"name": "sex", "kind": "categorical", "values": ["F", "M"]},
        {"name": "age", "kind": "numeric", "dtype": "integer", "min": 0, "max": 99, "bins": {"count": 4}},
        *({"name": f"q{i}", "kind": "categorical", "values": ["no", "yes"]} for i in range(10)),
    ],
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    rng = np.random.default_rng(0)
    with (tmp_path / "table.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([a["name"] for a in SCHEMA["attributes"]])
        for _ in range(2000):
            sex = rng.choice(["F", "M"])
            answers = ["yes" if rng.random() < (0.8 if sex == "F" else 0.2) else "no" for _ in range(10)]
            writer.writerow([sex, rng.integers(0, 100), *answers])
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
    return tmp_path


def marginal(folder, *queries, out="out.csv", epsilon=5, extra=()):
    named = [part for q in queries for part in ("--attributes", q)]
    return main(
        ["marginal", str(folder / "table.csv"), "--schema", str(folder / "schema.json"), f"--epsilon={epsilon}",
         "--delta=1e-6", *named, "--out", str(folder / out), "--manifest", str(folder / "m.json"), "--quiet", *extra]
    )  # fmt: skip


def charges(folder, capsys):
    capsys.readouterr()
    main(["ledger", "--json"])
    return capsys.readouterr().out


def test_a_marginal_has_one_labelled_row_a_cell(folder):
    assert marginal(folder, "sex,q0") == 0
    rows = list(csv.DictReader((folder / "out.csv").open()))
    assert [(r["sex"], r["q0"]) for r in rows] == [("F", "no"), ("F", "yes"), ("M", "no"), ("M", "yes")]
    counts = [float(r["count"]) for r in rows]
    assert sum(counts) == pytest.approx(2000, abs=100)
    assert counts[1] > 2 * counts[0]
    manifest = json.loads((folder / "m.json").read_text())
    assert manifest["method"] == "priview"
    assert manifest["epsilon"] == 5


def reread(folder, *queries, out="more.json", source="out.measurements.json.gz", extra=()):
    named = [part for q in queries for part in ("--attributes", q)]
    words = ["marginal", "--from", str(folder / source), *named, "--out", str(folder / out), "--quiet", *extra]
    return main(words)


def counts(folder, name):
    return [np.array(f["counts"]) for f in json.loads((folder / name).read_text())["marginals"]]


def test_further_marginals_are_those_that_the_release_would_have_had_and_cost_nothing(folder, capsys):
    assert marginal(folder, "sex,q0", "age,q1,q9", "q0,q4,q8,q9", out="out.json") == 0
    before = charges(folder, capsys)
    (folder / "table.csv").unlink()
    (folder / "schema.json").unlink()
    assert reread(folder, "sex,q0", "age,q1,q9", "q0,q4,q8,q9", extra=("--manifest", str(folder / "m.json"))) == 0
    assert charges(folder, capsys) == before
    for paid, free in zip(counts(folder, "out.json"), counts(folder, "more.json"), strict=True):
        assert free == pytest.approx(paid, abs=1e-9)
    said = json.loads((folder / "more.json").read_text())
    assert said["run_id"] == json.loads((folder / "m.json").read_text())["run_id"]
    assert said["private"] is True


def test_reading_needs_no_ledger_at_all(folder, monkeypatch):
    assert marginal(folder, "sex,q0") == 0
    monkeypatch.setattr(Ledger, "_writing", lambda *_: pytest.fail("nothing is charged"))
    monkeypatch.setattr(Ledger, "_reading", lambda *_: pytest.fail("no ledger is read"), raising=False)
    assert reread(folder, "age,q1", out="more.csv") == 0
    assert len(list(csv.DictReader((folder / "more.csv").open()))) == 8


def test_a_reading_without_its_manifest_says_that_one_could_be_named(folder, capsys):
    assert marginal(folder, "sex,q0") == 0
    words = ["marginal", "--from", str(folder / "out.measurements.json.gz"), "--attributes", "age,q1"]
    for extra, hinted in ([], True), (["--manifest", str(folder / "m.json")], False):
        capsys.readouterr()
        assert main([*words, *extra, "--out", str(folder / "more.csv")]) == 0
        said = capsys.readouterr().err
        assert "nothing was charged" in said and ("name the --manifest" in said) is hinted


@pytest.mark.parametrize("rule", ["maximum-entropy", "least-norm", "linear-program"])
def test_every_reconstruction_is_a_setting_of_the_reading(folder, rule):
    assert marginal(folder, "sex,q0") == 0
    assert reread(folder, "sex,q0,q3,q6,q9", extra=("--set", f"reconstruction={rule}")) == 0
    (found,) = counts(folder, "more.json")
    assert found.sum() == pytest.approx(2000, rel=0.06)
    assert found.min() >= 0


@pytest.mark.parametrize("method", ["rls", "independent", "mst", "privsyn", "dpsyn-2018"])
def test_the_released_marginals_of_any_system_are_read(folder, method):
    words = ["synth", str(folder / "table.csv"), "--schema", str(folder / "schema.json"), "--epsilon=5", "--delta=1e-6",
             "--method", method, "--out", str(folder / "s.csv"), "--measurements", str(folder / "s.json.gz"),
             "--manifest", str(folder / "s.json"), "--quiet"]  # fmt: skip
    assert main(words) == 0
    assert reread(folder, "sex,q0", "age", source="s.json.gz", extra=("--manifest", str(folder / "s.json"))) == 0
    pair, ages = counts(folder, "more.json")
    assert pair.sum() == pytest.approx(2000, abs=120)
    assert ages.min() > 350
    if method != "independent":
        assert pair[0, 1] > 2 * pair[0, 0]


@pytest.mark.parametrize(
    ("query", "extra", "message"),
    [
        ("sex,nothing", (), "unknown attribute 'nothing'"),
        ("sex", ("--epsilon", "1"), "--epsilon does nothing with --from"),
        ("sex", ("--set", "views=3"), "unknown setting 'views' of reading"),
        ("sex", ("--set", "reconstruction=guess"), "reconstruction"),
        ("sex", ("--manifest", "table"), "does not hold the marginals"),
        ("sex", ("--schema", "table"), "table.csv"),
    ],
)
def test_mistakes_of_reading_are_one_sentence(folder, capsys, query, extra, message):
    assert marginal(folder, "sex,q0") == 0
    assert marginal(folder, "sex,q0", out="other.csv", extra=("--manifest", str(folder / "m2.json"))) == 0
    given = {"--manifest": folder / "m2.json", "--schema": folder / "table.csv"}
    words = [str(given[extra[i - 1]]) if w == "table" else w for i, w in enumerate(extra)]
    capsys.readouterr()
    assert reread(folder, query, extra=words) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (folder / "more.json").exists()


def test_a_release_says_what_is_missing(folder, capsys):
    assert main(["marginal", "--attributes", "sex", "--out", str(folder / "o.csv")]) == 2
    assert "TABLE and --schema and --epsilon and --delta are missing" in capsys.readouterr().err


def test_many_marginals_cost_one_spend(folder):
    assert marginal(folder, "sex", "age,q1,q9", "q0,q1,q2,q3,q4,q5,q6,q7,q8,q9", out="out.json") == 0
    found = json.loads((folder / "out.json").read_text())["marginals"]
    assert [f["attributes"] for f in found][1] == ["age", "q1", "q9"]
    assert len(found[1]["labels"][0]) == 4
    wide = np.array(found[2]["counts"])
    assert wide.shape == (2,) * 10
    assert wide.sum() == pytest.approx(2000, abs=100)
    spent = sum(c["rho"] for c in json.loads((folder / "m.json").read_text())["charges"])
    one = json.loads((folder / "m.json").read_text())["rho"]
    assert spent <= one * (1 + 1e-6)


@pytest.mark.parametrize(
    ("queries", "out", "message"),
    [
        (("sex,nothing",), "out.csv", "unknown attribute 'nothing'"),
        (("sex,sex",), "out.csv", "each of them once"),
        (("sex", "age"), "out.csv", "must end with .json"),
        (("sex",), "out.txt", "must end with .csv"),
        (("sex",), "schema.json", "named twice"),
    ],
)
def test_mistakes_are_one_sentence_and_cost_nothing(folder, capsys, queries, out, message):
    before = charges(folder, capsys)
    assert marginal(folder, *queries, out=out) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (folder / "m.json").exists()
    assert charges(folder, capsys) == before


def test_codes_on_disk_give_a_marginal_too(folder, capsys):
    assert marginal(folder, "sex,q0", extra=("--engine", "stored")) == 0
    assert sum(float(r["count"]) for r in csv.DictReader((folder / "out.csv").open())) == pytest.approx(2000, abs=100)
    assert "engine stored" in capsys.readouterr().err


def test_the_command_says_where_marginals_agree_on_columns_alone():
    found = Reconstruction(attributes=("sex",), values=np.ones(2), covered=True, residual=0.0, sweeps=0)
    assert named([found]) == "1 marginal"
    wide = named([found, replace(found, covered=False, wide=True)])
    assert wide.startswith("2 marginals (1 reconstructed); ") and "another marginal may say something else" in wide
