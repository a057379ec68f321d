"""`dpsyn registry`: the entry of a release for the public registry of differential-privacy deployments."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

ASKED = {
    "curator": "who publishes the table",
    "use": "what the table is for",
    "region": "the region that it describes, or whose law applies",
    "author": "who writes this entry",
}


def add(commands: Any) -> None:
    """Declares the arguments."""
    from dpsyn_core.report import CURATORS, SECTORS

    parser = commands.add_parser(
        "registry",
        help="write the entry of a release for the OpenDP registry of deployments",
        description="The manifest says most of it. Four things only a person knows: name them, or they are asked for.",
    )
    parser.add_argument("manifest", metavar="M.json", type=Path)
    for name, meaning in ASKED.items():
        parser.add_argument(f"--{name}", metavar="TEXT", help=meaning)
    parser.add_argument("--curator-type", choices=CURATORS, default=CURATORS[0], help="default %(default)s")
    parser.add_argument("--sector", choices=SECTORS)
    parser.add_argument("--published", metavar="YYYY-MM-DD", help="when the table was published; default today")
    parser.add_argument("-o", "--out", type=Path, metavar="NAME.yaml", help="default after the dataset")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Asks for what is missing and writes the entry."""
    from datetime import UTC, datetime

    from dpsyn_core.files import check_writable, write_text
    from dpsyn_core.privacy import Manifest
    from dpsyn_core.report import Person, entry, file_name, to_yaml

    stated = Manifest.load(args.manifest)
    out = args.out or Path(file_name(stated))
    check_writable(out)
    words = {name: getattr(args, name) for name in ASKED}
    person = Person(
        **(words | answered([name for name, text in words.items() if text is None])),
        kind=args.curator_type,
        published=args.published or datetime.now(UTC).date().isoformat(),
        sector=args.sector,
    )
    write_text(out, to_yaml(entry(stated, person)))
    print(f"wrote {out}; read it, and send it to the registry as a pull request")


def answered(names: list[str]) -> dict[str, str]:
    """Asks on the terminal. Raises SettingError where there is none to ask on."""
    from dpsyn_core.errors import SettingError

    if names and not sys.stdin.isatty():
        msg = f"the entry needs what only a person knows; add {', '.join(f'--{n} TEXT' for n in names)}"
        raise SettingError(msg)
    return {name: input(f"{ASKED[name]}: ").strip() for name in names}
