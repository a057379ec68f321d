"""Projects: saved without a private record, opened on another server, and refused where they are something else."""

import io
import zipfile

import pytest

from dpsyn_core.errors import DPSynError
from tests.app_driver import space_of, uploaded
from ui.data import projects
from ui.data.projects import open_project, save
from ui.shared.state import Workspace, jobs, workspaces
from ui.synthesize.starting import start

RAW = b"age,vote\n" + b"".join(b"%d,%s\n" % (18 + i % 50, (b"yes", b"no")[i % 2]) for i in range(300))


def finished(app):
    """A visitor with a run that is done, and their workspace."""
    uploaded(app, name="votes.csv", raw=RAW)
    space = space_of(app)
    from dpsyn_core.schema.drafting import confirm

    space.schema = confirm(space.schema)
    space.choices.method = "independent"
    job = start(space)
    job.process.wait(120)
    assert job.state == "done", job.failure()
    return space


@pytest.mark.slow
def test_a_project_holds_no_private_record_and_brings_everything_back_elsewhere(app):
    space = finished(app)
    raw = save(space)
    names = zipfile.ZipFile(io.BytesIO(raw)).namelist()
    assert "table.parquet" not in names and "schema.json" in names
    assert {n.rsplit("/")[-1] for n in names if n.startswith("runs/0/")} == {
        "synthetic.parquet", "manifest.json", "measurements.json.gz", "schema.json"}  # fmt: skip
    other = workspaces().find("somebody else")
    said = open_project(other, raw)
    assert "1 runs, and the schema of votes.csv" in said and "Load the table votes.csv" in said
    [run] = jobs().of("somebody else")
    assert (run.state, run.label, run.seconds()) == ("done", "independent, epsilon 1", 0.0)
    assert other.choices.method == "independent"
    assert open_project(other, raw) and len(jobs().of("somebody else")) == 1, "a run that is here is not doubled"
    whole = save(space, whole=True)
    third = workspaces().find("a third")
    open_project(third, whole)
    assert third.dataset.table.num_rows == 300
    assert third.schema["age"].source == "public"
    assert jobs().of("a third")[0].public["serial"] == third.dataset.serial, "its runs can be compared at once"


def test_what_was_read_from_the_data_stays_out_of_a_project(app):
    uploaded(app, name="votes.csv", raw=RAW)
    assert zipfile.ZipFile(io.BytesIO(save(space_of(app)))).namelist() == ["project.json"]


def packed(**entries):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name.replace("__", "."), content)
    return out.getvalue()


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        (b"no zip", "no project"),
        (packed(readme="x"), "no project"),
        (packed(project__json='{"dataset": "a", "ledger": "a", "runs": [{}]}'), "no project"),
        (packed(project__json='{"dataset": "a", "ledger": "a"}', schema__json="{}"), "version is required"),
        (packed(project__json='{"dataset": "a", "ledger": "a"}', table__parquet=b"0" * (2 << 20)), "more than 1 MB"),
    ],
)
def test_a_file_that_is_no_project_is_refused_and_changes_nothing(raw, sentence, monkeypatch):
    monkeypatch.setattr(projects, "MOST", 1 << 20)
    space = Workspace("me")
    with pytest.raises(DPSynError, match=sentence):
        open_project(space, raw)
    assert space == Workspace("me", seen=space.seen)
