"""`dpsyn report`: how good synthetic tables are, as JSON and as one HTML file."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from dpsyn_core.commands.common import add_incomes, add_named, add_reading, add_sample, most_of, place, read_sample

NONE = Path("-")  # in place of a real table


def add(commands: Any) -> None:
    """Declares the arguments."""
    from dpsyn_core.report import languages

    parser = commands.add_parser(
        "report",
        help="report on one or more synthetic tables (reads private data, unless REAL is -)",
        description="With REAL the report reads private data: it is for the owner only, and not DP. With - in its "
        "place it is made from released values alone, and with --manifest is safe to publish where that promises it.",
    )
    parser.add_argument(
        "real",
        metavar="REAL",
        type=place,
        nargs="?",
        help="the real table, or - for a report from released values alone",
    )
    parser.add_argument(
        "synthetic",
        metavar="SYNTH",
        type=Path,
        nargs="+",
        help="synthetic tables; of linked ones, their folder or one file",
    )
    add_named(parser, "in place of REAL, one of several linked tables")
    parser.add_argument("--schema", type=Path, required=True, help="schema of all tables")
    parser.add_argument("--json", type=Path, metavar="R.json", help="for programs")
    parser.add_argument(
        "--html", type=Path, metavar="R.html", help="the report for people, one file that needs no network"
    )
    parser.add_argument("--language", choices=languages(), default="en", help="of the HTML report; default en")
    parser.add_argument("--manifest", type=Path, nargs="+", default=[], help="manifests, one a table, in their order")
    parser.add_argument("--measurements", type=Path, nargs="+", default=[], help="released marginals, one file a table")
    parser.add_argument("--held-out", type=Path, metavar="TABLE", help="real records that the synthesizer never saw")
    parser.add_argument("--metrics", metavar="NAMES", help="only these, separated by commas")
    parser.add_argument("--order", type=int, help="also score the marginals of this many attributes, for example 4")
    parser.add_argument(
        "--query", action="append", default=[], metavar="QUERY", help="'age in [20, 35] and sex in {f}'"
    )
    parser.add_argument("--repeats", action="store_true", help="the tables differ by their seed alone: show intervals")
    parser.add_argument("--target", metavar="NAME", help="attribute that models learn to predict")
    parser.add_argument("--models", metavar="NAMES", help="of the learning score, separated by commas; also xgboost")
    add_incomes(parser)
    add_sample(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress and no table")
    add_reading(parser, name="REAL")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Checks all outputs, reads, scores, and writes both files atomically."""
    from dpsyn_core.commands.common import TerminalProgress
    from dpsyn_core.commands.schemas.check import remember_rules
    from dpsyn_core.errors import SettingError
    from dpsyn_core.extras import require
    from dpsyn_core.files import check_writable, write_text
    from dpsyn_core.progress import silent
    from dpsyn_core.report import (
        alarm_lines,
        bands,
        dumps,
        html_report,
        lines,
        report_document,
        rule_lines,
        verdict_lines,
    )
    from dpsyn_core.schema import Schema

    outputs = [path for path in (args.json, args.html) if path is not None]
    if not outputs:
        msg = "a report needs a file to be written to; give --html R.html, --json R.json, or both"
        raise SettingError(msg)
    if args.html is not None:
        require("app", "a report in HTML (--html)")
    schema = Schema.load(args.schema)
    if args.real is None and not args.named:
        msg = "there is no real table; name its file, - for released values alone, or linked tables with --table"
        raise SettingError(msg)
    check_paths(args, outputs)
    for path in outputs:
        check_writable(path)
    if schema.links:
        report_tree(args, schema, outputs)
        return
    if args.named:
        msg = f"'{args.schema}' describes one table; name its file without --table"
        raise SettingError(msg)
    progress = silent if args.quiet else TerminalProgress()
    if args.real != NONE:
        remember_rules(schema, found=True)
    tables = score(args, schema, progress)
    repeated = bands(tables) if args.repeats else {}
    document = report_document(schema.name, tables) | ({"bands": repeated} if repeated else {})
    if args.json is not None:
        write_text(args.json, dumps(document), private=document["reads_private"])
    if args.html is not None:
        progress("drawing", 0, 1)
        drawn = html_report(schema.name, tables, bands=repeated, language=args.language)
        write_text(args.html, drawn, private=document["reads_private"])
    if isinstance(progress, TerminalProgress):
        progress.close()
        for t in tables:
            print(f"{t.name}")
            print("\n".join(f"  {line}" for line in [*verdict_lines(t), *lines(t.scores), *rule_lines(t.comparison)]))
        print(f"wrote {' and '.join(str(p) for p in outputs)}: {document['label']}")
    for t in tables:  # with --quiet as well
        for line in alarm_lines(t):
            print(f"{t.name}: {line}", file=sys.stderr)


