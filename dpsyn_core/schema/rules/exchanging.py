"""Cells that records of a table exchange so that they keep rules: every column keeps its counts. Post-processing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.schema.attributes.datetime import DatetimeAttribute
from dpsyn_core.schema.rules.formulas import AdditionRule, DifferenceRule, OrderRule, RatioRule
from dpsyn_core.schema.rules.in_bins import drawn_in_bins, kept_in_bins, log_excess, met_in_bins, ordered_in_bins
from dpsyn_core.schema.rules.ruled import (
    PLAIN,
    Bools,
    Group,
    Ready,
    RuledColumn,
    any_broken,
    broken,
    excess_of,
    meanings,
    plain_in,
    weights_of,
    where,
)  # fmt: skip
from dpsyn_core.schema.rules.rules import BlankRule, ImpossibleRule

PARTNERS = 8  # that a record is offered for each column, one after the other
WIDER = 3  # records that keep a rule, for each that breaks it, among which values are handed out
SWEEPS = 3  # through the columns of a sum, while records go on to agree

Formula = AdditionRule | DifferenceRule | RatioRule
Rows = NDArray[np.intp]


def exchange_blanks(rules: Sequence[Ready], columns: Group, rng: Generator) -> None:
    """Cells that should be blank change places, in place, with blank cells of records where the conditions fail.

    Before that, numbers next to a cell that is blank nowhere else are moved inside their bins to where it may be.
    """
    for rule in rules:
        if isinstance(rule, BlankRule):
            column, blank = columns[rule.column], columns[rule.column].holds(rule.value)
            if rule.only:
                at = np.flatnonzero(blank & ~where(rule, columns))
                after = met_in_bins(rule, {n: c[at] for n, c in columns.items()})
                ok = np.flatnonzero(where(rule, after))
                for name in rule.columns[1:]:
                    columns[name].put(at[ok], after[name][ok])
            met = where(rule, columns)
            first, second = (rng.permutation(np.flatnonzero(b)) for b in (met & ~blank, ~met & blank))
            n = min(len(first), len(second))
            places, partners = np.concatenate([first[:n], second[:n]]), np.concatenate([second[:n], first[:n]])
            column.put(places, column[partners])


def exchange_sums(rules: Sequence[Ready], columns: Group, rng: Generator) -> None:
    """Each column of a sum, a difference of numbers or a ratio is handed out again, in place, among the broken records.

    In the order of what it should be, one column after the other, so that parts which were drawn apart become as alike
    as their sum is wide. What fits nowhere is handed out together with records that keep the rule, which have room for
    it inside their bins.
    """
    for rule in rules:
        if not isinstance(rule, Formula):
            continue
        free = [n for n in rule.columns if n not in _tied(rule, rules, columns)]
        before = left = int(broken(rule, columns).sum())
        for _ in range(SWEEPS):
            for name in free:
                _moved(rule, rules, columns)
                _handed_out(rule, name, columns, np.flatnonzero(broken(rule, columns)))
            before, left = left, int(broken(rule, columns).sum())
            if left >= before:
                break
        for name in free * SWEEPS:
            wrong = broken(rule, columns)
            if not wrong.any():
                break
            others = rng.permutation(np.flatnonzero(~wrong & plain_in(rule.columns, columns)))
            at = np.concatenate([np.flatnonzero(wrong), others[: WIDER * int(wrong.sum())]])
            here, after = ({n: c[at] for n, c in columns.items()} for _ in range(2))
            _handed_out(rule, name, after, np.arange(len(at)))
            _moved(rule, rules, after)
            if sum(int(broken(r, after).sum()) for r in rules) < sum(int(broken(r, here).sum()) for r in rules):
                for n, column in columns.items():
                    column.put(at, after[n])


def _tied(rule: Formula, rules: Sequence[Ready], columns: Group) -> set[str]:
    """Columns of other rules that stay: of a ratio all; else dates in order with others, whose time between is kept."""
    others = [r for r in rules if r is not rule]
    if isinstance(rule, RatioRule):
        return {n for r in others for n in r.columns}
    outside = (r for r in others if isinstance(r, OrderRule) and not {*r.columns} <= {*rule.columns})
    dates = {n for r in outside for n in r.columns if isinstance(columns[n].attribute, DatetimeAttribute)}
    return dates if {*rule.columns} - dates else set()


def _moved(rule: Formula, rules: Sequence[Ready], columns: Group) -> None:
    """Records that agree with a rule inside their bins are moved there, in place, and others of their columns after.

    First only columns of no other rule are moved; then all of them, and those which the other rules tie to them.
    """
    others = [r for r in rules if r is not rule and {*r.columns} & {*rule.columns}]
    tied = {n for r in others for n in r.columns}
    for still in (tied, set[str]()) if tied else (tied,):
        at = np.flatnonzero(broken(rule, columns))
        here = {n: c[at] for n, c in columns.items()}
        after = here | kept_in_bins(rule, here, still)
        for other in others:
            if isinstance(other, Formula) and not still:
                after |= kept_in_bins(other, after, rule.columns)
        wrong = broken(rule, after)
        for other in others:
            wrong |= broken(other, after) & ~broken(other, here)
        ok = np.flatnonzero(~wrong)
        for n in columns:
            columns[n].put(at[ok], after[n][ok])


def settled(rules: Sequence[Ready], name: str, columns: Group) -> None:
    """Where a sum, difference or ratio names the column, records that break one are moved in their bins, in place."""
    formulas = [r for r in rules if isinstance(r, Formula)]
    if any(name in r.columns for r in formulas):
        for rule in formulas:
            _moved(rule, rules, columns)


def _handed_out(rule: Formula, name: str, columns: Group, at: Rows) -> None:
    """The column's values among these records, in the order of what they should be, in place."""
    wanted = _wanted(rule, name, {n: columns[n][at] for n in rule.columns})
    known = np.isfinite(wanted)
    values = np.sort(columns[name].values[at[known]])
    columns[name].values[at[known][np.argsort(wanted[known], kind="stable")]] = values


