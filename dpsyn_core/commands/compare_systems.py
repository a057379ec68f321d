"""`dpsyn compare-systems`: systems x epsilons x repeats on a public table, or on an invented one that nobody knew."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsyn_core.commands.common import add_reading, place

if TYPE_CHECKING:
    from dpsyn_core.runs import Candidate, ComparisonSpec, Draw, SystemsComparison
    from dpsyn_core.schema import Schema

EPSILONS = "0.1,1,10"
USUAL = ("rls", "dpsyn", "independent")
SCORES = {"pairs": "pairs", "columns": "single columns", "triples": "triples"}


def add(commands: Any) -> None:
    """Declares the arguments."""
    parser = commands.add_parser(
        "compare-systems",
        help="compare systems and settings on a PUBLIC table, or on an invented one",
        description="Every run is scored against the table itself, and nothing is booked: for public tables alone. "
        "With --process, the table is invented by a named public process from a secret seed: the digest of process, "
        "size and seed is printed first, and the seed is revealed last. A digest that was published before the systems "
        "were handed in proves that the draw was not chosen to suit one of them.",
    )
    parser.add_argument(
        "table", metavar="PUBLIC", nargs="?", type=place, help="a table that may be published unchanged"
    )
    parser.add_argument("--schema", type=Path)
    parser.add_argument("--public", action="store_true", help="you declare that this table is public; needed")
    parser.add_argument("--process", metavar="NAME", help="instead of PUBLIC: classes, tree, blocks or numbers")
    parser.add_argument("--records", type=int, metavar="N", help="of an invented table; default 20000")
    parser.add_argument("--columns", type=int, metavar="N", help="of an invented table; default 12")
    parser.add_argument(
        "--commit",
        type=Path,
        metavar="SECRET.json",
        help="only draw a seed: keep it in this new file, for you alone, and print the digest to publish",
    )
    parser.add_argument(
        "--secret", type=Path, metavar="SECRET.json", help="use the draw of such a file, and reveal it afterwards"
    )
    parser.add_argument(
        "--system",
        action="append",
        dest="systems",
        metavar="METHOD[:KEY=VALUE,...]",
        help=f"a system with settings, such as privbayes:degree=3; several times; default {', '.join(USUAL)}",
    )
    parser.add_argument("--epsilons", default=EPSILONS, metavar="E,F", help="default %(default)s")
    parser.add_argument("--delta", type=float, default=1e-9, help="default %(default)s")
    parser.add_argument("--repeats", type=int, default=2, help="runs of each cell; default %(default)s")
    parser.add_argument(
        "--n-records",
        type=int,
        dest="about",
        metavar="N_RECORDS",
        help="records of each run, drawn from PUBLIC: about how many the private table is publicly known to have",
    )
    parser.add_argument("-o", "--out", type=Path, metavar="OUT.csv", help="one line a run")
    parser.add_argument("--json", type=Path, metavar="OUT.json", help="all runs, and the draw of an invented table")
    parser.add_argument(
        "--save-settings",
        type=Path,
        metavar="S.json",
        help="the best system at the one epsilon, as settings for `dpsyn synth --settings`; they name PUBLIC",
    )
    parser.add_argument("--quiet", action="store_true", help="no progress")
    add_reading(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Prints the mean error of each system at each epsilon, with half its interval, and the best of each epsilon."""
    from dpsyn_core.errors import SettingError

    invented = args.process is not None or args.commit is not None or args.secret is not None
    if invented and args.table is not None:
        msg = "there are a table and a process; compare systems on one of the two"
        raise SettingError(msg)
    only = ("schema", "about", "save_settings") if invented else ("records", "columns")
    for name in only:
        if getattr(args, name) is not None:
            msg = f"--{name.replace('_', '-')} goes {'with a table' if invented else 'with --process'}; leave it out"
            raise SettingError(msg)
    if invented:
        _on_process(args)
    else:
        _on_table(args)


