"""All that `make` does, with Python alone and on any system: python -m tools.dev TARGET [MORE ...].

Every target sets up what it needs in .venv. Words after the target go to the last command of it, such as
`python -m tools.dev test tests/evaluate`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
VENV = PROJECT / ".venv"
PIP = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")
# processes of tests; which run in one of them: tests/together.py
WORKERS = ("--dist", "loadscope", "-n")
# environment -> what is installed before it. Each has a lock with hashes; `deep` comes after `dev` where there is one:
# both pin mpmath, and torch needs the older. SDGym's contradicts the others, and has a folder of its own
ENVIRONMENTS = {"run": (), "dev": ("run",), "deep": ("run",), "spark": ("run",), "docs": ("run",), "sdgym": ("run",)}
EXTRAS = {  # extras that a lock holds; `make lock` resolves these three, the others are kept by hand
    "run": ("app", "build", "codebooks", "databases", "excel", "login"),
    "dev": ("app", "excel", "pgm", "boost", "databases", "polars", "login", "codebooks", "build", "dev"),
    "docs": ("docs",),
}
OTHER_SYSTEMS = ("win32", "darwin")
APP = ("dpsyn_core", "ui", "pages", "app.py")


@dataclass(frozen=True, kw_only=True)
class Target:
    """What it does, which environments it needs, and its commands, each the arguments of .venv's Python.

    Those of `meanwhile` are started first, and waited for after the others.
    """

    does: str
    needs: tuple[str, ...] = ("dev",)
    commands: tuple[tuple[str, ...], ...] = ()
    meanwhile: tuple[tuple[str, ...], ...] = ()


TARGETS = {
    "setup": Target(  # the first run compiles nothing
        does="set up what the app needs, and compile its kernels",
        needs=("run",),
        commands=(("-m", "dpsyn_core.runs.jobs.worker", "--warm"),),
    ),
    "dev": Target(does="set up everything that is needed to work on the code"),
    "deep": Target(does="add torch, for the deep systems", needs=("run", "deep")),
    "spark": Target(does="add pyspark, for tables on a cluster; executors need Java", needs=("run", "spark")),
    "sdgym": Target(does="set up SDGym in an environment of its own", needs=("run", "sdgym")),
    "peers": Target(does="set up the systems of others, each in an environment of its own (dpmm: Python 3.11)"),
    "app": Target(does="open the app", needs=("run",), commands=(("-m", "dpsyn_core", "app"),)),
    "test": Target(
        does="run what needs Python alone, in minutes; the last lines name what was left out",
        commands=(("-m", "pytest", *WORKERS, "2", "--quick"),),
    ),
    # a test in a browser that fails is tried a second time and counted as "rerun", nothing else is
    # (tests/tried_again.py): noise takes no seed, so every test of it states how often it fails by chance
    # one process more than CI has cores: a test in a browser waits for half of its time
    "test-all": Target(
        does="run everything; a missing Chromium, PostgreSQL server or Java runtime is a failure",
        needs=("dev", "deep", "spark", "sdgym"),
        commands=(("-m", "pytest", *WORKERS, "3", "--complete"),),
    ),
    "check": Target(
        does="check formatting, lint, types (for Linux, Windows and macOS) and known vulnerabilities",
        commands=(
            ("-m", "ruff", "format", "--check", "."),
            ("-m", "ruff", "check", "."),
            ("-m", "mypy"),
            ("-m", "tools.vulnerabilities"),
        ),
        meanwhile=tuple(
            ("-m", "mypy", "--platform", s, "--cache-dir", f".mypy_cache/{s}", *APP) for s in OTHER_SYSTEMS
        ),
    ),
    "bench": Target(does="print the figures", commands=(("-m", "benchmarks.run"),)),
    "audit": Target(does="run the long audits", commands=(("-m", "benchmarks.audit"),)),
    "mutants": Target(
        does="plant small faults and see whether tests fail; hours", commands=(("-m", "benchmarks.mutants"),)
    ),
    "screenshots": Target(does="take the pictures", commands=(("-m", "tools.screenshots"),)),
    "dist": Target(
        does="build wheel and sdist, twice: the same bytes", needs=("run",), commands=(("-m", "tools.dist"),)
    ),
    "bundle": Target(
        does="build a folder of wheels that installs without a network",
        needs=("dev",),
        commands=(("-m", "tools.bundle"),),
    ),
    "docs": Target(
        does="build the site into build/site",
        needs=("run", "docs"),
        commands=(("-m", "mkdocs", "build", "--strict", "--quiet"),),
    ),
    "browser": Target(does="build the labs as a static folder", needs=("run",), commands=(("-m", "tools.browser"),)),
    "lock": Target(does="resolve three locks anew, with uv; they name no host", needs=()),
    "clean": Target(does="remove what was set up and built", needs=()),
}


def python(folder: Path = VENV) -> Path:
    """The interpreter of an environment."""
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def begin(*command: str | Path) -> subprocess.Popen[bytes]:
    """Starts a command in the project."""
    return subprocess.Popen([str(word) for word in command], cwd=PROJECT)


def finish(started: subprocess.Popen[bytes]) -> None:
    """Waits for a command; its failure is that of this program."""
    if status := started.wait():
        raise SystemExit(status)


def run(*command: str | Path) -> None:
    """Runs a command in the project, as `finish` says."""
    finish(begin(*command))


def make_environment(folder: Path) -> None:
    """An empty environment of the interpreter that runs this, where there is none."""
    if not python(folder).exists():
        run(sys.executable, "-m", "venv", folder)


def install(name: str) -> None:
    """Brings an environment to what its lock says; nothing happens where it is newer than that."""
    before = [*ENVIRONMENTS[name], *(["dev"] if name == "deep" and (VENV / ".dev").exists() else [])]
    for other in ENVIRONMENTS[name]:
        install(other)
    lock, stamp = PROJECT / "requirements" / f"{name}.lock", VENV / f".{name}"
    sources = [lock, PROJECT / "pyproject.toml", *(VENV / f".{other}" for other in before)]
    if stamp.exists() and stamp.stat().st_mtime >= max(s.stat().st_mtime for s in sources):
        return
    folder = VENV / "sdgym" if name == "sdgym" else VENV
    make_environment(folder)
    run(python(folder), *PIP, "--require-hashes", "-r", lock)
    if name == "run":  # pip checks every file against the hashes of the lock; the project is installed in place
        run(python(), *PIP, "--no-deps", "--no-build-isolation", "-e", ".")
    stamp.touch()


def install_peers() -> None:
    """Others' systems, for `python -m benchmarks.peers.run`."""
    for listed in sorted((PROJECT / "benchmarks" / "peers").glob("*.txt")):
        folder = VENV / "peers" / listed.stem
        stamp = folder / ".made"
        if not stamp.exists() or stamp.stat().st_mtime < listed.stat().st_mtime:
            make_environment(folder)
            run(python(folder), *PIP, "--no-deps", "-r", listed)
            stamp.touch()


