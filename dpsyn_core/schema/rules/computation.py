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
from dpsyn_core.schema.rules.base import Rule
from dpsyn_core.schema.rules.columns import BLANK, PLAIN, Group, RuleColumn, range_of, read_columns
from dpsyn_core.schema.rules.spans import SpanAttribute, with_spans


@dataclass(frozen=True, kw_only=True, slots=True)
class Computed:
    """A column that is not measured, and the rule that computes it from the others of the rule."""

    column: str
    rule: Rule

    def __str__(self) -> str:
        """For people."""
        return self.rule.computation(self.column)[1]

    @property
    def named(self) -> tuple[str, ...]:
        """The columns of the table that it is computed from."""
        return self.rule.computation(self.column)[0]

    @property
    def sources(self) -> tuple[str, ...]:
        """The columns that it is computed from, also the time between two dates, which no table has."""
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
    out: dict[str, Computed] = {}
    for rule in sorted(schema.rules, key=lambda r: r.computed_last):
        name = rule.computes(schema, out)
        if name is None or name in fixed or name in out:
            continue
        one = Computed(column=name, rule=rule)
        if name not in _behind(one.sources, out):
            out[name] = one
    return tuple(_in_order(out))


def given_by(kinds: Collection[str], schema: Schema) -> tuple[str, ...]:
    """The columns that rules of these kinds compute, and of a ratio those that it divides: a computed one is coarse."""
    schema = with_spans(schema)
    return tuple(n for r in schema.rules if r.kind in kinds for n in r.implied(schema))


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
    if any(r.computed_last for r in schema.rules):
        from dpsyn_core.schema.rules.part_dates import with_parts

        table = with_parts(table, schema, rng)
    for one in computed_columns(schema, has):
        attribute = schema[one.column]
        group = read_columns(table, schema, one.sources)
        values = computed_values(one, group | {one.column: _lowest(attribute, table.num_rows)}, rng)
        if isinstance(attribute, CategoricalAttribute):
            cells = attribute.decode(values, rng, listed=listed)
        else:
            blank = group[one.sources[0]].state == BLANK if attribute.special else None
            cells = attribute.cells(values, blank)
            if attribute.marks:
                table = table.replace_schema_metadata({**(table.schema.metadata or {}), **attribute.marks})
        table = table.append_column(one.column, cells)
    return table


def computed_values(one: Computed, group: Group, rng: Generator) -> NDArray[Any]:
    """Codes of a category, numbers or dates (n,) of a computed column, inside its range; of a group of all columns."""
    column, values = group[one.column], one.rule.values(one.column, group, rng)
    if isinstance(column.attribute, CategoricalAttribute):
        return values
    return np.asarray(np.clip(column.snapped(values), *column.ends))


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
