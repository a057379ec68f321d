"""`dpsyn compare`: how near a synthetic table is to the real one, in numbers."""

from __future__ import annotations

import argparse
import json
from functools import partial
from pathlib import Path
from typing import Any

from dpsyn_core.commands.common import add_incomes, add_named, add_reading, add_sample, place


def add(commands: Any) -> None:
    """Declares the arguments."""
    parser = commands.add_parser("compare", help="score a synthetic table against the real one (reads private data)")
    parser.add_argument("real", metavar="REAL", type=place, nargs="?", help="the real table")
    parser.add_argument("synthetic", metavar="SYNTH", type=Path, help="the synthetic table; or where linked ones are")
    add_named(parser, "one of several linked tables")
    parser.add_argument("--schema", type=Path, required=True, help="schema of both tables")
    parser.add_argument("--json", type=Path, metavar="OUT.json", help="also write the scores: for the owner only")
    parser.add_argument("--order", type=int, help="also score the marginals of this many attributes, for example 4")
    add_incomes(parser)
    add_sample(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress and no table")
    add_reading(parser, name="REAL")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Reads, scores, writes the JSON atomically, prints one line a score."""
    from dpsyn_core.commands.common import TerminalProgress, most_of, read_sample
    from dpsyn_core.commands.schemas.check import remember_rules
    from dpsyn_core.errors import OutputError, SettingError
    from dpsyn_core.evaluate import KWayTVD, compute, metric_class, names
    from dpsyn_core.files import check_writable, same_path, write_text
    from dpsyn_core.progress import silent
    from dpsyn_core.report import (
        ScoredTable,
        comparison_document,
        dumps,
        lines,
        names_of,
        parse_roles,
        read_comparisons,
        rule_lines,
        verdict_lines,
    )
    from dpsyn_core.schema import Schema

    schema = Schema.load(args.schema)
    if schema.links:
        compare_tree(args, schema)
        return
    if args.named:
        msg = f"'{args.schema}' describes one table; name its file without --table"
        raise SettingError(msg)
    if args.real is None:
        msg = "there is no real table; name its file, or several linked ones with --table NAME=FILE"
        raise SettingError(msg)
    if args.json is None and args.quiet:
        msg = "--quiet prints no scores, and no file is named for them; give --json OUT.json, or leave --quiet away"
        raise SettingError(msg)
    if args.json is not None:
        if any(same_path(path, args.json) for path in (args.real, args.synthetic, args.schema)):
            msg = f"'{args.json.name}' is an input and the output; give the output its own name"
            raise OutputError(msg)
        check_writable(args.json)
    progress = silent if args.quiet else TerminalProgress()
    roles = parse_roles(
        schema, income=args.income, groups=args.groups, split=args.split, not_applicable=args.not_applicable
    )
    remember_rules(schema)
    metrics = [n for n in names(quick=True) if metric_class(n).reads_private]
    progress("reading", 0, 1)
    most = most_of(args, schema, 2)
    pairs = read_comparisons(
        schema,
        args.real,
        names_of([args.synthetic]),
        roles=roles,
        most=most,
        read_real=partial(read_sample, args, most, progress=progress),
    )
    [(name, comparison)] = pairs.items()
    scores = compute(comparison, metrics, progress=progress)
    if args.order is not None:
        scores[f"tvd-{args.order}way"] = KWayTVD(order=args.order).score(comparison)
    table = ScoredTable(name=name, comparison=comparison, scores=scores)
    if args.json is not None:
        write_text(args.json, dumps(comparison_document(schema.name, table)), private=True)
    if isinstance(progress, TerminalProgress):
        progress.close()
    if not args.quiet:
        print("\n".join([*verdict_lines(table), *lines(scores), *rule_lines(comparison)]))
        print(f"{'this comparison' if args.json is None else f'wrote {args.json}: it'} {table_label()}")


def compare_tree(args: argparse.Namespace, schema: Any) -> None:
    """As `run`, for linked tables: scores by table and by link. Raises SettingError."""
    from dataclasses import asdict

    from dpsyn_core.commands.common import read_named
    from dpsyn_core.commands.schemas.check import remember_rules
    from dpsyn_core.files import check_writable, write_text
    from dpsyn_core.runs import compare_linked, named_tables, places_of, written_tables

    if args.json is not None:
        check_writable(args.json)
    remember_rules(schema)
    real = read_named(args, named_tables(args.named, args.real, schema))
    tables = written_tables(places_of(args.synthetic, schema, made=False), schema)
    synthetic = {t.name: tables[schema.name if schema.one_file else t.name] for t in schema.tables}
    scores = compare_linked(schema, synthetic, real)
    if args.json is not None:
        document = {"schema": schema.name, "private": table_label(), "scores": [asdict(s) for s in scores]}
        write_text(args.json, json.dumps(document, indent=2) + "\n", private=True)
    if not args.quiet:
        for s in scores:
            value = "-" if s.value is None else f"{s.value:.4f}"
            print(f"{s.scope:<28} {s.metric:<16} {value:>8}  {s.sentence}")
        print(f"{'this comparison' if args.json is None else f'wrote {args.json}: it'} {table_label()}")


def table_label() -> str:
    """The tag of everything that a comparison writes."""
    from dpsyn_core.evaluate import PRIVATE_LABEL

    return PRIVATE_LABEL
