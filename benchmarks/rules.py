"""What declared rules do: records that break them, and the error elsewhere, with and without, by system.

Five kinds of table: stays in a hospital (dates, a difference, impossible combinations), a season of players (orders,
a sum of counts), a register of people (blanks, what follows from a city, a ratio), and those of `rule_tables`.

Run: python -m benchmarks.rules [--systems rls,mst] [--epsilons 1] [--repeats 5] [--records 20000]
     [--tables season] [--large 500000] [--repair]
"""

import argparse
import itertools
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.main_job import synth
from benchmarks.rule_tables import bills, codes
from benchmarks.rule_tables_fresh import households, laboratory, loans, roster
from dpsyn_core.errors import InputError
from dpsyn_core.evaluate.distances import marginal_distances
from dpsyn_core.evaluate.loader import compare_tables
from dpsyn_core.measure.sources.choice import source_of
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.runs.measurement import Measured, measure
from dpsyn_core.runs.release import in_memory
from dpsyn_core.runs.spec import RunSpec
from dpsyn_core.runs.tables import make_tables
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.document import Schema, SchemaUnit
from dpsyn_core.schema.rules.columns import any_broken, read_columns
from dpsyn_core.schema.rules.computation import part_of, with_computed
from dpsyn_core.schema.rules.repair import repair
from dpsyn_core.systems import registry
from dpsyn_core.tables.read import read_table
from dpsyn_core.tables.write import write_table
from tools.hospital_sample import hospital, hospital_schema
from tools.make_sample import Chance

DELTA = 1e-9


@dataclass(frozen=True, kw_only=True)
class Found:
    """One run. broken: share of records that break a rule. elsewhere, inside: mean distance of the pairs of columns
    that no rule names together, and of the others; single: of single columns."""

    broken: float
    elsewhere: float
    inside: float
    single: float
    seconds: float


def stays(n: int) -> tuple[pa.Table, Schema]:
    """The hospital of the samples, of so many records or a few more."""
    columns = hospital(Chance(7), patients=round(n / 1.21))
    return pa.table({k: pa.array(v.astype(str)) for k, v in columns.items()}), Schema.of(hospital_schema())


def _whole(name: str, most: int, bins: int, least: int = 0, **more: Any) -> dict[str, Any]:
    return {
        "name": name, "kind": "numeric", "dtype": "integer", "min": least, "max": most, "bins": {"count": bins}, **more
    }  # fmt: skip


def season(n: int) -> tuple[pa.Table, Schema]:
    """Players: hits at most at-bats, kinds of hits add up to hits, games at most those of a season."""
    rng = np.random.default_rng(3)
    skill = rng.normal(size=n)
    games = np.clip(rng.gamma(1.6, 45, n) * np.exp(0.2 * skill), 1, 162).astype(int)
    bats = rng.binomial(games * 4, 0.85)
    hits = rng.binomial(bats, np.clip(0.24 + 0.03 * skill, 0.05, 0.4))
    doubles = rng.binomial(hits, 0.2)
    homers = rng.binomial(hits - doubles, np.clip(0.1 + 0.05 * skill, 0.0, 0.4))
    league = np.where(rng.random(n) < 0.5, "American", "National")
    position = np.array(["pitcher", "catcher", "infield", "outfield"])[np.clip(skill + 1.5, 0, 3).astype(int)]
    columns = {
        "games": games, "at_bats": bats, "hits": hits, "singles": hits - doubles - homers, "doubles": doubles,
        "homers": homers, "salary": np.clip(np.exp(13 + 0.8 * skill + 0.5 * rng.normal(size=n)), 0, 2e7).astype(int),
    }  # fmt: skip
    document = {
        "version": 1, "name": "season",
        "attributes": [
            _whole("games", 162, 41, 1), _whole("at_bats", 700, 70), _whole("hits", 300, 60),
            _whole("singles", 250, 50), _whole("doubles", 100, 50), _whole("homers", 100, 50),
            _whole("salary", 20_000_000, 50, step=1000),
            {"name": "league", "kind": "categorical", "values": ["American", "National"]},
            {"name": "position", "kind": "categorical", "values": ["pitcher", "catcher", "infield", "outfield"]},
        ],
        "rules": [
            {"kind": "order", "lower": "hits", "upper": "at_bats"},
            {"kind": "order", "lower": "games", "upper": "at_bats"},
            {"kind": "sum", "column": "hits", "parts": ["singles", "doubles", "homers"]},
        ],
    }  # fmt: skip
    columns["at_bats"] = np.maximum(columns["at_bats"], games)
    columns["salary"] = columns["salary"] // 1000 * 1000
    table = {k: pa.array(v.astype(str)) for k, v in columns.items()}
    return pa.table({**table, "league": pa.array(league), "position": pa.array(position)}), Schema.of(document)


