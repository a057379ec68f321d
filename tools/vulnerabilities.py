"""Asks pip-audit for known vulnerabilities of the lock: python -m tools.vulnerabilities. Fails on a finding.

Where the package index gives no vulnerability data, or there is no network, nothing can be said: one line says so
and the check passes, so that it can stand in `make check` on every machine.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

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
            fixed = ", ".join(flaw["fix_versions"]) or "no fixed version yet"
            findings.append(f"{package['name']} {package['version']}: {flaw['id']} (fixed in {fixed})")
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


def main() -> int:
    """Exit status 1 on a finding, else 0."""
    worst = 0
    for name in LOCKS:
        for service in ("pypi", "osv"):
            document = ask(PROJECT / name, service)
            if document is None:
                continue
            findings, checked, skipped = judge(document)
            if checked:
                break
        else:
            sys.stdout.write(f"{name}: not checked, no vulnerability data can be reached from here\n")
            continue
        sys.stdout.write(f"{name}: {checked} packages checked, {skipped} unknown, {len(findings)} findings\n")
        sys.stdout.writelines(f"  {line}\n" for line in findings)
        worst = max(worst, bool(findings))
    return worst


if __name__ == "__main__":
    sys.exit(main())
