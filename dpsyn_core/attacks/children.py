"""Runs shadow runs in child processes and collects what they leave; ends the children when it is left early."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy as np

from dpsyn_core.attacks.child import packed
from dpsyn_core.attacks.outcome import Outcome
from dpsyn_core.attacks.shadow import Shadow
from dpsyn_core.attacks.spec import AttackSpec
from dpsyn_core.attacks.world import World
from dpsyn_core.errors import EngineError, MethodError
from dpsyn_core.schema.document import Schema


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
            if child.poll() is None:
                child.kill()
            child.wait()


def _start(
    world: World, schema: Schema, spec: AttackSpec, runs: int, lines: SimpleQueue[dict[str, Any] | None]
) -> subprocess.Popen[bytes]:
    """A child, and a thread that feeds it and reads its lines; None stands for its end."""
    import dpsyn_core

    source = str(Path(dpsyn_core.__file__).resolve().parent.parent)
    paths = [source, *filter(None, [os.environ.get("PYTHONPATH")])]
    child = subprocess.Popen(
        [sys.executable, "-m", "dpsyn_core.attacks.child"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env={"OMP_NUM_THREADS": "1", **os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )  # fmt: skip
    document = {"spec": spec.model_dump(mode="json"), "schema": json.loads(schema.dumps()), "runs": runs}
    given = packed(world, document)

    def talk() -> None:
        try:
            if child.stdin is not None and child.stdout is not None:
                child.stdin.write(given)
                child.stdin.close()
                for line in child.stdout:
                    lines.put(json.loads(line))
        except (OSError, ValueError):  # the child was ended while it was fed or wrote
            pass
        finally:
            lines.put(None)

    threading.Thread(target=talk, daemon=True).start()
    return child
