"""`dpsyn ledger`: what has been spent on each dataset, and its limit."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

SHOWN = (
    "seq",
    "recorded",
    "run_id",
    "method",
    "purpose",
    "neighbours",
    "max_records",
    "individuals",
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
    parser.add_argument("--no-limit", action="store_true", help="lift the dataset's limit")
    parser.add_argument("--delta", type=float, help="delta of the limit, or at which the spend is shown")
    parser.add_argument(
        "--manifest", type=Path, nargs="+", default=[], metavar="M.json", help="check that the ledger holds these runs"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Prints every dataset's spend by exact composition, its runs and its limit; sets a limit when asked."""
    from dpsyn_core.commands.common import print_json
    from dpsyn_core.errors import SettingError
    from dpsyn_core.privacy import Budget, Ledger

    ledger = Ledger()
    if args.limit is not None:
        if args.dataset is None or args.delta is None:
            msg = "--limit needs --dataset and --delta, for example --dataset clinic --limit 4 --delta 1e-9"
            raise SettingError(msg)
        ledger.set_limit(args.dataset, Budget(epsilon=args.limit, delta=args.delta))
    if args.no_limit:
        if args.dataset is None or args.limit is not None:
            msg = "--no-limit needs --dataset and no --limit, for example --dataset clinic --no-limit"
            raise SettingError(msg)
        ledger.set_limit(args.dataset, None)
    if args.manifest:
        check_manifests(ledger, args.manifest)
        return
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
        print("\n".join(lines(one)))


def check_manifests(ledger: Any, paths: list[Path]) -> None:
    """Says that the ledger holds the run of each manifest. Raises LedgerError for the first that it does not hold."""
    from dpsyn_core.privacy import Manifest

    for path in paths:
        entry = ledger.check_run(Manifest.load(path))
        print(f"{path.name}: entry {entry.seq} of the ledger, dataset '{entry.dataset}', after the rows of that time")


def lines(one: dict[str, Any]) -> list[str]:
    """A dataset's sums, one line for everybody whom a run protects, and its runs."""
    from dpsyn_core.privacy import UNPROTECTED

    limit = ""
    if one["limit_epsilon"] is not None:
        limit = f"; {one['epsilon_left']:.4g} left of {one['limit_epsilon']:g} at delta {one['limit_delta']:g}"
    out = [f"{one['dataset']}: {one['runs']} run{'s' * (one['runs'] != 1)}{limit}"]
    for s in one["sums"]:
        who = f"  {s['who']} ({s['neighbours']}): "
        if s["unbounded"]:
            out.append(f"{who}no bound, for nothing is promised to them by {_entries(s['unbounded'])}")
            continue
        total = "unbounded" if s["epsilon"] is None else f"epsilon {s['epsilon']:.4g}"
        rho = "" if s["rho"] is None else f", rho {s['rho']:.4g}"
        out.append(f"{who}{total} at delta {one['delta']:g}{rho}")
    for e in one["entries"]:
        whom = "unit not written down" if e["individuals"] is None else e["individuals"] or "each record"
        at_most = f", at most {e['max_records']}" if e["max_records"] > 1 else ""
        promised = f"epsilon {e['epsilon']:g} delta {e['delta']:g}  ({whom}{at_most}, {e['neighbours']})"
        if e["purpose"] == UNPROTECTED:
            promised = "NOT PRIVATE: no noise was added, and nothing is promised"
        out.append(f"  {e['seq']:>4}  {e['recorded']}  {e['method']:<22} {promised}")
    return out


def _entries(seqs: list[int]) -> str:
    """A few entries by their numbers."""
    shown = ", ".join(map(str, seqs[:5]))
    more = f" and {len(seqs) - 5} more" if len(seqs) > 5 else ""
    return f"entry {shown}" if len(seqs) == 1 else f"entries {shown}{more}"
