"""`dpsyn sample --codes`: the people in codes go from specification and codebook through the shipped design."""

import json

import pyarrow.csv as pc

from dpsyn_core.commands.cli import main
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.sample import coded_design, coded_schema
from dpsyn_core.systems.base import Task
from dpsyn_core.systems.registry import configure


def test_the_written_files_import_and_run(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    assert main(["sample", str(tmp_path), "--codes"]) == 0
    said = capsys.readouterr().out
    table, schema = tmp_path / "sample-codes.csv", tmp_path / "s.json"
    assert str(table) in said and "dpsyn-2018" in said
    specification, codebook = tmp_path / "sample.specification.json", tmp_path / "sample.codebook.cbk"
    assert main(["schema", "import", str(specification), "--codebook", str(codebook), "--out", str(schema)]) == 0
    design = (tmp_path / "sample.design.json").read_text(encoding="utf-8")
    out, manifest = tmp_path / "out.csv", tmp_path / "m.json"
    assert (
        main(
            ["synth", str(table), "--schema", str(schema), "--method", "dpsyn-2018", "--set", f"design={design}",
             "--set", "update.sweeps=5", "--set", "update.polish=0", "--epsilon", "1", "--delta", "1e-9", "--seed", "1",
             "--n-records", "500", "--out", str(out), "--manifest", str(manifest), "--quiet"]
        )
        == 0
    )  # fmt: skip
    made = pc.read_csv(out)
    assert made.num_rows == 500 and made.column_names == list(coded_schema().domain().names)
    assert set(made["SEX"].to_pylist()) <= {1, 2}
    assert json.loads(manifest.read_text(encoding="utf-8"))["private"] is True


def test_the_shipped_design_fits_at_every_budget_and_favours_the_income_score():
    for epsilon, count in ((0.3, 14), (1.0, 25), (8.0, 25)):
        task = Task(domain=coded_schema().domain(), unit=Unit(), budget=Budget(epsilon=epsilon, delta=1e-9))
        system = configure("dpsyn-2018", {"design": coded_design()}).calibrate(task)
        assert len(system.listed) == count
        heaviest = max(system.listed, key=lambda s: s.weight)
        assert [w.name for w in heaviest.parts] == ["CITY", "SEX", "INCWAGE"]
        wage = system.working["INCWAGE"].maps["INCWAGE"].map
        assert (wage == wage[0]).sum() == 1 and (wage == wage[-1]).sum() == 1  # zero and 999998 alone
