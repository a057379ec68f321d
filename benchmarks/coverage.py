"""Coverage of the intervals of `dpsyn answer`: `python -m benchmarks.coverage [--quick] [--declared] [--print]`.

For every table and epsilon, several releases by `rls` at delta 1e-9 are asked some 2,000 random ranges of one to three
attributes, means, gaps, medians and Gini indices by group, and regressions; an answer counts as covered when the exact
figure lies in its interval of nominal 95 %. Widths are relative to 1.96 sigma times the root of the sum of squared
weights of the cells of a table that holds the question (for grades below exact: that would hold it). Each release is
kept in out/coverage as soon as it is asked, so that a run that was stopped goes on where it was. Noise is that of
production. Prints Markdown with the goals beside. `--tables learnt` asks the tables that the constants were chosen on,
`--declared` tells the run some figures and the regressions, and asks those alone.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.coverage_tables import CHECKED_ON, LEARNT_ON, Case, case
from dpsyn_core.estimate.marginals.types import Measurement
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.noise.system import SystemNoise
from dpsyn_core.questions.answers.calibration import INFERENCE
from dpsyn_core.questions.answers.evidence import Evidence
from dpsyn_core.questions.answers.fits import Fits
from dpsyn_core.questions.answers.functionals import Batch, count, merged_weights
from dpsyn_core.questions.answers.intervals import Inferrer
from dpsyn_core.questions.answers.quantities import Quantity, WeightedCounts
from dpsyn_core.questions.answers.regression import fit, infer_regression
from dpsyn_core.questions.document import Questions
from dpsyn_core.questions.meaning import numeric
from dpsyn_core.systems.base import Task
from dpsyn_core.systems.registry import configure

PLACE = Path("out") / "coverage"
EPSILONS = (0.3, 1.0, 3.0)
DELTA = 1e-9
RELEASES = 3
QUERIES, EACH = 2_000, 36  # ranges of a release, and of one attribute set
MOST_WEIGHTS = 300_000  # of one batch of ranges
GOALS = {"exact": 0.80, "estimated": 1.0, "bounded": 1.5}


def ranges(made: Case, rng: np.random.Generator, queries: int = QUERIES) -> list[WeightedCounts]:
    """Random ranges: sets of one to three attributes, in each a batch of runs of values (or of sets of values)."""
    domain, out = made.table.domain, list[WeightedCounts]()
    usable = [a.name for a in domain.attributes if a.size > 1]
    while sum(len(q.weights) for q in out) < queries:
        names = domain.ordered_set(rng.choice(usable, min(int(rng.integers(1, 4)), len(usable)), replace=False))
        each = min(EACH, MOST_WEIGHTS // domain.cells(names))
        if each < 4:
            continue
        weights = np.ones((each, *[1] * len(names)))
        for i, name in enumerate(names):
            a = domain[name]
            plain = a.size - a.special if a.ordered else a.size
            members = np.zeros((each, a.size))
            for k in range(each):
                low, high = np.sort(rng.integers(0, plain, 2))
                high -= int(low == 0 and high == plain - 1)  # all values are no condition
                chosen = np.arange(low, high + 1)
                if not a.ordered:
                    chosen = rng.choice(a.size, len(chosen), replace=False)
                members[k, chosen] = 1
            weights = weights * members.reshape(each, *[a.size if j == i else 1 for j in range(len(names))])
        out.append(WeightedCounts(attributes=names, weights=weights, floor=0.0))
    return out


def figures(made: Case) -> list[dict[str, Any]]:
    """Questions about means, gaps, medians and Gini indices, by groups of few values."""
    schema = made.schema
    of = [a.name for a in schema.coded if numeric(a)][:4]
    by = [a.name for a in schema.coded if a.size <= 12 and a.name not in of][:4]
    out: list[dict[str, Any]] = []
    for x in of:
        for g in by:
            out += [{"kind": k, "of": x, "by": [g]} for k in ("mean", "gini", "quantile")]
            sides = next((a for a in schema.coded if a.name != g and a.size == 2 and a.kind == "categorical"), None)
            if sides is not None:
                out.append({"kind": "gap", "of": x, "by": [g], "between": {sides.name: list(sides.values)}})
    return [{**q, "name": f"{i}"} for i, q in enumerate(out)]


def regressions(made: Case, rng: np.random.Generator) -> list[dict[str, Any]]:
    """Logistic models of attributes of few values on two or three others of few values."""
    schema = made.schema
    names = [a.name for a in schema.coded if 2 <= a.size - a.special <= 8 and a.kind == "categorical"]
    out: list[dict[str, Any]] = []
    for i in range(6 if len(names) > 2 else 0):
        chosen = [str(n) for n in rng.choice(names, min(len(names), 2 + i % 2 + 1), replace=False)]
        value = schema[chosen[0]].values[-1]
        form = {"kind": "regression", "model": "logistic", "of": chosen[0], "on": chosen[1:], "value": value}
        out.append({"name": f"{i}", **form})
    return out


def ask(made: Case, epsilon: float, number: int, *, declared: bool = False) -> dict[str, Any]:
    """One release, asked everything: rows of [grade, kind, covered, covered in the population, relative width].

    declared: the run is told some of the figures and all regressions, and these alone are asked.
    """
    started = time.perf_counter()
    table, schema, domain = made.table, made.schema, made.table.domain
    rng = np.random.default_rng([number, 7])
    wanted, models = figures(made), regressions(made, rng)
    if declared:
        wanted = wanted[:: max(1, len(wanted) // 6)]
    told = Questions.of([*wanted, *({**q, "name": f"r{q['name']}"} for q in models)]) if declared else None
    task = Task.of(schema, Budget(epsilon=epsilon, delta=DELTA), questions=told)
    system = configure("rls", {}).calibrate(task)
    quick = configure("rls", {"effort": INFERENCE.effort, "even": False}).calibrate(task)
    gate = Gate(account=Account(system.cost), noise=SystemNoise(), unit=task.unit)
    measured = system.measure(MemoryCounter(table.codes, domain), gate=gate)
    codes = system.synthesize(measured, None, rng=np.random.default_rng(number))
    scores = measured.scores.bounds() if measured.scores is not None else None
    evidence = Evidence(domain, measured, n_public=schema.n_records, scores=scores)

    def refit(tables: Sequence[Measurement], rng: np.random.Generator) -> Any:
        return quick.synthesize(list(tables), codes.shape[1], rng=rng)

    inferrer = Inferrer(evidence, Fits(codes, measured, refit, pure=False), rng=np.random.default_rng(number))
    rows: list[list[Any]] = []
    sizes = Sizes(evidence)
    for query in ranges(made, rng) if not declared else []:
        rows += asked_one(made, inferrer, query, sizes, f"range of {len(query.attributes)}")
    from dpsyn_core.questions.answers.requests import asked

    if wanted:
        for q in Questions.of(wanted).checked(schema).questions:
            for quantity, _ in asked(q, schema, lambda names: inferrer.tables(names)[0]).parts:
                rows += asked_one(made, inferrer, quantity, sizes, q.kind)
    rows += coefficients(made, inferrer, models)
    learnt = {n: vars_of(getattr(inferrer, n)) for n in ("of_pairs", "of_cells", "of_triples")}
    return {"rows": rows, "seconds": time.perf_counter() - started, "models": learnt}


def vars_of(model: Any) -> list[float]:
    return [round(float(x), 3) for x in (model.sampling, model.dependence, model.factor, model.learnt)]


def asked_one(made: Case, inferrer: Inferrer, quantity: Quantity, sizes: Sizes, kind: str) -> list[list[Any]]:
    domain = made.table.domain
    real = count(made.table.codes, domain, quantity.attributes)
    values = quantity.values(real)
    truth = quantity.interval(real, values, np.zeros(len(values)))[0] if kind != "quantile" else None
    got = inferrer.infer(quantity)
    if truth is None:  # the exact quantile of the real table, in place of the share below the synthetic one
        truth = real_quantiles(quantity, real)
    unit = sizes.unit(quantity.batch(inferrer.tables(quantity.attributes)[0]), inferrer)
    wide = inferrer.infer(quantity, truth="population") if made.population is not None else None
    rows = []
    if wide is not None and made.population is not None:
        whole = count(made.population, domain, quantity.attributes)
        share = made.table.codes.shape[1] / made.population.shape[1]
        scaled = whole * share
        people = real_quantiles(quantity, scaled) if kind == "quantile" else quantity.values(scaled)
    for k, grade in enumerate(got.grades):
        if not np.isfinite(truth[k]):
            continue
        held = bool(got.low[k] - 1e-9 <= truth[k] <= got.high[k] + 1e-9) if grade != "none" else None
        wider = None
        if wide is not None and grade != "none":
            wider = bool(wide.low[k] - 1e-9 <= people[k] <= wide.high[k] + 1e-9)
        known = grade != "none" and kind != "quantile" and unit[k] > 0
        width = round(float((got.high[k] - got.low[k]) / 2 / unit[k]), 4) if known else None
        rows.append([grade, kind, held, wider, width])
    return rows


def real_quantiles(quantity: Any, table: np.ndarray) -> np.ndarray:
    found: np.ndarray = quantity.quantiles(table, np.array([quantity.at]))
    return found


class Sizes:
    """Half-widths that a direct measurement would have: 1.96 sigma root of the sum of squared weights of its cells."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        pairs = [t for t in evidence.joint if len(t.attributes) == 2]
        self.sigma = float(np.median([t.sigma for t in pairs])) if pairs else float("nan")
        self.maps = {n: t.recodes[n] for t in pairs for n in t.attributes if n in t.recodes}

    def unit(self, batch: Batch, inferrer: Inferrer) -> np.ndarray:
        covering = self.evidence.covering(batch.attributes) if len(batch.attributes) > 1 else []
        if len(batch.attributes) == 1:
            covering = [t for t in self.evidence.tables if t.attributes == batch.attributes]
        if covering:
            found = [self.evidence.read(t, batch, inferrer.margins).variance for t in covering]
            best: np.ndarray = 1.96 * np.sqrt(np.min(found, axis=0))
            return best
        recodes = [self.maps.get(n) for n in batch.attributes]
        coarse = merged_weights(batch.weights, recodes, [inferrer.margins[n] for n in batch.attributes])[0]
        usual: np.ndarray = 1.96 * self.sigma * np.sqrt((coarse**2).reshape(len(coarse), -1).sum(axis=1))
        return usual


