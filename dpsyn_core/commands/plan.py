"""`dpsyn plan`: where the budget of a run would go, or from an error or a risk to epsilon; reads no table."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsyn_core.commands.common import add_run

if TYPE_CHECKING:
    from dpsyn_core.runs import Outlook, RunSpec, TreeOutlook
    from dpsyn_core.schema import Schema

KINDS = {
    "total": "number of records",
    "1-way": "single columns",
    "2-way": "pairs of columns",
    "3-way": "triples of columns",
    "chosen": "tables chosen on the way",
    "listed": "tables named in advance",
    "question": "tables that your questions need",
    "scores": "scores: which tables pay",
    "choice": "choices of the next table",
    "mean": "means of tables of pairs",
    "cell": "single counts",
    "group": "groups of columns",
    "synthetic": "tables of drawn records",
    "coefficients": "Fourier coefficients",
    "patterns": "counts of combinations of items",
    "sum": "sums over all records",
    "training": "training, by sums over samples",
    "range": "counts that a range is read from",
    "quantiles": "counts that quantiles are read from",
    "categories": "values that enough individuals share",
}


def add(commands: Any) -> None:
    """Declares the arguments."""
    parser = commands.add_parser(
        "plan",
        help="where a budget would go, or which epsilon an error or a risk needs; reads no table, spends nothing",
        description="With --epsilon, where the budget of a run would go. With --error, the smallest epsilon whose "
        "forecast error is at most that; with --gain, the largest epsilon at which no attacker gains more.",
    )
    add_run(parser)
    parser.add_argument("--error", type=float, metavar="SHARE", help="to epsilon from this error, for example 0.02")
    parser.add_argument(
        "--of", metavar="WHAT", help="the error of columns, pairs (default), or the name of a declared question"
    )
    parser.add_argument(
        "--gain", type=float, metavar="SHARE", help="to epsilon from this gain, for example 0.05: right in 55 of 100"
    )
    parser.add_argument(
        "--columns",
        metavar="NAMES",
        help="instead of a schema, names of columns, with what is known of them: 'age=number:20,sex=2,born=date:60,"
        "notes=skip,town'; what a name does not say is guessed",
    )
    parser.add_argument(
        "--outlook", action="store_true", help="also the expected error by number of records and epsilon"
    )
    parser.add_argument(
        "--n-records",
        type=int,
        dest="about",
        metavar="N_RECORDS",
        help="about how many records there are, for forecasts; default 10000",
    )
    parser.add_argument(
        "--save-settings", type=Path, metavar="S.json", help="also write the settings of the run as one file"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Prints one line a step, or one for each target."""
    from dpsyn_core.errors import SettingError

    if args.about is not None and args.about < 1:
        msg = f"--n-records is {args.about}; it must be at least 1"
        raise SettingError(msg)
    if args.error is None and args.gain is None:
        if args.of is not None:
            msg = "--of goes with --error, such as --error 0.02 --of pairs; give both, or leave it out"
            raise SettingError(msg)
        _print_plan(args)
    else:
        _print_epsilon(args)


def _print_epsilon(args: argparse.Namespace) -> None:
    """One line for each target, or JSON with the whole curve. Raises InputError."""
    from dpsyn_core.commands.common import print_json
    from dpsyn_core.errors import SettingError
    from dpsyn_core.runs import epsilon_for_gain, rounded_down

    for name in ("epsilon", "outlook", "save_settings"):
        if getattr(args, name) not in (None, False):
            msg = f"--error and --gain look for an epsilon; leave --{name.replace('_', '-')} out"
            raise SettingError(msg)
    if args.delta is None and (args.gain is not None or args.from_settings is None):
        msg = "--delta is missing; give it, for example --delta 1e-9"
        raise SettingError(msg)
    document: dict[str, Any] = {} if args.delta is None else {"delta": args.delta}
    lines = []
    if args.gain is not None:
        most = epsilon_for_gain(args.gain, args.delta)
        document["gain"] = {"gain": args.gain, "epsilon": most}
        lines.append(f"gain {args.gain:g}: epsilon {rounded_down(most):g} at most (exactly {most:.6g})")
    if args.error is not None:
        document["error"], line = _epsilon_for_error(args)
        lines.append(line)
    if args.json:
        print_json(document)
    else:
        print("\n".join(lines))


