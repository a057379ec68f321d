"""Digests that a change of structure keeps: `python -m benchmarks.frozen --write F.json`, later `--check F.json`.

With noise from a seed, every system in SYSTEMS runs on every table of TABLES at every epsilon, with and without delta
where it takes one; kept are digests of its charges with their scales, of its measurements and of its records. So are
the charges, table and released measurements of whole runs from text to text on the bundled sample, the help of every
sub-command and the JSON schemas of the documents. Digests depend on the machine (linear algebra rounds differently), so
that the file is written before a change and checked after it, on one machine. Exit status 1 where anything differs.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import sys
import tempfile
from pathlib import Path
from unittest import mock

import numpy as np

from benchmarks.accuracy import load
from dpsyn_core.cli import main as command
from dpsyn_core.counting.memory import MemoryCounter
from dpsyn_core.measurement.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.questions.document import Questions
from dpsyn_core.runs import open as opening
from dpsyn_core.schema.document import Schema
from dpsyn_core.synthesizers.base import Task
from dpsyn_core.synthesizers.registry import config_class, configure
from tests.seeded import SeededNoise

TABLES = (
    "tree-1000x10", "skewed-5000x8", "deterministic-3000x10", "tree-20000x12", "wide-5000x12", "mixture-4000x10",
    "clique-3000x8", "interaction-3000x8", "tree-300x6", "clique-30000x6",
)  # fmt: skip
SYSTEMS = ("rls", "dpsyn", "mst", "p3gm")
EPSILONS = (0.3, 1.0, 10.0)
DELTA = 1e-9
COMMANDS = (
    "answer", "app", "attack", "compare", "draw", "explore", "itemsets", "key", "ledger", "marginal", "methods",
    "noise", "plan", "report", "sample", "schema", "synth", "verify",
)  # fmt: skip


def digest(*parts: object) -> str:
    """The first 16 hexadecimal digits of the SHA-256 of parts; arrays by shape and bytes, all else by repr."""
    h = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            h.update(repr((part.shape, part.dtype.str)).encode() + np.ascontiguousarray(part).tobytes())
        else:
            h.update(repr(part).encode())
    return h.hexdigest()[:16]


def engine(systems: tuple[str, ...], tables: tuple[str, ...]) -> dict[str, str]:
    """Charges, measurements and records of systems on coded tables."""
    out = {}
    for table in tables:
        data = load(table)
        for system in systems:
            for epsilon in EPSILONS:
                for delta in (0.0, DELTA) if config_class(system).guarantee.pure else (DELTA,):
                    budget = Budget(epsilon=epsilon, delta=delta)
                    task = Task(domain=data.domain, unit=Unit(), budget=budget, n_public=None)
                    calibrated = configure(system, {}).calibrate(task)
                    gate = Gate(account=Account(calibrated.cost, delta=delta), noise=SeededNoise(1), unit=task.unit)
                    measured = calibrated.measure(MemoryCounter(data.codes, data.domain), gate=gate)
                    records = calibrated.synthesize(measured, None, rng=np.random.default_rng(1))
                    charges = [(c.name, c.mechanism, c.cells, c.sensitivity, c.scale) for c in gate.account.charges]
                    key = f"{table} {system} {epsilon:g} {delta:g}"
                    out[key] = digest(charges, np.asarray(records))
                    print(key, out[key], file=sys.stderr)
    return out


def whole_runs() -> dict[str, str]:
    """From text to text on the bundled sample, by the command."""
    out = {}
    with tempfile.TemporaryDirectory() as name, mock.patch.object(opening, "SystemNoise", lambda: SeededNoise(1)):
        folder = Path(name)
        said(["sample", str(folder)])
        for system in ("rls", "dpsyn", "independent"):
            written, manifest = folder / f"{system}.csv", folder / f"{system}.json"
            said([
                "synth", str(folder / "sample.csv"), "--schema", str(folder / "sample.schema.json"), "--epsilon", "1",
                "--delta", "1e-9", "--out", str(written), "--manifest", str(manifest), "--seed", "7",
                "--method", system,
            ])  # fmt: skip
            document = json.loads(manifest.read_text())
            out[f"sample {system} table"] = digest(written.read_bytes())
            out[f"sample {system} charges"] = digest(json.dumps(document["charges"], sort_keys=True))
    return out


def said(arguments: list[str]) -> str:
    """What a command prints; it must succeed."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text), contextlib.suppress(SystemExit):
        if command(arguments) not in (0, None):
            msg = f"dpsyn {' '.join(arguments)} failed"
            raise RuntimeError(msg)
    return text.getvalue()


def documents() -> dict[str, str]:
    """Help texts of all sub-commands, and JSON schemas of what people write."""
    out = {f"help {name}": digest(said([name, "--help"])) for name in COMMANDS}
    for kind in (Schema, Questions):
        out[f"schema of {kind.__name__}"] = digest(json.dumps(kind.model_json_schema(), sort_keys=True))
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--check", type=Path)
    parser.add_argument("--systems", default=",".join(SYSTEMS))
    parser.add_argument("--tables", default=",".join(TABLES))
    given = parser.parse_args()
    found = {**documents(), **whole_runs(), **engine(tuple(given.systems.split(",")), tuple(given.tables.split(",")))}
    if given.write:
        given.write.write_text(json.dumps(found, indent=1) + "\n")
    if given.check:
        before = json.loads(given.check.read_text())
        moved = [key for key in found if before.get(key) != found[key]]
        print("\n".join(f"differs: {key}" for key in moved) or f"all {len(found)} digests are those of {given.check}")
        return 1 if moved else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
