"""Intervals from refits made in two ways: `python -m benchmarks.experiments.refits [--places sample:1,adult_codes:1]`.

Releases of the tables of `benchmarks.coverage` are asked some 900 ranges, and means, gaps, medians and Gini indices by
group, with refits whose records are evened out as those of a run and without, at some efforts. Prints coverage and
median width by grade and the seconds that the refits took, on the same released values.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from functools import partial
from itertools import product

import numpy as np
from numpy.random import Generator

from benchmarks.coverage import DELTA, GOALS, Sizes, asked_one, figures, ranges, said
from benchmarks.coverage_tables import case
from benchmarks.process import table as markdown
from dpsyn_core.counting.memory import MemoryCounter
from dpsyn_core.inference.asked import asked
from dpsyn_core.inference.evidence import Evidence
from dpsyn_core.inference.fits import Fits, Refit
from dpsyn_core.inference.intervals import Inferrer
from dpsyn_core.inference.quantities import Quantity
from dpsyn_core.marginals.types import Measurement
from dpsyn_core.measurement.gate import Gate
from dpsyn_core.noise.system import SystemNoise
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.questions.document import Questions
from dpsyn_core.schema.domain import AttributeSet
from dpsyn_core.synthesizers.base import Synthesizer, Task
from dpsyn_core.synthesizers.registry import configure

ASKED = 900


def refit_by(system: Synthesizer, n_records: int) -> Refit:
    """Records from released tables."""

    def refit(tables: Sequence[Measurement], rng: Generator) -> np.ndarray:
        return system.synthesize(list(tables), n_records, rng=rng)

    return refit


def of_released(inferrer: Inferrer, names: AttributeSet) -> np.ndarray:
    """The counts of the released records."""
    return inferrer.tables(names)[0]


def compared(name: str, epsilon: float, efforts: Sequence[float]) -> list[list[object]]:
    """A row a way of making refits, of one release."""
    made = case(name)
    task = Task.of(made.schema, Budget(epsilon=epsilon, delta=DELTA))
    system = configure("rls", {}).calibrate(task)
    gate = Gate(account=Account(system.cost), noise=SystemNoise(), unit=task.unit)
    measured = system.measure(MemoryCounter(made.table.codes, made.table.domain), gate=gate)
    codes = system.synthesize(measured, None, rng=np.random.default_rng(0))
    scores = None if measured.scores is None else measured.scores.bounds()
    evidence = Evidence(made.table.domain, measured, n_public=made.schema.n_records, scores=scores)
    out: list[list[object]] = []
    for even, effort in product((True, False), efforts):
        quick = configure("rls", {"effort": effort, "even": even}).calibrate(task)
        fits = Fits(codes, measured, refit_by(quick, codes.shape[1]), pure=False)
        started = time.perf_counter()
        every = (fits.redrawn, fits.left_out, fits.pairs_alone)
        took = time.perf_counter() - started
        del every
        inferrer, sizes = Inferrer(evidence, fits, rng=np.random.default_rng(0)), Sizes(evidence)
        wanted: list[tuple[Quantity, str]] = [
            (q, f"range of {len(q.attributes)}") for q in ranges(made, np.random.default_rng(7), ASKED)
        ]
        for question in Questions.of(figures(made)).checked(made.schema).questions:
            parts = asked(question, made.schema, partial(of_released, inferrer)).parts
            wanted += [(quantity, question.kind) for quantity, _ in parts]
        rows = [r for quantity, kind in wanted for r in asked_one(made, inferrer, quantity, sizes, kind)]
        per = [said([r for r in rows if r[0] == grade]) for grade in GOALS]
        out.append([f"{name}, {epsilon:g}", f"{'evened out' if even else 'not'}, {effort:g}", *per, f"{took:.1f}"])
    return out


def main() -> None:
    """Prints Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--places", default="sample:1,adult_codes:1", help="comma-separated, TABLE:EPSILON")
    parser.add_argument("--efforts", default="0.25", help="comma-separated, of a usual fit")
    given = parser.parse_args()
    efforts = [float(e) for e in given.efforts.split(",")]
    places = [p.split(":") for p in given.places.split(",")]
    rows = [row for name, epsilon in places for row in compared(name, float(epsilon), efforts)]
    print(markdown(["table, epsilon", "refits, effort", *GOALS, "seconds"], rows), flush=True)


if __name__ == "__main__":
    main()