def _epsilon_for_error(args: argparse.Namespace) -> tuple[dict[str, Any], str]:
    """The smallest epsilon of an error, as a document and as a sentence."""
    from dpsyn_core.commands.common import chosen_run
    from dpsyn_core.runs import ASSUMED, EVERY, PAIRS, epsilon_for_error, gain, tree_epsilon

    args.epsilon = 1.0  # of the run whose epsilon is looked for
    spec: RunSpec
    schema: Any
    spec, schema = _of_names(args) if args.columns is not None else chosen_run(args)
    of, about, counted = args.of or PAIRS, args.about or ASSUMED, "records"
    if schema.links:
        reached = tree_epsilon(spec, schema, of=of, target=args.error, n_roots=about)
        counted = f"'{schema.root.name}', where {EVERY}"
    else:
        reached = epsilon_for_error(spec, schema, of=of, target=args.error, n_records=about)
    document: dict[str, Any] = {
        "of": reached.of,
        "target": reached.target,
        "n_records": reached.n_records,
        "epsilon": reached.epsilon,
        "curve": [list(point) for point in zip(reached.epsilons, reached.errors, strict=True)],
    }
    what = f"error {reached.target:.3g} of {reached.of} with about {reached.n_records:,} {counted}"
    epsilon = reached.rounded()
    if epsilon is None:
        most = reached.epsilons[-1]
        return document, f"{what}: not reached up to epsilon {most:g}; take more records or coarser columns"
    document["gain"] = gain(epsilon, spec.delta)
    points = 100 * document["gain"]
    return document, f"{what}: epsilon {epsilon:g}; an attacker then gains at most {points:.2g} points of 100"


def _print_plan(args: argparse.Namespace) -> None:
    """One line a step, or JSON. Raises InputError."""
    from dpsyn_core.commands.common import chosen_run, print_json
    from dpsyn_core.runs import ASSUMED, lost, lost_sentence, plan

    spec, schema = _of_names(args) if args.columns is not None else chosen_run(args)
    if schema.links:
        _print_tree(args, spec, schema)
        return
    plans = plan(spec, schema, n_records=args.about)
    assumed = schema.n_records or args.about or ASSUMED
    error = lost(plans, spec, schema, assumed)
    warning = None if error is None else lost_sentence(error, spec, schema)
    reasons = spec.facts(schema, query_vouched=False).reasons  # no table is read
    computed = _computed(schema, spec.task(schema))
    _save_settings(args, spec, schema)
    if args.json:
        about = {"method": spec.method, "epsilon": spec.epsilon, "delta": spec.delta}
        more = {"outlook": [asdict(line) for line in _outlook(spec, schema)]} if args.outlook else {}
        print_json(
            about
            | {
                "steps": described(plans),
                "computed": computed,
                "warning": warning,
                "not_private_because": list(reasons),
            }
            | more
        )
        return
    if reasons:
        print(f"NOT PRIVATE: {'; '.join(reasons)}; a run would be stamped so")
    print(f"{spec.method} at epsilon {spec.epsilon:g}, delta {spec.delta:g}; forecasts are for about {assumed} records")
    print(f"{'part of budget':<24}{'releases':<26}{'noise of a cell (std)':<24}what")
    for step in described(plans):
        low, high = (f"{100 * x:.3g}" for x in step["share"])
        share = f"up to {high}%" if low == "0" != high else spread([low, high]) + "%"
        parts = spread([str(x) for x in step["releases"]])
        if step["likely"] is not None:
            parts = f"about {spread([str(x) for x in step['likely']])} of {step['releases'][1]}"
        std = "-" if step["std"] is None else spread([f"{x:.3g}" for x in step["std"]])
        mark = "about " if step["about"] and not share.startswith("up") else ""
        print(
            f"{mark + share:<24}{parts:<26}{('about ' if step['about'] and std != '-' else '') + std:<24}{step['what']}"
        )
    for sentence in computed:
        print(sentence)
    if warning is not None:
        print(f"warning: {warning}")
    if args.outlook:
        print_outlook(_outlook(spec, schema))


def _save_settings(args: argparse.Namespace, spec: RunSpec, schema: Schema) -> None:
    """Writes the settings of the run where that was asked. Raises SettingError, OutputError."""
    from dpsyn_core.errors import SettingError
    from dpsyn_core.files import same_path
    from dpsyn_core.runs import RunSettings

    if args.save_settings is None:
        return
    if any(same_path(args.save_settings, given) for given in (args.schema, args.questions, args.from_settings)):
        msg = f"--save-settings would overwrite '{args.save_settings.name}', which is read; give it another name"
        raise SettingError(msg)
    place = RunSettings.of_run(spec, schema).dump(args.save_settings)
    if place != args.save_settings:
        print(f"note: the settings are in '{place}', for the owner alone", file=sys.stderr)


def _print_tree(args: argparse.Namespace, spec: RunSpec, schema: Any) -> None:
    """The plan of linked tables: one line a step of the run. Raises InputError."""
    from dpsyn_core.commands.common import print_json
    from dpsyn_core.runs import TreePlan, steps_of, tree_outlook

    planned = TreePlan.of(spec, schema)
    steps = steps_of(planned.working, planned.cost, planned.costs, planned.needs, pairs=planned.pairs)
    _save_settings(args, spec, schema)
    sizes = {} if args.about is None else {"sizes": [args.about]}
    outlook = tree_outlook(spec, schema, **sizes) if args.outlook else []
    if args.json:
        about = {"method": planned.config.name, "epsilon": spec.epsilon, "delta": spec.delta}
        more = {"outlook": [asdict(line) for line in outlook]} if args.outlook else {}
        print_json(about | {"steps": [asdict(s) for s in steps], "not_private_because": list(schema.reasons)} | more)
        return
    if schema.reasons:
        print(f"NOT PRIVATE: {'; '.join(schema.reasons)}; a run would be stamped so")
    print(f"{planned.config.name} at epsilon {spec.epsilon:g}, delta {spec.delta:g}, for one of '{schema.root.name}'")
    print(f"{'part of budget':<18}{'noise, in roots':<18}what")
    for step in steps:
        print(f"{f'{100 * step.share:.3g}%':<18}{step.noise:<18.3g}{step.sentence()}")
    if outlook:
        print_tree_outlook(outlook, schema.root.name)