def _on_table(args: argparse.Namespace) -> None:
    """The comparison on a table that its owner declares public. Raises InputError."""
    from dpsyn_core.commands.common import read_input
    from dpsyn_core.commands.trees import one_table
    from dpsyn_core.errors import OutputError, SettingError
    from dpsyn_core.files import same_path
    from dpsyn_core.runs import check_comparison, check_not_withheld

    if args.table is None or args.schema is None:
        msg = "a comparison needs a public table with its --schema, or --process with the name of a public process"
        raise SettingError(msg)
    spec = _spec(args, public=args.public)
    check_comparison(spec)
    if args.save_settings is not None and (len(spec.epsilons) > 1 or not isinstance(args.table, Path)):
        msg = "--save-settings keeps the best system at one epsilon on the table of a file; give one of each"
        raise SettingError(msg)
    for out in _outputs(args):
        if same_path(out, args.table) or same_path(out, args.schema):
            msg = f"'{out.name}' is an input and the output; give the output its own name"
            raise OutputError(msg)
    if isinstance(args.table, Path):
        check_not_withheld(args.table)
    schema = one_table("compare-systems", args.schema)
    result = _compared(read_input(args), schema, spec, args)
    if args.json is not None:
        _write_json(args.json, result.model_dump(mode="json"))
    if args.save_settings is not None:
        _save_settings(args, schema, spec, result)


def _save_settings(args: argparse.Namespace, schema: Schema, spec: ComparisonSpec, result: SystemsComparison) -> None:
    """The best candidate as the settings of a run, with the public table that chose it. Raises InputError."""
    from dpsyn_core.errors import SettingError
    from dpsyn_core.runs import RunSettings, RunSpec, read_public

    ranking = result.ranking(spec.epsilons[0])
    if not ranking:
        msg = "no system could be run, so there are no settings to keep; take other systems"
        raise SettingError(msg)
    best = next(c for c in spec.candidates if str(c) == ranking[0].method)
    chosen = RunSpec.of(
        epsilon=spec.epsilons[0],
        delta=spec.delta,
        method=best.method,
        settings=best.settings,
        chosen_on=read_public(args.table, schema).used([str(c) for c in spec.candidates]),
    )
    print(f"settings of {best} in '{RunSettings.of_run(chosen, schema).dump(args.save_settings)}'")


def _on_process(args: argparse.Namespace) -> None:
    """Digest first, then the errors, then the seed. Raises InputError before anything is computed."""
    from dpsyn_core.runs import Draw, check_comparison

    if args.secret is None:
        records, columns = (
            (20_000 if args.records is None else args.records),
            (12 if args.columns is None else args.columns),
        )
        draw = Draw.fresh(args.process or "classes", records, columns)
    else:
        draw = _kept(args.secret)
    if args.commit is not None:
        _commit(args.commit, draw)
        return
    spec = _spec(args, public=True, triples=True)
    check_comparison(spec)
    print(f"digest of process, size and seed: {draw.commitment}", flush=True)
    table, schema = draw.table()
    print(f"{draw.records:,} records x {draw.columns} columns of '{draw.process}'")
    result = _compared(table, schema, spec, args)
    print(f"the draw: {json.dumps(draw.document(), sort_keys=True)}")
    if args.json is not None:
        _write_json(args.json, {"digest": draw.commitment, "draw": draw.document()} | result.model_dump(mode="json"))


def _compared(table: Any, schema: Schema, spec: ComparisonSpec, args: argparse.Namespace) -> SystemsComparison:
    """The comparison, printed and, where it is asked for, written as CSV."""
    from dpsyn_core.commands.common import TerminalProgress
    from dpsyn_core.files import check_writable, write_text
    from dpsyn_core.progress import silent
    from dpsyn_core.runs import compare_systems

    for out in _outputs(args):
        check_writable(out)
    progress = silent if args.quiet else TerminalProgress()
    result = compare_systems(table, schema, spec, progress=progress)
    if isinstance(progress, TerminalProgress):
        progress.close()
    if args.out is not None:
        write_text(args.out, result.csv())
    print("\n".join(lines(result, spec)))
    return result


def _outputs(args: argparse.Namespace) -> list[Path]:
    return [path for path in (args.out, args.json, args.save_settings) if path is not None]


