"""Accuracy and time of every system on the simulated sample, as the Synthesize page shows them.

`python -m benchmarks.systems_measured` prints a table and writes `assets/systems.json`. Time is that of one core
(processor seconds of a warm process), which a busy machine does not change; accuracy the mean distance of all pairs.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

from dpsyn_core.errors import DPSynError
from dpsyn_core.evaluate.base import Score, compute
from dpsyn_core.evaluate.loader import compare_tables
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.runs.synthesis import synthesize
from dpsyn_core.schema.sample import sample_schema, sample_table
from dpsyn_core.systems import registry

OUT = Path(__file__).resolve().parent.parent / "assets" / "systems.json"
EPSILON, DELTA = 1.0, 1e-9
TRIES = (("add-remove", DELTA, False), ("add-remove", 0.0, False), ("replace", 0.0, True))  # unit, delta, public n


def measured(name: str) -> dict[str, object] | None:
    """One run of a system with the strongest unit and budget that it takes; None where it takes none."""
    real = sample_table()
    for neighbours, delta, public in TRIES:
        schema = sample_schema()
        unit = schema.unit.model_copy(update={"neighbours": neighbours})
        schema = schema.model_copy(update={"unit": unit, "n_records": real.num_rows if public else None})
        with tempfile.TemporaryDirectory() as folder:
            book = Ledger(Path(folder) / "ledger.sqlite3")
            started = time.process_time()
            try:
                made = synthesize(real, schema, epsilon=EPSILON, delta=delta, rng=1, method=name, ledger=book)
            except DPSynError:
                continue
            seconds = time.process_time() - started
        scores = compute(compare_tables(schema, made.arrow, real), ["tvd-2way", "tvd-1way"])
        pairs, ones = scores["tvd-2way"], scores["tvd-1way"]
        if not isinstance(pairs, Score) or not isinstance(ones, Score):
            return None
        return {"pairs": round(pairs.value, 4), "ones": round(ones.value, 4), "floor": round(pairs.floor or 0.0, 4),
                "seconds": round(seconds, 1), "delta": delta, "neighbours": neighbours}  # fmt: skip
    return None


def main(arguments: list[str] | None = None) -> int:
    """Measures the systems named, or all, and writes what was measured beside what stands there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--systems", nargs="+", default=registry.names())
    args = parser.parse_args(arguments)
    found = json.loads(OUT.read_text("utf-8")) if OUT.exists() else {}
    print(f"{'system':<24}{'pairs':>8}{'ones':>8}{'seconds':>9}")
    for name in args.systems:
        got = measured(name)
        if got is not None:
            found[name] = got
            print(f"{name:<24}{got['pairs']:>8}{got['ones']:>8}{got['seconds']:>9}", flush=True)
            OUT.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