def coefficients(made: Case, inferrer: Inferrer, wanted: list[dict[str, Any]]) -> list[list[Any]]:
    rows: list[list[Any]] = []
    if not wanted:
        return rows
    for q in Questions.of(wanted).checked(made.schema).questions:
        exact = fit(q, made.schema, made.table.domain, made.table.codes, made.table.codes.shape[1])  # type: ignore[arg-type]
        got = infer_regression(
            q, made.schema, inferrer.evidence, inferrer.fits.codes, inferrer.fits.redrawn, truth="table",  # type: ignore[arg-type]
            confidence=0.95,
        )  # fmt: skip
        for k, grade in enumerate(got.grades):
            if np.isfinite(exact.beta[k]) or grade == "none":
                held = None if grade == "none" else bool(got.low[k] <= exact.beta[k] <= got.high[k])
                rows.append([grade, "regression", held, None, None])
    return rows


def summary(found: dict[tuple[str, float], list[list[Any]]], names: Sequence[str], epsilons: Sequence[float]) -> None:
    """Prints coverage and widths by grade, then by table, then regressions."""
    print("| grade | goal | " + " | ".join(f"epsilon {e:g}" for e in epsilons) + " |")
    print("|---|---|" + "---|" * len(epsilons))
    for grade, goal in GOALS.items():
        cells = []
        for e in epsilons:
            rows = [r for n in names for r in found.get((n, e), []) if r[0] == grade and r[1] != "regression"]
            cells.append(said(rows))
        print(f"| {grade} | .93 to .99, width at most {goal:g} | " + " | ".join(cells) + " |")
    print("\n| table | grade | " + " | ".join(f"epsilon {e:g}" for e in epsilons) + " |")
    print("|---|---|" + "---|" * len(epsilons))
    for n in names:
        for grade in (*GOALS, "none"):
            per = [[r for r in found.get((n, e), []) if r[0] == grade and r[1] != "regression"] for e in epsilons]
            if any(per):
                print(f"| {n} | {grade} | " + " | ".join(said(rows) for rows in per) + " |")
    print("\n| kind of question | " + " | ".join(f"epsilon {e:g}" for e in epsilons) + " |")
    print("|---|" + "---|" * len(epsilons))
    for kind in (*(f"range of {k}" for k in (1, 2, 3)), "mean", "gap", "gini", "quantile", "regression"):
        per = [[r for n in names for r in found.get((n, e), []) if r[1] == kind] for e in epsilons]
        if any(per):
            print(f"| {kind} | " + " | ".join(said(rows) for rows in per) + " |")
    every = [r for rows in found.values() for r in rows if r[3] is not None]
    if every:
        print(f"\npopulation: {np.mean([r[3] for r in every]):.3f} of {len(every):,} answers")


