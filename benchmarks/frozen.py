"""Digests that a change of structure keeps: `python -m benchmarks.frozen --write F.json`, later `--check F.json`.

With noise from a seed: systems on coded tables (charges, records), whole commands from files to files (one table with
and without rules, linked tables with questions, refits of a release file, reports as JSON and HTML, answers, plans,
drafts, documents for publishing), the help of every sub-command and the JSON schemas of the documents. What differs
from run to run in any case (identities of runs, times, folders) is left out of the digests. They depend on the machine
(linear algebra rounds differently), so that the file is written before a change and checked after it, on one machine.
Exit status 1 where anything differs or is gone.

`--prove` changes one line of the engine after the other (`LINES`) in a copy and says whether a digest moves: a freeze
that no change moves would hold nothing. Exit status 1 where one moves none.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import hashlib
import io
import itertools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.accuracy import load
from benchmarks.process import table
from dpsyn_core.commands.cli import command_modules
from dpsyn_core.commands.cli import main as command
from dpsyn_core.errors import InputError
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.questions.document import Questions
from dpsyn_core.runs import open as opening
from dpsyn_core.runs.jobs.spec import JobSpec
from dpsyn_core.runs.spec import RunSpec
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.linked import LinkedSchema
from dpsyn_core.systems.base import Task
from dpsyn_core.systems.registry import config_class, configure, names
from tests.seeded import SeededNoise
from tests.systems import harness

TABLES = (
    "tree-1000x10", "skewed-5000x8", "deterministic-3000x10", "tree-20000x12", "wide-5000x12", "mixture-4000x10",
    "clique-3000x8", "interaction-3000x8", "tree-300x6", "clique-30000x6",
)  # fmt: skip
LEAST = "tree-300x6"
EVERYWHERE = ("rls", "dpsyn", "mst", "p3gm")  # systems that run on each of TABLES at each of EPSILONS
SMALL, RECORDS = {"a": 2, "b": 3, "c": 5, "d": 9}, 800  # sizes and records of the table of all other systems
EPSILONS = (0.3, 1.0, 10.0)
DELTA = 1e-9
ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = (Schema, Questions, LinkedSchema, Questions, RunSpec, JobSpec, Manifest)
HOMES = "--table households=homes/households.csv --table persons=homes/persons.csv"
LINKED = "--schema homes/households.schema.json"
CITY, CITY_SCHEMA = "demo/sample.csv --schema demo/sample.schema.json", "--schema demo/sample.schema.json"
STAYS_SCHEMA = "--schema hospital/hospital.schema.json"
STAYS = f"hospital/hospital.csv {STAYS_SCHEMA}"
SPENT = "--epsilon 1 --delta 1e-9 --quiet"
# documents that a person writes, by the names of their files
WRITTEN: dict[str, Any] = {
    "rules.json": [{"kind": "impossible", "where": "AGE in [0, 14] and MARST = Married"}],
    "asked.json": {
        "version": 1,
        "questions": [
            {"kind": "mean", "name": "wage by sex", "of": "INCWAGE", "by": ["SEX"]},
            {"kind": "gap", "name": "pay gap", "of": "INCWAGE", "between": {"SEX": ["Male", "Female"]}},
            {"kind": "range", "name": "young men", "where": "AGE in [18, 30] and SEX = Male"},
        ],
    },
    "across.json": {
        "version": 1,
        "questions": [
            {
                "about": "households",
                "counts": {"small child": {"of": "persons", "where": "role = Child and age in [0, 4]", "any": True}},
                "ask": {"name": "with a small child", "kind": "mean", "of": "small child", "by": ["region"]},
            },
            {"about": "persons", "ask": {"name": "age", "kind": "mean", "of": "age", "by": ["households.tenure"]}},
        ],
    },
}
PUBLISHED = "--curator Office --published 2026-01-01"
# what a step is called, its command, and the files that it writes; each runs after those above it in one folder
STEPS = (
    ("draft", "schema draft demo/sample.csv -o drafted.json", "drafted.json"),
    ("propose rules", "schema propose-rules hospital/hospital.schema.json", ""),
    ("check", "schema check demo/sample.schema.json demo/sample.csv", ""),
    ("check rules", "schema check hospital/hospital.schema.json hospital/hospital.csv", ""),
    ("export DDI", "schema export demo/sample.schema.json --format ddi -o ddi.xml", "ddi.xml"),
    ("export CSVW", "schema export demo/sample.schema.json --format csvw -o csvw.json", "csvw.json"),
    ("import DDI", "schema import ddi.xml -o imported.json", "imported.json"),
    (
        "one table",
        f"synth {CITY} {SPENT} --seed 7 --out one.csv --save-release one.dpsyn --measurements one.json.gz",
        "one.csv one.manifest.json one.dpsyn one.json.gz",
    ),
    ("Parquet", f"synth {CITY} {SPENT} --seed 7 --method independent --out pq.parquet", "pq.manifest.json"),
    (
        "questions",
        f"synth {CITY} {SPENT} --seed 7 --questions asked.json --out asked.csv --measurements asked.json.gz",
        "asked.csv asked.manifest.json",
    ),
    ("three tables", f"synth {CITY} {SPENT} --seed 7 --tables 3 --out three.csv", "three-1.csv three-3.csv"),
    ("rules", f"synth {STAYS} {SPENT} --seed 7 --out stays.csv", "stays.csv stays.manifest.json"),
    ("rules, another system", f"synth {STAYS} {SPENT} --seed 7 --method dpsyn --out other.csv", "other.csv"),
    (
        "itemsets",
        "itemsets baskets/baskets.csv --schema baskets/baskets.schema.json --epsilon 1 --k 5 -o sets.csv --quiet",
        "sets.csv",
    ),
    ("marginals", f"marginal {CITY} {SPENT} --attributes SEX,RACE -o views.csv", "views.csv"),
    ("marginals of a release", "marginal --from one.json.gz --attributes SEX,RACE -o read.csv --quiet", "read.csv"),
    ("refit", "refit one.dpsyn --seed 7 --out again.csv --quiet", "again.csv again.manifest.json"),
    (
        "refit of some",
        "refit one.dpsyn --seed 7 --where 'SEX = Male' --columns SEX,AGE,RACE --out men.csv --quiet",
        "men.csv men.manifest.json",
    ),
    ("refit with a rule", "refit one.dpsyn --seed 7 --rules rules.json --out ruled.csv --quiet", "ruled.csv"),
    (
        "refit, two tables",
        "refit one.dpsyn --seed 7 --method independent --tables 2 --out two.csv",
        "two-1.csv two-2.csv",
    ),
    ("answers", "answer asked.csv --manifest asked.manifest.json --measurements asked.json.gz --json", ""),
    ("compare", f"compare demo/sample.csv one.csv {CITY_SCHEMA} --json compare.json --quiet", "compare.json"),
    (
        "report",
        f"report demo/sample.csv one.csv {CITY_SCHEMA} --manifest one.manifest.json --json own.json --html own.html",
        "own.json own.html",
    ),
    (
        "report of released files",
        f"report - one.csv {CITY_SCHEMA} --manifest one.manifest.json --json public.json --html public.html --quiet",
        "public.json public.html",
    ),
    (
        "report of rules",
        f"report hospital/hospital.csv stays.csv {STAYS_SCHEMA} --json stays.json --quiet",
        "stays.json",
    ),
    ("verify", f"verify one.csv --manifest one.manifest.json {CITY_SCHEMA}", ""),
    (
        "describe",
        f"describe one.csv {CITY_SCHEMA} --licence CC0-1.0 --url https://example.org/t {PUBLISHED}",
        "one.croissant.json one.certificate.txt one.nist-800-226.md",
    ),
    (
        "registry",
        f"registry one.manifest.json {PUBLISHED} --use trial --region here --author Office -o entry.yaml",
        "entry.yaml",
    ),
    ("plan", f"plan {CITY_SCHEMA} --epsilon 1 --delta 1e-9 --save-settings plan.json", "plan.json"),
    ("settings", "synth demo/sample.csv --settings plan.json --seed 7 --out planned.csv --quiet", "planned.csv"),
    ("plan of names", "plan --columns 'age=number:20,sex=2,town=50' --epsilon 1 --delta 1e-9 --outlook", ""),
    ("plan of an error", f"plan --error 0.05 --of pairs --delta 1e-9 {CITY_SCHEMA}", ""),
    (
        "explore",
        f"explore {CITY} --public --design design.json --groups groups.json --questions proposed.json",
        "design.json groups.json proposed.json",
    ),
    ("methods", "methods", ""),
    ("noise", "noise --epsilon 1 --delta 1e-9 --k 8", ""),
    ("linked", f"synth {HOMES} {LINKED} {SPENT} --seed 7 --out linked/", "linked/*"),
    ("linked questions", f"synth {HOMES} {LINKED} {SPENT} --seed 7 --questions across.json --out across/", "across/*"),
    ("linked rules", f"synth {HOMES} --schema homes/ruled.json {SPENT} --seed 7 --out ruled/", "ruled/*"),
    ("linked compare", f"compare {HOMES} linked/ {LINKED} --json lc.json --quiet", "lc.json"),
    ("linked report", f"report {HOMES} linked/ {LINKED} --json lr.json --html lr.html --quiet", "lr.json lr.html"),
    ("linked verify", f"verify linked/ {LINKED}", ""),
    ("linked draft", f"schema draft {HOMES} -o homes.json", "homes.json"),
)
# rules across the link of the sample of households
ACROSS = [
    {"kind": "count", "where": "role = Head", "least": 1, "most": 1},
    {"kind": "count", "where": "age >= 18", "least": 1, "given": "age < 18"},
    {"kind": "order", "lower": "age", "upper": "Head.age", "apart": 15, "where": "role = Child"},
]
UUID_BYTES = 16  # of the identity of a run, which must differ from that of the run before
SAMPLES = ("sample", "hospital", "households", "baskets")
# a line of the engine, found wherever it stands; what takes its place; the step or system that must show it
LINES = (
    ("SURE_DIFFERENCES = 0.3", "SURE_DIFFERENCES = 3.0", "linked: "),
    ("VIEW_NOISE = 1.25", "VIEW_NOISE = 50.0", "linked: "),
    ("EXCHANGES = 24", "EXCHANGES = 0", "linked rules"),
    ("Z = 1.96", "Z = 2.96", "linked questions"),
    ("APART = 0.01", "APART = 0.5", "linked compare"),
    ("\nCHILDREN = 10", "\nCHILDREN = 11", "linked draft"),
    ("PARTNERS = 8", "PARTNERS = 1", "rules"),
    ("MOVES = 500", "MOVES = 0", "rules"),
    ("ROUNDS = 6  # through all rules", "ROUNDS = 1  # through all rules", "rules"),
    ("TRUST = 0.75", "TRUST = 0.1", "refit of some"),
    ("MARKS = 20", "MARKS = 2", "check"),
    ("FEW = 20", "FEW = 2", "draft"),
    ("BIN_COUNT = 12", "BIN_COUNT = 9", "explore"),
    ("HEIGHT = 360", "HEIGHT = 370", "report: own.html"),
    ("BINS = 100", "BINS = 10", "report: own.json"),
    ("DOTS = 1500", "DOTS = 15", "report: own.html"),
    ("MOST_CHARGES = 200", "MOST_CHARGES = 20", "report of released files"),
    ("MEASURE = 0.9", "MEASURE = 0.8", "aim"),
    ("0.5 if self.cost.pure else 0.1", "0.6 if self.cost.pure else 0.2", "mwem"),
    ("SWEEPS = 30  # corrections", "SWEEPS = 1  # corrections", "dpsyn-2018"),
    ("LEAST = 200  # iterations", "LEAST = 2  # iterations", "mst"),
    ("LOSS_PART = 0.1", "LOSS_PART = 0.2", "dp-vae"),
)


def digest(*parts: object) -> str:
    """The first 16 hexadecimal digits of the SHA-256 of parts; arrays by shape and bytes, all else by repr."""
    h = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            h.update(repr((part.shape, part.dtype.str)).encode() + np.ascontiguousarray(part).tobytes())
        else:
            h.update(repr(part).encode())
    return h.hexdigest()[:16]


def systems(chosen: Sequence[str], tables: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Charges and records of systems on coded tables: some on all of them, the others on one small table."""
    for system in chosen:
        if system not in EVERYWHERE:
            task = harness.task_for(system, SMALL, RECORDS)
            yield f"small {system}", released(system, task, harness.random_codes(SMALL, RECORDS))
            continue
        for name in tables:
            data = load(name)
            for epsilon in EPSILONS:
                for delta in (0.0, DELTA) if config_class(system).guarantee.pure else (DELTA,):
                    budget = Budget(epsilon=epsilon, delta=delta)
                    task = Task(domain=data.domain, unit=Unit(), budget=budget, n_public=None)
                    yield f"{name} {system} {epsilon:g} {delta:g}", released(system, task, data.codes)


