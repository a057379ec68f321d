"""Uploads are read in a child process: the same table arrives, and whatever ends the child is one sentence."""

import gzip
import io
import os
import stat
import subprocess
import sys
import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpsyn_core.child import Child
from dpsyn_core.errors import SizeError, TableError
from dpsyn_core.privacy.names import dataset_name
from dpsyn_core.runs.jobs.folder import UPLOAD
from dpsyn_core.runs.jobs.spec import ReadSpec
from dpsyn_core.schema.drafts.draft import draft
from dpsyn_core.tables.batches import of_table
from dpsyn_core.tables.read_form import ReadForm
from tests.tables.reading import read
from ui.data import loading, reading
from ui.data.reading import Readers
from ui.shared.state import Workspace


@pytest.fixture
def readers(tmp_path):
    return Readers(tmp_path / "reads")


def parquet(table):
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


def workbook():
    from openpyxl import Workbook

    book, out = Workbook(), io.BytesIO()
    for row in (("age", "city"), (31, "Ulm"), (7, "Bern"), (31, "Ulm")):
        book.active.append(row)
    book.create_sheet("notes")
    book.save(out)
    return out.getvalue()


def chunked():
    """Text whose dictionary differs from one row group to the next, numbers and a missing cell."""
    out = io.BytesIO()
    first = pa.table({"a": pa.array(["x", "y", "x"]), "n": pa.array([1, None, 2**60])})
    second = pa.table({"a": pa.array(["z", "z", None]), "n": pa.array([3, 4, 5])})
    with pq.ParquetWriter(out, first.schema) as writer:
        writer.write_table(first)
        writer.write_table(second)
    return out.getvalue()


FILES = {
    "plain.csv": b"a,b\n00123,NA\n1e400, x\n,z\n",
    "german.csv": "größe;wert\n1,5;ä\n2,5;ß\n".encode("latin-1"),
    "tabs.tsv.gz": gzip.compress(b"a\tb\n1\tx\n2\ty\n"),
    "groups.parquet": chunked(),
    "book.xlsx": workbook(),
}


@pytest.mark.parametrize("name", FILES)
def test_the_table_arrives_as_it_was_read(readers, name):
    want = read(FILES[name], name=name)
    got, schema = readers.read(ReadSpec(name=name), FILES[name])
    assert got.whole().equals(want.table)
    assert got.whole().schema.equals(want.table.schema, check_metadata=True)
    assert (got.kind, got.form) == (want.kind, want.batches.form)
    assert got.notices == want.notices
    assert schema == draft(want.table, dataset_name(name))
    assert list(readers.folder.iterdir()) == [], "the table outlives its file"
    assert stat.S_IMODE(readers.folder.stat().st_mode) & 0o077 == 0


def test_a_path_is_read_where_it_lies_and_corrections_reach_the_child(readers, tmp_path):
    (tmp_path / "t.csv").write_bytes(b"a|b\n1|x\n")
    got, _ = readers.read(ReadSpec(name="t.csv", path=str(tmp_path / "t.csv"), form=ReadForm(delimiter="|")), None)
    assert got.columns == ("a", "b") and got.form.delimiter == "|"
    assert (tmp_path / "t.csv").exists()


def test_what_the_reader_refuses_is_the_same_sentence(readers):
    raw = b"\n\n"
    with pytest.raises(TableError) as here:
        read(raw, name="empty.csv")
    with pytest.raises(TableError) as there:
        readers.read(ReadSpec(name="empty.csv"), raw)
    assert str(there.value) == str(here.value)


@pytest.mark.slow
def test_a_small_file_that_would_fill_the_memory_is_one_sentence(readers):
    blank = pa.nulls(4_000_000, pa.int64())
    raw = parquet(pa.table({str(i): blank for i in range(40)}))
    assert len(raw) < 1 << 19, "1.3 GB once it is read"
    with pytest.raises(SizeError, match=r"^reading the file takes more than 64 MB of memory; "):
        readers.read(ReadSpec(name="bomb.parquet", memory_mb=64), raw)


