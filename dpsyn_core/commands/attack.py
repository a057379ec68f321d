"""`dpsyn attack`: attacks on a system by shadow runs on the owner's table; evidence beside the proved bound."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsyn_core.commands.common import add_named, add_reading, place

if TYPE_CHECKING:
    from dpsyn_core.runs import AttackResult, AttackSpec
    from dpsyn_core.schema import Schema

KINDS = ("membership", "singling-out", "linkage", "inference")
ABOUT = """Attacks a system, by many shadow runs of it on your table (reads private data: for the owner only).

membership    adds made-up people to the table in memory, each by the toss of a coin, and tells from what a run
              releases which of them were in
singling-out  takes statements from synthetic records that fit one real person alone
linkage       leads two halves of a person's record to one synthetic record
inference     guesses one column of a person from the others

The last three put half of your people into the table of each run; the other half is the control group. Shadow runs
use the system, settings and budget of the run that is attacked (--manifest, or --epsilon, --delta and --method). They
spend a budget of their own that is thrown away with them: nothing is booked on the ledger, and nothing that comes out
may be published. A failed attack proves nothing, for a better one may exist; a successful one disproves the promise.
Distances to the closest record are not offered: tables that leak pass them, and tables that do not may fail.
Exit status 0 whatever was found; the verdict is in the first line and in the JSON."""


def add(commands: Any) -> None:
    """Declares the arguments."""
    parser = commands.add_parser(
        "attack",
        help="attack a system by shadow runs on the private table (reads private data)",
        description=ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "given",
        metavar="TABLE SCHEMA",
        nargs="+",
        type=place,
        help="the private table and its schema; of linked tables the schema alone",
    )
    add_named(
        parser, "one of several linked tables, by its name in the schema: a coin moves a root with all that hangs on it"
    )
    parser.add_argument("--kind", choices=KINDS, default="membership", help="default membership")
    run_group = parser.add_argument_group("the run that is attacked")
    run_group.add_argument("--manifest", type=Path, metavar="M.json", help="of a run: its system, settings and budget")
    run_group.add_argument("--epsilon", type=float)
    run_group.add_argument("--delta", type=float, help="0 for pure DP")
    run_group.add_argument("--method", help="a name from `dpsyn methods`; default the most accurate")
    run_group.add_argument("--set", dest="settings", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--runs", type=int, metavar="N", help="shadow runs; default 100 for membership, else 20")
    parser.add_argument(
        "--records",
        type=int,
        default=2000,
        metavar="N",
        help="records of the table that take part at most, drawn at random; fewer are quicker and easier to see "
        "through (default 2000)",
    )
    parser.add_argument(
        "--canaries", type=int, default=20, metavar="N", help="made-up people of membership (default 20)"
    )
    parser.add_argument("--secret", metavar="COLUMN", help="what inference guesses; default each column in turn")
    parser.add_argument(
        "--about", metavar="NAME", help="of linked tables, the one whose records are attacked; default the first child"
    )
    parser.add_argument("--workers", type=int, metavar="N", help="child processes; default one a core, at most 4")
    parser.add_argument("-o", "--out", type=Path, metavar="OUT.json", help="the result: for the owner only")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    add_reading(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Checks, attacks, writes the JSON atomically, prints the result in words."""
    from dpsyn_core.commands.common import TerminalProgress, read_input, read_named
    from dpsyn_core.errors import OutputError, SettingError
    from dpsyn_core.files import check_writable, same_path, write_text
    from dpsyn_core.progress import silent
    from dpsyn_core.runs import LABEL, attack, check_attack, named_tables
    from dpsyn_core.schema import Schema

    if len(args.given) > 2:
        msg = (
            f"'{args.given[2]}' is one name too many; name the table and its schema, or several with --table NAME=FILE"
        )
        raise SettingError(msg)
    args.table, args.schema = args.given[0] if len(args.given) == 2 else None, Path(args.given[-1])
    schema: Any = Schema.load(args.schema)
    named: dict[str, Any] = {}
    if schema.links:
        named = named_tables(args.named, args.table, schema)
    elif args.named or args.table is None:
        msg = f"'{args.schema}' describes one table; name its file before the schema, and none with --table"
        raise SettingError(msg)
    if args.out is not None:
        for path in (args.table, args.schema, args.manifest, *named.values()):
            if path is not None and same_path(path, args.out):
                msg = f"'{args.out.name}' is an input and the output; give the output its own name"
                raise OutputError(msg)
        check_writable(args.out)
    spec = spec_of(args, schema)
    check_attack(schema, spec)
    progress = silent if args.quiet else TerminalProgress()
    progress("reading", 0, 1)
    tables = read_named(args, named) if schema.links else read_input(args)
    result = attack(tables, schema, spec, progress=progress)
    if isinstance(progress, TerminalProgress):
        progress.close()
    if args.out is not None:
        write_text(args.out, result.model_dump_json(indent=2) + "\n", private=True)
    print("\n".join(lines(result)))
    if args.out is not None:
        print(f"wrote {args.out}: it {LABEL}")


