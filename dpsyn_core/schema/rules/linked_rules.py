"""Rules across a link that no synthetic root breaks: between a child and its parent or siblings, and of how many.

Columns of a rule are the child's by name, its parent's as `households.income`, those of a child with a single role as
`Head.age`, and of the sibling before it as `before.age` where the link has an order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, StrictFloat, StrictInt
from pydantic import model_validator as validator

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.attributes.datetime import DatetimeAttribute
from dpsyn_core.schema.rules.base import Bools, Rule, Where
from dpsyn_core.schema.rules.columns import Group, plain_in, range_of
from dpsyn_core.schema.rules.condition import Condition, check_where, met, named
from dpsyn_core.schema.rules.impossible import ImpossibleRule
from dpsyn_core.schema.rules.order import OrderRule
from dpsyn_core.tables import clauses

Ints = NDArray[np.int64]
BEFORE = "before"  # prefix of the columns of the sibling before
MOST_RULES = 100  # of one link


class ChildRows(Protocol):
    """Children of a link by their parents. parent: (n,) place of the parent of each."""

    parent: Ints
    n_parents: int

    def columns(self, names: Sequence[str]) -> Group:
        """The columns that a rule names, one cell for each child."""

    def per_parent(self, found: Bools) -> Ints:
        """How many children of each parent these are."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Counted:
    """Children that meet conditions, parent by parent. least, most: (parents,), what is allowed."""

    met: Bools
    number: Ints
    least: Ints
    most: Ints

    @property
    def amiss(self) -> Ints:
        """How many children each parent has too many or too few."""
        out: Ints = np.maximum(self.least - self.number, 0) + np.maximum(self.number - self.most, 0)
        return out

    @property
    def broken(self) -> Bools:
        """Which parents have too many or too few."""
        return self.amiss > 0


class LinkOrderRule(OrderRule):
    """A number or date of a child and one of its parent or of a sibling: one is at most the other, or so far below."""

    apart: StrictInt | StrictFloat = Field(
        0, ge=0, description="By how much the upper one is larger at least; days or seconds of dates"
    )
    where: Where | None = Field(None, description="Which children the rule is about: role = Child; null: all")

    @property
    def columns(self) -> tuple[str, ...]:
        """Both, then those of the conditions."""
        return tuple(dict.fromkeys((self.lower, self.upper, *named(self.where))))

    def __str__(self) -> str:
        """For people."""
        less = f"{self.lower} + {self.apart:g}" if self.apart else self.lower
        return f"{less} {'<' if self.strict else '<='} {self.upper}" + (f" where {self.where}" if self.where else "")

    def check(self, attributes: Mapping[str, Any]) -> None:
        """Raises SchemaError where the columns cannot be compared, or no two values agree with the rule."""
        super().check(attributes)
        least, most = range_of(attributes[self.lower])[0], range_of(attributes[self.upper])[1]
        if least + self.apart > most or (self.strict and least + self.apart >= most):
            msg = f"no values can meet it: '{self.lower}' begins at {least:g} and '{self.upper}' ends at {most:g}"
            raise SchemaError(msg)
        check_where(self.where, attributes)

    def broken(self, group: Group) -> Bools:
        """Children (n,) that are not so far apart; the rule says nothing of one whose number or sibling is missing."""
        low, high = (group[name].values for name in (self.lower, self.upper))
        wrong = low + float(self.apart) >= high if self.strict else low + float(self.apart) > high
        return np.asarray(plain_in((self.lower, self.upper), group) & wrong & met(self.where, group))

    @property
    def movable(self) -> tuple[str, ...]:
        """Both, and not those of the conditions."""
        return (self.lower, self.upper)

    def gap(self, steps: tuple[float, float]) -> float:
        """By how much the upper one is larger at least, where values lie so far apart."""
        return float(self.apart) + (max(steps) if self.strict else 0.0)


