"""`dpsyn synth`: a synthetic table and its manifest from a private table."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsyn_core.commands.common import add_engine, add_manifest, add_named, add_reading, add_run, place

if TYPE_CHECKING:
    from dpsyn_core.runs import RunSpec
    from dpsyn_core.schema import Schema

LABELLED = (".sav", ".dta", ".xpt")
SUFFIXES = (".csv", ".parquet", *LABELLED)


def add(commands: Any) -> None:
    """Declares the arguments."""
    parser = commands.add_parser("synth", help="make a differentially private synthetic table")
    parser.add_argument(
        "table",
        metavar="TABLE",
        type=place,
        nargs="?",
        help="CSV, TSV (also .gz), Parquet, Excel, SPSS, Stata or SAS; a folder or 'pattern*'",
    )
    add_named(
        parser,
        "one of several linked tables, by its name in a schema of version 2; --out is then a folder, a workbook "
        "(.xlsx) or a database (.sqlite, .duckdb)",
    )
    add_run(parser)
    add_engine(parser)
    parser.add_argument("--n-records", type=int, help="records to write; default a noisy or public total")
    parser.add_argument("--seed", type=int, help="seed of the post-processing; the privacy noise has none")
    parser.add_argument("--dataset", help="name on the ledger; default the one that the schema keeps")
    parser.add_argument(
        "--tables",
        type=int,
        metavar="M",
        help="write M tables OUT-1.csv ... of the one release, for analyses that should know the noise; free of charge",
    )
    parser.add_argument(
        "-o",
        "--out",
        required=True,
        metavar="OUT.(csv|parquet)",
        help="or .sav, .dta, .xpt (SPSS, Stata, SAS) with labels; or FOLDER/, for a folder of Parquet parts",
    )
    add_manifest(parser)
    parser.add_argument(
        "--measurements",
        type=Path,
        metavar="M.json.gz",
        help="also keep the released marginals, for `dpsyn answer`, `dpsyn marginal --from` and `dpsyn report -`",
    )
    parser.add_argument(
        "--save-model",
        type=Path,
        metavar="M.safetensors",
        help="also keep the trained model of a deep system, from which `dpsyn draw` makes more records for nothing",
    )
    parser.add_argument(
        "--save-release",
        type=Path,
        metavar="R.dpsyn",
        help="also keep all that was released in one file, from which `dpsyn refit` makes more tables for nothing",
    )
    parser.add_argument("--sign", type=Path, metavar="KEY", help="sign the manifest with a key of `dpsyn key new`")
    parser.add_argument(
        "--public-table",
        metavar="[ROOT=]FILE",
        help="a table with columns of the schema that you vouch is public, such as last year's release: it is learnt "
        "from at no budget, as far as what is measured bears it out; of linked tables for the root, ROOT=FILE",
    )
    parser.add_argument("--quiet", action="store_true", help="no progress")
    add_reading(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Checks all that can be checked, then spends, then writes both files atomically."""
    from dpsyn_core.commands.common import chosen_run
    from dpsyn_core.errors import SettingError

    spec, schema = chosen_run(args)
    if schema.links:
        make_tree(args, spec, schema)
        return
    if args.named:
        msg = f"the schema '{schema.name}' describes one table; name its file without --table"
        raise SettingError(msg)
    if args.table is None:
        msg = "there is no table; name its file, or several linked ones with --table NAME=FILE"
        raise SettingError(msg)
    make_table(args, spec, schema)


