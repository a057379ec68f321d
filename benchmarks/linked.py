"""Linked tables against their goals: `python -m benchmarks.linked [--shape census] [--epsilon 1] [--runs 6]`.

(a) both tables by `rls`, each with half of the budget, children handed out by chance; (b) one flat table of children
with their root's columns by `rls`, at most theta records of a root, put together again by equal columns of the root;
(c) fresh tables of the same model: sampling alone. A real panel: `--panel FILE --person nr --wave year --columns
hours,married`, of which (c) draws persons again.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.linked_panel import panel_of
from benchmarks.linked_scores import scores
from benchmarks.linked_tables import SHAPES, Shaped
from benchmarks.memory import peak_mb
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.runs.synthesis import synthesize
from dpsyn_core.schema.document import Schema

DELTA = 1e-9
NAME = "benchmark"


def plain(columns: Schema, **more: Any) -> Schema:
    """A schema of version 1 with other fields."""
    return Schema.of(columns.document() | more)


def whole(name: str, most: int) -> dict[str, Any]:
    """An attribute that holds each of 0 .. most."""
    return {
        "name": name, "kind": "numeric", "dtype": "integer", "min": 0, "max": most, "bins": {"count": most + 1}
    }  # fmt: skip


def with_numbers(shaped: Shaped) -> tuple[Any, Any, str, int]:
    """The root table with the number of its children, the child table, the key, and theta."""
    link = shaped.schema.links[0]
    root, child = (shaped.tables[n].to_pandas() for n in (link.parent, link.child))
    key, theta = str(shaped.schema[link.parent].key), link.max_children
    number = child.groupby(link.key).size()
    root["number"] = root[key].map(number).fillna(0).clip(upper=theta).astype(int)
    child = child.rename(columns={link.key: "parent key"})
    return root.rename(columns={key: "own key"}), child, key, theta


def apart(shaped: Shaped, epsilon: float, seed: int) -> dict[str, Any]:
    """(a): two releases at the epsilon of half of rho, children handed out by chance."""
    link, rng = shaped.schema.links[0], np.random.default_rng(seed)
    root, child, key, theta = with_numbers(shaped)
    parts = [shaped.schema[n].columns for n in (link.parent, link.child)]
    rows = list(parts[0].document()["attributes"])  # type: ignore[union-attr]
    first = plain(parts[0], attributes=[*rows, whole("number", theta)])  # type: ignore[arg-type]
    unit = {"neighbours": "add-remove", "identifier": "parent key", "max_records": theta}
    second = plain(parts[1], unit=unit)  # type: ignore[arg-type]
    half = half_of(epsilon)
    more: dict[str, Any] = {"epsilon": half, "delta": DELTA, "rng": seed, "dataset": NAME}
    roots = synthesize(root, first, **more).table
    kids = synthesize(child, second, **more).table
    number = roots.pop("number").to_numpy()
    keys = np.repeat(np.arange(len(roots)), number)
    kids = kids.sample(n=len(keys), replace=len(keys) > len(kids), random_state=seed)
    kids[link.key] = rng.permutation(keys)
    roots[key] = np.arange(len(roots))
    return {link.parent: pa.Table.from_pandas(roots), link.child: pa.Table.from_pandas(kids, preserve_index=False)}


def half_of(epsilon: float) -> float:
    """The epsilon that half of rho gives at the same delta."""
    rho, low, high = Budget(epsilon=epsilon, delta=DELTA).gaussian().rho / 2, 1e-3, epsilon
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if Budget(epsilon=middle, delta=DELTA).gaussian().rho < rho else (low, middle)
    return low


def flat(shaped: Shaped, epsilon: float, seed: int) -> dict[str, Any]:
    """(b): one table of children with their root's columns and number; roots are made of those that agree in them."""
    link = shaped.schema.links[0]
    root, child, key, theta = with_numbers(shaped)
    parts = [shaped.schema[n].columns.document()["attributes"] for n in (link.parent, link.child)]  # type: ignore[union-attr]
    names = [a["name"] for a in parts[0] if a["kind"] not in ("identifier", "ignored")]
    joined = child.merge(root, left_on="parent key", right_on="own key", suffixes=("", " of root"))
    joined = joined.rename(columns={n: f"root {n}" for n in names} | {"number": "root number"})
    attributes = [a | {"name": f"root {a['name']}"} for a in parts[0]] + [whole("root number", theta)] + parts[1]
    unit = {"neighbours": "add-remove", "identifier": "parent key", "max_records": theta}
    schema = Schema.of({"version": 1, "name": "flat", "unit": unit, "attributes": attributes})
    made = synthesize(joined, schema, epsilon=epsilon, delta=DELTA, rng=seed, dataset=NAME).table
    by = [f"root {n}" for n in names]
    coarse = made[[*by, "root number"]].astype(str).agg("|".join, axis=1)
    made = made.iloc[np.argsort(coarse.to_numpy(), kind="stable")].reset_index(drop=True)
    keys, at = np.zeros(len(made), dtype=np.int64), 0
    number = np.maximum(made["root number"].to_numpy(), 1)
    while at < len(made):
        keys[at : at + number[at]] = at
        at += int(number[at])
    made[link.key] = keys
    roots = made.drop_duplicates(link.key)[[link.key, *by]].rename(columns={f"root {n}": n for n in names})
    kids = made.drop(columns=[*by, "root number"])
    roots = roots.rename(columns={link.key: key})
    return {
        link.parent: pa.Table.from_pandas(roots, preserve_index=False),
        link.child: pa.Table.from_pandas(kids, preserve_index=False),
    }


