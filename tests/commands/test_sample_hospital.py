"""`dpsyn sample --name hospital`: stays whose schema has rules, which the synthetic table keeps."""

import pyarrow as pa
import pyarrow.csv as pc

from dpsyn_core.commands.cli import main
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.rules.rule_breaks import broken_counts


def test_a_stranger_gets_stays_that_do_not_end_before_they_begin(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    assert main(["sample", str(tmp_path), "--name", "hospital"]) == 0
    assert "hospital.schema.json" in capsys.readouterr().out
    table, schema = tmp_path / "hospital.csv", tmp_path / "hospital.schema.json"
    out = tmp_path / "out.csv"
    told = ["--epsilon", "1", "--delta", "1e-9", "--out", str(out), "--manifest", str(tmp_path / "m.json")]
    assert main(["schema", "check", str(table), "--schema", str(schema)]) == 0, "its rules say that they are public"
    assert main(["synth", str(table), "--schema", str(schema), *told]) == 0
    assert "synthetic cells were changed to keep them" in capsys.readouterr().err
    made = pc.read_csv(out)
    text = pa.table({n: made[n].cast(pa.string()) for n in made.column_names})
    assert [count for _, count in broken_counts(text, Schema.load(schema))] == [0] * 6


def test_the_codes_are_of_the_people_alone(tmp_path, capsys):
    assert main(["sample", str(tmp_path), "--name", "hospital", "--codes"]) == 2
    assert "leave one of them out" in capsys.readouterr().err
