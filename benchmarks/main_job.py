"""The main job: accuracy, seconds and memory of the whole `dpsyn synth` command on real tables."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from benchmarks.process import Cost, dpsyn, measure, table
from benchmarks.tables import Table, adult_codes, adult_raw, drug_deaths, simulated
from dpsyn_core.schema.document import Schema
from dpsyn_core.tables.write import write_table

LINE = ["table", "method", "columns", "seconds", "peak MB"]


def synth(folder: Path, source: Path, schema: Path, *extra: object, kernels: Path | None = None) -> tuple[Cost, Path]:
    """One whole command; what comes out is of the kind that went in."""
    out, manifest = folder / f"out{source.suffix}", folder / "manifest.json"
    files = ("--out", out, "--manifest", manifest)
    command = dpsyn("synth", source, "--schema", schema, "--delta", "1e-9", *files, "--quiet", *extra)
    cost = measure(command, home=folder / "home", kernels=kernels)
    if cost.status:
        sys.exit(f"{' '.join(command)} exited {cost.status}: {cost.errors}")
    return cost, out


def tvd(folder: Path, real: Path, made: Path, schema: Path) -> float:
    """Mean two-way TVD by `dpsyn compare`."""
    report = folder / "compare.json"
    cost = measure(dpsyn("compare", real, made, "--schema", schema, "--json", report))
    if cost.status:
        sys.exit(cost.errors)
    return float(json.loads(report.read_text(encoding="utf-8"))["mean_tvd"]["2"])


def prepare(folder: Path, name: str, loader: Callable[[], Table], ending: str = "csv") -> tuple[Path, Path]:
    """Writes a table and its schema where the command can read them."""
    loaded = loader()
    frame, schema = loaded.table, loaded.schema
    if schema is None:
        sys.exit(f"{name} has codes and no schema: give a table that the command can read")
    source, document = folder / f"{name}.{ending}", folder / f"{name}.schema.json"
    write_table(frame, source)
    schema.dump(document)
    return source, document


def repeated(frame: pa.Table, n: int) -> pa.Table:
    """The table's rows again and again, up to n."""
    times = -(-n // frame.num_rows)
    return pa.concat_tables([frame] * times).slice(0, n).combine_chunks()


def accuracy_rows(folder: Path, methods: list[str], seeds: int) -> list[list[object]]:
    """Medians over seeds on Adult codes."""
    source, schema = prepare(folder, "adult", adult_codes)
    for method in methods:  # compiles the kernels, so that the figures are those of a warm installation
        synth(folder, source, schema, "--epsilon", 1, "--method", method)
    rows: list[list[object]] = []
    for method in methods:
        for epsilon in (1, 8):
            runs = []
            for seed in range(seeds):
                cost, out = synth(folder, source, schema, "--epsilon", epsilon, "--method", method, "--seed", seed)
                runs.append((tvd(folder, source, out, schema), cost.wall, cost.megabytes))
            score, wall, memory = (statistics.median(column) for column in zip(*runs, strict=True))
            rows.append([method, epsilon, f"{score:.4f}", f"{wall:.1f}", f"{memory:.0f}"])
    return rows


def million() -> Table:
    """Adult codes, resampled to a million records."""
    adult = adult_codes()
    return replace(adult, table=repeated(adult.table, 1_000_000))


def wide() -> Table:
    """A tree of dependences, 662,000 x 98, as whole numbers."""
    made = simulated("tree", 662_000, 98, seed=0)
    columns = {n: pa.array(c) for n, c in zip(made.domain.names, made.codes, strict=True)}
    sizes = zip(made.domain.names, made.domain.sizes, strict=True)
    attributes = [{"name": n, "kind": "categorical", "values": list(range(k))} for n, k in sizes]
    schema = Schema.of({"version": 1, "name": "wide", "attributes": attributes})
    return replace(made, table=pa.table(columns), schema=schema)


def first_rows(folder: Path) -> list[list[object]]:
    """The very first command of an installation, which compiles the kernels it needs, and the second."""
    source, schema = prepare(folder, "first", adult_codes)
    kernels = folder / "kernels"
    rows: list[list[object]] = []
    for label in ("first of an installation", "second"):
        cost, _ = synth(folder, source, schema, "--epsilon", 1, kernels=kernels)
        rows.append([label, f"{cost.wall:.1f}", f"{cost.megabytes:.0f}"])
    return rows


def wide_rows(folder: Path, methods: list[str]) -> list[list[object]]:
    """Parquet to Parquet, 662,000 x 98."""
    real, document = prepare(folder, "wide", wide, "parquet")
    rows: list[list[object]] = []
    for method in methods:
        cost, _ = synth(folder, real, document, "--epsilon", 1, "--method", method)
        rows.append(["662,000 x 98, Parquet", method, 98, f"{cost.wall:.1f}", f"{cost.megabytes:.0f}"])
        print(f"{rows[-1]}", file=sys.stderr, flush=True)
    return rows


def other_rows(folder: Path, methods: list[str], large: bool) -> list[list[object]]:
    """Messy tables, and a million records when asked for."""
    loaders: dict[str, Callable[[], Table]] = {"adult_raw": adult_raw, "drug_deaths": drug_deaths}
    if large:
        loaders["1,000,000 x 14"] = million
    rows: list[list[object]] = []
    for number, (label, loader) in enumerate(loaders.items()):
        real, document = prepare(folder, f"other{number}", loader)
        for method in methods:
            cost, out = synth(folder, real, document, "--epsilon", 1, "--method", method)
            with out.open(encoding="utf-8") as lines:
                columns = lines.readline().count(",") + 1
            rows.append([label, method, columns, f"{cost.wall:.1f}", f"{cost.megabytes:.0f}"])
    return rows


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--methods", default="rls,dpsyn,independent")
    parser.add_argument("--large", action="store_true", help="also 1,000,000 x 14 and 662,000 x 98")
    parser.add_argument("--wide", default="rls", metavar="METHODS", help="what --large runs on 662,000 x 98")
    parser.add_argument("--only-wide", action="store_true", help="nothing but 662,000 x 98")
    args = parser.parse_args()
    methods = args.methods.split(",")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if not args.only_wide:
            smaller(folder, methods, args.seeds, args.large)
        if args.large or args.only_wide:
            print(table(LINE, wide_rows(folder, args.wide.split(","))), "\n", flush=True)


def smaller(folder: Path, methods: list[str], seeds: int, large: bool) -> None:
    """All but the widest table."""
    print("delta 1e-9; the whole command, each run a process of its own, kernels compiled before\n")
    headers = ["Adult codes, method", "epsilon", "mean 2-way TVD", "seconds", "peak MB"]
    print(table(headers, accuracy_rows(folder, methods, seeds)), "\n", flush=True)
    fast = [m for m in methods if m != "independent"]
    print(table(LINE, other_rows(folder, fast, large)), "\n", flush=True)
    print(table(["Adult codes, rls, command", "seconds", "peak MB"], first_rows(folder)), "\n", flush=True)
    helps = sorted(measure(dpsyn("--help")).wall for _ in range(5))
    print(f"dpsyn --help: {helps[2]:.2f} s (median of 5)")


if __name__ == "__main__":
    main()
