"""`dpsyn schema import|export|draft|confirm|check`: public metadata from a file, a person or (marked) the data."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from dpsyn_core.commands.common import add_named, add_reading, add_table, place
from dpsyn_core.commands.schemas.check import print_findings, run_check, run_propose_rules
from dpsyn_core.commands.schemas.draft import run_draft
from dpsyn_core.commands.schemas.unit import undecided

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
