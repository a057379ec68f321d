"""Builds wheel and sdist into dist/, twice, and fails where the bytes differ: python -m tools.dist [-o FOLDER].

Every file in them is dated by SOURCE_DATE_EPOCH: that of the environment, else the last commit's, else 1980.
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
EARLIEST = "315532800"  # seconds to 1980, before which no zip can date a file
MASKS = (0o022, 0o077)  # of permissions, one a build: they must not show in what is built


def epoch() -> str:
    """The moment that files are dated by, in seconds since 1970."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given:
        return given
    line = ["git", "-C", str(PROJECT), "log", "-1", "--format=%ct"]
    try:
        found = subprocess.run(line, capture_output=True, text=True, check=False)
    except OSError:
        return EARLIEST
    return found.stdout.strip() or EARLIEST


def build(folder: Path, mask: int) -> dict[str, str]:
    """Builds both into a folder: file name -> SHA-256."""
    env = os.environ | {"SOURCE_DATE_EPOCH": epoch()}
    line = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    done = subprocess.run(line, cwd=PROJECT, env=env, umask=mask, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.stderr.write(done.stderr)
        raise SystemExit(done.returncode)
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(folder.iterdir())}


def main(arguments: list[str] | None = None) -> int:
    """Exit status 1 where two builds differ."""
    parser = argparse.ArgumentParser(description="build wheel and sdist, and check that two builds are equal")
    parser.add_argument("-o", "--out", type=Path, default=PROJECT / "dist")
    args = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as scratch:
        first, second = (build(Path(scratch) / str(i), mask) for i, mask in enumerate(MASKS))
        if first != second:
            sys.stderr.write(f"two builds differ: {sorted(n for n in first if first[n] != second.get(n))}\n")
            return 1
        args.out.mkdir(parents=True, exist_ok=True)
        for name, digest in first.items():
            shutil.copyfile(Path(scratch) / "0" / name, args.out / name)
            print(f"{digest}  {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
