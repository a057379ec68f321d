"""A system with too little budget for so many columns is foreseen from public sizes, and others are not warned of."""

import json

import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.runs.price import LOST, column_error, lost, plan
from dpsyn_core.runs.spec import RunSpec
from dpsyn_core.schema.document import Schema


def columns(count, n_records):
    attributes = [{"name": f"c{i}", "kind": "categorical", "values": list(range(8))} for i in range(count)]
    unit = {"neighbours": "replace"}
    return {"version": 1, "name": "t", "n_records": n_records, "unit": unit, "attributes": attributes}


@pytest.mark.parametrize(
    ("method", "count", "n_records", "warned"),
    [
        ("privbayes", 300, 7_000, True),
        ("privbayes", 14, 40_000, False),
        ("independent", 300, 7_000, False),
        ("independent", 300, 500, True),
    ],
)
def test_noise_that_drowns_single_columns_is_foreseen(method, count, n_records, warned):
    schema = Schema.of(columns(count, n_records))
    spec = RunSpec(epsilon=1.0, delta=0.0 if method == "privbayes" else 1e-6, method=method)
    made = plan(spec, schema)
    error = column_error(made, spec.config.working_domain(schema.domain()), n_records)
    assert (error >= LOST) is warned
    assert lost(made, spec, schema, n_records) == (error if warned else None)


def test_the_command_warns_in_one_sentence_with_a_remedy(tmp_path, capsys):
    path = tmp_path / "s.json"
    path.write_text(json.dumps(columns(300, 7_000)))
    run = ["plan", "--schema", str(path), "--epsilon", "1", "--delta", "0", "--method", "privbayes"]
    assert main(run) == 0
    said = capsys.readouterr().out.splitlines()[-1]
    assert said.startswith("warning: privbayes is not made for 300 columns at epsilon 1 and so few records")
    assert "take the method 'rls', fewer columns" in said
    assert main([*run, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["warning"] in said
    path.write_text(json.dumps(columns(5, 7_000)))
    assert main([*run, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["warning"] is None
