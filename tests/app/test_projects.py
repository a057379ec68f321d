"""Projects: saved without a private record, opened on another server, and refused where they are something else."""

import io
import json
import zipfile

import pytest

from dpsyn_core.errors import DPSynError
from dpsyn_core.runs.jobs.folder import MANIFEST, MEASUREMENTS, SCHEMA, SYNTHETIC
from dpsyn_core.runs.jobs.spec import JobSpec
from tests.app.hostile_files import archive
from tests.app_driver import at_page, space_of, uploaded, words
from ui.data import project_files
from ui.data.projects import open_project, save
from ui.shared import results
from ui.shared.state import Workspace, jobs, workspaces
from ui.synthesize.starting import start

RAW = b"age,vote\n" + b"".join(b"%d,%s\n" % (18 + i % 50, (b"yes", b"no")[i % 2]) for i in range(300))


def finished(app):
    """A visitor with a run that is done, and their workspace."""
    uploaded(app, name="votes.csv", raw=RAW)
    space = space_of(app)
    from dpsyn_core.schema.drafts.confirmation import confirm

    space.schema = confirm(space.schema, everything=True)
    space.choices.method = "independent"
    job = start(space)
    job.process.wait(300)
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
    assert "1 runs, and the schema of votes.csv" in said and "load votes.csv on the Data page" in said
    [run] = jobs().of("somebody else")
    assert (run.state, run.label, run.seconds()) == ("done", "independent, epsilon 1", 0.0)
    assert all(one.publishable for one in results.receipts(other, run).values()), (
        "its file was written anew, and its manifest names that one"
    )
    assert other.choices.method == "independent"
    assert open_project(other, raw) and len(jobs().of("somebody else")) == 1, "a run that is here is not doubled"
    whole = save(space, whole=True)
    third = workspaces().find("a third")
    open_project(third, whole)
    assert third.dataset.table.num_rows == 300
    assert third.schema["age"].source == "public"
    [run] = jobs().of("a third")
    assert results.same_table(third, run), "its runs can be compared at once"
    assert not results.stale(third, run, run.spec), "neither table nor schema nor settings have changed"
    [mine] = jobs().of(space.owner)
    jobs().remove(mine.id, space.owner)
    assert "on the Data page" not in open_project(space, raw)
    [again] = jobs().of(space.owner)
    assert again.id != mine.id and results.same_table(space, again), "the server that made the run knows its table"


def run_from(space, serial, n):
    """A finished run of a private manifest, made from the table of this name; its released files are empty."""
    manifest = json.dumps({"private": True, "n": n}).encode()
    files = {MANIFEST: manifest, SCHEMA: b"{}", SYNTHETIC: b"", MEASUREMENTS: b""}
    spec = JobSpec(query_vouched=False, epsilon=1, delta=1e-9, method="independent", seed=1, dataset="votes")
    return jobs().adopt(space.owner, spec, files, label="r", fingerprint="of this run", public={"serial": serial})


@pytest.mark.slow
def test_a_project_does_not_tell_whether_two_runs_came_from_the_same_content(app):
    uploaded(app, name="votes.csv", raw=RAW)
    space = space_of(app)
    serial = space.dataset.serial
    same = [run_from(space, serial, n) for n in range(2)]
    other = run_from(space, "another table", 2)
    assert [results.same_table(space, j) for j in (*same, other)] == [True, True, False]
    archive = zipfile.ZipFile(io.BytesIO(save(space)))
    text = archive.read("project.json").decode()
    runs = json.loads(text)["runs"]
    assert len({r["table"] for r in runs}) == len({r["salt"] for r in runs}) == 3, "every run has a mark of its own"
    assert serial not in text and "of this run" not in text and not any(r["own"] for r in runs)
    assert {i.date_time for i in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}, "no entry tells when it was written"
    again = json.loads(zipfile.ZipFile(io.BytesIO(save(space))).read("project.json"))["runs"]
    assert not {r["salt"] for r in again} & {r["salt"] for r in runs}, "salts are drawn anew"


def test_a_run_from_a_project_is_known_by_its_table_and_keeps_its_mark(app):
    uploaded(app, name="votes.csv", raw=RAW)
    space = space_of(app)
    run_from(space, space.dataset.serial, 0)
    [noted] = json.loads(zipfile.ZipFile(io.BytesIO(save(space))).read("project.json"))["runs"]
    [run] = jobs().of(space.owner)
    jobs().remove(run.id, space.owner)
    brought = run_from(space, noted["table"], 0)
    brought.public["salt"] = noted["salt"]
    assert results.same_table(space, brought)
    [second] = json.loads(zipfile.ZipFile(io.BytesIO(save(space))).read("project.json"))["runs"]
    assert (second["salt"], second["table"]) == (noted["salt"], noted["table"])
    space.dataset.serial = "another"
    assert not results.same_table(space, brought)


def test_a_run_is_renamed_on_the_page(app):
    at_page(app, "synthesize")
    job = run_from(space_of(app), "a table", 0)
    app.run()
    app.text_input(key=f"list.name.{job.id}").set_value("before the <b>merger</b>")
    next(b for b in app.button if b.label == "Save the name").click().run()
    assert not app.exception and job.label == "before the <b>merger</b>"
    assert "before the &lt;b&gt;merger&lt;/b&gt;" in words(app)


def test_a_project_brings_its_settings_to_fields_that_were_used_before(app):
    at_page(app, "synthesize")
    app.selectbox(key="method").set_value("independent").run()
    app.number_input(key="seed").set_value(77).run()
    at_page(app, "data")
    raw = archive(project__json='{"dataset": "a", "ledger": "a", "method": "dpsyn", "seed": 5, "n_records": 9}')
    app.file_uploader(key="project_open").set_value(("a.zip", raw, "application/zip")).run()
    assert not app.exception and not app.error
    at_page(app, "synthesize")
    assert (app.selectbox(key="method").value, app.number_input(key="seed").value) == ("dpsyn", 5)
    assert app.number_input(key="n_records").value == 9


def test_what_was_read_from_the_data_stays_out_of_a_project(app):
    uploaded(app, name="votes.csv", raw=RAW)
    assert zipfile.ZipFile(io.BytesIO(save(space_of(app)))).namelist() == ["project.json"]


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        (b"no zip", "no project"),
        (archive(readme="x"), "no project"),
        (archive(project__json='{"dataset": "a", "ledger": "a", "runs": [{}]}'), "no project"),
        (archive(project__json='{"dataset": "a", "ledger": "a"}', schema__json="{}"), "version is required"),
        (archive(project__json='{"dataset": "a", "ledger": "a"}', table__parquet=b"0" * (2 << 20)), "more than 1 MB"),
    ],
)
def test_a_file_that_is_no_project_is_refused_and_changes_nothing(raw, sentence, monkeypatch):
    monkeypatch.setattr(project_files, "MOST", 1 << 20)
    space = Workspace("me")
    with pytest.raises(DPSynError, match=sentence):
        open_project(space, raw)
    assert space == Workspace("me", seen=space.seen)