def lock() -> None:
    """Resolves what the locks pin; versions that still fit stay."""
    for name, extras in EXTRAS.items():
        words = [word for extra in extras for word in ("--extra", extra)]
        words += ["--constraint", "requirements/dev.lock"] if name == "docs" else []
        words += ["--no-emit-index-url", "--no-annotate", "--no-header", "-o", f"requirements/{name}.lock"]
        run(
            "uv",
            "pip",
            "compile",
            "--universal",
            "--python-version",
            "3.11",
            "--generate-hashes",
            *words,
            "pyproject.toml",
        )


def clean() -> None:
    """Removes what git ignores and these targets make."""
    for name in (".venv", "build", "dist", ".pytest_cache", ".mypy_cache", ".ruff_cache"):
        shutil.rmtree(PROJECT / name, ignore_errors=True)


def main(arguments: list[str] | None = None) -> int:
    """Does what one target says."""
    width = max(map(len, TARGETS))
    listed = "\n".join(f"  {name:{width}}  {target.does}" for name, target in TARGETS.items())
    parser = argparse.ArgumentParser(
        prog="python -m tools.dev",
        description=__doc__,
        epilog=listed,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("target", choices=TARGETS, metavar="TARGET", help="one of the list below")
    parser.add_argument("more", nargs=argparse.REMAINDER, metavar="MORE", help="words for its last command")
    args = parser.parse_args(arguments)
    target = TARGETS[args.target]
    for name in target.needs:
        install(name)
    for other, act in (("peers", install_peers), ("lock", lock), ("clean", clean)):
        if args.target == other:
            act()
    others = [begin(python(), *command) for command in target.meanwhile]
    for i, command in enumerate(target.commands):
        run(python(), *command, *(args.more if i == len(target.commands) - 1 else []))
    for started in others:
        finish(started)
    return 0


if __name__ == "__main__":
    sys.exit(main())
