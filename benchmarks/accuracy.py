"""Accuracy of systems at equal budgets: `python -m benchmarks.accuracy [--tables adult_codes] [--methods rls]`.

For every table, method and epsilon: the median over seeds of the mean 1-, 2- and 3-way total variation distance at
full resolution, the NIST density score, the NIST range score of queries made from the schema, wall seconds and peak
memory of a process that starts cold. Noise is that of production; only post-processing is seeded. `sample` (records
drawn afresh from the real ones) and `product` (exact one-ways, no dependence) are no private methods: they show what
errors mean. `prototype` is the plain method that `rls` grew from (benchmarks/prototype.py). `mst-mbi` is mst with the
inference of the library mbi, by other authors, when it is installed (extra `pgm`); a method that cannot run is named
on stderr and left out. Prints Markdown.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.engine import run_system
from benchmarks.memory import peak_mb
from benchmarks.plot import svg_lines
from benchmarks.process import table as markdown
from benchmarks.prototype import prototype
from benchmarks.tables import KINDS, Table, adult_codes, adult_raw, drug_deaths, simulated
from dpsyn_core.errors import DPSynError

EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)
DELTA = 1e-9
METRICS = ("tvd-1way", "tvd-2way", "tvd-3way", "nist-density", "nist-range-schema")
REAL = {"adult_codes": adult_codes, "adult_raw": adult_raw, "drug_deaths": drug_deaths}
PEER = {"mst-mbi": ("mst", {"engine": "mbi"})}  # names for a method with settings
# mean 2-way TVD on Adult codes, delta 1e-9, one seed: the best peer measured at each epsilon, and where it stands
PEERS = {
    0.1: (0.192, "SWIFT"),
    0.3: (0.086, "SWIFT"),
    1.0: (0.041, "AIM-GDP"),
    3.0: (0.028, "SWIFT"),
    10.0: (0.028, "DPSyn, corrected"),
}


def load(name: str) -> Table:
    """A real table by name, or a simulated one written kind-RECORDSxATTRIBUTES, such as tree-20000x20."""
    if name in REAL:
        return REAL[name]()
    kind, _, shape = name.partition("-")
    if kind not in KINDS or "x" not in shape:
        msg = f"unknown table '{name}'; known are {', '.join(REAL)} and KIND-RECORDSxATTRIBUTES, kinds {KINDS}"
        raise SystemExit(msg)
    n, d = (int(x) for x in shape.split("x"))
    return simulated(kind, n, d, 1)


def reference(method: str, codes: np.ndarray, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if method == "sample":
        return codes[:, rng.integers(0, codes.shape[1], codes.shape[1])]
    return np.stack([rng.permutation(c) for c in codes])


def child(name: str, method: str, epsilon: float, seeds: int, settings: dict[str, object], born: float) -> None:
    """Runs one method at one epsilon in this process and prints one JSON line."""
    data = load(name)
    ready = time.time()
    runs, seconds = [], []
    memory = cold = 0.0
    for seed in range(seeds):
        started = time.perf_counter()
        if method in ("sample", "product"):
            runs.append(reference(method, data.codes, seed))
        elif method == "prototype":
            runs.append(prototype(data.codes, data.domain, epsilon=epsilon, delta=DELTA, seed=seed))
        else:
            system, own = PEER.get(method, (method, {}))
            out = run_system(system, data.codes, data.domain, epsilon=epsilon, seed=seed, settings=settings | own)
            runs.append(out.codes)
        seconds.append(time.perf_counter() - started)
        if not seed:
            memory = peak_mb()
            cold = time.time() - born
    from dpsyn_core.evaluate.base import compute
    from dpsyn_core.evaluate.comparison import Comparison

    shared: dict[object, object] = {}
    rows = []
    for synthetic in runs:
        c = Comparison(domain=data.domain, real=data.codes, synthetic=synthetic, shared=shared)
        scores = compute(c, METRICS)
        rows.append([getattr(scores[m], "value", float("nan")) for m in METRICS])
    result = {"scores": rows, "seconds": seconds, "megabytes": memory, "cold": cold, "loading": ready - born}
    print(json.dumps(result))


def run_child(name: str, method: str, epsilon: float, seeds: int, settings: dict[str, object]) -> dict[str, Any] | None:
    command = [sys.executable, "-m", "benchmarks.accuracy", "--child", name, method, str(epsilon), str(seeds)]
    command += [json.dumps(settings), str(time.time())]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ, check=False)
    if done.returncode:
        print(f"{name} {method} {epsilon}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return None
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def row_of(name: str, method: str, epsilon: float | None, got: dict[str, Any]) -> list[object]:
    one, two, three, density, span = np.median(np.array(got["scores"]), axis=0)
    return [
        name, method, "-" if epsilon is None else f"{epsilon:g}", f"{one:.4f}", f"{two:.4f}", f"{three:.4f}",
        f"{density / 1000:.0f}k", f"{span / 1000:.0f}k", f"{np.median(got['seconds']):.1f}", f"{got['cold']:.1f}",
        f"{got['megabytes']:.0f}",
    ]  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", default="adult_codes", help="comma-separated")
    parser.add_argument("--methods", default="rls", help="comma-separated; sample and product are references")
    parser.add_argument("--epsilons", default=",".join(f"{e:g}" for e in EPSILONS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--settings", default="{}", help="JSON, for every method")
    parser.add_argument("--plot", type=Path, help="SVG to write: 2-way error against epsilon, first table")
    parser.add_argument("--child", nargs=6, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        name, method, epsilon, seeds, settings, born = given.child
        try:
            child(name, method, float(epsilon), int(seeds), json.loads(settings), float(born))
        except DPSynError as refusal:
            raise SystemExit(str(refusal)) from None
        return 0
    epsilons = [float(e) for e in given.epsilons.split(",")]
    rows: list[list[object]] = []
    lines: dict[str, dict[float, float]] = {}
    for name in given.tables.split(","):
        for method in given.methods.split(","):
            free = method in ("sample", "product")
            for epsilon in epsilons[:1] if free else epsilons:
                got = run_child(name, method, epsilon, given.seeds, {} if free else json.loads(given.settings))
                if got is None:
                    continue
                rows.append(row_of(name, method, None if free else epsilon, got))
                print("| " + " | ".join(str(c) for c in rows[-1]) + " |", file=sys.stderr, flush=True)
                if name == given.tables.split(",")[0]:
                    two = float(np.median(np.array(got["scores"])[:, 1]))
                    for e in epsilons if free else [epsilon]:
                        lines.setdefault(method, {})[e] = two
    heads = ("table", "method", "epsilon", "1-way", "2-way", "3-way", "density", "range", "engine s", "cold s", "MB")
    print(markdown(heads, rows))
    if given.plot:
        if given.tables.startswith("adult_codes"):
            lines["best peer"] = {e: value for e, (value, _) in PEERS.items() if e in epsilons}
        given.plot.write_text(svg_lines(lines, x="epsilon", y="mean 2-way total variation distance"), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