def _write_json(path: Path, document: dict[str, Any]) -> None:
    from dpsyn_core.files import write_text

    write_text(path, json.dumps({"version": 1} | document, indent=2) + "\n")


def _spec(args: argparse.Namespace, *, public: bool, triples: bool = False) -> ComparisonSpec:
    from pydantic import ValidationError

    from dpsyn_core.errors import SettingError
    from dpsyn_core.runs import ComparisonSpec

    try:
        epsilons = [float(e) for e in args.epsilons.split(",") if e.strip()]
    except ValueError as error:
        msg = f"--epsilons is '{args.epsilons[:60]}'; it must be numbers separated by commas, for example {EPSILONS}"
        raise SettingError(msg) from error
    try:
        return ComparisonSpec.of_candidates(
            [candidate_of(text) for text in args.systems or USUAL],
            epsilons,
            delta=args.delta,
            repeats=args.repeats,
            about=args.about,
            triples=triples,
            public=public,
        )
    except ValidationError as error:
        first = error.errors()[0]
        flag = {"about": "n-records"}.get(str(first["loc"][0]), first["loc"][0])
        msg = f"--{flag} is {first['input']!r:.60}: {first['msg']}"
        raise SettingError(msg) from error


def candidate_of(text: str) -> Candidate:
    """Reads METHOD:KEY=VALUE,KEY=VALUE. Raises SettingError."""
    from dpsyn_core.commands.common import parse_settings
    from dpsyn_core.runs import Candidate

    method, _, settings = text.partition(":")
    return Candidate(method=method, settings=dict(parse_settings(settings.split(",") if settings else [])))


def lines(result: SystemsComparison, spec: ComparisonSpec) -> list[str]:
    """The means of each score, the floor, the best of each epsilon, and what was refused."""
    shown = ["columns", "pairs", "triples"] if spec.triples else [result.score]
    out = [line for score in shown if result.cells(score) for line in _means(result, spec, score)]
    for epsilon in spec.epsilons:
        if ranking := result.ranking(epsilon):
            close = result.within_noise(epsilon)
            doubt = f"; {', '.join(close)} may be as good: the difference is within its noise" if close else ""
            out.append(f"best at epsilon {epsilon:g}: {ranking[0].method}{doubt}")
    return [*out, *(f"{name}: {why}" for name, why in result.refused.items())]


def _means(result: SystemsComparison, spec: ComparisonSpec, score: str) -> Sequence[str]:
    at = {(c.method, c.epsilon): c for c in result.cells(score)}
    out = [
        f"error of {SCORES[score]} (mean TVD) +- half of its 95% interval",
        f"{'system, epsilon':<24}" + "".join(f"{e:>16g}" for e in spec.epsilons),
    ]
    for method in map(str, spec.candidates):
        cells = [at.get((method, e)) for e in spec.epsilons]
        words = ["refused" if c is None else _words(c.mean, c.half) for c in cells]
        out.append(f"{method:<24}" + "".join(f"{w:>16}" for w in words))
    floor = getattr(result, f"{score}_floor", None)
    return out if floor is None else [*out, f"a fresh sample of {result.n_records:,} records: {floor:.4f}"]


def _words(mean: float, half: float | None) -> str:
    return f"{mean:.4f}" if half is None else f"{mean:.4f} +-{half:.4f}"


def _commit(path: Path, draw: Draw) -> None:
    """Keeps a draw for later. Raises OutputError for a file that is there already."""
    from dpsyn_core.errors import OutputError
    from dpsyn_core.files import write_text

    if path.exists():
        msg = f"'{path.name}' is there already, and may hold a draw whose digest is published; name a new file"
        raise OutputError(msg)
    write_text(path, json.dumps(draw.document(), sort_keys=True) + "\n", private=True)
    print(f"digest of process, size and seed: {draw.commitment}")


def _kept(path: Path) -> Draw:
    """The draw that `--commit` kept. Raises InputError."""
    from dpsyn_core.errors import InputError
    from dpsyn_core.runs import Draw

    try:
        return Draw.of(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        msg = f"'{path.name}' is no draw that --commit kept; give that file, or leave --secret out for a fresh draw"
        raise InputError(msg) from error
