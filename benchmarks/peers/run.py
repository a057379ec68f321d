"""Others' systems beside this project's, scored alike: `python -m benchmarks.peers.run [--peers dpmm-mst,...]`.

Every peer reads integer codes and a public domain (name -> size) and writes integer codes, with its authors' defaults
for all but epsilon and delta; what they are and do is said in its file. It runs with the Python of an environment of
its own, FOLDER/NAME/bin/python, from `benchmarks/peers/NAME.txt` (`--environments FOLDER`). A run that does not end
within the limit, or that fails, is a result and is printed as one. `make peers` makes the environments, in .venv/peers.

Tables of high order (`parity-K`, `characters`, as in `benchmarks.order`) have fresh records that no run sees:
"learned" is the accuracy there of a boosted model that learns the last column from the synthetic records; `groups` has
three groups of four columns that depend on each other as a whole. `--seeds N` runs each N times, with fresh randomness
(a peer is a new process and takes none of ours), and prints means +- standard errors. Prints Markdown.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.engine import mean_distance, run_system
from benchmarks.order import FRESH, accuracy, characters, groups, parity
from benchmarks.process import ENDED, Cost, measure
from benchmarks.process import table as markdown
from benchmarks.tables import Table, adult_codes, drug_deaths, simulated
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.domain import Domain
from dpsyn_core.schema.sample import sample_schema, sample_table

HERE = Path(__file__).resolve().parent
ENVIRONMENTS = HERE.parents[1] / ".venv" / "peers"
# peer -> environment, script and the system of its library
PEERS = {
    "dpmm-mst": ("dpmm", "with_dpmm.py", "mst"),
    "dpmm-privbayes": ("dpmm", "with_dpmm.py", "privbayes"),
    "dpmm-aim": ("dpmm", "with_dpmm.py", "aim"),
    "datasynthesizer": ("datasynthesizer", "with_datasynthesizer.py", "correlated"),
    "opendp-mst": ("opendp", "with_opendp.py", "mst"),
    "opendp-aim": ("opendp", "with_opendp.py", "aim"),
    "smartnoise-mst": ("smartnoise", "with_smartnoise.py", "mst"),
    "smartnoise-aim": ("smartnoise", "with_smartnoise.py", "aim"),
    "synthcity-privbayes": ("synthcity", "with_synthcity.py", "privbayes"),
    "synthcity-aim": ("synthcity", "with_synthcity.py", "aim"),
    "mostlyai-argn": ("mostlyai", "with_mostlyai.py", "argn"),
}


@dataclass(frozen=True, kw_only=True)
class Result:
    """said: why there is no table; cost: None for systems of this project, which run in this process."""

    codes: np.ndarray | None
    cost: Cost | None
    said: str = ""


def bundled() -> Table:
    """The sample that the project carries."""
    schema = sample_schema()
    return Table(name="sample", codes=Codec(schema).encode(sample_table()).codes, domain=schema.domain())


def high(codes: np.ndarray, schema: Schema, name: str) -> Table:
    """All but the first records, which are kept to test with."""
    return Table(name=name, codes=codes[:, FRESH:], domain=schema.domain(), table=codes[:, :FRESH])


def of_groups() -> Table:
    codes, schema = groups(0)
    return Table(name="groups", codes=codes, domain=schema.domain())


# adult and drugs are of the data folder
TABLES: dict[str, Callable[[], Table]] = {
    "sample": bundled,
    "tree": lambda: simulated("tree", 5_000, 8, 1),
    "clique": lambda: simulated("clique", 5_000, 8, 1),
    "interaction": lambda: simulated("interaction", 5_000, 9, 1),
    "adult": adult_codes,
    "drugs": drug_deaths,
    "groups": of_groups,
    "characters": lambda: high(*characters(0), "characters"),
} | {f"parity-{k}": partial(lambda k: high(*parity(k, 0), f"parity-{k}"), k) for k in range(1, 8)}
ORDER = ("characters", *(f"parity-{k}" for k in range(1, 8)))  # tables with fresh records


def write_codes(path: Path, table: Table) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(table.domain.names)
        writer.writerows(table.codes.T.tolist())


def read_codes(path: Path, table: Table) -> np.ndarray:
    """(d, n). Refuses a table with other columns or with codes outside the domain."""
    with path.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    if tuple(header) != tuple(table.domain.names):
        msg = f"the peer wrote the columns {header}, not those it was given"
        raise ValueError(msg)
    codes = np.array(rows, dtype=np.float64).T
    sizes = np.array([[a.size] for a in table.domain.attributes])
    if not np.array_equal(codes, np.floor(codes)) or (codes < 0).any() or (codes >= sizes).any():
        msg = "the peer wrote codes that the domain does not have"
        raise ValueError(msg)
    made: np.ndarray = codes.astype(np.uint16)
    return made


def run_peer(name: str, table: Table, *, epsilon: float, delta: float, limit: int, environments: Path) -> Result:
    """One run in the peer's own environment, ended after `limit` CPU seconds, of all its processes."""
    environment, script, system = PEERS[name]
    python = environments / environment / "bin" / "python"
    if not python.exists():
        return Result(codes=None, cost=None, said=f"no environment: {environment}.txt was not installed")
    with tempfile.TemporaryDirectory() as folder:
        given, sizes, made = (Path(folder) / n for n in ("in.csv", "domain.json", "out.csv"))
        write_codes(given, table)
        sizes.write_text(json.dumps({a.name: a.size for a in table.domain.attributes}), encoding="utf-8")
        # -I: neither this folder nor the reader's own packages are seen by the peer
        what = [
            str(python),
            "-I",
            str(HERE / script),
            system,
            str(given),
            str(sizes),
            str(epsilon),
            str(delta),
            str(made),
        ]
        cost = measure(what, limit=limit)
        if cost.status == ENDED:
            return Result(codes=None, cost=cost, said=f"did not end in {limit} CPU s")
        if cost.status or not made.exists():
            lines = [line for line in cost.errors.splitlines() if re.search(r"\w", line)]
            return Result(codes=None, cost=cost, said=f"failed: {lines[-1].strip()[:120] if lines else cost.status}")
        try:
            return Result(codes=read_codes(made, table), cost=cost)
        except ValueError as error:
            return Result(codes=None, cost=cost, said=f"failed: {error}")


