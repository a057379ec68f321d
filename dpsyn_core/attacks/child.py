"""Child of an attack: `python -m dpsyn_core.attacks.child` makes shadow runs until its parent has enough.

On the standard input come a line of JSON (spec and schema) and then the world, as arrays; nothing private is written
to a file. Each finished run is a line of JSON on the standard output, a refusal is a line with its sentence.
"""

from __future__ import annotations

import io
import json
import os
import signal
import sys
from typing import IO, Any

import numpy as np

from dpsyn_core.attacks.world import World
from dpsyn_core.errors import DPSynError
from dpsyn_core.jobs.limits import forbid_core_dumps

ARRAYS = ("codes", "people", "coin", "side", "target")
PR_SET_PDEATHSIG = 1  # of Linux's prctl


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


def die_with(parent: int) -> None:
    """Ends this process when its parent ends, on Linux at once; elsewhere `main` looks after every run."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit(1)


def main() -> int:
    """Makes the runs that it was asked for. Returns the exit status."""
    parent = os.getppid()
    forbid_core_dumps()
    die_with(parent)
    from dpsyn_core.attacks.shadow import Shadow
    from dpsyn_core.attacks.spec import AttackSpec
    from dpsyn_core.schema.document import Schema

    document, world = unpacked(sys.stdin.buffer)
    try:
        spec = AttackSpec.model_validate(document["spec"])
        shadow = Shadow(world, Schema.model_validate(document["schema"]), spec)
        rng = np.random.default_rng()
        for _ in range(document["runs"]):
            if os.getppid() != parent:
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
