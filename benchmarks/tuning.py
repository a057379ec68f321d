"""What a choice among systems by a public table is worth: `python -m benchmarks.tuning [--epsilon 1] [--seeds 3]`.

A draw of each public process is cut in two; one half is private, the other one public. `--drift`: the public half is a
draw of its own, with other strengths of every dependence. The choice is made on the public half; all
candidates are then run on the private half, `--seeds` times. Prints mean total variation distances of pairs.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
import pyarrow as pa

from benchmarks.accuracy import DELTA
from benchmarks.engine import mean_distance, run_system
from benchmarks.process import table as markdown
from dpsyn_core.commands.compare_systems import candidate_of
from dpsyn_core.runs.choose.comparison import compare_systems
from dpsyn_core.runs.choose.document import ComparisonSpec
from dpsyn_core.runs.choose.processes import PROCESSES, Draw
from dpsyn_core.runs.public_table import coded

OFFERED = ("rls", "rls:resolution=8", "rls:one_way_share=0.6", "mst", "privsyn", "independent")


def public_row(process: str, epsilon: float, records: int, seeds: int, drift: bool) -> list[object]:
    """A line of the table of choices by a public table."""
    draws = [Draw(process=process, records=2 * records, columns=8, seed=f"{i:064x}") for i in (1, 2 if drift else 1)]
    (private, schema), (other, _) = (draw.table() for draw in draws)
    if drift:  # the codes of the other draw, where the values of this one have room for them
        sizes = schema.domain().sizes
        capped = [np.minimum(c.to_numpy(), k - 1) for c, k in zip(other.columns, sizes, strict=True)]
        other = pa.table(dict(zip(private.column_names, capped, strict=True)))
    truth = coded(private.slice(0, records), schema, name="private", sha256="0" * 64)
    candidates = [candidate_of(text) for text in OFFERED]
    spec = ComparisonSpec.of_candidates(candidates, [epsilon], delta=DELTA, repeats=3, public=True)
    found = compare_systems(other.slice(records), schema, spec)
    errors = {}
    for c in candidates:
        made = [
            run_system(
                c.method, truth.codes, truth.domain, epsilon=epsilon, delta=DELTA, seed=s, settings=dict(c.settings)
            )
            for s in range(seeds)
        ]
        errors[str(c)] = float(np.mean([mean_distance(truth.codes, m.codes, truth.domain, 2) for m in made]))
    ranking = found.ranking(epsilon)
    best = ranking[0].method
    print(process, {c.method: round(c.mean, 4) for c in ranking}, errors, file=sys.stderr, flush=True)
    return [process, *(f"{e:.4f}" for e in errors.values()), best, f"{errors[best] / errors['rls'] - 1:+.1%}"]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--drift", action="store_true")
    parser.add_argument("--records", type=int, default=3000, help="of each half")
    args = parser.parse_args()
    found = [public_row(p, args.epsilon, args.records, args.seeds, args.drift) for p in PROCESSES]
    print(markdown(["process", *OFFERED, "chosen", "change against rls"], found))


if __name__ == "__main__":
    main()
