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
from benchmarks.tables import Table, adult_codes, adult_raw, drug_deaths
from dpsyn_core.schema.write import write_table


def synth(folder: Path, source: Path, schema: Path, *extra: object) -> tuple[Cost, Path]:
    """One whole command, CSV to CSV."""
    out, manifest = folder / "out.csv", folder / "manifest.json"
    files = ("--out", out, "--manifest", manifest)
    command = dpsyn("synth", source, "--schema", schema, "--delta", "1e-9", *files, "--quiet", *extra)
    cost = measure(command, home=folder / "home")
    if cost.status:
        sys.exit(f"{' '.join(command)} exited {cost.status}: {cost.errors}")
    return cost, out


def tvd(folder: Path, real: Path, made: Path, schema: Path) -> float:
    """Mean two-way TVD by `dpsyn compare`."""
    report = folder / "compare.json"
    cost = measure(dpsyn("compare", real, made, "--schema", schema, "--json", report))
    if cost.status:
        sys.exit(cost.errors)
    return json.loads(report.read_text(encoding="utf-8"))["mean_tvd"]["2"]


def prepare(folder: Path, name: str, loader: Callable) -> tuple[Path, Path]:
    """Writes a table and its schema where the command can read them."""
    loaded = loader()
    frame, schema = loaded.table, loaded.schema
    source, document = folder / f"{name}.csv", folder / f"{name}.schema.json"
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


def other_rows(folder: Path, methods: list[str], large: bool) -> list[list[object]]:
    """Messy tables, and a million records when asked for."""
    loaders: dict[str, Callable] = {"adult_raw": adult_raw, "drug_deaths": drug_deaths}
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
    parser.add_argument("--large", action="store_true", help="also 1,000,000 x 14")
    args = parser.parse_args()
    methods = args.methods.split(",")
    print("delta 1e-9; the whole command from CSV to CSV, each run a process of its own, kernels compiled before\n")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        headers = ["Adult codes, method", "epsilon", "mean 2-way TVD", "seconds", "peak MB"]
        print(table(headers, accuracy_rows(folder, methods, args.seeds)), "\n", flush=True)
        fast = [m for m in methods if m != "independent"]
        print(table(["table", "method", "columns", "seconds", "peak MB"], other_rows(folder, fast, args.large)), "\n")
    helps = sorted(measure(dpsyn("--help")).wall for _ in range(5))
    print(f"dpsyn --help: {helps[2]:.2f} s (median of 5)")


if __name__ == "__main__":
    main()
