"""What follows: a column follows from others by a public map, as the part of a date, or in one way in each table."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date
from typing import Annotated, Any, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import AfterValidator, Field, StrictBool, StrictStr
from pydantic import model_validator as validator

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.attributes.base import Value
from dpsyn_core.schema.attributes.categorical import CategoricalAttribute
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.rules.anniversaries import COMPLETED
from dpsyn_core.schema.rules.base import Bools, Key, Name, Narrowing, RecordRule, Rule
from dpsyn_core.schema.rules.columns import Group, plain_in
from dpsyn_core.schema.rules.condition import codes_of_map
from dpsyn_core.schema.rules.date_parts import Part, check_part, every_part, parts_in, said_by_bins, values_of
from dpsyn_core.schema.rules.impossible import ImpossibleRule
from dpsyn_core.schema.rules.lookup import Lookup, commonest, keys_of, map_by_counts, reached
from dpsyn_core.schema.rules.zeros import CodeTable
from dpsyn_core.tables import Clause, canonical, written

LARGEST = 4_000_000  # cells of a table of codes, up to which what follows is decided cell by cell


def _day(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError as error:
        msg = f"'{text[:30]}' is no day; write it as 2020-12-31"
        raise ValueError(msg) from error


Day = Annotated[StrictStr, AfterValidator(_day)]


class FollowsRule(Rule):
    """One column follows from others: by a public map, as the part of a date, or in one way throughout each table."""

    kind: Literal["follows"] = "follows"
    column: Name = Field(description="Column that follows")
    of: tuple[Name, ...] = Field(
        min_length=1, max_length=5, description="Categorical columns that it follows from, or one date"
    )
    map: tuple[tuple[Value, Value], ...] | None = Field(
        None, description="Pairs of a value of the one column in `of` and the value that follows; null: any, but one"
    )
    part: Part | None = Field(None, description="Of the date in `of`: what the column repeats; null: `of` is no date")
    on: Day | None = Field(
        None, description="The public day on which completed years or months are counted, 2020-12-31"
    )
    measured: StrictBool = Field(
        False, description="Whether the column that others give is measured too, and not only computed from them"
    )

    @validator(mode="after")
    def _map_of_one(self) -> FollowsRule:
        if self.part is not None and (len(self.of) > 1 or self.map is not None):
            msg = f"the {self.part} is that of one date, without a map; name one column in 'of', and leave the map out"
            raise ValueError(msg)
        if (self.part in COMPLETED) != (self.on is not None):
            msg = (
                "only completed years and months are counted on one day, in 'on'; name it for them, such as 2020-12-31"
            )
            raise ValueError(msg)
        if self.map is None:
            return self
        if len(self.of) > 1:
            msg = "a map is from the values of one column; name one in 'of', or leave the map out"
            raise ValueError(msg)
        keys = [canonical(k) for k, _ in self.map]
        if not keys or len(set(keys)) != len(keys):
            msg = "the map lists a value twice, or none; list each value of the other column at most once"
            raise ValueError(msg)
        return self

    @property
    def columns(self) -> tuple[str, ...]:
        """The one that follows first."""
        return (self.column, *self.of)

    @property
    def public(self) -> bool:
        """Whether the rule itself declares the values that follow, so that no table is needed."""
        return self.map is not None or self.part is not None

    def __str__(self) -> str:
        """For people."""
        if self.on is not None:
            return f"{self.column} = {str(self.part).replace('-', ' ')} from {self.of[0]} to {self.on}"
        if self.part is not None:
            return f"{self.column} = {self.part} of {self.of[0]}"
        note = "" if self.map is None else f" by a map of {len(self.map)} values"
        return f"{self.column} follows from {', '.join(self.of)}{note}"

    @property
    def gives(self) -> tuple[str, tuple[str, ...]]:
        """What follows from what."""
        return self.column, self.of

    @property
    def table_wide(self) -> bool:
        """Without a map, each table follows in one way throughout."""
        return not self.public

    def words(self) -> tuple[str, dict[str, Any]]:
        """What follows, from what, and how."""
        if self.on is not None:
            return f"rules.says_{self.part}", {"column": self.column, "minus": self.of[0], "of": self.on}
        if self.part is not None:
            filled = {"column": self.column, "part": Key(f"rules.part_{self.part}"), "of": self.of[0]}
            return "rules.says_part", filled
        key = "rules.says_follows" if self.map is None else "rules.says_follows_map"
        return key, {"column": self.column, "of": ", ".join(self.of), "count": len(self.map or ())}

    def check(self, attributes: Mapping[str, Any]) -> None:
        """Raises SchemaError where the columns do not fit, or the map names a value that one of them lacks."""
        if self.part is not None:
            check_part(self.part, attributes[self.of[0]], attributes[self.column], self.on)
            return
        for name in self.of if self.map is not None else self.columns:
            if not isinstance(attributes[name], CategoricalAttribute):
                msg = f"'{name}' is {attributes[name].kind}, and only a categorical column can stand here"
                raise SchemaError(msg)
        if self.map is not None:
            codes_of_map(self.map, attributes[self.of[0]], attributes[self.column])

    def lookup(self, of: Any, column: Any) -> Lookup:
        """The public map, or the part of a date, of which another one is impossible."""
        if self.part is not None:
            keys, targets = values_of(self.part, column)
        else:
            keys, targets = codes_of_map(self.map or (), of, column)
            order = np.argsort(keys)
            keys, targets = keys[order], targets[order]
        return self._with(keys, targets, closed=self.part is not None)

    def _with(self, keys: Any, targets: Any, *, closed: bool) -> Lookup:
        return Lookup(
            column=self.column, of=self.of, keys=keys, targets=targets, closed=closed, part=self.part, on=self.on
        )

    def _public_in(self, group: Group) -> Lookup:
        return self.lookup(group[self.of[0]].attribute, group[self.column].attribute)

    def broken(self, group: Group) -> Bools:
        """Records with another value than the one that follows; without a map, those that differ from most."""
        if self.public:
            return self._public_in(group).broken(group)
        plain = plain_in(self.columns, group)
        keys, targets = commonest(keys_of(self.of, group)[plain], group[self.column].values[plain])
        return self._with(keys, targets, closed=True).broken(group)

    def per_record(self, group: Group, kept: Bools, rules: Sequence[Rule]) -> RecordRule | None:
        """The map; where it is not public, the one that these records suggest."""
        if self.public:
            return self._public_in(group)
        plain = plain_in(self.columns, group)
        used = plain & kept if (plain & kept).any() else plain
        alone = reached({self.column}, rules).issuperset(self.of)
        keys, targets = map_by_counts(keys_of(self.of, group)[used], group[self.column].values[used], alone=alone)
        return self._with(keys, targets, closed=True)

    def zeros(self, table: CodeTable) -> Bools | None:
        """Cells with another value than the one that follows by the public map or date."""
        if not (self.public and table.has(self.columns)):
            return None
        of, column = table.attributes[self.of[0]], table.attributes[self.column]
        if of.size * column.size > LARGEST:
            return None
        lookup = self.lookup(of, column)
        codes, which = np.asarray(lookup.keys), np.arange(len(lookup.keys))
        if self.part is not None:
            dates, parts = parts_in(self.part, of, self.on)
            which = np.searchsorted(lookup.keys, parts)
            mapped = np.isin(parts, lookup.keys)
            codes, which = np.unique(np.stack([of.binning.find(dates)[mapped], which[mapped]]), axis=1)
        listed = isinstance(column, CategoricalAttribute)
        targets = lookup.targets if listed else column.binning.find(lookup.targets)
        plain = np.arange(column.size) < column.size - column.special
        may = np.ones((of.size, column.size), dtype=bool)
        may[codes if self.part is None else np.arange(of.size - of.special)] = ~plain
        may[codes, targets[which]] = True
        return ~table.pairs(self.of[0], self.column, may)

    def computes(self, schema: Schema, computed: Collection[str]) -> str | None:
        """The column that follows, where a map lists every value, or each bin of the date has one part only."""
        if self.measured or any(schema[n].special for n in self.columns):
            return None
        of = schema[self.of[0]]
        if self.part is not None:  # of a date in wide bins, the part says more than the date
            defined = self.of[0] in computed or said_by_bins(self.part, of, self.on)
            return self.column if defined and every_part(self.part, of, schema[self.column], self.on) else None
        return self.column if self.map is not None and len(self.map) == len(of.keys) else None

    @property
    def computed_last(self) -> bool:
        """Parts, since the date may be computed."""
        return self.part is not None

    def implied(self, schema: Schema) -> tuple[str, ...]:
        """The one that follows."""
        del schema
        return (self.column,)

    def values(self, name: str, group: Group, rng: Generator) -> NDArray[Any]:
        """What follows."""
        del name, rng
        return np.asarray(self._public_in(group).target(group)[0])

    def within(self, narrowing: Narrowing) -> Iterator[Rule]:
        """The map among the values that are left. What only follows to a value that is left out cannot be."""
        if self.map is None:
            yield self
            return
        of, column = (narrowing.attribute(n) for n in (self.of[0], self.column))
        pairs = [(k, v) for k, v in self.map if of is None or canonical(k) in of.keys]
        lost = [k for k, v in pairs if column is not None and not _has_value(column, v)]
        kept = tuple((k, v) for k, v in pairs if k not in lost)
        if kept:
            yield self.model_copy(update={"map": kept})
        if lost:
            gone = Clause(attribute=self.of[0], values=tuple(canonical(k) for k in lost))
            yield ImpossibleRule(where=written(gone))


def _has_value(attribute: Any, value: Any) -> bool:
    """Whether a narrowed column has a value of a map."""
    if isinstance(attribute, CategoricalAttribute):
        return canonical(value) in attribute.keys
    return bool(attribute.min <= float(value) <= attribute.max)
