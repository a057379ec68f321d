"""Runs of `dpsyn synth` that can be killed, starved or cancelled, in forked children whose imports are done."""

import csv
import json
import multiprocessing
import os
import sys

from dpsyn_core.commands.cli import main
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.privacy.noise.system import SystemNoise

SCHEMA = {
    "version": 1,
    "name": "people",
    "unit": {"neighbours": "add-remove", "identifier": None, "max_records": 1},
    "n_records": None,
    "attributes": [
        {"name": "sex", "kind": "categorical", "values": ["F", "M"]},
        {"name": "age", "kind": "numeric", "dtype": "integer", "min": 0, "max": 99, "bins": {"count": 10}},
    ],
}
RECORDS = 30_000  # of the output: about 150 kB


def prepare(folder):
    """A private table and its schema."""
    (folder / "table.csv").write_text("sex,age\n" + "F,31\nM,42\nF,7\nM,88\n" * 50)
    (folder / "schema.json").write_text(json.dumps(SCHEMA))
    (folder / "out").mkdir()


def arguments(folder, *extra):
    return [
        "synth", str(folder / "table.csv"), "--schema", str(folder / "schema.json"), "--epsilon", "1",
        "--delta", "1e-6", "--method", "independent", "--n-records", str(RECORDS), "--quiet",
        "--out", str(folder / "out" / "t.csv"), "--manifest", str(folder / "out" / "m.json"), *extra,
    ]  # fmt: skip


def _child(folder, pipe, before, extra):
    os.environ["DPSYN_HOME"] = str(folder / "home")
    said = os.open(folder / "said.txt", os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    sys.stdout = sys.stderr = os.fdopen(said, "w")
    draw = SystemNoise.gaussian

    def watched(self, sigma, size):
        pipe.send("noise")  # from here on the data's noisy counts exist
        return draw(self, sigma, size)

    SystemNoise.gaussian = watched
    before()
    pipe.send("ready")
    status = main(arguments(folder, *extra))
    sys.stderr.flush()
    os._exit(status)


def nothing():
    """What a child does before its run, by default."""


def start(folder, before=nothing, extra=()):
    """A running child and the pipe on which it says when it is ready and when it draws noise."""
    context = multiprocessing.get_context("fork")
    mine, theirs = context.Pipe(duplex=False)
    child = context.Process(target=_child, args=(folder, theirs, before, extra))
    child.start()
    theirs.close()
    assert mine.recv() == "ready"
    return child, mine


def drew_noise(pipe):
    """Whether the child drew noise before it ended."""
    drew = False
    try:
        while True:
            drew |= pipe.recv() == "noise"
    except EOFError:
        return drew


def check(folder, drew, spent_before):
    """Nothing is under-counted and no file is partial, whatever happened to the child; returns the debits."""
    spent = len(Ledger(folder / "home" / "ledger.sqlite3").entries())
    assert spent - spent_before in (0, 1)
    if drew:
        assert spent == spent_before + 1, "noise was drawn and nothing is on the ledger"
    table, manifest = folder / "out" / "t.csv", folder / "out" / "m.json"
    if table.exists():
        with table.open(newline="") as file:
            rows = list(csv.reader(file))
        assert rows[0] == ["sex", "age"]
        assert len(rows) == RECORDS + 1
        assert all(len(row) == 2 for row in rows)
        assert manifest.exists()  # a table never stands without its manifest
    if manifest.exists():
        run_ids = [e.run_id for e in Ledger(folder / "home" / "ledger.sqlite3").entries()]
        assert Manifest.load(manifest).run_id in run_ids
    visible = {p.name for p in (folder / "out").iterdir() if not p.name.startswith(".")}
    assert visible <= {"t.csv", "m.json"}
    return spent
