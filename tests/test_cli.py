"""The command: exit status, one sentence for each mistake, and nothing written or charged when something is wrong."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dpsyn_core.commands.cli import RENAMED, build_parser, command_modules, main

SCHEMA = {
    "version": 1,
    "name": "people",
    "unit": {"neighbours": "add-remove", "identifier": None, "max_records": 1},
    "n_records": None,
    "attributes": [
        {"name": "sex", "kind": "categorical", "values": ["F", "M"]},
        {"name": "age", "kind": "numeric", "dtype": "integer", "min": 0, "max": 99, "bins": {"count": 10}},
    ],
}
ROWS = "sex,age\n" + "F,31\nM,42\nF,7\nM,88\n" * 50


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    (tmp_path / "table.csv").write_text(ROWS)
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
    return tmp_path


def synth(folder, *extra, epsilon="1", delta="1e-6", table="table.csv", schema="schema.json", out="out.csv"):
    return main(
        ["synth", str(folder / table), "--schema", str(folder / schema), f"--epsilon={epsilon}", f"--delta={delta}",
         "--out", str(folder / out), "--manifest", str(folder / "m.json"), "--quiet", *extra]
    )  # fmt: skip


def spent(folder, capsys):
    capsys.readouterr()
    assert main(["ledger", "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_help_is_listed_for_every_command_and_loads_nothing_heavy():
    code = (
        "import sys; from dpsyn_core.commands.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'pandas', 'scipy', 'numba', 'pyarrow', 'streamlit', 'pydantic', 'dp_accounting'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
    for name in command_modules():
        assert name in done.stdout


@pytest.mark.parametrize("name", command_modules())
def test_every_command_explains_itself(name, capsys):
    with pytest.raises(SystemExit) as stop:
        build_parser().parse_args([name, "--help"])
    assert stop.value.code == 0
    assert "usage" in capsys.readouterr().out


def test_a_run_writes_table_and_manifest_and_stands_on_the_ledger(folder, capsys):
    assert synth(folder, "--seed", "3", "--dataset", "clinic") == 0
    lines = (folder / "out.csv").read_text().splitlines()
    manifest = json.loads((folder / "m.json").read_text())
    assert lines[0] == "sex,age"
    assert len(lines) - 1 == manifest["n_records"]
    wanted = {
        "epsilon", "delta", "mu", "rho", "neighbours", "max_records", "method", "n_records", "private", "charges",
        "seed", "versions", "seconds",
    }  # fmt: skip
    assert wanted <= set(manifest)
    assert manifest["private"] is True
    assert manifest["seed"] == 3
    assert "clinic" in json.dumps(spent(folder, capsys))


def test_n_records_and_method_and_settings_reach_the_run(folder):
    assert synth(folder, "--n-records", "17", "--method", "independent") == 0
    assert len((folder / "out.csv").read_text().splitlines()) == 18


WRONG = {
    "epsilon zero": {"epsilon": "0"},
    "epsilon negative": {"epsilon": "-1"},
    "epsilon NaN": {"epsilon": "nan"},
    "epsilon infinite": {"epsilon": "inf"},
    "delta negative": {"delta": "-1e-9"},
    "delta one": {"delta": "1"},
    "delta NaN": {"delta": "nan"},
    "no such table": {"table": "missing.csv"},
    "no such schema": {"schema": "missing.json"},
    "unknown ending": {"out": "out.txt"},
    "missing folder": {"out": "nowhere/out.csv"},
}


@pytest.mark.parametrize("case", WRONG)
def test_a_mistake_is_one_sentence_and_costs_nothing(folder, capsys, case):
    status = synth(folder, **WRONG[case])
    error = capsys.readouterr().err
    assert status == 2
    assert error.startswith("dpsyn synth: ")
    assert error.count("\n") == 1
    assert "Traceback" not in error
    assert not (folder / "out.csv").exists()
    assert not (folder / "m.json").exists()
    assert spent(folder, capsys)["datasets"] == []


@pytest.mark.parametrize(
    "extra",
    [
        ("--method", "nonesuch"),
        ("--method", "independent", "--set", "nonesuch=1"),
        ("--set", "nonesense"),
        ("--n-records=-1",),
        ("--seed=-1",),
    ],
)
def test_an_unknown_method_setting_or_number_is_refused_before_anything_is_charged(folder, capsys, extra):
    assert synth(folder, *extra) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert spent(folder, capsys)["datasets"] == []


@pytest.mark.parametrize("missing", [["--epsilon", "1"], []])
def test_missing_arguments_are_one_sentence_with_status_2(folder, capsys, missing):
    with pytest.raises(SystemExit) as stop:
        main(["noise", *missing])
    assert stop.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


TABLES = {
    "column the table lacks": "sex,height\nF,1\n",
    "blank header": "sex,\nF,1\n",
    "empty table": "",
}
MISFITS = {
    "ragged row": "sex,age\nF,1,2\n",
    "duplicate header": "sex,age,sex\nF,1,M\n",
    "value outside the domain": "sex,age\nX_SECRET,31\n",
    "header only": "sex,age\n",
}


@pytest.mark.parametrize("case", MISFITS)
def test_whether_a_run_happens_does_not_depend_on_its_records(folder, capsys, case):
    (folder / "odd.csv").write_text(MISFITS[case])
    assert synth(folder, table="odd.csv") == 0
    assert "X_SECRET" not in capsys.readouterr().err + (folder / "out.csv").read_text()
    assert len(spent(folder, capsys)["datasets"]) == 1


@pytest.mark.parametrize("case", [*TABLES, *MISFITS])
def test_a_bad_table_is_refused_before_anything_is_charged_and_no_value_is_shown(folder, capsys, case):
    (folder / "bad.csv").write_text((TABLES | MISFITS)[case])
    assert synth(folder, *(["--strict"] if case in MISFITS else []), table="bad.csv") == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "X_SECRET" not in error
    assert spent(folder, capsys)["datasets"] == []
    left = sorted(p.name for p in folder.iterdir() if p.suffix in {".csv", ".json"})
    assert left == ["bad.csv", "schema.json", "table.csv"]


def test_a_schema_with_a_repeated_value_is_refused(folder, capsys):
    document = json.loads(json.dumps(SCHEMA))
    document["attributes"][0]["values"] = ["F", "F"]
    (folder / "schema.json").write_text(json.dumps(document))
    assert synth(folder) == 2
    assert "sex" in capsys.readouterr().err


def test_a_schema_read_from_the_data_stamps_the_run_not_private(folder, capsys):
    document = json.loads(json.dumps(SCHEMA))
    document["attributes"][1]["source"] = "data"
    (folder / "schema.json").write_text(json.dumps(document))
    assert synth(folder) == 0
    assert "NOT PRIVATE" in capsys.readouterr().err
    assert (folder / "out.NOT-PRIVATE.csv").exists()
    assert not (folder / "out.csv").exists()
    manifest = json.loads((folder / "m.json").read_text())
    assert manifest["private"] is False
    assert "age" in manifest["not_private_because"][0]


def test_pure_dp_runs_with_delta_zero(folder):
    assert synth(folder, delta="0", epsilon="2") == 0
    manifest = json.loads((folder / "m.json").read_text())
    assert {c["mechanism"] for c in manifest["charges"]} == {"geometric"}


def test_inputs_are_never_overwritten(folder):
    assert synth(folder, out="table.csv") == 2
    assert (folder / "table.csv").read_text() == ROWS


def test_the_same_seed_does_not_repeat_the_noise(folder):
    assert synth(folder, "--seed", "1") == 0
    first = (folder / "out.csv").read_text()
    assert synth(folder, "--seed", "1") == 0
    assert (folder / "out.csv").read_text() != first


def test_an_internal_fault_is_one_calm_sentence_without_values(folder, capsys, monkeypatch):
    def broken(*_args, **_kwargs):
        raise KeyError("X_SECRET")

    monkeypatch.setattr("dpsyn_core.measure.sources.memory.MemoryCounter", broken)
    assert synth(folder) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "X_SECRET" not in error


def test_the_sample_and_its_next_step_work(folder):
    assert main(["sample", str(folder / "demo")]) == 0
    assert {p.name for p in (folder / "demo").iterdir()} == {"sample.csv", "sample.schema.json"}
    assert (
        main(["schema", "check", str(folder / "demo" / "sample.schema.json"), str(folder / "demo" / "sample.csv")]) == 0
    )


def test_a_drafted_schema_is_marked_until_it_is_confirmed(folder):
    out = folder / "draft.json"
    assert main(["schema", "draft", str(folder / "table.csv"), "-o", str(out)]) == 0
    document = json.loads(out.read_text())
    assert {a["source"] for a in document["attributes"]} == {"data"}


def test_the_module_runs_as_a_program():
    done = subprocess.run(
        [sys.executable, "-m", "dpsyn_core.commands.cli", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("dpsyn ")
    assert Path(sys.executable).exists()
    assert os.linesep in done.stdout


def test_a_bought_schema_is_paid_for_and_its_run_is_private(folder, capsys):
    (folder / "many.csv").write_text("sex,age\n" + "F,31\nM,42\nF,7\nM,88\n" * 500)
    out = folder / "bought.json"
    price = ["--epsilon", "2", "--delta", "1e-6", "--dataset", "clinic"]
    many = str(folder / "many.csv")
    assert (
        main(["schema", "draft", many, "--buy", "sex=categorical", "--buy", "age=integer:5", *price, "-o", str(out)])
        == 0
    )
    document = json.loads(out.read_text())
    assert {a["source"] for a in document["attributes"]} == {"bought"}
    assert document["bought"]
    assert synth(folder, "--dataset", "clinic", table="many.csv", schema="bought.json") == 0
    manifest = json.loads((folder / "m.json").read_text())
    assert manifest["private"] is True
    assert len(manifest["bought"]) == len(document["bought"])
    listed = spent(folder, capsys)["datasets"][0]
    assert [e["purpose"] for e in listed["entries"]] == ["schema", "synthesis"]
    assert listed["epsilon"] > 2


@pytest.mark.parametrize("extra", [(), ("--epsilon", "1"), ("--epsilon", "1", "--delta", "0")])
def test_buying_without_a_price_is_refused(folder, capsys, extra):
    command = [
        "schema",
        "draft",
        str(folder / "table.csv"),
        "--buy",
        "sex=categorical",
        *extra,
        "-o",
        str(folder / "b.json"),
    ]
    assert main(command) == 2
    assert not (folder / "b.json").exists()
    assert spent(folder, capsys)["datasets"] == []


def test_a_table_that_cannot_be_written_takes_its_manifest_with_it(folder, monkeypatch, capsys):
    from dpsyn_core.errors import OutputError

    def full(*_args):
        raise OutputError("'out.csv' cannot be written (No space left on device); free some space")

    monkeypatch.setattr("dpsyn_core.tables.write._write_text", full)
    assert synth(folder) == 2
    assert not (folder / "m.json").exists()
    assert len(spent(folder, capsys)["datasets"][0]["entries"]) == 1


def test_a_limit_stops_the_run_that_would_pass_it_and_the_ledger_says_what_is_left(folder, capsys):
    assert main(["ledger", "--dataset", "clinic", "--limit", "1.2", "--delta", "1e-6"]) == 0
    assert synth(folder, "--dataset", "clinic") == 0
    assert synth(folder, "--dataset", "clinic") == 2
    assert "clinic" in capsys.readouterr().err
    assert main(["ledger", "--dataset", "clinic"]) == 0
    assert "left of 1.2" in capsys.readouterr().out


def test_the_released_marginals_make_a_report_that_reads_no_private_data(folder):
    kept = folder / "m.json.gz"
    assert synth(folder, "--measurements", str(kept)) == 0
    report = folder / "report.json"
    files = ["--schema", str(folder / "schema.json"), "--measurements", str(kept), "--json", str(report), "--quiet"]
    assert main(["report", "-", str(folder / "out.csv"), *files]) == 0
    assert json.loads(report.read_text())["reads_private"] is False


def test_the_output_keeps_the_order_of_the_tables_columns(folder):
    (folder / "turned.csv").write_text("age,sex\n" + "31,F\n42,M\n" * 50)
    assert synth(folder, table="turned.csv") == 0
    assert (folder / "out.csv").read_text().splitlines()[0] == "age,sex"


def test_python_takes_a_schema_or_its_path_and_gives_back_the_kind_of_frame(folder):
    import polars as pl

    from dpsyn_core import Schema, synthesize

    people = pl.DataFrame({"sex": ["F", "M"] * 100, "age": [31, 42] * 100})
    for schema in (folder / "schema.json", Schema.load(folder / "schema.json")):
        made = synthesize(people, schema, epsilon=1.0, delta=1e-6, rng=3)
        assert isinstance(made.table, pl.DataFrame)
        assert made.table.columns == ["sex", "age"]
        assert made.manifest.seed == 3


def test_a_warning_of_the_engine_is_one_sentence_of_the_command_and_those_of_others_stay(monkeypatch, capsys):
    import warnings

    from dpsyn_core.commands import cli, methods
    from dpsyn_core.errors import AgreementWarning

    def warned(_):
        warnings.warn("released tables still differ", AgreementWarning, stacklevel=1)
        warnings.warn("not ours", RuntimeWarning, stacklevel=1)

    monkeypatch.setattr(methods, "run", warned)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        monkeypatch.setattr(warnings, "showwarning", lambda message, *_: print(f"another: {message}"))
        assert cli.main(["methods"]) == 0
    got = capsys.readouterr()
    assert got.err == "dpsyn methods: warning: released tables still differ\n"
    assert got.out == "another: not ours\n"


def test_a_command_that_was_renamed_says_where_to_go_with_and_without_arguments(capsys):
    for words in (["grid"], ["epsilon", "--schema", "s.json"]):
        assert main(words) == 2
        assert capsys.readouterr().err == f"dpsyn {words[0]}: {RENAMED[words[0]]}\n"
