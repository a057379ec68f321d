"""`dpsyn verify`: whether a table is the one that a manifest was written for. Needs no ledger and no network."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

PUBLISHABLE = "--publishable"
MANIFEST, ANSWERS = "manifest.json", ("answers.json", "answers.NOT-PRIVATE.json")  # in the folder of linked tables


def add(commands: Any) -> None:
    """Declares the arguments."""
    parser = commands.add_parser(
        "verify",
        help="check a released table against its manifest; exit status 2 where anything does not hold",
        description="Says in one sentence what holds: the table's digest, the charges, the signature if there is one.",
    )
    parser.add_argument(
        "table",
        metavar="TABLE",
        type=Path,
        help="synthetic table: CSV, TSV, Parquet or Excel; or the folder of linked tables, with the manifest in it",
    )
    parser.add_argument("--manifest", type=Path, metavar="M.json", help="default beside TABLE: TABLE.manifest.json")
    parser.add_argument("--measurements", type=Path, metavar="M.json.gz", help="also check the released marginals")
    parser.add_argument("--schema", type=Path, help="also check the schema")
    parser.add_argument("--key", type=Path, metavar="KEY.pub", help="ask for the signature of this key")
    parser.add_argument(
        PUBLISHABLE,
        action="store_true",
        help="exit status 2 also for a file that is not safe to publish: another "
        "file with the same table in it, or NOT PRIVATE",
    )
    parser.add_argument("--cite", action="store_true", help="also print a citation: a sentence, and BibTeX")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Prints the sentence. Raises ReceiptError where anything does not hold, or is not publishable and has to be."""
    from dpsyn_core.errors import ReceiptError
    from dpsyn_core.files import manifest_beside
    from dpsyn_core.privacy import public_key
    from dpsyn_core.runs import receipt
    from dpsyn_core.schema import Schema

    inside = args.table / MANIFEST
    linked = args.manifest is None and inside.is_file()
    manifest = inside if linked else args.manifest or manifest_beside(args.table)
    schema = None if args.schema is None else Schema.load(args.schema)
    signer = None if args.key is None else public_key(args.key)
    for table in _tables_of(args.table) if linked else [args.table]:
        result = receipt(table, manifest, measurements=args.measurements, schema=schema, signer=signer)
        if not result.holds or (args.publishable and not result.publishable):
            raise ReceiptError(result.sentence)
        print(result.sentence)
    if args.cite:
        from dpsyn_core.report import cite

        print(cite(manifest))


def _tables_of(folder: Path) -> list[Path]:
    """The linked tables in a folder with their manifest; each file is checked against it, whatever its format.

    Raises ReceiptError where there are fewer or more files than the manifest has tables.
    """
    from dpsyn_core.errors import ReceiptError
    from dpsyn_core.privacy import Manifest
    from dpsyn_core.tables import file_digest

    digests = Manifest.read(folder / MANIFEST)[0].digests
    contents = [] if digests is None else [t.content for t in digests.tables or (digests,)]
    files = sorted(f for f in folder.iterdir() if f.name not in (MANIFEST, *ANSWERS))
    if len(files) != len(contents) or len({file_digest(f) for f in files if f.is_file()}) < len(set(contents)):
        msg = (
            f"files in '{folder.name}' besides its manifest: {len(files)}, different tables that the manifest is of: "
            f"{len(set(contents))}; leave exactly what the run wrote in the folder, or name one table "
            "and --manifest"
        )
        raise ReceiptError(msg)
    return files
