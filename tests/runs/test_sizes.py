"""Sizes of the private table decide how it is read and counted, and nothing of what leaves.

Every threshold is moved to both sides of one table, with the same noise on both sides; all that leaves must be equal,
byte by byte: files and their names, messages, progress. Only times of the clock and the name of the run are set aside.
"""

import io
import json
import uuid
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpsyn_core import synthesize_to
from dpsyn_core.commands.cli import main
from dpsyn_core.commands.common import PRIVATE, TerminalProgress
from dpsyn_core.estimate.records import shards
from dpsyn_core.measure.counting import joint, memory, stored
from dpsyn_core.measure.sources import choice as choose
from dpsyn_core.measure.sources import stored as spilling
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.runs import parts
from dpsyn_core.runs.jobs import folder, worker
from dpsyn_core.runs.jobs.folder import DONE, JOB, MANIFEST, MEASUREMENTS, PROGRESS, SCHEMA, SYNTHETIC
from dpsyn_core.runs.jobs.spec import JobSpec
from dpsyn_core.runs.synthesis import synthesize
from dpsyn_core.runs.trees import chunks as held
from dpsyn_core.runs.trees import release as linked_release
from dpsyn_core.schema.document import Schema
from dpsyn_core.tables import batches
from dpsyn_core.tables.text import batches as text_batches
from dpsyn_core.tables.write import write_table
from tests.runs.trees.small import SCHEMAS, tables
from tests.seeded import SeededNoise

RECORDS, SHARD = 5_000, 1_000
FAR = 10**15  # a threshold that no table of a test reaches
# each threshold, below and above the table of the test
COUNTING = {
    "the engine": [(choose, "CELL", 0, FAR)],
    "blocks on disk": [(choose, "CELL", FAR, FAR), (stored, "FEWEST", 1, 1), (stored, "MOST", 7, FAR)],
    "files for bounding": [(choose, "CELL", FAR, FAR), (spilling, "RECORD", 0, FAR)],
    "batches of a file": [
        (choose, "CELL", FAR, FAR), (batches, "RECORDS", 1, FAR), (text_batches, "PIECE", 5_000, 1 << 24),
    ],
    "tables that are counted together": [
        (joint, "WORTH", 0, FAR), (joint, "RECORDS_A_CELL", 1, FAR), (memory, "GROUP", 10, 1 << 22),
        (stored, "PART_CELLS", 10, 1 << 24),
    ],
    "threads": [(memory, "ALONE", 0, FAR), (memory, "TABLES", 1, 16)],
}  # fmt: skip


def schema(unit):
    return Schema.of({
        "version": 1, "name": "sizes", "unit": unit, "attributes": [
            {"name": "who", "kind": "identifier"},
            {"name": "a", "kind": "categorical", "values": ["x", "y", "z"], "missing": True},
            {"name": "b", "kind": "categorical", "values": ["x", "y", "z"]},
            {"name": "c", "kind": "numeric", "dtype": "integer", "min": 0, "max": 99, "missing": True},
        ],
    })  # fmt: skip


UNITS = {"records": {}, "individuals": {"identifier": "who", "max_records": 2}}