class CountRule(Rule):
    """How many children of a parent meet conditions: exactly one head, no child without an adult."""

    kind: Literal["count"] = "count"
    where: Where = Field(description="Conditions that are counted: role = Head, or age in [18, 99]")
    least: StrictInt = Field(0, ge=0, le=1000, description="The least number of children that meet them")
    most: StrictInt | None = Field(None, ge=0, le=1000, description="The largest number of them; null: any")
    given: Where | None = Field(
        None, description="The rule is about parents of whose children at least one meets this; null: all parents"
    )

    @validator(mode="after")
    def _says_something(self) -> CountRule:
        if self.least == 0 and self.most is None:
            msg = "a count needs a least or a most, and has neither; declare one of them"
            raise ValueError(msg)
        if self.most is not None and self.most < self.least:
            msg = f"at least {self.least} and at most {self.most} cannot both be; make most larger"
            raise ValueError(msg)
        return self

    @property
    def columns(self) -> tuple[str, ...]:
        """Those of the conditions."""
        return tuple(dict.fromkeys((*named(self.where), *named(self.given))))

    def __str__(self) -> str:
        """For people."""
        how = f"at least {self.least}" if self.most is None else f"at most {self.most}"
        if self.most is not None and self.least:
            how = f"exactly {self.least}" if self.least == self.most else f"{self.least} to {self.most}"
        return f"{how} with {self.where}" + (f", where one has {self.given}" if self.given else "")

    def check(self, attributes: Mapping[str, Any]) -> None:
        """Raises SchemaError for a value that a column cannot have."""
        check_where(self.where, attributes)
        check_where(self.given, attributes)

    @property
    def counts(self) -> bool:
        """Yes."""
        return True

    @property
    def movable(self) -> tuple[str, ...]:
        """None: children take cells of each other."""
        return ()

    def counted(self, children: ChildRows) -> Counted:
        """How many children of each parent meet the conditions."""
        n = len(children.parent)
        meets = met(self.where, children.columns(named(self.where)))
        about = np.ones(children.n_parents, dtype=bool)
        if self.given is not None:
            about = children.per_parent(met(self.given, children.columns(named(self.given)))) > 0
        most = n if self.most is None else self.most
        return Counted(
            met=meets,
            number=children.per_parent(meets),
            least=np.where(about, self.least, 0),
            most=np.where(about, most, n),
        )

    def broken_parents(self, children: ChildRows) -> Bools:
        """Parents with too many children that meet the conditions, or with too few."""
        return self.counted(children).broken


AnyLinkRule = LinkOrderRule | ImpossibleRule | CountRule
LinkRule = Annotated[AnyLinkRule, Field(discriminator="kind")]


def check_link_rule(number: int, rule: AnyLinkRule, attributes: Mapping[str, Any], movable: tuple[str, ...]) -> None:
    """Raises SchemaError, in one sentence, for a rule that does not fit.

    Args:
        number: of the rule, from 1.
        rule: of a link.
        attributes: by the names that a rule may use.
        movable: columns of the child that a repair may change: all but those of its order or role.
    """
    try:
        for name in rule.columns:
            if name not in attributes:
                msg = f"'{name[:80]}' is no column that it can name; those are {', '.join(list(attributes)[:30])}"
                raise SchemaError(msg)
        rule.check(attributes)
        if rule.movable and not set(rule.movable) & set(movable):
            msg = f"it names none of the child's columns that may change, which are {', '.join(movable) or '-'}"
            raise SchemaError(msg)
    except ValueError as error:
        msg = f"rule {number} of the link ({str(rule)[:200]}): {error}"
        raise SchemaError(msg) from error


def listed_codes(where: str | None, column: str, attribute: Any) -> NDArray[np.bool_] | None:
    """Which codes of a categorical column meet conditions on it alone; None: they name another column, or none."""
    if where is None or named(where) != (column,) or isinstance(attribute, DatetimeAttribute):
        return None
    codes = [Condition.of(attribute, c).codes for c in clauses(where)]
    listed = [c for c in codes if c is not None]
    return np.logical_and.reduce(listed) if len(listed) == len(codes) else None