def make_table(args: argparse.Namespace, spec: RunSpec, schema: Schema) -> None:  # noqa: PLR0915
    """As `run`, for one table."""
    from dpsyn_core.commands.common import (
        TerminalProgress,
        open_input,
        point_out_budget,
        point_out_names,
        read_form,
        say_odd,
        signing_key,
    )
    from dpsyn_core.errors import OutputError
    from dpsyn_core.progress import silent
    from dpsyn_core.runs import Places

    if spec.public_table is not None:
        from dpsyn_core.runs import check_apart

        public = Path(spec.public_table)
        check_apart(public, args.table)
        print(f"note: '{public.name}' is public by your word alone: nothing protects its records", file=sys.stderr)
    # where the files will lie is public before the run, so that a name that cannot be written is refused unpaid
    facts = spec.facts(schema, query_vouched=read_form(args).query_vouched)
    places = Places.of(
        args.out,
        args.manifest,
        tables=spec.tables,
        measurements=args.measurements,
        model=args.save_model,
        release=args.save_release,
        private=not facts.reasons,
    )
    name = Path(args.out)
    if not places.folder and name.suffix.lower() not in SUFFIXES:
        msg = f"the output '{name.name}' must end with {', '.join(SUFFIXES)}, or with / for a folder of parts"
        raise OutputError(msg)
    places.check(args.table, args.schema, args.questions, args.from_settings)
    if name.suffix.lower() in LABELLED:
        from dpsyn_core.extras import require
        from dpsyn_core.schema import not_carried

        require("codebooks", f"the output '{name.name}'")
        for what in not_carried(schema, name.suffix.lower()):
            print(f"note: {name.name}: {what}", file=sys.stderr)
    spec.check(most=places.most_records)
    if args.save_model is not None:
        from dpsyn_core.runs import check_savable

        check_savable(spec.method, args.save_model)
    if args.save_release is not None:
        from dpsyn_core.runs import check_name, check_reusable

        check_name(args.save_release)
        check_reusable(spec.config)
    task = spec.task(schema)
    spec.config.check(task)
    key = signing_key(args.sign)
    point_out_names(spec.dataset or schema.ledger_name)
    point_out_budget(spec.epsilon, spec.delta)
    progress = silent if args.quiet else TerminalProgress()

    from dpsyn_core.measure import memory_of, source_of
    from dpsyn_core.runs import PendingRelease, measure, write_release

    progress("reading", 0, 1)
    table = open_input(args, schema)
    source = source_of(table, strict=args.strict)
    measured = measure(source, schema, spec, facts=facts, most=places.most_records, task=task, progress=progress)
    say_odd(table, str(args.table))
    del table, source
    marginals = None
    if places.measurements is not None or places.release is not None:
        from dpsyn_core.estimate import pack_measurements

        marginals = pack_measurements(measured.released, schema=schema)
    release = PendingRelease(measured=measured, memory=memory_of(args.memory))
    columns = [c for c in measured.columns if c in schema.output_names]
    manifest = write_release(release, places, measurements=marginals, columns=columns, key=key, progress=progress)
    if isinstance(progress, TerminalProgress):
        progress.close()
    if not args.quiet:
        say_computed(schema, measured.task)
    if schema.n_records is None and spec.n_records is None:
        say_nearly_empty(manifest)
    say_repaired(measured.repaired, quiet=args.quiet)
    if not manifest.private:
        why = "; ".join(manifest.not_private_because)
        print(f"NOT PRIVATE: {why}; the table is in {places}", file=sys.stderr)
    elif not args.quiet:
        spent = f"spent epsilon {manifest.epsilon:g} at delta {manifest.delta:g}"
        print(f"wrote {manifest.n_records} records to {places}; {spent}", file=sys.stderr)


def say_repaired(repaired: list[tuple[int, int]], *, quiet: bool) -> None:
    """How many synthetic cells and records rules have changed, on stderr; quiet: those that were left out alone."""
    cells, left_out = (sum(counts) for counts in zip(*repaired, strict=True)) if repaired else (0, 0)
    if repaired and not quiet:
        print(f"rules: {cells:,} synthetic cells were changed to keep them", file=sys.stderr)
    if left_out:
        print(f"rules: {left_out:,} synthetic records were left out, for no free values were left", file=sys.stderr)


def say_nearly_empty(manifest: Any) -> None:
    """That next to nothing was counted, on stderr; of released values alone."""
    if manifest.nearly_empty:
        print(
            f"note: the number of records that was released, {manifest.n_records}, is close to its noise (standard "
            f"deviation {manifest.noise_of_records():.0f}): the table tells next to nothing. If the file has far more, "
            "see with 'dpsyn schema check' whether its cells are read as they should be",
            file=sys.stderr,
        )


