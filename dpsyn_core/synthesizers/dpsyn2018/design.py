"""Marginal engineering: the public document in which a person says how attributes are counted and which together."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict, Field

from dpsyn_core.errors import SettingError
from dpsyn_core.schema.domain import Domain


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Group(_Part):
    """Attributes counted as one, over their Cartesian product."""

    name: str = Field(min_length=1, description="Name of the joint attribute")
    attributes: tuple[str, ...] = Field(min_length=1, description="Its members")


class Bins(_Part):
    """An attribute that is coarse in joints and refined at the end from its own noisy one-way."""

    attribute: str
    width: int = Field(ge=1, description="Neighbouring codes in one bin; missing and other keep their own")


class Hierarchy(_Part):
    """A general code that follows from a detailed one by a public map; it is never measured."""

    general: str
    detailed: str
    codes: tuple[int, ...] = Field(description="General code of every detailed code")


class Functional(_Part):
    """An attribute that nearly follows from another: the most frequent value of a noisy two-way, row by row."""

    target: str
    source: str


class MarginalList(_Part):
    """Which sets to measure from this epsilon on."""

    epsilon: float = Field(ge=0)
    sets: tuple[tuple[str, ...], ...] = Field(min_length=1)


class Design(_Part):
    """Everything is public: it is written without looking at the data. Codes count from 0.

    groups: recoded tuples. patterns: attributes of which only is-it-there is counted together, their values follow
    their own one-ways. bins, hierarchies, functional: see there. parts: groups of attributes that are made apart
    and joined on the attributes they share, at random where they share none. marginals: the sets to measure; the
    list with the largest epsilon that the budget reaches is used; without a list, views are drawn at random.
    """

    groups: tuple[Group, ...] = ()
    patterns: tuple[Group, ...] = ()
    bins: tuple[Bins, ...] = ()
    hierarchies: tuple[Hierarchy, ...] = ()
    functional: tuple[Functional, ...] = ()
    parts: tuple[tuple[str, ...], ...] = ()
    marginals: tuple[MarginalList, ...] = ()

    def derived(self) -> set[str]:
        """Attributes that are not counted with the others."""
        return {h.general for h in self.hierarchies} | {f.target for f in self.functional}

    def list_for(self, epsilon: float) -> tuple[tuple[str, ...], ...] | None:
        """The sets for a budget: those of the largest epsilon it reaches, else of the smallest; None without lists."""
        if not self.marginals:
            return None
        ordered = sorted(self.marginals, key=lambda m: m.epsilon)
        reached = [m for m in ordered if m.epsilon <= epsilon]
        return (reached[-1] if reached else ordered[0]).sets

    def check(self, domain: Domain) -> None:
        """Raises SettingError that names what does not fit the domain."""
        members = [(g.name, g.attributes) for g in (*self.groups, *self.patterns)]
        flat = [a for _, names in members for a in names]
        known = [b.attribute for b in self.bins] + [h.detailed for h in self.hierarchies]
        known += [f.source for f in self.functional]
        self._known(domain, [*flat, *known, *self.derived()])
        for a in flat:
            if flat.count(a) > 1 or a in self.derived():
                msg = f"design: attribute '{a}' is used twice in groups, patterns, hierarchies or functional"
                raise SettingError(msg)
        for name, _ in members:
            if name in domain.names or [n for n, _ in members].count(name) > 1:
                msg = f"design: the group name '{name}' is taken; choose another"
                raise SettingError(msg)
        self._derivable(domain)
        usable = {n for n in domain.names if n not in flat and n not in self.derived()} | {n for n, _ in members}
        for names in [*self.parts, *(s for m in self.marginals for s in m.sets)]:
            for n in names:
                if n not in usable:
                    msg = f"design: '{n}' cannot be in a part or marginal; known are {', '.join(sorted(usable))}"
                    raise SettingError(msg)
            if len(set(names)) != len(names):
                msg = f"design: the set {', '.join(names)} names an attribute twice"
                raise SettingError(msg)
        if self.parts and set().union(*self.parts) != usable:
            left = sorted(usable - set().union(*self.parts))
            msg = f"design: the parts leave out {', '.join(left)}; put every attribute into a part"
            raise SettingError(msg)

    @staticmethod
    def _known(domain: Domain, names: Iterable[str]) -> None:
        for n in names:
            if n not in domain.names:
                msg = f"design: unknown attribute '{n}'; known are {', '.join(domain.names)}"
                raise SettingError(msg)

    def _derivable(self, domain: Domain) -> None:
        targets = [h.general for h in self.hierarchies] + [f.target for f in self.functional]
        for source in [h.detailed for h in self.hierarchies] + [f.source for f in self.functional]:
            if source in targets:
                msg = f"design: '{source}' is itself derived; derive from an attribute that is measured"
                raise SettingError(msg)
        if len(set(targets)) != len(targets):
            msg = "design: an attribute is derived twice; derive each once"
            raise SettingError(msg)
        for h in self.hierarchies:
            size, top = domain[h.detailed].size, domain[h.general].size
            if len(h.codes) != size or min(h.codes) < 0 or max(h.codes) >= top:
                msg = f"design: the map from '{h.detailed}' needs {size} codes of '{h.general}', each below {top}"
                raise SettingError(msg)


def with_schema_groups(design: Design, domain: Domain) -> Design:
    """The design with the schema's groups of two or more attributes, less those that it uses otherwise."""
    used = {a for g in (*design.groups, *design.patterns) for a in g.attributes} | design.derived()
    found: dict[str, list[str]] = {}
    for a in domain.attributes:
        if a.group is not None and a.name not in used:
            found.setdefault(a.group, []).append(a.name)
    groups = tuple(Group(name=g, attributes=tuple(names)) for g, names in found.items() if len(names) > 1)
    return design.model_copy(update={"groups": design.groups + groups})
