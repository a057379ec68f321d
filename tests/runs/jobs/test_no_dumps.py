"""A crash of a process that holds a private table leaves no image of its memory."""

import subprocess
import sys

import pytest

LOOK = """
import ctypes, resource, sys
sys.argv = {argv!r}
{start}
"""
STATE = "print(resource.getrlimit(resource.RLIMIT_CORE), ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))"
READER = """
from dpsyn_core.runs.jobs import worker
worker.read_when_asked = lambda: 0
worker.main()
"""
RUN = """
from dpsyn_core.runs.jobs import worker
worker.run = lambda folder: None
worker.main()
"""
COMMAND = """
from dpsyn_core.commands import cli
cli.main()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux marks a process as not dumpable")
@pytest.mark.parametrize(
    ("start", "argv"),
    [(READER, ["worker", "--read"]), (RUN, ["worker", "folder"]), (COMMAND, ["dpsyn", "methods"])],
)
def test_readers_runs_and_the_command_leave_no_core_dump(start, argv, tmp_path):
    code = LOOK.format(argv=argv, start=start) + STATE
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert done.stdout.splitlines()[-1] == "(0, 0) 0"
