"""`dpsyn itemsets`: frequent itemsets from transactions or a 0/1 table, by PrivBasis."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsyn_core.commands.common import add_engine, add_manifest, add_reading, add_table, place

if TYPE_CHECKING:
    from dpsyn_core.measure import ItemSource
    from dpsyn_core.privacy import Neighbours
    from dpsyn_core.runs import RunSpec
    from dpsyn_core.schema import Schema


def add(commands: Any) -> None:
    """Declares the arguments."""
    parser = commands.add_parser("itemsets", help="release the most frequent itemsets of transactions or a 0/1 table")
    parser.add_argument("table", metavar="TABLE", type=place, help="transactions, one a line, or a table with --schema")
    public = parser.add_mutually_exclusive_group(required=True)
    public.add_argument("--items", type=Path, metavar="ITEMS.txt", help="public items of transactions, one a line")
    public.add_argument(
        "--schema",
        type=Path,
        help="schema of a 0/1 table: attributes of two values are the items, the second value means present",
    )
    parser.add_argument("--k", type=int, help="itemsets to release; at most so many with --frequency")
    parser.add_argument(
        "--frequency", type=float, help="release itemsets that at least this share of transactions holds"
    )
    parser.add_argument("--epsilon", type=float, required=True)
    parser.add_argument("--delimiter", help="of items in a transaction, default blanks; or of columns, as detected")
    parser.add_argument("--neighbours", choices=["add-remove", "replace"], help="with --items; default add-remove")
    parser.add_argument("--set", dest="settings", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--dataset", help="name on the ledger; default the file's or the schema's name")
    parser.add_argument("-o", "--out", type=Path, required=True, metavar="OUT.(csv|parquet)")
    add_manifest(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress")
    add_engine(parser)
    add_reading(parser, name="TABLE with --schema", but=("delimiter",))
    add_table(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Checks what can be checked, then spends, then writes both files atomically."""
    from dpsyn_core.commands.common import TerminalProgress, point_out_names, read_form
    from dpsyn_core.commands.synth import SUFFIXES
    from dpsyn_core.commands.trees import one_table
    from dpsyn_core.errors import OutputError
    from dpsyn_core.progress import silent
    from dpsyn_core.runs import Places, frequent_itemsets, public_facts, write_release

    if args.out.suffix.lower() not in SUFFIXES:
        msg = f"the output '{args.out.name}' must end with {' or '.join(SUFFIXES)}"
        raise OutputError(msg)
    # a column that is no item counts too: that it has another number of values may have been read from the data
    vouched = args.items is None and read_form(args).query_vouched
    facts = None if args.items is not None else public_facts(
        one_table("itemsets", args.schema, args.one_of), dataset=args.dataset, query_vouched=vouched, reasons=(),
        public_table=None,
    )  # fmt: skip
    places = Places.of(args.out, args.manifest, private=facts is None or not facts.reasons)
    places.check(args.table, args.items or args.schema)
    spec = _spec(args)
    progress = silent if args.quiet else TerminalProgress()
    source, named, schema = _transactions(args)
    spec = spec.model_copy(update={"dataset": args.dataset or named})
    point_out_names(spec.dataset or named)
    release = frequent_itemsets(source, spec, query_vouched=vouched, schema=schema, progress=progress)
    write_release(release, places)
    if isinstance(progress, TerminalProgress):
        progress.close()
    if not release.manifest.private:
        reasons = "; ".join(release.manifest.not_private_because)
        print(f"NOT PRIVATE: {reasons}; the itemsets are in {places.outs[0].name}", file=sys.stderr)
    elif not args.quiet:
        count = len(release.found.itemsets)
        print(f"wrote {count} itemsets to {places}; spent epsilon {args.epsilon:g}", file=sys.stderr)


def _spec(args: argparse.Namespace) -> RunSpec:
    """The run, whose settings also say which itemsets are released. Raises SettingError."""
    from dpsyn_core.commands.common import parse_settings, run_spec
    from dpsyn_core.errors import SettingError
    from dpsyn_core.runs import ITEMSETS_METHOD, settings_of

    asked = {name: getattr(args, name) for name in ("k", "frequency") if getattr(args, name) is not None}
    if not asked:
        msg = "say which itemsets to release: --k 20 for the 20 most frequent, or --frequency 0.1 for those in a tenth"
        raise SettingError(msg)
    spec = run_spec(args, method=ITEMSETS_METHOD, delta=0.0, settings={**parse_settings(args.settings), **asked})
    settings_of(spec)  # refused before a large table is read
    return spec


def _transactions(args: argparse.Namespace) -> tuple[ItemSource, str, Schema | None]:
    """Transactions, their name on the ledger, and the schema that they were read by, if any."""
    from dpsyn_core.commands.common import open_input, reading_flags, say_odd
    from dpsyn_core.commands.trees import one_table
    from dpsyn_core.errors import SettingError
    from dpsyn_core.measure import Source, from_lines, from_source, from_table, half_of_machine, item_rows, memory_of
    from dpsyn_core.privacy import dataset_name

    if args.items is None:
        if args.neighbours:
            msg = "--neighbours goes with --items; a schema declares the unit"
            raise SettingError(msg)
        schema = one_table("itemsets", args.schema, args.one_of)
        item_rows(schema)  # refuses a schema without items before a large table is read
        table = open_input(args, schema)
        if not isinstance(table, Source):
            return from_table(table, schema, strict=args.strict), schema.ledger_name, schema
        items = from_source(table, schema, memory=memory_of(args.memory) or half_of_machine())
        say_odd(table, str(args.table))
        return items, schema.ledger_name, schema
    if args.one_of is not None:
        msg = "--table names one of the tables of a schema, and transactions have none; leave it out"
        raise SettingError(msg)
    engine = [name for name in ("engine", "memory", "spark_master", "spark_conf") if getattr(args, name)]
    for name in (*(flag for flag in reading_flags(args) if flag != "delimiter"), *engine):
        msg = f"--{name.replace('_', '-')} goes with --schema; transactions are lines of UTF-8 text"
        raise SettingError(msg)
    path = Path(args.table)
    neighbours: Neighbours = args.neighbours or "add-remove"
    return from_lines(path, args.items, delimiter=args.delimiter, neighbours=neighbours), dataset_name(path.name), None