def register(n: int) -> tuple[pa.Table, Schema]:
    """People: a due date for the pregnant alone, a country that follows from the city, a body-mass index."""
    rng = np.random.default_rng(4)
    cities = [f"city{i}" for i in range(30)]
    countries = [f"country{i % 6}" for i in range(30)]
    weights = 1 / np.arange(1, 31)
    city = rng.choice(30, n, p=weights / weights.sum())
    age = np.clip(rng.normal(42, 20, n), 0, 99).astype(int)
    sex = np.where(rng.random(n) < 0.5, "f", "m")
    pregnant = (sex == "f") & (age > 17) & (age < 46) & (rng.random(n) < 0.25)
    weeks = np.where(pregnant, rng.integers(1, 42, n).astype(str), "")
    cm = np.clip(rng.normal(np.where(sex == "f", 165, 178), 8, n), 60, 210).astype(int)
    kg = np.clip(np.round(2 * (cm / 100) ** 2 * rng.normal(25, 4, n)) / 2, 10, 200)
    bmi = np.clip(np.round(10_000 * kg / cm**2, 1), 5, 80)
    child = age < 16
    marital = np.where(child, "single", rng.choice(["single", "married", "widowed"], n, p=[0.3, 0.6, 0.1]))
    document = {
        "version": 1, "name": "register",
        "attributes": [
            {"name": "city", "kind": "categorical", "values": cities},
            {"name": "country", "kind": "categorical", "values": sorted(set(countries))},
            _whole("age", 99, 20), {"name": "sex", "kind": "categorical", "values": ["f", "m"]},
            {"name": "marital", "kind": "categorical", "values": ["single", "married", "widowed"]},
            {"name": "pregnant", "kind": "categorical", "values": ["no", "yes"]},
            _whole("weeks", 42, 42, 1, missing=True), _whole("cm", 210, 30, 60),
            {**_whole("kg", 200, 38, 10), "dtype": "float", "step": 0.5},
            {**_whole("bmi", 80, 25, 5), "dtype": "float", "step": 0.1},
        ],
        "rules": [
            {"kind": "follows", "column": "country", "of": ["city"], "map": [*zip(cities, countries, strict=True)]},
            {"kind": "impossible", "where": "age in [0, 15] and marital in {married, widowed}"},
            {"kind": "impossible", "where": "sex = m and pregnant = yes"},
            {"kind": "blank", "column": "weeks", "where": "pregnant = no", "only": True},
            {"kind": "ratio", "column": "bmi", "of": "kg", "by": ["cm", "cm"], "times": 10_000},
        ],
    }  # fmt: skip
    columns = {
        "city": np.array(cities)[city], "country": np.array(countries)[city], "age": age.astype(str), "sex": sex,
        "marital": marital, "pregnant": np.where(pregnant, "yes", "no"), "weeks": weeks, "cm": cm.astype(str),
        "kg": kg.astype(str), "bmi": bmi.astype(str),
    }  # fmt: skip
    return pa.table({k: pa.array(v.astype(str)) for k, v in columns.items()}), Schema.of(document)


TABLES: dict[str, Callable[[int], tuple[pa.Table, Schema]]] = {
    "stays": stays, "season": season, "register": register, "bills": bills, "codes": codes,
    "loans": loans, "households": households, "laboratory": laboratory, "roster": roster,
}  # fmt: skip


def compared(table: pa.Table, ruled: Schema, *, system: str, epsilon: float, seed: int) -> tuple[Found, Found]:
    """Two runs: one without the rules, and one with them, which measures other columns where rules compute some."""
    promise = registry.config_class(system).guarantee
    if "add-remove" not in promise.neighbours:
        unit = SchemaUnit(neighbours="replace")
        ruled = ruled.model_copy(update={"unit": unit})
    if promise.needs_public_n or promise.one_record:
        ruled = ruled.model_copy(update={"n_records": table.num_rows})
    spec = RunSpec.of(epsilon=epsilon, delta=DELTA if promise.approximate else 0.0, method=system, seed=seed)
    found = []
    for schema in (ruled.model_copy(update={"rules": ()}), ruled):
        with tempfile.TemporaryDirectory() as folder:
            facts = spec.facts(schema, query_vouched=False)
            run = measure(
                source_of(table, schema=schema), schema, spec, facts=facts, ledger=Ledger(Path(folder) / "l.db")
            )
        found.append(found_in(run, table, ruled))
    return found[0], found[1]


