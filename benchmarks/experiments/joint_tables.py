"""Tables counted as sums of fewer: `python -m benchmarks.experiments.joint_tables [--records 1000000]`.

For pairs and triples of Adult's columns, and pairs of columns of 2 to 12 values, prints how many tables are counted in
their place, and the CPU seconds of counting them on random codes, with and without joining.
"""

from __future__ import annotations

import argparse
import time
from itertools import combinations

import numpy as np

from benchmarks.tables import adult_codes
from dpsyn_core.counting import joint
from dpsyn_core.counting.joint import Joint
from dpsyn_core.counting.memory import MemoryCounter
from dpsyn_core.schema.domain import Domain


def main() -> None:
    """Prints one line a set of tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=500, help="of the wide table")
    args = parser.parse_args()
    rng, n = np.random.default_rng(0), args.records
    adult = list(adult_codes().domain.sizes)
    cases = [
        ("pairs of Adult", adult, 2), ("triples of Adult, 12 values at most", [min(s, 12) for s in adult], 3),
        (f"pairs of {args.columns} columns", [2 + i % 11 for i in range(args.columns)], 2),
    ]  # fmt: skip
    usual = joint.WORTH
    print("| tables | asked for | counted | CPU s | CPU s one by one |\n|---|---|---|---|---|")
    for label, sizes, k in cases:
        domain = Domain.of({f"c{i}": size for i, size in enumerate(sizes)})
        codes = np.stack([rng.integers(0, size, n, dtype=np.uint8) for size in sizes])
        sets, seconds = list(combinations(domain.names, k)), []
        places = list(combinations(range(len(sizes)), k))
        counted = sum(map(len, Joint(places, np.array(sizes), records=n).parts(1 << 24)))
        for joint.WORTH in (usual, n * len(sets)):
            MemoryCounter(codes[:, :10], domain).marginals(sets[:1])  # compiled
            start = time.process_time()
            MemoryCounter(codes, domain).marginals(sets)
            seconds.append(time.process_time() - start)
        joint.WORTH = usual
        print(f"| {label} | {len(sets):,} | {counted:,} | {seconds[0]:.1f} | {seconds[1]:.1f} |", flush=True)


if __name__ == "__main__":
    main()