def _wanted(rule: Formula, name: str, rows: Group) -> NDArray[Any]:
    """What the column should be, or its logarithm."""
    if isinstance(rule, RatioRule):
        weights, logs, excess = log_excess(rule, rows)
        with np.errstate(invalid="ignore"):
            return np.asarray(logs[name] - excess / weights[name])
    weight = dict(zip(rule.columns, weights_of(rule, rows), strict=True))[name]
    return np.asarray(rows[name].values - excess_of(rule, rows) / weight)


def exchange_orders(rules: Sequence[Ready], columns: Group, rng: Generator) -> None:
    """Records that break an order are moved inside their bins, or exchange one of both sides, in place."""
    for rule in rules:
        if isinstance(rule, OrderRule):
            at = np.flatnonzero(broken(rule, columns))
            here = {n: c[at] for n, c in columns.items()}
            moved = ordered_in_bins(rule, here[rule.lower], here[rule.upper], rng)
            after = here | {n: RuledColumn(here[n].attribute, v, here[n].state) for n, v in moved.items()}
            ok = np.flatnonzero(~any_broken(rules, after))
            for name in moved:
                columns[name].put(at[ok], after[name][ok])
            _exchange(rule, {n: np.zeros_like(broken(rule, columns)) for n in rule.columns}, rules, columns, rng)
            _sorted_in(rule, rules, columns)