def run_ours(name: str, table: Table, *, epsilon: float, delta: float) -> Result:
    """In this process, whose peak memory says little."""
    start = time.process_time()
    made = run_system(name, table.codes, table.domain, epsilon=epsilon, delta=delta)
    cost = Cost(wall=made.seconds, cpu=time.process_time() - start, megabytes=0, status=0, errors="")
    return Result(codes=made.codes, cost=cost)


def row(name: str, table: Table, result: Result) -> list[str]:
    cost = (
        [f"{result.cost.cpu:.0f}", f"{result.cost.megabytes:.0f}" if result.cost.megabytes else ""]
        if result.cost
        else ["", ""]
    )
    if result.codes is None:
        return [table.name, name, result.said, "", "", *cost]
    pairs, triples = (mean_distance(table.codes, result.codes, table.domain, k) for k in (2, 3))
    learned = f"{accuracy(result.codes, table.table):.3f}" if table.name in ORDER else ""
    if table.name == "groups":
        inside = [tuple(f"{g}{i}" for i in range(4)) for g in "abc"]
        learned = f"four-ways {float(np.mean([_apart(table, result.codes, s) for s in inside])):.3f}"
    return [table.name, name, f"{pairs:.4f}", f"{triples:.4f}", learned, *cost]


def together(rows: list[list[str]]) -> list[str]:
    """One row of the runs of a system: means +- standard errors of those that gave a table, and the largest peak."""
    whole = [r for r in rows if r[3]]
    if len(rows) == 1 or not whole:
        return rows[0]
    name = rows[0][1] if len(whole) == len(rows) else f"{rows[0][1]}, {len(whole)} of {len(rows)} runs"
    figures = [_mean([r[k] for r in whole], digits) for k, digits in ((2, 4), (3, 4), (4, 3), (5, 0))]
    return [rows[0][0], name, *figures, max((r[6] for r in whole), key=lambda c: float(c or 0))]


def _mean(cells: list[str], digits: int) -> str:
    """Of cells like `0.95`, `four-ways 0.1` or nothing."""
    if not all(cells):
        return ""
    before, space, _ = cells[0].rpartition(" ")
    values = np.array([float(c.rpartition(" ")[2]) for c in cells])
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{before}{space}{values.mean():.{digits}f} +- {error:.{digits}f}"


def _apart(table: Table, made: np.ndarray, names: tuple[str, ...]) -> float:
    """Total variation distance of one marginal."""
    kept = [table.domain.index(n) for n in names]
    domain = Domain(tuple(table.domain.attributes[i] for i in kept))
    return mean_distance(table.codes[kept], made[kept], domain, len(names))


def main(arguments: list[str] | None = None) -> int:
    """Runs every peer and every system named on every table named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--ours", default="rls", help="systems of this project, or nothing")
    parser.add_argument("--tables", default="tree,clique,interaction", help=f"of {', '.join(TABLES)}")
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--delta", type=float, default=1e-9)
    parser.add_argument("--limit", type=int, default=3600, help="CPU seconds of one run of a peer")
    parser.add_argument("--seeds", type=int, default=1, help="runs of each system on each table")
    parser.add_argument("--environments", type=Path, default=ENVIRONMENTS, help="folder of the peers' environments")
    args = parser.parse_args(arguments)
    peers, ours = ([n for n in given.split(",") if n] for given in (args.peers, args.ours))
    names = args.tables.split(",")
    if wrong := [n for n in peers if n not in PEERS] + [n for n in names if n not in TABLES]:
        parser.error(f"unknown: {', '.join(wrong)}; peers are {', '.join(PEERS)}, tables {', '.join(TABLES)}")
    rows = []
    for name in names:
        table = TABLES[name]()
        ways = {n: partial(run_ours, n) for n in ours}
        ways |= {n: partial(run_peer, n, limit=args.limit, environments=args.environments) for n in peers}
        for system, way in ways.items():
            runs = []
            for _ in range(args.seeds):
                runs.append(row(system, table, way(table, epsilon=args.epsilon, delta=args.delta)))
                print(" ".join(runs[-1]), file=sys.stderr, flush=True)
            rows.append(together(runs))
    print(markdown(["table", "system", "pairs", "triples", "learned", "CPU s", "peak MB"], rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
