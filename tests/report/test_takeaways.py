"""What is taken away from a run: scripts that repeat it, and a citation that says what the manifest says."""

import json
import subprocess
import sys
from types import SimpleNamespace

import pytest

from dpsyn_core.data import paths
from dpsyn_core.privacy.manifest.certificates import ENGLISH, citation
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.report.takeaways import _call, bibtex, notebook, python_script, shell_command, shell_script
from dpsyn_core.runs.spec import RunSpec
from ui.shared.text import written

SPEC = RunSpec(epsilon=2.0, delta=1e-9, method="independent", seed=7, dataset="again", n_records=500)


def test_script_and_notebook_repeat_a_run(tmp_path):
    table, schema = paths("sample")
    (tmp_path / "schema.json").write_bytes(schema.read_bytes())
    code = "".join(
        "".join(cell["source"]) + "\n"
        for cell in json.loads(notebook(SPEC, "a run", "out", query_vouched=False))["cells"]
        if cell["cell_type"] == "code"
    )
    script = python_script(SPEC, 'a "run"', "out", query_vouched=True)
    compile(code, "cells", "exec")
    (tmp_path / "run.py").write_text(script.replace("YOUR_TABLE.csv", str(table)), "utf-8")
    done = subprocess.run([sys.executable, "run.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len((tmp_path / "out.csv").read_text("utf-8").splitlines()) == 501
    made = Manifest.load(tmp_path / "out.manifest.json")
    assert (made.epsilon, made.method, made.seed, made.dataset) == (2.0, "independent", 7, "again")
    said, entry = citation(made, 2031), bibtex(made, 2031)
    assert "epsilon 2, delta 1e-09" in said.lower() and made.run_id[:16] in said and "500 records" in said
    assert entry.startswith("@misc{again2031synthetic,") and entry.count("{") == entry.count("}")
    assert "(differentially private, epsilon 2, delta 1e-09)" in entry and f"Run {made.run_id[:16]}" in entry
    assert bibtex(made.model_copy(update={"dataset": "Bürger"}), 2031).startswith("@misc{Burger2031synthetic,")
    german = bibtex(made, 2031, {k: written("de")[f"certificate.{k}"] for k in ENGLISH})
    assert "Synthetische Tabelle again (differentiell privat, Epsilon 2, Delta 1e-09)" in german
    assert f"Lauf {made.run_id[:16]}" in german and "Run " not in german and "with" not in german


def test_a_shell_script_is_the_command_over_lines():
    assert shell_script(["dpsyn", "synth", "T", "--epsilon", "1"], "a\nrun").endswith("T \\\n  --epsilon 1\n")
    assert shell_command(["dpsyn", "--where", "a --b; c"]) == "dpsyn --where 'a --b; c'"


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({}, {}), ({"questions_share": 0.25}, {"questions_share": 0.25}),
        ({"questions_share": 0.0}, {"questions_share": 0.0}),
        ({"n_records": 0}, {"n_records": 0}), ({"settings": {"a": 1}}, {"settings": {"a": 1}}),
        ({"public_table": "p.csv"}, {"public_table": "p.csv"}), ({"tables": 2}, {"tables": 2}), ({"tables": 1}, {}),
        ({"questions": {"across": [1]}}, {"questions": {"across": [1]}}), ({"questions": {"questions": [1]}}, {}),
    ],
)  # fmt: skip
def test_a_notebook_calls_with_every_setting_that_differs_from_its_default(changes, named):
    plain = {"epsilon": 1.5, "delta": 1e-9, "method": "mst", "settings": {}, "n_records": None, "seed": 7,
             "dataset": "d", "questions_share": None, "public_table": None, "tables": 1, "questions": None}  # fmt: skip
    spec, heard = SimpleNamespace(**plain | changes), []
    for vouched in (False, True):
        text = _call(spec, query_vouched=vouched, schema="s.json")
        exec(text, {"synthesize": lambda *a, **k: heard.append((a, k)), "TABLE": "table"})
        usual = {"epsilon": 1.5, "delta": 1e-9, "method": "mst", "rng": 7, "dataset": "d"}
        assert heard[-1] == (("table", "s.json"), usual | named | ({"query_vouched": True} if vouched else {}))