@pytest.fixture(scope="module", params=["parquet", pytest.param("csv", marks=pytest.mark.slow)])
def table(request, tmp_path_factory):
    """A file of related columns, with cells that do not fit and individuals of several records."""
    rng = np.random.default_rng(0)
    a = np.array(["x", "y", "z"])[rng.choice(3, RECORDS, p=[0.6, 0.3, 0.1])]
    who = pa.array([f"n{i}" for i in rng.integers(0, RECORDS // 2, RECORDS)], mask=rng.random(RECORDS) < 0.01)
    found = pa.table({
        "c": pa.array(rng.integers(-5, 105, RECORDS), mask=rng.random(RECORDS) < 0.02), "who": who, "a": a,
        "b": np.where(rng.random(RECORDS) < 0.9, a, "x"),
    })  # fmt: skip
    path = tmp_path_factory.mktemp("private") / f"table.{request.param}"
    write_table(found, path)
    return path


@pytest.fixture(autouse=True)
def repeatable(monkeypatch):
    """The same noise, the same key of bounding, and the same clock for every run; shards that small tables reach."""
    monkeypatch.setattr("dpsyn_core.runs.open.SystemNoise", lambda: SeededNoise(5))
    monkeypatch.setattr("dpsyn_core.runs.open.uuid", SimpleNamespace(uuid4=lambda: uuid.UUID(int=7)))
    for module in ("bounding", "stored"):
        monkeypatch.setattr(f"dpsyn_core.measure.sources.{module}.draw_key", lambda: bytes(range(32)))
    monkeypatch.setattr("dpsyn_core.runs.measurement.time", SimpleNamespace(perf_counter=lambda: 0.0))
    monkeypatch.setattr(worker, "limit_resources", lambda *_: None)  # of the process that runs the tests
    monkeypatch.setattr(shards, "MOST", SHARD)


@pytest.fixture
def heard(monkeypatch):
    """What runs say to their progress: every call of the worker's and of the terminal's."""
    said = []

    class Kept(folder.Reporter):
        def __call__(self, *call):
            said.append(call)
            super().__call__(*call)

    def shown(self, *call):
        said.append(call)

    monkeypatch.setattr(worker, "Reporter", Kept)
    monkeypatch.setattr(TerminalProgress, "__call__", shown)
    return said


def allowed(monkeypatch, records, attributes=3):
    """Lets a table of so many records be made in one piece by the memory of a run, and one more record in shards."""
    memory_mb = JobSpec.model_fields["memory_mb"].default
    monkeypatch.setattr(parts, "PIECE_BYTES", folder.planned(memory_mb) // 2 / (records * attributes))


def moved(monkeypatch, changes, side):
    for module, name, *sides in changes:
        assert hasattr(module, name)
        monkeypatch.setattr(module, name, sides[side])


def files(place):
    """All files below a place: names, and bytes; of manifests all that is no time or name of the run."""
    found = {}
    for path in sorted(p for p in place.rglob("*") if p.is_file()):
        name = str(path.relative_to(place))
        found[name] = path.read_bytes()
        if name.endswith(".parquet"):
            meta = pq.read_metadata(path)
            groups = [meta.row_group(i) for i in range(meta.num_row_groups)]
            found[f"form of {name}"] = [
                (g.num_rows, g.column(0).compression, [g.column(i).encodings for i in range(g.num_columns)])
                for g in groups
            ]
        if name.endswith((".manifest.json", MANIFEST)):
            found[name] = json.loads(found[name]) | {"ledger_chain": None}
            assert found[name]["private"]
            text = Manifest.load(path).certificate()
            found[f"certificate of {name}"] = text
    return found


def in_python(table, place, unit):
    calls = []
    place.mkdir()
    synthesize_to(
        table, schema(UNITS[unit]), out=place / "out.parquet", manifest=place / "out.manifest.json", epsilon=1.0,
        delta=1e-6, rng=3, memory="600MB", progress=lambda *call: calls.append(call),
    )  # fmt: skip
    return [files(place), calls]


def in_a_shell(table, place, unit, capsys, heard, *more):
    place.mkdir()
    heard.clear()
    known = place.parent / "schema.json"
    schema(UNITS[unit]).dump(known)
    capsys.readouterr()
    memory = str(folder.planned(JobSpec.model_fields["memory_mb"].default))
    status = main([
        "synth", str(table), "--schema", str(known), "--epsilon", "1", "--delta", "1e-6", "--seed", "3", "--memory",
        memory, "--out", str(place / "out.parquet"), "--measurements", str(place / "m.json.gz"), *more,
    ])  # fmt: skip
    said = capsys.readouterr()
    lines = [line.replace(place.name, "OUT") for line in said.err.splitlines() if PRIVATE not in line]
    return [status, files(place), said.out, lines, list(heard)]


def in_the_app(table, place, unit, heard, *, copied, method="rls", n_records=None):
    """A job as the app leaves it for its worker: with a copy of the table, or with the place of a large one."""
    place.mkdir()
    heard.clear()
    spec = JobSpec(
        query_vouched=False, epsilon=1.0, delta=1e-6, method=method, seed=3, dataset="sizes", n_records=n_records
    )
    if copied:
        from tests.tables.reading import read

        pq.write_table(read(table).table, place / spec.table)
    else:
        spec = spec.model_copy(update={"table": str(table)})
    schema(UNITS[unit]).dump(place / SCHEMA)
    (place / JOB).write_text(spec.model_dump_json())
    worker.run(place)
    passed = json.loads((place / PROGRESS).read_text())["passed"]
    for own in (JOB, PROGRESS, DONE):  # what the app keeps for the owner: the place of the table, and its times
        (place / own).unlink()
    return [files(place), passed, list(heard)]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("threshold", COUNTING)
def test_how_records_are_counted_changes_nothing_that_leaves(table, tmp_path, monkeypatch, threshold, unit):
    left = []
    for side in (0, 1):
        monkeypatch.setenv("DPSYN_HOME", str(tmp_path / f"home{side}"))
        moved(monkeypatch, COUNTING[threshold], side)
        left.append(in_python(table, tmp_path / f"out{side}", unit))
    assert left[0] == left[1]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("engine", [0, FAR], ids=["memory", "stored"])
@pytest.mark.parametrize("shard", ["one piece", "shards"])
def test_a_job_leaves_the_same_for_a_table_in_the_app_and_for_one_that_is_too_large_for_it(
    table, tmp_path, monkeypatch, heard, engine, unit, shard
):
    allowed(monkeypatch, 10 * RECORDS if shard == "one piece" else SHARD)
    monkeypatch.setattr(choose, "CELL", engine)
    left = []
    for copied in (True, False):
        monkeypatch.setenv("DPSYN_HOME", str(tmp_path / f"home{copied}"))
        left.append(in_the_app(table, tmp_path / f"job{copied}", unit, heard, copied=copied))
    assert left[0] == left[1]
    assert {SYNTHETIC, MANIFEST, MEASUREMENTS, SCHEMA, f"certificate of {MANIFEST}"} < set(left[0][0])
    assert (len(left[0][0][f"form of {SYNTHETIC}"]) > 1) == (shard == "shards")


@pytest.mark.parametrize("unit", UNITS)
def test_a_command_leaves_and_says_the_same_however_large_its_file_is(
    table, tmp_path, monkeypatch, capsys, heard, unit
):
    left = []
    for side, (small, cell) in enumerate([(FAR, 0), (0, 0), (0, FAR)]):
        monkeypatch.setenv("DPSYN_HOME", str(tmp_path / f"home{side}"))
        monkeypatch.setattr(batches, "SMALL", small)
        monkeypatch.setattr(choose, "CELL", cell)
        left.append(in_a_shell(table, tmp_path / f"out{side}", unit, capsys, heard))
    assert left[0][0] == 0
    assert left[0] == left[1] == left[2]


@pytest.mark.parametrize("shard", ["one piece", "shards"])
def test_the_app_the_command_and_python_make_the_same_records_with_the_same_memory(
    table, tmp_path, monkeypatch, capsys, heard, shard
):
    allowed(monkeypatch, 10 * RECORDS if shard == "one piece" else SHARD)
    made = []
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "of the app"))
    made.append(in_the_app(table, tmp_path / "job", "records", heard, copied=True)[0][SYNTHETIC])
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "of the command"))
    made.append(in_a_shell(table, tmp_path / "out", "records", capsys, heard)[1]["out.parquet"])
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "of python"))
    (tmp_path / "python").mkdir()
    ways = {"epsilon": 1.0, "delta": 1e-6, "rng": 3}
    synthesize_to(
        table, schema({}), out=tmp_path / "python/o.parquet", manifest=tmp_path / "python/m.json", **ways,
        memory=folder.planned(JobSpec.model_fields["memory_mb"].default),
    )  # fmt: skip
    made.append((tmp_path / "python/o.parquet").read_bytes())
    if shard == "one piece":  # a table that is handed over in memory is always one
        monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "of a frame"))
        synthesize(table, schema({}), **ways).write(tmp_path / "python/whole.parquet")
        made.append((tmp_path / "python/whole.parquet").read_bytes())
    assert all(one == made[0] for one in made)
    assert (pq.ParquetFile(io.BytesIO(made[0])).num_row_groups > 1) == (shard == "shards")


