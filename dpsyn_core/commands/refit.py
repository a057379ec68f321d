"""`dpsyn refit`: more tables from a release file or from tables that others published, free of charge."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsyn_core.commands.common import add_manifest

if TYPE_CHECKING:
    from dpsyn_core.runs import Changes


def add(commands: Any) -> None:
    """Declares the arguments."""
    parser = commands.add_parser(
        "refit",
        help="make more tables from a release (dpsyn synth --save-release), free of charge",
        description="No record is read and nothing is charged; the manifest repeats that of the run that paid.",
    )
    parser.add_argument(
        "release", metavar="RELEASE", type=Path, help="R.dpsyn, or a CSV of tables that others published (--by)"
    )
    parser.add_argument("--method", help="that of the run (default), rls, independent, dpsyn or mst")
    parser.add_argument("--set", dest="settings", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--n-records", type=int, help="records to write; default as released")
    parser.add_argument("--seed", type=int, help="default a fresh one; that of the run makes its table again")
    parser.add_argument(
        "--where",
        metavar="CONDITION",
        help="for all records, of linked tables for all roots: 'CITY = Bellmere and AGE in [18, 30]'",
    )
    parser.add_argument(
        "--columns",
        metavar="A,B,C",
        help="keep these columns, of linked tables TABLE.COLUMN; names with commas as a JSON list",
    )
    parser.add_argument(
        "--rules",
        type=Path,
        metavar="R.json",
        help='further rules, as the list in a schema; of linked tables each with "table" or "link"',
    )
    parser.add_argument(
        "--add-proposed",
        type=int,
        nargs="*",
        metavar="N",
        help="add the rules that the headers propose (by their numbers in dpsyn schema propose-rules, or all): you "
        "vouch that they hold, as for every rule that is public",
    )
    parser.add_argument("--tables", type=int, default=1, metavar="M", help="write M tables OUT-1.csv ...")
    parser.add_argument("-o", "--out", required=True, metavar="OUT.(csv|parquet)", help="or FOLDER/, for Parquet parts")
    add_manifest(parser)
    parser.add_argument("--sign", type=Path, metavar="KEY", help="sign the manifest with a key of `dpsyn key new`")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    others = parser.add_argument_group("tables of others")
    others.add_argument("--schema", type=Path, help="of the columns of the CSV")
    others.add_argument("--by", metavar="WHO", help="who published the tables; the manifest names them")
    others.add_argument("--epsilon", type=float, help="that they state")
    others.add_argument("--delta", type=float, help="that they state")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Checks release and changes, makes the records and writes them with their manifest."""
    from dpsyn_core.commands.common import TerminalProgress, parse_settings, signing_key
    from dpsyn_core.commands.synth import SUFFIXES
    from dpsyn_core.errors import OutputError
    from dpsyn_core.progress import silent
    from dpsyn_core.runs import Changes, PendingRelease, Places, chosen_by_looking, prepared, write_release

    changes = Changes(
        method=args.method,
        settings=parse_settings(args.settings),
        n_records=args.n_records,
        seed=args.seed,
        where=args.where,
        columns=_columns(args.columns),
        tables=args.tables,
        rules=_rules(args.rules),
    )
    tree = _tree(args.release)
    if tree is not None:
        make_tree(args, tree, changes)
        return
    given = _given(args)
    changes = replace(changes, rules=(*changes.rules, *_proposed(args.add_proposed, given.released.schema)))
    private = given.private and not chosen_by_looking(given, changes)
    places = Places.of(args.out, args.manifest, tables=args.tables, private=private)
    if not places.folder and Path(args.out).suffix.lower() not in SUFFIXES:
        msg = f"the output '{Path(args.out).name}' must end with {' or '.join(SUFFIXES)}, or with / for a folder"
        raise OutputError(msg)
    places.check(args.release, args.schema, args.rules)
    key = signing_key(args.sign)
    progress = silent if args.quiet else TerminalProgress()
    measured = prepared(given, changes, most=places.most_records, progress=progress)
    manifest = write_release(
        PendingRelease(measured=measured), places, measurements=given.measurements, key=key, progress=progress
    )
    if isinstance(progress, TerminalProgress):
        progress.close()
    first = getattr(given.paid, "method", None)
    if args.method is None and first not in (None, measured.config.name):
        what = "a part of its tables" if args.where or args.columns else "its released tables alone"
        method = measured.config.name
        print(f"'{first}', the system of the run, makes no records of {what}: '{method}' made these", file=sys.stderr)
    mark = "" if manifest.private else f"NOT PRIVATE: {'; '.join(manifest.not_private_because)}; "
    if not args.quiet or mark:
        print(f"{mark}wrote {manifest.n_records} records to {places}; nothing was charged", file=sys.stderr)


def _tree(path: Path) -> Any:
    """The release file of linked tables; None for any other."""
    from dpsyn_core.runs import SUFFIX, load_release

    opened = load_release(path) if path.suffix == SUFFIX else None
    return opened if opened is not None and opened.released.schema.links else None


