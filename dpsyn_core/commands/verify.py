"""`dpsyn verify`: whether a table is the one that a manifest was written for. Needs no ledger and no network."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

PUBLISHABLE = "--publishable"


def add(commands: Any) -> None:
    """Declares the arguments."""
    parser = commands.add_parser(
        "verify",
        help="check a released table against its manifest; exit status 2 where anything does not hold",
        description="Says in one sentence what holds: the table's digest, the charges, the signature if there is one.",
    )
    parser.add_argument("table", metavar="TABLE", type=Path, help="synthetic table: CSV, TSV, Parquet or Excel")
    parser.add_argument("--manifest", type=Path, metavar="M.json", help="default beside TABLE: TABLE.manifest.json")
    parser.add_argument("--measurements", type=Path, metavar="M.json.gz", help="also check the released marginals")
    parser.add_argument("--schema", type=Path, help="also check the schema")
    parser.add_argument("--key", type=Path, metavar="KEY.pub", help="ask for the signature of this key")
    parser.add_argument(
        PUBLISHABLE, action="store_true", help="exit status 2 also for a file that is not safe to publish: another "
        "file with the same table in it, or NOT PRIVATE",
    )  # fmt: skip
    parser.add_argument("--cite", action="store_true", help="also print a citation: a sentence, and BibTeX")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Prints the sentence. Raises ReceiptError where anything does not hold, or is not publishable and has to be."""
    from dpsyn_core.errors import ReceiptError
    from dpsyn_core.files import manifest_beside
    from dpsyn_core.linked.document import load_any_schema
    from dpsyn_core.privacy.manifest.signing import public_key
    from dpsyn_core.report.receipts import receipt

    found = receipt(
        args.table,
        args.manifest or manifest_beside(args.table),
        measurements=args.measurements,
        schema=None if args.schema is None else load_any_schema(args.schema),
        signer=None if args.key is None else public_key(args.key),
    )
    if not found.holds or (args.publishable and not found.publishable):
        raise ReceiptError(found.sentence)
    print(found.sentence)
    if args.cite:
        from dpsyn_core.report.takeaways import cite

        print(cite(args.manifest or manifest_beside(args.table)))
