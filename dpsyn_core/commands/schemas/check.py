"""`dpsyn schema check` and `propose-rules`: what a table breaks, and rules that it may keep."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from dpsyn_core.commands.common import read_input


def run_propose_rules(args: argparse.Namespace) -> None:
    """Lists proposals with their numbers, or writes the schema with those that a person chose."""
    from dpsyn_core.commands.common import PRIVATE
    from dpsyn_core.errors import SettingError
    from dpsyn_core.files import check_writable
    from dpsyn_core.runs import offered_rules
    from dpsyn_core.schema import Schema

    table = None if args.table is None else read_input(args)
    if table is not None:
        remember_rules(Schema.load(args.schema), found=True)
    proposed, with_rules = offered_rules(args.schema, table)
    for number, rule in enumerate(proposed, 1):
        seen = getattr(rule, "source", None) == "data"
        print(f"{number}: {rule}" + (f" (every record keeps it: {PRIVATE})" if seen else ""))
    if not proposed:
        print("the headers propose no rule that the schema does not have")
    if bool(args.add) != (args.out is not None):
        msg = "--add and --out belong together: which proposals you know to hold, and where the schema with them goes"
        raise SettingError(msg)
    if args.out is None:
        return
    if not all(1 <= n <= len(proposed) for n in args.add):
        msg = f"--add got {' '.join(map(str, args.add))}; there are {len(proposed)} proposals, numbered from 1"
        raise SettingError(msg)
    check_writable(args.out)
    out, ok = with_rules([proposed[n - 1] for n in dict.fromkeys(args.add)])
    out.dump(args.out)
    seen = any(rule.source == "data" for rule in getattr(out, "rules", ()))
    later = f"; NOT PRIVATE until you confirm them: dpsyn schema confirm {args.out} --rules" if seen else ""
    print(f"wrote {args.out}: {ok} rules{later}")


def run_check(args: argparse.Namespace) -> None:
    """Prints findings; raises SchemaError when a run would be refused."""
    from dpsyn_core.errors import SettingError
    from dpsyn_core.schema import Schema

    if args.schema is not None and args.second is not None:
        msg = "--schema names the schema, so that only one table may stand beside it"
        raise SettingError(msg)
    path, args.table = (args.first, args.second) if args.schema is None else (args.schema, args.first)
    schema = Schema.load(path)
    if schema.links:
        check_tree(args, schema)
        return
    if args.named:
        msg = f"'{path}' describes one table; give it as dpsyn schema check TABLE --schema {path}, without its name"
        raise SettingError(msg)
    print_findings(schema, None if args.table is None else read_input(args), strict=args.strict)
    print("the schema can be used")


def check_tree(args: argparse.Namespace, schema: Any) -> None:
    """As `run_check`, for linked tables: each by its part of the schema, and the keys that link them."""
    from dpsyn_core.commands.common import PRIVATE, read_named
    from dpsyn_core.runs import bounded, findings, named_tables

    tables: dict[str, Any] = {}
    if args.named or args.table is not None:
        tables = read_named(args, named_tables(args.named, args.table, schema))
        remember_rules(schema)
        print(f"what follows {PRIVATE}")
    for line in findings(schema, tables, strict=args.strict):
        print(line)
    for table in schema.tables:
        if table.columns is not None and table.columns.rules:
            print(f"table '{table.name}': ", end="")
            print_rules(table.columns, tables.get(table.name))
    if tables:
        for left in (one for one in bounded(schema, tables, strict=args.strict)[1] if one.any):
            for sentence in left.sentences():
                print(f"warning: {sentence}")
    print("the schema can be used")


def print_findings(schema: Any, table: Any, *, strict: bool = False) -> None:
    """One line a finding. Raises SchemaError on the first error."""
    from dpsyn_core.commands.common import PRIVATE
    from dpsyn_core.errors import SchemaError
    from dpsyn_core.schema import check

    if table is not None:
        remember_rules(schema)
    remarks = check(schema, table, strict=strict)
    if table is not None:
        print(f"what follows {PRIVATE}")
    for finding in remarks:
        about = f"'{finding.about}' " if finding.about else ""
        if finding.level == "error":
            msg = f"{about}{finding.text}"
            raise SchemaError(msg)
        print(f"{finding.level}: {about}{finding.text}")
    if schema.rules or schema.derived:
        print_rules(schema, table)


def remember_rules(schema: Any, *, found: bool = False) -> None:
    """Writes down that how many records break rules is shown, before it is. Says so where rules have no source.

    found: whether further rules are listed too: those that the headers propose or that the table happens to keep.
    """
    from dpsyn_core.privacy import remember

    if not schema.rules and not found:
        return
    remember(schema.ledger_name, "rules")
    if any(rule.source is None for rule in schema.rules):
        print(
            'note: runs with rules that were tried on the table are stamped NOT PRIVATE; write "source": "public" into '
            "each rule that you know without the table, whatever the counts say",
            file=sys.stderr,
        )


def print_rules(schema: Any, table: Any) -> None:
    """How many records break each rule. Raises SchemaError where rules contradict each other."""
    from dpsyn_core.schema import broken_counts, check_rules

    check_rules(schema, schema.n_records)
    if schema.rules:
        print(f"rules: {len(schema.rules)}, and records can keep them all")
    if table is not None:
        for number, (rule, count) in enumerate(broken_counts(table, schema), 1):
            print(f"rule {number} ({rule}): {count:,} of {table.num_rows:,} records break it")
