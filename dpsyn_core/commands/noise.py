"""`dpsyn noise`: what every mechanism would cost, before anything is spent."""

from __future__ import annotations

import argparse
from typing import Any


def add(commands: Any) -> None:
    """Declares the arguments."""
    parser = commands.add_parser("noise", help="standard deviation of one cell under every mechanism")
    parser.add_argument("--epsilon", type=float, required=True)
    parser.add_argument("--delta", type=float, required=True)
    parser.add_argument("--k", required=True, help="numbers of marginals that share the budget, for example 1,10,100")
    parser.add_argument("--neighbours", choices=["add-remove", "replace"], default="add-remove")
    parser.add_argument("--max-records", type=int, default=1, help="most records of an individual that are counted")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Prints the eight curves at the asked k, and where they cross."""
    from dpsyn_core.commands.common import print_json
    from dpsyn_core.privacy.budget import Budget
    from dpsyn_core.privacy.curves import noise_curves
    from dpsyn_core.privacy.unit import Unit

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
