"""Builds a folder that installs the program with the app and without a network: python -m tools.bundle [-o FOLDER].

For the system, the processor and the Python that run this. `wheels` holds what requirements/run.lock pins, checked by
pip against its hashes, and the project itself; `requirements.txt` lists all of it with hashes, so that
`python -m pip install -r requirements.txt` is all that the other machine needs; `sbom.json` is the bill of materials
(CycloneDX) of an environment into which the folder was installed without an index. SHA256SUMS has every file.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
LOCK = PROJECT / "requirements" / "run.lock"
HEAD = "--no-index\n--find-links wheels\n"  # read from the place of the file that says so


def digest(path: Path) -> str:
    """SHA-256 of a file, as hex."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def requirements(lock: str, wheel: Path) -> str:
    """What pip is to install, from the folder alone: the lock, and the wheel of the project with its hash."""
    name, version = wheel.name.split("-")[:2]
    return f"{HEAD}{lock.rstrip()}\n{name.replace('_', '-')}=={version} \\\n    --hash=sha256:{digest(wheel)}\n"


def sums(folder: Path) -> str:
    """A line a file, as `sha256sum --check` reads it."""
    files = sorted(p for p in folder.rglob("*") if p.is_file() and p.name != "SHA256SUMS")
    return "".join(f"{digest(p)}  {p.relative_to(folder).as_posix()}\n" for p in files)


def run(*words: str | Path, cwd: Path = PROJECT) -> None:
    """Runs this Python with some words. Its failure is that of this program."""
    done = subprocess.run([sys.executable, *(str(w) for w in words)], cwd=cwd, check=False)
    if done.returncode:
        raise SystemExit(done.returncode)


def main(arguments: list[str] | None = None) -> int:
    """Builds the folder, installs it without an index, and lists what was installed."""
    parser = argparse.ArgumentParser(description="build a folder that installs without a network")
    parser.add_argument("-o", "--out", type=Path, default=PROJECT / "build" / "bundle")
    out = parser.parse_args(arguments).out.resolve()
    shutil.rmtree(out, ignore_errors=True)
    wheels = out / "wheels"
    wheels.mkdir(parents=True)
    pip = ("-m", "pip", "--quiet", "--disable-pip-version-check")
    run(*pip, "download", "--only-binary", ":all:", "--no-deps", "--require-hashes", "-d", wheels, "-r", LOCK)
    with tempfile.TemporaryDirectory() as folder:
        run("-m", "tools.dist", "-o", folder)
        made = next(Path(folder).glob("*.whl"))
        shutil.copyfile(made, wheels / made.name)
        listed = out / "requirements.txt"
        listed.write_text(requirements(LOCK.read_text(encoding="utf-8"), wheels / made.name), encoding="utf-8")
        tried = Path(folder) / "tried"
        run("-m", "venv", "--without-pip", tried)
        inside = tried / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        run(*pip, "--python", inside, "install", "--no-deps", "--require-hashes", "-r", listed, cwd=Path(folder))
        bill = ("environment", inside, "--pyproject", PROJECT / "pyproject.toml", "--output-reproducible")
        run("-m", "cyclonedx_py", *bill, "-o", out / "sbom.json")
    (out / "SHA256SUMS").write_text(sums(out), encoding="utf-8")
    size = sum(p.stat().st_size for p in wheels.iterdir()) / 1e6
    print(f"{len(list(wheels.iterdir()))} wheels, {size:.0f} MB, in {out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
