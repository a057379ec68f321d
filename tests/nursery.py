"""Nursery: one process that has imported what workers of the app import, and copies itself for each (`os.fork`).

Starting Python and importing the engine takes longer than what most tests ask of a worker or of the command. What is
born here has imported everything and done nothing: its environment, folder, arguments, input and output are those that
it was started with, it ends as a process of its own does, and whoever started it waits for it, ends it and reads its
exit status as usual. Tests that are about starting, and those in a browser, start real processes.
"""

import atexit
import contextlib
import gc
import importlib
import io
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import dpsyn_core.commands
from dpsyn_core.child import Child
from dpsyn_core.platforms import PARENT

ROOT = Path(__file__).resolve().parent.parent
WORKERS = (
    "dpsyn_core.commands.cli",
    "dpsyn_core.runs.jobs.worker",
    "dpsyn_core.runs.attacks.attack",
    "dpsyn_core.runs.attacks.child",
    "dpsyn_core.runs.choose.worker",
    "dpsyn_core.tables.labelled",
)
LONGEST = 200_000  # bytes of a message


def words_of(command):
    """The module that a command runs and its arguments; None where it is none of the workers."""
    begins = [sys.executable, "-P", "-m"]
    return tuple(command[3:]) if list(command[:3]) == begins and command[3] in WORKERS else None


class Nursery:
    """The process, and how to ask it for a child: a connection takes what is asked for, and gives number and status."""

    def __init__(self):
        self.name = f"\0dpsyn-nursery-{os.getpid()}"
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as door:
            door.bind(self.name)
            door.listen(64)
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", "tests.nursery", str(door.fileno())],
                cwd=ROOT,
                env={k: v for k, v in os.environ.items() if not k.startswith("DPSYN_")} | {"PYTHONPATH": str(ROOT)},
                pass_fds=[door.fileno()],
                stdin=subprocess.PIPE,  # its end is that of the nursery
            )
        atexit.register(self.end)

    def end(self):
        self.process.stdin.close()
        self.process.wait(60)

    def child(self, words, *, cwd, env, files):
        """Starts one. Returns its number, and a socket on which its exit status will come."""
        asking = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        asking.connect(self.name)
        said = {"words": words, "cwd": None if cwd is None else str(cwd), "env": dict(env)}
        socket.send_fds(asking, [json.dumps(said).encode()], files)
        return int(asking.recv(20)), asking

    def program(self, module):
        """The text of a program that runs this module, one of `WORKERS`, as a copy of the nursery."""
        return f"""#!{sys.executable} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as asking:
    asking.connect({self.name!r})
    said = {{"words": [{module!r}, *sys.argv[1:]], "cwd": os.getcwd(), "env": dict(os.environ)}}
    socket.send_fds(asking, [json.dumps(said).encode()], [0, 1, 2])
    asking.recv(20)
    sys.exit(int(asking.recv(20)))
"""


REAL = {name: getattr(Child, name) for name in ("_execute_child", "_internal_poll", "_wait")}


class Born:
    """What `subprocess.Popen` does for its own children, done for those of the nursery: methods of `Child`."""

    use = False  # whether workers that start now come from the nursery
    ends = None  # where the exit status of one that comes from it arrives

    def _execute_child(self, args, executable, preexec_fn, close_fds, pass_fds, cwd, env, *more):
        words = words_of(args) if Born.use else None
        if words is None:
            REAL["_execute_child"](self, args, executable, preexec_fn, close_fds, pass_fds, cwd, env, *more)
            return
        into, _, _, out, _, errors = pipes = more[3:9]
        files = [mine if given == -1 else given for mine, given in enumerate((into, out, errors))]
        self.asking = threading.Lock()
        self.pid, self.ends = nursery().child(words, cwd=cwd, env=env, files=files)
        self._child_created = True
        self._close_pipe_fds(*pipes)

    def _internal_poll(self, *more, **named):
        if self.ends is None:
            return REAL["_internal_poll"](self, *more, **named)
        with self.asking:
            if self.returncode is None and select.select([self.ends], [], [], 0)[0]:
                self.returncode = int(self.ends.recv(20) or -signal.SIGKILL)  # nothing: the nursery itself is gone
                self.ends.close()
        return self.returncode

    def _wait(self, timeout):
        if self.ends is None:
            return REAL["_wait"](self, timeout)
        end = None if timeout is None else time.monotonic() + timeout
        while self._internal_poll() is None:
            if end is not None and time.monotonic() > end:
                raise subprocess.TimeoutExpired(self.args, timeout)
            time.sleep(0.01)
        return self.returncode


