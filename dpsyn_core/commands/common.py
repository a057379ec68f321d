"""What several sub-commands share: numbers from text, JSON on stdout, progress on a terminal."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TextIO, get_args, get_origin

from dpsyn_core.errors import UNSEEN, SettingError

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from dpsyn_core.runs import RunSpec
    from dpsyn_core.schema import Schema
    from dpsyn_core.tables import Batches, ReadForm

PRIVATE = "reads private data: for the owner only"


class Parser(argparse.ArgumentParser):
    """An argument parser that complains in one sentence."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """As of argparse."""
        super().__init__(*args, **kwargs)
        self._later: list[tuple[int, Callable[[], None]]] = []

    def later(self, declare: Callable[[], None]) -> None:
        """Declares arguments in this place, but not before this command is asked for: what makes them is heavy."""
        self._later.append((len(self._actions), declare))

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As of argparse."""
        for at, declare in reversed(self._later):  # from the last on, so that earlier places stay what they are
            before = len(self._actions)
            declare()
            self._actions[at:] = self._actions[before:] + self._actions[at:before]
        self._later.clear()
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Prints the problem and the remedy, and exits with status 2."""
        self.exit(2, f"{self.prog}: {message}; see '{self.prog} --help'\n")


class Terminal:
    """A stream on which no name from a file moves the cursor; all but writing is that of the stream itself."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Writes text. A bar that redraws itself begins with a carriage return, which means nothing further on."""
        return self._stream.write(text[:1].translate(UNSEEN) + text[1:].translate(UNSEEN | {13: " "}))

    def __getattr__(self, name: str) -> Any:
        """What the stream has."""
        return getattr(self._stream, name)


def print_json(document: Any) -> None:
    """Prints a document as JSON on stdout, in which no name moves the cursor of a terminal, and none is changed."""
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
    print(text.translate({mark: f"\\u{mark:04x}" for mark in UNSEEN}))


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
        except ValueError:  # no JSON, or a number of more digits than are read
            settings[key] = value
    return settings


def add_manifest(parser: argparse.ArgumentParser) -> None:
    """Declares --manifest, whose default is a name derived from OUT."""
    parser.add_argument("--manifest", type=Path, metavar="M.json", help="default beside OUT: OUT.manifest.json")


def place(text: str) -> Path | str:
    """A path, or the address of a database as it was written: a Path would fold its slashes."""
    return text if "://" in text else Path(text)


def table_name(args: argparse.Namespace) -> str:
    """What a table is called unless the person says otherwise; an address, which may hold a password, names nothing."""
    if args.sql_table is not None:
        return str(args.sql_table)
    from dpsyn_core.privacy import dataset_name

    return dataset_name(args.table.name) if isinstance(args.table, Path) else "query"


def point_out_names(dataset: str) -> None:
    """Says on stderr, before a run, that the ledger knows names which look like this one."""
    from dpsyn_core.privacy import Ledger, near_sentence

    others = Ledger().similar(dataset)
    if others:
        print(f"note: {near_sentence(dataset, others)}; name it with --dataset", file=sys.stderr)


def point_out_budget(epsilon: float, delta: float) -> None:
    """Says on stderr, before a run, that its budget promises next to nothing."""
    from dpsyn_core.privacy import Budget

    if caution := Budget(epsilon=epsilon, delta=delta).caution:
        print(f"warning: {caution}", file=sys.stderr)


