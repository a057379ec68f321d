"""`dpsyn methods`: the systems, what they promise and their settings."""

from __future__ import annotations

import argparse
from typing import Any


def add(commands: Any) -> None:
    """Declares the arguments."""
    parser = commands.add_parser("methods", help="list the systems and their settings")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Prints every registered system."""
    from dpsyn_core.commands.common import print_json
    from dpsyn_core.systems import registry

    listed = [registry.describe(name) for name in (*registry.names(), *registry.UNPROTECTED)]
    others = registry.others()
    if args.json:
        print_json([*listed, *({"name": n, "package": p, "version": v} for n, (p, v) in others.items())])
        return
    for method in listed:
        mark = " (default)" if method["name"] == registry.DEFAULT else ""
        mark = " (NOT PRIVATE)" if method["unprotected"] else mark
        print(f"{method['name']}{mark}\n  {method['summary']}")
        if method["missing"]:
            print(f"  not installed here: {method['missing']}")
        print(f"  guarantee: {method['guarantee']}; neighbours: {', '.join(method['neighbours'])}")
        for s in method["settings"]:
            print(f"    {s['name']} = {s['default']!r}  {s['help']}")
        print()
    for name, (package, version) in others.items():
        print(
            f"{name} (not one of ours)\n  of the package {package} {version}, whose code is loaded when it is named\n"
        )
