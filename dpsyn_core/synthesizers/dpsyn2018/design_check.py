"""Checks a design against the domain, at every budget: every mistake is named before anything is charged."""

from __future__ import annotations

from collections.abc import Iterable

from dpsyn_core.errors import SettingError
from dpsyn_core.schema.domain import Domain
from dpsyn_core.synthesizers.dpsyn2018.design import Design
from dpsyn_core.synthesizers.dpsyn2018.views import part_of


def check_at_every_budget(design: Design, domain: Domain) -> None:
    """Raises SettingError that names what does not fit the domain, at any budget."""
    edges = {m.epsilon for m in design.marginals} | {r.epsilon for r in design.budgets} | {0.0}
    for epsilon in sorted(edges):
        check_design(design.at(epsilon), domain)


def check_design(design: Design, domain: Domain) -> None:
    """Raises SettingError that names what does not fit in the design for one budget."""
    members = [(g.name, g.attributes) for g in (*design.groups, *design.patterns)]
    flat = [a for _, names in members for a in names]
    known = [b.attribute for b in design.bins] + [h.detailed for h in design.hierarchies]
    known += [f.source for f in design.functional]
    _known(domain, [*flat, *known, *sorted(design.derived())])
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
            msg = f"design: the attributes of the shared pattern '{p.name}' have different values; give them one range"
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
    """Parts are made separately, so that no record can follow a set that crosses them."""
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