def repaired_alone(name: str, records: int, repeats: int) -> None:
    """Prints what the last repair alone does to tables of `rls`: whatever the fit could do before it is within that."""
    table, ruled = TABLES[name](records)
    rows = []
    for seed in range(repeats):
        spec = RunSpec.of(epsilon=1.0, delta=DELTA, method="rls", seed=seed)
        with tempfile.TemporaryDirectory() as folder:
            facts = spec.facts(ruled, query_vouched=False)
            run = measure(
                source_of(table, schema=ruled), ruled, spec, facts=facts, ledger=Ledger(Path(folder) / "l.db")
            )
        codec = Codec(part_of(ruled, run.task.domain.names))
        before = with_computed(codec.decode(make_tables(run)[0], rng=run.rng), ruled, run.rng)
        after, changed = repair(before, ruled.rules, ruled, run.rng)
        first, second = (scored(made, table, ruled) for made in (before, after))
        rows.append([changed.cells / records, first.broken, first.elsewhere, second.elsewhere])
    cells, broken, first_of, second_of = np.median(rows, axis=0)
    change = float(np.median([r[3] / r[2] for r in rows]))
    print(f"| {name} | {cells:.3f} | {broken:.1%} | {first_of:.4f} -> {second_of:.4f} | {change:.3f} |", flush=True)


def found_in(run: Measured, table: pa.Table, ruled: Schema) -> Found:
    """Makes the table of a measurement, and compares it with the real one."""
    start = time.perf_counter()
    made = in_memory(run).arrow
    return scored(made, table, ruled, time.perf_counter() - start)


def scored(made: pa.Table, table: pa.Table, ruled: Schema, seconds: float = 0.0) -> Found:
    """A synthetic table against the real one."""
    names = list(dict.fromkeys(n for r in ruled.rules for n in r.columns))
    found = compare_tables(ruled, made, table)
    together = [set(r.columns) for r in ruled.rules]
    pairs = list(itertools.combinations(found.domain.names, 2))
    inside = np.array([any(set(p) <= t for t in together) for p in pairs])
    tvd = marginal_distances(found, pairs).tvd
    return Found(
        broken=float(any_broken(ruled.rules, read_columns(made, ruled, names)).mean()),
        elsewhere=float(tvd[~inside].mean()), inside=float(tvd[inside].mean()),
        single=float(marginal_distances(found, found.domain.singletons()).tvd.mean()), seconds=seconds,
    )  # fmt: skip


def large(records: int) -> None:
    """The whole command on a hospital of so many stays, without its rules and with them."""
    table, ruled = stays(records)
    print("| stays | rules | records that break one | seconds | peak MB |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source, document, out = folder / "stays.parquet", folder / "schema.json", folder / "out.parquet"
        write_table(table, source)
        for schema in (ruled.model_copy(update={"rules": ()}), ruled):
            schema.dump(document)
            cost, made = synth(folder, source, document, "--epsilon", 1)
            names = list(dict.fromkeys(n for r in ruled.rules for n in r.columns))
            broken = any_broken(ruled.rules, read_columns(read_table(made), ruled, names)).mean()
            shown = f"{broken:.1%} | {cost.wall:.1f} | {cost.megabytes:.0f} |"
            print(f"| {table.num_rows:,} | {len(schema.rules)} | {shown}", flush=True)
            out.unlink(missing_ok=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--systems", default="rls")
    parser.add_argument("--epsilons", default="1")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--records", type=int, default=20_000)
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--large", type=int, metavar="N", help="the command on a hospital of about N stays alone")
    parser.add_argument("--repair", action="store_true", help="what the last repair alone does to tables of rls")
    args = parser.parse_args()
    if args.repair:
        print(
            "| table | cells changed per record | broken before it | pairs elsewhere | ratio |\n|---|---|---|---|---|"
        )
        for name in args.tables.split(","):
            repaired_alone(name, args.records, args.repeats)
        return
    if args.large:
        large(args.large)
        return
    print(
        "| table | system | epsilon | broken without | with | pairs elsewhere | ratio | pairs in rules | columns | s |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, system in itertools.product(args.tables.split(","), args.systems.split(",")):
        table, schema = TABLES[name](args.records)
        for epsilon in map(float, args.epsilons.split(",")):
            try:
                both = [compared(table, schema, system=system, epsilon=epsilon, seed=s) for s in range(args.repeats)]
            except InputError as error:  # a system that does not take so many columns says so
                print(f"| {name} | {system} | {epsilon:g} | refused: {error} | | | | | | |", flush=True)
                continue
            runs = [[pair[i] for pair in both] for i in (0, 1)]
            of = {
                what: [float(np.median([getattr(f, what) for f in found])) for found in runs]
                for what in ("broken", "elsewhere", "inside", "single", "seconds")
            }
            worst = max(f.broken for f in runs[1])
            shown = (f"{of[w][0]:.4f} -> {of[w][1]:.4f}" for w in ("elsewhere", "inside", "single"))
            elsewhere, inside, single = shown
            change = float(np.median([w.elsewhere / wo.elsewhere for wo, w in both]))
            seconds = f"{of['seconds'][0]:.1f} -> {of['seconds'][1]:.1f}"
            print(
                f"| {name} | {system} | {epsilon:g} | {of['broken'][0]:.1%} | {worst:.1%} | {elsewhere} | {change:.3f} "
                f"| {inside} | {single} | {seconds} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
