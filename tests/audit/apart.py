"""T1 in two processes: what one run has read must not stay for the next. `python -m tests.audit.apart [SYSTEM ...]`.

A cache that outlives a run hands the counts of the first table to all later ones; within one process the output then
depends on the first table alone, and T1 is silent. A process of its own is shown the tables in the reverse order.
"""

import json
import subprocess
import sys
from pathlib import Path

from tests.audit.gates import Alarm
from tests.audit.layers import t1
from tests.audit.world import ARBITRARY, accessors

ROOT = Path(__file__).resolve().parent.parent.parent


def backwards(names, planted):
    """Digest of each system, tables in the reverse order."""
    from tests.audit.mutants import MUTANTS

    if planted is None:
        return {name: t1(name, tuple(reversed(ARBITRARY))) for name in names}
    (bug,) = [m for m in MUTANTS if m.name == planted]
    with bug.plant():
        return {name: t1(name, tuple(reversed(ARBITRARY))) for name in names}


def t1_apart(names=None, planted=None):
    """The same digests here and in a new process that is shown the tables in the reverse order."""
    names = names or accessors()
    here = {name: t1(name) for name in names}
    ask = json.dumps([names, planted])
    done = subprocess.run(
        [sys.executable, "-m", "tests.audit.apart", ask], cwd=ROOT, capture_output=True, text=True, check=True
    )
    there = json.loads(done.stdout)
    differing = [n for n in names if here[n] != there[n]]
    if differing:
        raise Alarm(f"{', '.join(differing)}: the output depends on what the process has seen before")


if __name__ == "__main__":
    print(json.dumps(backwards(*json.loads(sys.argv[1]))))
