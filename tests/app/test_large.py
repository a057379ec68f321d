"""Tables that are too large to hold: pages look at records drawn by chance, runs read all, a cancel leaves nothing."""

import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.progress import silent
from dpsyn_core.runs.jobs.folder import MANIFEST, SYNTHETIC, take_table
from dpsyn_core.runs.jobs.spec import JobSpec
from dpsyn_core.schema.document import Schema
from dpsyn_core.tables.read_form import ReadForm
from tests.app_driver import at_page, space_of, words
from ui.data import loading
from ui.shared.jobs import Jobs
from ui.synthesize import methods, starting

RECORDS, PATIENCE = 6_000, 300.0
SCHEMA = Schema.of({
    "version": 1, "name": "parts", "attributes": [
        {"name": "a", "kind": "categorical", "values": ["x", "y", "z"]},
        {"name": "b", "kind": "numeric", "dtype": "integer", "min": 0, "max": 99},
    ],
})  # fmt: skip


@pytest.fixture
def parts(tmp_path, monkeypatch):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DPSYN_SCRATCH", str(tmp_path / "scratch"))
    rng, folder = np.random.default_rng(0), tmp_path / "parts"
    folder.mkdir()
    for i in range(3):
        n = RECORDS // 3
        part = pa.table({"a": rng.choice(["x", "y", "z"], n), "b": rng.integers(0, 100, n)})
        pq.write_table(part, folder / f"{i}.parquet")
    return folder


def job_on(folder, tmp_path, **more):
    spec = JobSpec(
        query_vouched=False,
        table=str(folder),
        epsilon=1.0,
        delta=1e-6,
        method="independent",
        seed=1,
        dataset="parts",
        **more,
    )
    kept = Jobs(tmp_path / "jobs")
    return kept, kept.start("me", spec, SCHEMA, None, label="run", fingerprint="f")


def by_path(app, place):
    app.run()
    app.segmented_control(key="data_way").set_value("path").run()
    app.text_input(key="path").set_value(str(place))
    next(b for b in app.button if b.label == "Load the file").click().run()
    assert not app.error, app.error[0].value


def until(held):
    """Waits for a state, never for a time; the limit only ends a test that would hang."""
    end = time.monotonic() + PATIENCE
    while not held():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.slow
def test_pages_show_some_records_of_a_folder_and_count_all(parts, monkeypatch, app):
    monkeypatch.setattr(loading, "LOOKED", 400)
    by_path(app, parts)
    data = space_of(app).dataset
    assert (data.table.num_rows, data.records, data.whole) == (200, RECORDS, None)
    assert "6,000 records, too many to hold here: the pages show 200" in words(app)
    at_page(app, "synthesize")
    assert not app.exception
    assert "about 3" in words(app)  # megabytes
    serial = data.serial
    at_page(app, "data")
    by_path(app, parts)
    assert space_of(app).dataset is not data
    assert space_of(app).dataset.serial == serial


def test_what_is_declared_of_text_does_not_depend_on_its_size_and_holds_for_runs(tmp_path, monkeypatch, app):
    lines = "".join(f"{('Hamar', 'Mossø')[i % 2]};{i}\n" for i in range(200))
    (tmp_path / "people.csv").write_bytes(lines.encode("latin-1"))
    monkeypatch.setattr(loading, "LARGEST", 100)
    monkeypatch.setattr(loading, "LOOKED", 40)
    by_path(app, tmp_path / "people.csv")
    first = space_of(app).dataset
    app.selectbox(key=f"delimiter_{first.serial}").set_value(";")
    app.selectbox(key=f"encoding_{first.serial}").set_value("cp1252")
    app.text_input(key=f"header_{first.serial}").set_value("town;age")
    app.button(key="reread").click().run()
    assert not app.exception and not app.error
    data = space_of(app).dataset
    assert (data.table.column_names, data.records, data.whole) == (["town", "age"], 200, None)
    assert data.serial != first.serial
    assert app.text_input(key=f"header_{data.serial}").value == "town;age"
    monkeypatch.setattr(methods, "chosen", lambda _: "independent")
    spec = starting.spec_of(space_of(app))
    declared = Schema.of({"version": 1, "name": "people", "attributes": [
        {"name": "town", "kind": "categorical", "values": ["Mossø", "Hamar"], "missing": True},
    ]})  # fmt: skip
    with take_table(tmp_path / "job", spec, declared).open(declared, progress=silent) as opened:
        assert opened.counter.marginal(("town",)).tolist() == [100, 100, 0]