_nursery = []
_beginning = threading.Lock()


def nursery():
    """That of this process; begun when it is first asked for."""
    with _beginning:
        if not _nursery:
            _nursery.append(Nursery())
        return _nursery[0]


def pytest_configure():
    if sys.platform == "linux" and "DPSYN_TEST_SYSTEM" not in os.environ:
        Child.ends = None
        for name in REAL:
            setattr(Child, name, getattr(Born, name))


@pytest.fixture
def workers(monkeypatch):
    """Workers of the app come from the nursery."""
    monkeypatch.setattr(Born, "use", True)


def live(asked, files, above):
    """What the copy does: becomes what was asked for, runs the module and ends."""
    for number, file in enumerate(files):
        os.dup2(file, number)
    for file in (*files, *above):
        os.close(file)
    os.environ.clear()
    os.environ.update(asked["env"] | {PARENT: str(os.getppid())})
    if asked["cwd"]:
        os.chdir(asked["cwd"])
    name, *arguments = asked["words"]
    module = importlib.import_module(name)
    sys.argv = [module.__file__, *arguments]
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(n, mode, encoding="utf-8") for n, mode in enumerate("rww"))
    status = 1
    try:
        status = module.main()
    except SystemExit as ended:
        status = ended.code
    except BaseException:  # noqa: BLE001  (as an interpreter does)
        sys.excepthook(*sys.exc_info())
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(status if isinstance(status, int) else int(status is not None))


def needed():
    """Names of all modules that a run and a reading have imported, also those that they import while they work."""
    heard, saying = os.pipe()
    if os.fork() == 0:
        from dpsyn_core.runs.jobs.reader import read_when_asked
        from dpsyn_core.runs.jobs.worker import run_of_nobody

        sys.stdin = io.StringIO()  # empty: it ends when it is ready
        run_of_nobody()
        read_when_asked()
        os.write(saying, "\n".join(sys.modules).encode())
        os._exit(0)
    os.close(saying)
    with os.fdopen(heard) as file:
        names = file.read().split("\n")
    os.wait()
    return names


def main(number):
    """Serves until whoever began it closes the socket or ends."""
    commands = (f"dpsyn_core.commands.{module.name}" for module in pkgutil.iter_modules(dpsyn_core.commands.__path__))
    for name in (*WORKERS, *commands, *needed()):
        with contextlib.suppress(ImportError):  # what has no file, such as modules of a compiled library
            importlib.import_module(name)
    gc.freeze()
    door, living = socket.socket(fileno=number), {}
    waker, woken = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken)
    while True:
        ready = select.select([door, waker, 0], [], [])[0]
        if 0 in ready:
            return
        if door in ready:
            asking = door.accept()[0]
            said, files, *_ = socket.recv_fds(asking, LONGEST, 3)
            pid = os.fork()
            if pid == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                above = [waker, woken, *(s.detach() for s in (door, asking, *living.values()))]
                live(json.loads(said), files, above)
            for file in files:
                os.close(file)
            living[pid] = asking
            asking.send(str(pid).encode())
        if waker in ready:
            os.read(waker, 4096)
        while living:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                break
            with living.pop(pid) as ends, contextlib.suppress(OSError):  # who asked may be gone
                ends.send(str(os.waitstatus_to_exitcode(status)).encode())


if __name__ == "__main__":
    main(int(sys.argv[1]))
