"""Writes the bill of materials (CycloneDX 1.6, JSON) of the installed program: python -m tools.sbom [-o FILE].

Reads the metadata of installed distributions and the hashes of requirements/run.lock; needs no network. The same
environment gives the same bytes: no clock, no random serial number.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = "dpsyn-studio"
EXTRAS = frozenset({"app", "codebooks", "databases", "excel", "login"})  # what the lock holds
PROJECT = Path(__file__).resolve().parents[1]
LOCK = PROJECT / "requirements/run.lock"


def needed(root: str, extras: frozenset[str] = frozenset()) -> dict[str, tuple[Distribution, list[str]]]:
    """Name -> (distribution, names it needs), for the root and all that it needs here; markers decide."""
    found: dict[str, tuple[Distribution, list[str]]] = {}
    waiting = [(canonicalize_name(root), extras)]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        name, wanted = waiting.pop()
        if (name, wanted) in seen:
            continue
        seen.add((name, wanted))
        try:
            dist = distribution(name)
        except PackageNotFoundError:
            if name == canonicalize_name(root):
                raise
            continue  # an optional part that is not installed is no material of this program
        below = found.setdefault(name, (dist, []))[1]
        for line in dist.requires or []:
            requirement = Requirement(line)
            marker = requirement.marker
            if marker is None or any(marker.evaluate({"extra": e}) for e in (wanted or {""})):
                child = str(canonicalize_name(requirement.name))
                if child not in below:
                    below.append(child)
                waiting.append((canonicalize_name(child), frozenset(requirement.extras)))
    for _, below in found.values():
        below[:] = sorted(n for n in below if n in found)
    return dict(sorted(found.items()))


def lock_hashes(text: str) -> dict[str, list[str]]:
    """Name -> SHA-256 hashes that the lock allows for its files."""
    hashes: dict[str, list[str]] = {}
    name = ""
    for line in text.splitlines():
        if start := re.match(r"([A-Za-z0-9._-]+)==", line):
            name = canonicalize_name(start[1])
        hashes.setdefault(name, []).extend(re.findall(r"--hash=sha256:([0-9a-f]{64})", line))
    return hashes


def purl(name: str, version: str) -> str:
    """Package URL."""
    return f"pkg:pypi/{name}@{version}"


def licence(dist: Distribution) -> list[dict[str, Any]]:
    """The licence as the package states it: an SPDX expression, else its text field, else its classifiers."""
    meta = dist.metadata
    if "License-Expression" in meta:
        return [{"expression": meta["License-Expression"]}]
    stated = meta["License"].strip() if "License" in meta else ""
    if stated and "\n" not in stated and len(stated) < 100:
        return [{"license": {"name": stated}}]
    kinds = [c.rsplit(" :: ", 1)[-1] for c in meta.get_all("Classifier") or [] if c.startswith("License ::")]
    return [{"license": {"name": kind}} for kind in dict.fromkeys(kinds)]


def component(name: str, dist: Distribution, hashes: list[str], *, kind: str = "library") -> dict[str, Any]:
    """One entry. The lock allows several files a version (one a platform): their hashes are properties."""
    entry: dict[str, Any] = {
        "type": kind,
        "bom-ref": purl(name, dist.version),
        "name": name,
        "version": dist.version,
        "purl": purl(name, dist.version),
    }
    if found := licence(dist):
        entry["licenses"] = found
    if hashes:
        entry["properties"] = [{"name": "lock:sha256", "value": h} for h in sorted(hashes)]
    return entry


def bill(root: str = ROOT, lock: str = "") -> dict[str, Any]:
    """The whole document."""
    parts = needed(root, EXTRAS if root == ROOT else frozenset())
    hashes = lock_hashes(lock)
    top = str(canonicalize_name(root))
    refs = {name: purl(name, dist.version) for name, (dist, _) in parts.items()}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": component(top, parts[top][0], [], kind="application")},
        "components": [component(n, d, hashes.get(n, [])) for n, (d, _) in parts.items() if n != top],
        "dependencies": [{"ref": refs[n], "dependsOn": [refs[c] for c in below]} for n, (_, below) in parts.items()],
    }


def main() -> int:
    """Writes the bill and says where."""
    parser = argparse.ArgumentParser(description="write the bill of materials")
    parser.add_argument("-o", "--out", type=Path, default=PROJECT / "dist" / "sbom.json")
    args = parser.parse_args()
    try:
        document = bill(lock=LOCK.read_text(encoding="utf-8") if LOCK.exists() else "")
    except PackageNotFoundError:
        sys.stderr.write(f"{ROOT} is not installed in this environment; run 'make setup' first\n")
        return 2
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    sys.stdout.write(f"wrote {len(document['components'])} components to {args.out}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
