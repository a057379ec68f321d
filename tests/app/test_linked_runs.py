"""Runs of linked tables from the pages: progress, cancel, report, every file that is handed out, what stays private."""

import base64
import contextlib
import io
import json
import sqlite3
import subprocess
import sys
import time
import zipfile

import numpy as np
import openpyxl
import pyarrow.csv as pacsv
import pytest

from dpsyn_core.errors import DPSynError
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.runs.trees.keys import check_keys
from dpsyn_core.schema.drafts.confirmation import confirm
from dpsyn_core.schema.linked import LinkedSchema
from tests.app.linked_tables import PATIENTS, VISITS, linked, with_files, with_panel
from tests.app.test_jobs import ended
from tests.app_driver import at_page, explored, plots, space_of, words
from ui.data.projects import open_project, save
from ui.export import files
from ui.linked import files as trees
from ui.questions import kept
from ui.shared import results
from ui.shared.state import jobs, workspaces
from ui.synthesize.starting import start

CROWD = b"patient_id,nr,ward\n" + b"".join(b"%d,%d,%s\n" % (i % 3 and 7, 1 + i % 9, b"A") for i in range(10_000))


def confirmed(app):
    """Everything that was read from the tables is confirmed as known, and who is one individual is said."""
    linked(app).decided = True
    for part in linked(app).parts.values():
        part.schema = confirm(part.schema, everything=True)


def made(app):
    """A run of what is loaded, from its start to its end."""
    job = ended(start(space_of(app)))
    assert job.state == "done", job.failure()
    return job


def rows(tables):
    """The cells of tables by name, however their columns are kept."""
    return {name: table.to_pylist() for name, table in tables.items()}


@pytest.fixture
def hospital(app):
    """The app after a run of patients and visits."""
    with_files(app, patients=PATIENTS, visits=VISITS)
    confirmed(app)
    linked(app).links["visits"].max_children = 3
    app.job = made(app)
    app.session_state["open_run"] = app.job.id
    return app


def test_a_run_is_reported_by_link_and_by_table_and_handed_out_in_every_format(hospital, tmp_path):
    app, job, space = hospital, hospital.job, space_of(hospital)
    assert not list(job.folder.glob("table-*.parquet")), "no private table is left in the folder"
    at_page(app, "data")
    assert "Keys hold" in words(app) and not app.error and not app.exception
    at_page(app, "report")
    assert not app.exception and not app.error
    assert "patients and visits" in words(app) and "visits handed out by chance" in words(app)
    app.segmented_control(key=f"report_table_overview_{job.id}").set_value("visits").run()
    assert not app.exception and not app.error and "ood for" in words(app)
    for one in ("pairs", "columns", "groups", "queries", "learning", "released"):
        if one == "released":
            app.segmented_control(key="report_view_links").set_value(one).run()
            assert not app.exception and not app.error, one
            break
        explored(app, one, links=True)
        app.segmented_control(key=f"report_table_explore_{job.id}").set_value("visits").run()
        assert not app.exception and not app.error, one
    assert "Tables and schema are those of the manifest" in words(app)
    assert "reads private data" not in words(app), "nothing private stands among what may be published"
    at_page(app, "export")
    assert not app.exception and not app.error
    _folder(space, job, tmp_path)
    _databases(space, job, tmp_path)
    book = openpyxl.load_workbook(io.BytesIO(files.table_bytes(space, job, "xlsx")))
    assert book.sheetnames == ["patients", "visits"]
    bundle = zipfile.ZipFile(io.BytesIO(files.bundle(space, job)))
    assert {"patients.csv", "visits.csv", "manifest.json", "certificate.txt", "schema.json", "run.py", "run.sh",
            "README.txt", "report.html"} <= set(bundle.namelist())  # fmt: skip
    compile(bundle.read("run.py"), "run.py", "exec")
    assert len(Ledger().entries(linked(app).ledger)) == 1


