"""When a private choice among systems pays: `python -m benchmarks.tuning [--tables T,..] [--epsilon 1] [--seeds 2]`.

At equal total epsilon and delta 1e-9: the default system alone with all of it; each candidate alone with what one run
of the choice gets; and the mean result of the choice, over 2,000 draws of the number of runs, the candidates and the
noise of the scores, from the pool of runs. Prints mean total variation distances of pairs (at most 300). The pool has
`--seeds` runs of each candidate, so that the choice among runs of one system shows little.

`--public`: the choice by a public table instead (`tuning.rehearsal`), which costs nothing. A draw of each process of
`dpsyn benchmark` is cut in two; one half is private, the other one public. `--drift`: the public half is a draw of its
own, with other strengths of every dependence. All candidates are then run on the private half, `--seeds` times.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
import pyarrow as pa

from benchmarks.accuracy import DELTA, load
from benchmarks.engine import mean_distance, run_system
from benchmarks.process import table as markdown
from dpsyn_core.commands.tune import candidate_of
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.privacy.budget import Budget, Cost
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.runs.choose.choice import SCORE_SHARE, distance, price_of, scored_pairs
from dpsyn_core.runs.choose.processes import PROCESSES, Draw
from dpsyn_core.runs.choose.rehearsal import rehearse
from dpsyn_core.runs.public_table import coded

CANDIDATES = ("rls", "mst", "independent")
OFFERED = ("rls", "rls:resolution=8", "rls:one_way_share=0.6", "mst", "privsyn", "independent")
DRAWS = 2000


def row(name: str, epsilon: float, runs: int, seeds: int) -> list[object]:
    """A line of the table."""
    data = load(name)
    price = price_of(Budget(epsilon=epsilon, delta=DELTA), runs)
    rng, counter = np.random.default_rng(0), MemoryCounter(data.codes, data.domain)
    sigma = Cost(rho=price.rho * SCORE_SHARE).sigma(float(len(scored_pairs(data.domain)) * Unit().l1()))

    def error(codes: np.ndarray) -> float:
        return mean_distance(data.codes, codes, data.domain, 2)

    def made(system: str, share: float, seed: int) -> np.ndarray:
        return run_system(system, data.codes, data.domain, epsilon=share, delta=DELTA, seed=seed).codes

    alone = float(np.mean([error(made("rls", epsilon, s)) for s in range(seeds)]))
    pools = {}
    for system in CANDIDATES:
        pool = [made(system, price.run_epsilon, s) for s in range(seeds)]
        pools[system] = np.array([(error(c), distance(counter, c, data.domain)) for c in pool])
    found = []
    for _ in range(DRAWS):
        drawn = [
            pools[CANDIDATES[i]][rng.integers(seeds)]
            for i in rng.integers(len(CANDIDATES), size=rng.geometric(1 / runs))
        ]
        found.append(min((score + rng.normal(0, sigma), e) for e, score in drawn)[1])
    chosen = float(np.mean(found))
    each = [f"{pools[s][:, 0].mean():.4f}" for s in CANDIDATES]
    print(name, runs, alone, each, chosen, file=sys.stderr, flush=True)
    return [name, runs, f"{price.factor:.2f}", f"{alone:.4f}", *each, f"{chosen:.4f}", f"{chosen / alone - 1:+.0%}"]


def public_row(process: str, epsilon: float, records: int, seeds: int, drift: bool) -> list[object]:
    """A line of the table of choices by a public table."""
    draws = [Draw(process=process, records=2 * records, columns=8, seed=f"{i:064x}") for i in (1, 2 if drift else 1)]
    (private, schema), (other, _) = (draw.table() for draw in draws)
    if drift:  # the codes of the other draw, where the values of this one have room for them
        sizes = schema.domain().sizes
        capped = [np.minimum(c.to_numpy(), k - 1) for c, k in zip(other.columns, sizes, strict=True)]
        other = pa.table(dict(zip(private.column_names, capped, strict=True)))
    public = coded(other.slice(records), schema, name="public", sha256="0" * 64)
    truth = coded(private.slice(0, records), schema, name="private", sha256="0" * 64)
    candidates = [candidate_of(text) for text in OFFERED]
    found = rehearse(public, schema, candidates, budget=Budget(epsilon=epsilon, delta=DELTA))
    errors = {}
    for c in candidates:
        made = [
            run_system(
                c.method, truth.codes, truth.domain, epsilon=epsilon, delta=DELTA, seed=s, settings=dict(c.settings)
            )
            for s in range(seeds)
        ]
        errors[str(c)] = float(np.mean([mean_distance(truth.codes, m.codes, truth.domain, 2) for m in made]))
    best = str(found.best.candidate)
    print(process, {str(t.candidate): round(t.mean, 4) for t in found.tried}, errors, file=sys.stderr, flush=True)
    return [process, *(f"{e:.4f}" for e in errors.values()), best, f"{errors[best] / errors['rls'] - 1:+.1%}"]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", default="tree-3000x8,mixture-3000x8,skewed-1000x8,clique-300x8")
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--runs", default="2,5")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--public", action="store_true")
    parser.add_argument("--drift", action="store_true", help="with --public")
    parser.add_argument("--records", type=int, default=3000, help="of each half, with --public")
    args = parser.parse_args()
    if args.public:
        found = [public_row(p, args.epsilon, args.records, args.seeds, args.drift) for p in PROCESSES]
        head = ["process", *OFFERED, "chosen", "change against rls"]
        print(markdown(head, found))
        return
    rows = [
        row(name, args.epsilon, int(runs), args.seeds)
        for name in args.tables.split(",")
        for runs in args.runs.split(",")
    ]
    head = ["table", "runs", "factor", "rls alone", *(f"{s}, one run" for s in CANDIDATES), "choice", "change"]
    print(markdown(head, rows))


if __name__ == "__main__":
    main()
