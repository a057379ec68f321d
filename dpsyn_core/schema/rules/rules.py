"""Rules that no record of a synthetic table breaks: declared in the schema, public, and free of charge."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, Field, StrictBool, StrictStr
from pydantic import model_validator as validator

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.attributes.base import SchemaRule, Value
from dpsyn_core.schema.attributes.categorical import CategoricalAttribute
from dpsyn_core.schema.attributes.numeric import NumericAttribute
from dpsyn_core.schema.rules.formulas import COMPLETED, AdditionRule, DifferenceRule, Name, OrderRule, Part, RatioRule
from dpsyn_core.tables.cells.canonical import canonical


def _day(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError as error:
        msg = f"'{text[:30]}' is no day; write it as 2020-12-31"
        raise ValueError(msg) from error


Day = Annotated[StrictStr, AfterValidator(_day)]
Where = Annotated[StrictStr, Field(min_length=1, max_length=10_000)]


class ImpossibleRule(SchemaRule):
    """No record meets all conditions."""

    kind: Literal["impossible"] = "impossible"
    where: Where = Field(description="Conditions as in questions: age in [0, 15] and marital = married")

    @property
    def columns(self) -> tuple[str, ...]:
        """Those of the conditions, each once."""
        return _named(self.where)

    def __str__(self) -> str:
        """For people."""
        return f"impossible: {self.where}"

    def check(self, attributes: Mapping[str, Any]) -> None:
        """Raises SchemaError for a value that the schema does not have."""
        from dpsyn_core.schema.rules.conditions import clauses
        from dpsyn_core.schema.rules.meant import Meant

        found = [(c, Meant.of(attributes[c.attribute], c)) for c in clauses(self.where)]
        for column in self.columns:
            attribute = attributes[column]
            met = [m for c, m in found if c.attribute == column]
            listed = isinstance(attribute, CategoricalAttribute)
            if not listed or not np.logical_and.reduce([m.codes for m in met if m.codes is not None]).all():
                break
        else:
            msg = "every value that the schema has meets its conditions, so that no record would be left; narrow them"
            raise SchemaError(msg)


class BlankRule(SchemaRule):
    """A cell is blank where the conditions hold; with `only`, blank nowhere else."""

    kind: Literal["blank"] = "blank"
    column: Name = Field(description="Column whose cell is blank")
    where: Where = Field(description="Conditions as in questions: pregnant = no")
    value: Value | None = Field(
        None, description="A special or listed value that says 'does not apply' in place of a blank; null: blank"
    )
    only: StrictBool = Field(False, description="Whether the cell is blank (or holds that value) nowhere else")

    @property
    def columns(self) -> tuple[str, ...]:
        """The column, then those of the conditions."""
        return (self.column, *_named(self.where))

    def __str__(self) -> str:
        """For people."""
        cell = "blank" if self.value is None else canonical(self.value)
        return f"{self.column} is {cell} {'exactly ' * self.only}where {self.where}"

    def check(self, attributes: Mapping[str, Any]) -> None:
        """Raises SchemaError where the column has no such cell, or a condition a value that the schema lacks."""
        from dpsyn_core.schema.rules.conditions import clauses
        from dpsyn_core.schema.rules.meant import Meant

        for c in clauses(self.where):
            Meant.of(attributes[c.attribute], c)
        attribute = attributes[self.column]
        if self.value is None and not attribute.missing:
            msg = f"'{self.column}' has no blank cells; declare missing: true for it"
            raise SchemaError(msg)
        if self.value is None:
            return
        listed = getattr(attribute, "keys", ()) or [canonical(v) for v in getattr(attribute, "special_values", ())]
        if canonical(self.value) not in listed:
            msg = f"'{canonical(self.value)[:80]}' is no listed or special value of '{self.column}'; declare it there"
            raise SchemaError(msg)


class FollowsRule(SchemaRule):
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
        """Whether what follows is known without a table."""
        return self.map is not None or self.part is not None

    def __str__(self) -> str:
        """For people."""
        if self.on is not None:
            return f"{self.column} = {str(self.part).replace('-', ' ')} from {self.of[0]} to {self.on}"
        if self.part is not None:
            return f"{self.column} = {self.part} of {self.of[0]}"
        told = "" if self.map is None else f" by a map of {len(self.map)} values"
        return f"{self.column} follows from {', '.join(self.of)}{told}"

    def check(self, attributes: Mapping[str, Any]) -> None:
        """Raises SchemaError where the columns do not fit, or the map names a value that one of them lacks."""
        if self.part is not None:
            from dpsyn_core.schema.rules.date_parts import check_part

            check_part(self.part, attributes[self.of[0]], attributes[self.column], self.on)
            return
        for name in self.of if self.map is not None else self.columns:
            if not isinstance(attributes[name], CategoricalAttribute):
                msg = f"'{name}' is {attributes[name].kind}, and only a categorical column can stand here"
                raise SchemaError(msg)
        if self.map is not None:
            from dpsyn_core.schema.rules.meant import codes_of_map

            codes_of_map(self.map, attributes[self.of[0]], attributes[self.column])


class UniqueRule(SchemaRule):
    """No two records of a synthetic table agree in all these columns; records with a blank among them are free."""

    kind: Literal["unique"] = "unique"
    together: tuple[Name, ...] = Field(min_length=1, max_length=20, description="Columns that tell records apart")

    @property
    def columns(self) -> tuple[str, ...]:
        """All of them."""
        return self.together

    def __str__(self) -> str:
        """For people."""
        return f"unique together: {', '.join(self.together)}"

    def check(self, attributes: Mapping[str, Any]) -> None:
        """Raises SchemaError for a column of numbers without a step: values that are drawn at random never repeat."""
        for name in self.together:
            a = attributes[name]
            if isinstance(a, NumericAttribute) and a.dtype == "float" and a.step is None and a.decimals is None:
                msg = f"'{name}' has no step, so that its values differ anyhow; declare its step or leave it out"
                raise SchemaError(msg)


AnyRule = (
    ImpossibleRule | BlankRule | FollowsRule | DifferenceRule | AdditionRule | RatioRule | OrderRule | UniqueRule
)  # in the order in which a repair mends them: what is computed comes before what is compared
Rule = Annotated[AnyRule, Field(discriminator="kind")]
KINDS: tuple[type[AnyRule], ...] = AnyRule.__args__
RULES = tuple(str(k.model_fields["kind"].default) for k in KINDS)


def table_wide(rule: AnyRule) -> bool:
    """Whether a rule is about all records of a table together, so that it cannot be kept record by record."""
    return isinstance(rule, UniqueRule) or (isinstance(rule, FollowsRule) and not rule.public)


def check_rule(number: int, rule: AnyRule, coded: Mapping[str, Any]) -> None:
    """Raises SchemaError, in one sentence, for a rule that does not fit the attributes that are synthesized."""
    try:
        columns = rule.columns
        for name in columns:
            if name not in coded:
                from dpsyn_core.schema.rules.conditions import unquoted

                some = ", ".join(list(coded)[:20])
                msg = f"'{name[:80]}' is no column that is synthesized; those are {some}{unquoted(name, coded)}"
                raise SchemaError(msg)
        if len(set(columns)) != len(columns):
            msg = "it names a column twice; name different ones"
            raise SchemaError(msg)
        rule.check(coded)
    except ValueError as error:
        msg = f"rule {number} ({str(rule)[:200]}): {error}"
        raise SchemaError(msg) from error


def _named(where: str) -> tuple[str, ...]:
    from dpsyn_core.schema.rules.conditions import clauses

    return tuple(dict.fromkeys(c.attribute for c in clauses(where)))
