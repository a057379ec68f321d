"""`dpsyn noise`: what every mechanism, or the phases of P3GM, would cost, before anything is spent."""

from __future__ import annotations

import argparse
from typing import Any


def add(commands: Any) -> None:
    """Declares the arguments."""
    parser = commands.add_parser("noise", help="standard deviation of one cell under every mechanism")
    parser.add_argument("--epsilon", type=float, help="needed unless --p3gm is given")
    parser.add_argument("--delta", type=float, required=True)
    parser.add_argument("--k", help="numbers of marginals that share the budget, for example 1,10,100")
    parser.add_argument("--neighbours", choices=["add-remove", "replace"], default="add-remove")
    parser.add_argument("--max-records", type=int, default=1, help="most records of an individual that are counted")
    parser.add_argument(
        "--p3gm",
        nargs="+",
        metavar="NAME=VALUE",
        help="epsilon of P3GM by its Theorem 4: sigma_p, sigma_e, sigma_s (one or more, with commas), records, batch, "
        "epochs, and parts (3) and iterations (20) of the mixture",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run, refuse=parser.error)


def run(args: argparse.Namespace) -> None:
    """Prints the eight curves at the asked k, and where they cross; or what the phases of P3GM cost."""
    if args.p3gm is not None:
        _phases(args)
        return
    missing = [f"--{name}" for name in ("epsilon", "k") if getattr(args, name) is None]
    if missing:
        args.refuse(f"the following arguments are required: {', '.join(missing)}")
    from dpsyn_core.commands.common import print_json
    from dpsyn_core.privacy import Budget, Unit, noise_curves

    unit = Unit(neighbours=args.neighbours, max_records=args.max_records)
    budget = Budget(epsilon=args.epsilon, delta=args.delta)
    document = noise_curves(budget.epsilon, budget.delta, parse_ks(args.k), unit)
    if args.json:
        print_json(document)
        return
    for name, curve in document["curves"].items():
        row = "  ".join(f"k={k}: {'-' if std is None else format(std, '.6g')}" for k, std in curve.items())
        print(f"{name:<22}{row}")
    for name, k in document["crossings"].items():
        print(f"crossing {name}: {k}")


def _phases(args: argparse.Namespace) -> None:
    """One line per sigma_s. Raises SettingError, BudgetError."""
    from dataclasses import MISSING, fields

    from dpsyn_core.commands.common import parse_settings, print_json
    from dpsyn_core.errors import SettingError
    from dpsyn_core.privacy import Phases

    given = dict(parse_settings(args.p3gm))
    needed = {f.name: f.default is MISSING for f in fields(Phases)} | {"sigma_s": True}
    wrong = sorted(set(given) - set(needed)) or [n for n, must in needed.items() if must and n not in given]
    if wrong:
        msg = f"--p3gm {'has' if wrong[0] in given else 'lacks'} '{wrong[0]}'; it takes {', '.join(needed)}"
        raise SettingError(msg)
    try:
        noises = [float(part) for part in str(given.pop("sigma_s")).split(",")]
    except ValueError:
        msg = "sigma_s of --p3gm must be numbers above 0 separated by commas, for example 1.2,1.4"
        raise SettingError(msg) from None
    phases = Phases(**given)
    rows = {f"{noise:g}": phases.epsilons(noise, args.delta) for noise in noises}
    if args.json:
        print_json({"delta": args.delta, "epsilon_by_sigma_s": rows})
        return
    for noise, epsilons in rows.items():
        print(f"sigma_s={noise}  " + "  ".join(f"{name}: epsilon {value:.4f}" for name, value in epsilons.items()))


def parse_ks(text: str) -> list[int]:
    """Whole numbers of at least 1, separated by commas. Raises SettingError."""
    from dpsyn_core.errors import SettingError

    try:
        ks = [int(part) for part in text.split(",")]
    except ValueError:
        ks = []
    if not ks or min(ks) < 1:
        msg = f"--k is '{text}'; it must be whole numbers of at least 1 separated by commas, for example 1,10,100"
        raise SettingError(msg)
    return ks
