"""What labs show without computing it: `python -m benchmarks.lessons [--only systems,membership,growing,training]`.

`systems`: five systems, five budgets, several repeats on the bundled sample; distances, the pay gap, and the error of
every group of city and race (labs 14 and 18). `membership`: shadow runs on 400 people with and without one unusual
person, and how often an attack that has learnt from half of them is right on the other half (lab 11). `growing`: how
far records are from all pairs, sweep by sweep (lab 5). `training`: epsilon of a training by steps under two kinds of
accounting, and AUROC against epsilon on Adult (lab 19; needs the extra `deep` and the table, see benchmarks/tables.py).
Noise is that of production. Writes the JSON files in ui/learn/numbers/results.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.engine import mean_distance, run_system
from dpsyn_core.estimate.marginals.types import Measurement
from dpsyn_core.estimate.records.gum import UpdateSettings, gum, mcf
from dpsyn_core.estimate.records.polish import polish
from dpsyn_core.estimate.records.targets import tables_of
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.runs.tables import table_of
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.domain import Domain
from dpsyn_core.schema.sample import sample_schema, sample_table
from dpsyn_core.systems.base import Task
from dpsyn_core.systems.registry import configure
from tests.seeded import SeededNoise
from ui.learn import numbers as lessons
from ui.learn.numbers.systems import pay_gap

RESULTS = Path(lessons.__file__).parent / "results"
DELTA = 1e-9
SYSTEMS = ("rls", "dpsyn", "mst", "privbayes", "independent")
EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)
GROUPS = ("CITY", "RACE")
WITHIN = "OCC"
# membership: columns of the small table, its people, and the budgets
COLUMNS = ("CITY", "SEX", "RACE", "MARST", "EMPSTAT", "OWNERSHP")
PEOPLE = 400
RACED = ("CITY", "SEX", "AGE", "EDUC", "OCC", "INCWAGE")  # lab 5: columns, records and sweeps
GROWN, SWEEPS = 4_000, 20
SHADOWED = ("rls", "independent")
# lab 19: systems and budgets of the remade figure, synthetic records that classifiers learn from, published AUROC
TRAINED, FIGURE, TAUGHT = ("rls", "p3gm"), (0.2, 0.5, 1.0, 2.0, 5.0, 10.0), 50_000
JUDGES = ("logistic", "xgboost")
PUBLISHED = {"P3GM": 0.8214, "DP-GM": 0.7806, "PrivBayes": 0.8530}
SHADOW_EPSILONS = (0.3, 1.0, 3.0, 10.0)


def rounded(value: Any) -> Any:
    """Four significant digits, so that the files stay small."""
    if isinstance(value, list | tuple | np.ndarray):
        return [rounded(v) for v in value]
    return float(f"{float(value):.4g}")


def systems(repeats: int) -> dict[str, Any]:
    """Every system at every budget, `repeats` times, and fresh samples of the same people as a yardstick."""
    schema, real = sample_schema(), sample_table()
    codes = Codec(schema).encode(real).codes
    domain = schema.domain()
    columns = tuple(real.column_names)
    truth = pay_gap(real)
    place = {n: domain.index(n) for n in (*GROUPS, WITHIN)}
    sizes = groups_of(codes, place, domain)

    def scores(made: np.ndarray, seed: int) -> dict[str, Any]:
        table = table_of(made, schema, columns=columns, rng=np.random.default_rng(seed))
        out: dict[str, Any] = {f"tvd-{k}way": mean_distance(codes, made, domain, k) for k in (1, 2, 3)}
        out["gap"] = abs(pay_gap(table) - truth)
        found = groups_of(made, place, domain)
        out["count"] = np.abs(found.sum(axis=1) - sizes.sum(axis=1)) / np.maximum(sizes.sum(axis=1), 1)
        shares = found / np.maximum(found.sum(axis=1, keepdims=True), 1)
        wanted = sizes / np.maximum(sizes.sum(axis=1, keepdims=True), 1)
        out["within"] = np.where(found.sum(axis=1) > 0, 0.5 * np.abs(shares - wanted).sum(axis=1), 1.0)
        return out

    lines: dict[str, list[list[dict[str, Any]]]] = {}
    for name in SYSTEMS:
        lines[name] = []
        for epsilon in EPSILONS:
            started = time.perf_counter()
            runs = [run_system(name, codes, domain, epsilon=epsilon, delta=DELTA, seed=s) for s in range(repeats)]
            lines[name].append([scores(r.codes, i) for i, r in enumerate(runs)])
            print(f"{name} {epsilon:g}: {time.perf_counter() - started:.0f} s", file=sys.stderr, flush=True)
    rng = np.random.default_rng(0)
    n = codes.shape[1]
    lines["sample"] = [[scores(codes[:, rng.integers(0, n, n)], i) for i in range(repeats)]]
    kept = np.flatnonzero(sizes.sum(axis=1) > 0)
    b = domain[GROUPS[1]]
    first, second = (schema_values(schema, n) for n in GROUPS)
    return {
        "records": n, "delta": DELTA, "epsilons": EPSILONS, "repeats": repeats,
        "metrics": {
            name: {
                metric: [[rounded(run[metric]) for run in runs] for runs in budgets]
                for metric in ("tvd-1way", "tvd-2way", "tvd-3way", "gap")
            }
            for name, budgets in lines.items()
        },
        "groups": [
            {"name": f"{second[i % b.size]}, {first[i // b.size]}", "size": int(sizes[i].sum())} for i in kept
        ],
        "errors": {
            name: {
                what: [rounded(np.mean([run[what] for run in runs], axis=0)[kept]) for runs in budgets]
                for what in ("count", "within")
            }
            for name, budgets in lines.items()
        },
    }  # fmt: skip


def schema_values(schema: Any, name: str) -> list[str]:
    """Words of a categorical column, by code."""
    return [str(v) for v in next(a for a in schema.attributes if a.name == name).values]


def groups_of(codes: np.ndarray, place: dict[str, int], domain: Domain) -> np.ndarray:
    """How many of each value of WITHIN every group has; (groups, values)."""
    shape = tuple(domain[n].size for n in (*GROUPS, WITHIN))
    flat = np.ravel_multi_index(tuple(codes[place[n]].astype(np.int64) for n in (*GROUPS, WITHIN)), shape)
    return np.bincount(flat, minlength=int(np.prod(shape))).reshape(shape[0] * shape[1], shape[2])


def membership(runs: int) -> dict[str, Any]:
    """Shadow runs of both worlds, and the attack that they teach."""
    schema = sample_schema()
    whole = schema.domain()
    rows = [whole.index(n) for n in COLUMNS]
    codes = np.ascontiguousarray(Codec(schema).encode(sample_table()).codes[rows])
    domain = Domain(tuple(whole[n] for n in COLUMNS))
    people = codes[:, :PEOPLE]
    chances = np.ones(codes.shape[1])
    for row, attribute in zip(codes, domain.attributes, strict=True):
        chances *= (np.bincount(row, minlength=attribute.size) / codes.shape[1])[row]
    person = codes[:, PEOPLE + int(np.argmin(chances[PEOPLE:]))][:, None]
    worlds = (people, np.ascontiguousarray(np.concatenate([people, person], axis=1)))
    out: dict[str, Any] = {
        "people": PEOPLE, "runs": runs, "delta": DELTA, "epsilons": SHADOW_EPSILONS, "alarms": rounded(ALARMS),
        "person": {n: schema_values(schema, n)[int(c)] for n, c in zip(COLUMNS, person[:, 0], strict=True)},
        "systems": {},
    }  # fmt: skip
    for name in (*SHADOWED, "exact"):
        out["systems"][name] = []
        for epsilon in SHADOW_EPSILONS if name != "exact" else (SHADOW_EPSILONS[-1],):
            started = time.perf_counter()
            seen = [
                np.stack([features(shadow(name, w, domain, epsilon, seed), person) for seed in range(runs)])
                for w in worlds
            ]
            out["systems"][name].append(attack(*seen))
            print(f"{name} {epsilon:g}: {time.perf_counter() - started:.0f} s", file=sys.stderr, flush=True)
    return out


ALARMS = np.round(np.linspace(0, 1, 51), 2)


def shadow(name: str, codes: np.ndarray, domain: Domain, epsilon: float, seed: int) -> np.ndarray:
    """One synthetic table; `exact` is the default system handed exact counts."""
    if name != "exact":
        return run_system(name, codes, domain, epsilon=epsilon, delta=DELTA, seed=seed).codes
    task = Task(domain=domain, unit=Unit(), budget=Budget(epsilon=epsilon, delta=DELTA), n_public=None)
    system = configure("rls", {}).calibrate(task)
    gate = Gate(account=Account(system.cost), noise=SeededNoise(seed, scale=0), unit=task.unit)
    measured = system.measure(MemoryCounter(codes, domain), gate=gate)
    return system.synthesize(measured, None, rng=np.random.default_rng(seed))


def features(made: np.ndarray, person: np.ndarray) -> np.ndarray:
    """What an attacker looks at: records, and how many agree with the person in each column, each pair and in all."""
    same = (made == person).astype(np.float64)
    pairs = same @ same.T
    return np.concatenate([[made.shape[1], same.all(axis=0).sum()], pairs[np.triu_indices(len(pairs))]])


def attack(without: np.ndarray, with_person: np.ndarray) -> dict[str, Any]:
    """A linear discriminant that learns from the first half of both worlds' runs and is judged on the other half."""
    half = len(without) // 2
    learnt = np.concatenate([without[:half], with_person[:half]])
    centre, width = learnt.mean(axis=0), learnt.std(axis=0) + 1e-9
    a, b = ((x - centre) / width for x in (without, with_person))
    spread = np.cov(np.concatenate([a[:half] - a[:half].mean(axis=0), b[:half] - b[:half].mean(axis=0)]).T)
    lean = np.linalg.solve(spread + 0.05 * np.eye(len(centre)), b[:half].mean(axis=0) - a[:half].mean(axis=0))
    cut = 0.5 * ((a[:half] @ lean).mean() + (b[:half] @ lean).mean())
    out, into = a[half:] @ lean, b[half:] @ lean
    right = 0.5 * float((out < cut).mean() + (into > cut).mean())
    marks = np.quantile(out, 1 - ALARMS, method="higher")
    # ties count half on either side, so that a table that never changes gives a coin
    found = [(into > m).mean() + (into == m).mean() * max(0.0, alarm - (out > m).mean()) / max((out == m).mean(), 1e-12)
             for m, alarm in zip(marks, ALARMS, strict=True)]  # fmt: skip
    found[-1] = 1.0  # who accuses every table finds all
    return {"right": rounded(right), "found": rounded(found)}


