"""`dpsyn grid`: systems x epsilons x repeats on a table that is declared public, scored against it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from dpsyn_core.commands.common import add_reading, place

EPSILONS = "0.1,1,10"


def add(commands: Any) -> None:
    """Declares the arguments."""
    parser = commands.add_parser(
        "grid", help="compare systems at several epsilons on a PUBLIC table",
        description="Every run is scored against the table itself, and nothing is booked: for public tables alone.",
    )  # fmt: skip
    parser.add_argument("table", metavar="PUBLIC", type=place, help="a table that may be published unchanged")
    parser.add_argument("--schema", type=Path, required=True)
    parser.add_argument("--public", action="store_true", help="you declare that this table is public; needed")
    parser.add_argument("--methods", default="rls,dpsyn,independent", metavar="A,B", help="default %(default)s")
    parser.add_argument("--epsilons", default=EPSILONS, metavar="E,F", help="default %(default)s")
    parser.add_argument("--delta", type=float, default=1e-9, help="default %(default)s")
    parser.add_argument("--repeats", type=int, default=2, help="runs of each cell; default %(default)s")
    parser.add_argument("-o", "--out", type=Path, metavar="OUT.csv", help="one line a run")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    add_reading(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Prints one line a system: the mean error of pairs at each epsilon, with half its interval."""
    from dpsyn_core.commands.common import TerminalProgress, read_input
    from dpsyn_core.commands.trees import one_table
    from dpsyn_core.errors import OutputError
    from dpsyn_core.files import check_writable, same_path, write_text
    from dpsyn_core.progress import silent
    from dpsyn_core.runs.choose.grid import check, grid

    spec = _spec(args)
    check(spec)
    if args.out is not None:
        if same_path(args.out, args.table) or same_path(args.out, args.schema):
            msg = f"'{args.out.name}' is an input and the output; give the output its own name"
            raise OutputError(msg)
        check_writable(args.out)
    schema = one_table("grid", args.schema)
    progress = silent if args.quiet else TerminalProgress()
    found = grid(read_input(args), schema, spec, progress=progress)
    if isinstance(progress, TerminalProgress):
        progress.close()
    if args.out is not None:
        write_text(args.out, found.csv())
    print("\n".join(lines(found, spec)))


def _spec(args: argparse.Namespace) -> Any:
    from pydantic import ValidationError

    from dpsyn_core.errors import SettingError
    from dpsyn_core.runs.choose.document import GridSpec

    methods = tuple(m.strip() for m in args.methods.split(",") if m.strip())
    try:
        epsilons = tuple(float(e) for e in args.epsilons.split(",") if e.strip())
        return GridSpec(
            epsilon=epsilons[0] if epsilons else 1.0, delta=args.delta, method=methods[0] if methods else "",
            methods=methods, epsilons=epsilons, repeats=args.repeats, public=args.public,
        )  # fmt: skip
    except ValidationError as error:
        first = error.errors()[0]
        msg = f"--{first['loc'][0]} is {first['input']!r:.60}: {first['msg']}"
        raise SettingError(msg) from error
    except ValueError as error:
        msg = f"--epsilons is '{args.epsilons[:60]}'; it must be numbers separated by commas, for example {EPSILONS}"
        raise SettingError(msg) from error


def lines(found: Any, spec: Any) -> list[str]:
    """The table of means, the floor, and what was refused."""
    score = "pairs" if found.cells("pairs") else "columns"
    at = {(c.method, c.epsilon): c for c in found.cells(score)}
    out = [
        f"error of {'pairs' if score == 'pairs' else 'single columns'} (mean TVD) +- half of its 95 % interval",
        f"{'system, epsilon':<24}" + "".join(f"{e:>16g}" for e in spec.epsilons),
    ]
    for method in spec.methods:
        cells = [at.get((method, e)) for e in spec.epsilons]
        words = ["refused" if c is None else _words(c.mean, c.half) for c in cells]
        out.append(f"{method:<24}" + "".join(f"{w:>16}" for w in words))
    floor = getattr(found, f"{score}_floor")
    if floor is not None:
        out.append(f"a fresh sample of {found.n_records:,} records: {floor:.4f}")
    return [*out, *(f"{name}: {why}" for name, why in found.refused.items())]


def _words(mean: float, half: float | None) -> str:
    return f"{mean:.4f}" if half is None else f"{mean:.4f} +-{half:.4f}"