def _sorted_in(rule: OrderRule, rules: Sequence[Ready], columns: Group) -> None:
    """What found no partner: its upper values and those of the records with most room, in the order of the lower ones.

    Only where that leaves fewer records that break a rule.
    """
    left, plain = np.flatnonzero(broken(rule, columns)), columns[rule.lower].state == PLAIN
    others = np.flatnonzero(plain & (columns[rule.upper].state == PLAIN) & ~broken(rule, columns))
    room = columns[rule.upper].values[others] - columns[rule.lower].values[others]
    at = np.concatenate([left, others[np.argsort(-room, kind="stable")[: WIDER * len(left)]]])
    here = {n: c[at] for n, c in columns.items()}
    low, high = here[rule.lower].values, here[rule.upper].values
    values = high.copy()
    values[np.argsort(low, kind="stable")] = np.sort(high)
    after = here | {rule.upper: RuledColumn(here[rule.upper].attribute, values, here[rule.upper].state)}
    if any_broken(rules, after).sum() < any_broken(rules, here).sum():
        columns[rule.upper].put(at, after[rule.upper])


def exchange_conditions(rules: Sequence[Ready], columns: Group, rng: Generator) -> None:
    """Records that meet impossible conditions get other numbers inside their bins, or exchange one cell."""
    for rule in rules:
        if isinstance(rule, ImpossibleRule):
            at = np.flatnonzero(broken(rule, columns))
            here = {n: c[at] for n, c in columns.items()}
            for name, values in drawn_in_bins(rule, here, rng):
                after = here | {name: RuledColumn(here[name].attribute, values, here[name].state)}
                ok = np.flatnonzero(~any_broken(rules, after) & broken(rule, here))
                here[name].put(ok, after[name][ok])
            for name, column in here.items():
                columns[name].put(at, column)
            met = {
                n: np.logical_and.reduce([columns[n].meets(m) for m in s]) for n, s in meanings(rule, columns).items()
            }
            _exchange(rule, met, rules, columns, rng)


def _exchange(
    rule: Ready, met: dict[str, Bools], rules: Sequence[Ready], columns: Group, rng: Generator
) -> None:  # fmt: skip
    """One cell exchanged with records that keep all rules, whose cell is not `met`, and that can take the other one."""
    left, fine = np.flatnonzero(broken(rule, columns)), ~any_broken(rules, columns)
    for name in sorted(met, key=lambda n: sum(n in r.columns for r in rules)):
        apart = ~np.logical_and.reduce([m for n, m in met.items() if n != name])  # can take the cell
        for turn in range(PARTNERS):
            others = np.flatnonzero(~met[name] & apart & fine)
            first, second = _partners(rule, name, turn, left, others, columns, rng)
            if not len(first):
                break
            n, places = len(first), np.concatenate([first, second])
            partners = np.concatenate([second, first])
            after = {m: c[places] for m, c in columns.items()}
            after[name] = columns[name][partners]
            fits = ~any_broken(rules, after)
            both = np.flatnonzero(np.tile(fits[:n] & fits[n:], 2))
            columns[name].put(places[both], after[name][both])
            fine[places[both]], met[name][places[both]] = True, met[name][partners[both]]
            left = left[~fine[left]]


def _partners(
    rule: Ready, name: str, turn: int, left: Rows, others: Rows, columns: Group, rng: Generator
) -> tuple[Rows, Rows]:  # fmt: skip
    """Records, a partner for each; of an order, by turns one whose cell they can take and one that can take theirs."""
    n = min(len(left), len(others))
    if not n:
        return left[:0], others[:0]
    if not isinstance(rule, OrderRule):
        return rng.permutation(left)[:n], rng.choice(others, n, replace=False)
    other = rule.lower if name == rule.upper else rule.upper
    mine, theirs = (other, name) if turn % 2 else (name, other)
    value, wanted = columns[theirs].values, columns[mine].values[left]
    others = others[np.argsort(value[others], kind="stable")]
    if theirs == rule.upper:
        first = np.searchsorted(value[others], wanted)
        at = first + rng.random(len(left)) * (len(others) - first)
    else:
        at = rng.random(len(left)) * np.searchsorted(value[others], wanted, side="right")
    chosen = others[np.minimum(at.astype(np.intp), len(others) - 1)]
    once = np.unique(chosen, return_index=True)[1]
    return left[once], chosen[once]
