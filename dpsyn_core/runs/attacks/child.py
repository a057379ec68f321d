"""Attacks in child processes: shadow runs and their pool.

One shadow run: tosses the coins, runs the attacked system whole on the table they make, and attacks its release.

The run opens its budget on a separate ledger in a folder that is removed at once: nothing is booked for the owner's
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
from dpsyn_core.runs.attacks.membership import Probe, TreeProbe
from dpsyn_core.runs.attacks.result import AttackSpec, Floats, Outcome
from dpsyn_core.runs.attacks.tree_world import TreeWorld, attacked_table, flat_codes, flat_domain, views_of, world_of
from dpsyn_core.runs.attacks.world import World, WorldSource
from dpsyn_core.runs.measurement import measure
from dpsyn_core.runs.release import in_memory
from dpsyn_core.runs.spec import RunSpec
from dpsyn_core.runs.trees.chunks import roots_at_once
from dpsyn_core.runs.trees.real_tables import RealForests
from dpsyn_core.runs.trees.release import TreePlan, private_phase
from dpsyn_core.runs.trees.stages import stages_of
from dpsyn_core.schema import Schema, with_span_codes, with_spans


def run_of(spec: AttackSpec, world: World | TreeWorld) -> RunSpec:
    """The shadow run: it draws a fresh seed, and writes as many synthetic records for each real one as the run does."""
    shadow: dict[str, Any] = {"seed": None, "dataset": "shadow run"}
    if spec.n_records is not None:
        shadow["n_records"] = max(1, round(spec.n_records * world.usual / max(1, world.table_records)))
    return spec.model_copy(update=shadow)


class Shadow:
    """Makes shadow runs of one attack."""

    def __init__(self, world: World, schema: Schema, spec: AttackSpec) -> None:
        """Keeps the world; prepares the cells that membership looks at."""
        self.world, self.schema, self.spec = world, schema, spec
        self.domain = with_spans(schema).domain()
        self.probe = Probe(world, self.domain) if spec.kind == "membership" else None
        self._run = run_of(spec, world)

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


class TreeShadow:
    """Makes shadow runs of one attack on linked tables."""

    def __init__(self, world: TreeWorld, schema: Schema, spec: AttackSpec) -> None:
        """Keeps the world; prepares the tables that the attack looks at."""
        self.world, self.spec = world, spec
        self.plan = TreePlan.of(run_of(spec, world), schema)
        working = self.plan.working
        self._stages = stages_of(working, pairs=self.plan.pairs)
        self._table = attacked_table(spec, working)
        every = world.forest(working, np.ones(len(world.coin), dtype=bool))
        self.flat = None if spec.kind == "membership" else world_of(*flat_codes(every, working, self._table), world)
        views = list(views_of(every, working, self._stages))
        self._seen = [i for i, (_, codes, _, _) in enumerate(views) if codes.shape[1]]  # no child of a role, no view
        units = [1, *(stage.view.unit for stage in self._stages)]
        probes = [
            (Probe(world_of(c, root, world, w), domain), units[i])
            for i in self._seen
            for domain, c, w, root in [views[i]]
        ]
        self.probe = TreeProbe(probes)

    def run(self, rng: Generator) -> Outcome:
        """One run and the attack on it. Raises InputError where the run is refused."""
        tossed, working = rng.random(self.world.coins) < 0.5, self.plan.working
        forest = self.world.forest(working, self.world.drawn(tossed))
        with tempfile.TemporaryDirectory(prefix="dpsyn-attack-") as folder:
            ledger = Ledger(Path(folder) / "ledger.sqlite3")
            most = roots_at_once(self.plan.schema, None)
            real = RealForests.whole(forest, working)
            _, released, forests = private_phase(real, forest, self.plan, most=most, rng=rng, ledger=ledger)
        drawn = next(forests)
        if self.flat is not None:
            codes, domain = flat_codes(drawn, working, self._table)[0], flat_domain(working, self._table)
            return people.attack(self.flat, domain, tossed, codes, self.spec, rng)
        views = [(codes, weights) for _, codes, weights, _ in views_of(drawn, working, self._stages)]
        tables = [released.root, *(children.tables for children, _ in released.views)]
        counts = self.probe.counts([views[i] for i in self._seen])
        return Outcome(coins=tossed, counts=counts, scores=self.probe.beliefs([tables[i] for i in self._seen]))


AnyWorld = World | TreeWorld


def shadow_of(world: AnyWorld, schema: Schema, spec: AttackSpec) -> Shadow | TreeShadow:
    """What makes the shadow runs of an attack on one table, or on linked ones."""
    return TreeShadow(world, schema, spec) if isinstance(world, TreeWorld) else Shadow(world, schema, spec)


def moves_of(world: AnyWorld, schema: Schema, spec: AttackSpec) -> Floats:
    """By how much each coin of a membership attack raises each cell that it looks at, (cells, coins)."""
    probe = shadow_of(world, schema, spec).probe
    return np.zeros((0, world.coins)) if probe is None else probe.moves


def packed(world: AnyWorld, document: dict[str, Any]) -> bytes:
    """What a child reads: the document in one line, then the world."""
    arrays = io.BytesIO()
    np.savez(arrays, **world.arrays())  # type: ignore[arg-type]
    return json.dumps({**document, "world": world.facts()}).encode() + b"\n" + arrays.getvalue()


def unpacked(stream: IO[bytes]) -> tuple[dict[str, Any], AnyWorld]:
    """The document and the world of `packed`."""
    document = json.loads(stream.readline())
    with np.load(io.BytesIO(stream.read()), allow_pickle=False) as arrays:
        kind = TreeWorld if "tables" in document["world"] else World
        return document, kind.of(dict(arrays), document["world"])


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
        shadow = shadow_of(world, Schema.of(document["schema"]), spec)
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


def outcomes(world: AnyWorld, schema: Schema, spec: AttackSpec) -> Iterator[Outcome]:
    """The outcomes of `spec.runs` shadow runs, as they are finished.

    Raises:
        InputError: the system refuses the run.
        EngineError: a child ended without a word, for example for want of memory.
    """
    if spec.workers == 0:
        shadow, rng = shadow_of(world, schema, spec), np.random.default_rng()
        for _ in range(spec.runs):
            yield shadow.run(rng)
        return
    workers = min(spec.workers, spec.runs)
    shares = [spec.runs // workers + (i < spec.runs % workers) for i in range(workers)]
    lines: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
    children = [_start(world, schema, spec, runs, lines) for runs in shares]
    try:
        count, ended = 0, 0
        while count < spec.runs:
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
                count += 1
                yield Outcome.of(line)
    finally:
        for child in children:
            child.end()


def _start(
    world: AnyWorld, schema: Schema, spec: AttackSpec, runs: int, lines: SimpleQueue[dict[str, Any] | None]
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
