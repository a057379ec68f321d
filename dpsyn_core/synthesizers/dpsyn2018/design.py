"""Marginal engineering: the public document in which a person says how attributes are counted and which together."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_serializer, model_validator

from dpsyn_core.schema.domain import Domain


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Group(_Part):
    """Attributes counted as one, over their Cartesian product."""

    name: str = Field(min_length=1, description="Name of the joint attribute")
    attributes: tuple[str, ...] = Field(min_length=1, description="Its members")


class Pattern(Group):
    """Attributes of which only is-it-there is counted together, or is-it-there and a bin where `bins` names one."""

    shared: bool = Field(False, description="All members that are there hold one value: the same day, for instance")


class Bins(_Part):
    """An attribute that is coarse in joints and refined at the end from its own noisy one-way."""

    attribute: str
    width: int | None = Field(None, ge=1, description="Neighbouring codes in one bin; missing and other keep their own")
    edges: tuple[int, ...] = Field(default=(), description="First codes of all bins but the first one")
    codes: tuple[int, ...] = Field(default=(), description="Bin of every code, for bins that are no neighbours")

    @model_validator(mode="after")
    def _one_way_of_saying_it(self) -> Bins:
        if (self.width is not None) + bool(self.edges) + bool(self.codes) != 1:
            msg = f"bins of '{self.attribute}' need exactly one of width, edges and codes"
            raise ValueError(msg)
        if any(b <= a for a, b in zip((0, *self.edges), self.edges, strict=False)):
            msg = f"edges of '{self.attribute}' must rise from each to the next, and be above 0"
            raise ValueError(msg)
        if self.codes and sorted(set(self.codes)) != list(range(max(self.codes) + 1)):
            msg = f"codes of '{self.attribute}' must use every bin from 0 to the largest"
            raise ValueError(msg)
        return self


class Hierarchy(_Part):
    """A general code that follows from a detailed one by a public map; it is never measured."""

    general: str
    detailed: str
    codes: tuple[int, ...] = Field(description="General code of every detailed code")


class Functional(_Part):
    """An attribute that nearly follows from another: the most frequent value of a noisy two-way, row by row."""

    target: str
    source: str


class ListedSet(_Part):
    """Attributes measured together, and how much of the budget they get beside the others.

    Written as a list of names where the weight is 1, else as {"attributes": [...], "weight": 3}.
    """

    attributes: tuple[str, ...] = Field(min_length=1)
    weight: float = Field(1.0, gt=0, le=1e6, description="Share of the budget; a one-way has weight 1")

    @model_validator(mode="before")
    @classmethod
    def _from_names(cls, value: Any) -> Any:
        return {"attributes": value} if isinstance(value, list | tuple) else value

    @model_serializer
    def _as_written(self) -> Any:
        names = list(self.attributes)
        return names if self.weight == 1 else {"attributes": names, "weight": self.weight}


class MarginalList(_Part):
    """Which sets to measure from this epsilon on."""

    epsilon: float = Field(ge=0)
    sets: tuple[ListedSet, ...] = Field(min_length=1)


class BudgetRange(_Part):
    """What is done otherwise from this epsilon on; what is left out stays as the design has it."""

    epsilon: float = Field(ge=0)
    groups: tuple[Group, ...] | None = None
    patterns: tuple[Pattern, ...] | None = None
    bins: tuple[Bins, ...] | None = None
    hierarchies: tuple[Hierarchy, ...] | None = None
    functional: tuple[Functional, ...] | None = None
    parts: tuple[tuple[str, ...], ...] | None = None
    sets: tuple[ListedSet, ...] | None = None
    one_ways: tuple[str, ...] | None = None
    unmeasured: tuple[str, ...] | None = None


class Design(_Part):
    """Everything is public: it is written without looking at the data. Codes count from 0.

    groups: recoded tuples; a member may also be named alone in a marginal. patterns, bins, hierarchies, functional:
    see there. parts: groups of attributes that are synthesized separately and joined on the attributes they share, at
    random where they share none. marginals: the sets to measure; the list with the largest epsilon that the budget
    reaches is used; every set lies in a part, where there are parts. Without a list, all pairs and triples inside the
    parts are measured; without parts, views that are drawn at random. one_ways: attributes (and groups) that get a
    one-way of their own; null is all of them, and one without a one-way is not compressed. unmeasured: attributes that
    get random values and cost nothing. budgets: how all this changes with epsilon.
    """

    groups: tuple[Group, ...] = ()
    patterns: tuple[Pattern, ...] = ()
    bins: tuple[Bins, ...] = ()
    hierarchies: tuple[Hierarchy, ...] = ()
    functional: tuple[Functional, ...] = ()
    parts: tuple[tuple[str, ...], ...] = ()
    marginals: tuple[MarginalList, ...] = ()
    one_ways: tuple[str, ...] | None = None
    unmeasured: tuple[str, ...] = ()
    budgets: tuple[BudgetRange, ...] = ()

    def derived(self) -> set[str]:
        """Attributes that are not counted with the others."""
        return {h.general for h in self.hierarchies} | {f.target for f in self.functional} | set(self.unmeasured)

    def grouped(self) -> set[str]:
        """Members of groups and patterns."""
        return {a for g in (*self.groups, *self.patterns) for a in g.attributes}

    def sets_for(self, epsilon: float) -> tuple[ListedSet, ...] | None:
        """The sets for a budget: those of the largest epsilon it reaches, else of the smallest; None without lists."""
        if not self.marginals:
            return None
        ordered = sorted(self.marginals, key=lambda m: m.epsilon)
        reached = [m for m in ordered if m.epsilon <= epsilon]
        return (reached[-1] if reached else ordered[0]).sets

    def at(self, epsilon: float) -> Design:
        """The design for one budget: without ranges, and with one list of marginals at most."""
        sets = self.sets_for(epsilon)
        changes: dict[str, Any] = {"marginals": self.marginals and (MarginalList(epsilon=0, sets=sets or ()),)}
        reached = [r for r in sorted(self.budgets, key=lambda r: r.epsilon) if r.epsilon <= epsilon]
        if reached:
            changes |= {k: v for k, v in dict(reached[-1]).items() if v is not None and k not in ("epsilon", "sets")}
            if reached[-1].sets is not None:
                changes["marginals"] = (MarginalList(epsilon=0, sets=reached[-1].sets),)
        return self.model_copy(update={**changes, "budgets": ()})


def with_schema_groups(design: Design, domain: Domain) -> Design:
    """The design with the schema's groups of two or more attributes, less those that it uses otherwise."""
    used = design.grouped() | design.derived()
    found: dict[str, list[str]] = {}
    for a in domain.attributes:
        if a.group is not None and a.name not in used:
            found.setdefault(a.group, []).append(a.name)
    groups = tuple(Group(name=g, attributes=tuple(names)) for g, names in found.items() if len(names) > 1)
    return design.model_copy(update={"groups": design.groups + groups})
