"""`dpsyn synth`: a synthetic table and its manifest from a private table."""

from __future__ import annotations

import argparse
import itertools
import sys
from pathlib import Path
from typing import Any

from dpsyn_core.commands.common import add_engine, add_reading, add_run, place

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
    parser.add_argument("--out", type=Path, required=True, metavar="OUT.(csv|parquet)")
    parser.add_argument("--manifest", type=Path, required=True, metavar="M.json")
    parser.add_argument(
        "--measurements", type=Path, metavar="M.json.gz", help="also keep the released marginals, for `dpsyn report -`"
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
    from dpsyn_core.files import check_writable
    from dpsyn_core.progress import silent
    from dpsyn_core.runs.several import check_number
    from dpsyn_core.runs.writing import numbered, write_tables
    from dpsyn_core.schema.document import Schema

    if args.out.suffix.lower() not in SUFFIXES:
        msg = f"the output '{args.out.name}' must end with {' or '.join(SUFFIXES)}"
        raise OutputError(msg)
    check_number(args.tables)
    outs = numbered(args.out, args.tables)
    outputs = [p for p in (*outs, args.manifest, args.measurements, args.save_model) if p is not None]
    inputs = [args.table, args.schema, args.questions]
    for a, b in [*itertools.product(outputs, inputs), *itertools.combinations(outputs, 2)]:
        if same_path(a, b):
            msg = f"'{a.name}' is named twice, as an input or as another output; give every file its own name"
            raise OutputError(msg)
    for path in outputs:
        check_writable(path)
    settings = parse_settings(args.settings)
    if args.save_model is not None:
        from dpsyn_core.runs.models import check_savable

        check_savable(args.method, args.save_model)
    schema = Schema.load(args.schema)
    key = None if args.sign is None else open_key(args.sign)
    point_out_names(args.dataset or schema.ledger_name)
    progress = silent if args.quiet else TerminalProgress()

    from dpsyn_core.report.released import pack_measurements
    from dpsyn_core.runs.release import synthesize

    progress("reading", 0, 1)
    table = open_input(args, schema)
    release = synthesize(
        table, schema, epsilon=args.epsilon, delta=args.delta, method=args.method, settings=settings,
        n_records=args.n_records, rng=args.seed, dataset=args.dataset, strict=args.strict, tables=args.tables,
        questions=args.questions, questions_share=args.questions_share, progress=progress,
    )  # fmt: skip
    say_odd(table, str(args.table))
    outs = outs if release.manifest.private else [not_private_name(p) for p in outs]
    progress("writing", 0, 1)
    marginals = None
    if args.measurements is not None:
        marginals = pack_measurements(release.marginals, schema=release.schema, scores=release.scores)
    model = None
    if args.save_model is not None:
        from dpsyn_core.runs.models import packed

        model = packed(release)
    write_tables(
        release.manifest, release.arrows, outs, args.manifest, measurements=marginals,
        measurements_path=args.measurements, model=model, model_path=args.save_model, key=key,
    )  # fmt: skip
    if isinstance(progress, TerminalProgress):
        progress.close()
    if not release.manifest.private:
        why = "; ".join(release.manifest.not_private_because)
        print(f"NOT PRIVATE: {why}; the table is in {named(outs)}", file=sys.stderr)
    elif not args.quiet:
        m = release.manifest
        print(
            f"wrote {m.n_records} records to {named(outs)}; spent epsilon {m.epsilon:g} at delta {m.delta:g}",
            file=sys.stderr,
        )


def named(outs: list[Path]) -> str:
    """Where the tables are, in a sentence."""
    return str(outs[0]) if len(outs) == 1 else f"each of {len(outs)} tables, {outs[0]} to {outs[-1].name}"


def not_private_name(path: Path) -> Path:
    """The file name that says so: out.csv becomes out.NOT-PRIVATE.csv."""
    return path.with_name(f"{path.stem}.NOT-PRIVATE{path.suffix}")
