"""Scratch folders: private, gone when a run ends, and swept away when it was killed."""

import os
import stat
import subprocess
import sys

import pytest

from dpsyn_core.errors import OutputError
from dpsyn_core.platforms import SYSTEM
from dpsyn_core.scratch import base, scratch, sweep

HOLDS = """
import sys
from dpsyn_core.scratch import scratch
with scratch() as room:
    file = room.file()
    file.write(b"private" * 1000)
    (room.folder / "named").write_bytes(b"private")
    print("ready", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def place(monkeypatch, tmp_path):
    monkeypatch.setenv("DPSYN_SCRATCH", str(tmp_path))
    return tmp_path / "dpsyn-scratch"


@pytest.fixture
def other():
    """Another process in the middle of a run."""
    started = subprocess.Popen(
        [sys.executable, "-c", HOLDS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=dict(os.environ)
    )
    assert started.stdout.readline() == b"ready\n"
    yield started
    started.kill()
    started.communicate()


@pytest.mark.skipif(SYSTEM == "win32", reason="modes of files are those of POSIX")
def test_only_the_owner_may_read_and_files_have_no_name(place):
    with scratch() as room:
        assert stat.S_IMODE(room.folder.stat().st_mode) == 0o700
        assert stat.S_IMODE(place.stat().st_mode) == 0o700
        room.file().write(b"private")
        assert not list(room.folder.iterdir())
    assert not list(place.iterdir())


def test_what_a_killed_run_left_goes_at_the_next_start_and_what_lives_stays(place, other):
    sweep()
    assert [p for p in place.iterdir() if p.is_dir()]
    other.kill()
    other.wait()
    with scratch():
        assert len([p for p in place.iterdir() if p.is_dir()]) == 1
    assert not list(place.iterdir())


def test_a_folder_that_cannot_be_made_is_a_sentence(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("DPSYN_SCRATCH", str(tmp_path / "file"))
    assert base().name == "dpsyn-scratch"
    with pytest.raises(OutputError, match="DPSYN_SCRATCH"), scratch():
        pass


@pytest.mark.skipif(SYSTEM == "win32", reason="modes of files are those of POSIX")
def test_a_folder_of_somebody_else_is_refused_before_anything_is_swept_or_written(place, monkeypatch):
    (place / "0123456789abcdef").mkdir(parents=True)
    monkeypatch.setattr(os, "geteuid", lambda: place.stat().st_uid + 1)
    for use in (sweep, scratch().__enter__):
        with pytest.raises(OutputError, match="belongs to somebody else"):
            use()
    assert [p.name for p in place.iterdir()] == ["0123456789abcdef"]


@pytest.mark.skipif(SYSTEM == "win32", reason="modes of files are those of POSIX")
@pytest.mark.parametrize("mode", [0o770, 0o707, 0o1777])
def test_a_folder_that_others_may_write_to_is_refused(place, mode):
    place.mkdir()
    place.chmod(mode)
    with pytest.raises(OutputError, match="may be written to by others"), scratch():
        pass
    assert not list(place.iterdir())
    place.chmod(0o755)  # that others may list it is no harm: what lies in it is closed to them
    with scratch() as room:
        assert stat.S_IMODE(room.folder.stat().st_mode) == 0o700


@pytest.mark.parametrize("nameless", [True, False])
def test_a_file_is_its_owners_alone_and_has_no_name_whatever_the_system_can(monkeypatch, nameless):
    if not nameless:
        monkeypatch.setattr("dpsyn_core.scratch.nameless", lambda _: None)
    before = os.umask(0)
    try:
        with scratch() as room:
            file = room.file()
            file.write(b"private")
            file.flush()
            file.seek(0)
            assert file.read() == b"private"
            if SYSTEM != "win32":
                assert stat.S_IMODE(os.fstat(file.fileno()).st_mode) == 0o600
                assert os.fstat(file.fileno()).st_nlink == 0 and not list(room.folder.iterdir())
    finally:
        os.umask(before)


def test_what_is_no_run_of_ours_is_never_swept_away(place, tmp_path):
    (place / "photographs" / "2024").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (place / "fedcba9876543210").symlink_to(tmp_path / "elsewhere")
    with scratch():
        pass
    assert (place / "photographs" / "2024").is_dir() and (tmp_path / "elsewhere").is_dir()
