"""The schema of the records that meet a condition: fewer values, narrower ranges, and where each came from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import DPSynError, SchemaError
from dpsyn_core.schema import (
    CategoricalAttribute,
    Computed,
    Condition,
    DatetimeAttribute,
    ImpossibleRule,
    Rule,
    RuleColumn,
    Schema,
    WholeBins,
)
from dpsyn_core.tables import Clause, canonical, clauses, unquoted, written


@dataclass(frozen=True, kw_only=True, slots=True)
class Inside:
    """Where the values of a narrowed attribute come from.

    origin: (new size,) the value of the whole attribute that each of them lies in. share: the part of it, in [0, 1].
    rules: that no record has a value of share 0, where such values stay.
    """

    origin: NDArray[np.intp]
    share: NDArray[np.float64]
    rules: tuple[ImpossibleRule, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Narrowed:
    """A schema in which every record meets a condition, and how its attributes lie in those of the whole one."""

    schema: Schema
    inside: dict[str, Inside]


def narrowed(schema: Schema, where: str, computed: Sequence[Computed] = ()) -> Narrowed:
    """The schema of the records that meet a condition, which is written as in questions and rules.

    computed: columns of which nothing was measured. Raises QuestionError for text that is no condition, SchemaError for
    a value that a column does not have, and for a column that the schema lacks.
    """
    clauses_of: dict[str, list[Clause]] = {}
    for clause in clauses(where):
        clauses_of.setdefault(clause.attribute, []).append(clause)
    names = {a.name for a in schema.coded}
    for name in clauses_of:
        if name not in names:
            hint = unquoted(name, names)
            msg = f"'{name[:80]}' is no column that is synthesized, so that no condition holds for it{hint}"
            raise SchemaError(msg)
    for one in computed:
        if one.column in clauses_of:
            of = " and ".join(one.named)
            msg = f"'{one.column}' was not measured: it is computed from {of}; name conditions on these"
            raise SchemaError(msg)
    parts = {name: _narrow(schema[name], listed) for name, listed in clauses_of.items()}
    attributes = tuple(parts[a.name][0] if a.name in parts else a for a in schema.attributes)
    part = _Subset(schema, parts)
    rules: tuple[Rule, ...] = tuple(r for rule in schema.rules for r in rule.within(part))
    rules += tuple(r for _, inside in parts.values() for r in inside.rules)
    # no number of records is public of a part of the table, and questions were asked of the whole
    update = {"attributes": attributes, "rules": rules, "n_records": None, "questions": None}
    return Narrowed(schema=schema.model_copy(update=update), inside={n: i for n, (_, i) in parts.items()})


def only_columns(schema: Schema, columns: Sequence[str], computed: Sequence[Computed] = ()) -> Schema:
    """The schema of some columns; rules that name another one go with it. Raises SchemaError.

    computed: columns of which nothing was measured.
    """
    lacking = [c for c in columns if c not in schema.output_names]
    if lacking or not columns:
        some = ", ".join(schema.output_names[:20])
        msg = f"'{lacking[0][:80] if lacking else ''}' is no column of the release; its columns are {some}"
        raise SchemaError(msg)
    needed: dict[str, tuple[str, ...]] = {one.column: one.named for one in computed}
    needed |= {a.name: a.origins for a in schema.derived}
    for column in columns:
        absent = [n for n in needed.get(column, ()) if n not in columns]
        if absent:
            msg = f"'{column}' follows from '{absent[0]}', which is left out; keep both, or neither"
            raise SchemaError(msg)
    kept = tuple(a for a in schema.attributes if a.name in columns)
    if not any(a.coded for a in kept):
        msg = "no column is left that is synthesized; name at least one"
        raise SchemaError(msg)
    rules = tuple(r for r in schema.rules if set(r.columns) <= set(columns))
    return schema.model_copy(update={"attributes": kept, "rules": rules, "questions": None})


def _narrow(attribute: Any, wanted: Sequence[Clause]) -> tuple[Any, Inside]:
    if attribute.listed:
        return _fewer(attribute, wanted)
    return _shorter(attribute, wanted)


def _codes(attribute: CategoricalAttribute, wanted: Sequence[Clause]) -> NDArray[np.bool_]:
    met = [Condition.of(attribute, clause).codes for clause in wanted]
    mask: NDArray[np.bool_] = np.logical_and.reduce([m for m in met if m is not None])
    return mask


def _whole(attribute: Any, met: NDArray[np.bool_], wanted: Sequence[Clause]) -> Inside:
    """A column that keeps its values, as blank cells need a range beside them; rules leave those that meet it.

    met: bool (size,), which codes meet the conditions.
    """
    if not met.any():
        raise _nothing(attribute)
    rules = tuple(ImpossibleRule(where=written(replace(c, negated=not c.negated))) for c in wanted)
    return Inside(origin=np.arange(attribute.size), share=met.astype(np.float64), rules=rules)


def _fewer(attribute: CategoricalAttribute, wanted: Sequence[Clause]) -> tuple[Any, Inside]:
    met = _codes(attribute, wanted)
    listed, special = met[: len(attribute.values)], met[len(attribute.values) :]
    if not listed.any():
        return attribute, _whole(attribute, met, wanted)
    tail = list(special)
    update = {
        "values": tuple(v for v, keep in zip(attribute.values, listed, strict=True) if keep),
        "other": bool(attribute.other and tail.pop(0)),
        "missing": bool(attribute.missing and tail.pop(0)),
    }
    fresh = type(attribute).model_validate({**_fields(attribute), **update})
    origin = np.flatnonzero(met)
    return fresh, Inside(origin=origin, share=np.ones(len(origin)))


def _fields(attribute: Any) -> dict[str, Any]:
    return {name: getattr(attribute, name) for name in type(attribute).model_fields}


def _special(attribute: Any, wanted: Sequence[Clause]) -> tuple[NDArray[np.bool_], list[Clause]]:
    """Which codes of a number or a date meet the conditions on blank and special cells, and the other conditions."""
    listed = attribute.single_values
    met, others = np.ones(attribute.size, dtype=bool), []
    for clause in wanted:
        meant = Condition.of(attribute, clause)
        if meant.spans or any(p not in listed for p in meant.points):
            others.append(clause)
            continue
        named = np.zeros(attribute.size, dtype=bool)
        named[[attribute.binning.size + listed.index(p) for p in meant.points]] = True
        named[attribute.size - 1] |= meant.blank
        met &= named != meant.negated
    return met, others


def _shorter(attribute: Any, wanted: Sequence[Clause]) -> tuple[Any, Inside]:
    """A number or a date with a narrower range; its bins are cut where the range is."""
    met, others = _special(attribute, wanted)
    if not others:
        return attribute, _whole(attribute, met, wanted)
    if not met[0]:  # what is left is blank or special, and lies in no interval
        raise _nothing(attribute)
    empty = np.zeros(0, dtype=np.int64 if attribute.binning.bounds()[0].dtype.kind == "i" else np.float64)
    grid = RuleColumn(attribute, empty, np.zeros(0, dtype=np.uint8))
    low, high = grid.ends
    for clause in others:
        meant = Condition.of(attribute, clause)
        if meant.negated or (not meant.spans and (len(meant.points) != 1 or meant.blank)):
            raise _untaken(attribute)
        first, last = meant.spans[0] if meant.spans else (meant.points[0], meant.points[0])
        low, high = max(low, first), min(high, last)
    low, high = (float(v) for v in (low, high))
    if low <= high:
        ends = np.array([low, high])
        whole = ends.astype(np.int64) if empty.dtype.kind == "i" else ends
        low_up = math.ceil(low) if empty.dtype.kind == "i" else low
        low = float(grid.nearest(np.array([low_up], dtype=whole.dtype), up=True)[0])
        high = float(grid.nearest(whole[1:], up=False)[0])
    if not low <= high:
        raise _nothing(attribute)
    fresh = _dates(attribute, int(low), int(high)) if attribute.dated else None
    fresh = _numbers(attribute, low, high) if fresh is None else fresh
    origin = attribute.binning.find(fresh.binning.bounds()[0])
    widths = [_widths(a.binning) for a in (fresh, attribute)]
    share = np.clip(widths[0] / widths[1][origin], 1e-9, 1.0)
    return fresh, Inside(origin=np.asarray(origin, dtype=np.intp), share=share)


def _numbers(attribute: Any, low: float, high: float) -> Any:
    whole = attribute.dtype == "integer"
    starts = attribute.binning.bounds()[0]
    kind = int if whole else float
    inner = [kind(s) for s in starts if low < s < high or (whole and s == high and s > low)]
    update = {
        "min": kind(low),
        "max": kind(high),
        "bins": {"edges": [kind(low), *inner]},
        "scale": None,
        "missing": False,
        "special_values": (),
    }
    try:
        fresh = type(attribute).model_validate({**_fields(attribute), **update})
    except (DPSynError, ValueError) as error:
        msg = (
            f"the condition on '{attribute.name}' leaves {low:g} to {high:g}, which its step and bins do not divide; "
            "name a wider interval"
        )
        raise SchemaError(msg) from error
    if whole and inner and inner[-1] == high:  # an edge at the end closes the last bin; here a bin begins there
        fresh.__dict__["binning"] = replace(fresh.binning, starts=np.array([low, *inner], dtype=np.int64))
    return fresh


def _dates(attribute: DatetimeAttribute, low: int, high: int) -> Any:
    zone = "Z" if attribute.zoned else ""
    ends = np.array([low, high]).astype("datetime64[s]" if attribute.precise else "datetime64[D]")
    text = [f"{v}{zone}" for v in ends]
    update = {"min": text[0], "max": text[1], "missing": False}
    fresh = type(attribute).model_validate({**_fields(attribute), **update})
    starts = attribute.binning.starts
    inner = starts[(starts > low) & (starts <= high)]
    # a range has no edges of its own where bins follow the calendar: those of the whole column are kept
    only, step = attribute.binning.only, attribute.binning.step
    low = min(-(-low // step) * step, high)
    kept = None if only is None else only[(only >= low) & (only <= high)]
    fresh.__dict__["binning"] = WholeBins(np.append([low], inner).astype(np.int64), high, step, kept)
    return fresh


def _widths(binning: Any) -> NDArray[np.float64]:
    low, high = binning.bounds()
    width = np.asarray(high - low, dtype=np.float64)
    if isinstance(binning, WholeBins):
        return width + 1.0
    return np.where(width > 0, width, 1.0)


@dataclass(frozen=True, slots=True)
class _Subset:
    """What is left of columns and conditions, for rules."""

    schema: Schema
    made: Mapping[str, tuple[Any, Inside]]

    def attribute(self, name: str) -> Any | None:
        """The narrowed column; None where it keeps its values."""
        return self.made[name][0] if name in self.made else None

    def clause(self, clause: Clause) -> Clause:
        """A condition on listed values by those that are left; perhaps none."""
        attribute = self.schema[clause.attribute]
        if clause.attribute not in self.made or not isinstance(attribute, CategoricalAttribute):
            return clause
        fresh, inside = self.made[clause.attribute]
        met = _codes(attribute, [clause])[inside.origin]
        words = [*fresh.keys, *fresh.labels()[len(fresh.keys) :]]
        return Clause(attribute=clause.attribute, values=tuple(w for w, m in zip(words, met, strict=True) if m))


def _nothing(attribute: Any) -> SchemaError:
    labels = attribute.labels()
    some = ", ".join(labels[:8]) if len(labels) < 9 else f"{labels[0]} to {labels[attribute.plain - 1]}"
    return SchemaError(f"no cell of '{attribute.name}' meets the condition; its values are {some}")


def _untaken(attribute: Any) -> SchemaError:
    cells = [canonical(v) for v in attribute.single_values] + ["(missing)"] * attribute.missing
    or_these = f", or some of {{{', '.join(cells[:8])}}}" if cells else ""
    msg = (
        f"the condition on '{attribute.name}' is none that a refit can be made for: write one interval of it, or one "
        f"value{or_these}"
    )
    return SchemaError(msg)
