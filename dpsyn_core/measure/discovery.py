"""Learns from the data, with noise and for budget, what a schema needs and nobody declared.

Everything goes through the gate, one charge a step; the schema that comes out lists the charges, and a run with it is
private as a whole at the sum of these charges and the cost of the run itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import BudgetError, SchemaError
from dpsyn_core.measure.charges import partition_charge
from dpsyn_core.measure.gate import Gate
from dpsyn_core.measure.partitions import count_for
from dpsyn_core.measure.quantiles import Span, buy_edges, buy_range, noise_ceiling
from dpsyn_core.measure.releases import Released
from dpsyn_core.measure.unprotected import bounded, distinct_counts
from dpsyn_core.privacy import Budget, Charge, Cost, Unit
from dpsyn_core.progress import Progress, silent
from dpsyn_core.schema import READ, Schema, SchemaUnit
from dpsyn_core.tables import amounts, composed, has_decimal_comma, instants
from dpsyn_core.tables import numbers as casting

Kind = Literal["categorical", "integer", "float", "date"]
_KINDS: dict[str, Kind] = {"datetime": "date"}
_TOTAL_SHARE = 0.1
_RANGE_SHARE = 0.3
RANGE_AND_EDGES = (_RANGE_SHARE, 1 - _RANGE_SHARE)  # how a number's price is divided where bins are bought too
_YEARS = 9999


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """One column to learn about; its kind is declared, since reading it from the data would cost too.

    written, formats: how its numbers or dates are written (its form), as in the schema; not bought either. low, high:
    public range of a numeric column; bought when both are None. bins: bins of about equal counts, bought; None: none,
    for the range says where fine bins begin, and a run measures them. unconfirmed: kind and form were read from the
    data and nobody has confirmed them; then what is bought is marked, and a run with it is NOT PRIVATE. above: of
    categories, public beginnings such as the first digits of a postal code; a value that is not bought counts to its
    beginning.
    """

    name: str
    kind: Kind
    bins: int | None = None
    low: float | None = None
    high: float | None = None
    written: str | None = None
    formats: tuple[str, ...] = ()
    unconfirmed: bool = False
    above: tuple[str, ...] = ()

    @classmethod
    def of(cls, attribute: Mapping[str, Any], *, kind: Kind | None = None, known: bool = False) -> Wanted:
        """To buy a column that a schema describes already, a drafted one for example.

        Args:
            attribute: its document in the schema. Its range, bins, values and step are not taken over, but for public
                beginnings of codes.
            kind: None: that of the attribute.
            known: a person vouches that kind and way of writing follow from public knowledge.
        """
        dtype = attribute["dtype"] if attribute["kind"] == "numeric" else _KINDS.get(attribute["kind"], "categorical")
        kind = dtype if kind is None else kind
        return cls(
            name=attribute["name"],
            kind=kind,
            unconfirmed=attribute["source"] in READ and not known,
            written=attribute.get("written") if kind in ("integer", "float") else None,
            formats=tuple(attribute.get("formats") or ()) if kind == "date" else (),
            above=tuple(attribute["values"]) if attribute.get("by_prefix") and attribute["source"] == "public" else (),
        )

    def __post_init__(self) -> None:
        """Refuses half a range, an empty one, less than one bin, and a form that does not fit: before it is charged."""
        if (self.low is None) != (self.high is None) or (
            self.low is not None and self.high is not None and self.low > self.high
        ):
            msg = f"the range of '{self.name}' is {self.low} to {self.high}; give both ends, the lower first, or none"
            raise SchemaError(msg)
        if self.bins is not None and self.bins < 1:
            msg = f"'{self.name}' asks for {self.bins} bins; it must be at least 1"
            raise SchemaError(msg)
        if self.written is not None and amounts.form(self.written).digits and self.kind == "integer":
            msg = f"'{self.name}' is bought as whole numbers, and '{self.written}' has digits after the mark; drop them"
            raise SchemaError(msg)
        for way in self.formats:
            instants.pattern(way)
        if self.above and self.kind != "categorical":
            msg = f"'{self.name}' is bought as {self.kind}, and beginnings of codes are of categories; buy it as these"
            raise SchemaError(msg)


@dataclass(frozen=True, kw_only=True, slots=True)
class Discovery:
    """What was learnt: a schema of bought attributes, a noisy number of records, all charges.

    failed: columns that could not be bought, with the reason. outside: for each bought range, how many records may
    lie outside it (about, and at most with 95 % confidence). All of it is decided on noisy counts.
    """

    schema: Schema
    total: int
    charges: tuple[Charge, ...]
    failed: dict[str, str] = field(default_factory=dict)
    outside: dict[str, tuple[float, float]] = field(default_factory=dict)


def cap_of(wanted: Sequence[Wanted], budget: Budget, unit: Unit) -> tuple[Cost, float]:
    """The cost that a discovery may spend, and the delta kept for categories, as an Account takes them.

    With categories it is pure epsilon or rho, whichever lists categories of fewer individuals, and half of delta: the
    other half is what rho is converted with, and what a limit of the ledger takes for failures
    (docs/proofs/accounting.md). Epsilon is better for few columns and records of an individual, rho for many.

    Raises:
        BudgetError: categories cost delta, which is 0: a category of one individual can only be hidden up to delta.
    """
    if not any(w.kind == "categorical" for w in wanted):
        return (budget.gaussian() if budget.delta else budget.pure()), 0.0
    if budget.delta == 0:
        msg = "delta is 0, and categories cannot be bought without one; set a delta such as 1e-9, or declare the values"
        raise BudgetError(msg)
    costs = budget.pure(), budget.gaussian(spare_delta=budget.delta / 2)
    return min(costs, key=lambda c: category_count(wanted, c, unit, budget.delta / 2)), budget.delta / 2


def category_count(wanted: Sequence[Wanted], cost: Cost, unit: Unit, delta: float) -> int:
    """How many individuals (or records) a category needs to be listed with a probability of 99 %.

    cost, delta: what `cap_of` gives for all wanted columns.
    """
    per_key = 1 if _distinct(unit) else unit.max_records
    part, categorical = cost.split(shares(wanted))[-1], sum(w.kind == "categorical" for w in wanted)
    return count_for(partition_charge("categories", part, unit, per_key=per_key, delta=delta / categorical), per_key)


def _distinct(unit: Unit | SchemaUnit) -> bool:
    """Whether categories are counted by individuals, and not by records."""
    return unit.identifier is not None or unit.max_records == 1


def discover(
    table: Any,
    wanted: Sequence[Wanted],
    *,
    name: str,
    unit: SchemaUnit,
    gate: Gate,
    cost: Cost,
    delta: float,
    progress: Progress = silent,
) -> Discovery:
    """Buys categories, ranges and bins of the chosen columns, and the number of records.

    Guarantee: that of the gate's charges; at most `cost`, plus `delta` for categories. Contributions are bounded
    here: at most unit.max_records records of an individual are looked at.

    Args:
        table: pyarrow table, text or typed columns; private.
        wanted: columns to learn about; others are not mentioned in the schema, except the identifier.
        name: of the schema.
        unit: who is protected; the same as the gate's.
        gate: with an account for (cost, delta), see `cap_of`.
        cost: shared evenly by the columns; a tenth goes to the number of records.
        delta: shared evenly by the categorical columns.
        progress: receives the names of finished columns.

    Raises:
        BudgetError: every column failed; where only some did, the results of the others are returned.
    """
    columns = _located(table, wanted, unit)
    texts = bounded(table, unit)
    parts = cost.split(shares(wanted))
    categorical = sum(w.kind == "categorical" for w in wanted)
    before = len(gate.account.charges)
    n = texts.num_rows
    total = gate.release("number of records", lambda: np.array(n, dtype=np.int64), kind="total", cells=1, cost=parts[0])
    attributes: list[dict[str, Any]] = []
    failed: dict[str, str] = {}
    outside: dict[str, tuple[float, float]] = {}
    span: Span | None
    for i, (want, part) in enumerate(zip(wanted, parts[1:], strict=True)):
        column = texts.column(columns[want.name])
        try:
            if want.kind == "categorical":
                bought = _categories(texts, want, unit, gate=gate, cost=part, delta=delta / categorical)
            elif want.kind == "date":
                bought, span = _dates(column, want, gate=gate, cost=part, total=total)
                outside |= _doubt(want.name, span)
            else:
                comma = has_decimal_comma(table)
                bought, span = _numbers(column, want, comma, gate=gate, cost=part, total=total)
                outside |= _doubt(want.name, span)
            source = "bought-unconfirmed" if want.unconfirmed else "bought"
            attributes.append({"name": want.name, "source": source, "missing": True} | bought)
        except BudgetError as error:  # decided on noisy counts; what was found of other columns is kept
            failed[want.name] = str(error)
        progress("discover", i + 1, len(wanted))
    if not attributes:
        raise BudgetError(next(iter(failed.values())))
    charges = tuple(gate.account.charges[before:])
    if unit.identifier is not None:
        attributes.append({"name": unit.identifier, "kind": "identifier"})
    from dpsyn_core.schema import other_word

    word = other_word(table.column_names)
    for one in (a for a in attributes if word and a.get("other")):
        one["other_word"] = word
    document = {
        "version": 1,
        "name": name,
        "unit": unit.model_dump(),
        "attributes": sorted(attributes, key=lambda a: columns[a["name"]]),
        "bought": [_bought(c) | {"unit": unit.model_dump()} for c in charges],
    }
    return Discovery(
        schema=Schema.of(document), total=max(int(total.values), 0), charges=charges, failed=failed, outside=outside
    )


def _doubt(name: str, span: Span | None) -> dict[str, tuple[float, float]]:
    if span is None or span.outside is None or span.most is None:
        return {}
    return {name: (span.outside, span.most)}


def shares(wanted: Sequence[Wanted]) -> list[float]:
    """How a price is divided: a tenth to the number of records, the rest evenly to the columns in their order."""
    return [_TOTAL_SHARE, *[(1 - _TOTAL_SHARE) / max(len(wanted), 1)] * len(wanted)]


def check_columns(table: Any, wanted: Sequence[Wanted], unit: SchemaUnit) -> None:
    """Raises SchemaError when columns are not there, or are asked for twice."""
    _located(table, wanted, unit)


def _located(table: Any, wanted: Sequence[Wanted], unit: SchemaUnit) -> dict[str, int]:
    names = list(table.column_names)
    asked = [w.name for w in wanted] + ([unit.identifier] if unit.identifier is not None else [])
    keys = [composed(n) for n in names]
    wants = [composed(a) for a in asked]
    for name, key in zip(asked, wants, strict=True):
        if keys.count(key) != 1 or wants.count(key) != 1:
            msg = f"the column '{name}' must be in the table exactly once and be asked for once"
            raise SchemaError(msg)
    if not wanted:
        msg = "nothing is wanted; name the columns to buy, for example --buy age=integer"
        raise SchemaError(msg)
    return {name: keys.index(key) for name, key in zip(asked, wants, strict=True)}


def _categories(texts: Any, want: Wanted, unit: SchemaUnit, *, gate: Gate, cost: Cost, delta: float) -> dict[str, Any]:
    name = want.name
    got = gate.partitions(
        f"categories of {name}",
        lambda: distinct_counts(texts, name, unit),
        cost=cost,
        delta=delta,
        distinct=_distinct(unit),
    )
    if want.above:
        values = [*want.above, *(k for k in got.keys if k not in set(want.above))]
        return {"kind": "categorical", "values": values, "other": True, "by_prefix": True}
    if not got.keys:
        msg = f"no category of '{name}' is shared by enough individuals at this budget; declare its values instead"
        raise BudgetError(msg)
    return {"kind": "categorical", "values": list(got.keys), "other": True}


def _numbers(
    column: Any, want: Wanted, comma: bool, *, gate: Gate, cost: Cost, total: Released
) -> tuple[dict[str, Any], Span | None]:
    whole = want.kind == "integer"
    values, valid = casting.to_numbers(column, whole=whole, comma=comma, written=want.written)
    values, blanks = values[valid], int(valid.size - valid.sum())
    span = None
    range_cost, edge_cost = (cost, cost) if want.bins is None else cost.split(RANGE_AND_EDGES)
    if want.low is None or want.high is None:
        span = buy_range(values, want.name, whole=whole, gate=gate, cost=range_cost, blanks=blanks, total=total)
        low, high = span.low, span.high
    else:
        low, high, edge_cost = float(want.low), float(want.high), cost
    base: dict[str, Any] = {"kind": "numeric", "dtype": want.kind}
    base |= {"written": want.written} if want.written else {}
    ends = {"min": int(low), "max": int(high)} if whole else {"min": low, "max": high}
    if want.bins is None:
        return base | ends, span
    if high == low or (whole and high - low < want.bins):
        return base | ends | {"bins": {"count": int(high - low) + 1 if whole else 1}}, span
    edges = buy_edges(values, want.name, low=low, high=high, bins=want.bins, whole=whole, gate=gate, cost=edge_cost)
    if not edges:
        return base | ends | {"bins": {"count": 1}}, span
    return base | ends | {"bins": {"edges": [int(e) for e in edges] if whole else edges}}, span


def _dates(column: Any, want: Wanted, *, gate: Gate, cost: Cost, total: Released) -> tuple[dict[str, Any], Span]:
    """First and last year that stand above the noise."""
    name = want.name
    seconds, valid = instants.to_instants(column, want.formats)
    years: NDArray[np.int64] = seconds[valid].astype("datetime64[s]").astype("datetime64[Y]").astype(np.int64) + 1970
    span = buy_range(
        np.clip(years, 1, _YEARS),
        f"{name}, in years",
        whole=True,
        gate=gate,
        cost=cost.scaled(0.5),
        blanks=int(valid.size - valid.sum()),
        total=total,
    )
    first, last = max(int(span.low), 1), min(int(span.high), _YEARS)
    counts = gate.release(
        f"years of {name}",
        lambda: np.bincount(np.clip(years, first, last) - first, minlength=last - first + 1),
        kind="range",
        cells=last - first + 1,
        cost=cost.scaled(0.5 * (1 - 1e-15)),
    )
    shown = np.flatnonzero(counts.values > noise_ceiling(counts))
    if shown.size:
        first, last = first + int(shown[0]), first + int(shown[-1])
    found_years = {"kind": "datetime", "min": f"{first:04d}-01-01", "max": f"{last:04d}-12-31"}
    return found_years | ({"formats": list(want.formats)} if want.formats else {}), span


def _bought(charge: Charge) -> dict[str, Any]:
    return {
        "name": charge.name,
        "mechanism": charge.mechanism,
        "sensitivity": charge.sensitivity,
        "scale": charge.scale,
        "cells": charge.cells,
        "rho": charge.rho,
        "epsilon": charge.epsilon,
        "delta": charge.delta,
    }
