"""`dpsyn epsilon`: from an error that can be borne, or from what an attacker may gain, to epsilon; reads no table."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add(commands: Any) -> None:
    """Declares the arguments."""
    parser = commands.add_parser(
        "epsilon", help="from an error or a risk to epsilon; reads no table, spends nothing",
        description="Give --error for the smallest epsilon whose forecast error is at most that, --gain for the "
        "largest epsilon at which no attacker gains more, or both.",
    )  # fmt: skip
    parser.add_argument("--error", type=float, metavar="SHARE", help="for example 0.02 for 2 %%; needs --schema")
    parser.add_argument(
        "--of", default="pairs", metavar="WHAT", help="of columns, pairs (default), or the name of a declared question"
    )
    parser.add_argument("--gain", type=float, metavar="SHARE", help="for example 0.05: right in 55 of 100 guesses")
    parser.add_argument("--delta", type=float, required=True, help="0 for pure DP")
    parser.add_argument("--schema", type=Path)
    parser.add_argument("--method", help="a name from `dpsyn methods`; default the most accurate")
    parser.add_argument("--questions", type=Path, metavar="Q.json", help="default those of the schema")
    parser.add_argument("--questions-share", type=float, metavar="S")
    parser.add_argument("--set", dest="settings", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument(
        "--n-records", type=int, dest="about", metavar="N",
        help="about how many records there are, as is publicly known: the epsilon rests on it; default 10000",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print JSON, with the whole curve")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Prints a line for each of the two, or JSON."""
    from dpsyn_core.commands.common import print_json
    from dpsyn_core.errors import SettingError
    from dpsyn_core.runs.choose.backwards import epsilon_for_gain, gain, rounded_down

    if args.error is None and args.gain is None:
        msg = (
            "there is neither --error nor --gain; say what error is allowed (0.02), or what an attacker may gain (0.05)"
        )
        raise SettingError(msg)
    document: dict[str, Any] = {"delta": args.delta}
    lines = []
    if args.gain is not None:
        most = epsilon_for_gain(args.gain, args.delta)
        document["gain"] = {"gain": args.gain, "epsilon": most}
        lines.append(f"gain {args.gain:g}: epsilon {rounded_down(most):g} at most (exactly {most:.6g})")
    if args.error is not None:
        found = _reached(args)
        epsilon = found.rounded()
        document["error"] = {
            "of": found.of, "target": found.target, "n_records": found.n_records, "epsilon": found.epsilon,
            "curve": [list(point) for point in zip(found.epsilons, found.errors, strict=True)],
        }  # fmt: skip
        what = f"error {found.target:.3g} of {found.of} with about {found.n_records:,} records"
        if epsilon is None:
            lines.append(
                f"{what}: not reached up to epsilon {found.epsilons[-1]:g}; take more records or coarser columns"
            )
        else:
            most = gain(epsilon, args.delta)
            document["error"]["gain"] = most
            lines.append(f"{what}: epsilon {epsilon:g}; an attacker then gains at most {100 * most:.2g} points of 100")
    if args.json:
        print_json(document)
        return
    print("\n".join(lines))


def _reached(args: argparse.Namespace) -> Any:
    from dpsyn_core.commands.common import run_spec
    from dpsyn_core.commands.trees import one_table
    from dpsyn_core.errors import SettingError
    from dpsyn_core.runs.choose.backwards import epsilon_for_error
    from dpsyn_core.runs.plan import ASSUMED

    if args.schema is None:
        msg = "--schema is missing; an error is forecast from the schema of a table"
        raise SettingError(msg)
    if args.about is not None and args.about < 1:
        msg = f"--n-records is {args.about}; it must be at least 1"
        raise SettingError(msg)
    spec, schema = run_spec(args, epsilon=1.0), one_table("epsilon", args.schema)
    return epsilon_for_error(spec, schema, of=args.of, target=args.error, n_records=args.about or ASSUMED)
