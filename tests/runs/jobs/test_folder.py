"""The folder of a job: what a worker reads there and what it leaves, whole files and no private value."""

import json

import pytest

from dpsyn_core.errors import InputError
from dpsyn_core.runs.jobs import folder
from dpsyn_core.runs.jobs.folder import ERROR, PROGRESS, Reporter


def test_a_fault_is_logged_without_its_message(tmp_path):
    def fail():
        message = "the private value 4711"
        raise ValueError(message)

    try:
        fail()
    except ValueError as error:
        folder.leave_fault(tmp_path, type(error), error.__traceback__)
    everything = "".join(p.read_text() for p in tmp_path.iterdir())
    assert "4711" not in everything
    assert "ValueError" in everything
    assert "test_folder.py" in everything
    assert json.loads((tmp_path / ERROR).read_text())["message"] == folder.RUN_FAULT


def test_a_job_file_that_is_missing_or_wrong_names_its_field(tmp_path):
    with pytest.raises(InputError, match=r"job\.json"):
        folder.load_spec(tmp_path)
    (tmp_path / "job.json").write_text(json.dumps({"version": 1, "epsilon": "much"}))
    with pytest.raises(InputError, match="epsilon"):
        folder.load_spec(tmp_path)


def test_progress_is_always_whole_and_its_curve_stays_short(tmp_path, monkeypatch):
    monkeypatch.setattr(folder, "SPACING", 0.0)
    report = Reporter(tmp_path)
    for i in range(1000):
        report("fitting", i, 1000, 1.0 / (1 + i))
        seen = json.loads((tmp_path / PROGRESS).read_text())
    assert seen["stage"] == "fitting"
    assert seen["passed"] == ["starting"]
    assert len(seen["curve"]) <= folder.CURVE_POINTS
    assert seen["curve"][0][1] == 1.0
    assert [p.name for p in tmp_path.iterdir()] == [PROGRESS]


def test_a_worker_whose_app_is_gone_ends(tmp_path, monkeypatch):
    report = Reporter(tmp_path)
    monkeypatch.setattr("dpsyn_core.runs.jobs.folder.orphaned", lambda _: True)
    with pytest.raises(SystemExit):
        report("fitting", 0, 1)
