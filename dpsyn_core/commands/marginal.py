"""`dpsyn marginal`: any marginals of a private table, released by PriView and read off by maximum entropy."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from dpsyn_core.commands.common import add_engine, add_manifest, add_reading, place

SUFFIXES = (".csv", ".parquet", ".json")


def add(commands: Any) -> None:
    """Declares the arguments."""
    parser = commands.add_parser("marginal", help="release any marginals by PriView, without records")
    parser.add_argument(
        "table", metavar="TABLE", type=place, help="CSV, TSV (also .gz), Parquet or Excel; a folder or 'pattern*'"
    )
    parser.add_argument("--schema", type=Path, required=True)
    parser.add_argument("--epsilon", type=float, required=True)
    parser.add_argument("--delta", type=float, required=True, help="0 for pure DP")
    parser.add_argument(
        "--attributes", action="append", required=True, metavar="A,B,...",
        help="attributes of one marginal; repeat it for more, which cost nothing further",
    )  # fmt: skip
    parser.add_argument("--set", dest="settings", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--dataset", help="name on the ledger; default the one that the schema keeps")
    parser.add_argument("-o", "--out", type=Path, required=True, metavar="OUT.(csv|parquet|json)")
    add_manifest(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress")
    add_engine(parser)
    add_reading(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Checks all that can be checked, then spends, then writes both files atomically."""
    from dpsyn_core.commands.common import (
        TerminalProgress,
        open_input,
        parse_settings,
        point_out_names,
        same_path,
        say_odd,
    )
    from dpsyn_core.errors import OutputError
    from dpsyn_core.files import check_writable, manifest_beside, not_private_name
    from dpsyn_core.progress import silent
    from dpsyn_core.runs.marginals import as_document, as_table, release_marginals
    from dpsyn_core.runs.writing import write_document, write_release
    from dpsyn_core.schema.document import Schema

    queries = [[n.strip() for n in names.split(",")] for names in args.attributes]
    many = len(queries) > 1
    if args.out.suffix.lower() not in SUFFIXES or (many and args.out.suffix.lower() != ".json"):
        allowed = ".json, for there are several marginals" if many else " or ".join(SUFFIXES)
        msg = f"the output '{args.out.name}' must end with {allowed}"
        raise OutputError(msg)
    args.manifest = args.manifest or manifest_beside(args.out)
    schema = Schema.load(args.schema)
    out = not_private_name(args.out) if schema.reasons else args.out
    paths = [args.table, args.schema, args.manifest]
    if any(same_path(out, p) for p in paths) or any(same_path(args.manifest, p) for p in paths[:2]):
        msg = "a file is named twice, as an input or as another output; give every file its own name"
        raise OutputError(msg)
    check_writable(out)
    check_writable(args.manifest)
    point_out_names(args.dataset or schema.ledger_name)
    progress = silent if args.quiet else TerminalProgress()
    table = open_input(args, schema)
    found, manifest = release_marginals(
        table, schema, queries, epsilon=args.epsilon, delta=args.delta,
        settings=parse_settings(args.settings), dataset=args.dataset, strict=args.strict,
        query_vouched=args.query_vouched, progress=progress,
    )  # fmt: skip
    say_odd(table, str(args.table))
    if isinstance(progress, TerminalProgress):
        progress.close()
    if out.suffix.lower() == ".json":
        text = json.dumps(as_document(found, schema), ensure_ascii=False)
        write_document(manifest, text.encode(), out, args.manifest)
    else:
        write_release(manifest, as_table(found[0], schema), out, args.manifest)
    if not manifest.private:
        why = "; ".join(manifest.not_private_because)
        print(f"NOT PRIVATE: {why}; the marginals are in {out.name}", file=sys.stderr)
    elif not args.quiet:
        print(f"wrote {len(found)} marginals to {out}; spent epsilon {manifest.epsilon:g}", file=sys.stderr)