def say_computed(schema: Any, task: Any) -> None:
    """Which columns a run does not measure, on stderr."""
    if schema.rules:
        from dpsyn_core.schema import computed_columns

        for one in computed_columns(schema, task.domain.names):
            print(f"rules: {one}", file=sys.stderr)


def make_tree(args: argparse.Namespace, spec: RunSpec, schema: Any) -> None:
    """As `run`, for linked tables."""
    from dpsyn_core.commands.common import (
        TerminalProgress,
        point_out_budget,
        point_out_names,
        read_form,
        say_read,
        signing_key,
    )
    from dpsyn_core.commands.trees import check_options
    from dpsyn_core.measure import memory_of
    from dpsyn_core.progress import silent
    from dpsyn_core.runs import (
        TreePlan,
        TreeSource,
        check_apart,
        check_name,
        named_tables,
        pack_tree,
        places_of,
        post_processing_generator,
        release_tree,
        write_answers,
        write_release,
    )
    from dpsyn_core.tables import open_named

    check_options(args)
    named = named_tables(args.named, args.table, schema)
    if spec.public_table is not None:
        public = Path(spec.public_table.partition("=")[2])
        for private in named.values():
            check_apart(public, private)
        print(f"note: '{public.name}' is public by your word alone: nothing protects its records", file=sys.stderr)
    plan = TreePlan.of(spec, schema)
    places = places_of(
        args.out,
        schema,
        manifest=args.manifest,
        copies=spec.tables,
        answers=bool(plan.asked.across),
        measurements=args.measurements,
        release=args.save_release,
    )
    if args.save_release is not None:
        check_name(args.save_release)
    places.check(*named.values(), args.schema, args.questions, args.from_settings)
    key = signing_key(args.sign)
    point_out_names(spec.dataset or schema.ledger_name)
    point_out_budget(spec.epsilon, spec.delta)
    progress = silent if args.quiet else TerminalProgress()
    memory = memory_of(args.memory)
    opened = open_named(named, read_form(args), apart=bool(args.named))
    rng, seed = post_processing_generator(spec.seed)
    source = TreeSource(tables=opened, memory=memory, engine=args.engine, strict=args.strict)
    release = release_tree(source, plan, rng=rng, seed=seed, progress=progress)
    for name in {id(batches): name for name, batches in reversed(opened.items())}.values():
        say_read(opened[name], named[name])
    marginals = None
    if places.measurements is not None or places.release is not None:
        marginals = pack_tree(release.measurements, schema, plan.settings)
    manifest = write_release(release, places, measurements=marginals, key=key, progress=progress)
    if places.answers is not None:
        write_answers(release.answers, places.answers, private=not manifest.private)
    if isinstance(progress, TerminalProgress):
        progress.close()
    where = places.outs[0] if len(places.outs) == 1 else places.outs[0].parent
    if not manifest.private:
        print(f"NOT PRIVATE: {'; '.join(manifest.not_private_because)}; the tables are in {where}", file=sys.stderr)
    say_tree(release, where, counted=spec.n_records is None, quiet=args.quiet or not manifest.private)


def say_tree(release: Any, where: Path, *, counted: bool, quiet: bool) -> None:
    """Prints on stderr what was synthesized for linked tables; from released values alone.

    counted: whether the roots are as many. quiet: warnings alone.
    """
    from dpsyn_core.runs import nearly_empty_tables

    manifest = release.manifest
    sizes = ", ".join(f"{t.num_rows} of {name}" for name, t in release.arrows.items())
    several = f", {len(release.copies)} times" if len(release.copies) > 1 else ""
    spent = f"spent epsilon {manifest.epsilon:g} at delta {manifest.delta:g}"
    if not quiet:
        print(f"wrote {sizes}{several} to {where}; {spent}", file=sys.stderr)
    for name, (records, noise) in (nearly_empty_tables(manifest) if counted else {}).items():
        print(
            f"note: {records} records of '{name}', the number that was released, is close to its noise (which "
            f"alone may make {noise:.0f}): the table tells next to nothing. If the file has far more, see with "
            "'dpsyn schema check' whether its keys are written as in the table that it belongs to, and its cells "
            "are read as they should be",
            file=sys.stderr,
        )
    for answer in () if quiet else release.answers:
        print(answer.sentence(), file=sys.stderr)
