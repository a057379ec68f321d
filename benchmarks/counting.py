"""How fast marginals are counted on one core: `python -m benchmarks.counting`."""

from __future__ import annotations

import time

import numpy as np

from benchmarks.process import table
from benchmarks.tables import adult_codes
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.schema.domain import Domain


def skewed(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, Domain]:
    """Independent skewed columns of 2 to 100 values: the order of memory, not dependence, decides the time."""
    rng = np.random.default_rng(seed)
    sizes = {f"a{i}": int(s) for i, s in enumerate(rng.choice([2, 3, 5, 10, 20, 50, 100], d))}
    columns = [np.minimum(rng.geometric(min(0.9, 4 / s), n) - 1, s - 1) for s in sizes.values()]
    return np.stack(columns).astype(np.uint8), Domain.of(sizes)


def seconds(counter: MemoryCounter, domain: Domain, k: int, repeats: int) -> float:
    """The best of several counts of all k-way marginals, in CPU seconds of this process."""
    sets = domain.subsets(k)
    best = np.inf
    for _ in range(repeats):
        start = time.process_time()
        counter.marginals(sets)
        best = min(best, time.process_time() - start)
    return best


def main() -> None:
    """Prints CPU seconds, compiled before."""
    adult = adult_codes()
    domain = adult.domain
    counter = MemoryCounter(adult.codes, domain)
    for k in (1, 2, 3):
        counter.marginals(domain.subsets(k)[:1])
    rows = [
        ["Adult codes, 48,842 x 14", f"{len(domain.subsets(k))} of {k}", f"{seconds(counter, domain, k, 5):.3f}", goal]
        for k, goal in ((1, ""), (2, "0.1"), (3, ""))
    ]
    wide, wide_domain = skewed(662_000, 98)
    took = seconds(MemoryCounter(wide, wide_domain), wide_domain, 2, 2)
    rows.append(["simulated, 662,000 x 98", f"{len(wide_domain.subsets(2)):,} of 2", f"{took:.1f}", "12"])
    print(table(["table", "marginals", "CPU seconds", "goal"], rows))


if __name__ == "__main__":
    main()