def test_the_overview_of_linked_tables_draws_a_column_what_ties_two_tables_and_numbers_of_children(hospital):
    app = at_page(hospital, "report")
    column, pair, children = plots(app)
    assert [trace["name"] for trace in column["data"]] == ["real", "synthetic"]
    assert [trace["type"] for trace in pair["data"]] == ["heatmap", "heatmap"]
    assert {pair["layout"]["yaxis"]["title"]["text"]} == {"patients.sex"}
    shares = children["data"][0]
    assert [trace["name"] for trace in children["data"]] == ["real", "synthetic"]
    assert list(shares["x"]) == ["0", "1", "2", "3"], "at most three visits are counted"
    assert _numbers(shares["y"]) == pytest.approx([0, 0, 0.5, 0.5]), "twenty patients have two visits, twenty three"
    said = words(app)
    assert "How much of the relations between tables is kept" in said or "hardly anything to do with each other" in said
    assert "Number of visits of one record of patients is off by" in said
    for jargon in ("total variation", "of a parent"):
        assert jargon not in said, jargon


def test_what_was_released_of_linked_tables_is_named_in_the_language_of_the_page(hospital):
    at_page(hospital, "report")
    hospital.segmented_control(key="report_view_links").set_value("released").run()
    hospital.segmented_control(key="language_field").set_value("de").run()
    names = hospital.dataframe[0].value.iloc[:, 0].tolist()
    assert "Randtabelle patients.sex" in names and "Gesamtzahl" in names
    assert not [n for n in names if n.startswith(("marginal", "total"))]


def _numbers(values):
    """The numbers of a drawn axis, which Plotly may pack."""
    if isinstance(values, dict):
        return np.frombuffer(base64.b64decode(values["bdata"]), dtype=values["dtype"]).tolist()
    return list(values)


def _folder(space, job, tmp_path):
    """The folder's tables hold their keys, and the command proves each file as the release's own."""
    folder = zipfile.ZipFile(io.BytesIO(files.table_bytes(space, job, "zip")))
    folder.extractall(tmp_path)
    schema = LinkedSchema.load(job.folder / "schema.json")
    schema.dump(tmp_path / "schema.json")
    tables = {n: pacsv.read_csv(tmp_path / f"{n}.csv") for n in ("patients", "visits")}
    (keys,) = check_keys(schema, tables)
    assert keys.hold and keys.most <= 3 and keys.children == tables["visits"].num_rows
    for name in tables:
        verify = ["verify", str(tmp_path / f"{name}.csv"), "--manifest", str(tmp_path / "manifest.json"), "--schema",
                  str(tmp_path / "schema.json"), "--publishable"]  # fmt: skip
        command = [sys.executable, "-m", "dpsyn_core.commands.cli", *verify]
        got = subprocess.run(command, capture_output=True, text=True, check=False)
        assert got.returncode == 0 and "byte for byte" in got.stdout, got.stderr


def _databases(space, job, tmp_path):
    """Both databases declare keys, and every foreign key has its parent."""
    path = tmp_path / "t.sqlite"
    path.write_bytes(files.table_bytes(space, job, "sqlite"))
    with contextlib.closing(sqlite3.connect(path)) as database:
        assert database.execute("PRAGMA foreign_key_list(visits)").fetchone()[2] == "patients"
        assert database.execute("PRAGMA foreign_key_check").fetchall() == []
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "t.duckdb"
    path.write_bytes(files.table_bytes(space, job, "duckdb"))
    with contextlib.closing(duckdb.connect(str(path), read_only=True)) as database:
        kinds = {k for (k,) in database.execute("SELECT constraint_type FROM duckdb_constraints()").fetchall()}
    assert {"FOREIGN KEY", "PRIMARY KEY"} <= kinds


def test_a_schema_that_was_read_from_the_tables_is_handed_out_under_a_name_that_says_so(app):
    with_files(app, patients=PATIENTS, visits=VISITS)
    job, space = made(app), space_of(app)
    at_page(app, "export")
    assert not app.exception and "do not share it before each entry is confirmed" in words(app)
    bundle = zipfile.ZipFile(io.BytesIO(files.bundle(space, job)))
    assert "schema.NOT-PRIVATE.json" in bundle.namelist() and "schema.json" not in bundle.namelist()
    for name in ("run.sh", "run.py"):
        text = bundle.read(name).decode()
        assert "schema.NOT-PRIVATE.json" in text and "schema.json" not in text, name


