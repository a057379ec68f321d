"""`dpsyn synth`: a synthetic table and its manifest from a private table."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from dpsyn_core.commands.common import add_engine, add_manifest, add_reading, add_run, place

SUFFIXES = (".csv", ".parquet")


def add(commands: Any) -> None:
    """Declares the arguments."""
    parser = commands.add_parser("synth", help="make a differentially private synthetic table")
    parser.add_argument(
        "table", metavar="TABLE", type=place, help="CSV, TSV (also .gz), Parquet or Excel; a folder or 'pattern*'"
    )
    add_run(parser)
    add_engine(parser)
    parser.add_argument("--n-records", type=int, help="records to write; default a noisy or public total")
    parser.add_argument("--seed", type=int, help="seed of the post-processing; the privacy noise has none")
    parser.add_argument("--dataset", help="name on the ledger; default the one that the schema keeps")
    parser.add_argument(
        "--tables", type=int, default=1, metavar="M",
        help="write M tables OUT-1.csv ... of the one release, for analyses that should know the noise; free of charge",
    )  # fmt: skip
    parser.add_argument(
        "-o", "--out", required=True, metavar="OUT.(csv|parquet)", help="or FOLDER/, for a folder of Parquet parts"
    )
    add_manifest(parser)
    parser.add_argument(
        "--measurements",
        type=Path,
        metavar="M.json.gz",
        help="also keep the released marginals, for `dpsyn answer`, `dpsyn marginal --from` and `dpsyn report -`",
    )
    parser.add_argument(
        "--save-model", type=Path, metavar="M.safetensors",
        help="also keep the trained model of a deep system, from which `dpsyn draw` makes more records for nothing",
    )  # fmt: skip
    parser.add_argument(
        "--save-release", type=Path, metavar="R.dpsyn",
        help="also keep all that was released in one file, from which `dpsyn refit` makes more tables for nothing",
    )  # fmt: skip
    parser.add_argument("--sign", type=Path, metavar="KEY", help="sign the manifest with a key of `dpsyn key new`")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    add_reading(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Checks all that can be checked, then spends, then writes both files atomically."""
    from dpsyn_core.commands.common import TerminalProgress, open_input, point_out_names, run_spec, say_odd
    from dpsyn_core.commands.key import open_key
    from dpsyn_core.errors import OutputError
    from dpsyn_core.progress import silent
    from dpsyn_core.runs.writing import Places
    from dpsyn_core.schema.document import Schema

    spec, schema = run_spec(args), Schema.load(args.schema)
    # where the files will lie is public before the run, so that a name that cannot be written is refused unpaid
    places = Places.of(
        args.out, args.manifest, tables=spec.tables, measurements=args.measurements, model=args.save_model,
        release=args.save_release, private=not spec.reasons(schema),
    )  # fmt: skip
    name = Path(args.out)
    if not places.folder and name.suffix.lower() not in SUFFIXES:
        msg = f"the output '{name.name}' must end with {' or '.join(SUFFIXES)}, or with / for a folder of parts"
        raise OutputError(msg)
    places.check(args.table, args.schema, args.questions)
    spec.check(most=places.most_records)
    if args.save_model is not None:
        from dpsyn_core.runs.models import check_savable

        check_savable(spec.method, args.save_model)
    if args.save_release is not None:
        from dpsyn_core.runs.release_file import check_name, check_reusable

        check_name(args.save_release)
        check_reusable(spec.config)
    key = None if args.sign is None else open_key(args.sign)
    point_out_names(args.dataset or schema.ledger_name)
    progress = silent if args.quiet else TerminalProgress()

    from dpsyn_core.marginals.released_file import pack_measurements
    from dpsyn_core.runs.measured import measure
    from dpsyn_core.runs.parts import PendingRelease
    from dpsyn_core.runs.writing import write_release
    from dpsyn_core.sources.choose import memory_of, source_of

    progress("reading", 0, 1)
    table = open_input(args, schema)
    source = source_of(table, strict=args.strict)
    measured = measure(source, schema, spec, most=places.most_records, progress=progress)
    say_odd(table, str(args.table))
    del table, source
    kept = places.measurements is not None or places.release is not None
    marginals = pack_measurements(measured.released, schema=schema) if kept else None
    release = PendingRelease(measured=measured, memory=memory_of(args.memory))
    columns = [c for c in measured.columns if c in schema.output_names]
    manifest = write_release(
        release, places, measurements=marginals, columns=columns, key=key, progress=progress
    )  # fmt: skip
    if isinstance(progress, TerminalProgress):
        progress.close()
    if measured.repaired and not args.quiet:
        print(f"rules: {sum(measured.repaired):,} synthetic cells were changed to keep them", file=sys.stderr)
    if not manifest.private:
        why = "; ".join(manifest.not_private_because)
        print(f"NOT PRIVATE: {why}; the table is in {places}", file=sys.stderr)
    elif not args.quiet:
        spent = f"spent epsilon {manifest.epsilon:g} at delta {manifest.delta:g}"
        print(f"wrote {manifest.n_records} records to {places}; {spent}", file=sys.stderr)
