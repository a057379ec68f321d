"""Moves dates inside their bins to match their measured parts, so that no count changes. Post-processing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.rules.anniversaries import COMPLETED
from dpsyn_core.schema.rules.columns import PLAIN, RuleColumn, plain_in, read_columns
from dpsyn_core.schema.rules.date_parts import moments, part_of
from dpsyn_core.schema.rules.follows import FollowsRule

ROOM = {"year": 20_000, **dict.fromkeys(COMPLETED, 20_000)}  # parts are less than half of it away from 0; others: 64


def with_parts(table: Any, schema: Schema, rng: Generator) -> Any:
    """A decoded pyarrow table whose dates have the weekday, hour and so on of the columns that repeat them.

    Where the bin of a date holds a day (or an hour) that has all of them, one of these is drawn; else the date stays,
    and the repair changes one of the columns.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    has = set(table.column_names)
    rules = [r for r in schema.rules if isinstance(r, FollowsRule) and r.part is not None and has.issuperset(r.columns)]
    for name in dict.fromkeys(r.of[0] for r in rules):
        some = [r for r in rules if r.of[0] == name]
        group = read_columns(table, schema, (name, *(r.column for r in some)))
        spoken = plain_in(tuple(group), group)
        dates = group[name]
        values = _moved(dates, [(r, group[r.column]) for r in some], rng)
        new = spoken & (values != dates.values)
        if new.any():
            blank = dates.state != PLAIN
            fresh = dates.attribute.cells(np.where(blank, 0, values), blank if blank.any() else None)
            at = table.column_names.index(name)
            table = table.set_column(at, name, pc.if_else(pa.array(new), fresh, table.column(at)))
    return table


def _moved(dates: RuleColumn, told: Sequence[tuple[FollowsRule, RuleColumn]], rng: Generator) -> NDArray[Any]:
    """Dates (n,), of those that lack a part others of the same bin, where there are any."""
    a, binning = dates.attribute, dates.attribute.binning
    hours = any(r.part == "hour" for r, _ in told)
    places = moments("hour" if hours else "day", a)
    step = 1 if not a.precise else 3600 if hours else 86_400
    place, target, current = (binning.find(v).astype(np.int64) for v in (places, dates.values, dates.values))
    for rule, column in told:
        part, room = rule.part or "year", ROOM.get(rule.part or "year", 64)
        lookup = rule.lookup(a, column.attribute)
        order = np.argsort(lookup.targets)
        at = np.minimum(np.searchsorted(lookup.targets[order], column.values), len(order) - 1)
        there = lookup.targets[order][at] == column.values  # a listed value may be no part
        place, current = (
            k * room + room // 2 + part_of(part, v, a.unit_seconds, rule.on)
            for k, v in ((place, places), (current, dates.values))
        )
        target = np.where(there, target * room + room // 2 + lookup.keys[order][at], -1)
    order = np.argsort(place, kind="stable")
    low, high = (np.searchsorted(place[order], target, side=side) for side in ("left", "right"))
    at = order[np.minimum((low + rng.random(len(low)) * (high - low)).astype(np.intp), len(order) - 1)]
    drawn = places[at] // step * step + dates.values % step
    drawn = np.where(binning.find(drawn) == binning.find(dates.values), drawn, places[at])
    return np.where((high > low) & (current != target), drawn, dates.values)