def add_run(parser: argparse.ArgumentParser) -> None:
    """Declares what a run is: schema, budget, method and its settings, or a file that holds all of them."""
    parser.add_argument("--schema", type=Path)
    parser.add_argument("--epsilon", type=float)
    parser.add_argument("--delta", type=float, help="0 for pure DP")
    parser.add_argument("--method", help="a name from `dpsyn methods`; default the most accurate")
    parser.add_argument(
        "--questions", type=Path, metavar="Q.json", help="what will be asked of the table; default those of the schema"
    )
    parser.add_argument(
        "--questions-share",
        type=float,
        metavar="S",
        help="part of what pairs of columns would get, for questions: 0 to 1; default at most half",
    )
    parser.add_argument("--set", dest="settings", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument(
        "--settings",
        dest="from_settings",
        type=Path,
        metavar="S.json",
        help="all of the above from one file, as the app and `dpsyn plan --save-settings` write it; flags come first",
    )


EXAMPLES = {"schema": "table.schema.json", "epsilon": "1", "delta": "1e-9"}  # of what a run cannot do without


def chosen_run(args: argparse.Namespace) -> tuple[RunSpec, Schema]:
    """The run and the schema of a command that called `add_run`. A flag counts before the file of settings.

    Settings of a system that the file holds are left out where --method names another system. Raises InputError.
    """
    from dpsyn_core.runs import RunSpec
    from dpsyn_core.schema import Schema

    if args.from_settings is None:
        for name in ("schema", "epsilon", "delta"):
            if getattr(args, name) is None:
                msg = (
                    f"--{name} is missing; give it, for example --{name} {EXAMPLES[name]}, or --settings with a file "
                    "that holds all settings of a run"
                )
                raise SettingError(msg)
        spec = run_spec(args)
        point_out_plugin(spec.method)
        return spec, Schema.load(args.schema)
    from dpsyn_core.runs import RunSettings

    kept = RunSettings.load(args.from_settings)
    flags = {name: value for name in RunSpec.model_fields if (value := getattr(args, name, None)) is not None}
    fields = dict(kept.run) | flags
    inherited = kept.run.settings if fields["method"] == kept.run.method else {}
    if fields["method"] != kept.run.method or args.settings:  # then they are not what was chosen
        fields["chosen_on"] = None
    fields["settings"] = {**inherited, **parse_settings(args.settings)}
    point_out_plugin(fields["method"])
    return RunSpec.of(**fields), kept.schema if args.schema is None else Schema.load(args.schema)


def point_out_plugin(method: str) -> None:
    """Says on stderr that a system is not one of ours, and whose it is."""
    from dpsyn_core.systems import package_of

    if (package := package_of(method)) is not None:
        print(
            f"note: '{method}' is of the package {' '.join(package)} and not one of ours: that it keeps its promise is "
            "that package's word",
            file=sys.stderr,
        )


def run_spec(args: argparse.Namespace, **more: Any) -> RunSpec:
    """The run that the arguments of a command describe; each argument has the name of its field. Raises InputError.

    Args:
        args: what the command was given.
        more: fields that it does not take from a flag.
    """
    from dpsyn_core.runs import RunSpec

    given = {name: getattr(args, name, None) for name in RunSpec.model_fields}
    return RunSpec.of(**(given | {"settings": parse_settings(args.settings)} | more))


def add_reading(parser: Parser, *, name: str = "TABLE", but: Sequence[str] = ()) -> None:
    """Declares how TABLE is read: a flag for each field of `ReadForm`.

    Args:
        parser: of the command.
        name: what the command calls the table.
        but: flags that the command has already.
    """
    group = parser.add_argument_group(f"reading {name}")

    def declare() -> None:
        from dpsyn_core.tables import ReadForm

        for field, rule in ReadForm.model_fields.items():
            if field not in but:
                add_setting(group, field, rule, help=(rule.description or "").replace("TABLE", name))

    parser.later(declare)


def add_named(parser: Any, help: str, *, metavar: str = "NAME=TABLE") -> None:
    """Declares how each of several linked tables is named."""
    parser.add_argument("--table", dest="named", action="append", default=[], metavar=metavar, help=help)


def add_table(parser: argparse.ArgumentParser) -> None:
    """Declares which of several linked tables a command works on."""
    parser.add_argument(
        "--table",
        dest="one_of",
        metavar="NAME",
        help="which table of a schema of linked ones: one individual is a root with its records there",
    )


def add_setting(group: Any, field: str, rule: FieldInfo, *, help: str) -> None:
    """Declares the flag of a field of a model: of a truth value, of some words, of a number or of text."""
    flag, kinds = f"--{field.replace('_', '-')}", [k for k in get_args(rule.annotation) if k is not type(None)]
    kind = kinds[0] if kinds else rule.annotation
    if kind is bool:
        group.add_argument(flag, action="store_true", help=help)
    elif get_origin(kind) is Literal:
        group.add_argument(flag, choices=list(get_args(kind)), help=help)
    else:
        extra = rule.json_schema_extra if isinstance(rule.json_schema_extra, dict) else {}
        group.add_argument(flag, type=kind, default=rule.default, metavar=extra.get("metavar"), help=help)


def read_form(args: argparse.Namespace) -> ReadForm:
    """How the table of a command that called `add_reading` is read. Raises TableError."""
    from dpsyn_core.tables import ReadForm

    return ReadForm.of(**{field: getattr(args, field) for field in ReadForm.model_fields})


def reading_flags(args: argparse.Namespace) -> list[str]:
    """The arguments for the fields of `ReadForm` that the person set."""
    from dpsyn_core.tables import ReadForm

    return [field for field, rule in ReadForm.model_fields.items() if getattr(args, field) != rule.default]


def add_engine(parser: argparse.ArgumentParser) -> None:
    """Declares where records are counted, and how much memory that may take; see docs/reference/scale.md."""
    parser.add_argument(
        "--engine",
        choices=["memory", "stored", "spark"],
        help="where records are counted: in memory, as codes on disk, or on executors of Spark; default one of the "
        "first two by the size of the table",
    )
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


def read_input(args: argparse.Namespace) -> Any:
    """The table of a command that called `add_reading`, as pyarrow; says on stderr what was assumed."""
    from dpsyn_core.tables import open_table

    return _read(open_table(args.table, read_form(args)), args.table)


def read_named(args: argparse.Namespace, named: Mapping[str, Path | str]) -> dict[str, Any]:
    """Linked tables by name, each as `read_input` reads it."""
    from dpsyn_core.tables import naming, open_named

    opened = open_named(named, read_form(args), apart=bool(args.named))
    read: dict[int, Any] = {}
    for name, batches in opened.items():
        if id(batches) not in read:
            with naming(name):
                read[id(batches)] = _read(batches, named[name])
    return {name: read[id(batches)] for name, batches in opened.items()}


def _read(batches: Batches, table: Path | str) -> Any:
    """All records; assumptions about how to read them go to stderr, and to the owner what could not be read."""
    found = batches.whole()
    say_read(batches, table)
    return found


def say_read(batches: Batches, table: Path | str) -> None:
    """Says on stderr, once records were read, what was assumed of them and what could not be read."""
    say_assumed(batches, table)
    name = Path(table).name if isinstance(table, Path) else "the table"
    for notice in batches.odd:
        print(f"note ({PRIVATE}): {name}: {notice}", file=sys.stderr)


def read_columns(args: argparse.Namespace, names: Sequence[str]) -> tuple[Any, tuple[str, ...]]:
    """As `read_input`, for a command that needs these columns alone, and the headers of all.

    Of large tables nothing but these columns is kept in memory.
    """
    from dpsyn_core.measure import half_of_machine, memory_of
    from dpsyn_core.tables import composed, gathered, open_table

    form = read_form(args)
    batches = open_table(args.table, form)
    if form.of_database or batches.small:
        return _read(batches, args.table), batches.columns
    there = {composed(name) for name in batches.columns}  # what is not there is refused with the rest of the purchase
    there_of = [name for name in names if composed(name) in there]
    table = gathered(batches, there_of, most=memory_of(args.memory) or half_of_machine())
    say_read(batches, args.table)
    return table, batches.columns


def say_assumed(batches: Batches, table: Path | str) -> None:
    """Says on stderr what was assumed of a table, in the same words whether it is read whole or in batches."""
    name = f"{table.name}: " if isinstance(table, Path) and table.is_file() else ""
    for notice in batches.notices:
        print(f"note: {name}{notice}", file=sys.stderr)
    if batches.headless:
        hint = "the first line looks like a record; if there are no headers, give them with --header 'age,sex,income'"
        print(f"note ({PRIVATE}): {name}{hint}", file=sys.stderr)
    elif batches.header_hint is not None:
        row, taken, broken = batches.header_hint
        flags = f"--header-row {row}" + f" --header-lines {taken}" * (taken > 1) + " --multiline" * broken
        where = f"line {row}" if taken == 1 else f"lines {row} to {row + taken - 1}"
        hint = f"the headers may stand in {where}; if so, add {flags}"
        print(f"note ({PRIVATE}): {name}{hint}", file=sys.stderr)


def add_sample(parser: argparse.ArgumentParser) -> None:
    """Declares how much of large tables a report may read."""
    parser.add_argument(
        "--memory",
        metavar="4GB",
        help="what the report may use; default half of the machine's. Of larger tables, "
        "records are drawn by chance, and the report says so",
    )
    parser.add_argument("--sample", type=int, metavar="N", help="draw at most N records of each table")


def most_of(args: argparse.Namespace, schema: Any, tables: int) -> int:
    """How many records of each table a report reads, for a command that called `add_sample`."""
    from dpsyn_core.measure import half_of_machine, memory_of
    from dpsyn_core.report import most_records

    if args.sample is not None and args.sample < 1:
        msg = f"--sample is {args.sample}; it must be a number of records, at least 1"
        raise SettingError(msg)
    memory = memory_of(args.memory) or half_of_machine()
    most = most_records(memory, len(schema.attributes), tables)
    return most if args.sample is None else min(most, args.sample)


def read_sample(args: argparse.Namespace, most: int, table: Path | str, *, progress: Any) -> Batches:
    """As `read_input`, but of a table of more than `most` records so many, drawn by chance; says so on stderr."""
    import numpy as np

    from dpsyn_core.tables import at_most, open_table

    batch = at_most(open_table(table, read_form(args)), most, rng=np.random.default_rng(), progress=progress)
    say_read(batch, table)
    if batch.drawn_from is not None:
        text = (
            f"{batch.records:,} of its {batch.drawn_from:,} records were drawn by chance; --memory or --sample change"
        )
        print(f"note ({PRIVATE}): {text} how many", file=sys.stderr)
    return batch


def open_input(args: argparse.Namespace, schema: Any) -> Any:
    """The records of a run, for a command that called `add_reading` and `add_engine`: a table, or a source.

    Says on stderr what was assumed, and where the records are counted unless that is memory by default.
    """
    from dpsyn_core.measure import choose, memory_of, source_of_batches
    from dpsyn_core.tables import MAX_FILE, open_table

    memory, form = memory_of(args.memory), read_form(args)
    if args.engine == "spark":
        return open_spark(args, schema)
    if args.spark_master is not None or args.spark_conf:
        msg = "--spark-master and --spark-conf are for the engine 'spark'; add --engine spark"
        raise SettingError(msg)
    sized = form.of_database and args.engine is None and args.memory is not None
    batches = open_table(args.table, form, counted=sized)
    if args.engine is None and ((form.of_database and not sized) or batches.small):
        return _read(batches, args.table)
    choice = choose(batches, engine=args.engine, memory=memory, schema=schema)
    if choice.engine == "memory" and batches.load is not None and not form.of_database and batches.size <= MAX_FILE:
        return _read(batches, args.table)
    say_assumed(batches, args.table)
    print(f"note ({PRIVATE}): engine {choice.engine}: {choice.why}", file=sys.stderr)
    return source_of_batches(batches, choice, args.strict, memory)


def open_spark(args: argparse.Namespace, schema: Any) -> Any:
    """The records of a run that are read and counted by executors of Spark; says on stderr what that takes."""
    from dpsyn_core.measure import SparkFiles, expected, settings_of

    if args.sql_table is not None or args.sql_query is not None or args.sheet is not None:
        msg = "the engine 'spark' reads Parquet, CSV and TSV; for a table of a database use the engine 'memory'"
        raise SettingError(msg)
    if args.memory is not None:
        msg = "--memory is for the engines of this machine; name memory of executors as --spark-conf"
        raise SettingError(msg)
    conf = settings_of(args.spark_conf)
    source = SparkFiles(args.table, read_form(args), master=args.spark_master, settings=conf)
    if source.batches is not None:  # of an address, only the cluster can tell
        say_assumed(source.batches, args.table)
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
            self.stream.write(f"\r{stage:<28}[{bar:<24}] {share:4.0%}{note:<14}")
            self.stream.flush()
            self.drawn = now
        self.stage = stage

    def close(self) -> None:
        """Leaves the cursor on a fresh line."""
        if self.live and self.stage:
            self.stream.write("\n")


def signing_key(path: Path | None) -> Any:
    """The private key in a file; None where none is named. Raises InputError."""
    if path is None:
        return None
    from dpsyn_core.commands.key import open_key

    return open_key(path)