def released(system: str, task: Task, codes: Any) -> str:
    """The digest of what a system is charged for and of the records that it makes."""
    calibrated = configure(system, {}).calibrate(task)
    gate = Gate(account=Account(calibrated.cost, delta=task.budget.delta), noise=SeededNoise(1), unit=task.unit)
    measured = calibrated.measure(MemoryCounter(codes, task.domain), gate=gate)
    records = calibrated.synthesize(measured, None, rng=np.random.default_rng(1))
    charges = [(c.name, c.mechanism, c.cells, c.sensitivity, c.scale) for c in gate.account.charges]
    return digest(charges, np.asarray(records))


def commands() -> Iterator[tuple[str, str]]:
    """What each of STEPS prints and writes."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as name, repeatable(Path(name)):
        os.chdir(name)
        try:
            for sample in SAMPLES:
                said(["sample", {"sample": "demo", "households": "homes"}.get(sample, sample), "--name", sample])
            for file, document in WRITTEN.items():
                Path(file).write_text(json.dumps(document), encoding="utf-8")
            ruled = json.loads(Path("homes/households.schema.json").read_text(encoding="utf-8"))
            ruled["links"][0]["rules"] = ACROSS
            Path("homes/ruled.json").write_text(json.dumps(ruled), encoding="utf-8")
            for step, line, written in STEPS:
                yield step, digest(lasting(said(shlex.split(line)).encode()))
                paths = [p for pattern in written.split() for p in sorted(Path().glob(pattern)) or [Path(pattern)]]
                for path in paths:
                    yield f"{step}: {path}", digest(lasting(content(path)))
        finally:
            os.chdir(before)


@contextlib.contextmanager
def repeatable(folder: Path) -> Iterator[None]:
    """Noise, keys of hashes and seeds that repeat, and a ledger of its own."""
    count = itertools.count()

    def drawn(size: int) -> bytes:
        return next(count).to_bytes(size, "big") if size == UUID_BYTES else bytes(size)

    with (
        mock.patch.object(opening, "SystemNoise", lambda: SeededNoise(1)),
        mock.patch("os.urandom", drawn),
        mock.patch.dict(os.environ, {"DPSYN_HOME": str(folder / "home"), "COLUMNS": "100"}),
    ):
        yield


def content(path: Path) -> bytes:
    """The bytes of a file, unpacked where it is packed."""
    raw = path.read_bytes()
    if raw[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            return b"".join(n.encode() + unpacked(archive.read(n)) for n in sorted(archive.namelist()))
    return unpacked(raw)


def unpacked(raw: bytes) -> bytes:
    """Bytes, unpacked where they are gzip."""
    return gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw


def lasting(raw: bytes) -> bytes:
    """Bytes without what differs from run to run: identities, chains and digests, times, versions of libraries."""
    raw = re.sub(rb"\b[0-9a-f]{64}\b|\b[0-9a-f]{32}\b", b"#", raw)
    raw = re.sub(rb'seconds"?:?\s*[0-9.e+-]+', b"seconds", raw)
    return re.sub(rb"\b[0-9.]+ (s|seconds|Sekunden)\b|20\d\d-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?", b"#", raw)


def said(arguments: list[str]) -> str:
    """What a command prints, errors and notes included; it must succeed."""
    text = io.StringIO()
    status: object = 0
    with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
        try:
            status = command(arguments)
        except SystemExit as done:  # after --help
            status = done.code
    if status not in (0, None):
        msg = f"dpsyn {shlex.join(arguments)} ended with {status}: {text.getvalue()}"
        raise RuntimeError(msg)
    return text.getvalue()


def documents() -> Iterator[tuple[str, str]]:
    """Help texts of all sub-commands, and JSON schemas of what people write."""
    with mock.patch.dict(os.environ, {"COLUMNS": "100"}):
        for name in command_modules():
            yield f"help {name}", digest(said([name, "--help"]))
    for kind in DOCUMENTS:
        yield f"schema of {kind.__name__}", digest(json.dumps(kind.model_json_schema(), sort_keys=True))


def found(sections: Sequence[str], chosen: Sequence[str], tables: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The digests of the named sections, one after the other."""
    for section in sections:
        made: dict[str, Callable[[], Iterator[tuple[str, str]]]] = {
            "documents": documents, "commands": commands, "systems": lambda: systems(chosen, tables),
        }  # fmt: skip
        for key, value in made[section]():
            print(key, value, file=sys.stderr)
            yield key, value


