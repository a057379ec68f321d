"""Attacks in child processes: shadow runs and their pool.

One shadow run: tosses the coins, runs the attacked system whole on the table they make, and attacks its release.

The run opens its budget on a ledger of its own in a folder that is removed at once: nothing is booked for the owner's
table, and nothing that comes out may be published.

Child of an attack: `python -m dpsyn_core.runs.attacks.child` makes shadow runs until its parent has enough.

On the standard input come a line of JSON (spec and schema) and then the world, as arrays; nothing private is written
to a file. Each finished run is a line of JSON on the standard output, a refusal is a line with its sentence.

Runs shadow runs in child processes and collects what they leave; ends the children when it is left early.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any

import numpy as np
from numpy.random import Generator

from dpsyn_core.child import Child
from dpsyn_core.errors import DPSynError, EngineError, MethodError
from dpsyn_core.platforms import orphaned, parent
from dpsyn_core.privacy import Ledger
from dpsyn_core.runs.attacks import people
from dpsyn_core.runs.attacks.membership import Probe
from dpsyn_core.runs.attacks.result import AttackSpec, Outcome
from dpsyn_core.runs.attacks.world import World, WorldSource
from dpsyn_core.runs.measurement import measure
from dpsyn_core.runs.release import in_memory
from dpsyn_core.runs.spec import RunSpec
from dpsyn_core.schema import Schema, with_span_codes, with_spans


class Shadow:
    """Makes shadow runs of one attack."""

    def __init__(self, world: World, schema: Schema, spec: AttackSpec) -> None:
        """Keeps the world; prepares the cells that membership looks at."""
        self.world, self.schema, self.spec = world, schema, spec
        self.domain = with_spans(schema).domain()
        self.probe = Probe(world, self.domain) if spec.kind == "membership" else None
        # every shadow run draws its own seed, and writes as many synthetic records for each real one as the run does
        shadow: dict[str, Any] = {"seed": None, "dataset": "shadow run"}
        if spec.n_records is not None:
            shadow["n_records"] = max(1, round(spec.n_records * world.usual / max(1, world.table_records)))
        self._run: RunSpec = spec.model_copy(update=shadow)

    def run(self, rng: Generator) -> Outcome:
        """One run and the attack on it. Raises InputError where the run is refused."""
        spec, tossed = self.spec, rng.random(self.world.coins) < 0.5
        with tempfile.TemporaryDirectory(prefix="dpsyn-attack-") as folder:
            ledger = Ledger(Path(folder) / "ledger.sqlite3")
            source = WorldSource(self.world, self.domain.names, tossed)
            facts = self._run.facts(self.schema, query_vouched=self.spec.query_vouched)
            release = in_memory(measure(source, self.schema, self._run, facts=facts, ledger=ledger))
        codes = with_span_codes(np.asarray(release.codes), self.schema)
        if self.probe is None:
            return people.attack(self.world, self.domain, tossed, codes, spec, rng)
        return Outcome(coins=tossed, counts=self.probe.counts(codes), scores=self.probe.beliefs(release.marginals))


ARRAYS = ("codes", "people", "coin", "side", "target")


def packed(world: World, document: dict[str, Any]) -> bytes:
    """What a child reads: the document in one line, then the world."""
    arrays = io.BytesIO()
    np.savez(arrays, **{name: getattr(world, name) for name in ARRAYS})
    more = {"coins": world.coins, "table_records": world.table_records}
    return json.dumps({**document, "world": more}).encode() + b"\n" + arrays.getvalue()


def unpacked(stream: IO[bytes]) -> tuple[dict[str, Any], World]:
    """The document and the world of `packed`."""
    document = json.loads(stream.readline())
    with np.load(io.BytesIO(stream.read()), allow_pickle=False) as arrays:
        return document, World(**{name: arrays[name] for name in ARRAYS}, **document["world"])


def main() -> int:
    """Makes the runs that it was asked for. Returns the exit status."""
    started_by = parent()
    Child.begin()
    Child.end_with(started_by)
    from dpsyn_core.runs.attacks.result import AttackSpec
    from dpsyn_core.schema import Schema

    document, world = unpacked(sys.stdin.buffer)
    try:
        spec = AttackSpec.model_validate(document["spec"])
        shadow = Shadow(world, Schema.of(document["schema"]), spec)
        rng = np.random.default_rng()
        for _ in range(document["runs"]):
            if orphaned(started_by):
                return 1
            _tell(shadow.run(rng).document())
    except DPSynError as error:
        _tell({"refused": str(error)})
        return 2
    except Exception as error:  # noqa: BLE001 the message may quote a private value: only its kind is told
        _tell({"fault": type(error).__name__})
        return 1
    return 0


def _tell(document: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(document) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())


def outcomes(world: World, schema: Schema, spec: AttackSpec) -> Iterator[Outcome]:
    """The outcomes of `spec.runs` shadow runs, as they are finished.

    Raises:
        InputError: the system refuses the run.
        EngineError: a child ended without a word, for example for want of memory.
    """
    if spec.workers == 0:
        shadow, rng = Shadow(world, schema, spec), np.random.default_rng()
        for _ in range(spec.runs):
            yield shadow.run(rng)
        return
    workers = min(spec.workers, spec.runs)
    shares = [spec.runs // workers + (i < spec.runs % workers) for i in range(workers)]
    lines: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
    children = [_start(world, schema, spec, runs, lines) for runs in shares]
    try:
        made, ended = 0, 0
        while made < spec.runs:
            line = lines.get()
            if line is None:
                ended += 1
                if ended == workers:
                    msg = "the shadow runs ended early, often for want of memory; use fewer records, and try again"
                    raise EngineError(msg)
            elif "refused" in line:
                raise MethodError(line["refused"])
            elif "fault" in line:
                msg = f"a shadow run stopped because of a fault in the program ({line['fault']})"
                raise EngineError(msg)
            else:
                made += 1
                yield Outcome.of(line)
    finally:
        for child in children:
            child.end()


def _start(
    world: World, schema: Schema, spec: AttackSpec, runs: int, lines: SimpleQueue[dict[str, Any] | None]
) -> Child:
    """A child, and a thread that feeds it and reads its lines; None stands for its end."""
    threads = {"OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1")}
    pipe = subprocess.PIPE
    child = Child.module("dpsyn_core.runs.attacks.child", stdin=pipe, stdout=pipe, env=threads)
    document = {"spec": spec.model_dump(mode="json"), "schema": json.loads(schema.dumps()), "runs": runs}
    given = packed(world, document)

    def talk() -> None:
        try:
            child.tell(given)
            for line in child.stdout or ():
                lines.put(json.loads(line))
        except (OSError, ValueError):  # the child was ended while it was fed or wrote
            pass
        finally:
            lines.put(None)

    threading.Thread(target=talk, daemon=True).start()
    return child
