"""Child: a process that runs one module of this program, how it is fed, limited and ended."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from dpsyn_core.platforms import PARENT, end_with_parent, forbid_core_dumps, give_way, limit_resources, orphaned


class Child(subprocess.Popen[bytes]):
    """A child process. What it writes as errors goes nowhere unless somebody reads it: it may quote a private value.

    Its answer comes back in the files of a folder, or as bytes on its standard output; what is wrong is one sentence
    there. Its task comes by the standard input where others must not see it: a list of processes shows arguments.
    """

    @classmethod
    def module(
        cls,
        name: str,
        *arguments: str,
        cwd: Path | None = None,
        stdin: int = subprocess.DEVNULL,
        stdout: int = subprocess.DEVNULL,
        stderr: int = subprocess.DEVNULL,
        env: Mapping[str, str] | None = None,
    ) -> Self:
        """Starts a module of this installation; nothing is imported from the folder where it works.

        Args:
            name: of the module, with dots.
            arguments: of its command line.
            cwd: the folder where it works.
            stdin, stdout, stderr: as of `subprocess.Popen`.
            env: variables that it has beside those of this process.
        """
        package = str(Path(__file__).resolve().parents[1])
        path = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
        return cls(
            [sys.executable, "-P", "-m", name, *arguments],
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            # names and documents go to it as UTF-8, whatever a console of this system takes
            env={**os.environ, **(env or {}), "PYTHONPATH": path, "PYTHONUTF8": "1", PARENT: str(os.getpid())},
            cwd=cwd,
        )

    def tell(self, data: bytes) -> bool:
        """Writes all of its standard input and closes it; False where it has ended before."""
        try:
            with self.stdin as pipe:  # type: ignore[union-attr]
                pipe.write(data)
        except OSError:  # a broken pipe, which Windows reports as an invalid argument
            return False
        return True

    def answer(self, data: memoryview, seconds: float) -> tuple[int, bytes, bytes]:
        """Its exit status, output and errors, once it has read these bytes and ended.

        Raises subprocess.TimeoutExpired after so many seconds; it is ended then.
        """
        try:
            out, errors = self.communicate(data, seconds)  # type: ignore[arg-type]  # any bytes will do
        finally:
            self.end()
        return self.returncode, out, errors

    def end(self, grace: float = 0.0) -> None:
        """Ends it and waits for that: asks first where there are some seconds of grace."""
        if self.poll() is not None:
            return
        if grace:
            self.terminate()
            try:
                self.wait(grace)
            except subprocess.TimeoutExpired:
                self.kill()
        else:
            self.kill()
        self.wait()

    @staticmethod
    def begin(*, niceness: int = 0, memory_mb: int | None = None, seconds: int | None = None) -> None:
        """What a child does first: leaves no core dump, writes files for its owner alone, and keeps within limits.

        Args:
            niceness: by how much it gives way to other processes.
            memory_mb, seconds: limits, see `limit_resources`; None: set later, when the task has arrived.
        """
        forbid_core_dumps()
        give_way(niceness)
        os.umask(0o077)
        if memory_mb is not None and seconds is not None:
            limit_resources(memory_mb, seconds)

    @staticmethod
    def end_with(parent: int) -> None:
        """Ends this process when its parent ends, on Linux at once; elsewhere it has to ask `orphaned` for itself."""
        end_with_parent()
        if orphaned(parent):
            sys.exit(1)
