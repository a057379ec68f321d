"""`dpsyn itemsets`: frequent itemsets from transactions or a 0/1 table, by PrivBasis."""

from __future__ import annotations

import argparse
import itertools
import sys
from pathlib import Path
from typing import Any

from dpsyn_core.commands.common import add_reading, place


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
    parser.add_argument("--k", type=int, required=True, help="itemsets to release")
    parser.add_argument("--epsilon", type=float, required=True)
    parser.add_argument("--delimiter", help="of items in a transaction, default blanks; or of columns, as detected")
    parser.add_argument("--neighbours", choices=["add-remove", "replace"], help="with --items; default add-remove")
    parser.add_argument("--set", dest="settings", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--dataset", help="name on the ledger; default the file's or the schema's name")
    parser.add_argument("--out", type=Path, required=True, metavar="OUT.(csv|parquet)")
    parser.add_argument("--manifest", type=Path, required=True, metavar="M.json")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    add_reading(parser, name="TABLE with --schema", delimiter=False)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Checks what can be checked, then spends, then writes both files atomically."""
    from dpsyn_core.commands.common import TerminalProgress, same_path
    from dpsyn_core.commands.synth import SUFFIXES, not_private_name
    from dpsyn_core.errors import OutputError
    from dpsyn_core.files import check_writable
    from dpsyn_core.progress import silent

    if args.out.suffix.lower() not in SUFFIXES:
        msg = f"the output '{args.out.name}' must end with {' or '.join(SUFFIXES)}"
        raise OutputError(msg)
    outputs, inputs = [args.out, args.manifest], [args.table, args.items or args.schema]
    for a, b in [*itertools.product(outputs, inputs), (args.out, args.manifest)]:
        if same_path(a, b):
            msg = f"'{a.name}' is named twice, as an input or as another output; give every file its own name"
            raise OutputError(msg)
    check_writable(args.out)
    check_writable(args.manifest)
    settings = _settings(args)
    progress = silent if args.quiet else TerminalProgress()

    import pyarrow as pa

    from dpsyn_core.runs.itemsets import frequent_itemsets
    from dpsyn_core.tables.write import write_table

    counter, names, unit, named, reasons, bought = _transactions(args) if args.items else _binary_table(args)
    release = frequent_itemsets(
        counter, names, settings, epsilon=args.epsilon, unit=unit, dataset=args.dataset or named, reasons=reasons,
        bought=bought, progress=progress,
    )  # fmt: skip
    out = args.out if release.manifest.private else not_private_name(args.out)
    columns = pa.schema(
        [
            pa.field("itemset", pa.string()),
            pa.field("size", pa.int64()),
            *(pa.field(n, pa.float64()) for n in ("count", "frequency", "deviation")),
        ]
    )
    write_table(pa.Table.from_pylist(release.rows(), schema=columns), out)
    release.manifest.dump(args.manifest)
    if isinstance(progress, TerminalProgress):
        progress.close()
    if not release.manifest.private:
        print(f"NOT PRIVATE: {'; '.join(reasons)}; the itemsets are in {out.name}", file=sys.stderr)
    elif not args.quiet:
        print(f"wrote {len(release.found.itemsets)} itemsets to {out}; spent epsilon {args.epsilon:g}", file=sys.stderr)


def _settings(args: argparse.Namespace) -> Any:
    from pydantic import ValidationError

    from dpsyn_core.commands.common import parse_settings
    from dpsyn_core.errors import SettingError
    from dpsyn_core.synthesizers.privbasis.run import PrivBasisSettings

    try:
        return PrivBasisSettings(**{**parse_settings(args.settings), "k": args.k})
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(p) for p in first["loc"])
        known = ", ".join(PrivBasisSettings.model_fields)
        msg = f"setting '{where}' of itemsets is {first['input']!r}: {first['msg']}; settings are {known}"
        raise SettingError(msg) from error


def _transactions(args: argparse.Namespace) -> tuple[Any, tuple[str, ...], Any, str, list[str], list[Any]]:
    from dpsyn_core.counting.transactions import TransactionCounter
    from dpsyn_core.errors import SettingError
    from dpsyn_core.privacy.unit import Unit
    from dpsyn_core.tables.transactions import read_items, read_transactions

    for name in ("encoding", "decimal", "sql_table", "sql_query"):
        if getattr(args, name) is not None:
            msg = f"--{name.replace('_', '-')} goes with --schema; transactions are lines of UTF-8 text"
            raise SettingError(msg)
    names = read_items(args.items)
    read = read_transactions(Path(args.table), names, delimiter=args.delimiter)
    counter = TransactionCounter(read.rows, read.items, n_records=read.n_records, n_items=len(names))
    # a line is one individual: a file of transactions has no identifier to bound contributions by
    return counter, names, Unit(neighbours=args.neighbours or "add-remove"), Path(args.table).stem, [], []


def _binary_table(args: argparse.Namespace) -> tuple[Any, tuple[str, ...], Any, str, list[str], list[Any]]:
    from dpsyn_core.commands.common import read_input
    from dpsyn_core.counting.transactions import TransactionCounter
    from dpsyn_core.errors import SettingError
    from dpsyn_core.privacy.charge import Charge
    from dpsyn_core.privacy.unit import Unit
    from dpsyn_core.schema.codec import Codec
    from dpsyn_core.schema.document import Schema
    from dpsyn_core.sources.bounding import bound

    if args.neighbours:
        msg = "--neighbours goes with --items; a schema declares the unit"
        raise SettingError(msg)
    schema = Schema.load(args.schema)
    attributes = schema.domain().attributes
    two = [i for i, a in enumerate(attributes) if a.size - a.special == 2]
    if not two:
        msg = "no attribute of the schema has exactly two values; a 0/1 table is needed, or transactions with --items"
        raise SettingError(msg)
    unit = Unit(**schema.unit.model_dump())
    codes = bound(Codec(schema).encode(read_input(args)), unit.max_records)
    names = tuple(attributes[i].name for i in two)
    # of all attributes: that one is no item, for it has three values, was read from the data as well
    reasons = list(schema.reasons)
    bought = [Charge(**b.model_dump(exclude={"unit"})) for b in schema.bought]
    return TransactionCounter.of_codes(codes[two] == 1), names, unit, schema.name, reasons, bought
