"""`dpsyn explore`: the dependence of a public table, and what it suggests for a design, a schema and questions."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from dpsyn_core.commands.common import add_reading, add_table, place

SHOWN = 20  # pairs that are printed


def add(commands: Any) -> None:
    """Declares the arguments."""
    parser = commands.add_parser(
        "explore", help="look at a PUBLIC table and propose groups, bins, marginals and questions"
    )
    parser.add_argument("table", metavar="PUBLIC", type=place, help="a table that may be published as it is")
    parser.add_argument("--schema", type=Path, required=True)
    parser.add_argument("--public", action="store_true", help="you declare that this table is public; needed")
    parser.add_argument("--design", type=Path, metavar="D.json", help="write the proposal for the method dpsyn-2018")
    parser.add_argument("--groups", type=Path, metavar="S.json", help="write the schema with the proposed groups")
    parser.add_argument("--questions", type=Path, metavar="Q.json", help="write questions to declare before a run")
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_reading(parser)
    add_table(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Prints the pairs by dependence and the proposal."""
    from dpsyn_core.commands.common import print_json, read_input
    from dpsyn_core.commands.trees import one_table
    from dpsyn_core.errors import InputError
    from dpsyn_core.evaluate import REFUSED, explore, proposed_questions
    from dpsyn_core.files import check_writable, write_text
    from dpsyn_core.runs import propose

    if not args.public:
        raise InputError(REFUSED + " (on the command line: --public)")
    for path in (args.design, args.groups, args.questions):
        if path is not None:
            check_writable(path)
    schema = one_table("explore", args.schema, args.one_of)
    out = explore(read_input(args), schema, public=True)
    asked = propose(out)
    questions = proposed_questions(out)
    design = asked.design.model_dump(mode="json", exclude_defaults=True)
    if args.design is not None:
        write_text(args.design, json.dumps(design, ensure_ascii=False, indent=2) + "\n")
    if args.groups is not None:
        write_text(args.groups, asked.grouped_schema(schema).dumps())
    if args.questions is not None:
        write_text(args.questions, questions.dumps())
    rows: list[dict[str, Any]] = [
        {"pair": list(d.pair), "indif": round(d.indif, 4), "by_chance": round(d.by_chance, 4), "cells": d.cells}
        for d in out.pairs
    ]
    if args.json:
        left_out = [list(p) for p in out.left_out]
        print_json(
            {
                "n_records": out.n_records,
                "pairs": rows,
                "left_out": left_out,
                "design": design,
                "questions": json.loads(questions.dumps())["questions"],
            }
        )
        return
    print(f"{out.n_records} records, {len(out.pairs)} pairs; distance from independence, and its mean by chance:")
    for row in rows[:SHOWN]:
        print(f"  {' x '.join(row['pair']):<40}{row['indif']:8.3f}{row['by_chance']:8.3f}")
    if len(rows) > SHOWN:
        print(f"  ... and {len(rows) - SHOWN} more, all with --json")
    for pair in out.left_out:
        print(f"  left out, too many cells: {' x '.join(pair)}")
    print("proposed design for dpsyn-2018:")
    print(json.dumps(design, ensure_ascii=False))
    print("proposed questions: " + ("; ".join(q.name for q in questions.questions) or "none"))
