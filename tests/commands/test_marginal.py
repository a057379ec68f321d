"""`dpsyn marginal`: one spend, any marginals, labelled cells; mistakes are one sentence and cost nothing."""

import csv
import json

import numpy as np
import pytest

from dpsyn_core.cli import main

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
