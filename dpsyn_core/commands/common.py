"""What several sub-commands share: numbers from text, JSON on stdout, progress on a terminal."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from dpsyn_core.errors import SettingError

if TYPE_CHECKING:
    from dpsyn_core.runs.spec import RunSpec

PRIVATE = "reads private data: for the owner only"


def print_json(document: Any) -> None:
    """Prints a document as JSON on stdout."""
    print(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))


def parse_settings(pairs: list[str]) -> Mapping[str, Any]:
    """Turns `key=value` into settings; a value is read as JSON where it is JSON, else as text."""
    settings: dict[str, Any] = {}
    for pair in pairs:
        key, sign, value = pair.partition("=")
        if not sign or not key:
            msg = f"--set got '{pair}'; it needs the form key=value, for example --set effort=2"
            raise SettingError(msg)
        if key in settings:
            msg = f"--set names '{key}' twice; give each setting once"
            raise SettingError(msg)
        try:
            settings[key] = json.loads(value)
        except json.JSONDecodeError:
            settings[key] = value
    return settings


def add_manifest(parser: argparse.ArgumentParser) -> None:
    """Declares --manifest, which has a name of its own beside OUT unless one is given."""
    parser.add_argument("--manifest", type=Path, metavar="M.json", help="default beside OUT: OUT.manifest.json")


def place(text: str) -> Path | str:
    """A path, or the address of a database as it was written: a Path would fold its slashes."""
    return text if "://" in text else Path(text)


def table_name(args: argparse.Namespace) -> str:
    """What a table is called unless the person says otherwise; an address, which may hold a password, names nothing."""
    if args.sql_table is not None:
        return str(args.sql_table)
    from dpsyn_core.privacy.names import dataset_name

    return dataset_name(args.table.name) if isinstance(args.table, Path) else "query"


def point_out_names(dataset: str) -> None:
    """Says on stderr, before a run, that the ledger knows names which look like this one."""
    from dpsyn_core.privacy.ledger import Ledger
    from dpsyn_core.privacy.names import near_sentence

    others = Ledger().similar(dataset)
    if others:
        print(f"note: {near_sentence(dataset, others)}; name it with --dataset", file=sys.stderr)


def add_run(parser: argparse.ArgumentParser) -> None:
    """Declares what a run is: schema, budget, method and its settings."""
    parser.add_argument("--schema", type=Path, required=True)
    parser.add_argument("--epsilon", type=float, required=True)
    parser.add_argument("--delta", type=float, required=True, help="0 for pure DP")
    parser.add_argument("--method", help="a name from `dpsyn methods`; default the most accurate")
    parser.add_argument(
        "--questions", type=Path, metavar="Q.json", help="what will be asked of the table; default those of the schema"
    )
    parser.add_argument(
        "--questions-share", type=float, metavar="S",
        help="part of what pairs of columns would get, for questions: 0 to 1; default at most half",
    )  # fmt: skip
    parser.add_argument("--set", dest="settings", action="append", default=[], metavar="KEY=VALUE")


def run_spec(args: argparse.Namespace, **more: Any) -> RunSpec:
    """The run that the arguments of a command describe, each field under its own name. Raises InputError.

    Args:
        args: what the command was given.
        more: fields that it does not take from a flag.
    """
    from dpsyn_core.runs.spec import RunSpec

    given = {name: getattr(args, name, None) for name in RunSpec.model_fields}
    return RunSpec.of(**(given | {"settings": parse_settings(args.settings)} | more))


def add_reading(parser: argparse.ArgumentParser, *, name: str = "TABLE", delimiter: bool = True) -> None:
    """Declares how TABLE is read: corrections of what is detected, and tables that live in a database.

    Args:
        parser: of the command.
        name: what the command calls the table.
        delimiter: False for a command that has that argument already.
    """
    group = parser.add_argument_group(f"reading {name}")
    if delimiter:
        group.add_argument("--delimiter", help="one character; default by the header (comma, semicolon, tab, pipe)")
    group.add_argument("--encoding", help="default UTF-8, or what the header line says (UTF-16, Windows-1252)")
    group.add_argument("--decimal", choices=[".", ","], help="decimal mark; default either, unless commas separate")
    group.add_argument("--sheet", metavar="NAME", help="of an Excel file; default the first")
    group.add_argument(
        "--header-row", type=int, default=1, metavar="N",
        help="line or row of the headers where a title stands above, blank ones not counted; default the first",
    )  # fmt: skip
    group.add_argument(
        "--header", metavar="LINE",
        help="the headers, for a file that has none, with its delimiter between them: 'age,sex,income'. Its name says "
        "what it is (.xlsx, .gz, else text), and its encoding is UTF-8 unless --encoding is given",
    )  # fmt: skip
    group.add_argument(
        "--multiline",
        action="store_true",
        help="quoted cells may hold line ends; then a quotation mark left open swallows the records after it",
    )
    group.add_argument(
        "--strict",
        action="store_true",
        help="refuse a table with cells that cannot be read or that the schema has no place for; "
        "a refusal is an exact answer about private data, for the owner only",
    )
    group.add_argument("--sql-table", metavar="NAME", help=f"{name} is a DuckDB, SQLite or PostgreSQL database")
    group.add_argument(
        "--sql-query", metavar="SELECT",
        help="the same, with a query instead of a table; it must read each record by itself: SELECT columns FROM one "
        "table WHERE a condition on that record",
    )  # fmt: skip
    group.add_argument(
        "--query-vouched", action="store_true",
        help="you give your word that the query, or the view, reads each record by itself, which is then not checked; "
        "the manifest says so",
    )  # fmt: skip


def add_engine(parser: argparse.ArgumentParser) -> None:
    """Declares where records are counted, and how much memory that may take; see docs/scale.md."""
    parser.add_argument(
        "--engine", choices=["memory", "stored", "spark"],
        help="where records are counted: in memory, as codes on disk, or on executors of Spark; default one of the "
        "first two by the size of the table",
    )  # fmt: skip
    parser.add_argument("--memory", metavar="4GB", help="what the run may use; default half of the machine's memory")
    parser.add_argument(
        "--spark-master", metavar="URL", help="of a cluster, or local[2]; default what spark-submit or its settings say"
    )
    parser.add_argument(
        "--spark-conf", action="append", default=[], metavar="KEY=VALUE", help="a setting of Spark; may be repeated"
    )


def add_incomes(parser: argparse.ArgumentParser) -> None:
    """Declares which attributes the scores of incomes are about."""
    parser.add_argument("--income", metavar="NAME", help="attribute that is an income; default found by its name")
    parser.add_argument("--groups", metavar="NAME", help="attribute whose values are compared by income")
    parser.add_argument("--split", metavar="NAME[:A,B]", help="attribute, and two values of it, of the pay gap")
    parser.add_argument("--not-applicable", type=float, metavar="X", help="incomes from this value on do not count")


def read_input(args: argparse.Namespace, table: Path | str | None = None) -> Any:
    """The table of a command that called `add_reading`, as pyarrow; says on stderr what was assumed.

    Args:
        args: what the command was given.
        table: where it is; default `args.table`.
    """
    table = args.table if table is None else table
    if args.sql_table is not None or args.sql_query is not None:
        from dpsyn_core.tables.databases import Database, read_database

        return read_database(
            Database.of(table), table=args.sql_table, query=args.sql_query, vouched=args.query_vouched
        )  # fmt: skip
    refuse_word(args)
    from dpsyn_core.tables.read import read

    got = read(
        table, delimiter=args.delimiter, encoding=args.encoding, decimal=args.decimal, sheet=args.sheet,
        multiline=args.multiline, strict=args.strict, header_row=args.header_row, header=args.header,
    )  # fmt: skip
    say_assumed(got.notices, table)
    if got.headless:
        hint = "the first line looks like a record; if there are no headers, give them with --header 'age,sex,income'"
        print(f"note ({PRIVATE}): {Path(table).name}: {hint}", file=sys.stderr)
    elif got.header_hint is not None and args.header_row == 1:
        hint = f"the headers may stand in line {got.header_hint}; if so, add --header-row {got.header_hint}"
        print(f"note ({PRIVATE}): {Path(table).name}: {hint}", file=sys.stderr)
    for notice in got.odd:
        print(f"note ({PRIVATE}): {Path(table).name}: {notice}", file=sys.stderr)
    return got.table


def refuse_word(args: argparse.Namespace) -> None:
    """A word is given for a query of a database alone. Raises SettingError."""
    if args.query_vouched and args.sql_table is None and args.sql_query is None:
        msg = "--query-vouched is for a query or a view of a database; leave it out, or add --sql-query or --sql-table"
        raise SettingError(msg)


def read_columns(args: argparse.Namespace, names: Sequence[str]) -> Any:
    """As `read_input`, for a command that needs these columns alone; of large tables nothing else is kept in memory."""
    from dpsyn_core.sources.choose import half_of_machine, memory_of
    from dpsyn_core.tables.batches import gathered
    from dpsyn_core.tables.headers import composed
    from dpsyn_core.tables.places import place_batches
    from dpsyn_core.tables.sampling import SMALL

    file = isinstance(args.table, Path) and args.table.is_file()
    sql = args.sql_table is not None or args.sql_query is not None
    refuse_word(args)
    if sql or args.header_row != 1 or (file and args.table.stat().st_size <= SMALL):
        return read_input(args)
    batches = place_batches(args.table, text_form(args), sheet=args.sheet)
    there = {composed(name) for name in batches.columns}  # what is not there is refused with the rest of the purchase
    known = [name for name in names if composed(name) in there]
    found = gathered(batches, known, most=memory_of(args.memory) or half_of_machine())
    say_assumed(batches.notices, args.table)
    for notice in batches.odd:
        print(f"note ({PRIVATE}): {notice}", file=sys.stderr)
    return found


def say_assumed(notices: Sequence[str], table: Path | str) -> None:
    """Says on stderr what was assumed of a table, in the same words whether it is read whole or in batches."""
    name = f"{table.name}: " if isinstance(table, Path) and table.is_file() else ""
    for notice in notices:
        print(f"note: {name}{notice}", file=sys.stderr)


def text_form(args: argparse.Namespace) -> Any:
    """What a command that called `add_reading` was told of delimited text."""
    from dpsyn_core.tables.text_batches import TextForm

    return TextForm(
        delimiter=args.delimiter, encoding=args.encoding, decimal=args.decimal, multiline=args.multiline,
        strict=args.strict, header=args.header,
    )  # fmt: skip


def add_sample(parser: argparse.ArgumentParser) -> None:
    """Declares how much of large tables a report may read."""
    parser.add_argument(
        "--memory", metavar="4GB", help="what the report may use; default half of the machine's. Of larger tables, "
        "records are drawn by chance, and the report says so",
    )  # fmt: skip
    parser.add_argument("--sample", type=int, metavar="N", help="draw at most N records of each table")


def most_of(args: argparse.Namespace, schema: Any, tables: int) -> int:
    """How many records of each table a report reads, for a command that called `add_sample`."""
    from dpsyn_core.report.inputs import most_records
    from dpsyn_core.sources.choose import half_of_machine, memory_of

    if args.sample is not None and args.sample < 1:
        msg = f"--sample is {args.sample}; it must be a number of records, at least 1"
        raise SettingError(msg)
    memory = memory_of(args.memory) or half_of_machine()
    most = most_records(memory, len(schema.attributes), tables)
    return most if args.sample is None else min(most, args.sample)


def read_sample(args: argparse.Namespace, most: int, table: Path | str, *, progress: Any) -> Any:
    """As `read_input`, but of a table of more than `most` records so many, drawn by chance; says so on stderr."""
    import numpy as np

    from dpsyn_core.tables.sampling import drawn, read_or_sample

    rng = np.random.default_rng()
    refuse_word(args)
    if args.sql_table is not None or args.sql_query is not None:
        found = drawn(read_input(args, table), most, rng=rng)
    else:
        form = text_form(args)
        found, notices, odd = read_or_sample(
            table, most, form, sheet=args.sheet, header_row=args.header_row, rng=rng, progress=progress
        )  # fmt: skip
        say_assumed(notices, table)
        for notice in odd:
            print(f"note ({PRIVATE}): {Path(table).name}: {notice}", file=sys.stderr)
    if found.of is not None:
        said = f"{found.table.num_rows:,} of its {found.of:,} records were drawn by chance; --memory or --sample change"
        print(f"note ({PRIVATE}): {said} how many", file=sys.stderr)
    return found


def open_input(args: argparse.Namespace, schema: Any) -> Any:
    """The records of a run, for a command that called `add_reading` and `add_engine`: a table, or a source.

    Says on stderr what was assumed, and where the records are counted unless that is memory by default.
    """
    from dpsyn_core.sources.choose import choose, memory_of, source_of_batches
    from dpsyn_core.tables.database_batches import database_batches
    from dpsyn_core.tables.databases import Database
    from dpsyn_core.tables.places import place_batches
    from dpsyn_core.tables.read import MAX_FILE
    from dpsyn_core.tables.sampling import SMALL

    memory = memory_of(args.memory)
    refuse_word(args)
    if args.engine == "spark":
        return open_spark(args, schema)
    if args.spark_master is not None or args.spark_conf:
        msg = "--spark-master and --spark-conf are for the engine 'spark'; add --engine spark"
        raise SettingError(msg)
    file = isinstance(args.table, Path) and args.table.is_file()
    sql = args.sql_table is not None or args.sql_query is not None
    if sql and args.engine is None and args.memory is None:
        return read_input(args)
    if not sql and file and args.engine is None and args.table.stat().st_size <= SMALL:
        return read_input(args)
    if args.header_row != 1 and file and not sql and args.engine != "stored":
        return read_input(args)
    _refuse_header_row(args)
    form = text_form(args)
    if sql:
        batches = database_batches(
            Database.of(args.table), table=args.sql_table, query=args.sql_query, vouched=args.query_vouched,
            counted=args.engine is None,
        )  # fmt: skip
    else:
        batches = place_batches(args.table, form, sheet=args.sheet)
    choice = choose(batches, engine=args.engine, memory=memory, schema=schema)
    if file and not sql and choice.engine == "memory" and args.table.stat().st_size <= MAX_FILE:
        return read_input(args)
    say_assumed(batches.notices, args.table)
    print(f"note ({PRIVATE}): engine {choice.engine}: {choice.why}", file=sys.stderr)
    return source_of_batches(batches, choice, args.strict, memory)


def _refuse_header_row(args: argparse.Namespace) -> None:
    """Tables that are read piece by piece have their headers first. Raises SettingError."""
    if args.header_row != 1:
        msg = f"--header-row {args.header_row} is for files that are read whole; remove the lines above the headers"
        raise SettingError(msg)


def open_spark(args: argparse.Namespace, schema: Any) -> Any:
    """The records of a run that are read and counted by executors of Spark; says on stderr what that takes."""
    _refuse_header_row(args)
    from dpsyn_core.sources.spark.expected import expected
    from dpsyn_core.sources.spark.files import SparkFiles

    if args.sql_table is not None or args.sql_query is not None or args.sheet is not None:
        msg = "the engine 'spark' reads Parquet, CSV and TSV; for a table of a database use the engine 'memory'"
        raise SettingError(msg)
    if args.memory is not None:
        msg = "--memory is for the engines of this machine; name memory of executors as --spark-conf"
        raise SettingError(msg)
    form = text_form(args)
    conf = {}
    for pair in args.spark_conf:
        name, sign, value = pair.partition("=")
        if not sign or not name.startswith("spark."):
            msg = f"--spark-conf got '{name}'; it needs the form spark.name=value"
            raise SettingError(msg)
        conf[name] = value
    source = SparkFiles(args.table, form, master=args.spark_master, settings=conf)
    if source.batches is not None:  # of an address, only the cluster can tell
        say_assumed(source.batches.notices, args.table)
        print(f"note ({PRIVATE}): engine spark: {expected(source.batches, schema)}", file=sys.stderr)
    return source


def say_odd(source: Any, name: str) -> None:
    """Says on stderr what a source could not read; only those that read in batches know it after the run alone."""
    for sentence in getattr(getattr(source, "batches", None), "odd", ()):
        print(f"note ({PRIVATE}): {name}: {sentence}", file=sys.stderr)


class TerminalProgress:
    """A bar that redraws itself on a terminal; elsewhere one plain line when a stage begins."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = sys.stderr if stream is None else stream
        self.live = self.stream.isatty()
        self.stage = ""
        self.drawn = 0.0

    def __call__(self, stage: str, done: float, total: float, value: float | None = None) -> None:
        """Draws at most ten times a second."""
        now = time.monotonic()
        fresh = stage != self.stage
        if not self.live:
            if fresh:
                print(stage, file=self.stream, flush=True)
        elif fresh or done >= total or now - self.drawn > 0.1:
            if fresh and self.stage:
                self.stream.write("\n")
            share = min(1.0, done / total) if total > 0 else 1.0
            bar = "#" * round(24 * share)
            note = "" if value is None else f"  {value:.4g}"
            self.stream.write(f"\r{stage:<28}[{bar:<24}] {share:4.0%}{note}\x1b[K")
            self.stream.flush()
            self.drawn = now
        self.stage = stage

    def close(self) -> None:
        """Leaves the cursor on a fresh line."""
        if self.live and self.stage:
            self.stream.write("\n")
