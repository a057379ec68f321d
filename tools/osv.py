"""Known vulnerabilities from a file: the PyPI part of the OSV database, as its zip archive of one JSON a finding."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

PIN = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)==([^\s;\\]+)", re.MULTILINE)


def pins(lock: str) -> list[tuple[str, str]]:
    """Name and version of every package of a lock; a package may stand twice, for different machines."""
    return sorted({(str(canonicalize_name(name)), version) for name, version in PIN.findall(lock)})


def records(database: Path) -> Iterator[dict[str, Any]]:
    """The findings of the archive that have not been withdrawn."""
    with zipfile.ZipFile(database) as archive:
        for name in archive.namelist():
            if name.endswith(".json"):
                record = json.loads(archive.read(name))
                if not record.get("withdrawn"):
                    yield record


def by_package(database: Path, wanted: set[str]) -> dict[str, list[dict[str, Any]]]:
    """Name -> parts of findings that are about it, each with the finding's `id`."""
    found: dict[str, list[dict[str, Any]]] = {}
    for record in records(database):
        for part in record.get("affected", []):
            package = part.get("package", {})
            name = str(canonicalize_name(package.get("name", "")))
            if package.get("ecosystem") == "PyPI" and name in wanted:
                found.setdefault(name, []).append({**part, "id": record["id"]})
    return found


def hits(part: dict[str, Any], version: str) -> bool:
    """Whether a part of a finding is about this version: named one by one, or inside a range of versions."""
    if version in part.get("versions", []):
        return True
    return any(r.get("type") == "ECOSYSTEM" and _inside(r.get("events", []), version) for r in part.get("ranges", []))


def fixes(part: dict[str, Any]) -> list[str]:
    """Versions that mend it."""
    return [
        e["fixed"] for r in part.get("ranges", []) if r.get("type") == "ECOSYSTEM" for e in r["events"] if "fixed" in e
    ]


def _inside(events: list[dict[str, str]], version: str) -> bool:
    """Events in order of version switch the range on (introduced) and off (fixed; after the last affected)."""
    mine, inside = Version(version), False
    for kind, at in sorted(((k, v) for e in events for k, v in e.items()), key=lambda e: _version(e[1])):
        if kind == "introduced" and mine >= _version(at):
            inside = True
        elif (kind == "fixed" and mine >= _version(at)) or (kind == "last_affected" and mine > _version(at)):
            inside = False
    return inside


def _version(text: str) -> Version:
    try:
        return Version(text)
    except InvalidVersion:
        return Version("0")  # a mark of another kind stands for the beginning: rather one finding too many


def document(lock: str, database: Path) -> dict[str, Any]:
    """Findings of a lock in the form that pip-audit has."""
    pinned = pins(lock)
    known = by_package(database, {name for name, _ in pinned})
    return {
        "dependencies": [
            {
                "name": name,
                "version": version,
                "vulns": [{"id": p["id"], "fix_versions": fixes(p)} for p in known.get(name, []) if hits(p, version)],
            }
            for name, version in pinned
        ]
    }
