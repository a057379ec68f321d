"""Every system on Adult codes, side by side: `python -m benchmarks.systems [--systems a,b] [--epsilons .3,1,8]`.

Each system runs in a process of its own, with the noise of production. `adult` is the whole table (14 attributes);
`adult-small` its six smallest categorical attributes (7,560 cells), for systems that hold the whole domain. The
columns beside ours: independent marginals at the same delta and neighbours, and published figures for the same task.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from typing import Any

import numpy as np

from benchmarks.engine import mean_distance, run_system
from benchmarks.memory import peak_mb
from benchmarks.process import table
from benchmarks.tables import adult_codes
from dpsyn_core.errors import DPSynError
from dpsyn_core.schema.domain import Domain
from dpsyn_core.systems.registry import config_class, names

SMALL = ("workclass", "marital-status", "relationship", "race", "sex", "income>50K")
GROUPS = "marital-status+relationship+sex, workclass+occupation, education-num+income>50K, race+native-country"
# what a person would set: groups by meaning, and one table an attribute where tables have to be small
SETTINGS = {
    ("field-groups", "adult"): {"groups": GROUPS},
    ("field-groups", "adult-small"): {"groups": "marital-status+relationship+sex, workclass+income>50K"},
    ("dirichlet-multinomial", "adult"): {"tables": "workclass"},
}
# Mean two-way TVD on the same table. reference: an independent implementation of the paper, one seed, delta 1e-9.
# P3GM: Takagi et al. 2021, table VIII, at (1, 1e-5). MST, AIM: google/dpsynth at delta 1e-9, one machine, one seed.
PUBLISHED = {
    "independent": {0.3: ".0916 reference", 1.0: ".0797 reference", 8.0: ".0744 reference"},
    "dpsyn": {0.3: ".1322 reference", 1.0: ".0716 reference", 8.0: ".0291 reference"},
    "privsyn": {0.3: ".1146 reference", 1.0: ".0648 reference", 8.0: ".0300 reference"},
    "privbayes": {1.0: ".0752 P3GM"},
    "mst": {0.3: ".095 dpsynth", 1.0: ".057 dpsynth, .0494 P3GM"},
    "aim": {1.0: ".041 dpsynth"},
}
DELTA = 1e-9


def load(name: str) -> tuple[np.ndarray, Domain]:
    adult = adult_codes(ordered=False)  # as the figures in docs/systems.md: no attribute is declared ordered
    codes, domain = adult.codes, adult.domain
    if name == "adult":
        return codes, domain
    kept = domain.project(SMALL)
    return np.ascontiguousarray(codes[[domain.index(n) for n in kept.names]]), kept


def one_system(system: str, dataset: str, epsilons: list[float], seeds: int) -> None:
    """Prints one JSON line a budget."""
    codes, domain = load(dataset)
    guarantee = config_class(system).guarantee
    delta, neighbours = (DELTA if guarantee.approximate else 0.0), guarantee.neighbours[0]
    settings = SETTINGS.get((system, dataset), {})
    memory = 0.0
    for epsilon in epsilons:
        row: dict[str, object] = {"system": system, "table": dataset, "epsilon": epsilon, "delta": delta}
        row |= {"neighbours": neighbours, "settings": settings}
        runs: list[tuple[float, float, float]] = []
        started, cpu = time.perf_counter(), time.process_time()
        try:
            if epsilon == epsilons[0]:  # compiles
                run_system(system, codes[:, :500], domain, epsilon=epsilon, delta=delta, settings=settings)
            for seed in range(seeds):
                run = run_system(system, codes, domain, epsilon=epsilon, delta=delta, seed=seed, settings=settings)
                memory = memory or peak_mb()  # before any metric
                two, three = (mean_distance(codes, run.codes, domain, k) for k in (2, 3))
                runs.append((two, three, run.seconds))
        except DPSynError as refusal:
            row["refused"] = str(refusal)
        if runs:
            base = [
                mean_distance(
                    codes,
                    run_system(
                        "independent", codes, domain, epsilon=epsilon, delta=delta, seed=s, neighbours=neighbours
                    ).codes,
                    domain,
                )
                for s in range(seeds)
            ]
            row |= {
                "two": [r[0] for r in runs],
                "three": [r[1] for r in runs],
                "independent": float(np.mean(base)),
                "seconds": [r[2] for r in runs],
                "wall": time.perf_counter() - started,
                "cpu": time.process_time() - cpu,
            }
        row["megabytes"] = memory
        print(json.dumps(row), flush=True)


def cells(row: dict[str, Any]) -> list[object]:
    published = PUBLISHED.get(row["system"], {}).get(row["epsilon"], "") if row["table"] == "adult" else ""
    head = [row["system"], f"{row['epsilon']:g}", f"{row['delta']:g}", row["neighbours"]]
    if "refused" in row:
        return [*head, "refused", "", "", published, "", ""]
    two, spread = np.mean(row["two"]), np.ptp(row["two"])
    mark = "" if two < row["independent"] or row["system"] == "independent" else " loses"
    return [
        *head,
        f"{two:.4f} +- {spread / 2:.4f}{mark}",
        f"{np.mean(row['three']):.4f}",
        f"{row['independent']:.4f}",
        published,
        f"{np.median(row['seconds']):.1f}",
        f"{row['megabytes']:.0f}",
    ]


HEADERS = ["system", "eps", "delta", "neighbours", "2-way TVD", "3-way", "independent", "published", "seconds", "MB"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--systems", help="names separated by commas; default all")
    parser.add_argument("--epsilons", default="0.3,1,8")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--tables", default="adult,adult-small")
    parser.add_argument("--json", action="store_true", help="print one JSON line a row instead of tables")
    parser.add_argument("--child", metavar="SYSTEM", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        one_system(args.child, args.tables, [float(e) for e in args.epsilons.split(",")], args.seeds)
        return 0
    status = 0
    for dataset in args.tables.split(","):
        rows = []
        for system in args.systems.split(",") if args.systems else names():
            command = [sys.executable, "-m", "benchmarks.systems", "--child", system, "--tables", dataset]
            command += ["--epsilons", args.epsilons, "--seeds", str(args.seeds)]
            done = subprocess.run(command, check=False, capture_output=True, text=True, env=dict(os.environ))
            print(f"{dataset} {system}: status {done.returncode}", file=sys.stderr, flush=True)
            if done.returncode:
                print(done.stderr[-2000:], file=sys.stderr)
                status = 1
            rows += [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        if args.json:
            for row in rows:
                print(json.dumps(row))
            continue
        print(f"\n### {dataset}\n\n{table(HEADERS, [cells(r) for r in rows])}\n")
        for row in {r["system"]: r for r in rows if "refused" in r}.values():
            print(f"- {row['system']} refused: {row['refused']}")
    if not args.json:
        print("\nSeconds: median of the runs, imported and compiled before. Memory: peak after one run.")
    return status


if __name__ == "__main__":
    sys.exit(main())
