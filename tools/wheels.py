"""Prints on which systems the packages of a lock have wheels: python -m tools.wheels [--lock run]. uv asks the index.

A cell counts the packages that are needed there and have a wheel that the lock allows by its hash; those without one
are named. uv resolves for the other system and installs nothing.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
PLACES = {
    "Linux, x86-64": "x86_64-unknown-linux-gnu",
    "Linux, arm64": "aarch64-unknown-linux-gnu",
    "Windows, x86-64": "x86_64-pc-windows-msvc",
    "Windows, arm64": "aarch64-pc-windows-msvc",
    "macOS, x86-64": "x86_64-apple-darwin",
    "macOS, arm64": "aarch64-apple-darwin",
}
LACKS = re.compile(r"Because ([\w.-]+)(?:\{[^}]*\})?==\S+ has no (?:usable )?wheels")
FOUND = re.compile(r"Would install (\d+) package")


def resolve(lock: str, place: str, version: str) -> str:
    """What uv says of installing these lines on another system."""
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder) / "lock.txt"
        listed.write_text(lock, encoding="utf-8")
        words = ["--dry-run", "--no-deps", "--require-hashes", "--only-binary", ":all:", "--target", folder]
        words += ["--python-platform", place, "--python-version", version, "-r", str(listed)]
        line = ["uv", "pip", "install", *words]
        return subprocess.run(line, capture_output=True, text=True, check=False).stderr


def without(lock: str, name: str) -> str:
    """The lock without one package. Raises ValueError where it does not name it."""
    kept, count = re.subn(
        rf"^{re.escape(name)}==[^\\\n]*(?:\\\n[^\\\n]*)*\n", "", lock, flags=re.MULTILINE | re.IGNORECASE
    )
    if not count:
        msg = f"the lock does not name {name}"
        raise ValueError(msg)
    return kept


def cell(lock: str, place: str, version: str) -> str:
    """How many packages have a wheel there, and which have none. Raises SystemExit with what uv said otherwise."""
    lacking: list[str] = []
    while True:
        said = resolve(lock, place, version)
        if lacks := LACKS.search(re.sub(r"\s+", " ", said)):
            lacking.append(lacks[1])
            lock = without(lock, lacks[1])
        elif found := FOUND.search(said):
            return f"{found[1]}, not {', '.join(lacking)}" if lacking else found[1]
        else:
            raise SystemExit(said)


def main(arguments: list[str] | None = None) -> int:
    """Prints the table as Markdown."""
    parser = argparse.ArgumentParser(description="wheels of a lock, by system and Python")
    parser.add_argument("--lock", default="run", help="name of a file in requirements/, without its ending")
    args = parser.parse_args(arguments)
    lock = (PROJECT / "requirements" / f"{args.lock}.lock").read_text(encoding="utf-8")
    rows = [["system", *PYTHONS], ["---"] * (1 + len(PYTHONS))]
    rows += [[name, *(cell(lock, place, version) for version in PYTHONS)] for name, place in PLACES.items()]
    print("\n".join(f"| {' | '.join(row)} |" for row in rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
