"""`dpsyn benchmark`: systems on a table whose process is public and whose draw nobody knew before."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpsyn_core.runs.choose.processes import Draw

METRICS = ("tvd-1way", "tvd-2way", "tvd-3way")


def add(commands: Any) -> None:
    """Declares the arguments."""
    parser = commands.add_parser(
        "benchmark",
        help="compare systems on an invented table that nobody can have tuned to",
        description="Makes a table of a named public process from a secret seed, runs systems on it, prints their "
        "errors, and then reveals the seed. The digest of process, size and seed is printed first: published before "
        "the systems are handed in, it proves that the draw was not chosen to suit one of them.",
    )
    parser.add_argument("--process", default="classes", help="classes, tree, blocks or numbers; default classes")
    parser.add_argument("--records", type=int, default=20_000, help="default 20000")
    parser.add_argument("--columns", type=int, default=12, help="default 12")
    parser.add_argument("--methods", default="rls,independent", help="comma-separated; default rls,independent")
    parser.add_argument("--epsilon", type=float, default=1.0, help="default 1")
    parser.add_argument("--delta", type=float, default=1e-9, help="default 1e-9")
    parser.add_argument("--repeats", type=int, default=1, help="runs of each system, whose errors are averaged")
    parser.add_argument(
        "--commit", type=Path, metavar="SECRET.json",
        help="only draw a seed: keep it in this new file, for you alone, and print the digest to publish",
    )  # fmt: skip
    parser.add_argument(
        "--secret", type=Path, metavar="SECRET.json", help="use the draw of such a file, and reveal it afterwards"
    )
    parser.add_argument("--json", type=Path, metavar="OUT.json", help="also write digest, draw and errors")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Digest first, then the errors, then the seed. Raises InputError before anything is made."""
    from dpsyn_core.runs.choose.processes import Draw

    if args.commit is not None:
        _commit(args, Draw.fresh(args.process, args.records, args.columns))
        return
    _check(args)
    draw = Draw.fresh(args.process, args.records, args.columns) if args.secret is None else _kept(args.secret)
    print(f"digest of process, size and seed: {draw.commitment}", flush=True)
    methods = list(dict.fromkeys(args.methods.split(",")))
    found = {method: measured(draw, method, args.epsilon, args.delta, args.repeats) for method in methods}
    print(f"{draw.records:,} records x {draw.columns} columns of '{draw.process}', epsilon {args.epsilon:g}")
    print(f"{'method':<14}{'1-way':>9}{'2-way':>9}{'3-way':>9}")
    for method, errors in sorted(found.items(), key=lambda item: item[1][1]):
        print(f"{method:<14}" + "".join(f"{e:>9.4f}" for e in errors))
    print(f"the draw: {json.dumps(draw.document(), sort_keys=True)}")
    if args.json is not None:
        from dpsyn_core.files import write_text

        named = {m: dict(zip(METRICS, e, strict=True)) for m, e in found.items()}
        document = {"version": 1, "digest": draw.commitment, "draw": draw.document(), "epsilon": args.epsilon}
        document |= {"delta": args.delta, "repeats": args.repeats, "errors": named}
        write_text(args.json, json.dumps(document, indent=2) + "\n")


def measured(draw: Draw, method: str, epsilon: float, delta: float, repeats: int) -> list[float]:
    """Mean total variation distances of 1-, 2- and 3-way marginals. The records are nobody's: no ledger is charged."""
    import tempfile

    import numpy as np

    from dpsyn_core.evaluate.base import Score, compute
    from dpsyn_core.evaluate.loader import compare_tables
    from dpsyn_core.privacy.ledger.ledger import Ledger
    from dpsyn_core.runs.release import synthesize

    table, schema = draw.table()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(Path(folder) / "ledger.sqlite3")
        for repeat in range(repeats):
            made = synthesize(
                table, schema, epsilon=epsilon, delta=delta, rng=repeat, method=method, ledger=ledger,
                dataset=f"repeat {repeat}",
            )  # fmt: skip
            scores = compute(compare_tables(schema, made.arrow, table), list(METRICS))
            for score in scores.values():
                if not isinstance(score, Score):
                    raise score
            rows.append([float(scores[m].value) for m in METRICS])  # type: ignore[union-attr]
    return [float(x) for x in np.mean(rows, axis=0)]


def _check(args: argparse.Namespace) -> None:
    """Refuses unknown systems and budgets before a seed is drawn."""
    from dpsyn_core.errors import SettingError
    from dpsyn_core.runs.spec import RunSpec

    if args.repeats < 1:
        msg = f"the number of repeats is {args.repeats}; it must be at least 1"
        raise SettingError(msg)
    for method in args.methods.split(","):
        spec = RunSpec.of(epsilon=args.epsilon, delta=args.delta, method=method)
        spec.budget.check_spendable()
        spec.config  # noqa: B018 its settings are checked by making it


def _commit(args: argparse.Namespace, draw: Draw) -> None:
    """Keeps a draw for later. Raises OutputError for a file that is there already."""
    from dpsyn_core.errors import OutputError
    from dpsyn_core.files import write_text

    if args.commit.exists():
        msg = f"'{args.commit.name}' is there already, and may hold a draw whose digest is published; name a new file"
        raise OutputError(msg)
    write_text(args.commit, json.dumps(draw.document(), sort_keys=True) + "\n", private=True)
    print(f"digest of process, size and seed: {draw.commitment}")


def _kept(path: Path) -> Draw:
    """The draw that `--commit` kept. Raises InputError."""
    from dpsyn_core.errors import InputError
    from dpsyn_core.runs.choose.processes import Draw

    try:
        return Draw.of(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        msg = f"'{path.name}' is no draw that --commit kept; give that file, or leave --secret out for a fresh draw"
        raise InputError(msg) from error
