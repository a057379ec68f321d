"""Records that must differ: those that repeat an earlier one are drawn again, and left out where nothing is free."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.random import Generator

from dpsyn_core.errors import SchemaError
from dpsyn_core.runs.mending import mend
from dpsyn_core.schema.codec import decode_column
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.ruled import Bools, Group, Ready, RuledColumn, any_broken, repeats
from dpsyn_core.schema.rules import UniqueRule

REDRAWS = 40  # rounds in which repeated records are drawn again, before they are left out


def combinations(rule: UniqueRule, schema: Schema) -> float:
    """How many records can differ in the columns of a rule, by their declared values; a blank cell makes it endless."""
    if any(schema[n].missing for n in rule.together):
        return math.inf
    return math.prod(_values_of(schema[n]) for n in rule.together)


def _values_of(attribute: Any) -> float:
    plain = RuledColumn.read(decode_column(np.zeros(1, dtype=np.int64), attribute, np.random.default_rng(0)), attribute)
    if attribute.kind == "categorical":
        return math.inf if attribute.other else len(attribute.values)
    low, high = plain.ends
    return math.inf if attribute.kind == "numeric" and attribute.special_values else (high - low) // plain.step + 1


def check_room(rules: Sequence[Any], schema: Schema, n_records: int | None) -> None:
    """Raises SchemaError where so many records cannot all differ; reads no data. None: the number is not public."""
    for rule in rules:
        if isinstance(rule, UniqueRule) and n_records is not None and combinations(rule, schema) < n_records:
            msg = (
                f"{rule}: the declared values have {combinations(rule, schema):,.0f} combinations and {n_records:,} "
                "records are asked for; ask for fewer, or name more columns in the rule"
            )
            raise SchemaError(msg)


def told_apart(
    unique: Sequence[UniqueRule], rules: Sequence[Ready], columns: Group, fine: Group, rng: Generator
) -> tuple[Bools, Bools]:
    """Draws repeated records again, in place; which records were changed, and which stay (the others must go).

    Args:
        unique: rules on records that must differ.
        rules: the others of the group, which all records keep already and keep afterwards.
        columns: the records.
        fine: records that keep the rules, to draw from.
        rng: for the draws.
    """
    n = len(next(iter(columns.values())).values)
    changed, kept = np.zeros(n, dtype=bool), np.ones(n, dtype=bool)
    for turn in range(REDRAWS):
        again = np.logical_or.reduce([repeats(rule, columns) for rule in unique])
        at = np.flatnonzero(again)
        if not len(at):
            return changed, kept
        drawn = {name: c[at] for name, c in columns.items()}
        for rule in unique:
            mine = np.flatnonzero(repeats(rule, columns)[at])
            for name in _redrawn(rule, fine, turn):
                drawn[name].put(mine, _values(columns[name], fine, name, len(mine), rng, uniform=turn >= REDRAWS // 2))
        mend(rules, drawn, fine, rng)
        ok = np.flatnonzero(~any_broken(rules, drawn))
        for name, column in columns.items():
            column.put(at[ok], drawn[name][ok])
        changed[at[ok]] = True
    return changed, ~np.logical_or.reduce([repeats(rule, columns) for rule in unique])


def _redrawn(rule: UniqueRule, fine: Group, turn: int) -> tuple[str, ...]:
    """One column at a time, that of most values first; later all of them."""
    if turn % 4 == 3:
        return rule.together
    by_values = sorted(rule.together, key=lambda n: -len(np.unique(fine[n].values[:4096])))
    return (by_values[turn % 4 % len(by_values)],)


def _values(column: RuledColumn, fine: Group, name: str, n: int, rng: Generator, *, uniform: bool) -> RuledColumn:
    """Cells of other records; or uniform on the domain, where those leave no combination free."""
    held = len(fine[name].values)
    if held and not uniform:
        return fine[name][rng.integers(0, held, n)]
    a = column.attribute
    return RuledColumn.read(decode_column(rng.integers(0, a.size - a.special, n), a, rng), a)
