"""`dpsyn synth`: a synthetic table and its manifest from a private table."""

from __future__ import annotations

import argparse
import itertools
import os
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
    parser.add_argument("--sign", type=Path, metavar="KEY", help="sign the manifest with a key of `dpsyn key new`")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    add_reading(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Checks all that can be checked, then spends, then writes both files atomically."""
    from dpsyn_core.commands.common import (
        TerminalProgress,
        open_input,
        parse_settings,
        point_out_names,
        same_path,
        say_odd,
    )
    from dpsyn_core.commands.key import open_key
    from dpsyn_core.errors import OutputError
    from dpsyn_core.files import check_folder, check_writable, manifest_beside, not_private_name
    from dpsyn_core.progress import silent
    from dpsyn_core.runs.several import check_number
    from dpsyn_core.runs.writing import numbered
    from dpsyn_core.schema.document import Schema
    from dpsyn_core.synthesizers.registry import DEFAULT, configure

    out, folder = Path(args.out), args.out.endswith(("/", os.sep)) or Path(args.out).is_dir()
    if not folder and out.suffix.lower() not in SUFFIXES:
        msg = f"the output '{out.name}' must end with {' or '.join(SUFFIXES)}, or with / for a folder of parts"
        raise OutputError(msg)
    check_number(args.tables)
    args.manifest = args.manifest or manifest_beside(out)
    if folder and args.tables > 1:
        msg = "several tables of one release are files of their own; give --out a name that ends with .csv or .parquet"
        raise OutputError(msg)
    settings = parse_settings(args.settings)
    schema = Schema.load(args.schema)
    reasons = (*configure(args.method or DEFAULT, settings).reasons, *schema.reasons)
    # where the files will lie is public before the run, so that a name that cannot be written is refused unpaid
    mark = not_private_name if reasons else Path
    outs = [mark(p) for p in numbered(out, args.tables)]
    measurements, model = (p and mark(p) for p in (args.measurements, args.save_model))
    outputs = [p for p in (*outs, args.manifest, measurements, model) if p is not None]
    inputs = [args.table, args.schema, args.questions]
    for a, b in [*itertools.product(outputs, inputs), *itertools.combinations(outputs, 2)]:
        if same_path(a, b):
            msg = f"'{a.name}' is named twice, as an input or as another output; give every file its own name"
            raise OutputError(msg)
    if folder:
        check_folder(outs[0])
        if any(isinstance(i, Path) and out.resolve().is_relative_to(i.resolve()) for i in inputs if i is not None):
            msg = f"'{out.name}' lies inside the folder that is read; give the output a folder of its own"
            raise OutputError(msg)
    for path in outputs[folder:]:
        check_writable(path)
    if args.save_model is not None:
        from dpsyn_core.runs.models import check_savable

        check_savable(args.method, args.save_model)
    key = None if args.sign is None else open_key(args.sign)
    point_out_names(args.dataset or schema.ledger_name)
    progress = silent if args.quiet else TerminalProgress()

    from dpsyn_core.report.released import pack_measurements
    from dpsyn_core.runs.parts import MOST_RECORDS, write_release_to
    from dpsyn_core.runs.release import MAX_RECORDS, prepare
    from dpsyn_core.sources.choose import memory_of

    progress("reading", 0, 1)
    table = open_input(args, schema)
    prepared = prepare(
        table, schema, epsilon=args.epsilon, delta=args.delta, method=args.method, settings=settings,
        n_records=args.n_records, rng=args.seed, dataset=args.dataset, strict=args.strict, tables=args.tables,
        questions=args.questions, questions_share=args.questions_share, most=MOST_RECORDS if folder else MAX_RECORDS,
        query_vouched=args.query_vouched, progress=progress,
    )  # fmt: skip
    say_odd(table, str(args.table))
    del table
    marginals = None
    if measurements is not None:
        marginals = pack_measurements(prepared.released, schema=schema)
    manifest = write_release_to(
        prepared, outs, args.manifest, folder=folder, memory=memory_of(args.memory),
        measurements=marginals, measurements_path=measurements, model_path=model,
        key=key, progress=progress,
    )  # fmt: skip
    if isinstance(progress, TerminalProgress):
        progress.close()
    if not manifest.private:
        why = "; ".join(manifest.not_private_because)
        print(f"NOT PRIVATE: {why}; the table is in {named(outs)}", file=sys.stderr)
    elif not args.quiet:
        spent = f"spent epsilon {manifest.epsilon:g} at delta {manifest.delta:g}"
        print(f"wrote {manifest.n_records} records to {named(outs)}; {spent}", file=sys.stderr)


def named(outs: list[Path]) -> str:
    """Where the tables are, in a sentence."""
    return str(outs[0]) if len(outs) == 1 else f"each of {len(outs)} tables, {outs[0]} to {outs[-1].name}"
