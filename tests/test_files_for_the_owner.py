"""Files that hold or read the private table are their owner's alone, whatever the umask; releases keep the umask."""

import ast
import json
import os
import stat
from pathlib import Path

import pyarrow as pa
import pytest

from dpsyn_core import files
from dpsyn_core.commands.cli import main
from dpsyn_core.platforms import SYSTEM
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.runs.jobs.folder import leave_fault, write_json
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.drafts.confirmation import confirm
from dpsyn_core.schema.drafts.draft import draft
from dpsyn_core.tables import handover
from dpsyn_core.tables.read import open_table
from tests.commands.small import SCHEMA, write_table

pytestmark = pytest.mark.skipif(SYSTEM == "win32", reason="modes of files are those of POSIX")
ROOT = Path(__file__).resolve().parents[1]
# who opens files for writing by itself, and why nothing private is open to others there
WRITERS = {
    "dpsyn_core/files.py": "atomic writes, and files for their owner alone",
    "dpsyn_core/scratch.py": "locks, which are empty; files are opened for their owner alone",
    "dpsyn_core/privacy/manifest/signing.py": "a private key for its owner alone, and its public key",
    "dpsyn_core/tables/write.py": "tables of a release, under the names that `files.replacing` gives",
    "dpsyn_core/tables/labelled_write.py": "labelled tables of a release, under the names that `files.replacing` gives",
    "dpsyn_core/runs/writer.py": "documents of a release, under the names that `files.replacing` gives",
    "dpsyn_core/commands/adapters/sdv.py": "a release, in a temporary folder of its owner",
    "dpsyn_core/report/reader.py": "the files of a release, in a temporary folder of its owner",
    "dpsyn_core/runs/attacks/child.py": "arrays in memory, which a pipe takes to a child process",
    "ui/schema/files.py": "a data dictionary, in a temporary folder of its owner",
    "ui/data/project_files.py": "a manifest, in a temporary folder of its owner",
}

OPENERS = {"fdopen", "mkstemp", "NamedTemporaryFile", "CompressedOutputStream", "ParquetWriter", "savez"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    write_table(tmp_path / "t.csv")
    (tmp_path / "s.json").write_text(json.dumps(SCHEMA))
    return tmp_path


@pytest.fixture(params=[0o000, 0o022, 0o077])
def mask(request):
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path):
    return stat.S_IMODE(Path(path).stat().st_mode)


@pytest.mark.parametrize(("mask", "named"), [(0o000, True), (0o000, False), (0o022, False)], indirect=["mask"])
def test_what_reads_the_table_is_its_owners_alone_and_what_a_run_releases_keeps_the_umask(
    folder, mask, monkeypatch, named
):
    if named:  # where the system knows no files without a name
        monkeypatch.setattr(files, "nameless", lambda _: None)
    run = "--schema s.json --epsilon 1 --delta 1e-6 --method independent --quiet --measurements x.json.gz"
    assert main(["synth", "t.csv", *run.split(), "-o", "o.csv"]) == 0
    about = ["o.csv", "--schema", "s.json", "--quiet"]
    assert main(["report", "t.csv", *about, "--json", "real.json", "--html", "real.html"]) == 0
    assert main(["report", "-", *about, "--manifest", "o.manifest.json", "--json", "public.json"]) == 0
    assert main(["compare", "t.csv", *about, "--json", "compared.json"]) == 0
    assert main(["schema", "draft", "t.csv", "-o", "drafted.json"]) == 0
    confirm(Schema.load("drafted.json"), everything=True).dump("confirmed.json")
    for name in ("real.json", "real.html", "compared.json", "drafted.json", "home/ledger.sqlite3"):
        assert mode(folder / name) == 0o600, name
    for name in ("o.csv", "o.manifest.json", "x.json.gz", "public.json", "confirmed.json"):
        assert mode(folder / name) == 0o644 & ~mask, name


@pytest.mark.slow
def test_what_an_attack_finds_is_its_owners_alone(folder):
    run = "--epsilon 1 --delta 1e-6 --method independent --quiet --runs 20"
    assert main(["attack", "t.csv", "s.json", *run.split(), "--out", "found.json"]) == 0
    assert mode(folder / "found.json") == 0o600


def test_a_ledger_is_its_owners_alone_before_anything_is_written_to_it(tmp_path, mask, monkeypatch):
    seen = []
    connect = Ledger._connect
    monkeypatch.setattr(Ledger, "_connect", lambda book, how: seen.append(mode(book.path)) or connect(book, how))
    Ledger(tmp_path / "l.sqlite3").set_limit("t", Budget(epsilon=1.0, delta=1e-6))
    assert seen[0] == 0o600 == mode(tmp_path / "l.sqlite3")
    assert [p.name for p in tmp_path.iterdir()] == ["l.sqlite3"]


def test_a_ledger_on_a_file_system_without_links_is_its_owners_alone_too(tmp_path, mask, monkeypatch):
    def refused(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("dpsyn_core.privacy.ledger.ledger.os.link", refused)
    Ledger(tmp_path / "l.sqlite3").set_limit("t", Budget(epsilon=1.0, delta=1e-6))
    assert mode(tmp_path / "l.sqlite3") == 0o600 and len(list(tmp_path.iterdir())) == 1


def test_what_a_job_keeps_of_a_table_is_its_owners_alone(folder, mask):
    (folder / "job").mkdir()
    handover.leave(folder / "job", open_table(folder / "t.csv"))
    write_json(folder / "job" / "note.json", {})
    leave_fault(folder / "job", ValueError, None)
    (folder / "job" / "old").touch(mode=0o644)
    files.put_private(folder / "job" / "old", b"table")
    assert {mode(p) for p in (folder / "job").iterdir()} == {0o600}
    assert handover.take(folder / "job").whole().num_rows > 0


def test_a_schema_is_for_its_owner_while_anything_in_it_was_read_from_the_data(tmp_path, mask):
    drafted = draft(pa.table({"a": ["x", "y"] * 30}), "t")
    for schema, expected in ((drafted, 0o600), (confirm(drafted, everything=True), 0o644 & ~mask)):
        schema.dump(tmp_path / "s.json")
        assert mode(tmp_path / "s.json") == expected


def opens_for_writing(path):
    """Whether a file of the program opens files by a path of its own, past `files`."""
    text = path.read_text("utf-8")
    if not any(word in text for word in ("open(", "write_", *OPENERS)):
        return False
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        of_path = name in ("write_text", "write_bytes") and isinstance(node.func, ast.Attribute)
        modes = [a.value for a in [*node.args, *(k.value for k in node.keywords)] if isinstance(a, ast.Constant)]
        opened = name in ("open", "OSFile") and any(
            isinstance(m, str) and set(m) & set("wax+") and len(m) <= 3 for m in modes
        )
        if of_path or opened or name in OPENERS:
            return True
    return False


def test_every_file_that_opens_files_for_writing_by_itself_has_a_reason():
    found = {
        str(p.relative_to(ROOT))
        for folder in ("dpsyn_core", "ui", "pages")
        for p in (ROOT / folder).rglob("*.py")
        if opens_for_writing(p)
    }
    assert found == set(WRITERS)
