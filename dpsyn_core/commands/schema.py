"""`dpsyn schema import|export|draft|confirm|check`: public metadata from a file, a person or (marked) the data."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dpsyn_core.commands.common import add_named, add_reading, add_table, place, read_columns, read_input, table_name

BY_FLAGS = "add --identifier COLUMN --max-records N"
OFFERED, OFFERED_DELTA = 0.5, 1e-9  # price of the values of one column, as an example
MANY_OTHERS = 0.1  # share of the cells of a column from which on it is said that they become others
IN_FILE = "write their column into the file as unit.identifier, and N as unit.max_records,"


def add(commands: Any) -> None:
    """Declares the arguments."""
    parser = commands.add_parser("schema", help="import, export, draft or check a schema")
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION", parser_class=type(parser))
    load = actions.add_parser("import", help="from a codebook, a data dictionary or a NIST-style parameters.json")
    load.description = (
        "FILE is DDI-Codebook, CSVW (also CSVW-EO), a Frictionless Table Schema, SDV metadata, a JSON Schema, what an "
        "SPSS, Stata or SAS file declares, a data dictionary (CSV, TSV, Excel), or a NIST-style parameters.json"
    )
    load.add_argument("parameters", metavar="FILE", type=Path)
    load.add_argument("--datatypes", type=Path, metavar="T.json")
    load.add_argument("--codebook", type=Path, metavar="codebook.cbk", help="what the codes mean, as IPUMS writes it")
    load.add_argument(
        "--onto",
        type=Path,
        metavar="S.json",
        help="a schema that keeps its entries of columns of which the codebook declares neither values nor a range",
    )
    load.add_argument("-o", "--out", type=Path, required=True, metavar="schema.json")
    load.add_argument("--table", metavar="NAME", help="which table is meant, where the codebook describes several")
    load.set_defaults(run=run_import)
    sent = actions.add_parser("export", help="as DDI-Codebook, CSVW, CSVW-EO, Frictionless or SDV metadata")
    sent.add_argument("schema", metavar="schema.json", type=Path)
    sent.add_argument("--format", metavar="NAME", help="ddi, csvw, csvw-eo, frictionless or sdv; default by OUT's name")
    sent.add_argument("-o", "--out", type=Path, required=True, metavar="OUT")
    add_table(sent)
    sent.set_defaults(run=run_export)
    draft = actions.add_parser("draft", help="read the data: NOT PRIVATE until each entry is confirmed as public")
    draft.add_argument("table", metavar="TABLE", type=place, nargs="?")
    draft.add_argument("-o", "--out", type=Path, required=True, metavar="schema.json")
    add_named(
        draft,
        "each of several tables that hang together by keys; which on which is read from the headers",
        metavar="NAME=FILE",
    )
    draft.add_argument(
        "--link",
        dest="links",
        action="append",
        default=[],
        metavar="CHILD.COLUMN=PARENT.KEY",
        help="of linked tables: a link that the headers do not tell, such as visits.pat=patients.id",
    )
    draft.add_argument(
        "--wave",
        metavar="COLUMN",
        help="of a panel: the column that puts the rows of --identifier in order; a schema "
        "of linked tables in one file is drafted",
    )
    draft.add_argument("--constant", action="append", default=[], metavar="COLUMN", help="of a panel: never changes")
    draft.add_argument(
        "--max-children",
        action="append",
        default=[],
        metavar="CHILD=N",
        help="of linked tables: records of one parent that are counted at most; default 10. Not from the data",
    )
    draft.add_argument(
        "--buy",
        action="append",
        default=[],
        metavar="COLUMN=KIND[:BINS]",
        help="learn this column at a price instead; KIND is categorical, integer, float or date; BINS buys bins of "
        "about equal counts too, which are seldom needed; may be repeated",
    )
    draft.add_argument(
        "--list",
        dest="lists",
        action="append",
        default=[],
        metavar="COLUMN=LIST",
        help="a public list of values for a column of text; costs nothing. LIST is a file with one value a line, "
        "iso3166 or iso3166-3 (countries), iso4217 (currencies), or beginnings of codes: icd10 (chapters), nace, "
        "isco, digits:2 (of postal codes). With --buy of the same column, values below the beginnings are bought",
    )
    draft.add_argument(
        "--written",
        action="append",
        default=[],
        metavar="COLUMN=EXAMPLE",
        help="how a bought column is written, where its cells are not plain numbers or dates as in 2024-12-31: an "
        "example that you know without the table, such as 'pay=$1,234.56' or since=31/12/2024; it is not bought",
    )
    draft.add_argument("--epsilon", type=float, help="price of what is bought")
    draft.add_argument("--delta", type=float, help="price of what is bought; above 0 for categories")
    draft.add_argument("--dataset", help="name on the ledger; default the table's file name")
    draft.add_argument("--identifier", metavar="COLUMN", help="column that names the individual of a record")
    draft.add_argument("--max-records", type=int, default=1, help="most records of an individual that are counted")
    draft.add_argument("--neighbours", choices=["add-remove", "replace"], default="add-remove")
    draft.add_argument(
        "--memory", metavar="4GB", help="what bought columns of a large table may take; default half of the machine's"
    )
    add_reading(draft)
    draft.set_defaults(run=run_draft)
    sure = actions.add_parser("confirm", help="say which entries of a draft are known from outside the data")
    sure.description = (
        "What was read from the data becomes public, by your word: the program cannot check it. Correct what is not "
        "known in the file first, such as a range that is only that of the records"
    )
    sure.add_argument("schema", metavar="schema.json", type=Path)
    sure.add_argument(
        "columns",
        metavar="COLUMN",
        nargs="*",
        help="whose kind, range or list you know from outside, of linked tables TABLE.COLUMN; none: show what was "
        "read, and confirm nothing",
    )
    sure.add_argument(
        "--unit",
        action="store_true",
        help="who is one individual too, and how many records one has at most; of linked tables keys and links",
    )
    sure.add_argument(
        "--rules", action="store_true", help="the rules too, which were chosen after rules were tried on the data"
    )
    sure.add_argument(
        "--everything",
        action="store_true",
        help="claims that all of it could have been written without the table: "
        "every value, range, list, bin and rule, and who is one individual",
    )
    sure.add_argument("-o", "--out", type=Path, metavar="OUT", help="default the same file")
    sure.set_defaults(run=run_confirm)
    add_proposals(actions)
    check = actions.add_parser("check", help="check a schema, and what of a table it does not describe")
    check.usage = "dpsyn schema check TABLE --schema schema.json [...], or dpsyn schema check schema.json [TABLE]"
    check.add_argument("first", metavar="TABLE|schema.json", type=place)
    check.add_argument("second", metavar="TABLE", type=place, nargs="?")
    check.add_argument("--schema", type=Path, metavar="schema.json", help="then the table comes first")
    add_named(check, "of linked tables, each", metavar="NAME=FILE")
    add_reading(check)
    check.set_defaults(run=run_check)


def add_proposals(actions: Any) -> None:
    """Declares the arguments of `propose-rules`."""
    rules = actions.add_parser("propose-rules", help="rules that headers, kinds and ranges let expect")
    rules.add_argument("schema", metavar="schema.json", type=Path)
    rules.add_argument(
        "table", metavar="TABLE", type=place, nargs="?", help="and rules that all of its records keep: reads the data"
    )
    rules.add_argument("--add", type=int, nargs="+", default=[], metavar="N", help="which of them to put into --out")
    rules.add_argument("-o", "--out", type=Path, metavar="schema.json", help="the schema with the rules of --add")
    add_reading(rules)
    rules.set_defaults(run=run_propose_rules)


def run_import(args: argparse.Namespace) -> None:
    """Imports without loss; says what a person should still decide."""
    from dpsyn_core.commands.trees import one_table
    from dpsyn_core.files import check_writable
    from dpsyn_core.schema import binned, import_file, undeclared

    check_writable(args.out)
    onto = None if args.onto is None else one_table("schema", args.onto)
    schema = import_file(args.parameters, args.datatypes, codebook=args.codebook, onto=onto, table=args.table)
    if schema.unit.source is None:
        schema = undecided(schema, [a.name for a in schema.attributes], how=IN_FILE)
    schema.dump(args.out)
    print(f"wrote {args.out}: {len(schema.coded)} attributes")
    for sentence in (*binned(schema), *undeclared(schema)):
        print(f"note: {sentence}")
    print_findings(schema, None)


def run_export(args: argparse.Namespace) -> None:
    """Writes a schema in a format that others read; says what of it the format does not carry."""
    from dpsyn_core.commands.trees import one_table
    from dpsyn_core.errors import SettingError
    from dpsyn_core.files import check_writable, write_bytes
    from dpsyn_core.schema import FORMATS, export

    endings = {form.ending: name for name, form in FORMATS.items()} | {".xml": "ddi"}
    chosen = args.format or next((n for e, n in endings.items() if args.out.name.lower().endswith(e)), None)
    if chosen is None:
        msg = f"the name '{args.out.name}' says no format; add --format with one of {', '.join(FORMATS)}"
        raise SettingError(msg)
    check_writable(args.out)
    schema = one_table("schema export", args.schema, args.one_of)
    raw, missing = export(schema, chosen)
    write_bytes(args.out, raw, private=bool(schema.reasons))
    print(f"wrote {args.out}: {FORMATS[chosen].title}")
    if schema.reasons:
        print(f"NOT PRIVATE, and says so inside: {schema.reasons[0]}")
    for what in missing:
        print(f"note: not carried: {what}")


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


def run_confirm(args: argparse.Namespace) -> None:
    """Makes entries public by the word of a person, who names them; says what is left."""
    from dpsyn_core.files import check_writable
    from dpsyn_core.schema import Schema, confirm

    out = args.out or args.schema
    check_writable(out)
    before = Schema.load(args.schema)
    if before.links:
        confirm_tree(args, before, out)
        return
    if not (args.columns or args.unit or args.rules or args.everything):
        print_unconfirmed(before)
        return
    made = confirm(before, args.columns, unit=args.unit or None, rules=args.rules, everything=args.everything)
    made.dump(out)
    for name in (n for n in before.from_data if n not in made.from_data):
        print(f"confirmed as public by your word: '{name}', {before[name].describe()}")
    if before.unit_from_data and not made.unit_from_data:
        unit = made.unit
        who = "each record" if unit.identifier is None else f"all records with the same '{unit.identifier}'"
        print(f"confirmed as public by your word: one individual is {who}, at most {unit.max_records} of them count")
    for rule, after in zip(before.rules, made.rules, strict=True):
        if rule.source != after.source:
            print(f"confirmed as public by your word: the rule '{rule}'")
    for reason in made.reasons:
        print(f"left: {reason}")
    print(f"wrote {out}{': NOT PRIVATE until the rest is confirmed' if made.reasons else ''}")


def confirm_tree(args: argparse.Namespace, before: Any, out: Path) -> None:
    """As `run_confirm`, for linked tables."""
    from dpsyn_core.commands.common import PRIVATE
    from dpsyn_core.schema import confirm_linked

    if not (args.columns or args.unit or args.rules or args.everything):
        print(f"what follows {PRIVATE}")
        for table in before.tables:
            for name in () if table.columns is None else table.columns.from_data:
                print(f"to check: '{table.name}.{name}', {table.columns[name].describe()}")
        if before.unit.source == "data":
            print(f"to check: keys and links: one individual is one '{before.root.name}'; {limits_of(before)}")
        print_rules_to_check(before)
        return
    made = confirm_linked(before, args.columns, unit=args.unit, rules=args.rules, everything=args.everything)
    made.dump(out)
    gone = [reason for reason in before.reasons if reason not in made.reasons]
    for reason in gone:
        print(f"confirmed as public by your word, no longer said: {reason}")
    for reason in made.reasons:
        print(f"left: {reason}")
    print(f"wrote {out}{': NOT PRIVATE until the rest is confirmed' if made.reasons else ''}")


def limits_of(schema: Any) -> str:
    """How many children each link counts at most, in words."""
    return ", ".join(f"at most {one.max_children} '{one.child}' of a '{one.parent}'" for one in schema.links)


def print_unconfirmed(schema: Any) -> None:
    """What was read from the data and nobody has confirmed, one line each."""
    from dpsyn_core.commands.common import PRIVATE

    print(f"what follows {PRIVATE}")
    for name in schema.from_data:
        print(f"to check: '{name}', {schema[name].describe()}")
    if schema.unit_from_data:
        one = schema.unit.identifier or "each record"
        print(f"to check: who is one individual: {one}, of which at most {schema.unit.max_records} records are counted")
    print_rules_to_check(schema)


def print_rules_to_check(schema: Any) -> None:
    """The rules that were chosen by looking, one line each, and what to do next."""
    for rule in (r for r in schema.rules if r.source == "data"):
        print(f"to check: the rule '{rule}', chosen after rules were tried on the data")
    print("nothing was confirmed: name the columns that are known without the data, --unit, --rules, or --everything")


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
            print(f"to check ({PRIVATE}): the {what} of '{name}'{two}", file=sys.stderr)


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


def undecided(schema: Any, headers: Sequence[str], *, how: str = BY_FLAGS) -> Any:
    """The schema; where a header names individuals, its unit is marked undecided, and a notice goes to stderr."""
    from dpsyn_core.schema import naming

    named = naming(headers)
    if not named or not schema.unit.usual:
        return schema
    print_undecided(named, how=how)
    return schema.model_copy(update={"unit": schema.unit.model_copy(update={"source": "data"})})


def print_undecided(named: Sequence[str], found: str = "", *, how: str = BY_FLAGS) -> None:
    """Prints on stderr that the unit of privacy must be declared, and how. found: what reading the values showed."""
    from dpsyn_core.schema import LADDER

    found = found or ("note: columns with a header that often names individuals: " + ", ".join(f"'{n}'" for n in named))
    limits = f"{', '.join(map(str, LADDER[:-1]))} or {LADDER[-1]}"
    print(
        f"{found}; who is one individual is not decided: if one can have several records, {how} "
        f"to protect them together, with N from what is known without the data, such as {limits} (the "
        "noise grows with it); if each record is one, say so with 'dpsyn schema confirm ... --unit'",
        file=sys.stderr,
    )


def run_buy(args: argparse.Namespace) -> None:
    """Learns the named columns through the gate; the other columns are left out of the schema."""
    from dpsyn_core.commands.common import point_out_budget, point_out_names
    from dpsyn_core.errors import SettingError
    from dpsyn_core.runs import buy_schema

    if args.epsilon is None or args.delta is None:
        msg = "--buy needs a price: give --epsilon and --delta, for example --epsilon 0.1 --delta 1e-9"
        raise SettingError(msg)
    if args.query_vouched:
        msg = "--buy has no manifest that could state your word for a query; buy from a table"
        raise SettingError(msg)
    unit = typed_unit(args)
    name = table_name(args)
    point_out_names(args.dataset or name)
    point_out_budget(args.epsilon, args.delta)
    lists = parse_lists(args.lists)
    columns = as_written(below([parse_wanted(b) for b in args.buy], lists), args.written)
    names = [w.name for w in columns] + ([] if args.identifier is None else [args.identifier])
    say_needed(columns, unit, args.epsilon, args.delta)
    table, headers = read_columns(args, names)
    bought = buy_schema(
        table, columns, name=name, epsilon=args.epsilon, delta=args.delta, unit=unit, dataset=args.dataset
    )
    schema = with_more(bought.schema, {c: one for c, one in lists.items() if c not in names}, headers)
    undecided(schema.booked_as(args.dataset or name), headers).dump(args.out)
    count = len(columns) - len(bought.failed)
    print(f"wrote {args.out}: bought {count} columns for epsilon {args.epsilon:g} at delta {args.delta:g}")
    for column, why in bought.failed.items():
        print(f"note: nothing was found of column '{column}', which is left out: {why}")
    print(f"about {bought.total} records, by a noisy count that is part of the price")


def say_needed(wanted: list[Any], unit: Any, epsilon: float, delta: float) -> None:
    """Prints on stderr, before anything is spent, how many individuals a value needs to be released at this price."""
    from dpsyn_core.measure import people_needed
    from dpsyn_core.privacy import Budget, Unit

    needed = people_needed(wanted, Unit.of(unit), Budget(epsilon=epsilon, delta=delta))
    for one in (w for w in wanted if w.kind == "categorical"):
        print(
            f"note: a value of '{one.name}' is found where about {needed[one.name]} individuals have it",
            file=sys.stderr,
        )


def parse_lists(texts: Sequence[str]) -> dict[str, Any]:
    """COLUMN=LIST as public lists by column. Raises SettingError."""
    from dpsyn_core.errors import SettingError
    from dpsyn_core.schema import code_list

    out = {}
    for text in texts:
        column, _, name = text.rpartition("=")
        if not column or not name:
            msg = f"--list got '{text}'; it needs COLUMN=LIST, as in country=iso3166 or plz=digits:2"
            raise SettingError(msg)
        out[column] = code_list(name)
    return out


def below(wanted: Sequence[Any], lists: dict[str, Any]) -> list[Any]:
    """What is bought, with the public beginnings that its values stand below. Raises SettingError."""
    from dpsyn_core.errors import SettingError

    for one in (w for w in wanted if w.name in lists and not lists[w.name].by_prefix):
        msg = f"'{one.name}' has a whole public list, which leaves nothing to buy; leave out --buy or --list of it"
        raise SettingError(msg)
    return [replace(w, above=lists[w.name].values) if w.name in lists else w for w in wanted]


def with_more(schema: Any, lists: dict[str, Any], headers: Sequence[str]) -> Any:
    """The schema with columns of public lists beside those that were bought, in the order of the table."""
    from dpsyn_core.errors import SettingError
    from dpsyn_core.schema import Schema

    absent = [c for c in lists if c not in headers]
    if absent:
        msg = f"--list names '{absent[0]}', which the table does not have; name one of its columns"
        raise SettingError(msg)
    if not lists:
        return schema
    whole = schema.document()
    whole["attributes"] += [known.attribute(column) for column, known in lists.items()]
    whole["attributes"].sort(key=lambda a: list(headers).index(a["name"]))
    return Schema.of(whole)


def typed_unit(args: argparse.Namespace) -> Any:
    """The unit of privacy as a person typed it, hence public. Raises SettingError for a limit below 1."""
    from dpsyn_core.errors import SettingError
    from dpsyn_core.schema import SchemaUnit

    if args.max_records < 1:
        msg = f"--max-records is {args.max_records}; it must be at least 1"
        raise SettingError(msg)
    return SchemaUnit(
        neighbours=args.neighbours, identifier=args.identifier, max_records=args.max_records, source="public"
    )


def parse_wanted(text: str) -> Any:
    """COLUMN=KIND[:BINS] as a Wanted. Raises SettingError."""
    from typing import cast, get_args

    from dpsyn_core.errors import SettingError
    from dpsyn_core.measure import Kind, Wanted

    column, sign, rest = text.rpartition("=")
    kind, colon, bins = rest.partition(":")
    kinds = get_args(Kind)
    if not sign or not column or kind not in kinds or (colon and not bins.isdigit()):
        msg = f"--buy got '{text}'; it needs COLUMN=KIND[:BINS] with KIND one of {', '.join(kinds)}, as in age=integer"
        raise SettingError(msg)
    typed = cast("Kind", kind)
    return Wanted(name=column, kind=typed, bins=int(bins)) if colon else Wanted(name=column, kind=typed)


def as_written(wanted: list[Any], examples: list[str]) -> list[Any]:
    """The columns to buy, with the examples of --written. Raises SettingError, or SchemaError without an example."""
    from dataclasses import replace

    from dpsyn_core.errors import SettingError
    from dpsyn_core.schema import formats_of

    forms = dict(e.split("=", 1) for e in examples if "=" in e)
    kinds = {w.name: w.kind for w in wanted}
    if len(forms) != len(examples) or not all(kinds.get(n, "categorical") != "categorical" for n in forms):
        msg = "--written needs COLUMN=EXAMPLE, once for a column that --buy names as integer, float or date"
        raise SettingError(msg)
    return [
        w
        if w.name not in forms
        else replace(w, formats=formats_of(forms[w.name]))
        if w.kind == "date"
        else replace(w, written=forms[w.name])
        for w in wanted
    ]


def point_out_others(schema: Any, table: Any, of: str = "") -> None:
    """On stderr: columns of which a draft gives many cells to the others. Arguments as those of `print_read`."""
    from dpsyn_core.commands.common import PRIVATE
    from dpsyn_core.schema import misfits
    from dpsyn_core.tables import locate

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
