"""`dpsyn ledger`: what has been spent on each dataset, and its limit."""

from __future__ import annotations

import argparse
from typing import Any

SHOWN = (
    "seq",
    "recorded",
    "run_id",
    "method",
    "purpose",
    "neighbours",
    "max_records",
    "kind",
    "amount",
    "epsilon",
    "delta",
)


def add(commands: Any) -> None:
    """Declares the arguments."""
    parser = commands.add_parser("ledger", help="show what has been spent on each dataset")
    parser.add_argument("--dataset", help="one dataset by its name")
    parser.add_argument("--limit", type=float, metavar="EPSILON", help="set the dataset's limit at --delta")
    parser.add_argument("--delta", type=float, help="delta of the limit, or at which the spend is shown")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Prints every dataset's spend by exact composition, its runs and its limit; sets a limit when asked."""
    from dpsyn_core.commands.common import print_json
    from dpsyn_core.errors import SettingError
    from dpsyn_core.privacy.budget import Budget
    from dpsyn_core.privacy.ledger import Ledger

    ledger = Ledger()
    if args.limit is not None:
        if args.dataset is None or args.delta is None:
            msg = "--limit needs --dataset and --delta, for example --dataset clinic --limit 4 --delta 1e-9"
            raise SettingError(msg)
        ledger.set_limit(args.dataset, Budget(epsilon=args.limit, delta=args.delta))
    names = ledger.datasets() if args.dataset is None else [args.dataset]
    listed = []
    for name in names:
        entries = [{f: getattr(e, f) for f in SHOWN} for e in ledger.entries(name)]
        listed.append({**ledger.summary(name, delta=args.delta).document(), "entries": entries})
    if args.json:
        print_json({"datasets": listed})
        return
    if not listed:
        print("nothing has been spent")
    for one in listed:
        total = "unbounded" if one["epsilon"] is None else f"epsilon {one['epsilon']:.4g}"
        rho = "" if one["rho"] is None else f", rho {one['rho']:.4g}"
        who = f" ({one['neighbours']})" if one["neighbours"] else ""
        left = ""
        if one["limit_epsilon"] is not None:
            left = f"; {one['epsilon_left']:.4g} left of {one['limit_epsilon']:g} at delta {one['limit_delta']:g}"
        print(f"{one['dataset']}: {one['runs']} runs, {total} at delta {one['delta']:g}{rho}{left}{who}")
        for e in one["entries"]:
            print(f"  {e['seq']:>4}  {e['recorded']}  {e['method']:<22} epsilon {e['epsilon']:g} delta {e['delta']:g}")