def said(rows: list[list[Any]]) -> str:
    given = [r for r in rows if r[2] is not None]
    left = len(rows) - len(given)
    if not given:
        return f"none of {left:,} given" if left else ""
    widths = [r[4] for r in given if r[4] is not None]
    width = f", width {np.median(widths):.2f}" if widths else ""
    refused = f", {left:,} not given" if left else ""
    return f"{np.mean([r[2] for r in given]):.3f}{width} ({len(given):,}{refused})"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--tables", nargs="+", default=list(CHECKED_ON))
    parser.add_argument("--epsilons", nargs="+", type=float, default=list(EPSILONS))
    parser.add_argument("--releases", type=int, default=RELEASES)
    parser.add_argument("--quick", action="store_true", help="one release of two tables at epsilon 1")
    parser.add_argument("--declared", action="store_true", help="tell the run what is asked: figures and regressions")
    parser.add_argument("--print", action="store_true", help="only print what is in out/coverage")
    parser.add_argument("--place", type=Path, default=PLACE)
    args = parser.parse_args()
    names = list(LEARNT_ON) if args.tables == ["learnt"] else args.tables
    if args.quick:
        names, args.epsilons, args.releases = ["sample", "mixture-15000x10"], [1.0], 1
    args.place.mkdir(parents=True, exist_ok=True)
    found: dict[tuple[str, float], list[list[Any]]] = {}
    for number in range(args.releases):
        for name in names:
            for e in args.epsilons:
                kept = args.place / f"{name}-{e:g}-{number}{'-declared' if args.declared else ''}.json"
                if not kept.exists() and not args.print:
                    got = ask(case(name), e, number, declared=args.declared)
                    kept.write_text(json.dumps(got))
                    print(f"{kept.stem}: {got['seconds']:.0f} s {got['models']}", file=sys.stderr, flush=True)
                if kept.exists():
                    found.setdefault((name, e), []).extend(json.loads(kept.read_text())["rows"])
    summary(found, names, args.epsilons)
    return 0


if __name__ == "__main__":
    sys.exit(main())
