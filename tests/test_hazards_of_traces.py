"""Hazards of what a run leaves behind: caches, logs, temporary files, error messages."""

import ast
from pathlib import Path

import pyarrow as pa
import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.errors import DPSynError
from dpsyn_core.runs.jobs import folder
from dpsyn_core.schema.codec import Codec
from tests.audit.whole import schema

ROOT = Path(__file__).resolve().parent.parent


def test_a_fault_inside_a_job_leaves_no_private_value_in_log_or_error(tmp_path):
    try:
        raise ValueError("Ada Lovelace has HIV")
    except ValueError as error:
        folder.leave_fault(tmp_path, type(error), error.__traceback__)
    left = "".join(p.read_text() for p in tmp_path.iterdir())
    assert "ValueError" in left
    assert "Ada" not in left
    assert folder.RUN_FAULT in (tmp_path / folder.ERROR).read_text()


def test_the_command_hides_the_message_of_a_fault(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("DPSYN_TRACE", raising=False)
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))

    def fail(*_, **__):
        raise ValueError("Ada Lovelace has HIV")

    monkeypatch.setattr("dpsyn_core.runs.measurement.measure", fail)
    schema().dump(tmp_path / "schema.json")
    (tmp_path / "t.csv").write_text("who,city,age,smokes\np,rome,3,no\n")
    arguments = ["synth", str(tmp_path / "t.csv"), "--schema", str(tmp_path / "schema.json"), "--epsilon", "1"]
    arguments += [
        "--delta",
        "1e-6",
        "--out",
        str(tmp_path / "o.csv"),
        "--manifest",
        str(tmp_path / "m.json"),
        "--quiet",
    ]
    assert main(arguments) == 1
    said = capsys.readouterr()
    assert "Ada" not in said.out + said.err
    assert not (tmp_path / "o.csv").exists()


def test_errors_never_quote_a_cell_of_the_table():
    declared = schema(
        attributes=[
            {"name": "who", "kind": "identifier"},
            {"name": "city", "kind": "categorical", "values": ["rome"]},
        ]
    )
    table = pa.table({"who": ["p1"], "city": ["Ada Lovelace"]})
    with pytest.raises(DPSynError) as refusal:
        Codec(declared).encode(table, strict=True)
    assert "Ada" not in str(refusal.value)
    assert "city" in str(refusal.value)


def test_jobs_live_in_folders_of_their_own_that_only_their_owner_reads():
    text = (ROOT / "ui/shared/jobs.py").read_text(encoding="utf-8")
    assert "mode=0o700" in text
    assert "umask(0o077)" in (ROOT / "dpsyn_core/child.py").read_text(encoding="utf-8")


@pytest.mark.slow
def test_no_function_that_touches_records_is_cached_across_sessions():
    for path in [*(ROOT / "ui").rglob("*.py"), *(ROOT / "pages").glob("*.py")]:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for function in [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]:
            cached = any(
                "cache_data" in ast.dump(d) or "cache_resource" in ast.dump(d) for d in function.decorator_list
            )
            arguments = {a.arg for a in (*function.args.args, *function.args.kwonlyargs)}
            assert not (cached and arguments & {"table", "dataset", "space", "workspace", "frame", "codes"}), (
                f"{path.name}: {function.name} caches private data for everybody"
            )