def _of_names(args: argparse.Namespace) -> tuple[RunSpec, Schema]:
    """The run and a schema of placeholders for --columns; says on stdout what was guessed."""
    from dpsyn_core.commands.common import run_spec
    from dpsyn_core.errors import SettingError
    from dpsyn_core.runs import columns_of, schema_of

    for name in ("schema", "from_settings", "save_settings"):
        if getattr(args, name) is not None:
            flag = "--settings" if name == "from_settings" else f"--{name.replace('_', '-')}"
            msg = f"--columns and {flag} exclude each other: names of columns have no public values; give one of them"
            raise SettingError(msg)
    for name in ("epsilon", "delta"):
        if getattr(args, name) is None:
            msg = f"--{name} is missing; a plan from names of columns needs --epsilon and --delta"
            raise SettingError(msg)
    columns = columns_of(args.columns)
    if not args.json:
        guessed = [
            f"{c.name}={c.kind}:{c.values}" if c.kind != "skip" else f"{c.name}=skip" for c in columns if c.guessed
        ]
        if guessed:
            print(f"guessed from the names: {', '.join(guessed)}")
    return run_spec(args), schema_of(columns)


def _outlook(spec: RunSpec, schema: Schema) -> list[Outlook]:
    from dpsyn_core.runs import outlook

    return outlook(spec, schema)


def print_outlook(found: Sequence[Outlook]) -> None:
    """One line an epsilon, one column a number of records: single columns / measured pairs."""
    sizes = list(dict.fromkeys(o.n_records for o in found))
    print("\nexpected error of noise alone, single columns / pairs that are measured")
    print(f"{'epsilon':<10}" + "".join(f"{f'{n:,} records':>20}" for n in sizes))
    for epsilon in dict.fromkeys(o.epsilon for o in found):
        line = [f"{_error(o.columns)} / {_error(o.pairs)}" for o in found if o.epsilon == epsilon]
        print(f"{epsilon:<10g}" + "".join(f"{cell:>20}" for cell in line))


def print_tree_outlook(found: Sequence[TreeOutlook], root: str) -> None:
    """For each step one line an epsilon, one column a number of roots: single columns / measured pairs."""
    from dpsyn_core.runs import EVERY, NOT_KNOWN

    sizes = list(dict.fromkeys(o.n_roots for o in found))
    print(
        f"\nexpected error of noise alone, single columns / pairs that are measured, by the number of '{root}', where"
    )
    print(EVERY)
    for table, role in dict.fromkeys((o.table, o.role) for o in found):
        name = f"{table}: {role}" if role else table
        print(f"{name:<26}" + "".join(f"{n:>22,}" for n in sizes))
        for epsilon in dict.fromkeys(o.epsilon for o in found):
            lines = [o for o in found if (o.table, o.role, o.epsilon) == (table, role, epsilon)]
            cells = [f"{_error(o.columns)} / {'not known' if table != root else _error(o.pairs)}" for o in lines]
            print(f"{f'  epsilon {epsilon:g}':<26}" + "".join(f"{cell:>22}" for cell in cells))
    print(f"not known: {NOT_KNOWN}")


def _error(share: float | None) -> str:
    return "none" if share is None else f"{100 * share:.2g}%"


def _computed(schema: Any, task: Any) -> list[str]:
    """Sentences on the columns that are not measured."""
    if not schema.rules:
        return []
    from dpsyn_core.schema import computed_columns

    return [str(one) for one in computed_columns(schema, task.domain.names)]


def spread(ends: list[str]) -> str:
    """One number, or the least and the most."""
    return ends[0] if ends[0] == ends[-1] else f"{ends[0]} to {ends[-1]}"


def described(made: Any) -> list[dict[str, Any]]:
    """The steps of a plan, ready for JSON."""
    out = []
    for s in made.steps:
        std = made.std(s)
        out.append(
            {
                "kind": s.kind,
                "what": _what(s),
                "share": list(s.share),
                "releases": list(s.parts),
                "likely": None if s.likely is None else list(s.likely),
                "std": None if std is None else list(std),
                "cells": list(s.cells),
                "about": s.about,
                "inside": list(s.inside),
            }
        )
    return out


def _what(step: Any) -> str:
    """What a step buys, and in which part of a design."""
    words = KINDS.get(step.kind, f"tables of {step.kind.split('-')[0]} columns")
    if not step.inside:
        return words
    if step.kind == "chosen":
        words = "pairs and triples"
    return f"{words} inside the part {named(step.inside)}"


def named(columns: Sequence[str], most: int = 4) -> str:
    """The columns of a part; of many the first, and how many more there are."""
    more = f" and {len(columns) - most} more" if len(columns) > most else ""
    return ", ".join(columns[:most]) + more