def spec_of(args: argparse.Namespace, schema: Schema) -> AttackSpec:
    """The attack that the arguments describe. Raises InputError."""
    import os

    from pydantic import ValidationError

    from dpsyn_core.errors import SettingError
    from dpsyn_core.runs import RUNS, AttackSpec

    workers = max(1, min(4, os.cpu_count() or 1)) if args.workers is None else args.workers
    given = {
        "kind": args.kind,
        "runs": RUNS[args.kind] if args.runs is None else args.runs,
        "records": args.records,
        "canaries": args.canaries,
        "secret": args.secret,
        "about": args.about,
        "workers": workers,
    }
    if args.secret is not None and args.kind != "inference":
        msg = f"--secret names what inference guesses, and the kind is {args.kind}; leave it out, or use inference"
        raise SettingError(msg)
    if args.about is not None and args.kind == "membership":
        msg = "--about names the table whose records are attacked, and membership is about whole roots; leave it out"
        raise SettingError(msg)
    try:
        return AttackSpec(**given, **attacked(args, schema))
    except ValidationError as error:
        first = error.errors()[0]
        msg = f"--{first['loc'][0]}: {first['msg']}; got {first['input']!r}"
        raise SettingError(msg) from error


def attacked(args: argparse.Namespace, schema: Schema) -> dict[str, Any]:
    """System, settings and budget of the run that is attacked: from its manifest, or as they were given."""
    from dpsyn_core.commands.common import parse_settings
    from dpsyn_core.errors import SettingError
    from dpsyn_core.privacy import Manifest
    from dpsyn_core.runs import schema_fault
    from dpsyn_core.schema import LinkedSettings
    from dpsyn_core.systems import DEFAULT

    spoken = [n for n in ("epsilon", "delta", "method") if getattr(args, n) is not None]
    if args.manifest is None:
        if args.epsilon is None or args.delta is None:
            msg = "an attack needs the budget of the run; give --manifest M.json, or --epsilon and --delta"
            raise SettingError(msg)
        return {
            "epsilon": args.epsilon,
            "delta": args.delta,
            "method": args.method or DEFAULT,
            "settings": dict(parse_settings(args.settings)),
        }
    if spoken or args.settings:
        named = ", ".join(f"--{n}" for n in [*spoken, *(["set"] if args.settings else [])])
        msg = f"the manifest states system, settings and budget, and {named} states them too; give one or the other"
        raise SettingError(msg)
    m = Manifest.load(args.manifest)
    if schema_fault(m, schema):
        msg = f"'{args.manifest.name}' is of a run with another schema than '{args.schema.name}'; give that one"
        raise SettingError(msg)
    if m.public_table is not None and not m.public_table.candidates:  # with candidates, it chose the settings alone
        from dpsyn_core.runs import NO_PUBLIC_TABLE

        raise SettingError(NO_PUBLIC_TABLE)
    if schema.links:
        return {"epsilon": m.epsilon, "delta": m.delta, **LinkedSettings.model_validate(m.settings).run()}
    asked = {} if m.questions is None else {"questions": m.questions.document, "questions_share": m.questions.share}
    return {"epsilon": m.epsilon, "delta": m.delta, "method": m.method, "settings": dict(m.settings), **asked}


def lines(result: AttackResult) -> list[str]:
    """The result in words, and a table of rates where there are some."""
    from dpsyn_core.runs import LABEL, NOT_BOOKED, TITLES

    out = [*result.sentences[:1], f"attack: {TITLES[result.kind]}; {LABEL}"]
    out.append(
        f"run: {result.method} at epsilon {result.epsilon:g}, delta {result.delta:g}, on about {result.records} of "
        f"{result.table_records} {'roots' if result.tested else 'records'}; {result.runs} shadow runs in "
        f"{result.seconds:.0f} s"
    )
    out += [
        "",
        f"{'epsilon promised':<42}{result.epsilon:>10.3g}",
        f"{'epsilon needed to explain it (95% sure)':<42}{result.needed:>10.3g}",
        f"{'the same, 99.99% sure':<42}{result.sure:>10.3g}",
        f"{'most that so many coins could show':<42}{result.provable:>10.3g}",
        f"{'right guesses':<42}{f'{result.right} of {result.guesses}':>10}",
    ]
    if result.roc is not None:
        out.append(f"{'area under the ROC curve (0.5 is guessing)':<42}{result.roc.area:>10.3f}")
    if result.rates:
        out += ["", f"{'success on':<24}{'the table':>12}{'control':>12}{'excess':>10}  95% interval"]
        out += [
            f"{r.name:<24.24}{100 * r.share:>11.1f}%{100 * r.control_share:>11.1f}%{100 * r.excess:>9.1f}%"
            f"  {100 * r.low:.1f} to {100 * r.high:.1f}%"
            for r in result.rates
        ]
    return [*out, "", *result.sentences[1:], NOT_BOOKED]
