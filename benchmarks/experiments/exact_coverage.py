"""How coverage of exact answers about one column differs from release to release.

`python -m benchmarks.experiments.exact_coverage [--places adult_codes:.3,sample:.3] [--releases 40]` asks many releases
the ranges of one column that `benchmarks.coverage` asks one release, from released tables alone: such answers need no
fit. Prints the mean coverage with its standard error over releases, and how low and high single releases lie. The
answers of one release share the noise of a few columns, so that single ones lie far apart where the mean is right.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

from benchmarks.coverage import DELTA, ranges
from benchmarks.coverage_tables import Case, case
from benchmarks.process import table as markdown
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.noise.system import SystemNoise
from dpsyn_core.questions.answers.evidence import Evidence
from dpsyn_core.questions.answers.fits import Fits
from dpsyn_core.questions.answers.functionals import count
from dpsyn_core.questions.answers.intervals import Inferrer
from dpsyn_core.systems.base import Task
from dpsyn_core.systems.registry import configure


def covered(made: Case, epsilon: float, number: int) -> list[bool]:
    """Of one release: which exact answers about one column hold the real figure."""
    domain, codes, rng = made.table.domain, made.table.codes, np.random.default_rng([number, 7])
    task = Task.of(made.schema, Budget(epsilon=epsilon, delta=DELTA))
    system = configure("rls", {}).calibrate(task)
    gate = Gate(account=Account(system.cost), noise=SystemNoise(), unit=task.unit)
    measured = system.measure(MemoryCounter(codes, domain), gate=gate)
    # no record is needed: the estimate is what the noisy cells say
    fits = Fits(codes[:, :1], measured, None, pure=False)
    inferrer = Inferrer(Evidence(domain, measured, n_public=made.schema.n_records), fits, rng=rng)
    out: list[bool] = []
    for query in ranges(made, rng):
        if len(query.attributes) == 1:
            truth, got = query.values(count(codes, domain, query.attributes)), inferrer.infer(query)
            held = (got.low - 1e-9 <= truth) & (truth <= got.high + 1e-9)
            out += [bool(h) for h, grade in zip(held, got.grades, strict=True) if grade == "exact"]
    return out


def main() -> int:
    """Prints a row for every table and epsilon."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--places", default="adult_codes:.3,sample:.3,mixture-15000x10:3,deterministic-12000x12:3")
    parser.add_argument("--releases", type=int, default=40)
    given = parser.parse_args()
    rows: list[list[object]] = []
    for place in given.places.split(","):
        name, _, epsilon = place.partition(":")
        made = case(name)
        found = np.array([np.mean(covered(made, float(epsilon), k)) for k in range(given.releases)])
        error = found.std(ddof=1) / np.sqrt(len(found))
        low, middle, high = np.quantile(found, [0.05, 0.5, 0.95])
        rows.append([name, epsilon, f"{found.mean():.3f} +- {error:.3f}", f"{low:.3f}", f"{middle:.3f}", f"{high:.3f}"])
        print(" | ".join(map(str, rows[-1])), file=sys.stderr, flush=True)
    print(markdown(["table", "epsilon", "mean", "1 in 20 below", "median", "1 in 20 above"], rows))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