def report_tree(args: argparse.Namespace, schema: Any, outputs: list[Path]) -> None:
    """As `run`, for one release of linked tables: by table, by link, and keys. Raises SettingError."""
    from numpy.random import default_rng

    from dpsyn_core.commands.common import read_named
    from dpsyn_core.commands.schemas.check import remember_rules
    from dpsyn_core.errors import SettingError
    from dpsyn_core.files import write_text
    from dpsyn_core.privacy import Manifest
    from dpsyn_core.report import alarm_lines, dumps, linked_document, linked_html, linked_report, verdict_lines
    from dpsyn_core.runs import (
        check_keys,
        check_names,
        link_verdicts,
        named_tables,
        places_of,
        receipt,
        separate_tables,
        written_tables,
    )

    without = ("measurements", "held_out", "metrics", "order", "query", "repeats", "target", "models", "sample",
               "memory", "income", "groups", "split", "not_applicable")  # fmt: skip
    given = [n for n in without if getattr(args, n)]
    if given:
        msg = f"a report on linked tables does not take --{given[0].replace('_', '-')}; leave it out"
        raise SettingError(msg)
    if args.real == NONE and args.named:
        msg = "- asks for a report from released values alone, and --table names real tables; give one of the two"
        raise SettingError(msg)
    if len(args.synthetic) > 1 or len(args.manifest) > 1 or not args.synthetic[0].exists():
        there = [str(p) for p in args.synthetic]
        msg = (
            f"a report on linked tables is of one release; got {', '.join(there)}; name one folder or file that exists"
        )
        raise SettingError(msg)
    places = places_of(args.synthetic[0], schema, manifest=args.manifest[0] if args.manifest else None)
    manifest = Manifest.load(places.manifest)
    names = schema.outputs
    tables = written_tables(places, schema)
    real = None
    if args.real != NONE:
        remember_rules(schema, found=True)
        read = read_named(args, named_tables(args.named, args.real, schema))
        check_names(schema, read)
        real = separate_tables(schema, {schema.name: read[schema.root.name]} if schema.one_file else read)
    parts = separate_tables(schema, tables)
    files = places.outs if len(places.outs) == len(names) else places.outs * len(names)
    report = linked_report(
        schema,
        manifest=manifest,
        synthetic=parts,
        real=real,
        keys=check_keys(schema, tables),
        receipts={n: receipt(p, places.manifest, schema=schema) for n, p in zip(names, files, strict=True)},
        # which roots the references draw decides nothing that is released, and stays the same for a release
        verdicts=() if real is None else link_verdicts(schema, parts, real, rng=default_rng(manifest.seed)),
    )
    document = linked_document(report)
    if args.json is not None:
        write_text(args.json, dumps(document), private=document["reads_private"])
    if args.html is not None:
        write_text(args.html, linked_html(report, language=args.language), private=document["reads_private"])
    if not args.quiet:
        for t in report.tables:
            print("\n".join([t.name, *(f"  {line}" for line in verdict_lines(t))]))
        for k in report.keys:
            print(f"{k.parent} > {k.child}: keys {'hold' if k.hold else 'do not hold'}")
        for v in report.verdicts:
            kept = "" if v.kept is None else f" {v.kept:.0%} of what there is to keep is kept."
            print(f"{v.scope}: {v.sentence}{kept}")
        print(f"wrote {' and '.join(str(p) for p in outputs)}: {document['label']}")
    for t in report.tables:
        for line in alarm_lines(t):
            print(f"{t.name}: {line}", file=sys.stderr)


