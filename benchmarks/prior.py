"""What a public table is worth: `python -m benchmarks.prior [--epsilons .1,.3,1] [--seeds 3] [--table adult_codes]`.

One half of a table is private, the other one is its predecessor, in four forms: unchanged (two draws of one process);
drifted (its records drawn again, the young ones and those with the first value of the last column more often); with
wrong dependence (every column sorted, up and down in turn: right one-ways, wrong pairs); and with wrong values (every
code counted from the other end, so that hardly any one-way is right). Prints the mean total variation distance of all
1-, 2- and 3-way marginals (at most 300 of an order) from the private half, means over seeds, without and with.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

import numpy as np

from benchmarks.accuracy import load
from benchmarks.engine import mean_distance, run_system
from benchmarks.process import table as markdown
from dpsyn_core.schema.domain import Domain
from dpsyn_core.synthesizers.public_table import PublicTable

Codes = np.ndarray
ORDERS = (1, 2, 3)


def predecessors(codes: Codes, rng: np.random.Generator) -> Iterator[tuple[str, Codes]]:
    """The other half of a table, unchanged and changed; codes: (attributes, records)."""
    yield "two draws of one process", codes
    low = np.exp(-2.0 * codes[0] / max(int(codes[0].max()), 1)) * (1 + 0.6 * (codes[-1] == 0))
    yield "drifted", codes[:, rng.choice(codes.shape[1], codes.shape[1], p=low / low.sum())]
    wrong = np.sort(codes, axis=1)
    wrong[1::2] = wrong[1::2, ::-1]
    yield "wrong dependence", wrong
    yield "wrong values", np.stack([c.max() - c for c in codes]).astype(codes.dtype)


def errors(private: Codes, domain: Domain, public: Codes | None, epsilon: float, seeds: int) -> list[float]:
    """Mean distances of 1-, 2- and 3-way marginals of `rls`."""
    known = None if public is None else PublicTable(codes=public, domain=domain)
    found = []
    for seed in range(seeds):
        out = run_system("rls", private, domain, epsilon=epsilon, seed=seed, public=known).codes
        found.append([mean_distance(private, out, domain, k) for k in ORDERS])
    return [float(x) for x in np.mean(found, axis=0)]


def row(name: str, epsilon: object, found: list[float], without: list[float] | None) -> list[object]:
    """A line of the table; the change of the pairs against the run without."""
    change = "" if without is None else f"{found[1] / without[1] - 1:+.0%}"
    return [epsilon, name, *(f"{e:.4f}" for e in found), change]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epsilons", default=".1,.3,1")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--table", default="adult_codes", help="as in benchmarks.accuracy")
    args = parser.parse_args()
    table, rng = load(args.table), np.random.default_rng(0)
    order = rng.permutation(table.codes.shape[1])
    half = len(order) // 2
    private, other = table.codes[:, order[:half]], table.codes[:, order[half : 2 * half]]
    rows = []
    public = list(predecessors(other, rng))
    for name, codes in public:
        alone = [mean_distance(private, codes, table.domain, k) for k in ORDERS]
        rows.append(row(f"the public table itself: {name}", "-", alone, None))
    for epsilon in (float(e) for e in args.epsilons.split(",")):
        without = errors(private, table.domain, None, epsilon, args.seeds)
        rows.append(row("without", f"{epsilon:g}", without, None))
        for name, codes in public:
            rows.append(row(name, f"{epsilon:g}", errors(private, table.domain, codes, epsilon, args.seeds), without))
            print(rows[-1], file=sys.stderr, flush=True)
    print(markdown(["epsilon", "public table", "1-way", "2-way", "3-way", "change of 2-way"], rows))


if __name__ == "__main__":
    main()