def test_the_report_of_linked_tables_is_one_file_and_private_only_for_the_owner(hospital):
    space, job = space_of(hospital), hospital.job
    public, private = (files.html(space, job, private=p) for p in (False, True))
    assert "safe to publish" in public and "handed out by chance" not in public
    assert "reads private data" in private and "handed out by chance" in private
    assert "default-src 'none'" in public, "the file asks no other machine"


def test_safe_mode_shows_what_may_be_published_alone(hospital):
    hospital.toggle(key="safe").set_value(True).run()
    at_page(hospital, "report")
    assert "handed out by chance" not in words(hospital) and "Keys hold" in words(hospital)
    assert not hospital.exception


def test_a_changed_limit_makes_the_run_one_of_another_schema(hospital):
    linked(hospital).links["visits"].max_children = 2
    at_page(hospital, "data")
    assert "Settings changed since this run." in words(hospital)


def test_tables_that_were_here_before_find_their_schema_and_run_again(hospital):
    limit = linked(hospital).links["visits"].max_children
    hospital.button(key="linked_sample").click().run()
    assert linked(hospital).sample
    given = [("patients.csv", PATIENTS, "text/csv"), ("visits.csv", VISITS, "text/csv"), ("x.csv", b"", "text/csv")]
    hospital.file_uploader(key="linked_upload").set_value(given).run()
    hospital.file_uploader(key="linked_upload").set_value(given[:2]).run()
    assert linked(hospital).links["visits"].max_children == limit and not linked(hospital).schema().reasons
    assert "Result of" in words(hospital)


def test_ten_thousand_children_of_one_parent_and_a_limit_of_one(app):
    with_files(app, patients=PATIENTS, visits=CROWD)
    confirmed(app)
    linked(app).links["visits"].max_children = 1
    job = made(app)
    (keys,) = check_keys(results.tree(space_of(app), job), results.tables(space_of(app), job))
    assert keys.hold and keys.most <= 1


def test_a_panel_runs_and_leaves_as_the_one_file_that_it_was(app, tmp_path):
    with_panel(app)
    panel = linked(app).panel
    panel.person, panel.wave, panel.constant, panel.most = "person", "year", ("sex",), 3
    part = linked(app).parts["waves"]
    part.schema = confirm(part.schema, everything=True)
    job, space = made(app), space_of(app)
    (table,) = results.tables(space, job).values()
    assert table.column_names == ["person", "year", "sex", "job"]
    for page in ("data", "report", "export"):
        at_page(app, page)
        assert not app.exception and not app.error, page
    assert files.endings(space, job)[0] == "csv"
    rows = pacsv.read_csv(io.BytesIO(files.table_bytes(space, job, "csv")))
    sexes = rows.group_by("person").aggregate([("sex", "count_distinct"), ("year", "count")])
    assert max(sexes["sex_count_distinct"].to_pylist()) == 1 and max(sexes["year_count"].to_pylist()) <= 3
    text = json.loads(files.manifest_text(space, job))
    assert text["digests"]["files"]["csv"]
    assert "YOUR_TABLE.csv" in files.command(space, job)


def test_a_cancelled_run_leaves_no_private_table_and_keeps_its_place_in_the_list(app, monkeypatch):
    from tests.app.test_jobs import sleeping

    sleeping(monkeypatch)
    with_files(app, patients=PATIENTS, visits=VISITS)
    confirmed(app)
    job = start(space_of(app))
    deadline = time.monotonic() + 300
    while job.state == "queued" and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(list(job.folder.glob("table-*.parquet"))) == 2
    jobs().cancel(job.id, space_of(app).owner)
    assert job.state == "cancelled" and not list(job.folder.glob("table-*.parquet"))
    at_page(app, "synthesize")
    assert "cancelled" in words(app) and not app.exception


def test_another_visitor_finds_neither_tables_nor_runs(hospital):
    assert workspaces().find("b" * 64).linked is None and jobs().of("b" * 64) == []
    owner = space_of(hospital).owner
    assert not [p.name for p in hospital.job.folder.iterdir() if owner.encode() in p.read_bytes()]


