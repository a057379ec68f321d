"""Asks pip-audit for known vulnerabilities of all locks: python -m tools.vulnerabilities. Fails on a finding.

It fails as well where a package could not be looked up: no service can be reached, or the package index that is used
here gives no such data. `--allow-unchecked` lets that pass, and says so; whoever gives it has decided that this machine
is not the one that checks. Packages are those that the locks name for this machine's Python and system.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[1]
SERVICES = ("pypi", "osv")
FOUND, UNCHECKED = 1, 2  # exit statuses


def locks() -> list[Path]:
    """All locks of the project."""
    return sorted((PROJECT / "requirements").glob("*.lock"))


def ask(lock: Path, service: str) -> list[dict[str, Any]]:
    """What pip-audit says of each package of a lock; nothing when it cannot reach the service."""
    line = [sys.executable, "-m", "pip_audit", "--disable-pip", "--require-hashes", "-r", str(lock)]
    line += ["--vulnerability-service", service, "--progress-spinner", "off", "--timeout", "10", "-f", "json"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    try:
        return list(json.loads(done.stdout)["dependencies"])
    except json.JSONDecodeError:
        return []


def judge(packages: list[dict[str, Any]]) -> tuple[list[str], int, int]:
    """Findings as lines, packages that were checked, packages that could not be."""
    checked = [package for package in packages if "skip_reason" not in package]
    findings = [
        f"{p['name']} {p['version']}: {flaw['id']} "
        f"({'fixed in ' + ', '.join(flaw['fix_versions']) if flaw['fix_versions'] else 'no fixed version yet'})"
        for p in checked
        for flaw in p["vulns"]
    ]
    return findings, len(checked), len(packages) - len(checked)


def main(arguments: list[str] | None = None) -> int:
    """Exit status 1 on a finding, 2 where something was not checked and that is not allowed, else 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "--allow-unchecked", action="store_true", help="pass where no vulnerability data can be reached"
    )
    allowed = parser.parse_args(arguments).allow_unchecked
    services, status = list(SERVICES), 0
    for lock in locks():
        found: list[str] = []
        checked, skipped = 0, 1
        while services and skipped:
            found, checked, skipped = judge(ask(lock, services[0]))
            if not checked:
                del services[0]  # it cannot be reached, or has no such data, for the other locks either
                skipped = 1
            elif skipped:
                break
        unknown = f"NOT CHECKED: {skipped} packages" if checked else "NOT CHECKED: no vulnerability data can be reached"
        said = f"{checked} packages checked, {len(found)} findings" if checked else ""
        sys.stdout.write(f"{lock.name}: {', '.join(part for part in (said, unknown if skipped else '') if part)}\n")
        sys.stdout.writelines(f"  {line}\n" for line in found)
        if found:
            status = FOUND
        elif skipped and not allowed:
            status = status or UNCHECKED
    if status == UNCHECKED:
        sys.stdout.write("run it where a service can be reached, or allow this with --allow-unchecked\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
