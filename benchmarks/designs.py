"""Worked designs of marginal engineering: `python -m benchmarks.designs [--epsilons .3,1,3] [--seeds 3]`.

The two bundled tables that come with a design for dpsyn-2018 (calls to a fire brigade; a census of 98 columns in four
parts), by dpsyn-2018 with its design and without, and by rls, which knows no design. Prints medians: pairs and triples
(mean total variation distance), density and range score of the NIST 2018 challenge, the share of relations that are
kept, the distance of wages by city and sex (census), and the share of records that keep what the design says follows
from another column. The census has a second design, `section 5.4`, with what the document says of single columns.

The designs are written over the columns of the challenge: whoever has its calls or its census runs them on these by
`--only firecalls --file calls.csv --schema calls.schema.json`. Maps between codes are those of the simulated tables;
on a file, a general code is learnt from a noisy table of the two columns instead (a `functional` attribute), and bins
that name codes are left out. Columns that the schema lacks are left out of the design, and named: a draft leaves out
those of more than 200 values, such as Address, and Unit ID, whose header could name persons; each is bought by `dpsyn
schema draft --buy Address=categorical`. The ten dates of the calls share one day, so that the schema has to give all
of them one range, `"bins": {"every": "day"}` and `"missing": true`.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.process import dpsyn, epsilons, measure, runs, table
from dpsyn_core.data import WORKED, worked_design
from dpsyn_core.errors import DPSynError, SchemaError
from dpsyn_core.evaluate.base import Score, compute
from dpsyn_core.evaluate.loader import compare_tables
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.sample import sample_schema, write_sample
from dpsyn_core.systems.others.dpsyn2018.design import Design
from dpsyn_core.tables.read import read_table

SHOWN = ("tvd-2way", "tvd-3way", "nist-density", "nist-range", "relations")
ALONE = {"AGEMONTH", "DURUNEMP", "CITIZEN"}  # "1-way marginal to capture the distribution of single attribute"
WORK = ("EMPSTATD", "IND", "CLASSWKRD", "WKSWORK1", "HRSWORK1")  # beside OCC, whose pair with wages stands there
WAGES = ("CITY", "SEX", "INCWAGE")
HEADERS = [
    "table", "epsilon", "system", "pairs", "triples", "density", "range", "relations", "wages", "follow", "seconds"
]  # fmt: skip


def design_for_file(written: Mapping[str, Any], columns: Collection[str]) -> dict[str, Any]:
    """A worked design over these columns, without what depends on the codes of the simulated table."""
    design = dict(written)
    learnt = [{"target": h["general"], "source": h["detailed"]} for h in design.pop("hierarchies", [])]
    design["functional"] = design.get("functional", []) + learnt
    for part in (design, *design.get("budgets", [])):
        if "bins" in part:
            part["bins"] = [b for b in part["bins"] if "width" in b]
    known = frozenset(columns).union(p["name"] for kind in ("groups", "patterns") for p in design.get(kind, []))
    return over(design, known)


def described(design: Mapping[str, Any]) -> dict[str, Any]:
    """The design of the census with all that section 5.4 of *Experiences* says of single columns.

    One-ways alone for ALONE; AGE with EDUCD; wages by city and sex, and with what says of work, in bins that are finer
    the larger epsilon is (how fine, and from which epsilon on, the document leaves open).
    """
    out = dict(design)
    (first,) = out["marginals"]
    sets = [s for s in first["sets"] if not ALONE.intersection(s)]
    sets += [["AGE", "EDUCD"], *([n, "INCWAGE"] for n in WORK), ["CITY", "SEX", "INCWAGE"]]
    out["marginals"] = [{"epsilon": 0, "sets": sets}]
    out["parts"] = [["CITY", *p] if "INCWAGE" in p and "CITY" not in p else p for p in out["parts"]]
    kept = [b for b in out["bins"] if b["attribute"] != "INCWAGE"]
    wages = {0.0: 10, 1.0: 6, 4.0: 2}  # codes of a bin, of 60
    out["bins"] = [*kept, {"attribute": "INCWAGE", "width": wages.pop(0.0)}]
    out["budgets"] = [
        {"epsilon": epsilon, "bins": [*kept, {"attribute": "INCWAGE", "width": width}]}
        for epsilon, width in wages.items()
    ]
    return out


def over(part: Mapping[str, Any], known: frozenset[str]) -> dict[str, Any]:
    """A design, or what it says from an epsilon on, over the attributes that are known."""
    out = dict(part)
    for kind in ("groups", "patterns"):
        if kind in out:
            kept = [g | {"attributes": [a for a in g["attributes"] if a in known]} for g in out[kind]]
            known = known - {g["name"] for g in kept if not g["attributes"]}
            out[kind] = [g for g in kept if g["attributes"]]
    for kind, named in (("functional", ("target", "source")), ("bins", ("attribute",))):
        if kind in out:
            out[kind] = [f for f in out[kind] if known.issuperset(f[n] for n in named)]
    for kind in ("unmeasured", "one_ways"):
        if kind in out:
            out[kind] = [n for n in out[kind] if n in known]
    if out.get("parts"):
        out["parts"] = [[n for n in names if n in known] for names in out["parts"]]
        followed = [f["target"] for f in part.get("functional", []) if f["target"] in known]
        follow = {f["target"] for f in out.get("functional", [])}
        out["parts"][0] += [n for n in followed if n not in follow]  # what they followed is not there
    if "sets" in out:
        out["sets"] = [s for s in out["sets"] if known.issuperset(s["attributes"] if isinstance(s, Mapping) else s)]
    for kind in ("marginals", "budgets"):
        if kind in out:
            out[kind] = [over(p, known) for p in out[kind]]
    return out


def following(design: Mapping[str, Any], codes: np.ndarray, real: np.ndarray, names: list[str]) -> float:
    """The share of records in which every column that follows has the value that most real records have there."""
    read = Design.model_validate(design)
    pairs = [(h.detailed, h.general) for h in read.hierarchies] + [(f.source, f.target) for f in read.functional]
    right = np.ones(codes.shape[1], dtype=bool)
    for source, target in pairs:
        i, j = names.index(source), names.index(target)
        counts = np.zeros((max(codes[i].max(), real[i].max()) + 1, max(codes[j].max(), real[j].max()) + 1))
        np.add.at(counts, (real[i], real[j]), 1)
        right &= counts.argmax(axis=1)[codes[i]] == codes[j]
    return float(right.mean())


def scored(design: Mapping[str, Any], schema: Schema, real: Any, made: Any) -> list[float]:
    """The measures of SHOWN, the distance of the table of WAGES, the share of records in which follows what should."""
    found = compute(compare_tables(schema, made, real), list(SHOWN))
    values = [s.value if isinstance(s, Score) else float("nan") for s in (found[n] for n in SHOWN)]
    codes, of_real = (Codec(schema).encode(t).codes for t in (made, real))
    names = list(schema.domain().names)
    wages = float("nan")
    if set(WAGES) <= set(names):
        sizes = [schema.domain()[n].size for n in WAGES]
        cells = [np.ravel_multi_index([c[names.index(n)] for n in WAGES], sizes) for c in (codes, of_real)]
        shares = [np.bincount(c, minlength=int(np.prod(sizes))) / max(len(c), 1) for c in cells]
        wages = float(np.abs(shares[0] - shares[1]).sum() / 2)
    return [*values, wages, following(design, codes, of_real, names)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epsilons", default=".3,1,3", type=epsilons)
    parser.add_argument("--seeds", type=runs, default=3)
    parser.add_argument("--only", choices=WORKED, help="one of the tables")
    parser.add_argument("--systems", default="", help="of the systems, those whose name begins so")
    parser.add_argument(
        "--file", type=Path, help="with --only: the table of the challenge, in place of the simulated one"
    )
    parser.add_argument("--schema", type=Path, help="with --file: its schema")
    args = parser.parse_args()
    if (args.file or args.schema) and not (args.only and args.file and args.schema):
        parser.error("--file and --schema go together, and need --only")
    try:
        compare(args)
    except DPSynError as error:
        parser.exit(2, f"{parser.prog}: {error}\n")


def compare(args: argparse.Namespace) -> None:
    """Prints the table. Raises DPSynError for a file or a schema that does not fit."""
    rows = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name in [args.only] if args.only else WORKED:
            source, schema = (args.file, args.schema) if args.file else write_sample(folder, name)
            read, real = Schema.load(schema), read_table(source)
            design, columns = worked_design(name), read.domain().names
            designs = {"designed": design} | ({"section 5.4": described(design)} if name == "census98" else {})
            if args.file:
                designs = {n: design_for_file(d, columns) for n, d in designs.items()}
                design = designs["designed"]
                named = sample_schema(name).domain().names
                lacking = [n for n in named if n not in columns]
                if len(lacking) == len(named):
                    msg = f"{schema.name} has no column of {name}; they are named such as {', '.join(named[:4])}"
                    raise SchemaError(msg)
                print(f"left out of the design, for {schema.name} lacks them: {', '.join(lacking) or 'none'}")
            settings = {
                **{f"dpsyn-2018, {n}": ["--set", f"design={json.dumps(d)}"] for n, d in designs.items()},
                "dpsyn-2018": [],
                "rls": [],
            }
            for epsilon in args.epsilons:
                for system, more in settings.items():
                    if not system.startswith(args.systems):
                        continue
                    found, seconds = [], []
                    for seed in range(args.seeds):
                        out = folder / "out.csv"
                        cost = measure(
                            dpsyn(
                                "synth", source, "--schema", schema, "--method", system.split(",")[0], *more,
                                "--epsilon", epsilon, "--delta", "1e-9", "--seed", seed, "--out", out,
                                "--manifest", folder / "manifest.json", "--quiet",
                            ),
                            home=folder / "home",
                        )  # fmt: skip
                        if cost.status:
                            sys.exit(cost.errors)
                        made = next(folder.glob("out*.csv"))  # a draft that nobody confirmed has NOT-PRIVATE in it
                        found.append(scored(design, read, real, read_table(made)))
                        made.unlink()
                        seconds.append(cost.cpu)
                    middle = [statistics.median(f[i] for f in found) for i in range(len(found[0]))]
                    two, three, density, ranges, kept, wages, follow = middle
                    rows.append(
                        [name, epsilon, system, f"{two:.3f}", f"{three:.3f}", f"{density:,.0f}", f"{ranges:,.0f}",
                         f"{kept:.2f}", f"{wages:.3f}", f"{follow:.3f}", f"{statistics.median(seconds):.1f}"]
                    )  # fmt: skip
                    print(".", end="", flush=True, file=sys.stderr)
    print(file=sys.stderr)
    print(table(HEADERS, rows))


if __name__ == "__main__":
    main()
