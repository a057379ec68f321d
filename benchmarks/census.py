"""The people of 1940 in codes, scored as in the NIST 2018 challenge: `python -m benchmarks.census [--seeds 3]`.

The schema is imported from the bundled specification with its codebook, the design of dpsyn-2018 is the bundled one.
First the round trip without noise, then the whole `dpsyn synth` command, CSV to CSV, at epsilon 8, 1 and .3.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.process import dpsyn, measure, table
from dpsyn_core.errors import DPSynError
from dpsyn_core.evaluate.base import Score, compute
from dpsyn_core.evaluate.loader import compare_tables
from dpsyn_core.questions.document import Questions
from dpsyn_core.schema.attributes.categorical import CategoricalAttribute
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.sample import write_coded_sample
from dpsyn_core.tables.read import read_table

TOLD = "rls, questions"  # the same run of rls with what the income score is about declared before it
NIST = ("nist-density", "nist-range", "nist-income", "nist")
HEADERS = ["epsilon", "method", "", "density", "range", "income", "mean of three", "pairs", "seconds", "CPU", "peak MB"]


def scores(schema: Schema, made: object, real: object) -> dict[str, list[float]]:
    """Density, range, income and their mean, clean and strict, and the mean distance of pairs."""
    found = compute(compare_tables(schema, made, real), [*NIST, "tvd-2way"])
    got = {n: s for n, s in found.items() if isinstance(s, Score)}
    if len(got) != len(found):
        sys.exit(str(next(s for s in found.values() if isinstance(s, DPSynError))))
    strict = [float(str(got[n].details["strict"])) for n in NIST]
    return {"clean": [got[n].value for n in NIST], "strict": strict, "pairs": [got["tvd-2way"].value]}


def rows_of(epsilon: object, method: str, found: list[dict[str, list[float]]], costs: list[str]) -> list[list[object]]:
    """Two lines: clean with the costs, and strict."""
    out = []
    for mode in ("clean", "strict"):
        middle = [statistics.median(f[mode][i] for f in found) for i in range(4)]
        pairs = f"{statistics.median(f['pairs'][0] for f in found):.4f}"
        tail = [pairs, *costs] if mode == "clean" else [""] * 4
        out.append([epsilon, method, mode, *(f"{v:,.0f}" for v in middle), *tail])
    return out


def round_trip(schema: Schema, real: object) -> list[list[object]]:
    """Encoded and decoded without noise: codes must be the same, and the scores nearly full."""
    codec = Codec(schema)
    codes = codec.encode(real).codes
    back = codec.decode(codes, rng=np.random.default_rng(0))
    if not (codec.encode(back).codes == codes).all():
        sys.exit("the round trip changed a code")
    return rows_of("none", "round trip", [scores(schema, back, real)], [""] * 3)


def income_questions(schema: Schema, place: Path) -> Path:
    """Writes what the income score asks: its Gini index by city, and the pay gap by city."""
    sides = next(list(a.values)[:2] for a in schema.coded if isinstance(a, CategoricalAttribute) and a.name == "SEX")
    by_city = {"of": "INCWAGE", "by": ["CITY"]}
    asked = [
        {"name": "inequality", "kind": "gini", **by_city},
        {"name": "pay gap", "kind": "gap", **by_city, "between": {"SEX": sides}},
    ]
    place.write_text(Questions.of(asked).checked(schema).dumps())
    return place


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epsilons", default="8,1,.3")
    parser.add_argument("--methods", default=f"dpsyn-2018;rls;{TOLD}", help="separated by ;")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source, specification, codebook, design = write_coded_sample(folder)
        document = folder / "schema.json"
        done = measure(dpsyn("schema", "import", specification, "--codebook", codebook, "--out", document))
        if done.status:
            sys.exit(done.errors)
        schema, real = Schema.load(document), read_table(source)
        rows = round_trip(schema, real)
        questions = income_questions(schema, folder / "questions.json")
        settings: dict[str, list[object]] = {
            "dpsyn-2018": ["--set", f"design={json.dumps(json.loads(design.read_bytes()))}"],
            TOLD: ["--questions", questions],
        }
        for epsilon in (float(e) for e in args.epsilons.split(",")):
            for method in args.methods.split(";"):
                found, costs = [], []
                for seed in range(args.seeds):
                    out, manifest = folder / "out.csv", folder / "manifest.json"
                    cost = measure(
                        dpsyn(
                            "synth", source, "--schema", document, "--method", method.split(",")[0],
                            *settings.get(method, []),
                            "--epsilon", epsilon, "--delta", "1e-9", "--seed", seed, "--out", out,
                            "--manifest", manifest, "--quiet",
                        ),
                        home=folder / "home",
                    )  # fmt: skip
                    if cost.status:
                        sys.exit(cost.errors)
                    costs.append(cost)
                    found.append(scores(schema, read_table(out), real))
                spent = [f"{statistics.median(getattr(c, kind) for c in costs):.1f}" for kind in ("wall", "cpu")]
                spent.append(f"{max(c.megabytes for c in costs):.0f}")
                rows += rows_of(epsilon, method, found, spent)
                print(".", end="", flush=True, file=sys.stderr)
        print(file=sys.stderr)
    print(table(HEADERS, rows))


if __name__ == "__main__":
    main()
