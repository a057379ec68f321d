"""Files appear whole or not at all, with and without nameless temporary files."""

import multiprocessing
import os
import time

import pytest

from dpsyn_core import files
from dpsyn_core.errors import OutputError
from dpsyn_core.files import check_writable, replacing, write_text
from tests.faults.places import file_limit, open_folder, unprivileged


@pytest.fixture(params=["nameless", "hidden"])
def way(request, monkeypatch):
    if request.param == "hidden":
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    return request.param


def test_a_file_is_replaced_whole_and_can_be_read_by_all(tmp_path, way):
    path = tmp_path / "t.csv"
    write_text(path, "old")
    write_text(path, "new")
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o644
    assert [p.name for p in tmp_path.iterdir()] == ["t.csv"]


def test_a_block_that_fails_leaves_the_old_file_and_nothing_else(tmp_path, way):
    path = tmp_path / "t.csv"
    write_text(path, "old")
    with pytest.raises(ZeroDivisionError), replacing(path) as temporary:
        temporary.write_text("half")
        raise ZeroDivisionError
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["t.csv"]


def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path, way):
    path = tmp_path / "t.csv"
    write_text(path, "old")
    with file_limit(1000), pytest.raises(OutputError, match="has room"):
        write_text(path, "x" * 5000)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["t.csv"]


def test_a_name_that_cannot_be_taken_leaves_nothing(tmp_path, way):
    (tmp_path / "t.csv").mkdir()
    with pytest.raises(OutputError, match=r"t\.csv"):
        write_text(tmp_path / "t.csv", "x")
    assert [p.name for p in tmp_path.iterdir()] == ["t.csv"]


def test_stepping_down_takes_the_right_to_write_and_leaves_what_could_be_read():
    """Modules that a run imports late may lie below a folder that its owner alone may enter."""
    with open_folder() as folder:
        (folder / "late.py").write_text("x = 1\n")
        folder.chmod(0o500)
        with unprivileged():
            assert (folder / "late.py").read_text() == "x = 1\n"
            with pytest.raises(PermissionError):
                (folder / "new").write_text("x")


def test_folders_that_are_missing_or_read_only_are_refused(tmp_path, way):
    with pytest.raises(OutputError, match="folder"):
        write_text(tmp_path / "none" / "t.csv", "x")
    with pytest.raises(OutputError, match="folder"):
        check_writable(tmp_path / "none" / "t.csv")
    with open_folder() as folder:
        folder.chmod(0o555)
        with unprivileged():
            for attempt in (check_writable, lambda p: write_text(p, "x")):
                with pytest.raises(OutputError, match="folder"):
                    attempt(folder / "t.csv")
        assert list(folder.iterdir()) == []
    check_writable(tmp_path / "t.csv")
    assert list(tmp_path.iterdir()) == []


def write_slowly(path, pipe):
    with replacing(path) as temporary, temporary.open("w") as file:
        file.write("half")
        file.flush()
        pipe.send("writing")
        time.sleep(60)


def test_a_kill_while_writing_leaves_no_part_under_a_visible_name(tmp_path):
    context = multiprocessing.get_context("fork")
    mine, theirs = context.Pipe(duplex=False)
    child = context.Process(target=write_slowly, args=(tmp_path / "t.csv", theirs))
    child.start()
    assert mine.recv() == "writing"
    child.kill()
    child.join()
    left = [p.name for p in tmp_path.iterdir()]
    handle = files.nameless(tmp_path)
    if handle is None:
        assert all(name.startswith(".dpsyn-") for name in left)
    else:
        os.close(handle)
        assert left == []
