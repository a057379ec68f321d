"""`dpsyn plan`: where the budget of a run would go, before anything is spent; reads no table."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from dpsyn_core.commands.common import add_run

KINDS = {
    "total": "number of records",
    "1-way": "single columns",
    "2-way": "pairs of columns",
    "3-way": "triples of columns",
    "chosen": "tables chosen on the way",
    "listed": "tables named in advance",
    "question": "tables that your questions need",
    "scores": "scores: which tables pay",
    "choice": "choices of the next table",
    "cell": "single counts",
    "group": "groups of columns",
    "synthetic": "tables of drawn records",
    "coefficients": "Fourier coefficients",
    "patterns": "counts of combinations of items",
    "sum": "sums over all records",
    "training": "training, by sums over samples",
    "range": "counts that a range is read from",
    "quantiles": "counts that quantiles are read from",
    "categories": "values that enough individuals share",
}


def add(commands: Any) -> None:
    """Declares the arguments."""
    parser = commands.add_parser("plan", help="where the budget of a run would go; reads no table, spends nothing")
    add_run(parser)
    parser.add_argument(
        "--n-records", type=int, dest="about", metavar="N_RECORDS",
        help="about how many records there are, for forecasts; default 10000",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Prints one line a step."""
    from dpsyn_core.commands.common import print_json, run_spec
    from dpsyn_core.errors import SettingError
    from dpsyn_core.runs.plan import ASSUMED, lost, lost_sentence, plan
    from dpsyn_core.schema.document import Schema

    if args.about is not None and args.about < 1:
        msg = f"--n-records is {args.about}; it must be at least 1"
        raise SettingError(msg)
    spec, schema = run_spec(args), Schema.load(args.schema)
    made = plan(spec, schema, n_records=args.about)
    assumed = schema.n_records or args.about or ASSUMED
    error = lost(made, spec, schema, assumed)
    warning = None if error is None else lost_sentence(error, spec, schema)
    reasons = spec.reasons(schema)
    if args.json:
        about = {"method": spec.method, "epsilon": spec.epsilon, "delta": spec.delta}
        print_json(about | {"steps": described(made), "warning": warning, "not_private_because": list(reasons)})
        return
    if reasons:
        print(f"NOT PRIVATE: {'; '.join(reasons)}; a run would be stamped so")
    print(f"{spec.method} at epsilon {spec.epsilon:g}, delta {spec.delta:g}; forecasts are for about {assumed} records")
    print(f"{'part of budget':<18}{'releases':<26}{'noise of a cell (std)':<24}what")
    for step in described(made):
        low, high = (f"{100 * x:.3g}" for x in step["share"])
        share = f"up to {high} %" if low == "0" != high else spread([low, high]) + " %"
        parts = spread([str(x) for x in step["releases"]])
        if step["likely"] is not None:
            parts = f"about {spread([str(x) for x in step['likely']])} of {step['releases'][1]}"
        std = "-" if step["std"] is None else spread([f"{x:.3g}" for x in step["std"]])
        mark = "about " if step["about"] and not share.startswith("up") else ""
        print(
            f"{mark + share:<18}{parts:<26}{('about ' if step['about'] and std != '-' else '') + std:<24}{step['what']}"
        )
    if warning is not None:
        print(f"warning: {warning}")


def spread(ends: list[str]) -> str:
    """One number, or the least and the most."""
    return ends[0] if ends[0] == ends[-1] else f"{ends[0]} to {ends[-1]}"


def described(made: Any) -> list[dict[str, Any]]:
    """The steps of a plan, ready for JSON."""
    out = []
    for s in made.steps:
        std = made.std(s)
        out.append(
            {
                "kind": s.kind, "what": _what(s),
                "share": list(s.share), "releases": list(s.parts),
                "likely": None if s.likely is None else list(s.likely),
                "std": None if std is None else list(std), "cells": list(s.cells), "about": s.about,
                "inside": list(s.inside),
            }
        )  # fmt: skip
    return out


def _what(step: Any) -> str:
    """What a step buys, and in which part of a design."""
    words = KINDS.get(step.kind, f"tables of {step.kind.split('-')[0]} columns")
    if not step.inside:
        return words
    if step.kind == "chosen":
        words = "pairs and triples"
    return f"{words} inside the part {named(step.inside)}"


def named(columns: Sequence[str], most: int = 4) -> str:
    """The columns of a part; of many the first, and how many more there are."""
    more = f" and {len(columns) - most} more" if len(columns) > most else ""
    return ", ".join(columns[:most]) + more
