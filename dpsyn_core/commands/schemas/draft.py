"""`dpsyn schema draft`: a schema read from the data, each entry of it marked as read."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from dpsyn_core.commands.common import read_input, table_name
from dpsyn_core.commands.schemas.lists import parse_lists
from dpsyn_core.commands.schemas.purchase import run_buy
from dpsyn_core.commands.schemas.unit import print_undecided, typed_unit

OFFERED, OFFERED_DELTA = 0.5, 1e-9  # price of the values of one column, as an example
MANY_OTHERS = 0.1  # share of the cells of a column from which on it is said that they become others


def run_draft(args: argparse.Namespace) -> None:
    """Drafts from the data, every entry marked as read from it; or buys the columns that --buy names."""
    from dpsyn_core.errors import SettingError
    from dpsyn_core.files import check_writable
    from dpsyn_core.schema import drafted, propose_rules, rounded, with_list

    check_writable(args.out)
    if args.named:
        run_draft_linked(args)
        return
    if args.table is None or args.links or args.max_children:
        msg = "draft needs a TABLE, or linked ones as --table NAME=FILE, to which --link and --max-children belong"
        raise SettingError(msg)
    if args.buy:
        run_buy(args)
        return
    if args.epsilon is not None or args.delta is not None or args.written:
        msg = "--epsilon, --delta and --written are about what --buy names; add --buy COLUMN=KIND, or leave them out"
        raise SettingError(msg)
    table = read_input(args)
    unit = typed_unit(args)
    schema, why = drafted(table, table_name(args), identifier=args.identifier)
    if why is not None and unit.usual:  # nobody has said that each record is one individual
        unit = unit.model_copy(update={"source": "data"})
    schema = rounded(schema, table, besides=args.wave).model_copy(update={"unit": unit})
    for column, known in parse_lists(args.lists).items():
        schema = with_list(schema, column, known)
    if args.wave is not None or args.constant:
        dump_panel(args, schema)
        return
    (schema if args.dataset is None else schema.booked_as(args.dataset)).dump(args.out)
    print_drafted(schema, why)
    point_out_others(schema, table)
    point_out_series(schema, table)
    point_out_maps(schema, table)
    point_out_rules(len(propose_rules(schema)))
    print(
        f"wrote {args.out}: NOT PRIVATE until a person confirms each entry: dpsyn schema confirm {args.out} COLUMN ..."
    )


def dump_panel(args: argparse.Namespace, schema: Any) -> None:
    """Writes the draft as that of a panel: persons, and their rows in the order of waves."""
    from dpsyn_core.errors import SettingError
    from dpsyn_core.schema import panel_schema, with_keys

    if args.wave is None or args.identifier is None:
        msg = "a panel needs --identifier, the column that names a person, and --wave, which puts its rows in order"
        raise SettingError(msg)
    columns = with_keys(schema, [args.identifier])
    if columns is None:
        msg = f"the table has no column but '{args.identifier}' that is synthesized; a panel needs a wave and values"
        raise SettingError(msg)
    panel = panel_schema(
        columns,
        person=args.identifier,
        wave=args.wave,
        constant=args.constant,
        max_children=None if args.max_records == 1 else args.max_records,
    )
    unit = panel.unit.model_copy(update={"neighbours": args.neighbours})
    panel.model_copy(update={"unit": unit, "dataset": args.dataset}).dump(args.out)
    print_read(columns)
    print(f"panel: one individual is one '{args.identifier}' with at most {panel.links[0].max_children} rows")
    print(f"wrote {args.out}: NOT PRIVATE until each entry's source is changed from 'data' to 'public' by a person")


def run_draft_linked(args: argparse.Namespace) -> None:
    """As `run_draft`, for tables that hang together."""
    from dpsyn_core.commands.common import read_named
    from dpsyn_core.errors import SettingError
    from dpsyn_core.runs import named_tables
    from dpsyn_core.schema import draft_linked, propose_linked_rules, rounded_linked

    given = [("--buy", args.buy), ("--identifier", args.identifier), ("TABLE", args.table)]
    refused = next((name for name, value in given if value), None)
    if refused is not None:
        msg = f"linked tables do not take {refused}; leave it out"
        raise SettingError(msg)
    most = {}
    for text in args.max_children:
        child, _, number = text.rpartition("=")
        if not child or not number.isdigit():
            msg = f"--max-children got '{text}'; it needs CHILD=N, as in visits=20"
            raise SettingError(msg)
        most[child] = int(number)
    links = {}
    for text in args.links:
        low, _, high = text.partition("=")
        (child, _, column), (parent, _, key) = low.partition("."), high.partition(".")
        if not all((child, column, parent, key)):
            msg = f"--link got '{text}'; it needs CHILD.COLUMN=PARENT.KEY, as in visits.pat=patients.id"
            raise SettingError(msg)
        links[child] = (column, parent, key)
    read = read_named(args, named_tables(args.named, None))
    schema = rounded_linked(draft_linked(read, args.dataset, links=links, max_children=most), read)
    schema.model_copy(update={"unit": schema.unit.model_copy(update={"neighbours": args.neighbours})}).dump(args.out)
    for link, hanging in zip(schema.links, schema.hanging, strict=True):
        key = f"{link.child}.{link.key} = {link.parent}.{schema[link.parent].key}"
        of_root = "" if hanging.max_children == link.max_children else f", {hanging.max_children} of a root"
        print(f"link: {key}, at most {link.max_children} of a parent{of_root}")
        if link.roles is not None:
            once = ", ".join(link.roles.single)
            print(f"roles: {link.child}.{link.roles.column}, at most one of each of a parent: {once} (by their names)")
    for table in schema.tables:
        print_read(table.columns, f"{table.name}.")
        point_out_others(table.columns, read[table.name], f"{table.name}.")
    point_out_rules(len(propose_linked_rules(schema)))
    print(f"wrote {args.out}: NOT PRIVATE until each entry's source is changed from 'data' to 'public' by a person")


def print_drafted(schema: Any, asked: Any) -> None:
    """On stderr: what has to be checked of each column; and why somebody has to say who is one individual."""
    from dpsyn_core.commands.common import PRIVATE
    from dpsyn_core.schema import candidates

    print_read(schema)
    if asked is not None:
        print_undecided(candidates(schema), f"note ({PRIVATE}): {asked}" if asked.seen else "")


CENTURIES = "; its years of two digits are read as 1969 to 2068: write four digits in the file if some are earlier"


def print_read(schema: Any, of: str = "") -> None:
    """On stderr: which columns of a draft are left out and why, and what has to be checked of the others.

    schema: of one table; None where it has keys alone. of: the name of the table and a full stop, of linked ones.
    """
    from dpsyn_core.commands.common import PRIVATE
    from dpsyn_core.schema import OF_MANY, naming

    for attribute in () if schema is None else schema.attributes:
        if attribute.kind == "identifier" and attribute.source == "public":  # by a person's word
            continue
        name = f"{of}{attribute.name}"
        if not attribute.released:
            why = f": {attribute.description}" if attribute.description else ""
            print(f"note ({PRIVATE}): column '{name}' is left out{why}", file=sys.stderr)
            if not of and attribute.description in OF_MANY and not naming([attribute.name]):  # no values of persons
                print_offers(attribute.name, schema.unit)
        else:
            what = "list of values" if attribute.listed else "range"
            what = "beginnings of the values" if getattr(attribute, "by_prefix", False) else what
            ways = getattr(attribute, "formats", ())[:2]
            two = f"; its dates are written as {' and '.join(ways)}, and come out as the first" if len(ways) > 1 else ""
            short = CENTURIES if any("%y" in way for way in ways) else ""
            utc = "; its times are in UTC" if getattr(attribute, "zoned", False) else ""
            print(f"to check ({PRIVATE}): the {what} of '{name}'{two}{short}{utc}", file=sys.stderr)


def print_offers(column: str, unit: Any) -> None:
    """On stderr: three ways to keep a column of many values, with their prices; from public numbers alone."""
    from dpsyn_core.commands.common import PRIVATE
    from dpsyn_core.measure import Wanted, people_needed
    from dpsyn_core.privacy import Budget, Unit

    wanted = [Wanted(name=column, kind="categorical")]
    needed = people_needed(wanted, Unit.of(unit), Budget(epsilon=OFFERED, delta=OFFERED_DELTA))[column]
    price = f"--epsilon {OFFERED:g} --delta {OFFERED_DELTA:g}"
    print(
        f"note ({PRIVATE}): to keep it, a public list costs nothing (--list '{column}=FILE', or iso3166, iso4217); "
        f"neither do beginnings of codes (--list '{column}=digits:2', or icd10, nace, isco); values that about "
        f"{needed} individuals have, also below beginnings, cost epsilon {OFFERED:g} "
        f"(--buy '{column}=categorical' {price})",
        file=sys.stderr,
    )


def point_out_others(schema: Any, table: Any, of: str = "") -> None:
    """On stderr: columns of which a draft gives many cells to the others. Arguments as those of `print_read`."""
    from dpsyn_core.commands.common import PRIVATE
    from dpsyn_core.schema import misfits, readable
    from dpsyn_core.tables import locate

    table = readable(table)  # what could not be read is told apart
    listed = [] if schema is None else [a.name for a in schema.coded if a.listed and a.other]
    for m in misfits(schema, table.select(locate(table.column_names, listed))) if listed else ():
        if m.goes == "other" and m.count > MANY_OTHERS * table.num_rows:
            print(
                f"note ({PRIVATE}): {m.count:,} of {table.num_rows:,} cells of column '{of}{m.about}' become (other), "
                "for few records share each of them: group them, or add to its list in the draft what you know",
                file=sys.stderr,
            )


def point_out_series(schema: Any, table: Any) -> None:
    """Asks who is one individual where rows follow each other in equal steps of time."""
    from dpsyn_core.schema import series

    times = series(schema, table)
    if times is None or schema.unit.identifier is not None:
        return
    of = "one thing" if not times.key else f"{times.keys:,} values of '{times.key}'"
    who = "1 individual" if times.keys == 1 else f"{times.keys:,} individuals"
    print(
        f"note: {times.rows:,} rows of {of} follow each other in equal steps of '{times.date}': are they {who}, or "
        f"{times.rows:,}? The draft says {times.rows:,}, and a synthetic table of as many has no course of time; else "
        "name a column with --identifier"
    )


def point_out_maps(schema: Any, table: Any) -> None:
    """Asks of columns that name others whether that is public."""
    from dpsyn_core.schema import public_maps

    for m in public_maps(schema, table):
        print(
            f"note (reads private data: for the owner only): {m.values:,} values of '{m.of}' name {m.named:,} of "
            f"'{m.column}': is this public? As a rule it costs no privacy, and no record breaks it; 'dpsyn schema "
            "propose-rules SCHEMA TABLE' writes it"
        )


def point_out_rules(proposed: int) -> None:
    """Says how many rules the headers propose, where they do."""
    if proposed:
        what = "1 rule" if proposed == 1 else f"{proposed} rules"
        print(f"note: the headers propose {what} on records; see with 'dpsyn schema propose-rules'")