def make_tree(args: argparse.Namespace, found: Any, changes: Changes) -> None:
    """As `run`, for linked tables. Raises InputError."""
    from dpsyn_core.commands.common import TerminalProgress, signing_key
    from dpsyn_core.errors import SettingError
    from dpsyn_core.progress import silent
    from dpsyn_core.runs import (
        looked_at,
        places_of,
        post_processing_generator,
        refit_tree,
        schema_of_refit,
        write_release,
    )

    if args.add_proposed is not None:
        msg = "a refit of linked tables does not take --add-proposed; name their rules with --rules"
        raise SettingError(msg)
    for option in ("schema", "by", "epsilon", "delta"):
        if getattr(args, option) is not None:
            msg = f"a refit of linked tables does not take --{option}: a release file has its own; leave it out"
            raise SettingError(msg)
    described = schema_of_refit(changes, found.released.schema)
    private = not looked_at(changes, found.released.schema, found.manifest.dataset)
    places = places_of(args.out, described, manifest=args.manifest, copies=args.tables, private=private)
    places.check(args.release, args.rules)
    key = signing_key(args.sign)
    progress = silent if args.quiet else TerminalProgress()
    rng, seed = post_processing_generator(args.seed)
    release = refit_tree(found, args.release.name, replace(changes, seed=seed), rng=rng, progress=progress)
    manifest = write_release(release, places, measurements=found.measurements, key=key, progress=progress)
    if isinstance(progress, TerminalProgress):
        progress.close()
    mark = "" if manifest.private else f"NOT PRIVATE: {'; '.join(manifest.not_private_because)}; "
    if not args.quiet or mark:
        sizes = ", ".join(f"{t.num_rows} of {name}" for name, t in release.arrows.items())
        print(f"{mark}wrote {sizes} to {places}; nothing was charged", file=sys.stderr)


def _given(args: argparse.Namespace) -> Any:
    """The release file, or the tables of others with whose they are."""
    from dpsyn_core.errors import SettingError
    from dpsyn_core.runs import SUFFIX, opened

    named = [f for f in ("schema", "by", "epsilon", "delta") if getattr(args, f) is not None]
    if args.release.suffix == SUFFIX:
        if named:
            msg = f"--{named[0]} is for tables that others published; a release file has its own"
            raise SettingError(msg)
        return opened(args.release)
    if len(named) < 4:
        msg = (
            f"'{args.release.name}' does not end with {SUFFIX}; tables that others published need --schema, --by, "
            "--epsilon and --delta, for the promise is theirs"
        )
        raise SettingError(msg)
    from dpsyn_core.commands.trees import one_table
    from dpsyn_core.runs import Published, published_tables

    whose = Published(by=args.by, epsilon=args.epsilon, delta=args.delta)
    return published_tables(args.release, one_table("refit", args.schema), whose)


def _columns(text: str | None) -> tuple[str, ...] | None:
    """Names between commas, or a list of JSON."""
    if text is None:
        return None
    import json

    from dpsyn_core.errors import SettingError

    if not text.startswith("["):
        return tuple(part.strip() for part in text.split(",") if part.strip())
    try:
        names = json.loads(text)
    except ValueError as error:
        msg = '--columns begins with [ and is no list of JSON; write A,B or ["A", "B"]'
        raise SettingError(msg) from error
    return tuple(str(name) for name in names)


def _rules(path: Path | None) -> tuple[dict[str, Any], ...]:
    """The list of rules in a file."""
    if path is None:
        return ()
    import json

    from dpsyn_core.errors import SchemaError

    try:
        rules = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        msg = f"'{path.name}' cannot be read as JSON; write the list that would stand as 'rules' in a schema"
        raise SchemaError(msg) from error
    if isinstance(rules, dict):
        rules = rules.get("rules")
    if not isinstance(rules, list) or not all(isinstance(r, dict) for r in rules):
        msg = f"'{path.name}' holds no list of rules; write the list that would stand as 'rules' in a schema"
        raise SchemaError(msg)
    return tuple(rules)


def _proposed(numbers: list[int] | None, schema: Any) -> tuple[dict[str, Any], ...]:
    """Rules that the headers of a schema propose, by their numbers, all for an empty list; the person agrees to them.

    Raises:
        SettingError: a number that is none of theirs, or there is no proposal.
    """
    if numbers is None:
        return ()
    from dpsyn_core.errors import SettingError
    from dpsyn_core.schema import propose_rules

    rules = propose_rules(schema)
    wrong = [n for n in numbers if not 1 <= n <= len(rules)]
    if wrong or not rules:
        got = f"got {wrong[0]}" if wrong else "the headers propose none"
        msg = f"--add-proposed takes numbers from 1 to {len(rules)}, or none; {got}; see dpsyn schema propose-rules"
        raise SettingError(msg)
    chosen = [rules[n - 1] for n in dict.fromkeys(numbers)] if numbers else rules
    return tuple(r.model_dump(mode="json") | {"source": "proposed"} for r in chosen)