@pytest.mark.parametrize("copied", [True, False])
@pytest.mark.parametrize("more", [0, 1])
def test_only_the_synthetic_total_and_the_memory_decide_about_shards(table, tmp_path, monkeypatch, heard, copied, more):
    """The private table has as many records as may stand in one piece; what is written has so many, or one more."""
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    allowed(monkeypatch, RECORDS)
    left = in_the_app(
        table, tmp_path / "job", "records", heard, copied=copied, method="independent", n_records=RECORDS + more
    )
    assert len(left[0][f"form of {SYNTHETIC}"]) == (6 if more else 1)


HEADS = {
    "semicolons": ("a;b;c", "utf-8", ";"), "a western header": ("a,b,c,état", "cp1252", ","),
    "utf-16": ("a,b,c", "utf-16", ","), "no first header": (",a,b,c", "utf-8", ","),
    "no last header": ("a,b,c,", "utf-8", ","), "a header twice": ("a,b,c,d,d", "utf-8", ","),
}  # fmt: skip


@pytest.mark.parametrize("head", HEADS)
def test_a_command_says_the_same_of_the_form_of_a_file_however_large_it_is(tmp_path, monkeypatch, capsys, heard, head):
    names, encoding, mark = HEADS[head]
    cells = {"a": "x", "b": "y", "c": "5"}
    line = mark.join(cells.get(name, "0") for name in names.split(mark))
    path = tmp_path / "people.csv"
    path.write_bytes("\n".join([names, *[line] * 50, ""]).encode(encoding))
    left = []
    for side, (small, cell) in enumerate([(FAR, 0), (0, 0), (0, FAR)]):
        monkeypatch.setenv("DPSYN_HOME", str(tmp_path / f"home{side}"))
        monkeypatch.setattr(batches, "SMALL", small)
        monkeypatch.setattr(choose, "CELL", cell)
        left.append(in_a_shell(path, tmp_path / f"out{side}", "records", capsys, heard))
    assert left[0][0] == 0
    assert left[0][3]
    assert left[0] == left[1] == left[2]