def test_headers_below_a_title_and_the_decimal_mark_are_declared_of_a_large_table_and_hold_for_its_runs(
    tmp_path, monkeypatch, app
):
    (tmp_path / "pay.csv").write_text("Pay of 2024\n\ntown;pay\n" + "Oslo;1.500\nBergen;2,5\n" * 100, encoding="utf-8")
    monkeypatch.setattr(loading, "LARGEST", 100)
    monkeypatch.setattr(loading, "LOOKED", 40)
    by_path(app, tmp_path / "pay.csv")
    first = space_of(app).dataset
    app.number_input(key=f"header_row_{first.serial}").set_value(2)
    app.selectbox(key=f"delimiter_{first.serial}").set_value(";")
    app.selectbox(key=f"decimal_{first.serial}").set_value(".")
    app.button(key="reread").click().run()
    assert not app.exception and not app.error
    data = space_of(app).dataset
    assert (data.table.column_names, data.records, data.whole) == (["town", "pay"], 200, None)
    monkeypatch.setattr(methods, "chosen", lambda _: "independent")
    spec = starting.spec_of(space_of(app))
    assert JobSpec.model_validate_json(spec.model_dump_json()) == spec
    declared = Schema.of({"version": 1, "name": "pay", "attributes": [
        {"name": "pay", "kind": "numeric", "dtype": "float", "min": 0, "max": 2, "bins": {"edges": [0, 1, 2]},
         "missing": True},
    ]})  # fmt: skip
    with take_table(tmp_path / "job", spec, declared).open(declared, progress=silent) as opened:
        # with a decimal comma 1.500 would be 1500; with a point 2,5 is no number
        assert opened.counter.marginal(("pay",)).tolist() == [0, 100, 100]


def test_a_job_that_was_written_before_there_was_a_form_is_read_as_it_was(tmp_path):
    (tmp_path / "t.csv").write_bytes("Hamar;1\nMossø;2\n".encode("latin-1"))
    old = JobSpec.model_validate({
        "version": 1, "table": str(tmp_path / "t.csv"), "delimiter": ";", "encoding": "cp1252", "multiline": False,
        "header": "town;n", "epsilon": 1.0, "delta": 1e-6, "method": "independent", "seed": 1, "query_vouched": False,
    })  # fmt: skip
    assert old.form == ReadForm(delimiter=";", encoding="cp1252", header="town;n")
    declared = Schema.of({"version": 1, "name": "t", "attributes": [
        {"name": "town", "kind": "categorical", "values": ["Mossø", "Hamar"]},
    ]})  # fmt: skip
    with take_table(tmp_path / "job", old, declared).open(declared, progress=silent) as opened:
        assert opened.counter.marginal(("town",)).tolist() == [1, 1]


@pytest.mark.slow
def test_a_folder_that_fits_is_a_table_like_any_other(parts, app):
    by_path(app, parts)
    space = space_of(app)
    assert (space.dataset.whole.num_rows, space.dataset.place) == (RECORDS, None)


@pytest.mark.slow
def test_a_run_reads_all_records_where_they_lie_and_leaves_no_codes(parts, tmp_path):
    job = job_on(parts, tmp_path)[1]
    until(lambda: not job.live)
    assert job.state == "done", job.failure()
    manifest = Manifest.load(job.folder / MANIFEST)
    assert abs(manifest.n_records - RECORDS) < 1_000  # deviations of some 50
    assert pq.read_metadata(job.folder / SYNTHETIC).num_rows == manifest.n_records
    assert not [p for p in (tmp_path / "scratch").rglob("*") if p.is_file()]
    assert len(list(parts.iterdir())) == 3


@pytest.mark.slow
def test_a_cancelled_run_on_a_large_output_leaves_neither_codes_nor_a_table(parts, tmp_path):
    kept, job = job_on(parts, tmp_path, n_records=90_000_000)  # minutes of work
    until(lambda: job.progress().get("stage") in ("making records", "decoding", "synthesizing") or not job.live)
    assert job.live, job.failure()
    kept.cancel(job.id, "me")
    assert job.state == "cancelled"
    assert job.process.poll() is not None
    assert not (job.folder / SYNTHETIC).exists()
    assert not [p for p in (tmp_path / "scratch").rglob("*") if p.is_file()]