@pytest.mark.slow
def test_two_runs_of_linked_tables_stand_side_by_side(hospital):
    first, second = hospital.job, made(hospital)
    hospital.session_state["open_run"] = first.id
    at_page(hospital, "synthesize").toggle(key="several_open").set_value(True).run()
    assert not hospital.exception and "Every run was charged" in words(hospital)
    assert not hospital.error and not [c for c in hospital.segmented_control if c.key == "several_which"], (
        "one has pairs"
    )
    explored(at_page(hospital, "report"), "columns", links=True)
    hospital.segmented_control(key=f"report_table_explore_{first.id}").set_value("visits").run()
    next(s for s in hospital.selectbox if s.key and s.key.startswith("second_")).set_value(second.id).run()
    for view in ("columns", "pairs", "groups", "queries", "learning"):
        explored(hospital, view, links=True)
        assert not hospital.exception and not hospital.error, view
    explored(hospital, "columns", links=True)
    assert f"B: {second.label}" in words(hospital) or any(
        f"B: {second.label}" in str(trace.get("name")) for figure in plots(hospital) for trace in figure["data"]
    )


@pytest.mark.slow
def test_a_project_of_linked_tables_brings_tables_schema_and_runs_to_another_server(hospital):
    space, job = space_of(hospital), hospital.job
    mine = save(space)
    names = zipfile.ZipFile(io.BytesIO(mine)).namelist()
    assert not [n for n in names if n.startswith("table")] and "schema.json" in names
    of_run = {"synthetic-0.parquet", "synthetic-1.parquet", "manifest.json", "measurements.json.gz", "schema.json"}
    assert {n.rpartition("/")[2] for n in names if n.startswith("runs/0/")} == of_run
    other = workspaces().find("somebody else")
    assert "load patients on the Data page" in open_project(other, mine)
    [run] = jobs().of("somebody else")
    assert run.state == "done" and results.holds(other, run), "files are written anew, and the manifest names those"
    assert rows(results.tables(other, run)) == rows(results.tables(space, job))
    assert open_project(other, mine) and len(jobs().of("somebody else")) == 1
    third = workspaces().find("a third")
    open_project(third, save(space, whole=True))
    assert third.linked.declared() == linked(hospital).declared()
    assert rows(third.linked.tables()) == rows(linked(hospital).tables())
    [run] = jobs().of("a third")
    assert results.same_table(third, run) and not results.stale(third, run, run.spec)
    jobs().remove(job.id, space.owner)
    assert "on the Data page" not in open_project(space, mine), "its tables are loaded"


@pytest.mark.slow
def test_answers_about_linked_tables_come_with_a_project_and_a_strangers_are_refused(app):
    with_files(app, patients=PATIENTS, visits=VISITS)
    confirmed(app)
    kept.put(space_of(app), {"about": "visits", "ask": {"name": "wards", "kind": "table", "of": ["ward"]}})
    job, raw = made(app), io.BytesIO(save(space_of(app)))
    other = workspaces().find("somebody else")
    open_project(other, raw.getvalue())
    [run] = jobs().of("somebody else")
    assert trees.answers(other, run) == trees.answers(space_of(app), job)
    bad = io.BytesIO()
    with zipfile.ZipFile(raw) as old, zipfile.ZipFile(bad, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            new.writestr(name, b'[{"question": 5}]' if name.endswith("answers.json") else content)
    with pytest.raises(DPSynError, match="answers of run 1"):
        open_project(workspaces().find("a third"), bad.getvalue())
    assert jobs().of("a third") == []


def test_a_project_of_a_panel_is_a_panel_again(app):
    with_panel(app)
    panel = linked(app).panel
    panel.person, panel.wave, panel.constant, panel.most = "person", "year", ("sex",), 3
    linked(app).decided = True
    other = workspaces().find("somebody else")
    open_project(other, save(space_of(app), whole=True))
    assert other.linked.declared() == linked(app).declared() and other.linked.panel.constant == ("sex",)
    assert rows(other.linked.tables()) == rows(linked(app).tables())
