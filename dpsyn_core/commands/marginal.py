"""`dpsyn marginal`: any marginals of a private table, by PriView; more of them from a release, for nothing."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsyn_core.commands.common import add_engine, add_manifest, add_reading, add_table, place, reading_flags

if TYPE_CHECKING:
    from dpsyn_core.estimate import Reconstruction

SUFFIXES = (".csv", ".parquet", ".json")
NEEDED = ("table", "schema", "epsilon", "delta")  # by a release from a private table
# what pays for a private table and, with the flags of how it is read, would do nothing with --from
SPENDING = ("table", "epsilon", "delta", "dataset", "measurements", "engine", "memory", "spark_master", "spark_conf")


def add(commands: Any) -> None:
    """Declares the arguments."""
    parser = commands.add_parser(
        "marginal",
        help="release any marginals by PriView, without records; or read more off a release, for nothing",
        description="With TABLE: measures views of a private table once, charges the ledger, and reads every marginal "
        "off them. With --from: reads marginals off what any run released (a file of `dpsyn synth --measurements` or "
        "of this command); no private table is read and nothing is charged. --manifest is then the one of that run: "
        "the file is held against it, and what it promises stands in a JSON output.",
    )
    parser.add_argument(
        "table",
        metavar="TABLE",
        type=place,
        nargs="?",
        help="CSV, TSV (also .gz), Parquet or Excel; a folder or 'pattern*'",
    )
    parser.add_argument(
        "--from",
        dest="released",
        type=Path,
        metavar="X.json.gz",
        help="released marginals of any system, instead of a private table",
    )
    parser.add_argument("--schema", type=Path, help="of the private table")
    parser.add_argument("--epsilon", type=float)
    parser.add_argument("--delta", type=float, help="0 for pure DP")
    parser.add_argument(
        "--attributes",
        action="append",
        required=True,
        metavar="A,B,...",
        help="attributes of one marginal; repeat it for more, which cost nothing further",
    )
    parser.add_argument(
        "--set",
        dest="settings",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="of the method priview; with --from: reconstruction, nonnegativity, rounds or sweeps",
    )
    parser.add_argument("--dataset", help="name on the ledger; default the one that the schema keeps")
    parser.add_argument("-o", "--out", type=Path, required=True, metavar="OUT.(csv|parquet|json)")
    add_manifest(parser)
    parser.add_argument(
        "--measurements",
        type=Path,
        metavar="X.json.gz",
        help="where the released views go, for --from; default beside OUT: OUT.measurements.json.gz",
    )
    add_engine(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress")
    add_reading(parser)
    add_table(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Spends, or reads what was paid for already."""
    from dpsyn_core.errors import OutputError

    queries = [[n.strip() for n in names.split(",")] for names in args.attributes]
    many = len(queries) > 1
    if args.out.suffix.lower() not in SUFFIXES or (many and args.out.suffix.lower() != ".json"):
        allowed = ".json, for there are several marginals" if many else " or ".join(SUFFIXES)
        msg = f"the output '{args.out.name}' must end with {allowed}"
        raise OutputError(msg)
    check_arguments(args)
    (spend if args.released is None else reread)(args, queries)


def check_arguments(args: argparse.Namespace) -> None:
    """Raises SettingError for arguments that are missing, or that would do nothing."""
    from dpsyn_core.errors import SettingError

    def flag(name: str) -> str:
        return "TABLE" if name == "table" else f"--{name.replace('_', '-')}"

    lacking = [flag(n) for n in NEEDED if getattr(args, n) is None]
    idle = [flag(n) for n in SPENDING if getattr(args, n) not in (None, [])]
    idle += [flag(n) for n in reading_flags(args)]
    if args.released is None and lacking:
        msg = (
            f"{' and '.join(lacking)} {'are' if len(lacking) > 1 else 'is'} missing: a release from a private table "
            "needs TABLE, --schema, --epsilon and --delta; one from a file of released marginals needs --from"
        )
        raise SettingError(msg)
    if args.released is not None and idle:
        msg = f"{idle[0]} does nothing with --from, which reads no private table and charges nothing; leave it out"
        raise SettingError(msg)


