"""Scratch folders: private, gone when a run ends, and swept away when it was killed."""

import os
import stat
import subprocess
import sys

import pytest

from dpsyn_core.errors import OutputError
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


@pytest.mark.skipif(os.name == "nt", reason="modes of files are those of POSIX")
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