def mixed(shaped: Shaped, epsilon: float, seed: int) -> Any:
    """The engine's own."""
    return synthesize(shaped.tables, shaped.schema, epsilon=epsilon, delta=DELTA, rng=seed, dataset=NAME).arrows


def rows_of(shape: str, epsilon: float, runs: int, roots: int | None, others: bool) -> dict[str, dict[str, float]]:
    """Mean scores of every way to make tables."""
    sums: dict[str, dict[str, float]] = {}
    more: dict[str, Any] = {} if roots is None else {"roots": roots}
    for run in range(runs):
        shaped = SHAPES[shape](500 + run, **more)
        began = time.perf_counter()
        made = {"linked": mixed(shaped, epsilon, run)}
        seconds = time.perf_counter() - began
        if others:
            made["(a) apart"] = apart(shaped, epsilon, run)
            made["(b) flat"] = flat(shaped, epsilon, run)
            made["(c) fresh"] = SHAPES[shape](900 + run, **more).tables
        for name, tables in made.items():
            found = scores(shaped.schema, shaped.tables, tables) | ({"seconds": seconds} if name == "linked" else {})
            for what, value in found.items():
                own = sums.setdefault(name, {})
                own[what] = own.get(what, 0.0) + value / runs
    return sums


def printed(rows: dict[str, dict[str, float]], title: str) -> None:
    """A table, a row for each score."""
    names = list(rows)
    print(f"\n{title}\n\n| | {' | '.join(names)} |\n|---|{'---|' * len(names)}")
    for what in rows["linked"]:
        print(f"| {what} | {' | '.join(format(rows[n].get(what, float('nan')), '.4f') for n in names)} |", flush=True)


def main() -> None:
    """Prints one table a shape and epsilon."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shape", default="census", choices=[*SHAPES, "all"])
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--runs", type=int, default=6)
    parser.add_argument("--roots", type=int)
    parser.add_argument("--panel", type=Path, help="a real panel (CSV) in place of a shape")
    parser.add_argument("--person", help="its column that names persons")
    parser.add_argument("--wave", help="its column of waves")
    parser.add_argument("--columns", default="", help="its other columns, with commas between them")
    parser.add_argument("--alone", action="store_true", help="without (a), (b) and (c)")
    args = parser.parse_args()
    if args.panel is not None:
        args.shape = args.panel.stem
        SHAPES[args.shape] = panel_of(args.panel, args.person, args.wave, args.columns.split(","))
    for shape in SHAPES if args.shape == "all" else [args.shape]:
        for epsilon in map(float, args.epsilon.split(",")):
            found = rows_of(shape, epsilon, args.runs, args.roots, not args.alone)
            printed(found, f"{shape}, epsilon {epsilon:g}, {args.runs} runs")
    print(f"\npeak {peak_mb():.0f} MB")


if __name__ == "__main__":
    main()
