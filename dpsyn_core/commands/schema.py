"""`dpsyn schema import|draft|check`: public metadata from a file, from a person, or (marked) from the data."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add(commands: Any) -> None:
    """Declares the arguments."""
    parser = commands.add_parser("schema", help="import, draft or check a schema")
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION", parser_class=type(parser))
    made = actions.add_parser("import", help="from a NIST-style parameters.json")
    made.add_argument("parameters", metavar="PARAMS.json", type=Path)
    made.add_argument("--datatypes", type=Path, metavar="T.json")
    made.add_argument("-o", "--out", type=Path, required=True, metavar="schema.json")
    made.set_defaults(run=run_import)
    draft = actions.add_parser("draft", help="read the data: NOT PRIVATE until each entry is confirmed as public")
    draft.add_argument("table", metavar="TABLE", type=Path)
    draft.add_argument("-o", "--out", type=Path, required=True, metavar="schema.json")
    draft.set_defaults(run=run_draft)
    check = actions.add_parser("check", help="check a schema, and a table against it")
    check.add_argument("schema", metavar="schema.json", type=Path)
    check.add_argument("table", metavar="TABLE", type=Path, nargs="?")
    check.set_defaults(run=run_check)


def run_import(args: argparse.Namespace) -> None:
    """Imports without loss; says what a person should still decide."""
    from dpsyn_core.files import check_writable
    from dpsyn_core.schema.importing import import_file

    check_writable(args.out)
    schema = import_file(args.parameters, args.datatypes)
    schema.dump(args.out)
    print(f"wrote {args.out}: {len(schema.coded)} attributes")
    print_findings(schema, None)


def run_draft(args: argparse.Namespace) -> None:
    """Drafts from the data: every entry is marked as read from it."""
    from dpsyn_core.files import check_writable
    from dpsyn_core.schema.drafting import draft
    from dpsyn_core.schema.read import read_table

    check_writable(args.out)
    schema = draft(read_table(args.table), name=args.table.name.split(".")[0])
    schema.dump(args.out)
    print(f"wrote {args.out}: NOT PRIVATE until each entry's source is changed from 'data' to 'public' by a person")


def run_check(args: argparse.Namespace) -> None:
    """Prints findings; raises SchemaError when a run would be refused."""
    from dpsyn_core.schema.document import Schema
    from dpsyn_core.schema.read import read_table

    schema = Schema.load(args.schema)
    print_findings(schema, None if args.table is None else read_table(args.table))
    print("the schema can be used")


def print_findings(schema: Any, table: Any) -> None:
    """One line a finding. Raises SchemaError on the first error."""
    from dpsyn_core.errors import SchemaError
    from dpsyn_core.schema.check import check

    for finding in check(schema, table):
        about = f"'{finding.about}' " if finding.about else ""
        if finding.level == "error":
            msg = f"{about}{finding.text}"
            raise SchemaError(msg)
        print(f"{finding.level}: {about}{finding.text}")
