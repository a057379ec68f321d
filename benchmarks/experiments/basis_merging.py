"""What PrivBasis gains by merging basis sets beyond the first merge that is no gain.

`python -m benchmarks.experiments.basis_merging [--graphs 200] [--seed 0]`

Random graphs of 6 to 17 items, in which a pair is an edge with a probability between .1 and .5. For graphs of so many
maximal cliques: how many are better than before by more than a hundredth, the mean and the least of the variance after
over that before, and milliseconds a graph. Before is merging by twos up to the first merge that is no gain, path the
best of merging by twos further on, after what `build_bases` gives. Prints Markdown.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections import defaultdict

import numpy as np

from benchmarks.process import table as markdown
from dpsyn_core.synthesizers.privbasis.basis import (
    SEARCHED,
    Queries,
    build_bases,
    maximal_cliques,
    mean_variance,
    merge_by_twos,
)

LONGEST = 12  # items in a basis, as `dpsyn itemsets` has it
CLEAR = 0.01
GROUPS = (2, 5, 8, 10, SEARCHED, 20, 1000)  # most maximal cliques of a group of graphs


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    rng = np.random.default_rng(given.seed)
    found: dict[int, list[tuple[float, float, float]]] = defaultdict(list)
    for _ in range(given.graphs):
        items = list(range(int(rng.integers(6, 18))))
        share = rng.uniform(0.1, 0.5)
        pairs = [p for p in itertools.combinations(items, 2) if rng.random() < share]
        held = {i for p in pairs for i in p}
        items = [i for i in items if i in held]
        if not pairs:
            continue
        queries = [frozenset([i]) for i in items] + [frozenset(p) for p in pairs]
        asked, sets = Queries(queries), maximal_cliques(items, pairs)
        before = mean_variance(merge_by_twos(sets, asked, LONGEST, patience=1), queries)
        path = mean_variance(merge_by_twos(sets, asked, LONGEST), queries)
        started = time.perf_counter()
        after = mean_variance(build_bases(items, pairs, LONGEST), queries)
        took = time.perf_counter() - started
        group = next(g for g in GROUPS if len(sets) <= g)
        found[group].append((path / before, after / before, 1000 * took))
    rows: list[list[object]] = []
    for group in sorted(found):
        path, after, took = np.array(found[group]).T
        rows.append(
            [
                f"up to {group}", len(after), int((path < 1 - CLEAR).sum()), int((after < 1 - CLEAR).sum()),
                f"{path.mean():.3f}", f"{after.mean():.3f}", f"{after.min():.3f}", f"{after.max():.3f}",
                f"{np.median(took):.0f}", f"{took.max():.0f}",
            ]
        )  # fmt: skip
    head = ("cliques", "graphs", "path better", "after better", "path", "after", "least", "most", "ms", "most ms")
    print(markdown(head, rows))


if __name__ == "__main__":
    main()
