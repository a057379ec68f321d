"""`dpsyn tune`: the best of several systems or settings, chosen privately at a stated price."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsyn_core.commands.common import add_engine, add_manifest, add_reading, place

if TYPE_CHECKING:
    from dpsyn_core.tuning.choice import Candidate


def add(commands: Any) -> None:
    """Declares the arguments."""
    parser = commands.add_parser(
        "tune",
        help="choose privately among systems or settings, and release the best run",
        description="Runs candidates a random number of times, each with a part of the budget, compares noisy scores "
        "and releases the best run alone. --dry-run says what each run gets; docs/tuning.md says when it pays.",
    )
    parser.add_argument("table", metavar="TABLE", type=place, help="as for `dpsyn synth`")
    parser.add_argument("--schema", type=Path, required=True)
    parser.add_argument("--epsilon", type=float, required=True, help="of the whole choice")
    parser.add_argument("--delta", type=float, required=True, help="above 0")
    parser.add_argument(
        "--candidate", action="append", required=True, metavar="METHOD[:KEY=VALUE,...]",
        help="a system with settings; several times: --candidate rls --candidate privbayes:degree=3",
    )  # fmt: skip
    parser.add_argument("--runs", type=int, default=3, help="their mean number, from 2 to 100; default 3")
    parser.add_argument("--dry-run", action="store_true", help="print the price and stop; reads no table")
    parser.add_argument("--dataset", help="name on the ledger; default the one that the schema keeps")
    parser.add_argument("-o", "--out", required=True, metavar="OUT.(csv|parquet)")
    add_manifest(parser)
    add_engine(parser)
    add_reading(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Price first; then, unless it is a dry run, the choice and its release."""
    from dpsyn_core.commands.common import open_input, point_out_names
    from dpsyn_core.errors import OutputError
    from dpsyn_core.privacy.budget import Budget
    from dpsyn_core.runs.release import in_memory
    from dpsyn_core.runs.writing import Places, write_release
    from dpsyn_core.schema.document import Schema
    from dpsyn_core.sources.choose import source_of
    from dpsyn_core.tuning.choice import choose, price_of, ready

    budget, schema = Budget(epsilon=args.epsilon, delta=args.delta), Schema.load(args.schema)
    candidates = [candidate_of(text) for text in args.candidate]
    price = price_of(budget, args.runs)
    ready(candidates, schema, price)
    print(
        f"epsilon {price.epsilon:g} at delta {price.delta:g} buys the best of about {price.runs} runs, each of rho "
        f"{price.rho:.4g}: alone it would cost epsilon {price.run_epsilon:.4g}, so the choice costs "
        f"{price.factor:.3g} times that",
        file=sys.stderr,
    )
    if args.dry_run:
        return
    places = Places.of(args.out, args.manifest, private=not schema.reasons)
    if Path(args.out).suffix.lower() not in (".csv", ".parquet"):
        msg = f"the output '{Path(args.out).name}' must end with .csv or .parquet"
        raise OutputError(msg)
    places.check(args.table, args.schema)
    point_out_names(args.dataset or schema.ledger_name)
    source = source_of(open_input(args, schema), strict=args.strict)
    measured = choose(source, schema, candidates, budget=budget, runs=args.runs, dataset=args.dataset)
    manifest = write_release(in_memory(measured), places)
    if not manifest.private:
        print(f"NOT PRIVATE: {'; '.join(manifest.not_private_because)}; the table is in {places}", file=sys.stderr)
        return
    print(f"wrote {manifest.n_records} records by {manifest.method} to {places}", file=sys.stderr)
    print("note: how long this took tells about the number of runs; do not publish it", file=sys.stderr)


def candidate_of(text: str) -> Candidate:
    """Reads METHOD:KEY=VALUE,KEY=VALUE. Raises SettingError."""
    from dpsyn_core.commands.common import parse_settings
    from dpsyn_core.tuning.choice import Candidate

    method, _, said = text.partition(":")
    return Candidate(method=method, settings=parse_settings(said.split(",") if said else []))