def spend(args: argparse.Namespace, queries: list[list[str]]) -> None:
    """Checks all that can be checked, then spends, then writes all files atomically."""
    from dpsyn_core.commands.common import TerminalProgress, open_input, point_out_names, read_form, run_spec, say_odd
    from dpsyn_core.commands.trees import one_table
    from dpsyn_core.estimate import pack_measurements
    from dpsyn_core.files import measurements_beside
    from dpsyn_core.progress import silent
    from dpsyn_core.runs import MARGINALS_METHOD, Places, release_marginals, write_release

    spec, schema = run_spec(args, method=MARGINALS_METHOD), one_table("marginal", args.schema, args.one_of)
    views = args.measurements or measurements_beside(args.out)
    facts = spec.facts(schema, query_vouched=read_form(args).query_vouched)
    places = Places.of(args.out, args.manifest, measurements=views, private=not facts.reasons)
    places.check(args.table, args.schema)
    point_out_names(args.dataset or schema.ledger_name)
    progress = silent if args.quiet else TerminalProgress()
    table = open_input(args, schema)
    release = release_marginals(table, schema, queries, spec, facts=facts, strict=args.strict, progress=progress)
    say_odd(table, str(args.table))
    if isinstance(progress, TerminalProgress):
        progress.close()
    packed = pack_measurements(release.released, schema=schema)
    manifest = write_release(release, places, measurements=packed)
    if not manifest.private:
        why = "; ".join(manifest.not_private_because)
        print(f"NOT PRIVATE: {why}; the marginals are in {places.outs[0].name}", file=sys.stderr)
    elif not args.quiet:
        spent = (
            f"spent epsilon {manifest.epsilon:g}; more marginals are free: dpsyn marginal --from {places.measurements}"
        )
        print(f"wrote {named(release.found)} to {places}; {spent}", file=sys.stderr)


def reread(args: argparse.Namespace, queries: list[list[str]]) -> None:
    """Reads marginals off a file of released ones, and writes them; there is no ledger here."""
    from dpsyn_core.commands.common import parse_settings
    from dpsyn_core.commands.trees import one_table
    from dpsyn_core.errors import OutputError
    from dpsyn_core.estimate import load_released
    from dpsyn_core.files import check_writable, not_private_name, same_path, write_bytes
    from dpsyn_core.runs import as_document, as_table, read_marginals, run_of
    from dpsyn_core.tables import write_table

    released = load_released(
        args.released, None if args.schema is None else one_table("marginal", args.schema, args.one_of)
    )
    schema = released.schema
    manifest = None if args.manifest is None else run_of(args.released, args.manifest, schema)
    private = not schema.reasons if manifest is None else manifest.private
    out = args.out if private else not_private_name(args.out)
    if any(same_path(out, p) for p in (args.released, args.manifest, args.schema)):
        msg = f"'{out.name}' is named twice, as an input and as the output; give every file its own name"
        raise OutputError(msg)
    check_writable(out)
    tables = read_marginals(released.measurements, schema, queries, settings=parse_settings(args.settings))
    if out.suffix.lower() == ".json":
        text = json.dumps(as_document(tables, schema, run=manifest), ensure_ascii=False)
        write_bytes(out, text.encode())
    else:
        write_table(as_table(tables[0], schema), out)
    if not args.quiet or not private:
        mark = "" if private else "NOT PRIVATE: "
        hint = "" if manifest is not None else "; name the --manifest of its run to hold the file against it"
        print(f"{mark}wrote {named(tables)} to {out}; nothing was charged{hint}", file=sys.stderr)


def named(found: list[Reconstruction]) -> str:
    """How many marginals, and how many of them had to be reconstructed."""
    count = sum(not f.covered for f in found)
    wide = "; its tables are too large to agree as a whole: another marginal may say something else of the same columns"
    many = f"{len(found)} marginal{'s' * (len(found) > 1)}" + (f" ({count} reconstructed)" if count else "")
    return many + (wide if any(f.wide for f in found) else "")
