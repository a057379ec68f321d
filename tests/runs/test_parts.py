"""Releases in parts: a folder of Parquet files, or one file, whose shards together are one fit."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpsyn_core import synthesize_to
from dpsyn_core.errors import OutputError
from dpsyn_core.estimate.records import shards
from dpsyn_core.measure.sources.memory import MemorySource
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.runs import parts
from dpsyn_core.runs.measurement import measure
from dpsyn_core.runs.parts import PendingRelease
from dpsyn_core.runs.spec import RunSpec
from dpsyn_core.runs.verify.receipts import receipt
from dpsyn_core.runs.writer import Places, write_release
from dpsyn_core.schema.document import Schema
from dpsyn_core.tables.read import read_table

SCHEMA = Schema.of({"version": 1, "name": "t", "attributes": [
    {"name": "a", "kind": "categorical", "values": ["x", "y", "z"]},
    {"name": "b", "kind": "categorical", "values": ["x", "y", "z"]},
    {"name": "c", "kind": "numeric", "dtype": "integer", "min": 0, "max": 99},
]})  # fmt: skip
RECORDS = 4000
SPEC = RunSpec(epsilon=5.0, delta=1e-6, method="rls", seed=1, n_records=RECORDS)
FACTS = SPEC.facts(SCHEMA, query_vouched=False)


@pytest.fixture(scope="module")
def table():
    """Two columns that are equal, and one that is not."""
    rng = np.random.default_rng(0)
    a = pa.array(np.array(["x", "y", "z"])[rng.choice(3, RECORDS, p=[0.6, 0.3, 0.1])])
    return pa.table({"c": rng.integers(0, 100, RECORDS), "a": a, "b": a})


@pytest.fixture(autouse=True)
def small(monkeypatch, tmp_path):
    monkeypatch.setattr(shards, "MOST", 1000)
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))


def made(table, tmp_path, out, *, method="rls", n=RECORDS, **more):
    return synthesize_to(
        table, SCHEMA, out=out, manifest=tmp_path / "m.json", epsilon=5.0, delta=1e-6, rng=1, method=method,
        n_records=n, ledger=Ledger(tmp_path / "ledger.sqlite3"), **more,
    )  # fmt: skip


def agreement(found):
    return float(np.mean(np.array(found.column("a")) == np.array(found.column("b"))))


@pytest.mark.parametrize("method", ["rls", "independent", "dpsyn"])
def test_a_folder_holds_shards_and_its_manifest_proves_each(tmp_path, table, method):
    out = tmp_path / "parts"
    manifest = made(table, tmp_path, f"{out}/", method=method)
    files = sorted(out.iterdir())
    assert [f.name for f in files] == [f"part-{i:05}.parquet" for i in range(1, 5)]
    found = pq.read_table(out)
    assert found.column_names == ["c", "a", "b"]
    assert found.num_rows == manifest.n_records == RECORDS
    assert [p.n_records for p in manifest.digests.parts] == [1000] * 4
    if method != "independent":
        assert agreement(found) > 0.9
    assert receipt(out, tmp_path / "m.json").publishable
    assert "is one part of this manifest" in receipt(files[2], tmp_path / "m.json").sentence
    assert not list(tmp_path.glob(".dpsyn-*"))


def test_the_parts_together_follow_the_released_one_ways(tmp_path, table):
    made(table, tmp_path, f"{tmp_path}/parts/")
    found = np.bincount(pq.read_table(tmp_path / "parts").column("c").to_numpy(), minlength=100)
    true = np.bincount(table.column("c").to_numpy(), minlength=100)
    assert np.abs(found - true).mean() < 6


@pytest.mark.parametrize(("name", "allowed"), [("o.csv", 10), ("o.parquet", 10), ("o.csv", 10**9)])
def test_one_file_may_be_made_in_shards_too(tmp_path, table, monkeypatch, name, allowed):
    monkeypatch.setattr(parts, "ALLOWED", allowed)
    manifest = made(table, tmp_path, tmp_path / name)
    assert read_table(tmp_path / name).num_rows == RECORDS
    assert receipt(tmp_path / name, tmp_path / "m.json").publishable
    assert not manifest.digests.parts


def test_the_same_release_and_seed_make_the_same_parts(tmp_path, table):
    measured = measure(MemorySource(table), SCHEMA, SPEC, facts=FACTS, ledger=Ledger(tmp_path / "ledger.sqlite3"))
    written = []
    for name in ("one", "two"):
        same = PendingRelease(measured=replace(measured, rng=np.random.default_rng(7)))
        write_release(same, Places.of(f"{tmp_path / name}/", tmp_path / f"{name}.json", private=True))
        written.append([f.read_bytes() for f in sorted((tmp_path / name).iterdir())])
    assert written[0] == written[1]


def test_no_records_are_one_part_without_any(tmp_path, table):
    made(table, tmp_path, f"{tmp_path}/parts/", n=0)
    assert [pq.read_table(f).num_rows for f in (tmp_path / "parts").iterdir()] == [0]
    assert receipt(tmp_path / "parts", tmp_path / "m.json").publishable


def test_a_folder_that_was_changed_is_not_that_of_its_manifest(tmp_path, table):
    out = tmp_path / "parts"
    made(table, tmp_path, f"{out}/")
    (out / "more.parquet").write_bytes((out / "part-00001.parquet").read_bytes())
    assert "'more.parquet', which is no part of it" in receipt(out, tmp_path / "m.json").sentence
    (out / "more.parquet").unlink()
    pq.write_table(pq.read_table(out / "part-00002.parquet").slice(1), out / "part-00002.parquet")
    assert "'part-00002.parquet' is no part of the table" in receipt(out, tmp_path / "m.json").sentence
    (out / "part-00002.parquet").unlink()
    assert "lacks 'part-00002.parquet'" in receipt(out, tmp_path / "m.json").sentence


def test_parts_that_others_wrote_again_are_the_same_table_and_not_the_files_of_the_release(tmp_path, table):
    out = tmp_path / "parts"
    made(table, tmp_path, f"{out}/")
    pq.write_table(pq.read_table(out / "part-00002.parquet"), out / "part-00002.parquet", compression="none")
    found = receipt(out, tmp_path / "m.json")
    assert found.holds and not found.publishable
    assert "'part-00002.parquet' is not the file that was written" in found.sentence


def test_a_folder_that_holds_something_is_refused_before_anything_is_spent(tmp_path, table):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "notes.txt").touch()
    with pytest.raises(OutputError, match="not empty"):
        made(table, tmp_path, tmp_path / "parts")
    assert not (tmp_path / "ledger.sqlite3").exists()


class _Stopped(Exception):
    """Somebody pressed Ctrl-C."""


def test_a_run_that_is_stopped_leaves_no_table_and_no_manifest(tmp_path, table):
    def stop(stage, done, *_):
        if stage == "making records" and done == 2:
            raise _Stopped

    with pytest.raises(_Stopped):
        made(table, tmp_path, f"{tmp_path}/parts/", progress=stop)
    left = sorted(p.name for p in tmp_path.iterdir() if p.name != "home")
    assert left == ["ledger.sqlite3"] or set(left) <= {"ledger.sqlite3", "ledger.sqlite3-wal", "ledger.sqlite3-shm"}


def test_the_manifest_times_the_making_of_the_records(tmp_path, table, monkeypatch):
    ticks = iter(range(0, 10**6, 100))
    monkeypatch.setattr("dpsyn_core.runs.measurement.time.perf_counter", lambda: float(next(ticks)))
    before = []

    def note(stage, done, *_):
        if stage == "making records" and done == 4:
            before.append(next(ticks))

    manifest = made(table, tmp_path, f"{tmp_path}/parts/", progress=note)
    assert before
    assert manifest.seconds >= 200


def test_a_full_disk_is_a_sentence_and_leaves_neither_table_nor_manifest(tmp_path, table, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pyarrow.parquet.ParquetWriter.write_table", full)
    with pytest.raises(OutputError, match="No space left on device"):
        made(table, tmp_path, f"{tmp_path}/parts/")
    assert not (tmp_path / "parts").exists()
    assert not (tmp_path / "m.json").exists()
    assert not list(tmp_path.glob(".dpsyn-*"))


def test_manifests_without_parts_read_as_before(tmp_path, table):
    made(table, tmp_path, tmp_path / "o.csv")
    document = json.loads((tmp_path / "m.json").read_text())
    del document["digests"]["parts"]
    Path(tmp_path / "old.json").write_text(json.dumps(document))
    assert Manifest.load(tmp_path / "old.json").digests.parts == ()


class Elsewhere(MemorySource):
    """A source whose machines make records, each with a folder of its own where `apart`."""

    def __init__(self, table, *, apart=False):
        super().__init__(table)
        self.apart, self.asked = apart, 0

    def spread(self, work, number):
        self.asked += number
        said = [work(i) for i in reversed(range(number))][::-1]
        if self.apart:
            for staged in self.apart.glob(".dpsyn-*/*"):
                staged.unlink()
        return said


def test_machines_of_a_source_make_the_parts_that_this_one_would(tmp_path, table):
    source = Elsewhere(table)
    measured = measure(source, SCHEMA, SPEC, facts=FACTS, ledger=Ledger(tmp_path / "ledger.sqlite3"))
    made = []
    for name, where in (("there", source), ("here", MemorySource(table))):
        same = PendingRelease(measured=replace(measured, rng=np.random.default_rng(7), source=where))
        written = write_release(same, Places.of(f"{tmp_path / name}/", tmp_path / f"{name}.json", private=True))
        made.append(written.digests.parts)
    assert made[0] == made[1]
    assert source.asked == len(made[0]) == 4


def test_a_folder_that_the_machines_do_not_share_is_refused_and_nothing_stays(tmp_path, table):
    source = Elsewhere(table, apart=tmp_path)
    with pytest.raises(OutputError, match="name a folder that all share"):
        made(source, tmp_path, f"{tmp_path / 'parts'}/")
    assert [p.name for p in tmp_path.iterdir() if p.name not in ("home", "ledger.sqlite3")] == []
