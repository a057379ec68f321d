"""The design of a run: which columns are measured together, and its check.

Marginal engineering: the public document in which a person says how attributes are counted and which together.

Checks a design against the domain, at every budget: every mistake is named before anything is charged.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_serializer, model_validator

from dpsyn_core.errors import SettingError
from dpsyn_core.schema import Domain
from dpsyn_core.systems.others.dpsyn2018.views import part_of


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
    """An attribute that is coarse in joints and refined at the end from its noisy one-way."""

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
    one-way; null is all of them, and one without a one-way is not compressed. unmeasured: attributes that
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
    grouped: dict[str, list[str]] = {}
    for a in domain.attributes:
        if a.group is not None and a.name not in used:
            grouped.setdefault(a.group, []).append(a.name)
    groups = tuple(Group(name=g, attributes=tuple(names)) for g, names in grouped.items() if len(names) > 1)
    return design.model_copy(update={"groups": design.groups + groups})


def check_at_every_budget(design: Design, domain: Domain) -> None:
    """Raises SettingError that names what does not fit the domain, at any budget."""
    edges = {m.epsilon for m in design.marginals} | {r.epsilon for r in design.budgets} | {0.0}
    for epsilon in sorted(edges):
        check_design(design.at(epsilon), domain)


def check_design(design: Design, domain: Domain) -> None:
    """Raises SettingError that names what does not fit in the design for one budget."""
    members = [(g.name, g.attributes) for g in (*design.groups, *design.patterns)]
    flat = [a for _, names in members for a in names]
    defined = [b.attribute for b in design.bins] + [h.detailed for h in design.hierarchies]
    defined += [f.source for f in design.functional]
    _known(domain, [*flat, *defined, *sorted(design.derived())])
    for a in flat:
        if flat.count(a) > 1 or a in design.derived():
            msg = f"design: attribute '{a}' is used twice in groups, patterns, hierarchies, functional or unmeasured"
            raise SettingError(msg)
    for name, _ in members:
        if name in domain.names or [n for n, _ in members].count(name) > 1:
            msg = f"design: the group name '{name}' is taken; choose another"
            raise SettingError(msg)
    _derivable(design, domain)
    _bins(design, domain)
    for p in design.patterns:
        if p.shared and len({(domain[a].size, domain[a].special) for a in p.attributes}) > 1:
            msg = (
                f"design: the attributes of the shared pattern '{p.name}' have different values; give them one range, "
                "the same bins and a blank for each or none"
            )
            raise SettingError(msg)
    _sets(design, domain, dict(members), flat)


def _sets(design: Design, domain: Domain, members: dict[str, tuple[str, ...]], flat: list[str]) -> None:
    free = {n for n in domain.names if n not in flat and n not in design.derived()}
    whole = free | set(members)
    alone = {a for g in design.groups for a in g.attributes}
    for what, allowed, listed in (
        ("part", whole, list(design.parts)),
        ("marginal", whole | alone, [s.attributes for m in design.marginals for s in m.sets]),
    ):
        for names in listed:
            for n in names:
                if n not in allowed:
                    msg = f"design: '{n}' cannot be in a {what}; known are {', '.join(sorted(allowed))}"
                    raise SettingError(msg)
            single = [a for n in names for a in members.get(n, (n,))]
            if len(set(single)) != len(single):
                msg = f"design: the set {', '.join(names)} names an attribute twice"
                raise SettingError(msg)
    if design.parts and set().union(*design.parts) != whole:
        left = sorted(whole - set().union(*design.parts))
        msg = f"design: the parts leave out {', '.join(left)}; put every attribute into a part"
        raise SettingError(msg)
    _inside_parts(design, members)
    if design.one_ways is None:
        return
    usable = whole | alone | {a for p in design.patterns for a in p.attributes}
    for n in design.one_ways:
        if n not in usable:
            msg = f"design: '{n}' cannot have a one-way; known are {', '.join(sorted(usable))}"
            raise SettingError(msg)
    if design.marginals:
        touched = {*design.one_ways, *(n for m in design.marginals for s in m.sets for n in s.attributes)}
        touched |= {name for name, names in members.items() if touched & set(names)}
        left = sorted(whole - touched)
        if left:
            msg = f"design: nothing is measured of {', '.join(left)}; list it in one_ways, in a set, or in unmeasured"
            raise SettingError(msg)


def _inside_parts(design: Design, members: dict[str, tuple[str, ...]]) -> None:
    """Raises for a set that crosses parts: parts are synthesized separately, so that no record can follow it."""
    group = {a: name for name, names in members.items() for a in names}
    for s in [s for m in design.marginals for s in m.sets] if design.parts else []:
        whole = [group.get(n, n) for n in s.attributes]
        if part_of(whole, design.parts) is None:
            msg = (
                f"design: the set {', '.join(s.attributes)} lies in no part, so that nothing can follow it; put its "
                "attributes into one part, or take the set out"
            )
            raise SettingError(msg)


def _bins(design: Design, domain: Domain) -> None:
    binned = [b.attribute for b in design.bins]
    for b in design.bins:
        plain = domain[b.attribute].size - domain[b.attribute].special
        if binned.count(b.attribute) > 1:
            msg = f"design: '{b.attribute}' is binned twice; bin each attribute once"
            raise SettingError(msg)
        if b.edges and b.edges[-1] >= plain:
            msg = f"design: the edges of '{b.attribute}' must be below {plain}, the number of its values"
            raise SettingError(msg)
        if b.codes and len(b.codes) != domain[b.attribute].size:
            msg = f"design: the bins of '{b.attribute}' need {domain[b.attribute].size} codes, one per value"
            raise SettingError(msg)


def _known(domain: Domain, names: Iterable[str]) -> None:
    for n in names:
        if n not in domain.names:
            msg = f"design: unknown attribute '{n}'; known are {', '.join(domain.names)}"
            raise SettingError(msg)


def _derivable(design: Design, domain: Domain) -> None:
    targets = [h.general for h in design.hierarchies] + [f.target for f in design.functional] + list(design.unmeasured)
    for source in [h.detailed for h in design.hierarchies] + [f.source for f in design.functional]:
        if source in targets:
            msg = f"design: '{source}' is itself derived; derive from an attribute that is measured"
            raise SettingError(msg)
    if len(set(targets)) != len(targets):
        msg = "design: an attribute is derived twice; derive each once"
        raise SettingError(msg)
    for h in design.hierarchies:
        size, top = domain[h.detailed].size, domain[h.general].size
        if len(h.codes) != size or min(h.codes) < 0 or max(h.codes) >= top:
            msg = f"design: the map from '{h.detailed}' needs {size} codes of '{h.general}', each below {top}"
            raise SettingError(msg)
