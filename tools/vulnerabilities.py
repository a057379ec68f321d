"""Asks pip-audit for known vulnerabilities of the locks: python -m tools.vulnerabilities. Fails on a finding.

Where the package index gives no vulnerability data, or there is no network, nothing can be said: one line says so
and the check passes, so that it can stand in `make check` on every machine. Such a machine can be given the data as a
file: --database FILE, the archive of the PyPI ecosystem that the OSV project publishes (all.zip).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

from tools.osv import document

LOCKS = ("requirements.lock", "requirements-dev.lock")
PROJECT = Path(__file__).resolve().parents[1]


def judge(document: dict[str, Any]) -> tuple[list[str], int, int]:
    """Findings as lines, packages that were checked, packages that could not be."""
    findings, checked, skipped = [], 0, 0
    for package in document["dependencies"]:
        if "skip_reason" in package:
            skipped += 1
            continue
        checked += 1
        for flaw in package["vulns"]:
            fixed = "fixed in " + ", ".join(flaw["fix_versions"]) if flaw["fix_versions"] else "no fixed version yet"
            findings.append(f"{package['name']} {package['version']}: {flaw['id']} ({fixed})")
    return findings, checked, skipped


def ask(lock: Path, service: str) -> dict[str, Any] | None:
    """What pip-audit says of a lock; None when it cannot reach the service."""
    line = [sys.executable, "-m", "pip_audit", "--disable-pip", "--require-hashes", "-r", str(lock)]
    line += ["--vulnerability-service", service, "--progress-spinner", "off", "--timeout", "10", "-f", "json"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    try:
        return dict(json.loads(done.stdout))
    except json.JSONDecodeError:
        return None


def reached(lock: Path) -> dict[str, Any] | None:
    """The first service's answer that says anything of any package."""
    for service in ("pypi", "osv"):
        answer = ask(lock, service)
        if answer is not None and judge(answer)[1]:
            return answer
    return None


def main(arguments: list[str] | None = None) -> int:
    """Exit status 1 on a finding, 2 for a database that cannot be read, else 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--database", type=Path, metavar="FILE", help="all.zip of OSV's PyPI data; asks no service")
    database = parser.parse_args(arguments).database
    worst = 0
    for name in LOCKS:
        lock = PROJECT / name
        try:
            answer = reached(lock) if database is None else document(lock.read_text(encoding="utf-8"), database)
        except (OSError, zipfile.BadZipFile, json.JSONDecodeError) as error:
            sys.stdout.write(f"{database} cannot be read ({type(error).__name__}); give OSV's all.zip of PyPI\n")
            return 2
        if answer is None:
            sys.stdout.write(f"{name}: not checked, no vulnerability data can be reached from here\n")
            continue
        findings, checked, skipped = judge(answer)
        sys.stdout.write(f"{name}: {checked} packages checked, {skipped} unknown, {len(findings)} findings\n")
        sys.stdout.writelines(f"  {line}\n" for line in findings)
        worst = max(worst, bool(findings))
    return worst


if __name__ == "__main__":
    sys.exit(main())