def score(args: argparse.Namespace, schema: Any, progress: Any) -> list[Any]:
    """Scores every synthetic table."""
    from dpsyn_core.estimate import load_released
    from dpsyn_core.evaluate import (
        CountQuery,
        KWayTVD,
        Learning,
        Metric,
        ask,
        asked_groups,
        compute,
        metric_class,
        names,
        parse,
    )
    from dpsyn_core.report import ScoredTable, names_of, parse_roles, read_comparisons

    safe = args.real == NONE
    wanted = names(private=not safe)
    if args.metrics:
        wanted = [n.strip() for n in args.metrics.split(",")]
        for name in wanted:
            metric_class(name)
    elif not args.measurements:
        wanted = [n for n in wanted if metric_class(n).reads_private]  # there is nothing released to fit
    metrics: list[str | Metric] = list(wanted)
    if args.models and "learning" in wanted:
        metrics[wanted.index("learning")] = Learning(which=chosen_models(args.models))
    manifests, receipts = read_manifests(args, schema)
    released = [load_released(p, schema) for p in args.measurements]
    measured = [r.measurements for r in released]
    roles = parse_roles(
        schema,
        income=args.income,
        groups=args.groups,
        split=args.split,
        not_applicable=args.not_applicable,
        target=args.target,
    )
    asked = [m.questions.document for m in manifests if m.questions is not None]
    progress("reading", 0, 1)
    most = most_of(args, schema, len(args.synthetic) + (not safe))
    comparisons = read_comparisons(
        schema,
        None if safe else args.real,
        names_of(args.synthetic),
        held_out=args.held_out,
        roles=replace(roles, asked=asked_groups(*asked)),
        measurements=measured,
        read_real=partial(read_sample, args, most, progress=progress),
        most=most,
    )
    out = []
    queries: list[CountQuery] = []
    for i, (name, comparison) in enumerate(comparisons.items()):
        queries = queries or [parse(text, comparison) for text in args.query]
        scores = {} if args.order is None else {f"tvd-{args.order}way": KWayTVD(order=args.order).score(comparison)}
        out.append(
            ScoredTable(
                name=name,
                comparison=comparison,
                scores=compute(comparison, metrics, progress=progress) | scores,
                manifest=manifests[i] if manifests else None,
                receipt=receipts[i] if receipts else None,
                answers=ask(comparison, queries) if queries else (),
                asked=asked_of(comparison, schema, manifests[i], released[i]) if manifests and released else (),
            )
        )
    return out


def asked_of(comparison: Any, schema: Any, manifest: Any, released: Any) -> list[Any]:
    """Answers to the questions that the manifest of the run states; none where it states none."""
    from dpsyn_core.questions import Questions
    from dpsyn_core.report import asked_answers

    if manifest.questions is None:
        return []
    questions = Questions.of(manifest.questions.document)
    return asked_answers(
        comparison, schema, manifest, questions, released.measurements, scores=released.measurements.scores
    )


def read_manifests(args: argparse.Namespace, schema: Any) -> tuple[list[Any], list[Any]]:
    """The manifests, which must add up, and a receipt for each table, checked with its files against its manifest."""
    from dpsyn_core.privacy import Manifest
    from dpsyn_core.runs import receipt

    manifests = [Manifest.load(p) for p in args.manifest]
    released = args.measurements or [None] * len(args.manifest)
    receipts = [
        receipt(table, path, measurements=marginals, schema=schema)
        for table, path, marginals in zip(args.synthetic, args.manifest, released, strict=False)
    ]
    return manifests, receipts


def chosen_models(text: str) -> tuple[str, ...]:
    """The models named on the command line. Raises MetricError for an unknown one before anything is trained."""
    from dpsyn_core.evaluate import classifier

    chosen = tuple(name.strip() for name in text.split(","))
    for name in chosen:
        classifier(name, 0)
    return chosen


def check_paths(args: argparse.Namespace, outputs: list[Path]) -> None:
    """Refuses an output that is an input, and lists of files that do not pair up with the tables."""
    from dpsyn_core.errors import OutputError, SettingError
    from dpsyn_core.files import same_path

    inputs = [
        args.real,
        *(Path(n.partition("=")[2]) for n in args.named),
        *args.synthetic,
        args.schema,
        *args.manifest,
        *args.measurements,
    ]
    inputs += [args.held_out] if args.held_out else []
    for i, out in enumerate(outputs):
        if any(same_path(out, p) for p in [*inputs, *outputs[:i]]):
            msg = f"'{out.name}' is named twice, as an input or as another output; give every file its own name"
            raise OutputError(msg)
    for what, given in (("--manifest", args.manifest), ("--measurements", args.measurements)):
        if given and len(given) != len(args.synthetic):
            msg = f"{what} names {len(given)} files for {len(args.synthetic)} tables; give one for each, in their order"
            raise SettingError(msg)
    if args.real == NONE and (args.held_out or args.query or args.order):
        msg = "--held-out, --query and --order read real records, and - asks for a report without them; give the table"
        raise SettingError(msg)