def prove(before: dict[str, str]) -> int:
    """Changes each of LINES in a copy of the engine, and prints the first digest that moves. 1 where none does."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        for part in ("dpsyn_core", "benchmarks", "tests", "docs", "pyproject.toml"):
            whole = ROOT / part
            (shutil.copytree if whole.is_dir() else shutil.copy)(whole, Path(name) / part)
        for line, instead, expected in LINES:
            places = [p for p in Path(name, "dpsyn_core").rglob("*.py") if line in p.read_text(encoding="utf-8")]
            if len(places) != 1:
                msg = f"'{line}' stands in {len(places)} files of the engine, and not in one; name another line"
                raise InputError(msg)
            text = places[0].read_text(encoding="utf-8")
            places[0].write_text(text.replace(line, instead), encoding="utf-8")
            of = expected.partition(":")[0]
            chosen = (
                ["commands"] if of in {step for step, *_ in STEPS} else ["systems", "--systems", of, "--tables", LEAST]
            )
            done = subprocess.run(
                [sys.executable, "-m", "benchmarks.frozen", "--first", "--check", "/dev/stdin", "--sections", *chosen],
                cwd=name, input=json.dumps(before), capture_output=True, text=True, check=False,
            )  # fmt: skip
            places[0].write_text(text, encoding="utf-8")
            moved = done.stdout.strip().removeprefix("differs: ") if done.returncode == 1 and done.stdout else "none"
            rows.append([line, places[0].name, moved])
            print(*rows[-1], sep=" | ", file=sys.stderr)
    print(table(["line", "file", "first digest that moved"], rows))
    return int(any(row[-1] == "none" for row in rows))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--check", type=Path)
    parser.add_argument("--first", action="store_true", help="stop at the first digest that differs")
    parser.add_argument("--prove", type=Path, metavar="F.json", help="change lines in a copy, and check it against F")
    parser.add_argument("--sections", default="documents,commands,systems")
    parser.add_argument("--systems", default=",".join(names()))
    parser.add_argument("--tables", default=",".join(TABLES))
    given = parser.parse_args()
    if given.prove:
        return prove(json.loads(given.prove.read_text()))
    before = json.loads(given.check.read_text()) if given.check else {}
    now: dict[str, str] = {}
    for key, value in found(*(text.split(",") for text in (given.sections, given.systems, given.tables))):
        now[key] = value
        if given.first and before.get(key) != value:
            print(f"differs: {key}")
            return 1
    if given.write:
        given.write.write_text(json.dumps(now, indent=1) + "\n")
    if not given.check:
        return 0
    whole = all(getattr(given, n) == parser.get_default(n) for n in ("sections", "systems", "tables"))
    lines = [f"differs: {key}" for key in now if before.get(key) != now[key]]
    lines += [f"gone: {key}" for key in sorted(set(before) - set(now)) if whole]
    print("\n".join(lines) or f"all {len(now)} digests are those of {given.check}")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
