"""Workers that come from the nursery (tests/nursery.py) end, fail, wait and die as those that are started do."""

import os
import signal
import subprocess
import sys

import psutil
import pytest

from dpsyn_core.child import Child
from tests import nursery

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the nursery is Linux's alone")
WORKER = "dpsyn_core.runs.jobs.worker"


def worker(folder, *arguments):
    return Child.module(WORKER, *arguments, cwd=folder, stdin=subprocess.PIPE, env={"OF_A_TEST": "1"})


def test_a_worker_is_a_copy_with_the_folder_arguments_and_environment_that_it_was_given(tmp_path, workers):
    child = worker(tmp_path, "--read")
    assert child.poll() is None
    copy = psutil.Process(child.pid)
    assert copy.ppid() == nursery.nursery().process.pid != os.getpid()
    with pytest.raises(subprocess.TimeoutExpired):
        child.wait(0.05)
    assert child.tell(b"\n")
    assert child.wait(60) == 0 == child.poll()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_one_that_is_ended_says_by_what(tmp_path, workers, number):
    child = worker(tmp_path, "--read")
    child.send_signal(number)
    assert child.wait(60) == -number
    assert not psutil.pid_exists(child.pid)
    child.end()  # once more does nothing


@pytest.mark.slow
def test_what_a_worker_leaves_and_how_it_ends_is_the_same_as_when_it_is_started(tmp_path, monkeypatch):
    left = []
    for use in (False, True):
        monkeypatch.setattr(nursery.Born, "use", use)
        folder = tmp_path / str(use)
        folder.mkdir()
        (folder / "job.json").write_text("{}")
        status = worker(folder, str(folder)).wait(120)
        left.append((status, (folder / "error.json").read_text(), {p.name for p in folder.iterdir()}))
    assert left[0] == left[1]
    assert left[0][0] == 2 and "epsilon" in left[0][1], "it says what is wrong"


@pytest.mark.slow
def test_a_program_of_the_nursery_prints_takes_its_input_and_ends_as_the_command_does(tmp_path):
    program = tmp_path / "dpsyn"
    program.write_text(nursery.nursery().program("dpsyn_core.commands.cli"))
    program.chmod(0o755)
    command = [sys.executable, "-m", "dpsyn_core.commands.cli"]
    for words in (["sample", "demo"], ["methods"], ["schema", "check", "nowhere.csv"], ["plan", "--no-such-flag"]):
        ways = []
        for begin in ([str(program)], command):
            folder = tmp_path / str(len(begin)) / words[0]
            folder.mkdir(parents=True)
            done = subprocess.run([*begin, *words], cwd=folder, capture_output=True, text=True, check=False)
            ways.append((done.returncode, done.stdout, done.stderr, sorted(p.name for p in folder.rglob("*"))))
        assert ways[0] == ways[1]


def test_no_other_command_comes_from_it():
    assert nursery.words_of([sys.executable, "-P", "-m", WORKER, "--run"]) == (WORKER, "--run")
    for other in (["-c", ""], ["-P", "-m", "http.server"], ["-m", WORKER]):
        assert nursery.words_of([sys.executable, *other]) is None