def growing() -> dict[str, list[float]]:
    """Mean distance to all exact pairs of the simulated sample, sweep by sweep; no real person is in the sample."""
    schema = sample_schema()
    whole = schema.domain()
    rows = [whole.index(n) for n in RACED]
    real = np.ascontiguousarray(Codec(schema).encode(sample_table()).codes[rows, :GROWN])
    domain = Domain(tuple(whole[n] for n in RACED))
    counter = MemoryCounter(real, domain)
    pairs = domain.subsets(2)
    exact = [
        Measurement(attributes=s, values=c.astype(np.float64), sigma=1.0)
        for s, c in zip(pairs, counter.marginals(pairs), strict=True)
    ]
    tables = tables_of(exact, domain)
    out: dict[str, list[float]] = {}
    for name in ("mcf", "replace", "duplicate", "s5"):
        rng = np.random.default_rng(7)
        codes = np.ascontiguousarray(np.stack([rng.permutation(column) for column in real]))
        if name == "mcf":
            out[name] = mcf(codes, tables, sweeps=SWEEPS, rng=rng)
        else:
            out[name] = gum(codes, tables, UpdateSettings(alpha=1.0, sweeps=SWEEPS, fill=name), rng=rng)  # type: ignore[arg-type]
    seen: list[float] = [out["s5"][-1]]
    polish(codes, tables, passes=SWEEPS, rng=rng, progress=lambda _s, _d, _t, v=None: seen.append(v or 0.0))
    out["polish"] = seen
    return out


