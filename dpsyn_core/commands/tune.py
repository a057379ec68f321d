"""`dpsyn tune`: the best of several systems or settings, chosen by a public table, or privately at a stated price."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsyn_core.commands.common import add_engine, add_manifest, add_reading, place

if TYPE_CHECKING:
    from dpsyn_core.privacy.budget import Budget
    from dpsyn_core.privacy.manifest.statement import PublicFacts
    from dpsyn_core.runs.choose.choice import Candidate
    from dpsyn_core.runs.measurement import Measured
    from dpsyn_core.schema.document import Schema


def add(commands: Any) -> None:
    """Declares the arguments."""
    parser = commands.add_parser(
        "tune",
        help="choose among systems or settings, by a public table or privately, and release a run of the best",
        description="With --public-table, runs all candidates on that table at the whole budget, which costs nothing, "
        "and then the best one on TABLE. Without, runs candidates on TABLE a random number of times, each with a part "
        "of the budget, compares noisy scores and releases the best run alone. docs/reference/tuning.md says when it "
        "pays.",
    )
    parser.add_argument("table", metavar="TABLE", type=place, help="as for `dpsyn synth`")
    parser.add_argument("--schema", type=Path, required=True)
    parser.add_argument("--epsilon", type=float, required=True, help="of the whole choice")
    parser.add_argument("--delta", type=float, required=True, help="above 0 without a public table")
    parser.add_argument(
        "--candidate", action="append", required=True, metavar="METHOD[:KEY=VALUE,...]",
        help="a system with settings; several times: --candidate rls --candidate privbayes:degree=3",
    )  # fmt: skip
    parser.add_argument(
        "--public-table", metavar="FILE",
        help="a table with the columns of the schema that you vouch is public, such as last year's release, on which "
        "the candidates are tried",
    )  # fmt: skip
    parser.add_argument(
        "--n-records", type=int, dest="about", metavar="N_RECORDS",
        help="about how many records the private table is known to have, at which candidates are tried on the public "
        "one; default its own number",
    )  # fmt: skip
    parser.add_argument(
        "--runs", type=int, default=3,
        help="their mean number, from 2 to 100; with a public table those of each candidate, from 2 to 50; default 3",
    )  # fmt: skip
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="print the price, or what the public table says, and stop; TABLE is not read",
    )
    parser.add_argument("--dataset", help="name on the ledger; default the one that the schema keeps")
    parser.add_argument("-o", "--out", required=True, metavar="OUT.(csv|parquet)")
    add_manifest(parser)
    add_engine(parser)
    add_reading(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """The price, or the trial on the public table, first; then, unless it is a dry run, the run and its release."""
    from dpsyn_core.commands.common import point_out_names, read_form
    from dpsyn_core.errors import OutputError
    from dpsyn_core.privacy.budget import Budget
    from dpsyn_core.runs.open import public_facts
    from dpsyn_core.runs.release import in_memory
    from dpsyn_core.runs.writer import Places, write_release
    from dpsyn_core.schema.document import Schema

    budget, schema = Budget(epsilon=args.epsilon, delta=args.delta), Schema.load(args.schema)
    candidates = [candidate_of(text) for text in args.candidate]
    facts = public_facts(
        schema, dataset=args.dataset, query_vouched=read_form(args).query_vouched, reasons=(), public_table=None
    )
    places = Places.of(args.out, args.manifest, private=not facts.reasons)
    if Path(args.out).suffix.lower() not in (".csv", ".parquet"):
        msg = f"the output '{Path(args.out).name}' must end with .csv or .parquet"
        raise OutputError(msg)
    places.check(args.table, args.schema, args.public_table)
    point_out_names(args.dataset or schema.ledger_name)
    choice = chosen_privately if args.public_table is None else chosen_on_public
    measured = choice(args, schema, candidates, budget, facts)
    if measured is None:
        return
    manifest = write_release(in_memory(measured), places)
    if not manifest.private:
        print(f"NOT PRIVATE: {'; '.join(manifest.not_private_because)}; the table is in {places}", file=sys.stderr)
        return
    print(f"wrote {manifest.n_records} records by {manifest.method} to {places}", file=sys.stderr)
    if args.public_table is None:
        print("note: how long this took tells about the number of runs; do not publish it", file=sys.stderr)


def chosen_privately(
    args: argparse.Namespace,
    schema: Schema,
    candidates: Sequence[Candidate],
    budget: Budget,
    facts: PublicFacts,
) -> Measured | None:
    """The best of a random number of runs on the private table; None in a dry run."""
    from dpsyn_core.commands.common import open_input
    from dpsyn_core.errors import SettingError
    from dpsyn_core.measure.sources.choice import source_of
    from dpsyn_core.runs.choose.choice import choose, price_of, ready

    if args.about is not None:
        msg = "--n-records is for trials on a public table; leave it out, or name that table with --public-table"
        raise SettingError(msg)
    price = price_of(budget, args.runs)
    ready(candidates, schema, price)
    print(
        f"epsilon {price.epsilon:g} at delta {price.delta:g} buys the best of about {price.runs} runs, each of rho "
        f"{price.rho:.4g}: alone it would cost epsilon {price.run_epsilon:.4g}, so the choice costs "
        f"{price.factor:.3g} times that",
        file=sys.stderr,
    )
    if args.dry_run:
        return None
    source = source_of(open_input(args, schema), strict=args.strict)
    return choose(source, schema, candidates, budget=budget, runs=args.runs, facts=facts, dataset=args.dataset)


def chosen_on_public(
    args: argparse.Namespace,
    schema: Schema,
    candidates: Sequence[Candidate],
    budget: Budget,
    facts: PublicFacts,
) -> Measured | None:
    """A run of the candidate that is best on the public table; None in a dry run."""
    from dpsyn_core.commands.common import TerminalProgress, open_input
    from dpsyn_core.measure.sources.choice import source_of
    from dpsyn_core.runs.choose.rehearsal import rehearse
    from dpsyn_core.runs.measurement import measure
    from dpsyn_core.runs.public_table import check_apart, read_public
    from dpsyn_core.runs.spec import RunSpec

    public = Path(args.public_table)
    check_apart(public, args.table)
    print(f"note: '{public.name}' is public by your word alone: nothing protects its records", file=sys.stderr)
    progress = TerminalProgress()
    found = rehearse(
        read_public(public, schema), schema, candidates, budget=budget, runs=args.runs, n_records=args.about,
        progress=progress,
    )  # fmt: skip
    progress.close()
    best = found.best
    print(f"error of pairs (mean TVD) on '{public.name}' at {found.n_records:,} records, +- standard error:")
    for one in found.tried:
        print(f"{one.mean:.4f} +-{one.error:.4f}  {one.candidate}{'  <- chosen' if one is best else ''}")
    if found.within_noise:
        print(
            f"note: {', '.join(found.within_noise)} may be as good: the difference is within its noise", file=sys.stderr
        )
    if args.dry_run:
        return None
    spec = RunSpec.of(
        epsilon=budget.epsilon, delta=budget.delta, method=best.candidate.method,
        settings=dict(best.candidate.settings), dataset=args.dataset,
    )  # fmt: skip
    source = source_of(open_input(args, schema), strict=args.strict)
    return measure(source, schema, spec, facts=replace(facts, public_table=found.used))


def candidate_of(text: str) -> Candidate:
    """Reads METHOD:KEY=VALUE,KEY=VALUE. Raises SettingError."""
    from dpsyn_core.commands.common import parse_settings
    from dpsyn_core.runs.choose.choice import Candidate

    method, _, said = text.partition(":")
    return Candidate(method=method, settings=parse_settings(said.split(",") if said else []))
