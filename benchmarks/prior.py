"""What a public table is worth: `python -m benchmarks.prior [--table tree-3000x8] [--epsilons .1,.3,1] [--seeds 3]`.

One half of a table is private, the other one is its predecessor, in the forms of `FORMS`: from two draws of one process
to tables that mislead. Prints how far the mean total variation distances of all 1-, 2- and 3-way marginals (at most 300
of an order) from the private half change by it. Runs with and without have the same noise, drawn from a seed, so that
small differences show; behind a change stands its standard error over seeds. `--table`: as in benchmarks.accuracy, or
KIND-RECORDSxCOLUMNS of a simulated one; of several, with commas, a last row of each form has the mean of all.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from benchmarks.accuracy import load
from benchmarks.engine import mean_distance
from benchmarks.process import table as markdown
from benchmarks.tables import Kind, simulated
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.domain import Domain
from dpsyn_core.systems.base import Task
from dpsyn_core.systems.public_table import PublicTable
from dpsyn_core.systems.registry import configure

Codes = np.ndarray
ORDERS = (1, 2, 3)
ASIDE = 999_983  # the stream of the scores against a public table, which a run without one does not draw


class PairedNoise:
    """Gaussian draws from a stream of their own for each release: the same with a public table and without."""

    def __init__(self, seed: int) -> None:
        self.seed, self.calls, self.aside = seed, 0, False

    def gaussian(self, sigma: float, size: int) -> np.ndarray:
        self.calls += not self.aside
        rng = np.random.default_rng([self.seed, ASIDE if self.aside else self.calls])
        return np.rint(rng.normal(0, 1, size) * sigma).astype(np.int64)


def drifted(codes: Codes, sizes: np.ndarray, rng: np.random.Generator) -> Codes:
    low = np.exp(-2.0 * codes[0] / max(int(codes[0].max()), 1)) * (1 + 0.6 * (codes[-1] == 0))
    return codes[:, rng.choice(codes.shape[1], codes.shape[1], p=low / low.sum())]


def up_and_down(codes: Codes, sizes: np.ndarray, rng: np.random.Generator) -> Codes:
    wrong = np.sort(codes, axis=1)
    wrong[1::2] = wrong[1::2, ::-1]
    return wrong


def half_wrong(codes: Codes, sizes: np.ndarray, rng: np.random.Generator) -> Codes:
    n = codes.shape[1]
    wrong = up_and_down(codes, sizes, rng)[:, rng.permutation(n)[: n - n // 2]]
    return np.concatenate([codes[:, : n // 2], wrong], axis=1)


def relabelled(codes: Codes, sizes: np.ndarray, rng: np.random.Generator) -> Codes:
    return np.stack([rng.permutation(s)[c] for s, c in zip(sizes, codes, strict=True)]).astype(codes.dtype)


def partly(codes: Codes, sizes: np.ndarray, rng: np.random.Generator) -> Codes:
    half = len(codes) // 2
    return np.concatenate([codes[:half], relabelled(codes[half:], sizes[half:], rng)])


def noised(share: float, columns: int | None = None) -> Callable[[Codes, np.ndarray, np.random.Generator], Codes]:
    """Values drawn anew: uniformly, or (`columns` given) from the other records, in that many last columns."""

    def form(codes: Codes, sizes: np.ndarray, rng: np.random.Generator) -> Codes:
        fresh = rng.integers(0, sizes[:, None], codes.shape) if columns is None else rng.permuted(codes, axis=1)
        which = rng.random(codes.shape) < share
        which[: 0 if columns is None else max(len(codes) - columns, 0)] = False
        return np.where(which, fresh, codes).astype(codes.dtype)

    return form


def too_strong(codes: Codes, sizes: np.ndarray, rng: np.random.Generator) -> Codes:
    """Half of the records are taken from a table in which every column rises with every other."""
    n = codes.shape[1]
    return np.concatenate([codes[:, : n // 2], np.sort(codes, axis=1)[:, rng.permutation(n)[: n - n // 2]]], axis=1)


FORMS: dict[str, Callable[[Codes, np.ndarray, np.random.Generator], Codes]] = {
    "two draws of one process": lambda codes, _, rng: codes,
    "drifted: its first and last columns": drifted,
    "columns shuffled": lambda codes, _, rng: np.stack([rng.permutation(c) for c in codes]),
    "right one-ways, wrong dependence": up_and_down,
    "half its records with wrong dependence": half_wrong,
    "values permuted": relabelled,
    "values of half its columns permuted": partly,
    "uniform": lambda codes, sizes, rng: rng.integers(0, sizes[:, None], codes.shape).astype(codes.dtype),
    "ten records": lambda codes, _, rng: codes[:, :10],
    "one record, a hundred times as often": lambda codes, _, rng: np.tile(codes[:, :1], 100 * codes.shape[1]),
    "30 of 100 values uniform noise": noised(0.3),
    "half of all values uniform noise": noised(0.5),
    "40 of 100 values from other records": noised(0.4, 1000),
    "last three columns from other records": noised(1.0, 3),
    "half its records too dependent": too_strong,
}


def made(private: Codes, domain: Domain, public: Codes | None, epsilon: float, seed: int) -> list[float]:
    """Mean distances of 1-, 2- and 3-way marginals of one run of `rls`."""
    known = None if public is None else PublicTable(codes=np.ascontiguousarray(public), domain=domain)
    task = Task(domain=domain, unit=Unit(), budget=Budget(epsilon=epsilon, delta=1e-9), public=known)
    system: Any = configure("rls", {}).calibrate(task)
    noise: Any = PairedNoise(seed)  # of a source of noise, all that `rls` draws with a delta
    if system.prior is not None:
        system.prior = Aside(system.prior, noise)
    gate = Gate(account=Account(system.cost), noise=noise, unit=task.unit)
    measured = system.measure(MemoryCounter(private, domain), gate=gate)
    out = system.synthesize(measured, None, rng=np.random.default_rng(seed))
    return [mean_distance(private, out, domain, k) for k in ORDERS]


class Aside:
    """A prior whose scores draw from a stream of their own."""

    def __init__(self, prior: Any, noise: PairedNoise) -> None:
        self.prior, self.noise = prior, noise

    def __getattr__(self, name: str) -> Any:
        return getattr(self.prior, name)

    def borne_out(self, view: object) -> Any:
        kept = self.prior.borne_out(view)
        return None if kept is None else Aside(kept, self.noise)

    def scored(self, *args: Any, **more: Any) -> Any:
        self.noise.aside = True
        try:
            return self.prior.scored(*args, **more)
        finally:
            self.noise.aside = False


def halves(name: str) -> tuple[Codes, Codes, Domain]:
    """Two halves of a table at random."""
    kind, _, size = name.partition("-")
    if "x" in size:
        records, columns = map(int, size.split("x"))
        found = simulated(cast("Kind", kind), 2 * records, columns, 5)
    else:
        found = load(name)
    order = np.random.default_rng(0).permutation(found.codes.shape[1])
    half = len(order) // 2
    return found.codes[:, order[:half]], found.codes[:, order[half : 2 * half]], found.domain


def changed(logs: np.ndarray) -> list[str]:
    """Mean changes and their standard errors, from logarithms of ratios, (tables, runs, orders): errors of each table
    by itself, since tables are chosen and runs are drawn."""
    doubt = np.sqrt((logs.var(axis=1, ddof=1) / logs.shape[1]).sum(axis=0)) / len(logs)
    return [f"{np.expm1(m):+.1%} ± {d:.1%}" for m, d in zip(logs.mean(axis=(0, 1)), doubt, strict=True)]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", default="adult_codes")
    parser.add_argument("--epsilons", default=".1,.3,1")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--forms", default="", help="numbers of the forms to take, from 0; empty: all")
    args = parser.parse_args()
    tables, rows = {n: halves(n) for n in args.table.split(",")}, []
    taken = [list(FORMS)[int(i)] for i in args.forms.split(",")] if args.forms else list(FORMS)
    for epsilon in map(float, args.epsilons.split(",")):
        without = {
            n: np.array([made(private, domain, None, epsilon, s) for s in range(args.seeds)])
            for n, (private, _, domain) in tables.items()
        }
        for n, errors in without.items():
            rows.append([n, f"{epsilon:g}", "none", *(f"{e:.4f}" for e in errors.mean(axis=0))])
        for form in taken:
            logs = []
            for n, (private, other, domain) in tables.items():
                public = FORMS[form](other, np.array(domain.sizes), np.random.default_rng(1))
                found = np.array([made(private, domain, public, epsilon, s) for s in range(args.seeds)])
                logs.append(np.log(found / without[n]))
                rows.append([n, f"{epsilon:g}", form, *changed(np.array(logs[-1:]))])
                print(rows[-1], file=sys.stderr, flush=True)
            if len(tables) > 1:
                rows.append(["all", f"{epsilon:g}", form, *changed(np.array(logs))])
    print(markdown(["table", "epsilon", "public table", "1-way", "2-way", "3-way"], rows))


if __name__ == "__main__":
    main()