def test_a_run_of_linked_tables_says_and_leaves_the_same_however_many_parts_it_counts(
    tmp_path, monkeypatch, capsys, heard
):
    """In memory, and in few and in 256 parts on disk: the number of parts follows from that of the records."""
    words = []
    for name, rows in tables(200, 3, 1).items():
        pq.write_table(rows, tmp_path / f"{name}.parquet")
        words += ["--table", f"{name}={tmp_path / name}.parquet"]
    SCHEMAS["plain"].dump(tmp_path / "s.json")
    for module in ("bounding", "real_tables"):
        monkeypatch.setattr(f"dpsyn_core.runs.trees.{module}.draw_key", lambda: bytes(range(32)))
    parts, left = [], []
    real = linked_release.stored_forests
    monkeypatch.setattr(
        linked_release, "stored_forests", lambda *a, **k: parts.append(k["parts"]) or real(*a, **k)
    )  # fmt: skip
    for side, cell in enumerate([0, 10**6, 10**9]):
        heard.clear()
        monkeypatch.setenv("DPSYN_HOME", str(tmp_path / f"home{side}"))
        monkeypatch.setattr(held, "CELL", cell)
        place = tmp_path / f"out{side}"
        ways = ["--schema", str(tmp_path / "s.json"), "--epsilon", "5", "--delta", "1e-6", "--seed", "1"]
        status = main(["synth", *words, *ways, "--memory", "1GB", "--out", f"{place}/"])
        said = capsys.readouterr()
        lines = [line.replace(place.name, "OUT") for line in said.err.splitlines() if PRIVATE not in line]
        assert status == 0, said.err
        left.append([files(place), said.out, lines, list(heard)])
    assert len(parts) == 2 and 1 < parts[0] < parts[1], parts
    assert left[0] == left[1] == left[2]


OTHERS = {
    "marginal": ["marginal", "TABLE", "--schema", "SCHEMA", "--attributes", "a,b", "--delta", "1e-6"],
    "itemsets": ["itemsets", "TABLE", "--schema", "SCHEMA", "--k", "1"],
    "buy": ["schema", "draft", "TABLE", "--buy", "b=categorical", "--buy", "c=integer:4", "--delta", "1e-6"],
}


@pytest.mark.parametrize("command", OTHERS)
def test_other_releases_of_a_command_do_not_tell_how_large_its_file_is(
    table, tmp_path, monkeypatch, capsys, heard, command
):
    known = schema({}).document()
    flag = {"name": "b", "kind": "categorical", "values": ["x", "y"], "other": True}
    known["attributes"] = [a if a["name"] != "b" or command != "itemsets" else flag for a in known["attributes"]]
    Schema.of(known).dump(tmp_path / "schema.json")
    monkeypatch.setattr("dpsyn_core.measure.unprotected.os.urandom", bytes)  # the key of bounding
    left = []
    for side, (small, cell) in enumerate([(FAR, 0), (0, 0), (0, FAR)]):
        heard.clear()
        place = tmp_path / f"out{side}"
        place.mkdir()
        monkeypatch.setenv("DPSYN_HOME", str(tmp_path / f"home{side}"))
        monkeypatch.setattr(batches, "SMALL", small)
        monkeypatch.setattr(choose, "CELL", cell)
        words = {"TABLE": str(table), "SCHEMA": str(tmp_path / "schema.json")}
        out = str(place / ("out.json" if command == "buy" else "out.csv"))
        status = main(
            [words.get(w, w) for w in OTHERS[command]] + ["--epsilon", "5", "--memory", "600MB", "--out", out]
        )
        said = capsys.readouterr()
        lines = [line.replace(place.name, "OUT") for line in said.err.splitlines() if PRIVATE not in line]
        assert status == 0, said.err
        left.append([files(place), said.out.replace(place.name, "OUT"), lines, list(heard)])
    assert left[0] == left[1] == left[2]
