"""Buys a schema: reserves a budget on the ledger, then learns ranges, bins and categories through the gate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpsyn_core.measure import Discovery, Wanted, cap_of, check_columns, discover
from dpsyn_core.privacy import Budget, Ledger, Unit
from dpsyn_core.progress import Progress, silent
from dpsyn_core.runs.open import open_run
from dpsyn_core.schema import SchemaUnit
from dpsyn_core.systems import check_shares
from dpsyn_core.tables import to_arrow

PARTS = 1024  # no release of a discovery gets less of its column's share than one in so many


def buy_schema(
    table: Any,
    wanted: Sequence[Wanted],
    *,
    name: str,
    epsilon: float,
    delta: float,
    unit: SchemaUnit | None = None,
    dataset: str | None = None,
    ledger: Ledger | None = None,
    progress: Progress = silent,
) -> Discovery:
    """Buys kinds, ranges and values of columns at a price.

    Guarantee: (epsilon, delta)-DP for the unit; the whole price is on the ledger before the table is looked at.

    Args:
        table: pandas, polars or pyarrow; private.
        wanted: columns to buy, and their kinds.
        name: of the schema.
        epsilon: price, beside what later runs spend.
        delta: price; above 0 for categories.
        unit: who is protected; default each record.
        dataset: name on the ledger; None takes `name`.
        ledger: None is the ledger in DPSYN_HOME.
        progress: receives the number of finished columns.

    Raises:
        InputError: before anything is charged, when budget, columns or the names of individuals do not fit.
    """
    budget = Budget(epsilon=epsilon, delta=delta)
    who = SchemaUnit() if unit is None else unit
    cost, failure = cap_of(wanted, budget, Unit.of(who))
    check_shares(cost, Unit.of(who), parts=PARTS * max(len(wanted), 1))
    frame = to_arrow(table)
    check_columns(frame, wanted, who)
    run = open_run(
        name if dataset is None else dataset,
        cost,
        budget=budget,
        unit=Unit.of(who),
        method="discover",
        failure=failure,
        purpose="schema",
        ledger=ledger,
    )
    return discover(frame, wanted, name=name, unit=who, gate=run.gate, cost=cost, delta=failure, progress=progress)