def training(repeats: int) -> dict[str, Any]:
    """Epsilon for every noise, batch and number of steps of lab 19, and Figure 4 of the P3GM paper remade on Adult."""
    from benchmarks import deep
    from ui.learn.numbers import training as lesson

    epsilons = [
        [[list(column) for column in zip(*(lesson.spent(noise, batch, n) for n in lesson.STEPS), strict=True)]
         for batch in lesson.BATCHES]
        for noise in lesson.NOISES
    ]  # fmt: skip
    data = deep.adult()
    auroc: dict[str, list[list[float]]] = {
        name: [
            [deep.learnt(data, deep.one(data, name, {}, e, seed)[0], TAUGHT, JUDGES)[0] for seed in range(repeats)]
            for e in FIGURE
        ]
        for name in TRAINED
    }
    real = deep.learnt(data, data.codes, TAUGHT, JUDGES)[0]
    return {
        "epsilons": rounded(epsilons),
        "systems": {
            "epsilons": list(FIGURE),
            "auroc": {n: rounded(a) for n, a in auroc.items()},
            "real": rounded(real),
            "paper": PUBLISHED,
        },
    }


def main() -> int:
    """Writes the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="systems,membership,growing,training")
    parser.add_argument("--repeats", type=int, default=4)
    parser.add_argument("--runs", type=int, default=1000, help="shadow runs of each world")
    given = parser.parse_args()
    for part in given.only.split(","):
        if part == "growing":
            made: dict[str, Any] = {name: rounded(curve) for name, curve in growing().items()}
        elif part == "training":
            made = training(given.repeats)
        else:
            made = systems(given.repeats) if part == "systems" else membership(given.runs)
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / f"{part}.json").write_text(json.dumps(made, separators=(",", ":")) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
