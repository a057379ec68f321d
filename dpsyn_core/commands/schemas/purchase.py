"""`dpsyn schema draft --buy`: columns learned at a price."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from typing import Any

from dpsyn_core.commands.common import read_columns, table_name
from dpsyn_core.commands.schemas.lists import below, parse_lists, with_more
from dpsyn_core.commands.schemas.unit import typed_unit, undecided


def run_buy(args: argparse.Namespace) -> None:
    """Learns the named columns through the gate; the other columns are left out of the schema."""
    from dpsyn_core.commands.common import point_out_budget, point_out_names
    from dpsyn_core.errors import SettingError
    from dpsyn_core.runs import buy_schema

    if args.epsilon is None or args.delta is None:
        msg = "--buy needs a price: give --epsilon and --delta, for example --epsilon 0.1 --delta 1e-9"
        raise SettingError(msg)
    if args.query_vouched:
        msg = "--buy has no manifest that could state your word for a query; buy from a table"
        raise SettingError(msg)
    unit = typed_unit(args)
    name = table_name(args)
    point_out_names(args.dataset or name)
    point_out_budget(args.epsilon, args.delta)
    lists = parse_lists(args.lists)
    columns = as_written(below([parse_wanted(b) for b in args.buy], lists), args.written)
    names = [w.name for w in columns] + ([] if args.identifier is None else [args.identifier])
    say_needed(columns, unit, args.epsilon, args.delta)
    table, headers = read_columns(args, names)
    bought = buy_schema(
        table, columns, name=name, epsilon=args.epsilon, delta=args.delta, unit=unit, dataset=args.dataset
    )
    schema = with_more(bought.schema, {c: one for c, one in lists.items() if c not in names}, headers)
    undecided(schema.booked_as(args.dataset or name), headers).dump(args.out)
    count = len(columns) - len(bought.failed)
    print(f"wrote {args.out}: bought {count} columns for epsilon {args.epsilon:g} at delta {args.delta:g}")
    for column, why in bought.failed.items():
        print(f"note: nothing was found of column '{column}', which is left out: {why}")
    print(f"about {bought.total} records, by a noisy count that is part of the price")


def say_needed(wanted: list[Any], unit: Any, epsilon: float, delta: float) -> None:
    """Prints on stderr, before anything is spent, how many individuals a value needs to be released at this price."""
    from dpsyn_core.measure import people_needed
    from dpsyn_core.privacy import Budget, Unit

    needed = people_needed(wanted, Unit.of(unit), Budget(epsilon=epsilon, delta=delta))
    for one in (w for w in wanted if w.kind == "categorical"):
        print(
            f"note: a value of '{one.name}' is found where about {needed[one.name]} individuals have it",
            file=sys.stderr,
        )


def parse_wanted(text: str) -> Any:
    """COLUMN=KIND[:BINS] as a Wanted. Raises SettingError."""
    from typing import cast, get_args

    from dpsyn_core.errors import SettingError
    from dpsyn_core.measure import Kind, Wanted

    column, sign, rest = text.rpartition("=")
    kind, colon, bins = rest.partition(":")
    kinds = get_args(Kind)
    if not sign or not column or kind not in kinds or (colon and not bins.isdigit()):
        msg = f"--buy got '{text}'; it needs COLUMN=KIND[:BINS] with KIND one of {', '.join(kinds)}, as in age=integer"
        raise SettingError(msg)
    typed = cast("Kind", kind)
    return Wanted(name=column, kind=typed, bins=int(bins)) if colon else Wanted(name=column, kind=typed)


def as_written(wanted: list[Any], examples: list[str]) -> list[Any]:
    """The columns to buy, with the examples of --written. Raises SettingError, or SchemaError without an example."""
    from dpsyn_core.errors import SettingError
    from dpsyn_core.schema import formats_of

    forms = dict(e.split("=", 1) for e in examples if "=" in e)
    kinds = {w.name: w.kind for w in wanted}
    if len(forms) != len(examples) or not all(kinds.get(n, "categorical") != "categorical" for n in forms):
        msg = "--written needs COLUMN=EXAMPLE, once for a column that --buy names as integer, float or date"
        raise SettingError(msg)
    return [
        w
        if w.name not in forms
        else replace(w, formats=formats_of(forms[w.name]))
        if w.kind == "date"
        else replace(w, written=forms[w.name])
        for w in wanted
    ]
