"""Columns that rules compute from others: they are not measured, and are filled in after decoding. Public knowledge."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.schema.attributes.categorical import CategoricalAttribute
from dpsyn_core.schema.attributes.derived import DerivedAttribute
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.rules.columns import BLANK, PLAIN, Group, RuleColumn, excess_of, follow, read_columns, weights_of
from dpsyn_core.schema.rules.date_parts import every_part, said_by_bins
from dpsyn_core.schema.rules.formula import AdditionRule, DifferenceRule, RatioRule, range_of
from dpsyn_core.schema.rules.lookup import Lookup
from dpsyn_core.schema.rules.registry import FollowsRule
from dpsyn_core.schema.rules.spans import SpanAttribute, between, with_spans
from dpsyn_core.tables.cells.canonical import COMMA

Computing = DifferenceRule | AdditionRule | FollowsRule


@dataclass(frozen=True, kw_only=True, slots=True)
class Computed:
    """A column that is not measured, and the rule that computes it from the others of the rule."""

    column: str
    rule: Computing

    def __str__(self) -> str:
        """For people."""
        if isinstance(self.rule, DifferenceRule) and len(self.named) < len(self.sources):
            what = f"'{self.rule.column}', in {self.rule.unit}"
            return f"'{self.column}' is not measured: the time between is ({what}), and gives it with '{self.named[0]}'"
        return f"'{self.column}' is not measured: it is computed from {' and '.join(self.sources)} ({self.rule})"

    @property
    def named(self) -> tuple[str, ...]:
        """The same, as far as they are columns of the table: without the time between two dates."""
        rule = self.rule
        hidden = between(rule.of, rule.minus) if isinstance(rule, DifferenceRule) else None
        return tuple(n for n in self.sources if n != hidden)

    @property
    def sources(self) -> tuple[str, ...]:
        """The columns that it is computed from."""
        return tuple(n for n in self.rule.columns if n != self.column)


def computed_columns(schema: Schema, measured: Collection[str] = ()) -> tuple[Computed, ...]:
    """The columns that are computed, in an order in which each can be.

    A rule computes one column, and a column is computed by one rule, the first. Only where every record has it: where
    no column of the rule can be blank, special or another value, a map lists every value, and each bin of a date has
    one part only.

    Args:
        schema: public metadata.
        measured: columns that are measured all the same, such as those that a question names.
    """
    schema = with_spans(schema)
    fixed = set(measured) | {a.origin for a in schema.attributes if isinstance(a, DerivedAttribute)}
    found: dict[str, Computed] = {}
    parts = [r for r in schema.rules if isinstance(r, FollowsRule) and r.part is not None]
    for rule in (*(r for r in schema.rules if r not in parts), *parts):
        if not isinstance(rule, Computing) or rule.measured or not _everywhere(rule, schema, found):
            continue
        made = Computed(column=_which(rule, schema), rule=rule)
        if made.column in fixed or made.column in found or made.column in _behind(made.sources, found):
            continue
        found[made.column] = made
    return tuple(_in_order(found))


def given_by(kinds: Collection[str], schema: Schema) -> tuple[str, ...]:
    """The columns that rules of these kinds compute, and of a ratio those that it divides: a computed one is coarse."""
    schema = with_spans(schema)
    divided = [n for r in schema.rules if isinstance(r, RatioRule) and r.kind in kinds for n in r.columns]
    return (*divided, *(_which(r, schema) for r in schema.rules if isinstance(r, Computing) and r.kind in kinds))


def part_of(schema: Schema, names: Collection[str]) -> Schema:
    """The schema of the columns that are measured: these, without the rules, which hold for all columns together."""
    if not schema.rules:
        return schema
    kept = tuple(a for a in with_spans(schema).attributes if not a.coded or a.name in names)
    return schema.model_copy(update={"attributes": kept, "rules": ()})


def measured_part(schema: Schema, measured: Collection[str] = ()) -> Schema:
    """As `part_of`, without the columns of `computed_columns`, and with the times between dates that these need."""
    computed = computed_columns(schema, measured)
    left, used = {c.column for c in computed}, {n for c in computed for n in c.sources}
    whole = with_spans(schema).coded
    return part_of(
        schema, [a.name for a in whole if a.name not in left and (not isinstance(a, SpanAttribute) or a.name in used)]
    )


def with_computed(table: Any, schema: Schema, rng: Generator, *, listed: bool = False) -> Any:
    """A decoded table and the columns that it lacks, computed from those that it has; order and rules are not kept yet.

    A value outside its range becomes the nearest one of it; the repair then moves the others.

    Args:
        table: pyarrow, of the measured columns.
        schema: of all columns.
        rng: for the part of a unit that a coarser difference leaves open.
        listed: see `Codec.decode`.
    """
    has, schema = set(table.column_names), with_spans(schema)
    if any(isinstance(r, FollowsRule) and r.part is not None for r in schema.rules):
        from dpsyn_core.schema.rules.part_dates import with_parts

        table = with_parts(table, schema, rng)
    for one in computed_columns(schema, has):
        attribute = schema[one.column]
        group = read_columns(table, schema, one.sources)
        values = computed_values(one, group | {one.column: _lowest(attribute, table.num_rows)}, rng)
        if isinstance(attribute, CategoricalAttribute):
            cells = attribute.decode(values, rng, listed=listed)
        else:
            blank = group[one.rule.column].state == BLANK if attribute.special else None
            cells = attribute.cells(values, blank)
            if "," in str(getattr(attribute, "written", None) or ""):
                table = table.replace_schema_metadata(COMMA)
        table = table.append_column(one.column, cells)
    return table


def computed_values(one: Computed, group: Group, rng: Generator) -> NDArray[Any]:
    """Codes of a category, numbers or dates (n,) of a computed column, inside its range; of a group of all columns."""
    rule, column = one.rule, group[one.column]
    if isinstance(rule, FollowsRule):
        of = group[rule.of[0]].attribute
        return np.asarray(follow(Lookup.public(rule, of, column.attribute), group)[0])
    if isinstance(rule, DifferenceRule) and rule.completed:
        from dpsyn_core.schema.rules.anniversaries import solved

        return np.asarray(np.clip(column.snapped(solved(rule, one.column, group, rng)), *column.ends))
    weight = dict(zip(rule.columns, weights_of(rule, group), strict=True))[one.column]
    exact = column.values - weight * (excess_of(rule, group) + open_part(rule, group, rng))
    return np.asarray(np.clip(column.snapped(exact), *column.ends))


def open_part(rule: DifferenceRule | AdditionRule, group: Group, rng: Generator) -> Any:
    """What a difference leaves open of its dates, where its unit is coarser than they are: a part of it, drawn."""
    if not isinstance(rule, DifferenceRule):
        return 0
    of, first = group[rule.of], weights_of(rule, group)[0]
    unit = abs(first) * group[rule.column].step
    if unit <= of.step or of.values.dtype.kind == "f" or first == 1:
        return 0
    return np.floor(rng.random(len(of.values)) * unit)


def widest(rule: DifferenceRule, group: Group) -> str:
    """The one of both sides of a difference with the wider range.

    A stay is described by its first day and its length, a birth by the day of a visit and an age; the difference of two
    dates that were made apart is mostly chance.
    """
    return max((rule.of, rule.minus), key=lambda n: group[n].ends[1] - group[n].ends[0])


def _which(rule: Computing, schema: Schema) -> str:
    if isinstance(rule, DifferenceRule) and schema[rule.of].special:
        return rule.of
    if isinstance(rule, DifferenceRule):
        return widest(rule, {n: _lowest(schema[n], 0) for n in (rule.of, rule.minus)})
    return rule.column


def _everywhere(rule: Computing, schema: Schema, found: Collection[str]) -> bool:
    """found: columns that are computed themselves."""
    if any(schema[n].special for n in rule.columns):
        return isinstance(schema[rule.column], SpanAttribute)  # the later date is blank where the time between is
    if isinstance(rule, FollowsRule):
        if rule.part is not None:  # of a date in wide bins, the part says more than the date
            of = schema[rule.of[0]]
            told = rule.of[0] in found or said_by_bins(rule.part, of, rule.on)
            return told and every_part(rule.part, of, schema[rule.column], rule.on)
        return rule.map is not None and len(rule.map) == len(schema[rule.of[0]].keys)
    return True


def _behind(names: Sequence[str], found: dict[str, Computed]) -> set[str]:
    """These columns, and those that they are computed from."""
    out, waiting = set[str](), list(names)
    while waiting:
        name = waiting.pop()
        if name not in out:
            out.add(name)
            waiting += found[name].sources if name in found else ()
    return out


def _in_order(found: dict[str, Computed]) -> list[Computed]:
    out: list[Computed] = []
    while len(out) < len(found):
        ready = {c.column for c in out}
        out += [c for c in found.values() if c not in out and not {*c.sources} & ({*found} - ready)]
    return out


def _lowest(attribute: Any, n: int) -> RuleColumn:
    """Cells (n,) of the least value."""
    if isinstance(attribute, CategoricalAttribute):
        return RuleColumn.of_codes(np.zeros(n, dtype=np.int64), attribute)
    whole = getattr(attribute, "dtype", "integer") == "integer"
    values = np.full(n, range_of(attribute)[0], dtype=np.int64 if whole else np.float64)
    return RuleColumn(attribute, values, np.full(n, PLAIN, dtype=np.uint8))