def instead(monkeypatch, code):
    """Makes every child run this code."""
    made = []

    def spawn(_argument, cwd, *, stdin):
        made.append(Child([sys.executable, "-c", code], cwd=cwd, stdin=stdin, stderr=subprocess.DEVNULL))
        return made[-1]

    monkeypatch.setattr(reading, "spawn", spawn)
    return made


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("import os; input(); os.abort()", "the file crashed the reader"),
        ("import os; os.abort()", "the file crashed the reader"),
        ("import os; input(); os.kill(os.getpid(), 9)", "ended from outside, often for want of memory"),
        ("import signal, time; input(); signal.alarm(1); time.sleep(60)", "longer than 1 s"),
        ("import time; input(); time.sleep(60)", "longer than 1 s"),
        ("input(); raise SystemExit(0)", "the file crashed the reader"),
    ],
)
def test_a_child_that_ends_badly_is_one_sentence(readers, monkeypatch, code, sentence):
    instead(monkeypatch, code)
    monkeypatch.setattr(reading, "GRACE", 1.0)
    with pytest.raises(TableError, match=sentence) as error:
        readers.read(ReadSpec(name="secret.csv", seconds=1), b"a\n7171\n" * 200_000)
    assert "7171" not in str(error.value) and str(error.value).count(".") == 0
    assert list(readers.folder.iterdir()) == []


def test_a_visitor_who_leaves_takes_the_child_along(readers, monkeypatch):
    made = instead(monkeypatch, "import time; input(); time.sleep(60)")
    monkeypatch.setattr(reading, "TELL", 0.05)

    class LeftError(BaseException):
        """As Streamlit's own when a run of a page is to end."""

    def tell(_seconds):
        raise LeftError

    with pytest.raises(LeftError):
        readers.read(ReadSpec(name="a.csv"), b"a\n1\n", tell)
    assert made[0].poll() is not None
    assert list(readers.folder.iterdir()) == []


@pytest.mark.slow
def test_a_ready_child_is_used_replaced_and_ends_with_the_app(readers):
    readers.warm()
    first = readers._ready
    assert readers.read(ReadSpec(name="plain.csv"), FILES["plain.csv"])[0].records == 3
    assert first.poll() == 0 and readers._ready is not first
    readers._ready.stdin.close()  # as when the app is gone
    assert readers._ready.wait(300) == 0


def test_folders_of_a_server_that_is_gone_are_removed_and_those_of_a_neighbour_stay(tmp_path):
    old, new = tmp_path / "reads" / "old", tmp_path / "reads" / "new"
    for folder in (old, new):
        folder.mkdir(parents=True)
    os.utime(old, (time.time() - 2 * reading.STALE,) * 2)
    Readers(tmp_path / "reads")
    assert new.exists() and not old.exists()


def test_an_upload_that_a_killed_server_left_goes_at_a_later_reading_of_the_server_after_it(tmp_path):
    left = tmp_path / "reads" / "left"
    left.mkdir(parents=True)
    (left / UPLOAD).write_bytes(b"a,b\n1,2\n")
    readers = Readers(tmp_path / "reads")  # at once after the kill: it may be a neighbour's that is being read
    assert left.exists()
    os.utime(left, (time.time() - 2 * reading.STALE,) * 2)
    readers.read(ReadSpec(name="t.csv"), b"a,b\n1,2\n3,4\n", lambda _: None)
    assert not left.exists()


def test_a_table_without_a_schema_to_start_from_leaves_the_one_before_it(monkeypatch, readers):
    from ui.data import loading

    monkeypatch.setattr(loading, "readers", lambda: readers)
    space = Workspace("somebody")
    loading.sample(space)
    before = space.dataset, space.schema
    long = "name\n" + "".join(f"person {i}\n" for i in range(5000))
    with pytest.raises(Exception, match="no column of the table"):
        loading.upload(space, "names.csv", long.encode())
    assert (space.dataset, space.schema) == before


def test_a_long_name_of_a_file_keeps_its_ending_which_says_what_kind_it_is():
    """A workbook whose headers are declared on the page is read again by that name."""
    got = of_table(pa.table({"a": ["1"]}), kind="excel")
    for ending in (".xlsx", ".csv.gz"):
        name = loading._dataset("x" * 100 + ending, got).name
        assert len(name) == 80 and name.endswith(ending[-3:])
