"""A table that is too large for the app leaves the same files and the same words as one that the app holds."""

import io
import json
import re
import zipfile
from dataclasses import replace

import pytest

from dpsyn_core.report.takeaways import shell_command
from dpsyn_core.runs import parts
from dpsyn_core.runs.jobs.folder import MANIFEST, MEASUREMENTS, SCHEMA, SYNTHETIC
from tests.app_driver import at_page, space_of, uploaded, words
from tests.runs import test_sizes
from tests.runs.test_sizes import heard, repeatable, table  # noqa: F401 fixtures
from ui.data import loading
from ui.data.projects import save
from ui.export import files
from ui.shared.jobs import Jobs
from ui.shared.state import Dataset, Workspace
from ui.shared.text import t
from ui.synthesize.starting import spec_of

RELEASED = (SYNTHETIC, MANIFEST, MEASUREMENTS, SCHEMA)


def spaces(path):
    """Visitors with the same table: one whose table the app holds, one whose table lies where it is."""
    from tests.tables.reading import read

    held = read(path).table
    for owner, known in (
        ("held", Dataset("people.csv", "people", held, path=str(path), serial="s1")),
        ("large", Dataset("people.csv", "people", held.slice(0, 9), str(path), str(path), held.num_rows, serial="s2")),
    ):
        yield Workspace(owner, known, test_sizes.schema({}))


def in_words(raw):
    """All entries of a project, without what is drawn for it, and without the time of the press."""
    out = {}
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        for name in archive.namelist():
            out[name] = archive.read(name)
        document = json.loads(out["project.json"])
    for run in document["runs"]:
        assert run.pop("salt")
        assert run.pop("table")
        assert run.pop("created")
    return out | {"project.json": document}


def test_a_project_and_the_files_of_a_run_do_not_tell_that_its_table_was_too_large(
    table, tmp_path, monkeypatch, heard  # noqa: F811
):  # fmt: skip
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "app"))
    kept = Jobs(tmp_path / "jobs")
    for module in ("data.projects", "shared.state", "data.loading"):
        monkeypatch.setattr(f"ui.{module}.jobs", lambda: kept)
    left = []
    for space in spaces(table):
        monkeypatch.setenv("DPSYN_HOME", str(tmp_path / space.owner))
        place = tmp_path / f"worker of {space.owner}"
        test_sizes.in_the_app(table, place, "records", heard, copied=space.owner == "held")
        job = kept.adopt(
            space.owner, spec_of(space), {name: (place / name).read_bytes() for name in RELEASED}, label="run",
            fingerprint="f", public={"serial": space.dataset.serial, "dataset": space.dataset.name},
        )  # fmt: skip
        raw = save(space)
        assert str(table).encode() not in b"".join(in_words(raw)[n] for n in in_words(raw) if n != "project.json")
        left.append([
            in_words(raw) | {f"runs/0/{MANIFEST}": None}, files.stem(space, job), files.command(space, job),
            files.endings(space, job), files.certificate(job), files.table_bytes(space, job, "csv"),
        ])  # fmt: skip
    assert left[0] == left[1]
    assert "table" not in left[0][0]["project.json"]["runs"][0]["spec"]


@pytest.mark.parametrize(("limit", "value"), [("LARGEST", "st_size"), ("MOST_CELLS", "cells")])
def test_a_file_is_too_large_for_the_app_from_one_byte_or_cell_on(table, monkeypatch, limit, value):  # noqa: F811
    """The side on which it stands is seen here alone; the tests above say that nothing else shows it."""
    from dpsyn_core.tables.parquet_pages import cells_of

    if limit == "MOST_CELLS" and table.suffix != ".parquet":
        return
    size = table.stat().st_size if value == "st_size" else cells_of(table)
    monkeypatch.setattr(loading, limit, size)
    assert not loading.is_large(table)
    monkeypatch.setattr(loading, limit, size - 1)
    assert loading.is_large(table)


def test_the_command_of_the_export_names_the_memory_only_where_it_makes_another_table(
    table, tmp_path, monkeypatch, heard  # noqa: F811
):  # fmt: skip
    said = []
    for piece in (20, 10**6, 10**9):  # bytes of a value: one piece for both; shards in the app alone; shards for both
        monkeypatch.setenv("DPSYN_HOME", str(tmp_path / f"home{piece}"))
        monkeypatch.setattr(parts, "PIECE_BYTES", piece / 5)
        space = next(iter(spaces(table)))
        place = tmp_path / f"worker{piece}"
        test_sizes.in_the_app(table, place, "records", heard, copied=True, method="independent")
        kept = Jobs(tmp_path / f"jobs{piece}")
        job = kept.adopt(
            space.owner, spec_of(space), {name: (place / name).read_bytes() for name in RELEASED}, label="run",
            fingerprint="f", public={"serial": "s", "dataset": "d"},
        )  # fmt: skip
        said.append(re.findall(r" --memory \d+", shell_command(files.command(space, job))))
    assert said == [[], [" --memory 3221225472"], []]


def test_in_safe_mode_what_a_run_takes_is_forecast_from_public_numbers_wherever_its_table_lies(app, tmp_path):
    raw = b"age,vote\n" + b"40,yes\n41,no\n" * 200
    (tmp_path / "votes.csv").write_bytes(raw)
    uploaded(app, name="votes.csv", raw=raw)
    space = space_of(app)
    space.schema = space.schema.model_copy(update={"n_records": 400})  # public: then it is forecast from
    space.choices.safe = True
    held, shown = space.dataset, []
    part = {"table": held.table.slice(0, 10), "place": str(tmp_path / "votes.csv"), "records": held.table.num_rows}
    for changes in ({}, part):
        space.dataset = replace(held, **changes)
        at_page(app, "synthesize")
        assert not app.exception
        shown.append(re.findall(r"[^>]*<[^>]*>[^<]*" + re.escape(t("synthesize.time")), words(app)))
    assert shown[0]
    assert shown[0] == shown[1]
